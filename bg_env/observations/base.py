"""What an encoder is: a name, a shape, a label and bounds for each feature, and the kernel that writes them.

A kernel has the signature `kernel(states, rules, seats, out)`: a 1-D array of STATE records, an array of one RULES record,
the seat (0 or 1) that looks at each state as int8, and float32 rows of `size` values, C-contiguous, all of which it writes.
Everything is told as that seat sees it, and either seat may look at any time, in chance phases and after the end too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.errors import SettingsError
from bg_env.rules.state import STATE, Phase, States
from bg_env.rules.variant import RULES, VARIANTS, Settings

__all__ = ["Encoder", "default_seat", "default_seats", "labelled"]

OVER = int(Phase.OVER)

Floats = npt.NDArray[np.float32]


@kernel
def default_seat(states: Any, i: Any) -> Any:
    """Who looks at state `i` where nobody is named: who decides; else who won, whose turn it is, or player 0, in that order."""
    decider = np.int64(states[i]["decider"])
    if decider >= 0:
        return decider
    if states[i]["phase"] == OVER and states[i]["winner"] >= 0:
        return np.int64(states[i]["winner"])
    turn = np.int64(states[i]["turn"])
    return turn if turn >= 0 else np.int64(0)


@kernel
def default_seats(states: Any, seats: Any) -> None:
    """Write the default seat of every state into `seats` (int8)."""
    for i in range(len(states)):
        seats[i] = default_seat(states, i)


def labelled(*features: tuple[str, float]) -> tuple[tuple[str, ...], Floats]:
    """Labels and upper bounds, out of pairs of the two."""
    return tuple(label for label, _ in features), np.array([high for _, high in features], np.float32)


@dataclass(frozen=True, eq=False)
class Encoder:
    """One layout of observations; a layout never changes under its name.

    Attributes:
        name: its name in `ENCODERS`.
        labels: what each feature is, in flat C order.
        low: float32 lower bounds of the features, of `shape`; they hold in every state that can arise.
        high: float32 upper bounds, likewise.
        kernel: `kernel(states, rules, seats, out)`, see above; `out` is (n, size).
        shape: shape of one observation.
        standard_only: it is another library's layout, made for the standard game and nothing else.
    """

    name: str
    labels: tuple[str, ...]
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    kernel: Callable[..., None] = field(repr=False)
    shape: tuple[int, ...] = ()
    standard_only: bool = False

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "shape", self.shape or (len(self.labels),))
        for name in ("low", "high"):
            bound = np.array(getattr(self, name), np.float32).reshape(self.shape)
            bound.flags.writeable = False
            put(self, name, bound)
        if self.low.size != len(self.labels):
            msg = f"encoder {self.name}: {len(self.labels)} labels for {self.low.size} features"
            raise SettingsError(msg)

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
        """The observations of `states`.

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

    def __reduce__(self) -> str | tuple[Any, ...]:
        from bg_env.observations import ENCODERS, encoder

        return (encoder, (self.name,)) if ENCODERS.get(self.name) is self else super().__reduce__()


def _checked(states: Any, rules: Any) -> int:
    if not (isinstance(states, np.ndarray) and states.dtype == STATE and states.ndim == 1):
        msg = "states must be a 1-D array of STATE records; one game is a batch of one"
        raise SettingsError(msg)
    if not (isinstance(rules, np.ndarray) and rules.dtype == RULES and rules.shape == (1,)):
        msg = "rules must be an array of one RULES record, as Settings.record() gives it"
        raise SettingsError(msg)
    return len(states)


def _seats(seats: npt.ArrayLike, n: int) -> npt.NDArray[np.int8]:
    given = np.asarray(seats)
    if given.dtype.kind not in "iu" or given.shape not in ((), (n,)) or not ((given == 0) | (given == 1)).all():
        msg = f"seats must be 0 or 1, for all states or one for each of the {n}"
        raise SettingsError(msg)
    return np.ascontiguousarray(np.broadcast_to(given, (n,)), np.int8)
