"""The talk between `python -m bg_env bench` and a peer: one JSON line for each question, one for its answer.

A peer runs in a process of its own, with its own interpreter if need be, and needs nothing of bg_env. It says who it is, then
for every line {"case": ..., "seconds": ..., "seed": ..., "positions": ...} runs that loop and answers with what it counted and
the processor seconds that it took.
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
