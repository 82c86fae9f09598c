"""`Game` as a search uses it: copies, and copies that act, here and in OpenSpiel.

    python -m benchmarks.game [--base FOLDER] [--rounds 5] [--seconds 0.5]

Each loop runs once a round, in pairs that take turns; `--base` is the root of another version of bg_env to compare with, which
runs in a process of its own. Rates are per second of processor time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import click

from bg_env import Game

__all__ = ["LOOPS", "main"]

_GAMES = 200
"""Positions of random games that the loops go through."""


def _ours() -> tuple[Callable[[], None], Callable[[], None]]:
    """One pass over all positions: copies, and copies that look at their legal actions and do the first."""
    games = []
    for seed in range(_GAMES):
        game = Game.new(seed=seed, cube=False)
        for _ in range(seed % 60):
            legal = game.legal_actions()
            if not legal:
                break
            game.apply(legal[seed % len(legal)])
        if game.legal_actions():
            games.append(game)
    games = (games * (_GAMES // len(games) + 1))[:_GAMES]

    def copies() -> None:
        for game in games:
            game.copy()

    def acts() -> None:
        for game in games:
            twin = game.copy()
            twin.apply(twin.legal_actions()[0])

    return copies, acts


def _openspiel() -> tuple[Callable[[], None], Callable[[], None]]:
    """The same of OpenSpiel's backgammon, in C++, called from Python."""
    import random

    import pyspiel

    rng, states = random.Random(0), list[Any]()
    while len(states) < _GAMES:
        state = pyspiel.load_game("backgammon").new_initial_state()
        for _ in range(2 * (len(states) % 30) + 1):
            while state.is_chance_node():
                state.apply_action(rng.choice([action for action, _ in state.chance_outcomes()]))
            if state.is_terminal():
                break
            state.apply_action(rng.choice(state.legal_actions()))
        while state.is_chance_node():
            state.apply_action(rng.choice([action for action, _ in state.chance_outcomes()]))
        if not state.is_terminal():
            states.append(state)

    def copies() -> None:
        for state in states:
            state.clone()

    def acts() -> None:
        for state in states:
            twin = state.clone()
            twin.apply_action(twin.legal_actions()[0])

    return copies, acts


LOOPS = {"bg_env": _ours, "OpenSpiel": _openspiel}
_NAMES = ("copy", "copy, legal actions, apply")


def _rate(work: Callable[[], None], seconds: float) -> float:
    """Passes a second of processor time, times the positions of a pass."""
    done, begun = 0, time.process_time()
    while time.process_time() - begun < seconds:
        work()
        done += 1
    return _GAMES * done / (time.process_time() - begun)


def _serve(name: str) -> None:
    """Measure when asked: a line of seconds is answered by a line of rates."""
    loops = LOOPS[name]()
    for line in sys.stdin:
        sys.stdout.write(json.dumps([_rate(work, float(line)) for work in loops]) + "\n")
        sys.stdout.flush()


_RUN = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
"""This file as a program, with the modules of the folder that it is started in."""


def _process(name: str, root: Path) -> subprocess.Popen[str]:
    """A process that measures `name` with the bg_env of the folder `root`."""
    arguments = [sys.executable, "-c", _RUN, str(Path(__file__).resolve()), "--serve", name]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root, env=environment)


def _ask(process: subprocess.Popen[str], seconds: float) -> list[float]:
    if process.stdin is None or process.stdout is None:
        msg = "the process has no pipes"
        raise RuntimeError(msg)
    process.stdin.write(f"{seconds}\n")
    process.stdin.flush()
    rates: list[float] = json.loads(process.stdout.readline())
    return rates


@click.command()
@click.option("--base", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Another version's root folder.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--seconds", type=click.FloatRange(0.01), default=0.5, show_default=True, help="How long a loop runs each time.")
@click.option("--serve", type=click.Choice(list(LOOPS)), hidden=True)
def main(base: Path | None, rounds: int, seconds: float, serve: str | None) -> None:
    """Measure `Game` beside another version of it and beside OpenSpiel."""
    if serve:
        _serve(serve)
        return
    here = Path(__file__).resolve().parents[1]
    processes = {"bg_env": _process("bg_env", here), "OpenSpiel": _process("OpenSpiel", here)}
    if base:
        processes["base"] = _process("bg_env", base.resolve())
    rates: dict[str, list[list[float]]] = {name: [] for name in processes}
    for process in processes.values():
        _ask(process, 0.05)
    for k in range(rounds):
        for name in list(processes)[:: 1 if k % 2 == 0 else -1]:
            rates[name].append(_ask(processes[name], seconds))
    for process in processes.values():
        process.communicate()
    for i, label in enumerate(_NAMES):
        click.echo(label)
        ours = [rate[i] for rate in rates["bg_env"]]
        for name, found in rates.items():
            if name == "bg_env":
                click.echo(f"  {name:10} {median(ours):12,.0f} a second")
                continue
            ratio = median(a / rate[i] for a, rate in zip(ours, found, strict=True))
            click.echo(f"  {name:10} {median(rate[i] for rate in found):12,.0f} a second   bg_env / {name}: {ratio:.2f}")


if __name__ == "__main__":
    main()
