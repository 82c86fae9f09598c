"""Value nets: what they are, how they are kept in files, and their layers as kernels.

A net looks at a position through the 198 inputs of `tesauro198`, from the side of the player on roll, before the roll, and may
have those of `tactics` beside them: shots, freedom to move, the race. Two hidden layers of rectified units. There are three
kinds, told apart by their layout:

| kind | inputs of cube and match | answers |
|---|---|---|
| odds | none | six probabilities (softmax): to win 1, 2, 3 points and to lose 1, 2, 3, cubeless |
| cube | cube: own, the opponent's; whether the player may double now | points a game in units of the cube, with cube |
| match | these, points that each needs (1 to 15), Crawford or after it, cube (1 to 16) | 2 x chance of the match - 1 |

It needs numpy and numba only; `bg_env.train` makes nets.

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
from bg_env.files import read_arrays
from bg_env.observations import encoder
from bg_env.players.valuenet.features import TACTICS, tactics
from bg_env.rules import STATE, Phase

__all__ = [
    "CUBE_INPUTS",
    "FLIP",
    "LAYOUTS",
    "MATCH_INPUTS",
    "NEEDS",
    "ValueNet",
    "extra_inputs",
    "extra_inputs_of",
    "layer_room",
    "look",
]

NEEDS: Final = 15
"""The most points needed that match nets tell apart; more count as so many."""
CUBE_INPUTS: Final = 3
MATCH_INPUTS: Final = CUBE_INPUTS + 2 * NEEDS + 2 + 5
LAYOUTS: Final = {
    "tesauro198-6-v0": ("odds", 0, 0, 6),
    "tesauro198-cube-1-v0": ("cube", 0, CUBE_INPUTS, 1),
    "tesauro198-match-1-v0": ("match", 0, MATCH_INPUTS, 1),
    "tactics230-6-v0": ("odds", TACTICS, 0, 6),
    "tactics230-cube-1-v0": ("cube", TACTICS, CUBE_INPUTS, 1),
    "tactics230-match-1-v0": ("match", TACTICS, MATCH_INPUTS, 1),
}
"""By layout, as files name it: kind, inputs of `tactics`, of cube and match, outputs. A file of another layout is refused."""
FLIP: Final = np.array([3, 4, 5, 0, 1, 2])
"""The six outcomes seen by the other player."""

_INPUTS = 198
_SIZES: Final = {(_INPUTS + sum(sizes[:-1]), sizes[-1]): name for name, (_, *sizes) in LAYOUTS.items()}
_ARRAYS = ("w1", "b1", "w2", "b2", "w3", "b3")
_WIDE = 8
"""Outputs are padded to so many, which is faster than six."""
_CRAWFORD = CUBE_INPUTS + 2 * NEEDS
_CUBES = _CRAWFORD + 2
_ROLL_OR_DOUBLE = int(Phase.ROLL_OR_DOUBLE)
# Rows handed to other kernels: a plain number would have them compiled for that number as well.
_SECOND = np.int64(1)

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class ValueNet:
    """The weights of a net, float32.

    Attributes:
        w1, b1: (198 + more inputs, h1) and (h1,).
        w2, b2: (h1, h2) and (h2,).
        w3, b3: (h2, outputs) and (outputs,).
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
        h1, h2, outputs = self.b1.size, self.b2.size, self.b3.size
        if (len(self.w1), outputs) not in _SIZES:
            msg = f"value net: no layout has {len(self.w1)} inputs and {outputs} outputs"
            raise SettingsError(msg)
        want = {"w1": (len(self.w1), h1), "b1": (h1,), "w2": (h1, h2), "b2": (h2,), "w3": (h2, outputs), "b3": (outputs,)}
        for name, shape in want.items():
            if getattr(self, name).shape != shape:
                msg = f"value net: {name} has shape {getattr(self, name).shape}, and {shape} is wanted"
                raise SettingsError(msg)

    @property
    def layout(self) -> str:
        """What its inputs and outputs are, a key of `LAYOUTS`."""
        return _SIZES[len(self.w1), self.b3.size]

    @property
    def kind(self) -> str:
        """What it answers: "odds", "cube" or "match"."""
        return LAYOUTS[self.layout][0]

    def save(self, path: str | Path) -> None:
        """Write an .npz file that loads without pickle."""
        with Path(path).open("wb") as file:
            self.dump(file)

    def dump(self, file: IO[bytes]) -> None:
        """`save` to an open file."""
        about = np.array(json.dumps(self.about, sort_keys=True))
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        np.savez_compressed(file, layout=np.array(self.layout), about=about, **arrays)

    @classmethod
    def load(cls, path: Any) -> ValueNet:
        """Read a file that `save` has written.

        Raises:
            SettingsError: it is no such file, or of another layout.
        """
        content = read_arrays(path, "file of a value net")
        layout = str(content.get("layout", "none"))
        missing = [name for name in (*_ARRAYS, "about") if name not in content]
        if layout not in LAYOUTS or missing:
            msg = f"{path} is no value net of layout {' or '.join(LAYOUTS)}: its layout is {layout}"
            raise SettingsError(msg)
        net = cls(**{name: content[name] for name in _ARRAYS}, about=json.loads(str(content["about"])))
        if net.layout != layout:
            msg = f"{path} says its layout is {layout}, but has the sizes of {net.layout}"
            raise SettingsError(msg)
        return net

    def kernel_arrays(self, rules: npt.NDArray[np.void]) -> tuple[Floats, ...]:
        """What the kernels take: (table, tactics, extra, b2, w2, b3, w3), the last two padded to 8 outputs.

        The table is (2, 26, checkers + 1, h1).
        `table[0, p, n]` is what n own checkers on place p (0 off, 25 the bar) add to the first layer, `table[1, p, n]` n
        opposing ones on their own numbering. The constant part is in `table[0, 0]`. `tactics` and `extra` have the
        weights of the other inputs, a row each.
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
        sums = np.zeros((len(probes), self.b1.size), np.float32)
        _weighted(encoder("tesauro198").encode(probes, rules, seats=0), self.w1, sums)
        table = (sums[:-1] - sums[-1]).reshape(2, 26, checkers + 1, -1)
        table[0, 0] += sums[-1] + self.b1
        padded = np.zeros((self.b2.size + 1, _WIDE), np.float32)
        padded[:, : self.b3.size] = np.vstack([self.w3, self.b3])
        shown = _INPUTS + LAYOUTS[self.layout][1]
        return table, self.w1[_INPUTS:shown], self.w1[shown:], self.b2, self.w2, padded[-1], padded[:-1]


@kernel
def _weighted(seen: Any, weights: Any, sums: Any) -> None:
    """`sums` += `seen` @ `weights`, for inputs that are mostly 0; a BLAS would keep threads spinning beside the kernels."""
    for r in range(seen.shape[0]):
        for k in range(seen.shape[1]):
            x = seen[r, k]
            if x != 0:
                for j in range(weights.shape[1]):
                    sums[r, j] += x * weights[k, j]


@kernel
def extra_inputs(states: Any, i: Any, seat: Any, rules: Any, n: Any, on: Any) -> Any:
    """Which of the `n` inputs besides the 198 are 1, as `seat` sees state `i`: their numbers into `on`; how many there are."""
    m = 0
    if n == 0:
        return m
    owner = states[i]["owner"]
    if owner >= 0:
        on[m] = 0 if owner == seat else 1
        m += 1
    if states[i]["phase"] == _ROLL_OR_DOUBLE:
        on[m] = 2
        m += 1
    if n == CUBE_INPUTS:
        return m
    length = np.int64(rules[0]["match_length"])
    least = NEEDS
    for side in range(2):
        need = NEEDS
        if length > 0:
            need = min(max(length - np.int64(states[i]["score"][seat if side == 0 else 1 - seat]), 1), NEEDS)
        least = min(least, need)
        on[m] = CUBE_INPUTS + side * NEEDS + need - 1
        m += 1
    if states[i]["crawford"]:
        on[m] = _CRAWFORD
        m += 1
    elif least == 1:
        on[m] = _CRAWFORD + 1
        m += 1
    on[m] = _CUBES + min(np.int64(states[i]["cube"]), 4)
    return m + 1


@kernel
def _write_extra(states: Any, seats: Any, rules: Any, on: Any, out: Any) -> None:
    for i in range(states.shape[0]):
        for m in range(extra_inputs(states, i, np.int64(seats[i]), rules, out.shape[1], on)):
            out[i, on[m]] = np.float32(1)


def extra_inputs_of(states: Any, seats: Any, rules: Any, n: int) -> Floats:
    """The `n` inputs besides the 198 of every state as player `seats[i]` sees it: float32 (len(states), n)."""
    out = np.zeros((len(states), n), np.float32)
    _write_extra(states, seats, rules, np.empty(8, np.int64), out)
    return out


@kernel
def add_extra(states: Any, i: Any, seat: Any, rules: Any, extra: Any, hidden: Any, row: Any, on: Any) -> None:
    """Add the inputs besides the 198 of state `i`, as `seat` sees it, to `hidden[row]`; `on` is scratch."""
    for m in range(extra_inputs(states, i, seat, rules, extra.shape[0], on)):
        for k in range(hidden.shape[1]):
            hidden[row, k] += extra[on[m], k]


@kernel
def add_tactics(states: Any, i: Any, seat: Any, weights: Any, hidden: Any, row: Any, seen: Any) -> None:
    """Add the inputs of `tactics` of state `i`, as `seat` sees it, to `hidden[row]`; `seen` is scratch."""
    if weights.shape[0] == 0:
        return
    tactics(states, i, seat, seen)
    for m in range(weights.shape[0]):
        x = seen[m]
        if x != 0:
            for k in range(hidden.shape[1]):
                hidden[row, k] += x * weights[m, k]


@kernel
def first_layer(states: Any, i: Any, seat: Any, table: Any, hidden: Any, row: Any) -> None:
    """The sum of the 198 inputs before the first layer's units, of state `i` as `seat` sees it, into `hidden[row]`."""
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
def change(before: Any, i: Any, after: Any, j: Any, seat: Any, table: Any, hidden: Any) -> None:
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
def further_layers(hidden: Any, row: Any, net: Any, second: Any, out: Any, at: Any) -> None:
    """From the sums of the first layer to the answer, into `out[at]`: six probabilities, or one number and zeros."""
    _, _, extra, b2, w2, b3, w3 = net
    h1 = hidden.shape[1]
    h2 = second.shape[0]
    for j in range(h2):
        second[j] = b2[j]
    for k in range(h1):
        a = hidden[row, k]
        if a > 0:
            for j in range(h2):
                second[j] += a * w2[k, j]
    for o in range(_WIDE):
        out[at, o] = b3[o]
    for j in range(h2):
        a = second[j]
        if a > 0:
            for o in range(_WIDE):
                out[at, o] += a * w3[j, o]
    if extra.shape[0] > 0:
        return
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
def look(states: Any, i: Any, seat: Any, rules: Any, net: Any, room: Any, at: Any) -> None:
    """The net's answer to state `i` as `seat`, who is on roll, sees it, into the room's `out[at]`."""
    hidden, second, out, on, seen = room
    first_layer(states, i, seat, net[0], hidden, _SECOND)
    add_tactics(states, i, seat, net[1], hidden, _SECOND, seen)
    add_extra(states, i, seat, rules, net[2], hidden, _SECOND, on)
    further_layers(hidden, _SECOND, net, second, out, at)


def layer_room(arrays: tuple[Floats, ...]) -> tuple[Any, ...]:
    """The arrays that the layers are worked out in, one set for each thread: (hidden, second, out, on, seen)."""
    table, _, _, b2, *_ = arrays
    return (
        np.empty((2, table.shape[3]), np.float32),
        np.empty(b2.size, np.float32),
        np.zeros((2, _WIDE), np.float32),
        np.empty(8, np.int64),
        np.empty(TACTICS, np.float32),
    )
