"""OpenSpiel's backgammon from Python, random play: bare, with the observation, with observation and mask."""

from __future__ import annotations

import random
import time
from importlib import metadata
from typing import Any

import numpy as np
import pyspiel
from worker import serve

GAME = pyspiel.load_game("backgammon(scoring_type=full_scoring)")


def play(question: dict[str, Any], observe: bool, mask: bool) -> dict[str, float]:
    """Whole random games until the time is over; a decision is one of OpenSpiel's, both dice of an ordinary roll."""
    rng = random.Random(question["seed"])
    games = decisions = 0
    began = time.process_time()
    while time.process_time() - began < question["seconds"]:
        state = GAME.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(rng.choice(state.chance_outcomes())[0])  # all outcomes are equally likely
                continue
            if observe:
                np.asarray(state.observation_tensor(), np.float32)
            if mask:
                state.legal_actions_mask()
            actions = state.legal_actions()
            state.apply_action(actions[int(rng.random() * len(actions))])
            decisions += 1
        games += 1
    return {"games": games, "steps": decisions}


if __name__ == "__main__":
    serve(
        "OpenSpiel",
        metadata.version("open_spiel"),
        {
            "bare": lambda question: play(question, observe=False, mask=False),
            "observation": lambda question: play(question, observe=True, mask=False),
            "observation and mask": lambda question: play(question, observe=True, mask=True),
        },
    )
