"""Value nets: their layouts and files, and their layers as kernels.

A net evaluates a position from the side of the player on roll, before the roll. Its inputs are the 198 of `tesauro198` and, in
some layouts, those of `bg_env.players.valuenet.features`: shots, freedom to move, the race. It has two hidden layers of
rectified units. The layout of a net decides which of three kinds it is:

| kind | inputs of cube and match | outputs |
|---|---|---|
| odds | none | six probabilities (softmax): to win 1, 2, 3 points and to lose 1, 2, 3, cubeless |
| cube | cube: own, the opponent's; whether the player may double now | equity with cube, in points at a cube of 1 |
| match | these, points that each needs (1 to 15), Crawford or after it, cube (1 to 16) | 2 x chance to win the match - 1 |

Only numpy and numba are needed here; `bg_env.train` makes nets.

The plays of one roll differ in a few checkers. So the first layer is kept as a sum of one vector for each place and number of
checkers (`Net.board`), and only the difference of a play is added to the sums of the position before it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.errors import SettingsError
from bg_env.files import read_arrays, replacing
from bg_env.observations import encoder
from bg_env.players.valuenet.features import TACTICS, tactics
from bg_env.rules import STATE, Phase, Rules, States

__all__ = [
    "CUBE_INPUTS",
    "FLIP",
    "LAYOUTS",
    "MATCH_INPUTS",
    "NEEDS",
    "OUTCOMES",
    "Layers",
    "Net",
    "ValueNet",
    "add_cube",
    "add_tactics",
    "encode_cube",
    "evaluate",
    "forward",
    "knows_cube",
    "new_layers",
    "sum_board",
    "sum_change",
]

NEEDS: Final = 15
"""The most points needed that nets of kind "match" distinguish; more count as this many."""
CUBE_INPUTS: Final = 3
"""Inputs of the cube, of nets of kind "cube"."""
MATCH_INPUTS: Final = CUBE_INPUTS + 2 * NEEDS + 2 + 5
"""Inputs of cube and match, of nets of kind "match"."""
OUTCOMES: Final = 6
"""The outcomes of a game: won 1, 2, 3 points, lost 1, 2, 3."""
LAYOUTS: Final = {
    "tesauro198-6-v0": ("odds", 0, 0, 6),
    "tesauro198-cube-1-v0": ("cube", 0, CUBE_INPUTS, 1),
    "tesauro198-match-1-v0": ("match", 0, MATCH_INPUTS, 1),
    "tactics230-6-v0": ("odds", TACTICS, 0, 6),
    "tactics230-cube-1-v0": ("cube", TACTICS, CUBE_INPUTS, 1),
    "tactics230-match-1-v0": ("match", TACTICS, MATCH_INPUTS, 1),
}
"""By layout, the name in files: kind, inputs of `tactics`, inputs of cube and match, outputs. Other layouts are refused."""
FLIP: Final = np.array([3, 4, 5, 0, 1, 2])
"""The order of the six outcomes as the other player sees them."""

_INPUTS = 198
_SIZES: Final = {(_INPUTS + sum(sizes[:-1]), sizes[-1]): name for name, (_, *sizes) in LAYOUTS.items()}
_ARRAYS = ("w1", "b1", "w2", "b2", "w3", "b3")
_WIDE = 8
"""Outputs are padded to this number, which is faster than six."""
_CRAWFORD = CUBE_INPUTS + 2 * NEEDS
_CUBES = _CRAWFORD + 2

Floats = npt.NDArray[np.float32]
Seats = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class ValueNet:
    """The weights of a net, float32.

    Attributes:
        w1, b1: (198 + more inputs, h1) and (h1,).
        w2, b2: (h1, h2) and (h2,).
        w3, b3: (h2, outputs) and (outputs,).
        about: how it was made, plain values by name.

    Raises:
        SettingsError: the shapes fit no layout.
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
                msg = f"value net: {name} must have the shape {shape}, not {getattr(self, name).shape}"
                raise SettingsError(msg)

    @property
    def layout(self) -> str:
        """The layout of inputs and outputs, a key of `LAYOUTS`."""
        return _SIZES[len(self.w1), self.b3.size]

    @property
    def kind(self) -> str:
        """The kind of outputs: "odds" (six probabilities), "cube" or "match"."""
        return LAYOUTS[self.layout][0]

    def save(self, path: str | Path) -> None:
        """Write an .npz file that loads without pickle."""
        with replacing(path) as file:
            self.dump(file)

    def dump(self, file: IO[bytes]) -> None:
        """`save` to an open file."""
        about = np.array(json.dumps(self.about, sort_keys=True))
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        np.savez_compressed(file, layout=np.array(self.layout), about=about, **arrays)

    @classmethod
    def load(cls, path: str | Path | IO[bytes]) -> ValueNet:
        """Read a file that `save` wrote, or an open file of the same content.

        Raises:
            SettingsError: it is not such a file, or its layout is unknown.
        """
        content = read_arrays(path, "file of a value net")
        layout = str(content.get("layout", "none"))
        missing = [name for name in (*_ARRAYS, "about") if name not in content]
        if layout not in LAYOUTS or missing:
            msg = f"{path} is not a value net of layout {' or '.join(LAYOUTS)}: its layout is {layout}"
            raise SettingsError(msg)
        net = cls(**{name: content[name] for name in _ARRAYS}, about=json.loads(str(content["about"])))
        if net.layout != layout:
            msg = f"{path} says its layout is {layout}, but has the sizes of {net.layout}"
            raise SettingsError(msg)
        return net

    def kernel_arrays(self, rules: Rules) -> Net:
        """The weights as kernels take them, for these rules."""
        checkers = int(rules[0]["checkers"])
        probes = np.zeros(2 * 26 * (checkers + 1) + 1, STATE)
        probes["phase"] = Phase.ROLL
        k = 0
        for side in range(2):
            for place in range(26):
                for n in range(checkers + 1):
                    probes[k]["points"][side, place] = n
                    k += 1
        sums, inputs = np.zeros((len(probes), self.b1.size), np.float32), np.zeros((len(probes), _INPUTS), np.float32)
        encoder("tesauro198").kernel(probes, rules, np.zeros(len(probes), np.int8), inputs)
        _add_weighted(inputs, self.w1, sums)
        board = (sums[:-1] - sums[-1]).reshape(2, 26, checkers + 1, -1)
        board[0, 0] += sums[-1] + self.b1
        padded = np.zeros((self.b2.size + 1, _WIDE), np.float32)
        padded[:, : self.b3.size] = np.vstack([self.w3, self.b3])
        cube = _INPUTS + LAYOUTS[self.layout][1]
        return Net(board, self.w1[_INPUTS:cube], self.w1[cube:], self.b2, self.w2, padded[-1], padded[:-1])


class Net(NamedTuple):
    """The weights of a net as kernels take them, see `ValueNet.kernel_arrays`; all float32.

    Attributes:
        board: (2, 26, checkers + 1, h1). `board[0, p, n]` is what n own checkers on place p (0 off, 25 the bar) add to the
            first layer, `board[1, p, n]` the same for opposing checkers on their own numbering. `board[0, 0]` includes the
            constant part of the layer.
        tactics: (inputs, h1), a row for each input of `bg_env.players.valuenet.features`; (0, h1) where the net has none.
        cube: (inputs, h1), a row for each input of cube and match; (0, h1) for nets of kind "odds".
        b2, w2: (h2,) and (h1, h2).
        b3, w3: (8,) and (h2, 8), the outputs padded with zeros.
    """

    board: Floats
    tactics: Floats
    cube: Floats
    b2: Floats
    w2: Floats
    b3: Floats
    w3: Floats


class Layers(NamedTuple):
    """Scratch for the layers of a net: one set for each thread.

    Attributes:
        base: float32 (h1,), sums of the first layer at the position before a play.
        first: float32 (h1,), sums of the first layer at the position that is evaluated.
        second: float32 (h2,), sums of the second layer.
        outputs: float32 (8,), outputs at the position that was evaluated last.
        best: float32 (8,), outputs at the best of several positions.
        ones: int64 (8,), numbers of the inputs of cube and match that are 1.
        tactics: float32 (TACTICS,), inputs of `bg_env.players.valuenet.features`.
    """

    base: Floats
    first: Floats
    second: Floats
    outputs: Floats
    best: Floats
    ones: npt.NDArray[np.int64]
    tactics: Floats


def new_layers(net: Net) -> Layers:
    """Scratch for the layers of this net."""
    h1, h2 = net.w2.shape
    return Layers(
        base=np.empty(h1, np.float32),
        first=np.empty(h1, np.float32),
        second=np.empty(h2, np.float32),
        outputs=np.zeros(_WIDE, np.float32),
        best=np.zeros(_WIDE, np.float32),
        ones=np.empty(8, np.int64),
        tactics=np.empty(TACTICS, np.float32),
    )


@kernel
def knows_cube(net: Net) -> bool:
    """Whether the net has inputs of cube and match: one output, an equity with cube; otherwise six probabilities."""
    return bool(net.cube.shape[0] > 0)


@kernel
def _add_weighted(inputs: Floats, weights: Floats, sums: Floats) -> None:
    """`sums` += `inputs` @ `weights`, for inputs that are mostly 0; a BLAS would keep threads spinning beside the kernels."""
    for r in range(inputs.shape[0]):
        for k in range(inputs.shape[1]):
            x = inputs[r, k]
            if x != 0:
                for j in range(weights.shape[1]):
                    sums[r, j] += x * weights[k, j]


@kernel
def cube_inputs(states: States, i: int, seat: int, rules: Rules, n: int, ones: npt.NDArray[np.int64]) -> int:
    """Write the numbers of those of the `n` inputs of cube and match that are 1 as `seat` sees state `i`; returns how many."""
    m = 0
    if n == 0:
        return m
    owner = states[i]["owner"]
    if owner >= 0:
        ones[m] = 0 if owner == seat else 1
        m += 1
    if states[i]["phase"] == Phase.ROLL_OR_DOUBLE:
        ones[m] = 2
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
        ones[m] = CUBE_INPUTS + side * NEEDS + need - 1
        m += 1
    if states[i]["crawford"]:
        ones[m] = _CRAWFORD
        m += 1
    elif least == 1:
        ones[m] = _CRAWFORD + 1
        m += 1
    ones[m] = _CUBES + min(np.int64(states[i]["cube"]), 4)
    return m + 1


@kernel
def _write_cube_inputs(states: States, seats: Seats, rules: Rules, ones: npt.NDArray[np.int64], out: Floats) -> None:
    for i in range(states.shape[0]):
        for m in range(cube_inputs(states, i, np.int64(seats[i]), rules, out.shape[1], ones)):
            out[i, ones[m]] = np.float32(1)


def encode_cube(states: States, seats: Seats, rules: Rules, n: int) -> Floats:
    """The `n` inputs of cube and match of every state, as player `seats[i]` sees it.

    Args:
        states: STATE records (m,).
        seats: integers (m,), 0 or 1.
        rules: the RULES record in force.
        n: CUBE_INPUTS or MATCH_INPUTS.

    Returns:
        float32 (m, n), ones and zeros.
    """
    out = np.zeros((len(states), n), np.float32)
    _write_cube_inputs(states, seats, rules, np.empty(8, np.int64), out)
    return out


@kernel
def add_cube(states: States, i: int, seat: int, rules: Rules, net: Net, layers: Layers, sums: Floats) -> None:
    """Add the inputs of cube and match of state `i`, as `seat` sees it, to the `sums` of a first layer."""
    for m in range(cube_inputs(states, i, seat, rules, net.cube.shape[0], layers.ones)):
        for k in range(sums.shape[0]):
            sums[k] += net.cube[layers.ones[m], k]


@kernel
def add_tactics(states: States, i: int, seat: int, net: Net, layers: Layers) -> None:
    """Add the inputs of `tactics` of state `i`, as `seat` sees it, to `layers.first`."""
    if net.tactics.shape[0] == 0:
        return
    tactics(states, i, seat, layers.tactics)
    for m in range(net.tactics.shape[0]):
        x = layers.tactics[m]
        if x != 0:
            for k in range(layers.first.shape[0]):
                layers.first[k] += x * net.tactics[m, k]


@kernel
def sum_board(states: States, i: int, seat: int, net: Net, sums: Floats) -> None:
    """Write into `sums` the part of the first layer that the checkers of state `i` contribute, as `seat` sees it."""
    for k in range(sums.shape[0]):
        sums[k] = np.float32(0)
    for side in range(2):
        player = seat if side == 0 else 1 - seat
        for p in range(26):
            n = states[i]["points"][player, p]
            if n > 0 or (side == 0 and p == 0):
                for k in range(sums.shape[0]):
                    sums[k] += net.board[side, p, n, k]


@kernel
def sum_change(before: States, i: int, after: States, j: int, seat: int, net: Net, layers: Layers) -> None:
    """`layers.first` of state `after[j]`, from `layers.base`, which is of `before[i]`, by the checkers that moved."""
    for k in range(layers.first.shape[0]):
        layers.first[k] = layers.base[k]
    for side in range(2):
        player = seat if side == 0 else 1 - seat
        for p in range(26):
            n = before[i]["points"][player, p]
            m = after[j]["points"][player, p]
            if n != m:
                for k in range(layers.first.shape[0]):
                    layers.first[k] += net.board[side, p, m, k] - net.board[side, p, n, k]


@kernel
def forward(net: Net, layers: Layers) -> None:
    """From `layers.first` to `layers.outputs`: six probabilities, or one equity; zeros in the places that are not used."""
    second, outputs = layers.second, layers.outputs
    for j in range(second.shape[0]):
        second[j] = net.b2[j]
    for k in range(layers.first.shape[0]):
        a = layers.first[k]
        if a > 0:
            for j in range(second.shape[0]):
                second[j] += a * net.w2[k, j]
    for o in range(_WIDE):
        outputs[o] = net.b3[o]
    for j in range(second.shape[0]):
        a = second[j]
        if a > 0:
            for o in range(_WIDE):
                outputs[o] += a * net.w3[j, o]
    if knows_cube(net):
        return
    top = np.float32(-1e30)
    for o in range(OUTCOMES):
        top = max(top, outputs[o])
    norm = np.float32(0)
    for o in range(OUTCOMES):
        e = np.exp(outputs[o] - top)
        outputs[o] = e
        norm += e
    for o in range(OUTCOMES):
        outputs[o] /= norm


@kernel
def evaluate(states: States, i: int, seat: int, rules: Rules, net: Net, layers: Layers) -> None:
    """Outputs of the net at state `i`, where a roll of `seat` is due, as `seat` sees it, into `layers.outputs`."""
    sum_board(states, i, seat, net, layers.first)
    add_tactics(states, i, seat, net, layers)
    add_cube(states, i, seat, rules, net, layers, layers.first)
    forward(net, layers)
