"""Two players meet: games on duplicate dice, all of them or a part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bg_env.arena.duel import Duel
from bg_env.arena.result import Part, Result, joined
from bg_env.checks import checked_seed, checked_whole
from bg_env.errors import SettingsError, quoted
from bg_env.options import EnvOptions, read_options
from bg_env.players.protocol import name_of
from bg_env.rules import Settings

__all__ = ["meeting_options", "play", "play_part"]


def play(
    a: Any,
    b: Any,
    *,
    games: int = 1000,
    seed: int = 1,
    boards: int = 1024,
    observation: str = "tesauro",
    names: tuple[str, str] | None = None,
    progress: Callable[[int], object] | None = None,
    settings: Settings | None = None,
    **rules: Any,
) -> Result:
    """Let two players meet.

    Args:
        a: the first player: a name, an object with `choose` or `choose_plays`, or a callable from a batch of observations (a
            dict of `observation` and `action_mask`) to actions.
        b: the second, likewise.
        games: how many games (with `match_length`: matches), an even number, half of them from each seat.
        seed: of the dice and of the players' random words, 0 to 2**64 - 1.
        boards: how many games are played at once.
        observation: the encoder that callables see.
        names: of both, for the result; None for their own.
        progress: called now and then with the number of games that have ended since the last call.
        settings: what is played.
        **rules: the same by name, as of `bg_env.Settings`, `variant` among them.

    Returns:
        The result. After Ctrl-C it covers the pairs of games before the first one that was not played to the end, and says so
        by `complete`.

    Raises:
        SettingsError: a setting is refused, `games` is odd or below 2, or a player is refused.
        IllegalActionError: a player chose something that is not legal.
    """
    return joined([_played(a, b, 0, games, seed, boards, observation, names, progress, settings, rules)])


def play_part(
    a: Any,
    b: Any,
    *,
    first: int = 0,
    games: int = 1000,
    seed: int = 1,
    boards: int = 1024,
    observation: str = "tesauro",
    names: tuple[str, str] | None = None,
    progress: Callable[[int], object] | None = None,
    settings: Settings | None = None,
    **rules: Any,
) -> Part:
    """Play the games `first` to `first + games - 1` of those that `play` plays.

    Games 2 p and 2 p + 1 have the same dice with seats swapped, so `first` is even as `games` is; for the rest see `play`.

    Returns:
        What came of each game; `joined` makes the result of such parts. After Ctrl-C some are not played to the end.

    Raises:
        SettingsError: a setting is refused, `first` or `games` is odd or out of range, or a player is refused.
        IllegalActionError: a player chose something that is not legal.
    """
    return _played(a, b, first, games, seed, boards, observation, names, progress, settings, rules)


def _played(
    a: Any,
    b: Any,
    first: int,
    games: int,
    seed: int,
    boards: int,
    observation: str,
    names: tuple[str, str] | None,
    progress: Callable[[int], object] | None,
    settings: Settings | None,
    rules: dict[str, Any],
) -> Part:
    numbers = {"first": first, "games": games, "boards": boards}
    options = meeting_options(a, b, numbers, seed, observation, names, settings, rules)
    duel = Duel(a, b, options, int(games), int(seed), int(boards), int(first))
    left = int(games)
    try:
        while left:
            ended = duel.round()
            left -= ended
            if progress is not None and ended:
                progress(ended)
    except KeyboardInterrupt:
        pass
    one, other = (name_of(player) for player in duel.players)
    return Part(options.settings, int(seed), names or (one, other), int(first), duel.tally)


def meeting_options(
    a: Any,
    b: Any,
    numbers: dict[str, Any],
    seed: Any,
    observation: str,
    names: Any,
    settings: Settings | None,
    rules: dict[str, Any],
) -> EnvOptions:
    """The options of games between `a` and `b`, if all of it is in order; see `play_part`."""
    given = {name: value for name, value in rules.items() if name != "variant"}
    options = read_options(rules.get("variant"), {"settings": settings, "observation": observation, **given})
    checked_seed(seed)
    for name, number in numbers.items():
        checked_whole(name, number, {"first": 0, "games": 2, "boards": 1}[name], 2**31 - 1)
    for name in ("first", "games"):
        if numbers.get(name, 0) % 2:
            msg = (
                f"{name} must be even, because each dice stream is played twice with seats swapped: "
                f"{numbers[name] - 1} or {numbers[name] + 1}"
            )
            raise SettingsError(msg)
    if names is not None and (not isinstance(names, (tuple, list)) or len(names) != 2):
        msg = f"names are two names, one for each player, not {quoted(names)}"
        raise SettingsError(msg)
    if a is None or b is None:
        msg = "an arena needs two players: None is not a player"
        raise SettingsError(msg)
    return options
