"""Shimmy's PettingZoo environment over OpenSpiel's backgammon, random play by the mask."""

from __future__ import annotations

import random
import time
from importlib import metadata
from typing import Any

import numpy as np
from shimmy import OpenSpielCompatibilityV0
from worker import serve


def play(question: dict[str, Any]) -> dict[str, float]:
    """Whole random games until the time is over."""
    env = OpenSpielCompatibilityV0(game_name="backgammon", config={"scoring_type": "full_scoring"})
    rng = random.Random(question["seed"])
    games = steps = 0
    began = time.process_time()
    while time.process_time() - began < question["seconds"]:
        env.reset(seed=question["seed"] * 100_000 + games)
        for _ in env.agent_iter():
            _, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                env.step(rng.choice(np.flatnonzero(info["action_mask"]).tolist()))
                steps += 1
        games += 1
    return {"games": games, "steps": steps}


if __name__ == "__main__":
    serve("Shimmy over OpenSpiel", metadata.version("shimmy"), {"aec": play})
