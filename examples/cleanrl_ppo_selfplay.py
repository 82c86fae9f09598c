"""PPO with action masks in one file, in the style of CleanRL: one net plays both seats of a batch of games.

    python examples/cleanrl_ppo_selfplay.py --minutes 4 --out runs/cleanrl

Writes net.pt and curve.csv (evaluation games during training) into the folder, then evaluates the net against the random
player. It needs only PyTorch besides bg_env.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Any

import click
import gymnasium
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from bg_env import arena

GAMES, STEPS = 256, 64  # a rollout: games played at once, decisions in each
EPOCHS, BATCH, CLIP, ENTROPY, LAMBDA, RATE = 4, 2048, 0.2, 0.01, 0.95, 6e-4
EVALUATION = 2**63  # added to the seed for the evaluation games, which the training does not see


class Agent(nn.Module):
    """A policy net and a value net, both from the view of the player to act."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.actor, self.critic = (
            nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, outputs))
            for outputs in (actions, 1)
        )

    def policy(self, seen: Tensor, mask: Tensor) -> Any:
        """The policy over the legal actions."""
        return Categorical(logits=self.actor(seen).masked_fill(~mask, -1e9), validate_args=False)

    @torch.no_grad()
    def greedy(self, seen: dict[str, Any]) -> Any:
        """The most probable action for each of a batch of observations: a player for the arena."""
        mask = torch.from_numpy(seen["action_mask"]).bool()
        return self.policy(torch.from_numpy(seen["observation"]), mask).logits.argmax(dim=1).numpy()


def advantages(rewards: Tensor, values: Tensor, players: Tensor, ends: Tensor) -> Tensor:
    """Generalised advantages when one net plays both seats.

    Rewards belong to the player who acted, values to the player to act. Where the next decision is the other player's, the next
    value and the advantage carried back change their sign; between the steps of a turn, and where the other player had to pass,
    they do not. Nothing is carried back over the end of a game. `rewards` and `ends` are (steps, games); `values` and `players`
    (the player to act) have one row more.
    """
    found, later = torch.empty_like(rewards), torch.zeros_like(rewards[0])
    for t in reversed(range(len(rewards))):
        sign = torch.where(players[t + 1] == players[t], 1.0, -1.0).masked_fill(ends[t], 0.0)
        found[t] = later = rewards[t] + sign * (values[t + 1] + LAMBDA * later) - values[t]
    return found


class Games:
    """A batch of games that one agent plays in both seats and continues from rollout to rollout; rewards are points / 3."""

    def __init__(self, seed: int) -> None:
        options: dict[str, Any] = {"opponent": None, "reward": "normalized", "autoreset_mode": "same_step"}
        self.envs = gymnasium.make_vec("bg_env/BackgammonCubeless-v0", GAMES, **options)
        self.seen, self.infos = self.envs.reset(seed=seed)

    @torch.no_grad()
    def rollout(self, agent: Agent) -> tuple[list[Tensor], int]:
        """Observations, masks, actions, their log-probabilities, advantages and returns; and the number of games that ended."""
        lists: list[list[Tensor]] = [[] for _ in range(8)]
        seen, masks, actions, logs, rewards, ends, values, players = lists
        for step in range(STEPS + 1):
            observation = torch.from_numpy(self.seen["observation"])
            values.append(agent.critic(observation).squeeze(1))
            players.append(torch.from_numpy(self.infos["player"]))
            if step == STEPS:
                break
            seen.append(observation)
            masks.append(torch.from_numpy(self.seen["action_mask"]).bool())
            policy = agent.policy(observation, masks[-1])
            actions.append(policy.sample())
            logs.append(policy.log_prob(actions[-1]))
            self.seen, reward, terminated, truncated, self.infos = self.envs.step(actions[-1].numpy())
            rewards.append(torch.from_numpy(reward).float())
            ends.append(torch.from_numpy(terminated | truncated))
        gain = advantages(*map(torch.stack, (rewards, values, players, ends)))
        columns = [*map(torch.stack, (seen, masks, actions, logs)), gain, gain + torch.stack(values[:-1])]
        return [column.flatten(0, 1) for column in columns], int(torch.stack(ends).sum())


def update(agent: Agent, optimizer: torch.optim.Optimizer, columns: list[Tensor]) -> None:
    """PPO's clipped updates over a rollout."""
    for _ in range(EPOCHS):
        order: Any = torch.randperm(len(columns[0]))
        for rows in order.split(BATCH):
            seen, masks, actions, logs, gain, returns = (column[rows] for column in columns)
            policy = agent.policy(seen, masks)
            ratio = (policy.log_prob(actions) - logs).exp()
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            better = torch.min(gain * ratio, gain * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            wrong = (agent.critic(seen).squeeze(1) - returns).square().mean()
            optimizer.zero_grad()
            (0.5 * wrong - better - ENTROPY * policy.entropy().mean()).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


@click.command(help=__doc__)
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=4.0, show_default=True, help="Minutes of training.")
@click.option("--games", type=click.IntRange(2), default=1000, show_default=True, help="Evaluation games, an even number.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Random seed.")
@click.option("--out", type=click.Path(path_type=Path), default="runs/cleanrl", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs: two rollouts, twenty games.")
def main(minutes: float, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, save and evaluate."""
    if games % 2 or out.exists():
        msg = f"--games is an even number and --out a new folder, not {games} and {out}"
        raise click.UsageError(msg)
    out.mkdir(parents=True)
    torch.set_num_threads(1)  # for a net this small, more threads cost more than they save
    torch.manual_seed(seed)
    batch, began = Games(seed), time.monotonic()
    agent = Agent(batch.seen["observation"].shape[1], batch.seen["action_mask"].shape[1])
    optimizer = torch.optim.Adam(agent.parameters(), RATE, eps=1e-5)
    rows: list[tuple[Any, ...]] = [("steps", "seconds", "games", "points", "low", "high")]
    rollouts = ended = 0
    while (rollouts < 2) if smoke else (time.monotonic() - began < 60 * minutes):
        columns, over = batch.rollout(agent)
        update(agent, optimizer, columns)
        rollouts, ended = rollouts + 1, ended + over
        if rollouts % 20 == 0 or smoke:
            points = arena.play(agent.greedy, "random", games=20 if smoke else 400, seed=seed, cube=False).points
            rows.append((rollouts * GAMES * STEPS, round(time.monotonic() - began, 1), ended, *np.round(points, 4).tolist()))
            click.echo(f"{rows[-1][0]:>12,} steps, {ended:>8,} games: {points.text()} points per game against random")
    torch.save(agent.state_dict(), out / "net.pt")
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    click.echo(arena.play(agent.greedy, "random", games=20 if smoke else games, seed=EVALUATION + seed, cube=False).text())


if __name__ == "__main__":
    main()
