"""Files that options name to be written: their endings, their folders, and what they must not replace."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

__all__ = ["check_ending", "check_inputs_kept", "check_place"]


def check_ending(
    context: click.Context, name: str, file: Path | None, endings: Sequence[str], *, devices: bool = False
) -> None:
    """Refuse a file of another format, by its name and by that of the file that a link leads to.

    Args:
        context: of the command line.
        name: of the option, "--save".
        file: that it names; None: nothing is checked.
        endings: of the format, in lower case.
        devices: whether a device or a pipe may have any name.

    Raises:
        click.UsageError: the ending is another.
    """
    if file is None:
        return
    real = Path(os.path.realpath(file))
    special = file.exists() and not file.is_file() and not file.is_dir()
    if not (devices and special) and file.suffix.lower() not in endings:
        raise click.UsageError(_message(f"{name} {file}", endings), context)
    if not special and real.suffix.lower() not in endings:
        raise click.UsageError(_message(f"{name} {file} leads to {real}", endings), context)


def check_place(context: click.Context, name: str, file: Path | None, endings: Sequence[str], *, overwrite: bool) -> None:
    """Refuse a file that could not be written, and one that exists, unless it is to be replaced; looked at before a game.

    Raises:
        click.UsageError: there is no such folder, or there is such a file.
    """
    if file is None:
        return
    if file.is_dir() or not Path(os.path.realpath(file)).parent.is_dir():
        raise click.UsageError(_message(f"{name} {file}", endings), context)
    if file.is_file() and not overwrite:
        msg = f"{name} {file}: there is such a file already: give another name, or replace it with --overwrite"
        raise click.UsageError(msg, context)


def check_inputs_kept(context: click.Context, name: str, file: Path | None, inputs: Iterable[str | Path]) -> None:
    """Refuse a file that the command reads, under whatever name.

    Raises:
        click.UsageError: it is one of the inputs.
    """
    if file is None or not file.is_file():
        return
    for given in inputs:
        same = False
        with contextlib.suppress(OSError, ValueError):
            same = file.samefile(given)
        if same:
            msg = f"{name} {file} would replace {given}, which is read: give another file"
            raise click.UsageError(msg, context)


def _message(named: str, endings: Sequence[str]) -> str:
    *some, last = endings
    return f"{named}: give a file in an existing folder that ends with {', '.join(some) + ' or ' if some else ''}{last}"
