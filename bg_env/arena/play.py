"""Head-to-head games of two players on duplicate dice, all of them or a part."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bg_env.arena.duel import Duel
from bg_env.arena.match_up import MOST_GAMES, MatchUp, MatchUpKeywords, read_match_up, takes_match_up
from bg_env.arena.result import Part, Result, joined
from bg_env.checks import checked_even
from bg_env.players.protocol import name_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["play", "play_part", "played"]


@takes_match_up
def play(a: Any, b: Any, *, progress: Callable[[int], object] | None = None, **options: Unpack[MatchUpKeywords]) -> Result:
    """Play two players head to head.

    Args:
        a: the first player: a name, an object with `choose` or `choose_plays`, a model, or a callable from a batch of
            observations (a dict of `observation` and `action_mask`) to actions; see `bg_env.players.player_for`.
        b: the second, likewise.
        progress: called from time to time with the number of games that have ended since the last call.
        **options: `games`, `seed`, `boards`, `observation`, `mask`, `names` and `luck` as of `bg_env.arena.MatchUp`; and
            `settings`, a `bg_env.Settings`, or its fields by name, `variant` among them.

    Returns:
        The result. After Ctrl-C it covers the pairs of games before the first one that was not played to the end, and its
        `complete` is False.

    Raises:
        SettingsError: an option or a player is refused.
        IllegalActionError: a player chose something that is not legal.
    """
    return joined([played(a, b, read_match_up(options), progress=progress)])


@takes_match_up
def play_part(
    a: Any,
    b: Any,
    *,
    first: int = 0,
    progress: Callable[[int], object] | None = None,
    **options: Unpack[MatchUpKeywords],
) -> Part:
    """Play the games `first` to `first + games - 1` of those that `play` plays.

    Args:
        a: as of `play`.
        b: as of `play`.
        first: number of the first game, even: games 2 p and 2 p + 1 have the same dice with seats swapped.
        progress: as of `play`.
        **options: as of `play`; `games` is the number of games of this part.

    Returns:
        The outcome of each game; `joined` makes a result of such parts. After Ctrl-C some are not played to the end.

    Raises:
        SettingsError: an option or a player is refused.
        IllegalActionError: a player chose something that is not legal.
    """
    return played(a, b, read_match_up(options), checked_even("first", first, 0, MOST_GAMES), progress)


def played(a: Any, b: Any, match_up: MatchUp, first: int = 0, progress: Callable[[int], object] | None = None) -> Part:
    """`play_part` with its options as one value."""
    duel = Duel(a, b, match_up, first)
    left = match_up.games
    try:
        while left:
            ended = duel.round()
            left -= ended
            if progress is not None and ended:
                progress(ended)
    except KeyboardInterrupt:
        pass
    one, other = (name_of(player) for player in duel.players)
    evaluator = None if duel.meter is None else duel.meter.name
    return Part(match_up.settings, match_up.seed, match_up.names or (one, other), first, duel.tally, evaluator, duel.luck)
