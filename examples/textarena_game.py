"""Language models in TextArena: games against a scripted agent, and then against the random player in the arena of bg_env.

    python examples/textarena_game.py --model NAME --url http://localhost:8000/v1 --out runs/textarena

Without a model a scripted agent replies, with some faulty replies. Writes curve.csv (reward, points, and whether faulty replies
lost the game, for each game of TextArena) into the folder. Install: `pip install "bg_env[textarena]"`.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import textarena as ta

from bg_env import arena
from bg_env.adapters.textarena import IDS
from bg_env.text import TextPlayer

Agent = Callable[[str], str]


def scripted(faults: float) -> Agent:
    """An agent without a model: a legal choice from the list of its prompt, with a share of faulty replies."""
    rng = np.random.default_rng(1)

    def reply(text: str) -> str:
        if rng.random() < faults:
            return str(rng.choice(["I pass.", "Move: 1/24 1/24", "24/18/13 or 13/8?", "Let me think about it."]))
        line = [line for line in text.splitlines() if line.startswith("Legal (")][-1]
        choices = line.split(": ", 1)[1].rstrip(".").split("; ")
        return f"<think>There are {len(choices)} choices.</think>\nMove: {rng.choice(choices)}"

    return reply


def model_agent(model: str, url: str | None) -> Agent:
    """A model behind an endpoint of OpenAI's kind, a local one with `url`; the key is in OPENAI_API_KEY."""
    key = os.environ.get("OPENAI_API_KEY", "none" if url else "")
    if not key:
        message = "set OPENAI_API_KEY, or give --url of a local endpoint"
        raise click.UsageError(message)
    agent: Agent = ta.agents.OpenAIAgent(model, api_key=key, base_url=url)
    return agent


def play(agents: dict[int, Agent], name: str, seed: int) -> tuple[int, int, bool]:
    """A game of TextArena: the reward and the points of player 0, and whether a player lost by its replies."""
    env = ta.make(name, legal=True)
    env.reset(num_players=2, seed=seed)
    done = False
    while not done:
        player, observation = env.get_observation()
        done, _ = env.step(action=agents[player](observation))
    rewards, info = env.close()
    return rewards[0], info[0].get("points", 0), any(info[k]["invalid_move"] for k in (0, 1))


def check(games: int, out: Path) -> None:
    """Refuse options that cannot work before any game, and make the folder."""
    if games % 2:
        msg = f"--games is an even number, half of the games from each seat, not {games}"
        raise click.UsageError(msg)
    try:
        out.mkdir(parents=True)
    except FileExistsError as error:
        msg = f"{out} exists already: choose a new folder with --out"
        raise click.UsageError(msg) from error
    except OSError as error:
        raise click.UsageError(str(error)) from error


@click.command(help=__doc__)
@click.option("--model", default="", help="A model; without one a scripted agent replies.")
@click.option("--url", default="", help="The endpoint of the model, in the form of OpenAI's; without one OpenAI's own.")
@click.option(
    "--id", "name", type=click.Choice(list(IDS)), default="bg_env/Backgammon-v0", show_default=True, help="TextArena id."
)
@click.option(
    "--games", type=click.IntRange(2), default=20, show_default=True, help="Games here and in the arena, an even number."
)
@click.option(
    "--faults", type=click.FloatRange(0, 1), default=0.05, show_default=True, help="Share of faulty scripted replies."
)
@click.option("--out", type=click.Path(path_type=Path), default="runs/textarena", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs: six games of Hypergammon.")
def main(model: str, url: str, name: str, games: int, faults: float, out: Path, smoke: bool) -> None:
    """Play in TextArena, then in the arena."""
    if smoke:
        name, games = "bg_env/Hypergammon-v0", 6
    learner = model_agent(model, url or None) if model else scripted(faults)
    other = scripted(faults)
    check(games, out)
    with (out / "curve.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["game", "seat", "reward", "points", "lost_by_replies"])
        for game in range(games):
            seat = game % 2
            reward, points, lost = play({seat: learner, 1 - seat: other}, name, game // 2)
            sign = 1 if seat == 0 else -1
            rows.writerow([game, seat, sign * reward, sign * points, int(lost)])
            file.flush()
            click.echo(f"game {game}: {sign * reward:+d}{', by faulty replies' * lost}")
    player = TextPlayer(learner, legal=True, name=model or "scripted")
    click.echo(arena.play(player, "random", variant=IDS[name], games=games).text())
    click.echo(str(player.counts))


if __name__ == "__main__":
    main()
