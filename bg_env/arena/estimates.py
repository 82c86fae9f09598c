"""Means and shares with their 95 % intervals."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Estimate", "finite", "mean_of", "share_of"]

_Z: Final = 1.959963984540054
"""Two-sided 95 % of the normal distribution."""


def finite(number: float) -> float | None:
    """The number, None where it is NaN or infinite, which JSON does not hold."""
    return number if math.isfinite(number) else None


class Estimate(NamedTuple):
    """A mean and its 95 % interval.

    Attributes:
        value: the mean.
        low: the lower end.
        high: the upper end.
    """

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """The numbers by name, None for NaN and infinity, which JSON does not hold."""
        return {name: finite(number) for name, number in self._asdict().items()}

    def text(self, form: str = "+.3f") -> str:
        """The mean and, in brackets, the interval, each by the format `form`."""
        return f"{self.value:{form}} ({self.low:{form}}, {self.high:{form}})"


_NOTHING: Final = Estimate(math.nan, math.nan, math.nan)


def mean_of(values: npt.NDArray[Any]) -> Estimate:
    """The mean of independent values with the interval of the normal distribution; NaN without values."""
    if not len(values):
        return _NOTHING
    mean = float(np.mean(values))
    half = _Z * float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Estimate(mean, mean - half, mean + half)


def share_of(shares: npt.NDArray[Any]) -> Estimate:
    """The mean of independent shares between 0 and 1 with Wilson's interval, which holds near 0 and 1 too; NaN without shares.

    Where the values are not a plain yes or no but means of pairs, the number of trials in Wilson's formula is the one that
    would give the same spread.
    """
    n = float(len(shares))
    if not n:
        return _NOTHING
    p = float(np.mean(shares))
    spread = float(np.var(shares, ddof=1)) / n if n > 1 else 0.0
    trials = p * (1 - p) / spread if spread > 0 else n
    middle = (p + _Z**2 / (2 * trials)) / (1 + _Z**2 / trials)
    half = _Z / (1 + _Z**2 / trials) * math.sqrt(p * (1 - p) / trials + _Z**2 / (4 * trials**2))
    return Estimate(p, max(0.0, middle - half), min(1.0, middle + half))
