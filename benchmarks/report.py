"""Tables and a plot of the measurements."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.own import PARTS
from benchmarks.plan import SIZES
from bg_env.errors import MissingDependencyError
from bg_env.files import write_whole

__all__ = ["plot", "table", "write_report"]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _middle(row: dict[str, Any], count: str | None = None) -> float:
    return float(median(rate[count or row["count"]] for rate in row["rates"]))


def _rows(cells: list[list[str]], header: list[str]) -> str:
    lines = [header, ["---"] * len(header), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def table(found: dict[str, Any]) -> str:
    """The ratios and the rates, as Markdown tables."""
    ratios = [
        [
            row["label"],
            _number(row["ours"]),
            _number(row["theirs"]),
            f"{row['count']}/s",
            f"{row['ratio']:.3g}x ({row['range'][0]:.3g}-{row['range'][1]:.3g})",
            "" if row["wanted"] is None else f"{row['wanted']:g}x",
        ]
        for row in found["ratios"]
    ]
    rates = [
        [row["label"], _number(_middle(row)), f"{row['count']}/s", f"{1e9 / _middle(row):,.0f}"]
        for row in found["cases"].values()
    ]
    parts = []
    if ratios:
        parts.append(_rows(ratios, ["loop / peer", "this engine", "peer", "unit", "ratio (range over rounds)", "target"]))
    parts.append(_rows(rates, ["loop", "median rate", "unit", "ns per item"]))
    return "\n\n".join(parts)


def plot(found: dict[str, Any], path: Path) -> None:
    """The cost of a step by batch size and by phase of the game.

    Raises:
        MissingDependencyError: matplotlib is absent.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        msg = 'the plot needs matplotlib: pip install "bg_env[train]"'
        raise MissingDependencyError(msg) from error
    mpl.rcParams["svg.hashsalt"] = "bg_env"
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for threads, mark in ((1, "o-"), (2, "s--")):
        known = [n for n in SIZES if f"size {n} x {threads}" in found["cases"]]
        costs = [1e9 / _middle(found["cases"][f"size {n} x {threads}"]) for n in known]
        left.plot(known, costs, mark, label="one thread" if threads == 1 else "two threads, by the clock")
    left.set(xscale="log", yscale="log", xlabel="games in the batch", ylabel="ns a step", title="Cost of a step")
    left.grid(visible=True, which="major", alpha=0.3)
    left.legend()
    parts = [part for part in PARTS if f"part {part}" in found["cases"]]
    right.bar(parts, [1e9 / _middle(found["cases"][f"part {part}"]) for part in parts], color="0.6")
    right.set(ylabel="ns a step", title="By part of the game (4,096 games)")
    figure.savefig(path, metadata={"Date": None})


def write_report(found: dict[str, Any], folder: Path) -> list[Path]:
    """Write benchmarks.md, benchmarks/results.json and, if the sizes were measured, benchmarks/cost.svg; their paths."""
    data = folder / "benchmarks"
    data.mkdir(parents=True, exist_ok=True)
    results, picture, page = data / "results.json", data / "cost.svg", folder / "benchmarks.md"
    write_whole(results, json.dumps(found, indent=1) + "\n")
    drawn = any(key.startswith("size ") for key in found["cases"]) and any(key.startswith("part ") for key in found["cases"])
    shown = "\n![Cost of a step by the size of the batch and by the part of the game](benchmarks/cost.svg)\n" if drawn else ""
    if drawn:
        plot(found, picture)
    machine, peers = found["machine"], found["peers"]
    versions = ", ".join(
        f"{name} {machine[name]}" for name in ("python", "numpy", "numba", "gymnasium", "pettingzoo", "bg_env")
    )
    theirs = ", ".join(f"{name} {version}" for name, version in peers.items()) or "none"
    missing = "".join(f"\nNot installed, so not compared: {line}.\n" for line in found["missing"])
    write_whole(
        page,
        f"""# Benchmarks

Written by `python -m benchmarks --write` on {found["date"]}: {machine["processor"]}, {machine["cores"]} cores,
{machine["system"]}; {versions}. Peers: {theirs}.
{missing}
Loops under comparison take turns, in {found["rounds"]} rounds of {found["seconds"]:g} s each. A rate is the median over
the rounds, a ratio the median of the ratios of the rounds. Rates are per second of processor time, so that other work
on the machine has little effect; only the rates of two threads, and those marked "by the clock", are per second of wall
time. All loops play random moves in the standard game without a cube. A game takes about 199 steps in this engine (one
per checker step), 113 in OpenSpiel (both dice at once), and in Pgx one per checker step and one per pass: compare
games, not steps.

{table(found)}
{shown}""",
    )
    return [page, results, picture] if drawn else [page, results]
