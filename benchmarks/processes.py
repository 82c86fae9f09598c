"""Peers: the loops of other libraries, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

from bg_env.errors import BgEnvError
from bg_env.rules import States

__all__ = ["PEERS", "Peer", "PeerMissingError", "write_positions"]

FOLDER: Final = Path(__file__).resolve().parent / "peers"
"""The folder of the loops."""

PEERS: Final = {
    "openspiel": "openspiel.py",
    "shimmy": "shimmy_openspiel.py",
    "pgx": "pgx_cpu.py",
    "gnubg-nn": "gnubg_nn_plays.py",
}
"""Script of each peer."""


class PeerMissingError(BgEnvError):
    """A peer cannot be run."""


class Peer:
    """A peer's process; `close` ends it.

    Args:
        key: of `PEERS`.
        python: the interpreter that has its library; None for this one.

    Raises:
        PeerMissingError: it does not start; the message has the last line of its stderr.
    """

    def __init__(self, key: str, python: str | None = None) -> None:
        script = FOLDER / PEERS[key]
        if not script.exists():
            msg = f"{key}: its loop, {script.name} in benchmarks/peers of the repository, is missing"
            raise PeerMissingError(msg)
        try:
            self._process = subprocess.Popen(
                [python or sys.executable, str(script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        except OSError as error:
            msg = f"{key}: {error}"
            raise PeerMissingError(msg) from error
        hello = self._line()
        if hello is None:
            said = (self._process.communicate()[1] or "").strip().splitlines()[-1:]
            msg = f"{key}: {said[0] if said else 'it ended without a message'}"
            raise PeerMissingError(msg)
        self.name: str = hello["name"]
        self.version: str = hello["version"]

    def _line(self) -> dict[str, Any] | None:
        stream = self._process.stdout
        for line in stream or ():
            if line.startswith("{"):
                answer: dict[str, Any] = json.loads(line)
                return answer
        return None

    def ask(self, case: str, seconds: float, seed: int = 0, **more: Any) -> dict[str, float]:
        """Run one of its loops for so many seconds; its counts.

        Raises:
            PeerMissingError: it ended without an answer.
        """
        stdin = self._process.stdin
        if stdin is not None:
            stdin.write(json.dumps({"case": case, "seconds": seconds, "seed": seed, **more}) + "\n")
            stdin.flush()
        answer = self._line()
        if answer is None:
            said = (self._process.communicate()[1] or "").strip().splitlines()[-1:]
            msg = f"{self.name}: {said[0] if said else 'it ended without an answer'}"
            raise PeerMissingError(msg)
        return answer

    def close(self) -> None:
        """End its process."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.communicate()


def write_positions(states: States, path: Path) -> None:
    """Write states as gnubg-nn takes them: 25 counts a side with the bar last, the mover second."""
    rows = []
    for state in states:
        side = int(state["turn"])
        boards = [np.asarray(state["points"][k][1:]).tolist() for k in (1 - side, side)]
        rows.append({"board": boards, "dice": state["dice"].tolist()})
    path.write_text(json.dumps(rows))
