"""Counter-based random numbers: a word is a pure function of a key, a domain and a counter.

The function is Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011). It is
chosen because its products are of 32-bit numbers: they never overflow 64 bits, so the kernels give the same words with
and without compilation. Nothing is shared between games, so a game is the same alone, in any batch and on any thread.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bg_env._jit import inlined, kernel

__all__ = ["CHOICE", "DICE", "EPISODE", "SEAT", "below", "draw", "episode_key", "word"]

DICE: Final = 0
"""Domain of the dice."""
SEAT: Final = 1
"""Domain of the learner's seat."""
CHOICE: Final = 2
"""Domain of an opponent's choices."""
EPISODE: Final = 3
"""Domain of the keys of episodes."""

_LOW32 = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_ZERO = np.uint64(0)


@inlined
def _philox(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """Ten rounds on four 32-bit counters and two 32-bit keys (all as uint64): the first two output words as one uint64."""
    for _ in range(10):
        p0 = _M0 * c0
        p1 = _M1 * c2
        c0 = (p1 >> _32) ^ c1 ^ k0
        c1 = p1 & _LOW32
        c2 = (p0 >> _32) ^ c3 ^ k1
        c3 = p0 & _LOW32
        k0 = (k0 + _W0) & _LOW32
        k1 = (k1 + _W1) & _LOW32
    return c0 | (c1 << _32)


@inlined
def word(key: Any, domain: Any, counter: Any) -> Any:
    """64 random bits: `key` and `counter` uint64, `domain` one of DICE, SEAT, CHOICE, EPISODE; the result is uint64."""
    n = np.uint64(counter)
    k = np.uint64(key)
    return _philox(n & _LOW32, n >> _32, np.uint64(domain), _ZERO, k & _LOW32, k >> _32)


@kernel
def episode_key(seed: Any, episode: Any) -> Any:
    """The uint64 key of a game's episode number `episode` (from 0) since it was seeded with `seed`."""
    return word(seed, EPISODE, episode)


@inlined
def below(bits: Any, n: Any) -> Any:
    """A number from 0 to n - 1 out of 64 random bits (n below 2**31; the bias is under n / 2**32)."""
    return np.int64(((np.uint64(bits) >> _32) * np.uint64(n)) >> _32)


@inlined
def draw(key: Any, counter: Any, unequal: Any) -> Any:
    """Roll number `counter` of the key's dice: an ordered pair, out of 36, or out of the 30 unequal ones."""
    bits = word(key, DICE, counter)
    if unequal:
        k = below(bits, 30)
        first = k // 5
        second = k % 5
        if second >= first:
            second += 1
        return first + 1, second + 1
    k = below(bits, 36)
    return k // 6 + 1, k % 6 + 1
