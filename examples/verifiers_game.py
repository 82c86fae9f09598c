"""Language models in verifiers: rollouts against a player of bg_env, and then the arena against the random player.

    python examples/verifiers_game.py --model NAME --url http://localhost:8000/v1 --out runs/verifiers

This file is also a module with a taskset, for `vf-eval verifiers_game` with `examples` on the PYTHONPATH. Without a model a
scripted agent replies at an endpoint, with some faulty replies. Writes curve.csv (reward and metrics of each rollout) into the
folder. Install: `pip install "bg_env[verifiers]"`; verifiers starts a program for each reply, by `uv`.
"""

from __future__ import annotations

import asyncio
import csv
import importlib
import json
import os
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click
import numpy as np

from bg_env import Settings, arena
from bg_env.text import TextPlayer

__all__ = ["GamesTaskset", "RolloutEnv"]  # noqa: F822 - by __getattr__

Agent = Callable[[str], str]


def __getattr__(name: str) -> Any:
    """The taskset and its environment; verifiers, which takes seconds to import, is imported when it asks for them."""
    if name not in __all__:
        raise AttributeError(name)
    return getattr(importlib.import_module("bg_env.adapters.verifiers"), name)


def scripted(faults: float = 0.05) -> Agent:
    """An agent without a model: a legal choice from the list of its prompt, with a share of faulty replies."""
    rng = np.random.default_rng(1)

    def reply(text: str) -> str:
        if rng.random() < faults:
            return str(rng.choice(["I pass.", "Move: 1/24 1/24", "24/18/13 or 13/8?", "Let me think about it."]))
        choices = text.rpartition("Legal (")[2].splitlines()[0].split(": ", 1)[1].rstrip(".").split("; ")
        return f"<think>There are {len(choices)} choices.</think>\nMove: {rng.choice(choices)}"

    return reply


def serve(agent: Agent) -> str:
    """The address of an endpoint, in the form of OpenAI's, at which an agent replies."""

    class Endpoint(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            message = {"role": "assistant", "content": agent(asked["messages"][-1]["content"])}
            chunk = {"id": "scripted", "object": "chat.completion.chunk", "created": 0, "model": asked["model"]}
            chunk["choices"] = [{"index": 0, "finish_reason": "stop", "delta": message}]
            chunk["usage"] = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"


def asking(model: str, url: str) -> Agent:
    """An agent that asks a model."""
    from openai import OpenAI

    client = OpenAI(base_url=url)

    def reply(text: str) -> str:
        message: Any = {"role": "user", "content": text}
        return client.chat.completions.create(model=model, messages=[message]).choices[0].message.content or ""

    return reply


async def rollouts(games: dict[str, Any], model: str, url: str, file: Path) -> None:
    """One rollout of every task, with a row of the file for each."""
    import verifiers.v1 as vf

    from bg_env.adapters.verifiers import RolloutConfig

    player = {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}}
    env = vf.load_environment(RolloutConfig(taskset=games, player=player))
    context = vf.ModelContext(model=model, client=vf.EvalClientConfig(base_url=url, api_key_var="OPENAI_API_KEY"))
    async with env.serving():
        for number, task in enumerate(env.taskset):
            episode = await env.run_episode(task, context)
            if not episode.ok:
                raise click.ClickException(str([*episode.errors, *episode.traces[0].errors]))
            trace = episode.traces[0]
            row = {"rollout": number, "points": trace.rewards["points"].score, **trace.metrics}
            with file.open("a", newline="", encoding="utf-8") as out:
                csv.writer(out).writerows([row.values()] if number else [row, row.values()])
            click.echo(f"rollout {number}: {row['points']:+.0f} points, {row['refused']:.0f} replies refused")


@click.command(help=__doc__)
@click.option("--model", default="", help="A model; without one a scripted agent replies.")
@click.option("--url", default="", help="The endpoint of the model, in the form of OpenAI's; the key is in OPENAI_API_KEY.")
@click.option("--settings", default="backgammon", show_default=True, help="What is played, as bg_env.Settings prints it.")
@click.option("--opponent", type=click.Choice(["random", "pubeval", "td"]), default="pubeval", help="The opponent in rollouts.")
@click.option("--rollouts", "number", type=click.IntRange(1), default=4, show_default=True, help="Rollouts.")
@click.option("--games", type=click.IntRange(2), default=20, show_default=True, help="Games in the arena, an even number.")
@click.option("--out", type=click.Path(path_type=Path), default="runs/verifiers", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs: two turns.")
def main(model: str, url: str, settings: str, opponent: str, number: int, games: int, out: Path, smoke: bool) -> None:
    """Roll out, then play in the arena."""
    if smoke:
        settings, number, games = str(Settings("hypergammon", max_turns=2)), 1, 6
    try:
        played = Settings.parse(settings)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if games % 2 or (model and not url):
        raise click.UsageError(f"--games is even, not {games}" if games % 2 else "a --model needs the --url of its endpoint")
    try:
        out.mkdir(parents=True)
    except OSError as error:
        msg = f"{out} exists already: choose a new folder with --out" if out.exists() else str(error)
        raise click.UsageError(msg) from error
    os.environ.setdefault("OPENAI_API_KEY", "none")
    agent = asking(model, url) if model else scripted()
    url, model = url or serve(agent), model or "scripted"
    sys.path.insert(0, str(Path(__file__).parent))  # verifiers imports this file by its name
    tasks = {"id": Path(__file__).stem, "settings": str(played), "opponent": opponent, "legal": True, "number": number}
    asyncio.run(rollouts(tasks, model, url, out / "curve.csv"))
    player = TextPlayer(agent, legal=True, name=model)
    click.echo(arena.play(player, "random", settings=played, games=games).text())
    click.echo(str(player.counts))


if __name__ == "__main__":
    main()
