"""Contents of a picture of a state in plain numbers and words, the same for the text board and for every picture.

A `Scene` is seen from a seat: that player sits below, with its home board lower right and its points numbered for it
(R1.4). By default it is the player on roll; before the opening throw player 0; at the end the winner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bg_env.checks import is_player, is_whole
from bg_env.errors import BgEnvError, PositionError, SettingsError, quoted
from bg_env.render.measure import cut
from bg_env.rules.settings import Settings
from bg_env.rules.state import (
    END_ILLEGAL,
    END_TRUNCATED,
    STAGE_BONUS,
    STAGE_DOUBLE,
    STAGE_EXTRA,
    STATE,
    Phase,
    States,
    check_board,
)
from bg_env.rules.variant import OFF, Variant, variant_of

__all__ = ["NAMES", "Arrow", "Cube", "Die", "Scene", "pip_count", "position_scene", "scene"]

NAMES: Final = ("White", "Black")
"""The players' default names: `player_0` is White, `player_1` Black (R1.3)."""

Arrow = tuple[int, int, int]
"""A step of a checker: (player, from, to) on that player's own numbering, 25 the bar, 0 off."""

_NAME_IN_MESSAGE: Final = 19.0
"""Width of a name in a message, in ems (some thirty letters): the words around it must find room as well."""
_LEVELS = {1: "a single game", 2: "a gammon", 3: "a backgammon"}
_TURNS = {1: "doubles", 2: "beavers", 3: "raccoons"}


@dataclass(frozen=True)
class Die:
    """One number of the roll on the board (a double shows four).

    Attributes:
        number: 1 to 6.
        played: whether it has been played.
    """

    number: int
    played: bool


@dataclass(frozen=True)
class Cube:
    """The doubling cube on the board.

    Attributes:
        value: the value that it shows; while it is offered the value that waits for an answer.
        owner: the player on whose side it lies; None while it is centred or offered.
        offered_to: the player who must answer; None while it is not offered.
    """

    value: int
    owner: int | None
    offered_to: int | None


@dataclass(frozen=True)
class Scene:
    """A board as a viewer sees it.

    Attributes:
        below: the player who sits below, 0 or 1.
        numbers: the player for whom the points are numbered.
        points: checkers of player 0 and 1, 26 counts each on their own numbering (0 off, 25 the bar).
        on_roll: the player whose turn it is; None for neither.
        dice: the roll on the board; () without one.
        cube: the cube; None if no cube is in play.
        names: of player 0 and 1.
        seats: "player_0" and "player_1", or empty for a bare position.
        pips: pip counts of both.
        scores: points of both in the match; None in money play.
        title: the variant and the stakes.
        message: the turn and the decision that is due, or the result; empty for a bare position.
    """

    below: int
    numbers: int
    points: tuple[tuple[int, ...], tuple[int, ...]]
    on_roll: int | None
    dice: tuple[Die, ...]
    cube: Cube | None
    names: tuple[str, str]
    seats: tuple[str, str]
    pips: tuple[int, int]
    scores: tuple[int, int] | None
    title: str
    message: str


def pip_count(side: Sequence[int]) -> int:
    """The pip count of one side (26 counts on its own numbering); a checker on the bar counts 25."""
    return sum(point * n for point, n in enumerate(side))


def _printable(names: Any) -> tuple[str, str]:
    """Names without line breaks and control characters, which would break a board or control a terminal.

    Raises:
        SettingsError: `names` are not two texts.
    """
    if not isinstance(names, Sequence) or len(names) != 2 or not all(isinstance(name, str) for name in names):
        msg = f"names are the texts of two players, as in ('White', 'Black'), not {quoted(names)}"
        raise SettingsError(msg)
    first, second = ("".join(c if c.isprintable() else " " for c in name).strip() for name in names)
    return first, second


def _title(settings: Settings, state: np.void) -> str:
    words = [settings.variant.name]
    if settings.match_length:
        words.append(f"match to {settings.match_length}")
        if state["crawford"]:
            words.append("Crawford game")
        elif not settings.crawford and settings.cube:
            words.append("no Crawford game")
    else:
        words.append("money play")
    if not settings.cube:
        words.append("no cube")
    elif settings.cube_cap is None:
        words.append("no limit to the cube")
    elif settings.cube_cap != Settings(settings.variant).cube_cap:
        words.append(f"cube up to {settings.cube_cap}")
    if settings.jacoby:
        words.append("Jacoby")
    if settings.beavers:
        words.append("beavers" if settings.beavers == 1 else f"beavers and raccoons (up to {settings.beavers})")
    if settings.auto_doubles:
        words.append(f"automatic doubles (up to {settings.auto_doubles})")
    if settings.max_turns:
        words.append(f"at most {settings.max_turns} turns")
    return ", ".join(words)


def _plural(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def _won(state: np.void, names: tuple[str, str], tense: str) -> str:
    return f"{names[state['winner']]} {tense} {_LEVELS[int(state['level'])]}, {_plural(int(state['won']), 'point')}"


def _ended(state: np.void, settings: Settings, names: tuple[str, str]) -> str:
    ending, winner = int(state["ending"]), int(state["winner"])
    if ending == END_TRUNCATED:
        return f"Stopped at the limit of {_plural(int(state['turns']), 'turn')}"
    if winner < 0:
        return "The game is over"
    why = f"{names[1 - winner]} made an illegal action: " if ending == END_ILLEGAL else ""
    a, b = int(state["score"][winner]), int(state["score"][1 - winner])
    if settings.match_length and a >= settings.match_length:
        last = f"{_LEVELS[int(state['level'])]}, {_plural(int(state['won']), 'point')}"
        return f"{why}{names[winner]} wins the match {a}-{b} ({last})"
    return why + _won(state, names, "wins")


def _cube_turned(state: np.void, names: tuple[str, str], value: int) -> str:
    chain, turn = int(state["chain"]), int(state["turn"])
    turner = turn if chain % 2 else 1 - turn
    verb = _TURNS.get(chain, "turns the cube again")
    return f"{names[turner]} {verb} to {value}: {names[1 - turner]} to take or drop"


def _to_play(state: np.void, name: str) -> str:
    dice, stage = [int(n) for n in state["dice"]], int(state["stage"])
    left = sum(int(n) for n in state["left"])
    what = f"{dice[0]}-{dice[1]}"
    if stage == STAGE_DOUBLE:
        what = f"the named double {what}"
    elif stage == STAGE_EXTRA:
        what = f"the extra roll {what}"
    if dice[0] == dice[1]:
        return f"{name} to play {what}" + ("" if left == 4 else f", {left} left")
    if left == 1:
        return f"{name} to play {what}, the {dice[0] if state['left'][0] else dice[1]} left"
    return f"{name} to play {what}"


def _message(state: np.void, settings: Settings, whole: tuple[str, str]) -> str:
    phase = int(state["phase"])
    names = (cut(whole[0], 1, _NAME_IN_MESSAGE), cut(whole[1], 1, _NAME_IN_MESSAGE))
    if phase == Phase.OVER:
        return _ended(state, settings, names)
    name = names[int(state["turn"])]
    if phase == Phase.OPENING:
        before = f"{_won(state, names, 'won')}. " if state["winner"] >= 0 else ""
        return f"{before}Opening throw: the higher die starts"
    if phase == Phase.ROLL:
        return f"{name} to roll again" if state["stage"] == STAGE_EXTRA else f"{name} to roll"
    if phase == Phase.ROLL_OR_DOUBLE:
        return f"{name} to roll or double"
    if phase == Phase.TAKE_OR_DROP:
        return _cube_turned(state, names, 1 << (int(state["cube"]) + int(state["chain"])))
    if phase == Phase.CHOOSE_DOUBLE:
        return f"{name} to name a double"
    bonus = " (a double and another roll follow)" if state["stage"] == STAGE_BONUS else ""
    return _to_play(state, name) + bonus


def _dice(state: np.void) -> tuple[Die, ...]:
    (high, low), (left_high, left_low) = state["dice"].tolist(), state["left"].tolist()
    if not high:
        return ()
    if high == low:
        return tuple(Die(high, k >= left_high) for k in range(4))
    return (Die(high, left_high == 0), Die(low, left_low == 0))


def _cube(state: np.void, settings: Settings) -> Cube | None:
    if not settings.cube:
        return None
    value, owner, chain, turn = (int(state[name]) for name in ("cube", "owner", "chain", "turn"))
    if chain > 0 and state["phase"] == Phase.OVER:
        chain, value = 0, value + chain - 1  # an illegal answer: the last turn of the cube never counted
    if chain > 0:
        return Cube(1 << (value + chain), None, 1 - turn if chain % 2 else turn)
    return Cube(1 << value, None if owner < 0 else owner, None)


def _seat(name: str, seat: int | None, default: int) -> int:
    if seat is None:
        return default
    if not is_player(seat):
        msg = f"{name} is 0, 1 or None, not {quoted(seat)}"
        raise BgEnvError(msg)
    return int(seat)


def scene(
    states: States,
    i: int,
    settings: Settings,
    *,
    seat: int | None = None,
    numbers: int | None = None,
    names: tuple[str, str] | None = None,
) -> Scene:
    """The scene of `states[i]`.

    Args:
        states: 1-D array of STATE records.
        i: index of the state to show.
        settings: the settings of the game.
        seat: the player who sits below, 0 or 1; None for the player on roll (at the end the winner, before the opening
            throw player 0).
        numbers: the player for whom the points are numbered; None for the player below.
        names: of player 0 and 1.

    Raises:
        BgEnvError: `seat` or `numbers` is not a seat, or `states`, `i`, `settings` or `names` is something else.
    """
    if not isinstance(states, np.ndarray) or states.dtype != STATE or states.ndim != 1:
        msg = "states must be a 1-D array of STATE records; one game is a batch of one"
        raise PositionError(msg)
    if not is_whole(i, -len(states), len(states) - 1):
        msg = f"i is the index of one of {len(states)} states, not {quoted(i)}"
        raise PositionError(msg)
    if not isinstance(settings, Settings):
        msg = f"settings are a bg_env.Settings, not {quoted(settings)}"
        raise SettingsError(msg)
    state = states[i]
    turn, winner, over = int(state["turn"]), int(state["winner"]), int(state["phase"]) == Phase.OVER
    default = winner if over and winner >= 0 else max(turn, 0)
    below = _seat("seat", seat, default)
    points = tuple(tuple(int(n) for n in side) for side in state["points"])
    named = NAMES if names is None else _printable(names)
    return Scene(
        below=below,
        numbers=_seat("numbers", numbers, below),
        points=(points[0], points[1]),
        on_roll=None if over or turn < 0 else turn,
        dice=() if over else _dice(state),
        cube=_cube(state, settings),
        names=named,
        seats=("player_0", "player_1"),
        pips=(pip_count(points[0]), pip_count(points[1])),
        scores=(int(state["score"][0]), int(state["score"][1])) if settings.match_length else None,
        title=_title(settings, state),
        message=_message(state, settings, named),
    )


def position_scene(
    mover: Sequence[int],
    opponent: Sequence[int],
    variant: str | Variant = "backgammon",
    *,
    mover_is: int = 1,
    names: tuple[str, str] | None = None,
) -> Scene:
    """A bare position, seen by the player on roll: no dice, no cube, no score.

    Args:
        mover: the mover's 26 counts on its own numbering (0 off, 25 the bar).
        opponent: the opponent's, on its own.
        variant: the variant, or its name.
        mover_is: the mover's colour: 1 (Black, X, as GNU Backgammon draws the player below) or 0 (White, O).
        names: of the mover and the opponent.

    Raises:
        PositionError: the placement is impossible.
        BgEnvError: `mover_is` is not a seat.
    """
    chosen = variant_of(variant)
    check_board(mover, opponent, chosen.checkers)
    if mover_is not in (0, 1):
        msg = f"mover_is is 0 or 1, not {quoted(mover_is)}"
        raise BgEnvError(msg)
    own, other = tuple(int(n) for n in mover), tuple(int(n) for n in opponent)
    called = ("on roll", "opponent") if names is None else _printable(names)
    won = own[OFF] == chosen.checkers or other[OFF] == chosen.checkers
    order = (0, 1) if mover_is == 0 else (1, 0)
    sides, labels = (own, other), called
    return Scene(
        below=mover_is,
        numbers=mover_is,
        points=(sides[order[0]], sides[order[1]]),
        on_roll=None if won else mover_is,
        dice=(),
        cube=None,
        names=(labels[order[0]], labels[order[1]]),
        seats=("", ""),
        pips=(pip_count(sides[order[0]]), pip_count(sides[order[1]])),
        scores=None,
        title=chosen.name,
        message="",
    )
