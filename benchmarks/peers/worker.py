"""The protocol between the benchmarks and a peer: one JSON line for each question, and one for its answer.

A peer runs in a process of its own, possibly with another interpreter, and does not need bg_env. It first prints its name and
version; then, for every line {"case": ..., "seconds": ..., "seed": ..., "positions": ...}, it runs that loop and answers with
its counts and the processor seconds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

Case = Callable[[dict[str, Any]], dict[str, float]]


def serve(name: str, version: str, cases: dict[str, Case]) -> None:
    """Answer until the questions end."""
    print(json.dumps({"name": name, "version": version, "cases": sorted(cases)}), flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        begun = time.process_time()
        counted = cases[question["case"]](question)
        counted.setdefault("seconds", time.process_time() - begun)
        print(json.dumps(counted), flush=True)
