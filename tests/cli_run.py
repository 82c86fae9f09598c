"""The command line as tests run it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from bg_env.cli import main

ROOT = Path(__file__).resolve().parents[1]
COMPILING = "bg_env: compiling kernels"


@dataclass
class Done:
    exit_code: int
    output: str
    stdout: str
    stderr: str
    exception: BaseException | None = None


def said(text):
    """The printed text, without the lines about the compilation of kernels, with which any command may begin."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(COMPILING))


def run(*arguments, **how):
    """The program in this process; `how` as of `CliRunner.invoke`."""
    done = CliRunner().invoke(main, [str(argument) for argument in arguments], **how)
    return Done(done.exit_code, said(done.output), done.stdout, said(done.stderr), done.exception)


def run_alone(command, **environment):
    """The program in a process of its own; `command` is its arguments, or a line for bash."""
    line = isinstance(command, str)
    program = [sys.executable, "-m", "bg_env"]
    words = ["bash", "-c", f"{shlex.join(program)} {command}"] if line else [*program, *map(str, command)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, env=os.environ | environment)
    return Done(done.returncode, said(done.stdout + done.stderr), done.stdout, said(done.stderr))
