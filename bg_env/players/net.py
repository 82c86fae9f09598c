"""Value nets: what they are, how they are kept in files, and compiled evaluation of whole plays.

A net looks at a position through the 198 inputs of `tesauro198`, from the side of the player on roll, before the roll, and
answers six probabilities: to win 1, 2, 3 points and to lose 1, 2, 3 (cubeless). Two hidden layers of rectified units, a
softmax at the end. It needs numpy and numba only; `bg_env.train` makes nets.

Plays of one roll differ in a few checkers, so the first layer is kept as a sum of one vector for each place and number of
checkers (`ValueNet.kernel_arrays`), and only what a play changes is added to the sum before it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.errors import SettingsError
from bg_env.observations import encoder
from bg_env.rules import MAX_PLAYS, STATE, Phase, plays_into, plays_scratch

__all__ = ["FLIP", "LAYOUT", "VALUES", "ValueNet", "best_play", "net_scratch", "probabilities"]

LAYOUT: Final = "tesauro198-6-v0"
"""Inputs and outputs of the nets; a file of another layout is refused."""
VALUES: Final = np.array([1, 2, 3, -1, -2, -3], np.float32)
"""Points of the six outcomes in money play without a cube."""
FLIP: Final = np.array([3, 4, 5, 0, 1, 2])
"""The same outcomes seen by the other player."""

_INPUTS = 198
_OUTCOMES = 6
_ARRAYS = ("w1", "b1", "w2", "b2", "w3", "b3")

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class ValueNet:
    """The weights of a net, float32.

    Attributes:
        w1, b1: (198, h1) and (h1,).
        w2, b2: (h1, h2) and (h2,).
        w3, b3: (h2, 6) and (6,).
        about: how it was made: plain values by name.
    """

    w1: Floats
    b1: Floats
    w2: Floats
    b2: Floats
    w3: Floats
    b3: Floats
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            array = np.ascontiguousarray(getattr(self, name), np.float32)
            object.__setattr__(self, name, array)
        h1, h2 = self.b1.size, self.b2.size
        want = {"w1": (_INPUTS, h1), "b1": (h1,), "w2": (h1, h2), "b2": (h2,), "w3": (h2, _OUTCOMES), "b3": (_OUTCOMES,)}
        for name, shape in want.items():
            if getattr(self, name).shape != shape:
                msg = f"value net: {name} has shape {getattr(self, name).shape}, and {shape} is wanted"
                raise SettingsError(msg)

    def save(self, path: str | Path) -> None:
        """Write an .npz file that loads without pickle."""
        with Path(path).open("wb") as file:
            self.dump(file)

    def dump(self, file: IO[bytes]) -> None:
        """`save` to an open file."""
        about = np.array(json.dumps(self.about, sort_keys=True))
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        np.savez_compressed(file, layout=np.array(LAYOUT), about=about, **arrays)

    @classmethod
    def load(cls, path: Any) -> ValueNet:
        """Read a file that `save` has written.

        Raises:
            SettingsError: it is no such file, or of another layout.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                content = {name: file[name] for name in file.files}
        except (OSError, ValueError, EOFError, KeyError) as error:
            msg = f"{path} is no file of a value net: {error}"
            raise SettingsError(msg) from error
        layout = str(content.get("layout", "none"))
        missing = [name for name in (*_ARRAYS, "about") if name not in content]
        if layout != LAYOUT or missing:
            msg = f"{path} is no value net of layout {LAYOUT}: its layout is {layout}"
            raise SettingsError(msg)
        return cls(**{name: content[name] for name in _ARRAYS}, about=json.loads(str(content["about"])))

    def kernel_arrays(self, rules: npt.NDArray[np.void]) -> tuple[Floats, ...]:
        """What the kernels take: (table, b2, w2, b3, w3), the last two padded to 8 outcomes.

        The table is (2, 26, checkers + 1, h1).
        `table[0, p, n]` is what n own checkers on place p (0 off, 25 the bar) add to the first layer, `table[1, p, n]` n
        opposing ones on their own numbering. The constant part is in `table[0, 0]`.
        """
        checkers = int(rules[0]["checkers"])
        probes = np.zeros(2 * 26 * (checkers + 1) + 1, STATE)
        probes["phase"] = Phase.ROLL
        k = 0
        for side in range(2):
            for place in range(26):
                for n in range(checkers + 1):
                    probes[k]["points"][side, place] = n
                    k += 1
        seen = encoder("tesauro198").encode(probes, rules, seats=0)
        constant = seen[-1] @ self.w1
        table = (seen[:-1] @ self.w1 - constant).reshape(2, 26, checkers + 1, -1).astype(np.float32)
        table[0, 0] += constant + self.b1
        padded = np.zeros((self.b2.size + 1, 8), np.float32)
        padded[:, :_OUTCOMES] = np.vstack([self.w3, self.b3])
        return table, self.b2, self.w2, padded[-1], padded[:-1]


def net_scratch(arrays: tuple[Floats, ...]) -> tuple[Any, ...]:
    """The arrays that `best_play` works in: one set for each thread."""
    table, b2, *_ = arrays
    h1 = table.shape[3]
    return (
        *plays_scratch(),
        np.empty(MAX_PLAYS, STATE),
        np.empty((MAX_PLAYS, 4), np.int16),
        np.empty((2, h1), np.float32),
        np.empty(b2.size, np.float32),
        np.empty((2, 8), np.float32),
    )


@kernel
def _first_layer(states: Any, i: Any, seat: Any, table: Any, hidden: Any, row: Any) -> None:
    """The sum before the first layer's units, of state `i` as `seat` sees it, into `hidden[row]`."""
    h1 = table.shape[3]
    for k in range(h1):
        hidden[row, k] = np.float32(0)
    for side in range(2):
        who = seat if side == 0 else 1 - seat
        for p in range(26):
            n = states[i]["points"][who, p]
            if n > 0 or (side == 0 and p == 0):
                for k in range(h1):
                    hidden[row, k] += table[side, p, n, k]


@kernel
def _change(before: Any, i: Any, after: Any, j: Any, seat: Any, table: Any, hidden: Any) -> None:
    """`hidden[1]` = `hidden[0]`, which is of state `before[i]`, made that of `after[j]`."""
    h1 = table.shape[3]
    for k in range(h1):
        hidden[1, k] = hidden[0, k]
    for side in range(2):
        who = seat if side == 0 else 1 - seat
        for p in range(26):
            n = before[i]["points"][who, p]
            m = after[j]["points"][who, p]
            if n != m:
                for k in range(h1):
                    hidden[1, k] += table[side, p, m, k] - table[side, p, n, k]


@kernel
def _rest(hidden: Any, row: Any, b2: Any, w2: Any, b3: Any, w3: Any, second: Any, out: Any, at: Any) -> None:
    """From the sums of the first layer to the six probabilities, into `out[at]`."""
    h1 = hidden.shape[1]
    h2 = second.shape[0]
    for j in range(h2):
        second[j] = b2[j]
    for k in range(h1):
        a = hidden[row, k]
        if a > 0:
            for j in range(h2):
                second[j] += a * w2[k, j]
    for o in range(8):
        out[at, o] = b3[o]
    for j in range(h2):
        a = second[j]
        if a > 0:
            for o in range(8):
                out[at, o] += a * w3[j, o]
    top = np.float32(-1e30)
    for o in range(6):
        top = max(top, out[at, o])
    norm = np.float32(0)
    for o in range(6):
        e = np.exp(out[at, o] - top)
        out[at, o] = e
        norm += e
    for o in range(6):
        out[at, o] /= norm


@kernel
def _outcome(states: Any, i: Any, seat: Any, out: Any, at: Any) -> None:
    """The probabilities of a game that is over, as `seat` sees them."""
    for o in range(6):
        out[at, o] = np.float32(0)
    won = states[i]["winner"] == seat
    out[at, states[i]["level"] - 1 + (0 if won else 3)] = np.float32(1)


@kernel
def best_play(
    states: Any,
    i: Any,
    rules: Any,
    values: Any,
    table: Any,
    b2: Any,
    w2: Any,
    b3: Any,
    w3: Any,
    work: Any,
    path: Any,
    sets: Any,
    pairs: Any,
    after: Any,
    actions: Any,
    hidden: Any,
    second: Any,
    out: Any,
) -> Any:
    """The play of state `i` (phase CHECKER) after which the mover expects most: its index in `after` and `actions`.

    `values` (float32, 6) are the points of the outcomes; then come `ValueNet.kernel_arrays` and `net_scratch`. `out[0]` is
    left with the six probabilities after the play, as the player on roll then (at the end: the mover's opponent) sees them.
    """
    end = plays_into(states, i, rules, work, path, sets, pairs, after, actions, 0)
    mover = np.int64(states[i]["turn"])
    other = 1 - mover
    _first_layer(states, i, other, table, hidden, 0)
    best = 0
    top = np.float32(-1e30)
    for n in range(end):
        sign = np.float32(-1)
        if after[n]["winner"] >= 0:
            _outcome(after, n, other, out, 1)
        elif after[n]["turn"] == other:
            _change(states, i, after, n, other, table, hidden)
            _rest(hidden, 1, b2, w2, b3, w3, second, out, 1)
        else:  # the 1-2 bonus: the mover goes on
            _first_layer(after, n, mover, table, hidden, 1)
            _rest(hidden, 1, b2, w2, b3, w3, second, out, 1)
            sign = np.float32(1)
        worth = np.float32(0)
        for o in range(6):
            worth += out[1, o] * values[o]
        worth *= sign
        if worth > top:
            top = worth
            best = n
            for o in range(6):
                out[0, o] = out[1, o]
    return best


@kernel
def probabilities(
    states: Any, seats: Any, table: Any, b2: Any, w2: Any, b3: Any, w3: Any, hidden: Any, second: Any, out: Any
) -> None:
    """The net's six probabilities of every state, as the player `seats[i]` sees it who is on roll, into `out` (n, 6)."""
    for i in range(states.shape[0]):
        _first_layer(states, i, np.int64(seats[i]), table, hidden, 1)
        _rest(hidden, 1, b2, w2, b3, w3, second, out, i)
