"""The loops by group, and the ratios between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks import own
from benchmarks.processes import Peer
from bg_env.observations import ENCODERS
from bg_env.rules import States

__all__ = ["RATIOS", "SIZES", "Case", "Ratio", "groups"]

SIZES: Final = (1, 8, 64, 256, 1024, 4096, 16384)
"""Games in a batch."""


@dataclass(frozen=True)
class Case:
    """One loop.

    Attributes:
        key: its name in the results.
        label: its name in tables.
        count: the count that makes its rate: "games", "steps", "rolls" or "observations".
        run: runs it for so many seconds, with the number of the round as seed; the counts, and the seconds.
    """

    key: str
    label: str
    count: str
    run: Callable[[float, int], dict[str, float]]


@dataclass(frozen=True)
class Ratio:
    """Two cases of one group, ours first, and the ratio to reach; None if there is none."""

    label: str
    ours: str
    theirs: str
    wanted: float | None = None
    count: str | None = None


RATIOS: Final = (
    Ratio("Random games, batch of 4,096, observation and mask written / OpenSpiel with both", "batch", "openspiel both", 50),
    Ratio("... / OpenSpiel with the observation", "batch", "openspiel observation"),
    Ratio("... / OpenSpiel with neither", "batch", "openspiel bare"),
    Ratio("... / Pgx, the same batch, on the CPU", "batch", "pgx"),
    Ratio("PettingZoo, checks on, mask sampled / Shimmy over OpenSpiel", "aec", "shimmy", 10),
    Ratio("... steps / those of an empty PettingZoo environment", "aec", "empty aec", None, "steps"),
    Ratio("Distinct whole plays, without encodings / gnubg-nn", "plays", "gnubg-nn", 4),
    Ratio("Two threads / one, batch of 4,096, by the clock", "two threads", "one thread", 1.8),
    Ratio("Random opponent inside the batch / single environment", "batch v random", "single"),
)


def _peer(peer: Peer, key: str, label: str, count: str, case: str, **more: object) -> Case:
    return Case(key, f"{peer.name}: {label}", count, lambda seconds, seed: peer.ask(case, seconds, seed, **more))


def groups(peers: dict[str, Peer], states: States, positions: Path) -> dict[str, list[Case]]:
    """The cases by group; those of a group take turns, so that both sides of a ratio run within the same minute."""
    random_play = [Case("batch", "batch of 4,096, one thread", "games", lambda s, _: own.batch(s, n=4096))]
    if "openspiel" in peers:
        for what in ("bare", "observation", "observation and mask"):
            key = f"openspiel {what.replace('observation and mask', 'both')}"
            random_play.append(_peer(peers["openspiel"], key, f"random games, {what}", "games", what))
    if "pgx" in peers:
        random_play.append(_peer(peers["pgx"], "pgx", "random games, batch of 4,096", "games", "batch", batch=4096))
    agents = [
        Case("aec", "PettingZoo environment", "games", lambda s, seed: own.aec(s, seed=seed)),
        Case("empty aec", "empty PettingZoo environment", "games", lambda s, seed: own.aec(s, seed=seed, empty=True)),
    ]
    if "shimmy" in peers:
        agents.append(_peer(peers["shimmy"], "shimmy", "random games", "games", "aec"))
    whole = [Case("plays", "distinct whole plays, one thread", "rolls", lambda s, _: own.whole_plays(s, states))]
    if "gnubg-nn" in peers:
        whole.append(_peer(peers["gnubg-nn"], "gnubg-nn", "moves()", "rolls", "plays", positions=str(positions)))
    return {
        "random games": random_play,
        "agents": agents,
        "single": [
            Case("single", "Gymnasium environment, random opponent", "games", own.single),
            Case(
                "batch v random",
                "batch of 1,024, random opponent",
                "games",
                lambda s, _: own.batch(s, n=1024, opponent="random"),
            ),
            Case("batch v pubeval", "batch of 1,024, pubeval", "games", lambda s, _: own.batch(s, n=1024, opponent="pubeval")),
        ],
        "whole plays": whole,
        "threads": [
            Case(key, f"batch of 4,096, {key}, by the clock", "games", _threaded(threads))
            for threads, key in ((1, "one thread"), (2, "two threads"))
        ],
        "sizes": [
            Case(f"size {n} x {t}", f"batch of {n:,}, {t} thread{'s' * (t > 1)}", "steps", _sized(n, t))
            for n in SIZES
            for t in (1, 2)
            if n > 1 or t == 1
        ],
        "encoders": [
            Case(f"encoder {name}", f"observation {name}", "observations", _encoded(states, name)) for name in ENCODERS
        ],
        "parts of the game": [Case(f"part {part}", f"batch of 4,096, {part}", "steps", _in_part(part)) for part in own.PARTS],
    }


def _threaded(threads: int) -> Callable[[float, int], dict[str, float]]:
    return lambda seconds, _: own.batch(seconds, n=4096, threads=threads, mode="next_step", wall=True)


def _sized(n: int, threads: int) -> Callable[[float, int], dict[str, float]]:
    return lambda seconds, _: own.batch(seconds, n=n, threads=threads, wall=threads > 1)


def _encoded(states: States, name: str) -> Callable[[float, int], dict[str, float]]:
    return lambda seconds, _: own.encode(seconds / 4, states[:1024], name)


def _in_part(part: str) -> Callable[[float, int], dict[str, float]]:
    return lambda seconds, seed: own.in_part(seconds / 2, part, seed)
