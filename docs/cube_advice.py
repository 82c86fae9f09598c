"""A test of the customary advice on doubling and taking, by rollouts of the shipped player `td`.

    python docs/cube_advice.py --positions 40000 --seed 1

Plays games of `td` against itself without doubling, and takes from each game one position in which the player on roll may
turn the centred cube. Each position is played to the end three times with the same dice: after a roll, after a double that is
taken (both players use the cube from then on), and with doubling disabled. Prints a table by the winning chance that `td`
estimates for the player on roll (cubeless, one roll of look-ahead): its equity in each case, in points, with 95 % intervals.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np

from bg_env import Phase, Settings
from bg_env.actions import DOUBLE, ROLL, TAKE
from bg_env.players import ValuePlayer, player

EDGES = (0.0, 0.5, 0.6, 0.65, 0.7, 0.74, 0.78, 0.82, 0.88, 0.94, 1.0)
"""Edges of the groups of positions, by winning chance."""


class Table:
    """A batch of games in which one player plays both seats.

    Args:
        number: number of games.
        seed: seed of the dice; game i has `seed + i`.
        name: name of the player, which must not draw random numbers.
    """

    def __init__(self, number: int, seed: int, name: str) -> None:
        self.envs: Any = gymnasium.make_vec("bg_env/Backgammon-v0", num_envs=number, opponent=None, mask="info")
        self.player = player(name, Settings())
        self.envs.reset(seed=seed)
        self.queue = np.full((number, 4), -1)  # the rest of the play of each game

    def place(self, states: Any) -> None:
        """Replace the positions and keep the random streams."""
        saved = self.envs.save()
        keys = saved["states"]["key"].copy()
        saved["states"][:] = states
        saved["states"]["key"], saved["states"]["rolls"] = keys, 0
        self.envs.restore(saved)

    def step(self, going: Any, *, doubles: bool) -> tuple[Any, Any, Any]:
        """Step every game by one action: who acted, the points that it won or lost, and which games ended.

        The player acts in the games marked in `going`; the others get a random action, and their next game is ignored.
        """
        states = self.envs.states.copy()
        words = np.zeros(len(states), np.uint64)
        waits, moving = going & (self.queue[:, 0] < 0), states["phase"] == Phase.CHECKER
        playing, asked = np.flatnonzero(waits & moving), np.flatnonzero(waits & ~moving)
        if len(playing):
            self.queue[playing] = self.player.choose_plays(states[playing], words[playing])
        actions = np.where(going, self.queue[:, 0], self.envs.sample())
        if len(asked):
            actions[asked] = self.player.choose(states[asked], words[asked]) if doubles else ROLL
        self.queue = np.pad(self.queue[:, 1:], ((0, 0), (0, 1)), constant_values=-1)
        _, rewards, ended, _, _ = self.envs.step(actions)
        return states["decider"], rewards, ended

    def play_out(self, seat: Any, *, doubles: bool) -> Any:
        """Play every game to its end; return the points of the player on `seat[i]` in game i."""
        points, going = np.zeros(len(seat)), np.ones(len(seat), np.bool_)
        while going.any():
            actor, rewards, ended = self.step(going, doubles=doubles)
            now = going & ended
            points[now] = np.where(actor == seat, rewards, -rewards)[now]
            going &= ~ended
        return points


def positions(number: int, seed: int, name: str) -> Any:
    """STATE records in which a first double is possible: one from each of `number` games, at a random turn."""
    table, rng = Table(number, seed, name), np.random.default_rng(seed)
    kept, seen = table.envs.states.copy(), np.zeros(number, np.int64)
    going = np.ones(number, np.bool_)
    while going.any():
        states = table.envs.states
        here = np.flatnonzero(going & (states["phase"] == Phase.ROLL_OR_DOUBLE))
        seen[here] += 1
        chosen = here[rng.random(len(here)) < 1 / seen[here]]  # each position of a game is equally likely
        kept[chosen] = states[chosen]
        going &= ~table.step(going, doubles=False)[2]
    return kept[seen > 0]


def rollout(states: Any, seed: int, name: str, *actions: int, doubles: bool = True) -> Any:
    """Play every position to the end after `actions`; return the points of the player on roll in it."""
    table = Table(len(states), seed, name)
    table.place(states)
    for action in actions:
        table.envs.step(np.full(len(states), action))
    return table.play_out(states["turn"], doubles=doubles)


def mean(values: Any) -> tuple[float, float]:
    """The mean and half the width of its 95 % interval."""
    return float(values.mean()), float(1.96 * values.std(ddof=1) / np.sqrt(len(values)))


def crossing(chances: list[float], values: list[float]) -> float:
    """The winning chance at which the values cross 0 upwards for the last time, interpolated between the groups."""
    k = max(i for i in range(len(values) - 1) if values[i] < 0 <= values[i + 1])
    return chances[k] + (chances[k + 1] - chances[k]) * -values[k] / (values[k + 1] - values[k])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--positions", type=int, default=40_000, help="number of games, with one position from each (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of all dice (default: %(default)s)")
    parser.add_argument("--player", default="td", help="player of both sides, with a value net (default: %(default)s)")
    asked = parser.parse_args()

    states = positions(asked.positions, asked.seed, asked.player)
    looking = ValuePlayer(player(asked.player, Settings()).net, 1, settings=Settings())
    chance = looking.probabilities(states)[:, :3].sum(axis=1)
    seed = asked.seed + 10**9  # not the dice that led to the positions
    rolled = rollout(states, seed, asked.player, ROLL)
    taken = rollout(states, seed, asked.player, DOUBLE, TAKE)
    plain = rollout(states, seed, asked.player, ROLL, doubles=False)

    print("| chance to win | positions | won | not doubled | doubled, taken | gain of doubling | taken, less dropped |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    middles, gains, losses = [], [], []
    for low, high in pairwise(EDGES):
        group = (chance >= low) & (chance < high)
        if group.sum() < 2:
            continue
        no, yes = rolled[group], taken[group]
        dropped = yes.mean() > 1  # the better answer of the opponent, by the same rollouts
        gain, over = mean((1 - no) if dropped else (yes - no)), mean(yes - 1)
        middles.append(float(chance[group].mean()))
        gains.append(float((yes - no).mean()))
        losses.append(over[0])
        equities = f"{no.mean():+.3f} | {yes.mean():+.3f} | {gain[0]:+.3f} ± {gain[1]:.3f}{' (dropped)' if dropped else ''}"
        won = f"{group.sum():,} | {(plain[group] > 0).mean():.1%}"
        print(f"| {low:.0%} - {high:.0%} | {won} | {equities} | {over[0]:+.3f} ± {over[1]:.3f} |")
    print()
    print(f"Doubling and rolling have equal equity at a winning chance of about {crossing(middles, gains):.1%}.")
    even = crossing(middles, losses)
    print(f"Taking and dropping have equal equity at about {even:.1%}: the opponent then wins {1 - even:.1%}.")


if __name__ == "__main__":
    main()
