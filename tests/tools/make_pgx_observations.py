"""Writes tests/data/pgx_observations.npz: states of random play in Pgx's backgammon and what its `observe` gives both players.

Pgx needs JAX, which is too heavy for the test environment; this runs in one of its own:

    pip install pgx==2.6.0
    python tests/tools/make_pgx_observations.py

Each row: `board` (28 numbers, Pgx's own state), `player` who moves, `dice` (what is left of the roll, as counts of the numbers
1-6), `action` that led to the next row (-1 at a game's end), `over`, and `seen` (the observation of either player).
"""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pgx

GAMES = 12
OUT = Path(__file__).resolve().parents[1] / "data" / "pgx_observations.npz"


def main() -> None:
    env = pgx.make("backgammon")
    init, step, observe = jax.jit(env.init), jax.jit(env.step), jax.jit(env.observe)
    rng = np.random.default_rng(20)
    rows = []
    for game in range(GAMES):
        key = jax.random.PRNGKey(game)
        key, now = jax.random.split(key)
        state = init(now)
        while True:
            over = bool(state.terminated)
            legal = np.flatnonzero(np.asarray(state.legal_action_mask))
            action = -1 if over else int(rng.choice(legal))
            playable = np.asarray(state._playable_dice)
            dice = np.bincount(playable[playable >= 0], minlength=6)
            seen = [np.asarray(observe(state, seat)) for seat in (0, 1)]
            rows.append((np.asarray(state._board), int(state.current_player), dice, action, over, seen))
            if over:
                break
            key, now = jax.random.split(key)
            state = step(state, action, now)
    names = ("board", "player", "dice", "action", "over", "seen")
    types = (np.int8, np.int8, np.int8, np.int16, np.bool_, np.int8)
    columns = {name: np.array([row[k] for row in rows], types[k]) for k, name in enumerate(names)}
    np.savez_compressed(OUT, **columns)
    print(f"{len(rows)} states of {GAMES} games by Pgx {pgx.__version__} (backgammon {env.version}) in {OUT}")


if __name__ == "__main__":
    main()
