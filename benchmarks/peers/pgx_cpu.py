"""Pgx's backgammon on the CPU: random legal play of a whole batch, vmapped, scanned and compiled, with automatic resets.

A step is one checker or a forced pass; observation and mask are part of Pgx's state, so both are computed.
"""

from __future__ import annotations

import os
import time
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import pgx
from pgx.experimental import auto_reset
from worker import serve

LENGTH = 32
"""Steps of the batch in one compiled scan."""

ENV = pgx.make("backgammon")
STEP = jax.vmap(auto_reset(ENV.step, ENV.init))
INIT = jax.jit(jax.vmap(ENV.init))
STARTED: dict[int, Any] = {}


def _one(state: Any, key: Any) -> Any:
    for_actions, for_dice = jax.random.split(key)
    actions = jax.random.categorical(for_actions, jnp.where(state.legal_action_mask, 0.0, -jnp.inf), axis=-1)
    after = STEP(state, actions, jax.random.split(for_dice, len(actions)))
    return after, (after.terminated.sum(), jnp.sum(after.observation), jnp.sum(after.legal_action_mask))


@jax.jit
def _many(state: Any, key: Any) -> Any:
    return jax.lax.scan(_one, state, jax.random.split(key, LENGTH))


def play(question: dict[str, Any]) -> dict[str, float]:
    """Scans of a batch until the time is over; compiled before the clock starts."""
    n = int(question["batch"])
    if n not in STARTED:
        state = INIT(jax.random.split(jax.random.PRNGKey(0), n))
        for k in range(8):  # so that games are in different parts of a game
            state, _ = jax.block_until_ready(_many(state, jax.random.PRNGKey(k)))
        STARTED[n] = state
    state, key = STARTED[n], jax.random.PRNGKey(question["seed"] + 100)
    games = steps = 0
    began = time.process_time()
    while time.process_time() - began < question["seconds"]:
        key, now = jax.random.split(key)
        state, (ended, *_) = jax.block_until_ready(_many(state, now))
        games += int(ended.sum())
        steps += n * LENGTH
    STARTED[n] = state
    return {"games": games, "steps": steps, "seconds": time.process_time() - began}


if __name__ == "__main__":
    serve("Pgx on CPU", pgx.__version__, {"batch": play})
