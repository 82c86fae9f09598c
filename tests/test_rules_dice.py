"""The random streams: known answers, and that throws fall as dice do (R2.1)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from bg_env.rules import dice

# Random123's published known answers for philox4x32-10 (kat_vectors): counters, keys, and the first two words out
KNOWN = [
    ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E]),
    ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0], [0xD16CFE09, 0x94FDCCEB]),
]
KEY = np.uint64(0x0123456789ABCDEF)


@pytest.mark.parametrize(("counters", "keys", "words"), KNOWN)
def test_known_answers_of_philox(counters, keys, words):
    assert int(dice._philox(*map(np.uint64, counters), *map(np.uint64, keys))) == words[0] | words[1] << 32


def test_word_is_philox_of_its_key_domain_and_counter():
    """The counter fills two words, the domain the third; the key fills the two key words."""
    for counter in (0, 1, 2**32 - 1, 2**32, 2**63 + 5):
        for domain in (dice.DICE, dice.SEAT, dice.CHOICE, dice.EPISODE):
            low, high = np.uint64(counter & 0xFFFFFFFF), np.uint64(counter >> 32)
            want = dice._philox(low, high, np.uint64(domain), np.uint64(0), KEY & np.uint64(0xFFFFFFFF), KEY >> np.uint64(32))
            assert dice.word(KEY, domain, np.uint64(counter)) == want


def test_domains_counters_and_keys_give_different_words():
    words = {
        int(dice.word(np.uint64(key), domain, np.uint64(counter)))
        for key in range(30)
        for domain in (dice.DICE, dice.SEAT, dice.CHOICE, dice.EPISODE)
        for counter in range(30)
    }
    assert len(words) == 30 * 4 * 30


def test_episodes_of_neighbouring_seeds_do_not_share_keys():
    keys = {int(dice.episode_key(np.uint64(seed), episode)) for seed in range(200) for episode in range(200)}
    assert len(keys) == 200 * 200


def test_bits_of_words_are_even():
    words = np.array([dice.word(KEY, dice.DICE, np.uint64(n)) for n in range(20_000)], np.uint64)
    for bit in range(64):
        ones = int(((words >> np.uint64(bit)) & np.uint64(1)).sum())
        assert abs(ones - 10_000) < 4.5 * np.sqrt(5_000), f"bit {bit}: {ones}"


def chi_square(counts: Counter, faces: int) -> float:
    total = sum(counts.values())
    return sum((n - total / faces) ** 2 / (total / faces) for n in counts.values())


@pytest.mark.parametrize(("unequal", "pairs", "bound"), [(False, 36, 80.0), (True, 30, 71.0)])  # chance of more: 2e-5
def test_throws_are_uniform(unequal, pairs, bound):
    counts: Counter = Counter()
    for key in range(20):  # many short streams, as games have, not one long one
        counts.update(tuple(map(int, dice.draw(np.uint64(key), np.uint64(n), unequal))) for n in range(2_000))
    assert len(counts) == pairs
    assert {n for pair in counts for n in pair} == set(range(1, 7))
    assert any(a == b for a, b in counts) is not unequal
    assert chi_square(counts, pairs) < bound


def test_throws_that_follow_each_other_are_independent():
    sums: Counter = Counter()
    for n in range(0, 40_000, 2):
        first, second = (dice.draw(KEY, np.uint64(n + k), False) for k in (0, 1))
        sums[int(first[1]), int(second[0])] += 1
    assert chi_square(sums, 36) < 80.0


@pytest.mark.parametrize("n", [1, 2, 5, 6, 30, 36, 1_000])
def test_below_covers_its_range_and_nothing_else(n):
    assert dice.below(np.uint64(0), n) == 0
    assert dice.below(np.uint64(2**64 - 1), n) == n - 1
    step = Fraction(2**64, n)
    for k in range(1, n):  # the first word of every value
        edge = int(step * k) >> 32
        assert dice.below(np.uint64((edge + 1) << 32), n) == k
        assert dice.below(np.uint64(edge << 32), n) in (k - 1, k)
