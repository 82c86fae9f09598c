"""Counter-based random numbers: a word is a pure function of a key, a domain and a counter.

The function is Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011). It is
chosen because its products are of 32-bit numbers: they never overflow 64 bits, so the kernels give the same words with
and without compilation. Nothing is shared between games, so a game is the same alone, in any batch and on any thread.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from bg_env._jit import inlined, kernel

__all__ = ["CHOICE", "COPY", "DICE", "EPISODE", "SEAT", "below", "draw", "episode_key", "word"]

DICE: Final = 0
"""Domain of the dice."""
SEAT: Final = 1
"""Domain of the learner's seat."""
CHOICE: Final = 2
"""Domain of an opponent's choices."""
EPISODE: Final = 3
"""Domain of the keys of episodes."""
COPY: Final = 4
"""Domain of the keys of copies of a game."""

_LOW32 = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_ZERO = np.uint64(0)


@inlined
def _philox(c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, k0: np.uint64, k1: np.uint64) -> np.uint64:
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
    mixed: np.uint64 = c0 | (c1 << _32)
    return mixed


@inlined
def word(key: np.uint64, domain: int, counter: int) -> np.uint64:
    """64 random bits, number `counter` of those of `key` in a domain: DICE, SEAT, CHOICE or EPISODE."""
    n = np.uint64(counter)
    k = np.uint64(key)
    return _philox(n & _LOW32, n >> _32, np.uint64(domain), _ZERO, k & _LOW32, k >> _32)


@kernel
def episode_key(seed: np.uint64, episode: int) -> np.uint64:
    """The key of a game's episode number `episode`, from 0, since it was seeded with `seed`."""
    return word(seed, EPISODE, episode)


@inlined
def below(bits: np.uint64, n: int) -> int:
    """A number from 0 to n - 1 by 64 random bits (n below 2**31; no number is likelier than another by n / 2**32)."""
    number: int = np.int64(((np.uint64(bits) >> _32) * np.uint64(n)) >> _32)
    return number


@inlined
def draw(key: np.uint64, counter: int, unequal: bool) -> tuple[int, int]:
    """Roll number `counter` of the dice of `key`: one of 36 ordered pairs, or of the 30 of unequal dice."""
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
