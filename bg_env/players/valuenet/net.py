"""Value nets: their layouts and files, and their layers as kernels.

A net evaluates a position from the side of the player on roll, before the roll. Its inputs are the 198 of `tesauro198` and, in
some layouts, those of `bg_env.players.valuenet.features`: shots, freedom to move, the race. It has one hidden layer of
rectified units or more. The layout of a net decides which of three kinds it is:

| kind | inputs of cube and match | outputs |
|---|---|---|
| odds | none | six probabilities (softmax): to win 1, 2, 3 points and to lose 1, 2, 3, cubeless |
| cube | cube: own, the opponent's; whether the player may double now | equity with cube, in points at a cube of 1 |
| match | these, points that each needs (1 to 15), Crawford or after it, cube (1 to 16) | 2 x chance to win the match - 1 |

Only numpy and numba are needed here; `bg_env.train` makes nets.

The plays of one roll differ in a few checkers. So the first layer is kept as a sum of one vector for each place and number of
checkers (`Net.board`), and only the difference of a play is added to the sums of the position before it.

The positions after the plays are evaluated in blocks: their weights are read once for four positions, and the units that are 0
at all four, three of four in a trained net, are left out. Every sum has its terms in the same order as for one position alone,
so an output does not depend on which positions are evaluated together.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.errors import SettingsError
from bg_env.files import read_arrays, replacing
from bg_env.players.valuenet.boards import board_table, sum_board
from bg_env.players.valuenet.cube_inputs import CUBE_INPUTS, MATCH_INPUTS, cube_inputs
from bg_env.players.valuenet.features import TACTICS, tactics
from bg_env.players.valuenet.sorting import NO_SORTER, Sorter, checked_sorter
from bg_env.rules import Rules, States

__all__ = [
    "BLOCK",
    "FLIP",
    "LAYOUTS",
    "OUTCOMES",
    "Layers",
    "Net",
    "ValueNet",
    "add_cube",
    "add_tactics",
    "evaluate",
    "knows_cube",
    "new_layers",
    "write_outputs",
]

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
_ARRAY: Final = re.compile(r"[wb][1-9]\d*")
_SORTER: Final = ("sort1", "sort2", "sort3")
_WIDE = 8
"""Outputs are padded to this number, which is faster than six."""
BLOCK: Final = 8
"""Positions that are evaluated together."""
_APART: Final = 24
"""Numbers between rows of units: loads and stores that are 4,096 bytes apart wait for each other."""

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]
Seats = npt.NDArray[np.integer[Any]]


def _names(layers: int) -> tuple[str, ...]:
    """The names of the arrays of a net of so many layers: w1, b1, w2, ..."""
    return tuple(f"{kind}{k}" for k in range(1, layers + 1) for kind in "wb")


@dataclass(frozen=True, init=False, eq=False)
class ValueNet:
    """The weights of a net, float32.

    Args:
        *weights: the arrays of the layers in turn, matrix and constants: w1, b1, w2, b2 and so on, the outputs last; or by
            these names. After them, `about` may follow.
        about: how it was made, plain values by name.
        sorter: a small net that sorts plays, see `bg_env.players.valuenet.sorting`; None for none.

    Attributes:
        weights: these arrays: (198 + more inputs, h1), (h1,), (h1, h2), (h2,), ..., (h, outputs), (outputs,); each also by its
            name, as `net.w1`.
        about: how it was made.
        sorter: a small net that sorts plays, None without.

    Raises:
        SettingsError: the shapes fit no layout, or not each other.
    """

    weights: tuple[Floats, ...]
    about: dict[str, Any]
    sorter: Sorter | None

    def __init__(self, *weights: Any, about: dict[str, Any] | None = None, sorter: Sorter | None = None, **named: Any) -> None:
        if weights and isinstance(weights[-1], dict):
            *weights, about = weights  # type: ignore[assignment] # a list in the place of a tuple
        names = _names((len(weights) + len(named)) // 2)
        missing = set(names[len(weights) :]) ^ named.keys()
        if missing or len(names) < 4 or len(names) != len(weights) + len(named):
            found = ", ".join([f"{len(weights)} without a name", *sorted(named)])
            msg = f"value net: its arrays are w1, b1, w2, b2 and so on, for each layer two, and two layers or more, not {found}"
            raise SettingsError(msg)
        given = [*weights, *(named[name] for name in names[len(weights) :])]
        arrays = tuple(np.ascontiguousarray(array, np.float32) for array in given)
        inputs, outputs = len(arrays[0]), arrays[-1].size
        if (inputs, outputs) not in _SIZES:
            msg = f"value net: no layout has {inputs} inputs and {outputs} outputs"
            raise SettingsError(msg)
        for name, array, constants in zip(names[::2], arrays[::2], arrays[1::2], strict=True):
            wanted = (name, array, (inputs, constants.size)), (f"b{name[1:]}", constants, (constants.size,))
            for one, part, shape in wanted:
                if part.shape != shape:
                    msg = f"value net: {one} must have the shape {shape}, not {part.shape}"
                    raise SettingsError(msg)
            inputs = constants.size
        object.__setattr__(self, "weights", arrays)
        object.__setattr__(self, "about", dict(about or {}))
        object.__setattr__(self, "sorter", None if sorter is None else checked_sorter(*sorter))

    def __getattr__(self, name: str) -> Floats:
        """An array by its name, as `w1`."""
        if _ARRAY.fullmatch(name) and name in (names := _names(len(self.weights) // 2)):
            return self.weights[names.index(name)]
        msg = f"a value net has no {name!r}"
        raise AttributeError(msg)

    @property
    def hidden(self) -> tuple[int, ...]:
        """Units of each hidden layer."""
        return tuple(constants.size for constants in self.weights[1:-2:2])

    @property
    def layout(self) -> str:
        """The layout of inputs and outputs, a key of `LAYOUTS`."""
        return _SIZES[len(self.weights[0]), self.weights[-1].size]

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
        arrays: dict[str, Any] = dict(zip(_names(len(self.weights) // 2), self.weights, strict=True))
        if self.sorter is not None:
            arrays |= dict(zip(_SORTER, self.sorter, strict=True))
        np.savez_compressed(file, layout=np.array(self.layout), about=about, **arrays)

    @classmethod
    def load(cls, path: str | Path | IO[bytes]) -> ValueNet:
        """Read a file that `save` wrote, or an open file of the same content.

        Raises:
            SettingsError: it is not such a file, or its layout is unknown.
        """
        content = read_arrays(path, "file of a value net")
        layout = str(content.get("layout", "none"))
        names = [name for name in content if _ARRAY.fullmatch(name)]
        if layout not in LAYOUTS or "about" not in content or not names:
            msg = f"{path} is not a value net of layout {' or '.join(LAYOUTS)}: its layout is {layout}"
            raise SettingsError(msg)
        try:
            sorter = Sorter(*(content[name] for name in _SORTER)) if _SORTER[0] in content else None
            net = cls(**{name: content[name] for name in names}, about=json.loads(str(content["about"])), sorter=sorter)
        except KeyError as error:
            msg = f"{path} is not a value net: its sorter has no array {error}"
            raise SettingsError(msg) from error
        except SettingsError as error:
            msg = f"{path} is not a value net: {str(error).removeprefix('value net: ')}"
            raise SettingsError(msg) from error
        if net.layout != layout:
            msg = f"{path} says its layout is {layout}, but has the sizes of {net.layout}"
            raise SettingsError(msg)
        return net

    def kernel_arrays(self, rules: Rules, *, sorted_first: bool = True) -> Net:
        """The weights as kernels take them, for these rules; with `sorted_first` the sorter too, if the net has one."""
        w1, b1, *others = self.weights
        board = board_table(w1[:_INPUTS], b1, rules)
        cube = _INPUTS + LAYOUTS[self.layout][1]
        sizes = [cube - _INPUTS, *self.hidden, _WIDE]
        parts = [w1[_INPUTS:cube].ravel()]
        for matrix, constants in zip(others[::2], others[1::2], strict=True):
            wide = np.zeros((len(matrix) + 1, _WIDE if matrix is others[-2] else constants.size), np.float32)
            wide[0, : constants.size], wide[1:, : constants.size] = constants, matrix
            parts.append(wide.ravel())
        first, constants, last = self.sorter if sorted_first and self.sorter is not None else NO_SORTER
        return Net(board, np.concatenate(parts), np.array(sizes), w1[cube:], board_table(first, constants, rules), last)


class Net(NamedTuple):
    """The weights of a net as kernels take them, see `ValueNet.kernel_arrays`; float32, and of the same types for all nets.

    Attributes:
        board: (2, 26, checkers + 1, h1). `board[0, p, n]` is what n own checkers on place p (0 off, 25 the bar) add to the
            first layer, `board[1, p, n]` the same for opposing checkers on their own numbering. `board[0, 0]` includes the
            constant part of the layer.
        weights: 1-D, row after row: for each input of `bg_env.players.valuenet.features` a row of h1; then for each layer after
            the first its constants, and a row for each unit of the layer before. Rows of outputs are padded with zeros to 8.
        sizes: int64, inputs of features (0 where the net has none), then the lengths of these rows: h1, h2, ..., 8.
        cube: (inputs, h1), a row for each input of cube and match; (0, h1) for nets of kind "odds".
        sort_board: (2, 26, checkers + 1, h), as `board`, of the sorter, see `bg_env.players.valuenet.sorting`; h is 0 without.
        sort_weights: (h,), of its output.
    """

    board: Floats
    weights: Floats
    sizes: npt.NDArray[np.int64]
    cube: Floats
    sort_board: Floats
    sort_weights: Floats


class Layers(NamedTuple):
    """Scratch for the layers of a net: one set for each thread.

    Attributes:
        base: float32 (h1,), sums of the first layer at the position before a play.
        units: float32 (layers, BLOCK, the most units of a layer), the layers at positions that are evaluated together: of the
            first layer sums, until `write_outputs` has changed them.
        tactics: float32 (BLOCK, TACTICS), inputs of `bg_env.players.valuenet.features` at these positions.
        plays: int64 (BLOCK,), the plays that lead to these positions.
        active: int64, the units that are not 0.
        outputs: float32 (8,), outputs at the position that was evaluated last.
        best: float32 (8,), outputs at the best of several positions.
        ones: int64 (8,), numbers of the inputs of cube and match that are 1.
        sort_base: float32 (h,), sums of the sorter's layer at the position before a play.
        sort_sums: float32 (h,), these sums at the position after it.
    """

    base: Floats
    units: npt.NDArray[np.float32]
    tactics: Floats
    plays: npt.NDArray[np.int64]
    active: npt.NDArray[np.int64]
    outputs: Floats
    best: Floats
    ones: npt.NDArray[np.int64]
    sort_base: Floats
    sort_sums: Floats


def new_layers(net: Net) -> Layers:
    """Scratch for the layers of this net."""
    _, *widths = map(int, net.sizes)
    return Layers(
        base=np.empty(widths[0], np.float32),
        units=np.zeros((len(widths), BLOCK, max(widths) + _APART), np.float32),
        tactics=np.zeros((BLOCK, TACTICS), np.float32),
        plays=np.empty(BLOCK, np.int64),
        active=np.empty(max(*widths, TACTICS), np.int64),
        outputs=np.zeros(_WIDE, np.float32),
        best=np.zeros(_WIDE, np.float32),
        ones=np.empty(8, np.int64),
        sort_base=np.empty(net.sort_weights.shape[0], np.float32),
        sort_sums=np.empty(net.sort_weights.shape[0], np.float32),
    )


@kernel
def knows_cube(net: Net) -> bool:
    """Whether the net has inputs of cube and match: one output, an equity with cube; otherwise six probabilities."""
    return bool(net.cube.shape[0] > 0)


@kernel
def add_cube(states: States, i: int, seat: int, rules: Rules, net: Net, layers: Layers, sums: Floats) -> None:
    """Add the inputs of cube and match of state `i`, as `seat` sees it, to the `sums` of a first layer."""
    for m in range(cube_inputs(states, i, seat, rules, net.cube.shape[0], layers.ones)):
        for k in range(sums.shape[0]):
            sums[k] += net.cube[layers.ones[m], k]


@kernel
def add_tactics(states: States, i: int, seat: int, net: Net, layers: Layers, r: int) -> None:
    """Write the inputs of `tactics` of state `i`, as `seat` sees it, into row `r`, for `write_outputs` to add."""
    if net.sizes[0] != 0:
        tactics(states, i, seat, layers.tactics[r])


@kernel
def _add_rows(
    inputs: Floats, size: int, rows: int, weights: Floats, at: int, sums: Floats, width: int, active: Integers
) -> None:
    """Add to `sums[:rows, :width]` the product of `inputs[:rows, :size]` and the matrix that begins at `weights[at]`.

    Four rows at a time, and the inputs that are 0 in all four are left out, whose terms change nothing: each sum has its terms
    in the order of the inputs, one after the other, however many rows there are.
    """
    done = rows - rows % 4
    for r in range(0, done, 4):
        x0, x1, x2, x3 = inputs[r], inputs[r + 1], inputs[r + 2], inputs[r + 3]
        s0, s1, s2, s3 = sums[r], sums[r + 1], sums[r + 2], sums[r + 3]
        m = 0
        for k in range(size):
            active[m] = k
            m += (x0[k] != 0) | (x1[k] != 0) | (x2[k] != 0) | (x3[k] != 0)  # without branches, which cannot be predicted
        pairs = m - m % 2
        for q in range(0, pairs, 2):
            a, b = active[q], active[q + 1]
            a0, a1, a2, a3 = x0[a], x1[a], x2[a], x3[a]
            b0, b1, b2, b3 = x0[b], x1[b], x2[b], x3[b]
            of_a, of_b = weights[at + a * width : at + (a + 1) * width], weights[at + b * width : at + (b + 1) * width]
            for j in range(width):
                u, v = of_a[j], of_b[j]
                s0[j] = s0[j] + a0 * u + b0 * v
                s1[j] = s1[j] + a1 * u + b1 * v
                s2[j] = s2[j] + a2 * u + b2 * v
                s3[j] = s3[j] + a3 * u + b3 * v
        if pairs < m:
            a = active[pairs]
            a0, a1, a2, a3 = x0[a], x1[a], x2[a], x3[a]
            of_a = weights[at + a * width : at + (a + 1) * width]
            for j in range(width):
                u = of_a[j]
                s0[j] += a0 * u
                s1[j] += a1 * u
                s2[j] += a2 * u
                s3[j] += a3 * u
    for r in range(done, rows):
        for k in range(size):
            x = inputs[r, k]
            if x != 0:
                of_k = weights[at + k * width : at + (k + 1) * width]
                for j in range(width):
                    sums[r, j] += x * of_k[j]


@kernel
def write_outputs(net: Net, layers: Layers, rows: int) -> None:
    """Outputs at the positions of the first `rows` rows: six probabilities, or one equity; zeros in the places not used.

    They replace the units of the last layer, `layers.units[-1]`.
    """
    sizes, units, weights = net.sizes, layers.units, net.weights
    last = units.shape[0] - 1
    width = sizes[1]
    _add_rows(layers.tactics, sizes[0], rows, weights, np.int64(0), units[0], width, layers.active)
    at = sizes[0] * width
    for n in range(last):
        for r in range(rows):
            for k in range(width):
                units[n, r, k] = max(units[n, r, k], np.float32(0))
        size, width = width, sizes[n + 2]
        constants = weights[at : at + width]
        for r in range(rows):
            for j in range(width):
                units[n + 1, r, j] = constants[j]
        at += width
        _add_rows(units[n], size, rows, weights, at, units[n + 1], width, layers.active)
        at += size * width
    if knows_cube(net):
        return
    for r in range(rows):
        outputs = units[last, r]
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
    sums = layers.units[0, 0, : layers.base.shape[0]]
    sum_board(states, i, seat, net.board, sums)
    add_tactics(states, i, seat, net, layers, np.int64(0))
    add_cube(states, i, seat, rules, net, layers, sums)
    write_outputs(net, layers, np.int64(1))
    for o in range(_WIDE):
        layers.outputs[o] = layers.units[layers.units.shape[0] - 1, 0, o]
