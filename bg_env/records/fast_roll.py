"""The usual entries of a record, rolls and their plays, many in one call of the engine."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined, kernel
from bg_env.actions import ROLL
from bg_env.errors import NotationError
from bg_env.notation.moves import parse_moves
from bg_env.records.record import Entry
from bg_env.rules import OFF, Phase, Rules, States, apply, apply_roll
from bg_env.rules.actions import step_number
from bg_env.rules.legal import is_legal, legal_sets

__all__ = ["MOST_STEPS", "play_rolls", "play_ways", "rows_of"]

MOST_STEPS: Final = 4
"""A roll has no more steps."""
_WAYS: Final = 4
"""In a row: the first of its ways, of three numbers each."""
_ROW: Final = _WAYS + 3 * MOST_STEPS
_ANY: Final = -1
"""In place of the number of ways: an entry that is no roll, or has a play that is not written as ways between two points."""

_Rows = npt.NDArray[np.int8]
_Actions = npt.NDArray[np.int64]


@inlined
def _one_step(states: States, i: int, rules: Rules, source: int, die: int) -> bool:
    """Step from `source` by `die`, if that is legal."""
    high, low = legal_sets(states, i)
    action = step_number(source, die)
    if die > 6 or not is_legal(states, i, rules, high, low, action):
        return False
    apply(states, i, rules, action)
    return True


@kernel
def _way(
    states: States, rules: Rules, player: int, source: int, target: int, made: _Actions, row: int, n: int
) -> int:  # pragma: no cover - compiled
    """Go from `source` to `target` with dice that are left, hitting on no point between; the actions go into `made[row]`.

    Returns the number of steps, 0 if there is no such way; the state is then as it was.
    """
    distance = source - target
    die = distance
    while die <= 6:  # one step; a higher number bears off as well (R7.2)
        if _one_step(states, 0, rules, source, die):
            made[row, n] = step_number(source, die)
            return 1
        if target != OFF:
            break
        die += 1
    first, second = np.int64(states[0]["dice"][0]), np.int64(states[0]["dice"][1])
    double = first == second
    if double and (distance % first != 0 or distance // first + n > MOST_STEPS):
        return 0
    if not double and (distance != first + second or n + 2 > MOST_STEPS):
        return 0
    before = states[0:1].copy()
    for order in range(1 if double else 2):
        die = second if order else first
        place, steps, right = source, 0, True
        while right and place > target:
            over = states[0]["phase"] != Phase.CHECKER or states[0]["turn"] != player
            if over or (place - die > target and states[0]["points"][1 - player, 25 - (place - die)] == 1):
                right = False
            elif _one_step(states, 0, rules, place, die):
                made[row, n + steps] = step_number(place, die)
                steps += 1
                place -= die
                die = die if double else first + second - die
            else:
                right = False
        if right and place == target:
            return steps
        states[0] = before[0]
    return 0


@kernel
def play_ways(states: States, rules: Rules, rows: _Rows, k: int, made: _Actions) -> bool:  # pragma: no cover - compiled
    """Make the play of row `k` with the dice in hand, as `play_rolls` does; if that is not usual, the state stays as it is.

    Returns:
        Whether it is made; the roll is then finished, and the game may be over.
    """
    player, count = np.int64(rows[k, 0]), rows[k, 3]
    if count < 0:
        return False
    before = states[0:1].copy()
    n, right = 0, True
    for j in range(count):
        at = _WAYS + 3 * j
        source, target, hits = np.int64(rows[k, at]), np.int64(rows[k, at + 1]), rows[k, at + 2]
        right = states[0]["phase"] == Phase.CHECKER and states[0]["turn"] == player
        if right and hits:
            right = target != OFF and states[0]["points"][1 - player, 25 - target] == 1
        steps = _way(states, rules, player, source, target, made, k, n) if right else 0
        right = steps > 0
        if not right:
            break
        n += steps
    if right and not (states[0]["phase"] == Phase.CHECKER and states[0]["turn"] == player):
        return True
    states[0] = before[0]
    return False


@kernel
def _roll(states: States, rules: Rules, rows: _Rows, k: int, made: _Actions) -> bool:  # pragma: no cover - compiled
    """Roll and play row `k`; returns whether that is due, legal, finishes the roll and does not end the game."""
    phase = states[0]["phase"]
    if rows[k, 3] < 0 or (phase != Phase.ROLL and phase != Phase.ROLL_OR_DOUBLE) or states[0]["turn"] != rows[k, 0]:
        return False
    if phase == Phase.ROLL_OR_DOUBLE:
        apply(states, 0, rules, ROLL)
    apply_roll(states, 0, rules, np.int64(rows[k, 1]), np.int64(rows[k, 2]))
    return play_ways(states, rules, rows, k, made) and states[0]["winner"] < 0 and states[0]["phase"] != Phase.OVER


@kernel
def play_rolls(
    states: States, rules: Rules, rows: _Rows, first: int, kept: States, n: int, made: _Actions
) -> int:  # pragma: no cover - compiled
    """Let the players roll and play rows from `first` on, up to one that is not usual.

    A row is usual if it is due, its play is legal as it stands and finishes the roll, no hit is made on a point that it does
    not name, and the game goes on after it.

    Args:
        states: an array of one STATE; it is changed by the rows that are played.
        rules: the RULES record.
        rows: int8 (m, 16), from `rows_of`.
        first: the row to begin with.
        kept: STATE records, at least `n` and those of the rows; receives the state after each row, from index `n` on.
        n: where to begin in `kept`.
        made: int64 (m, 4), filled with -1; receives the action numbers of each row's steps.

    Returns:
        How many rows are played.
    """
    before = states[0:1].copy()
    for k in range(first, rows.shape[0]):
        before[0] = states[0]
        if not _roll(states, rules, rows, k, made):
            states[0] = before[0]
            return k - first
        kept[n + k - first] = states[0]
    return len(rows) - first


_NOT_USUAL: Final = bytes([256 + _ANY]) + bytes(3 * MOST_STEPS)
_NO_ROLL: Final = bytes(3) + _NOT_USUAL


@functools.lru_cache(maxsize=16_384)
def _ways_of(text: str) -> bytes:
    """The number of ways of a play, and for four, from the rearmost checker on: start, end, whether a `*` is written."""
    try:
        moves = parse_moves(text)
    except NotationError:
        return _NOT_USUAL
    if any(len(move.places) != 2 for move in moves):
        return _NOT_USUAL
    ways = sorted(((*move.places, int(bool(move.hits))) for move in moves), key=lambda way: -way[0])
    flat = bytes([len(ways), *(number for way in ways for number in way)])
    return flat + bytes(_ROW - 3 - len(flat))


@functools.lru_cache(maxsize=32_768)
def _row_of(player: int, dice: tuple[int, int], text: str) -> bytes:
    return bytes((player, *dice)) + _ways_of(text)


def rows_of(entries: Sequence[Entry]) -> _Rows:
    """The entries of a game as the rows that `play_rolls` takes, int8 (m, 16); an entry that is no roll is a row as well."""
    rows = [
        _row_of(entry.player, entry.dice, entry.text)
        if entry.kind == "roll" and entry.player is not None and entry.dice is not None
        else _NO_ROLL
        for entry in entries
    ]
    return np.frombuffer(bytearray(b"".join(rows)), np.int8).reshape(len(entries), _ROW)
