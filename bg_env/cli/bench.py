"""`bg-env bench`: the benchmarks of a clone of the repository."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import click

import bg_env
from bg_env.errors import MissingDependencyError

__all__ = ["bench"]


@click.command(
    short_help="Measure the speed of the engine (in a clone of the repository).",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS]")
@click.pass_context
def bench(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Measure the speed of this engine and of other libraries side by side.

    The benchmarks are part of the repository, not of the installed package: this command runs those of a clone, as
    `python -m benchmarks` does there, with the same options.
    """
    root = Path(bg_env.__file__).resolve().parents[1]
    if not (root / "benchmarks" / "__main__.py").is_file():
        msg = "bench needs a clone of the repository with bg_env installed from it: pip install -e ."
        raise MissingDependencyError(msg)
    sys.path.insert(0, str(root))
    program: click.Command = importlib.import_module("benchmarks.__main__").bench
    program.main([*arguments], prog_name=context.command_path, standalone_mode=False)
