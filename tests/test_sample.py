"""bg_env.sample: legal, uniform, reproducible, for one game and for many; and what it refuses."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bg_env.errors import IllegalActionError, SettingsError
from bg_env.sampling import sample

DTYPES = [np.int8, np.uint8, np.bool_]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("legal", [[0], [153], [3, 4, 150], list(range(0, 154, 7)), list(range(154))], ids=len)
def test_one_game_uniform(dtype, legal):
    mask = np.zeros(154, dtype)
    mask[legal] = 1
    before, rng = mask.copy(), np.random.default_rng(4)
    n = 150 * len(legal)
    drawn = [sample(mask, rng) for _ in range(n)]
    assert all(type(action) is int for action in drawn[:5])
    assert np.array_equal(mask, before)
    counts = np.bincount(drawn, minlength=154)
    assert set(np.flatnonzero(counts)) == set(legal)
    chi2 = ((counts[legal] - 150) ** 2 / 150).sum()
    degrees = len(legal) - 1
    assert chi2 <= degrees + 5 * (2 * degrees) ** 0.5


@pytest.mark.parametrize("dtype", DTYPES)
def test_many_games_uniform(dtype):
    rng = np.random.default_rng(5)
    mask = rng.random((60, 161)) < rng.random((60, 1)) * 0.3
    mask[np.arange(60), rng.integers(0, 161, 60)] = True
    mask = mask.astype(dtype)
    counts = np.zeros(mask.shape, int)
    for _ in range(600):
        actions = sample(mask, rng)
        assert actions.dtype == np.int64
        assert actions.shape == (60,)
        counts[np.arange(60), actions] += 1
    assert not counts[mask == 0].any()
    legal = (mask != 0).sum(1)
    expected = np.where(mask != 0, 600 / legal[:, None], 1)
    chi2 = np.where(mask != 0, (counts - expected) ** 2 / expected, 0).sum()
    degrees = (legal - 1).sum()
    assert abs(chi2 - degrees) <= 5 * (2 * degrees) ** 0.5


def test_the_same_stream_gives_the_same_actions():
    mask = np.zeros((8, 154), np.int8)
    mask[:, ::5] = 1
    for given in (mask, mask[0]):
        first, second = (sample(given, np.random.default_rng(9)) for _ in range(2))
        assert np.array_equal(first, second)
    rows = sample(mask, np.random.default_rng(9))
    one_by_one = np.random.default_rng(9)
    assert rows.tolist() == [sample(row, one_by_one) for row in mask]


def test_any_layout_and_value():
    wide = np.zeros((4, 308), np.int8)
    wide[:, [6, 7, 100]] = 1
    thin = wide[:, ::2]  # legal: 3 and 50
    rng = np.random.default_rng(1)
    assert {sample(thin[0], rng) for _ in range(50)} == {3, 50}
    assert set(sample(np.repeat(thin, 20, axis=0), rng).tolist()) == {3, 50}
    assert set(sample(np.asfortranarray(np.repeat(thin, 20, axis=0)), rng).tolist()) == {3, 50}
    assert sample(np.array([0, 0, -1, 0], np.int8), rng) == 2  # whatever is not 0
    thin.flags.writeable = False
    assert sample(thin[1], rng) in (3, 50)
    assert sample(np.zeros((0, 154), np.int8), rng).shape == (0,)


def test_pythons_own_generator_does_for_one_game():
    mask = np.array([0, 1, 1, 0], np.int8)
    assert {sample(mask, random.Random(2)) for _ in range(5)} < {1, 2}
    rng = random.Random(2)
    assert {sample(mask, rng) for _ in range(50)} == {1, 2}


def test_a_mask_without_a_legal_action():
    rng = np.random.default_rng(0)
    with pytest.raises(IllegalActionError, match="this seat is not to act now"):
        sample(np.zeros(154, np.int8), rng)
    mask = np.ones((5, 154), np.int8)
    mask[3] = 0
    with pytest.raises(IllegalActionError, match="mask of game 3 has no legal action"):
        sample(mask, rng)
    with pytest.raises(IllegalActionError, match="game 0"):
        sample(np.zeros((2, 0), np.int8), rng)


@pytest.mark.parametrize(
    ("mask", "shown"),
    [
        (np.zeros(154), "float64 array of shape"),
        (np.zeros(154, np.int64), "int64 array of shape"),
        (np.zeros((2, 2, 2), np.int8), r"int8 array of shape \(2, 2, 2\)"),
        (np.zeros((), np.int8), r"int8 array of shape \(\)"),
        ([0, 1, 0], r"\[0, 1, 0\]"),
        (None, "None"),
    ],
)
def test_what_is_no_mask(mask, shown):
    with pytest.raises(SettingsError, match=rf"a mask is an int8, uint8 or bool array .* not {shown}"):
        sample(mask, np.random.default_rng(0))


@pytest.mark.parametrize("mask", [np.ones(5, np.int8), np.ones((2, 5), np.int8)])
def test_what_is_no_generator(mask):
    for rng in (None, 5, *([random.Random(1)] if mask.ndim == 2 else [])):
        with pytest.raises(SettingsError, match=r"rng must be a numpy\.random\.Generator"):
            sample(mask, rng)
