"""Chance phases in a `Game`: the possible rolls and their probabilities (R2, R3.1)."""

from __future__ import annotations

import pytest
from oracle import ROLL

import bg_env
from bg_env.rules import VARIANTS


@pytest.mark.parametrize("name", VARIANTS)
def test_chances_of_the_opening_and_of_a_roll(name):
    game = bg_env.Game.new(name)
    opening = dict(game.chance())
    assert len(opening) == len(game.chance()) == 30
    assert set(opening) == {(a, b) for a in range(1, 7) for b in range(1, 7) if a != b}
    assert list(opening.values()) == pytest.approx([1 / 30] * 30)
    game.apply_roll(6, 4)
    if not VARIANTS[name].fresh_first_roll:
        assert game.chance() == []  # somebody decides
        while game.player == 0:
            game.apply(game.legal_actions()[0])
        if game.legal_actions():
            game.apply(ROLL)
    rolls = dict(game.chance())
    assert len(rolls) == len(game.chance()) == 21
    assert all(p == pytest.approx(1 / 36 if a == b else 1 / 18) for (a, b), p in rolls.items())
    assert sum(rolls.values()) == pytest.approx(1, abs=1e-12)


def test_chances_while_automatic_doubles_remain():
    game = bg_env.Game.new(auto_doubles=2)
    for _ in range(2):
        chance = dict(game.chance())
        assert len(chance) == 36
        assert sum(chance.values()) == pytest.approx(1, abs=1e-12)
        assert list(chance.values()) == pytest.approx([1 / 36] * 36)
        game.apply_roll(5, 5)
    assert len(game.chance()) == 30
    assert (game.cube, game.cube_owner) == (4, None)
    with pytest.raises(bg_env.IllegalActionError, match="tie"):
        game.apply_roll(5, 5)
    game.apply_roll(5, 6)
    assert game.player == 1
    assert game.chance() == []


def test_every_chance_can_happen_and_thrown_dice_keep_to_them():
    """A seeded game throws only rolls that are possible in its unseeded twin."""
    for seed in range(30):
        seeded, twin = bg_env.Game.new(seed=seed), bg_env.Game.new()
        thrown = [event.roll for event in seeded.history if event.roll]
        assert len(thrown) == 1
        assert thrown[0] in dict(twin.chance())
        twin.apply_roll(*thrown[0])
        assert (twin.dice, twin.player, twin.legal_actions()) == (seeded.dice, seeded.player, seeded.legal_actions())
