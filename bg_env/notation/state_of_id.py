"""States set up from the contents of an id or a record, and the limits of what an id can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from bg_env.actions import BEAVER, DOUBLE
from bg_env.errors import NotationError, PositionError, SettingsError
from bg_env.rules import (
    END_FINISHED,
    END_ILLEGAL,
    END_TRUNCATED,
    OFF,
    STAGE_DOUBLE,
    STAGE_EXTRA,
    STATE,
    Phase,
    Rules,
    Settings,
    States,
    Variant,
    apply,
    check_board,
    check_state,
    may_turn_again,
    set_up,
)

__all__ = [
    "ImpossibleIdError",
    "Setup",
    "all_off",
    "default_cap",
    "fill_state",
    "kept_alive",
    "least_cap",
    "refuse_unsayable",
    "same_after_reading",
    "settle_settings",
    "stand",
    "viewer",
]

_DEFAULT_CAP: Final = 64
_NAMES: Final = {1: "double", 2: "beaver", 3: "raccoon"}


class ImpossibleIdError(NotationError, PositionError):
    """A well-formed id of an impossible position or state."""


@dataclass
class Setup:
    """The contents of an id.

    Attributes:
        points: 26 counts of player 0 and of player 1, each on its own numbering.
        turn: the player on roll (of a finished game: the winner).
        dice: the roll, 0 0 before it.
        cube: log2 of the value that is accepted.
        owner: -1, 0 or 1.
        crawford: whether it is the Crawford game.
        score: of player 0 and player 1.
        chain: turns of the cube that wait for an answer.
        given_up: level of the drop (1) or resignation that has ended the game; 0 otherwise.
        what: the id, for messages.
    """

    points: Sequence[Sequence[int]]
    turn: int
    dice: tuple[int, int] = (0, 0)
    cube: int = 0
    owner: int = -1
    crawford: bool = False
    score: tuple[int, int] = (0, 0)
    chain: int = 0
    given_up: int = 0
    what: str = field(default="id")


def kept_alive(length: int, cube: int, doubler_score: int, chain: int) -> bool:
    """Whether dead cubes must be in play (R9.3): an id of a match shows a double that waits while the cube is dead."""
    return bool(length and chain) and doubler_score + (1 << cube) >= length


def default_cap(log2: int) -> int | None:
    """The cube's cap of an id without one: 64, or none where the cube is turned to more (log2 of its value)."""
    return _DEFAULT_CAP if 1 << log2 <= _DEFAULT_CAP else None


def least_cap(read: Settings, in_force: Settings) -> Settings:
    """Settings read from an id without a cap, with the cap in force where that is higher."""
    return read.but(cube_cap=in_force.cube_cap) if in_force.cap_log2 > read.cap_log2 else read


def settle_settings(what: str, said: dict[str, Any], settings: Settings | None, fallback: dict[str, Any]) -> Settings:
    """The settings that an id's fields make, or `settings` where they are given and not contradicted.

    Args:
        what: the id, for the message.
        said: settings that the id gives and that must hold.
        settings: the settings in force; None if the id decides.
        fallback: settings that the id gives, or leaves open, and that count only where `settings` is None.

    Raises:
        NotationError: the id contradicts itself or the settings in force.
    """
    try:
        if settings is None:
            return Settings(**fallback, **said)
    except SettingsError as error:
        msg = f"{what}: {error}"
        raise NotationError(msg) from error
    for name, value in said.items():
        if getattr(settings, name) != value:
            msg = f"{what} has {name}={value!r}, but the settings in force have {name}={getattr(settings, name)!r}"
            raise NotationError(msg)
    return settings


def stand(setup: Setup, settings: Settings) -> States:
    """The state of a setup, an array of one, which waits for what is due: dice, a decision, or nothing.

    Raises:
        NotationError: such a game is impossible under these settings; then it is a PositionError as well.
    """
    rules = settings.record()
    states = np.zeros(1, STATE)
    try:
        check_board(setup.points[setup.turn], setup.points[1 - setup.turn], settings.variant.checkers)
        states["points"] = setup.points
        for name in ("turn", "cube", "owner", "crawford"):
            states[name] = getattr(setup, name)
        states["score"] = setup.score
        set_up(states, 0, rules, *setup.dice)
        if setup.given_up:
            _give_up(states, setup)
        if states["phase"][0] == Phase.OVER and settings.match_length:
            states["crawford"] = 0  # the check is of the score before the end
        check_state(states, 0, settings)
        states["crawford"] = setup.crawford
        if setup.chain and states["phase"][0] != Phase.OVER:
            _turn_cube(states, rules, setup.chain)
    except PositionError as error:
        msg = f"{setup.what}: {error}"
        raise ImpossibleIdError(msg) from error
    return states


def _give_up(states: States, setup: Setup) -> None:
    if states["phase"][0] == Phase.OVER:
        return
    states["dice"] = states["left"] = states["stage"] = 0
    states["phase"] = Phase.OVER
    states["decider"] = -1
    states["winner"] = setup.turn
    states["level"] = setup.given_up
    states["won"] = setup.given_up << setup.cube
    states["ending"] = END_FINISHED


def _turn_cube(states: States, rules: Rules, chain: int) -> None:
    if states["phase"][0] != Phase.ROLL_OR_DOUBLE:
        msg = "a double waits for an answer, but the player on roll may not double (R8, R9)"
        raise PositionError(msg)
    apply(states, 0, rules, DOUBLE)
    for k in range(2, chain + 1):
        if not may_turn_again(states, 0, rules):
            msg = f"a {_NAMES.get(k, 'further turn of the cube')} waits for an answer, but the rules in force allow none (R8.6)"
            raise PositionError(msg)
        apply(states, 0, rules, BEAVER)


def refuse_unsayable(states: States, i: int, what: str) -> None:
    """Refuse a state that no id can hold.

    Raises:
        NotationError: the opening throw is due, a roll is partly played, a double of R10.6 is named or due, or the episode
            was ended by an illegal action or the cap on turns.
    """
    s = states[i]
    if s["ending"] in (END_ILLEGAL, END_TRUNCATED):
        why = "an illegal action" if s["ending"] == END_ILLEGAL else "the cap on turns"
        msg = f"{what} cannot hold that {why} has ended the game"
    elif s["phase"] == Phase.OPENING:
        msg = f"{what} cannot hold that the opening throw is due: it needs a player on roll"
    elif s["phase"] == Phase.CHOOSE_DOUBLE or s["stage"] in (STAGE_DOUBLE, STAGE_EXTRA):
        msg = f"{what} cannot hold the double that a roll of 1-2 earns, nor the roll after it (R10.6)"
    elif s["phase"] == Phase.CHECKER and int(s["left"].sum()) != (4 if s["dice"][0] == s["dice"][1] else 2):
        msg = f"{what} cannot hold a roll that is partly played: finish the roll first"
    else:
        return
    raise NotationError(msg)


def same_after_reading(states: States, i: int, read: States, what: str) -> None:
    """Raise if a state that was written and read again waits for something else: the id cannot hold it.

    Raises:
        NotationError: names what would be lost.
    """
    here, there = states[i], read[0]
    if here["phase"] != there["phase"]:
        if here["phase"] == Phase.ROLL and there["phase"] == Phase.ROLL_OR_DOUBLE:
            why = "that no double is possible before this roll (declined, a first turn, or a cube that is off, dead or capped)"
        else:
            why = f"that {Phase(int(here['phase']))} is due: it would be read as {Phase(int(there['phase']))}"
        msg = f"{what} cannot hold {why}"
        raise NotationError(msg)
    names = ("winner", "level", "won") if here["phase"] == Phase.OVER else ("turn", "chain", "decider")
    for name in names:
        if here[name] != there[name]:
            msg = f"{what} cannot hold {name}={int(here[name])} here: it would be read as {int(there[name])}"
            raise NotationError(msg)


def viewer(states: States, i: int) -> int:
    """The player by whom an id is seen: the one on roll, at the end the winner (0 before there is either)."""
    s = states[i]
    seen = s["winner"] if s["phase"] == Phase.OVER and s["winner"] >= 0 else s["turn"]
    return max(int(seen), 0)


def all_off(states: States, i: int, player: int, settings: Settings) -> bool:
    """Whether `player` has borne off everything."""
    return int(states[i]["points"][player, OFF]) == settings.variant.checkers


_RANGES: Final = {
    "dice": (0, 6),
    "left": (0, 4),
    "turn": (-1, 1),
    "decider": (-1, 1),
    "phase": (0, 5),
    "stage": (0, 3),
    "cube": (0, 15),
    "owner": (-1, 1),
    "chain": (0, 15),
    "ties": (0, 15),
    "crawford": (0, 1),
    "score": (0, 10**9),
}


def fill_state(states: States, fields: Mapping[str, object], variant: Variant) -> None:
    """Write the fields of a record into a state.

    Raises:
        PositionError: a field is missing, unknown or out of its range, or they contradict each other.
    """
    ranges = {**_RANGES, "points": (0, variant.checkers)}
    if set(fields) != set(ranges):
        msg = f"a state is given by {', '.join(ranges)}"
        raise PositionError(msg)
    states[:] = np.zeros(1, STATE)
    for name, (low, high) in ranges.items():
        value = np.asarray(fields[name])
        if value.dtype.kind not in "iu" or value.shape != STATE[name].shape or value.min() < low or value.max() > high:
            msg = f"the state's {name} is {fields[name]!r:.60}: numbers from {low} to {high} are right"
            raise PositionError(msg)
        states[name] = value
    states["winner"] = -1
    s = states[0]
    phase, turn = int(s["phase"]), int(s["turn"])
    left, dice = s["left"].tolist(), s["dice"].tolist()
    double = dice[0] == dice[1]
    rolled = dice[0] >= dice[1] > 0 and 0 < sum(left) <= (4 if double else 2) and not (left[1] if double else max(left) > 1)
    decides = -1 if phase in (Phase.OPENING, Phase.ROLL) else turn if s["chain"] % 2 == 0 else 1 - turn
    bonus = phase == Phase.CHOOSE_DOUBLE or s["stage"] > 0
    if bonus and not variant.acey_deucey:
        msg = f"the state is within a bonus for a 1-2, but {variant.name} has none (R10.6)"
        raise PositionError(msg)
    if (
        (turn < 0) != (phase == Phase.OPENING)
        or s["decider"] != decides
        or (bool(s["chain"]) != (phase == Phase.TAKE_OR_DROP))
        or (not rolled if phase == Phase.CHECKER else sum(left) > 0)
    ):
        msg = "the state's turn, decider, phase, dice and chain contradict each other"
        raise PositionError(msg)
