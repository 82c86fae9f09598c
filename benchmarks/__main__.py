"""The program `python -m benchmarks`: rounds of all loops, and the ratios between them."""

from __future__ import annotations

import datetime as dt
import os
import platform
import tempfile
from contextlib import ExitStack, closing
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

import click
from tqdm import tqdm

import bg_env
from benchmarks.processes import PEERS, Peer, PeerMissingError, write_positions

__all__ = ["bench", "measure"]

_POSITIONS = 6000
_WARM_SECONDS = 0.05
_DOCS = Path(__file__).resolve().parents[1] / "docs"


def _machine() -> dict[str, str]:
    processor = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), processor)
    except OSError:
        pass
    return {
        "processor": processor or platform.machine(),
        "cores": str(os.cpu_count()),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("numpy", "numba", "gymnasium", "pettingzoo")},
        "bg_env": bg_env.__version__,
    }


def _run(chosen: dict[str, list[Any]], rounds: int, seconds: float, quiet: bool) -> dict[str, dict[str, Any]]:
    """Run every case once a round, the cases of a group one after another, in reverse order in odd rounds.

    Before the first round each case runs for a moment without being counted, so that compiling and loading are not timed.
    """
    results: dict[str, dict[str, Any]] = {}
    for case in (case for cases in chosen.values() for case in cases):
        case.run(min(seconds, _WARM_SECONDS), 0)
    total = rounds * sum(map(len, chosen.values()))
    with tqdm(total=total, unit="run", disable=None if not quiet else True, leave=False) as bar:
        for k in range(rounds):
            for name, cases in chosen.items():
                for case in cases if k % 2 == 0 else cases[::-1]:
                    bar.set_description(case.label[:40])
                    counted = case.run(seconds, k)
                    row = results.setdefault(case.key, {"label": case.label, "group": name, "count": case.count, "rates": []})
                    row["rates"].append({key: n / counted["seconds"] for key, n in counted.items() if key != "seconds"})
                    bar.update()
    return results


def measure(
    *, rounds: int, seconds: float, only: tuple[str, ...] = (), pythons: dict[str, str] | None = None, quiet: bool = False
) -> dict[str, Any]:
    """Run the benchmarks; the results as plain values.

    Args:
        rounds: how often each loop runs.
        seconds: how long each loop runs in a round.
        only: names of groups; all if empty.
        pythons: interpreters of peers, by the names of `PEERS`.
        quiet: whether to show no progress bar.
    """
    from benchmarks.own import random_states
    from benchmarks.plan import RATIOS, groups

    missing: list[str] = []
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        peers: dict[str, Peer] = {}
        for key in PEERS:
            try:
                peers[key] = stack.enter_context(closing(Peer(key, (pythons or {}).get(key))))
            except PeerMissingError as error:
                missing.append(str(error))
        states, positions = random_states(_POSITIONS), Path(folder) / "positions.json"
        write_positions(states, positions)
        chosen = {name: cases for name, cases in groups(peers, states, positions).items() if not only or name in only}
        results = _run(chosen, rounds, seconds, quiet)
        versions = {peer.name: peer.version for peer in peers.values()}
    ratios = []
    for ratio in RATIOS:
        if ratio.ours not in results or ratio.theirs not in results:
            continue
        ours, theirs = results[ratio.ours], results[ratio.theirs]
        count = ratio.count or ours["count"]
        each = [a[count] / b[count] for a, b in zip(ours["rates"], theirs["rates"], strict=True)]
        ratios.append(
            {
                "label": ratio.label,
                "ours": median(rate[count] for rate in ours["rates"]),
                "theirs": median(rate[count] for rate in theirs["rates"]),
                "count": count,
                "ratio": median(each),
                "range": [min(each), max(each)],
                "wanted": ratio.wanted,
            }
        )
    now = dt.datetime.now(dt.timezone.utc).date().isoformat()
    about = {"date": now, "rounds": rounds, "seconds": seconds, "machine": _machine(), "peers": versions, "missing": missing}
    return {**about, "ratios": ratios, "cases": results}


def _pythons(given: tuple[str, ...]) -> dict[str, str]:
    pairs = dict(item.partition("=")[::2] for item in given)
    for key, path in pairs.items():
        if key not in PEERS or not path:
            msg = f"--python is PEER=PATH, where PEER is one of {', '.join(PEERS)}, not {key!r}"
            raise click.BadParameter(msg)
    return pairs


@click.command(short_help="Measure the speed of the engine and of other libraries.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="Runs of each loop; figures are medians.")
@click.option(
    "--seconds", type=click.FloatRange(0.01), default=1.0, show_default=True, help="Seconds that each loop runs in a round."
)
@click.option(
    "--only", multiple=True, metavar="GROUP", help="Run only this group of loops, such as 'whole plays'; can be repeated."
)
@click.option(
    "--python",
    multiple=True,
    metavar="PEER=PATH",
    help=f"Interpreter with the library of a peer ({', '.join(PEERS)}); can be repeated.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write benchmarks.md and benchmarks/ into.")
@click.option("--write", is_flag=True, help="Write them into docs/ of the repository.")
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def bench(
    rounds: int, seconds: float, only: tuple[str, ...], python: tuple[str, ...], out: Path | None, write: bool, quiet: bool
) -> None:
    """Measure the speed of this engine and of other libraries, in loops that take turns.

    Rates are per second of processor time; only the comparison of threads is by wall clock. Libraries that are not installed
    are named.
    """
    from benchmarks.report import table, write_report

    if write and not _DOCS.is_dir():
        msg = "--write needs a repository with docs/: give --out FOLDER instead"
        raise click.UsageError(msg)
    found = measure(rounds=rounds, seconds=seconds, only=only, pythons=_pythons(python), quiet=quiet)
    if not found["cases"]:
        msg = f"no group of loops is called {', '.join(only)}"
        raise click.BadParameter(msg)
    click.echo(table(found))
    for line in found["missing"]:
        click.echo(f"missing: {line}")
    folder = out or (_DOCS if write else None)
    if folder is not None:
        for path in write_report(found, folder):
            click.echo(f"written: {os.path.relpath(path)}")


if __name__ == "__main__":
    bench(prog_name="python -m benchmarks")
