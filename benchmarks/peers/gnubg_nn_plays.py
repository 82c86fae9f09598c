"""gnubg-nn: the distinct whole plays of given positions and dice."""

from __future__ import annotations

import json
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import gnubg_nn
from worker import serve


def plays(question: dict[str, Any]) -> dict[str, float]:
    """`moves()` of all positions, again and again until the time is over; boards are as gnubg-nn takes them, mover last."""
    rows = [(row["board"], *row["dice"]) for row in json.loads(Path(question["positions"]).read_text())]
    rolls = found = 0
    began = time.process_time()
    while time.process_time() - began < question["seconds"]:
        for board, d1, d2 in rows:
            found += len(gnubg_nn.moves(board, d1, d2))
        rolls += len(rows)
    return {"rolls": rolls, "plays": found, "seconds": time.process_time() - began}


if __name__ == "__main__":
    serve("gnubg-nn", metadata.version("gnubg-nn"), {"plays": plays})
