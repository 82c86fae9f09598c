"""Positions of the checkers as immutable values, and their whole plays."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bg_env.actions import Step
from bg_env.checks import checked_die
from bg_env.errors import IllegalActionError, PositionError, quoted
from bg_env.notation.gnubg_ids import decode_position_id, encode_position_id
from bg_env.notation.moves import format_steps, steps_of
from bg_env.render.svg import position_svg
from bg_env.render.text import position_text
from bg_env.rules import (
    OFF,
    STATE,
    Phase,
    Rules,
    Settings,
    States,
    Variant,
    check_board,
    plays,
    set_up,
    variant_of,
)

__all__ = ["Play", "Position", "plays_of_state"]


@functools.lru_cache(maxsize=64)
def _cubeless_rules(variant: Variant) -> Rules:
    """The RULES record of single games without a cube, in which a play that ends the game leaves the board as it is then."""
    return Settings(variant, cube=False).record()


@dataclass(frozen=True)
class Play:
    """A whole play of a roll.

    Attributes:
        steps: its checker steps in an order in which they are legal; empty if the player dances.
        result: the position after it, turned: the other side on roll.
    """

    steps: tuple[Step, ...]
    result: Position

    def __str__(self) -> str:
        return format_steps(self.steps)


class Position:
    """A placement of the checkers, seen by the player on roll; immutable, equal by value, hashable.

    Args:
        mover: 26 counts of the player on roll on its own numbering: index 0 borne off, 1-24 the points, 25 the bar.
        opponent: 26 counts of the other player on *its* own numbering.
        variant: a Variant or its name; it gives the number of checkers.

    Raises:
        PositionError: the placement is impossible (see `rules.check_board`).
        SettingsError: no such variant.
    """

    __slots__ = ("_mover", "_opponent", "_variant")
    _mover: tuple[int, ...]
    _opponent: tuple[int, ...]
    _variant: Variant

    def __init__(self, mover: Sequence[int], opponent: Sequence[int], variant: str | Variant = "backgammon") -> None:
        chosen = variant_of(variant)
        try:
            sides = tuple(mover), tuple(opponent)
        except TypeError:
            msg = f"mover and opponent are sequences of 26 counts, not {type(mover).__name__} and {type(opponent).__name__}"
            raise PositionError(msg) from None
        check_board(*sides, chosen.checkers)
        self._fill(tuple(map(int, sides[0])), tuple(map(int, sides[1])), chosen)

    def _fill(self, mover: tuple[int, ...], opponent: tuple[int, ...], variant: Variant) -> None:
        for name, value in (("_mover", mover), ("_opponent", opponent), ("_variant", variant)):
            object.__setattr__(self, name, value)

    @classmethod
    def unchecked(cls, mover: tuple[int, ...], opponent: tuple[int, ...], variant: Variant) -> Position:
        """A position of counts that the engine has made: as the constructor makes it, but nothing is checked."""
        position = cls.__new__(cls)
        position._fill(mover, opponent, variant)
        return position

    @classmethod
    def start(cls, variant: str | Variant = "backgammon") -> Position:
        """The start of a variant (R10)."""
        chosen = variant_of(variant)
        return cls.unchecked(chosen.start, chosen.start, chosen)

    @classmethod
    def from_id(cls, text: str, variant: str | Variant = "backgammon") -> Position:
        """The position with this GNU Backgammon position id (14 characters).

        Raises:
            NotationError: this is not such an id, or its position is impossible in this variant.
        """
        chosen = variant_of(variant)
        return cls.unchecked(*decode_position_id(text, chosen), chosen)

    @property
    def mover(self) -> tuple[int, ...]:
        """26 counts of the player on roll, on its own numbering (0 off, 25 the bar)."""
        return self._mover

    @property
    def opponent(self) -> tuple[int, ...]:
        """26 counts of the other player, on its own numbering."""
        return self._opponent

    @property
    def variant(self) -> Variant:
        """The variant, which gives the number of checkers and the start."""
        return self._variant

    @property
    def id(self) -> str:
        """The GNU Backgammon position id, seen by the player on roll.

        Raises:
            NotationError: a side has more than 15 checkers on the board.
        """
        return encode_position_id(self._mover, self._opponent)

    @property
    def pips(self) -> tuple[int, int]:
        """Pip counts of the player on roll and of the other."""
        return tuple(sum(point * n for point, n in enumerate(side)) for side in (self._mover, self._opponent))  # type: ignore[return-value]

    def turned(self) -> Position:
        """The same checkers with the other side on roll; turned twice it is the same position."""
        return self.unchecked(self._opponent, self._mover, self._variant)

    def legal_plays(self, *dice: int) -> tuple[Play, ...]:
        """The distinct whole plays of a roll (R11.2), never empty: a dance is one play without steps.

        For a 1-2 in Acey-Deucey these are the plays of the 1 and the 2 alone (R10.6).

        Args:
            *dice: the two dice of a roll, 1 to 6 each, in any order; two equal dice are a double, to be played four times. Or
                the rest of a roll, as in `Game.dice`: one die, or three or four equal ones. (Two equal dice always mean a
                whole double; `Game.legal_plays` knows when only two of its steps are left.)

        Raises:
            IllegalActionError: these are not such dice, or the mover has borne off all its checkers. (An opponent who has
                done so is accepted: such a board often stands for one without opposition.)
        """
        left = [checked_die(die) for die in dice]
        if not 1 <= len(left) <= 4 or (len(left) != 2 and len(set(left)) > 1):
            msg = f"a roll is two dice, and one die or three or four equal ones may be left of it, not {quoted(dice)}"
            raise IllegalActionError(msg)
        if self._mover[OFF] == self._variant.checkers:
            msg = "no roll can be played: the player on roll has borne off all its checkers"
            raise IllegalActionError(msg)
        states = np.zeros(1, STATE)
        states["points"][0, 0], states["points"][0, 1] = self._mover, self._opponent
        set_up(states, 0, _cubeless_rules(self._variant), left[0], left[-1])
        if states[0]["phase"] != Phase.CHECKER:
            return (Play((), self.turned()),)
        if len(left) != 2:
            states["left"][0, 0] = len(left)
        return plays_of_state(states, self._variant)

    def _key(self) -> tuple[tuple[int, ...], tuple[int, ...], Variant]:
        return self._mover, self._opponent, self._variant

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Position) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a Position is immutable: {name} cannot be set"
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> None:
        msg = f"a Position is immutable: {name} cannot be deleted"
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[Any, ...]:
        return Position.unchecked, self._key()

    def __repr__(self) -> str:
        return f"<Position {self.id} of {self._variant.name}>"

    def __str__(self) -> str:
        return position_text(self._mover, self._opponent, self._variant)

    def _repr_svg_(self) -> str:
        return position_svg(self._mover, self._opponent, self._variant)


def plays_of_state(states: States, variant: Variant) -> tuple[Play, ...]:
    """The distinct whole plays of state 0, which waits for a checker step: of the dice that are left to play."""
    _, numbers, after = plays(states, _cubeless_rules(variant))
    side = int(states[0]["turn"])
    return tuple(
        Play(steps_of(row, states, 0), Position.unchecked(tuple(points[1 - side]), tuple(points[side]), variant))
        for row, points in zip(numbers.tolist(), after["points"].tolist(), strict=True)
    )
