"""GNU Backgammon as a program that reads and writes files, for the tests of records; skipped where it is not installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

GAMES = "/usr/games"
"""Debian installs it there, which is not on everybody's path."""
QUIET = (
    "set automatic game off",
    "set automatic roll off",
    "set automatic move off",
    "set confirm new off",
    "set confirm save off",
)


def find_gnubg():
    """The path of the program, None if it is absent."""
    return shutil.which("gnubg") or shutil.which("gnubg", path=GAMES)


def run_gnubg(commands: Iterable[str], folder: Path) -> str:
    """The output of the program for these commands; the test is skipped where the program is absent."""
    program = find_gnubg()
    if program is None:
        pytest.skip("needs GNU Backgammon (Debian's gnubg), which is not installed")
    script = folder / "commands"
    script.write_text("\n".join([*QUIET, *commands, "quit"]) + "\n")
    done = subprocess.run(
        [program, "-t", "-q", "-c", str(script)],
        input="",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "HOME": str(folder), "LC_ALL": "C.UTF-8"},
    )
    return done.stdout + done.stderr
