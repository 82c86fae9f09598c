"""Encoders as values: a name, a shape, a label and bounds for each feature, and the function that writes them.

Built-in encoders and those of users have the same form. Everything is shown as the given seat sees it, and either seat may
look at any time, in chance phases and after the end too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bg_env._jit import found, kernel, picklable
from bg_env._renamed import renamed_argument
from bg_env.checks import checked_flag, checked_name, is_whole, takes
from bg_env.errors import SettingsError, known_names, quoted
from bg_env.rules.settings import RULES, Rules, Settings
from bg_env.rules.sound import check_sound
from bg_env.rules.state import STATE, Phase, States
from bg_env.rules.variant import VARIANTS

__all__ = ["Encoder", "check_encoder", "default_seat", "default_seats", "labelled", "write_rows"]

Floats = npt.NDArray[np.float32]


@kernel
def default_seat(states: States, i: int) -> int:
    """The default viewer of state `i`: who decides, else the winner, the player on turn, or player 0, in that order."""
    decider: int = np.int64(states[i]["decider"])
    if decider >= 0:
        return decider
    winner: int = np.int64(states[i]["winner"])
    if states[i]["phase"] == Phase.OVER and winner >= 0:
        return winner
    turn: int = np.int64(states[i]["turn"])
    zero: int = np.int64(0)
    return turn if turn >= 0 else zero


@kernel
def default_seats(states: States, seats: npt.NDArray[np.int8]) -> None:
    """Write the default seat of every state into `seats` (int8)."""
    for i in range(len(states)):
        seats[i] = default_seat(states, i)


def labelled(*features: tuple[str, float]) -> tuple[tuple[str, ...], Floats]:
    """Labels and upper bounds, out of pairs of the two."""
    return tuple(label for label, _ in features), np.array([high for _, high in features], np.float32)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Encoder:
    """A layout of observations as a value: built in and known by name, or a user's own; it never changes under its name.

    An `Encoder` is accepted wherever an observation is chosen by name (`observation="tesauro"`). Environments check its output
    at first use and at each reset, not in every step; `bg_env.testing.check_env` checks every observation.

    Args:
        name: its name, which must not be that of a built-in encoder.
        labels: the meaning of each feature, in flat C order.
        low: lower bounds of the features: one number for all, or an array of `shape`; they hold in every state that can arise.
        high: upper bounds, likewise.
        function: `function(states, rules, seats, out)`, plain Python or compiled by Numba. It reads a 1-D array of n STATE
            records, an array of one RULES record and the seats that look at each state, int8 (n,), and writes every
            value of `out`, float32 (n, size). Threads call it at once for slices of a batch, so it keeps nothing
            between calls, and what it writes for a state depends on nothing but that state, the rules and the seat.
        shape: of one observation; None: one axis, (number of labels,).
        standard_only: whether it is made for the standard game and no other variant.

    Attributes:
        low: float32 lower bounds, of `shape`, read-only.
        high: float32 upper bounds, likewise.
        kernel: the function.

    Raises:
        SettingsError: an argument has the wrong type, or the bounds do not fit the labels and the shape.
    """

    name: str
    labels: tuple[str, ...]
    low: Floats
    high: Floats
    kernel: Callable[..., None]
    shape: tuple[int, ...]
    standard_only: bool

    @renamed_argument("kernel", "function")
    @known_names
    def __init__(
        self,
        name: str,
        labels: Sequence[str],
        low: npt.ArrayLike,
        high: npt.ArrayLike,
        function: Callable[..., None],
        shape: Sequence[int] | None = None,
        standard_only: bool = False,
    ) -> None:
        checked_name("an encoder's", name)
        put = object.__setattr__
        put(self, "name", name)
        put(self, "labels", _labels(name, labels))
        put(self, "shape", _shape(name, shape, len(self.labels)))
        put(self, "low", self._bound("low", low))
        put(self, "high", self._bound("high", high))
        if not (self.low <= self.high).all():
            k = int(np.argmin(self.low <= self.high))
            msg = f"encoder {name}: feature {self.labels[k]!r} lies between {self.low.flat[k]:g} and {self.high.flat[k]:g}"
            raise SettingsError(msg)
        put(self, "kernel", _function(name, function))
        put(self, "standard_only", checked_flag("standard_only", standard_only))

    def _bound(self, name: str, given: npt.ArrayLike) -> Floats:
        try:
            bound = np.array(given, np.float32)
            bound = bound.reshape(self.shape) if bound.size == self.size else np.broadcast_to(bound, self.shape).copy()
        except (OverflowError, TypeError, ValueError):
            msg = f"encoder {self.name}: {name} is one number, or {self.size} of shape {self.shape}, not {quoted(given)}"
            raise SettingsError(msg) from None
        bound.flags.writeable = False
        return bound

    @property
    def size(self) -> int:
        """Number of features."""
        return len(self.labels)

    def check(self, settings: Settings) -> None:
        """Refuse settings that this layout cannot show.

        Raises:
            SettingsError: the layout is another library's, and the variant is not the standard game.
        """
        standard = VARIANTS["backgammon"]
        variant = settings.variant
        same = all(getattr(variant, name) == getattr(standard, name) for name in ("start", "fresh_first_roll", "acey_deucey"))
        if self.standard_only and not same:
            known = "tesauro, counts or planes"
            msg = f"observation {self.name} is made for standard backgammon, not for {variant.name}: choose {known}"
            raise SettingsError(msg)

    def encode(
        self,
        states: States,
        rules: npt.NDArray[np.void],
        out: Floats | None = None,
        seats: npt.ArrayLike | None = None,
    ) -> Floats:
        """Return the observations of `states`.

        Args:
            states: n STATE records.
            rules: the RULES record that they are played by (`Settings.record()`).
            out: where to write: float32 of shape (n, *shape), C-contiguous; a new array if None.
            seats: who looks: one seat (0 or 1) for all states, or n of them. None: who decides; in chance phases whose turn
                it is, before the opening throw player 0; at the end the winner (whose turn it was, if nobody won).

        Returns:
            float32 of shape (n, *shape): `out`, if given.

        Raises:
            SettingsError: an argument has the wrong type, shape or range.
            PositionError: a state has a field that the rules never give it.
        """
        n = _checked(states, rules)
        if seats is None:
            viewers = np.empty(n, np.int8)
            default_seats(states, viewers)
        else:
            viewers = _seats(seats, n)
        if out is None:
            out = np.empty((n, *self.shape), np.float32)
        elif not (isinstance(out, np.ndarray) and out.dtype == np.float32 and out.shape == (n, *self.shape)):
            msg = f"out must be a float32 array of shape {(n, *self.shape)}"
            raise SettingsError(msg)
        elif not (out.flags.c_contiguous and out.flags.writeable):
            msg = "out must be C-contiguous and writable"
            raise SettingsError(msg)
        self.kernel(states, rules, viewers, out.reshape(n, self.size))
        return out

    def _key(self) -> tuple[Any, ...]:
        return (self.name, self.labels, self.shape, self.standard_only, self.low.tobytes(), self.high.tobytes(), self.kernel)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoder) and (self is other or self._key() == other._key())

    def __hash__(self) -> int:
        return hash((self.name, self.labels, self.shape))

    def __repr__(self) -> str:
        return f"Encoder({self.name!r}, shape={self.shape})"

    def __copy__(self) -> Encoder:
        return self

    def __deepcopy__(self, memo: object) -> Encoder:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from bg_env.observations import ENCODERS, encoder

        if ENCODERS.get(self.name) is self:
            return encoder, (self.name,)
        given = self.name, self.labels, self.low, self.high, picklable(self.kernel), self.shape, self.standard_only
        return _loaded, given


def _loaded(name: str, labels: tuple[str, ...], low: Floats, high: Floats, function: Any, *rest: Any) -> Encoder:
    return Encoder(name, labels, low, high, found(function), *rest)


def _labels(name: str, labels: Sequence[str]) -> tuple[str, ...]:
    try:
        given = () if isinstance(labels, str) else tuple(labels)
    except TypeError:
        given = ()
    if not given or not all(isinstance(label, str) for label in given):
        msg = f"encoder {name}: labels are a text for each feature, not {quoted(labels)}"
        raise SettingsError(msg)
    return given


def _shape(name: str, shape: Sequence[int] | None, size: int) -> tuple[int, ...]:
    given = tuple(shape) if isinstance(shape, Sequence) else None
    if shape is None or given == ():
        return (size,)
    if given is None or not all(is_whole(n, 1) for n in given):
        msg = f"encoder {name}: shape is a tuple of sizes, not {quoted(shape)}"
        raise SettingsError(msg)
    if math.prod(given) != size:
        msg = f"encoder {name}: {size} labels for {math.prod(given)} features"
        raise SettingsError(msg)
    return tuple(int(n) for n in given)


def _function(name: str, function: Any) -> Callable[..., None]:
    """The function, if it can be called with four arguments."""
    if takes(function, 4):
        return cast("Callable[..., None]", function)
    msg = f"encoder {name}: function is a function(states, rules, seats, out), not {quoted(function)}"
    raise SettingsError(msg)


def check_encoder(encoder: Encoder, states: States, rules: Rules, seats: npt.NDArray[np.int8]) -> None:
    """Call an encoder on rows of NaN, and refuse what it must not do.

    Args:
        encoder: the encoder.
        states: n STATE records, at least one.
        rules: the RULES record that they are played by.
        seats: who looks at each state, int8 (n,).

    Raises:
        SettingsError: it raised an error, changed what it reads, left a value unwritten or NaN, wrote one out of its bounds,
            or wrote other values for a state alone than for the same state among others.
    """
    rows, given = _rows(encoder, states, rules, seats)
    if any((before != after).any() for before, after in zip((states, rules, seats), given, strict=True)):  # not by padding
        msg = f"encoder {encoder.name} changed states, rules or seats: its function may write in out only"
        raise SettingsError(msg)
    for wrong, what in (
        (np.isnan(rows), "is NaN or was not written"),
        (rows < encoder.low.ravel(), ""),
        (rows > encoder.high.ravel(), ""),
    ):
        if wrong.any():
            i, k = (int(n) for n in np.argwhere(wrong)[0])
            low, high = encoder.low.flat[k], encoder.high.flat[k]
            found = what or f"is {rows[i, k]:g}, not from {low:g} to {high:g},"
            msg = f"encoder {encoder.name}: feature {encoder.labels[k]!r} {found} in state {i} seen by player {seats[i]}"
            raise SettingsError(msg)
    alone, _ = _rows(encoder, states[:1], rules, seats[:1])
    if alone.tobytes() != rows[:1].tobytes():
        k = int(np.argmax(alone[0] != rows[0]))
        values = f"{alone[0, k]:g} for a state alone and {rows[0, k]:g} for the same among others"
        msg = f"encoder {encoder.name}: feature {encoder.labels[k]!r} is {values}: it may depend on its own state only"
        raise SettingsError(msg)


def write_rows(encoder: Encoder, states: States, rules: Rules, seats: npt.NDArray[np.int8], out: Floats) -> None:
    """Call a user's encoder.

    Raises:
        SettingsError: it raised an error.
    """
    try:
        encoder.kernel(states, rules, seats, out)
    except Exception as error:
        msg = f"encoder {encoder.name}: its function raised {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise SettingsError(msg) from error


def _rows(encoder: Encoder, states: States, rules: Rules, seats: npt.NDArray[np.int8]) -> tuple[Floats, tuple[Any, ...]]:
    """The rows that an encoder writes over NaN, and the arguments as it left them."""
    rows = np.full((len(states), encoder.size), np.nan, np.float32)
    given = states.copy(), rules.copy(), seats.copy()
    write_rows(encoder, *given, rows)
    return rows, given


def _checked(states: Any, rules: Any) -> int:
    if not (isinstance(states, np.ndarray) and states.dtype == STATE and states.ndim == 1):
        msg = "states must be a 1-D array of STATE records; one game is a batch of one"
        raise SettingsError(msg)
    if not (isinstance(rules, np.ndarray) and rules.dtype == RULES and rules.shape == (1,) and 1 <= rules["checkers"][0] <= 15):
        msg = "rules must be an array of one RULES record, as Settings.record() gives it"
        raise SettingsError(msg)
    check_sound(states, made=False)
    return len(states)


def _seats(seats: npt.ArrayLike, n: int) -> npt.NDArray[np.int8]:
    given = np.asarray(seats)
    if given.dtype.kind not in "iu" or given.shape not in ((), (n,)) or not ((given == 0) | (given == 1)).all():
        msg = f"seats must be 0 or 1, for all states or one for each of the {n}"
        raise SettingsError(msg)
    return np.ascontiguousarray(np.broadcast_to(given, (n,)), np.int8)
