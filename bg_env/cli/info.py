"""`bg-env info`: versions, ids, variants, observations, rewards and players."""

from __future__ import annotations

import json
import sys
from importlib import metadata
from typing import Any

import click

import bg_env
from bg_env.players import PLAYERS, Named
from bg_env.registration import IDS

__all__ = ["info"]


@click.command(short_help="List versions, ids, variants, observations, rewards and players.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(as_json: bool) -> None:
    """List versions, Gymnasium ids, variants, observations, rewards, players, and the folder of compiled kernels."""
    from bg_env._jit import CACHE_DIR

    facts: dict[str, Any] = {
        "versions": _versions(),
        "ids": {name: str(bg_env.Settings(**preset)) for name, preset in IDS.items()},
        "variants": {name: _variant_line(variant) for name, variant in bg_env.VARIANTS.items()},
        "observations": {name: _shape(encoder.shape) for name, encoder in bg_env.ENCODERS.items()},
        "rewards": list(bg_env.REWARDS),
        "players": [_with_argument(item) for item in PLAYERS.values()],
        "cache": CACHE_DIR or "none: NUMBA_DISABLE_JIT is set",
    }
    if as_json:
        click.echo(json.dumps(facts, indent=1))
        return
    for title, part in facts.items():
        if isinstance(part, dict):
            width = max(map(len, part))
            click.echo(f"{title}:")
            for name, text in part.items():
                click.echo(f"  {name:{width}}  {text}")
        else:
            click.echo(f"{title}: {', '.join(part) if isinstance(part, list) else part}")


def _versions() -> dict[str, str]:
    needed = ("numpy", "numba", "gymnasium", "pettingzoo", "click", "tqdm")
    optional = ("torch", "stable-baselines3", "sb3-contrib", "matplotlib", "tensorboard", "pillow", "pygame", "gnubg-nn")
    found = {"python": sys.version.split()[0], "bg_env": bg_env.__version__}
    for name in (*needed, *optional):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def _variant_line(variant: bg_env.Variant) -> str:
    start = bg_env.Position.start(variant)
    return f"start {start.id}, {variant.checkers} checkers, {start.pips[0]} pips"


def _with_argument(item: Named) -> str:
    """The name of a player with its argument: "td[:PLIES]", "greedy:FILE"."""
    return item.name + {"": "", "FILE": ":FILE"}.get(item.argument, f"[:{item.argument}]")


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) + " numbers"
