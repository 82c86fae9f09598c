"""Random games of the engine under all kinds of settings, one state after another, to try notations on."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from bg_env import rules as engine
from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from bg_env.rules import STATE, Phase, Settings, States

SETTINGS = (
    Settings(),
    Settings(cube=False),
    Settings(jacoby=True, beavers=2, cube_cap=None),
    Settings(jacoby=True, cube=False),
    Settings(auto_doubles=3, beavers=5, cube_cap=8),
    Settings(match_length=7),
    Settings(match_length=3, crawford=False, allow_dead_cube=True),
    Settings(match_length=1),
    Settings("nackgammon", match_length=25),
    Settings("nackgammon_ballard", beavers=1),
    Settings("hypergammon", match_length=5),
    Settings("hypergammon", jacoby=True),
    Settings("longgammon", max_turns=60),
    Settings("acey_deucey", cube=True, beavers=2),
    Settings("acey_deucey", match_length=9),
)


def pick(rng: random.Random, legal: list[int]) -> int:
    """A legal action: the cube is turned once in eight, a double dropped once in four."""
    if DOUBLE in legal:
        return DOUBLE if rng.random() < 0.125 else ROLL
    if DROP in legal:
        if BEAVER in legal and rng.random() < 0.5:
            return BEAVER
        return DROP if rng.random() < 0.25 else TAKE
    return rng.choice(legal)


def new(settings: Settings, seed: int) -> States:
    """An episode that waits for its opening throw."""
    states = np.zeros(1, STATE)
    engine.new_episode(states, 0, settings.record(), np.uint64(engine.episode_key(np.uint64(seed), np.uint64(0))))
    return states


def throw(rng: random.Random, states: States, rules: np.ndarray) -> tuple[int, int]:
    """Two dice that may fall now."""
    while True:
        dice = rng.randrange(1, 7), rng.randrange(1, 7)
        if dice[0] != dice[1] or states[0]["phase"] == Phase.ROLL or engine.ties_double(states, 0, rules):
            return dice


def legal_actions(states: States, rules: np.ndarray) -> list[int]:
    out = np.zeros((1, 161), np.int8)
    engine.legal_mask(states, 0, rules, out, 0)
    return np.flatnonzero(out[0]).tolist()


def walk(settings: Settings, seed: int) -> Iterator[States]:
    """Every state of one episode, chance phases and the end among them; each is a copy."""
    rng = random.Random(f"{settings} {seed}")
    rules = settings.record()
    states = new(settings, seed)
    while True:
        yield states.copy()
        if states[0]["phase"] == Phase.OVER:
            return
        if states[0]["phase"] in (Phase.OPENING, Phase.ROLL):
            engine.apply_roll(states, 0, rules, *throw(rng, states, rules))
        elif rng.random() < 0.002:
            engine.resign(states, 0, rules, rng.randrange(2), rng.randrange(1, 4))
        else:
            engine.apply(states, 0, rules, pick(rng, legal_actions(states, rules)))


def many(n: int) -> Iterator[tuple[Settings, States]]:
    """`n` states of episodes under all the settings in turn."""
    seed = 0
    while True:
        for settings in SETTINGS:
            for states in walk(settings, seed):
                yield settings, states
                n -= 1
                if not n:
                    return
        seed += 1
