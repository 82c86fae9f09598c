"""Real games, drawn state by state: what is drawn is what the rules say, in text and in the picture."""

from __future__ import annotations

import random

import numpy as np
import pytest
from test_render_svg import check_places, counted, of_kind, parse
from test_render_text import expected, read_board

from bg_env.render.scene import scene
from bg_env.render.svg import board_svg
from bg_env.render.text import board_text
from bg_env.rules import STATE, VARIANTS, Phase, Settings, apply, episode_key, legal_mask, new_episode, settle


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_state_of_a_match_is_drawn(variant):
    settings = Settings(variant, cube=True, match_length=3)
    rules, rng = settings.record(), random.Random(variant)
    states = np.zeros(1, STATE)
    new_episode(states, 0, rules, episode_key(11, 0))
    mask = np.zeros((1, settings.actions), np.int8)
    phases, steps = set(), []
    for _ in range(20_000):
        settle(states, 0, rules)
        state = states[0]
        phases.add(Phase(int(state["phase"])))
        seen = scene(states, 0, settings)
        shapes = parse(board_svg(states, 0, settings, arrows=steps))
        assert counted(shapes) == state["points"].tolist()
        check_places(shapes, seen.below)
        assert len(of_kind(shapes, "arrow")) == len(steps)
        assert read_board(board_text(states, 0, settings))["counts"] == expected(state["points"], seen.below)
        left = [die for die in seen.dice if not die.played]
        assert len(left) == state["left"].sum()
        if state["phase"] == Phase.OVER:
            assert "wins the match" in seen.message
            break
        legal_mask(states, 0, rules, mask, 0)
        legal = np.flatnonzero(mask[0]).tolist()
        rolls_on = 150 in legal and rng.random() > 0.05
        action = 150 if rolls_on else 153 if 153 in legal and rng.random() < 0.2 else rng.choice(legal)
        before = int(state["games"]), int(state["turn"])
        steps = [(before[1], action // 6 + 1, max(action // 6 - action % 6, 0))] if action < 150 else []
        apply(states, 0, rules, action)
        if states[0]["games"] != before[0]:
            steps = []
    else:
        pytest.fail("the match did not end")
    assert {Phase.CHECKER, Phase.OVER} < phases
