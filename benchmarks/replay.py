"""Speed of records read and replayed, beside the tests' oracle, and of drawing frames: python benchmarks/replay.py [FILE...].

With files, it reads and replays those: at least 200 real matches a second of processor time are due.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import oracle
from test_records_gnubg import RECORDS, by_oracle, only

from bg_env.records import replay_files
from bg_env.rules import STATE, Settings, new_episode, settle

ROUNDS = 3


def seconds(call: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def replay_pairs(path: Path) -> None:
    """Check the same file with both, in turns."""
    replay_files([path])  # compiles
    pairs = []
    for _ in range(ROUNDS):
        oracle.longest.cache_clear()
        pairs.append((seconds(lambda: by_oracle(only(path))), seconds(lambda: replay_files([path]))))
    slow, fast = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"{path.name}: oracle {slow * 1e3:.0f} ms, engine {fast * 1e3:.1f} ms, {ratio:.0f} times as fast")


def matches(paths: Sequence[str | Path]) -> None:
    """Matches, games and rolls a second of processor time, read from their files and replayed."""
    found = replay_files(paths)  # compiles
    records = [replayed.record for one in found for replayed in one.replays]
    games = [game for record in records for game in record.games]
    rolls = sum(entry.kind == "roll" for game in games for entry in game.entries)
    each = statistics.median(seconds(lambda: replay_files(paths)) for _ in range(ROUNDS * 3))
    print(
        f"{len(records)} matches of {len(games)} games: {len(records) / each:.0f} matches, "
        f"{len(games) / each:,.0f} games, {rolls / each:,.0f} rolls a second"
    )


def frames() -> None:
    """Frames of one board per second, if Pillow is installed."""
    try:
        from bg_env.render.raster import board_rgb
    except ImportError:
        print("frames: Pillow is not installed")
        return
    states, settings = np.zeros(1, STATE), Settings()
    new_episode(states, 0, settings.record(), np.uint64(1))
    settle(states, 0, settings.record())
    board_rgb(states, 0, settings)
    each = statistics.median(seconds(lambda: board_rgb(states, 0, settings)) for _ in range(10))
    print(f"frames: {1 / each:.0f} a second")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        matches(sys.argv[1:])
        raise SystemExit
    replay_pairs(RECORDS / "match_std_7pt.sgf")
    for ending in ("mat", "sgf"):
        matches(sorted(RECORDS.glob(f"match_*.{ending}")))
    frames()
