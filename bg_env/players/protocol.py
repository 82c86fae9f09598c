"""The protocol of players, and `ask`, the one place where a player is asked."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from bg_env.actions import LAST_NAMED, ROLL, TAKE
from bg_env.errors import IllegalActionError, PositionError
from bg_env.rules import STATE, Phase, Rules, Settings, States
from bg_env.rules.sound import check_sound

__all__ = [
    "FORFEIT",
    "Choices",
    "PlayPlayer",
    "Player",
    "ask",
    "bound",
    "check_states",
    "default_actions",
    "name_of",
    "plays_only",
]

Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]

FORFEIT: Final = -2
"""In place of an action, or of the first step of a play: the player gives no legal one, and forfeits the game or match.

Only the arena accepts it: the player loses three times the stake, and the result counts such games apart."""
_STEPS: Final = 4
"""The most checker steps of a whole play."""
_DEFAULTS: Final = np.full(max(Phase) + 1, -1, np.int64)
_DEFAULTS[Phase.ROLL_OR_DOUBLE] = ROLL
_DEFAULTS[Phase.TAKE_OR_DROP] = TAKE
_DEFAULTS[Phase.CHOOSE_DOUBLE] = LAST_NAMED


@runtime_checkable
class Player(Protocol):
    """A player that chooses one action at a time.

    A player that depends on the rules in force has a method `bind(settings) -> player`. Every environment and the arena call it
    once, before the first decision, and use the player that it returns; a player without it is used as it is.
    """

    def choose(self, states: States, words: Words) -> npt.NDArray[Any]:
        """One legal action for each state; in each of them this player has the decision (field `decider`).

        Args:
            states: STATE records (n,), not to be written to.
            words: uint64 (n,), 64 random bits for each decision, from the game's own stream: a player that draws from
                nothing else plays the same games in any batch.

        Returns:
            integers (n,), action numbers.
        """
        ...


@runtime_checkable
class PlayPlayer(Protocol):
    """A player that chooses a whole play for each roll.

    It decides about the cube, and names doubles, by `choose` if it has that method as well; otherwise it rolls, takes, and
    names 6-6.
    """

    def choose_plays(self, states: States, words: Words) -> npt.NDArray[Any]:
        """The steps of one legal whole play for each state, all of phase CHECKER.

        Args:
            states: as of `Player.choose`.
            words: as of `Player.choose`.

        Returns:
            integers (n, 4), step actions, -1 after the last step.
        """
        ...


class Choices(NamedTuple):
    """The decisions of a player in some states: whole plays in a part of them, single actions in the others.

    Attributes:
        moving: int64 (m,), which states are answered by whole plays, in ascending order.
        plays: int64 (m, 4), the steps of those plays, -1 after the last step.
        acting: int64 (n - m,), which states are answered by single actions, in ascending order.
        actions: int64 (n - m,), those actions.
    """

    moving: Integers
    plays: Integers
    acting: Integers
    actions: Integers

    def only(self) -> list[int]:
        """The actions to take one after the other, where the player was asked about a single state."""
        if len(self.moving):
            return [action for action in self.plays[0].tolist() if action >= 0]
        return [int(self.actions[0])]


def bound(player: Player | PlayPlayer, settings: Settings) -> Player | PlayPlayer:
    """The player for these settings: `player.bind(settings)` where there is such a method, else the player itself."""
    bind = getattr(player, "bind", None)
    chosen: Player | PlayPlayer = bind(settings) if bind is not None else player
    return chosen


def name_of(player: Any) -> str:
    """The player's `name`; without one, the name of its class or, for a function, its own."""
    return str(getattr(player, "name", None) or getattr(player, "__name__", None) or type(player).__name__)


def plays_only(player: Player | PlayPlayer) -> bool:
    """Whether the player has no `choose`: its decisions other than plays are fixed, and use no random word."""
    return not hasattr(player, "choose")


def default_actions(states: States) -> Integers:
    """The actions of a player that knows no cube: roll, take, name 6-6; -1 for states of other phases.

    Returns:
        int64 (n,).
    """
    actions: Integers = _DEFAULTS[states["phase"]]
    return actions


def check_states(states: Any, rules: Rules | None = None, *, playing: bool = False) -> None:
    """Refuse what a player cannot be asked about; kernels trust it.

    Args:
        states: STATE records (n,).
        rules: as of `bg_env.rules.sound.check_sound`.
        playing: likewise.

    Raises:
        PositionError: `states` is something else, or a state has a field that the rules never give it.
    """
    if not isinstance(states, np.ndarray) or states.dtype != STATE or states.ndim != 1:
        msg = "a player is asked about a 1-D array of STATE records; one game is a batch of one"
        raise PositionError(msg)
    check_sound(states, rules, playing=playing)


def ask(player: Player | PlayPlayer, states: States, words: Words) -> Choices:
    """The decisions of a player in all of the given states.

    Whole plays are asked for where a roll is to be played, if the player chooses them, and actions elsewhere. Whether they are
    legal is checked by the code that executes them.

    Args:
        player: bound to the settings in force, see `player_for`.
        states: STATE records (n,) in which the player has the decision.
        words: uint64 (n,), random bits for each decision, see `Player.choose`. Where `plays_only(player)`, only those of states
            of phase CHECKER are used.

    Raises:
        IllegalActionError: the player returned an array of the wrong shape, or of something else than integers.
    """
    n = len(states)
    everywhere = np.arange(n)
    moving, acting = everywhere[:0], everywhere
    if hasattr(player, "choose_plays"):
        whole = states["phase"] == Phase.CHECKER
        moving, acting = np.flatnonzero(whole), np.flatnonzero(~whole)
    plays, actions = np.empty((0, _STEPS), np.int64), np.empty(0, np.int64)
    if len(moving):
        chosen = player.choose_plays(*_part(states, words, moving))  # type: ignore[union-attr]
        plays = _integers(chosen, (len(moving), _STEPS), player, "a play for each state")
    if len(acting):
        some, drawn = _part(states, words, acting)
        if hasattr(player, "choose"):
            actions = _integers(player.choose(some, drawn), (len(acting),), player, "an action for each state")
        else:
            actions = default_actions(some)
    return Choices(moving, plays, acting, actions)


def _part(states: States, words: Words, chosen: Integers) -> tuple[States, Words]:
    """The chosen states and their words; what was given, if all are chosen."""
    return (states, words) if len(chosen) == len(states) else (states[chosen], words[chosen])


def _integers(returned: Any, shape: tuple[int, ...], player: Any, wanted: str) -> Integers:
    try:
        given = np.asarray(returned)
    except ValueError:  # ragged
        given = np.empty(0, object)
    if given.shape != shape or given.dtype.kind not in "iu":
        msg = f"{name_of(player)} must return {wanted}, integers of shape {shape}, not {given.dtype} of shape {given.shape}"
        raise IllegalActionError(msg)
    return np.ascontiguousarray(given, np.int64)
