"""`bg-env replay`: match records checked and shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bg_env.cli.outputs import check_ending, check_inputs_kept
from bg_env.cli.params import variants_named
from bg_env.errors import printable

if TYPE_CHECKING:
    from bg_env.records.report import FileReplay

__all__ = ["replay"]


class _Tally:
    """Counts of the files, records and faults seen so far."""

    def __init__(self) -> None:
        self.files = self.clean = self.unread = self.faults = self.games = 0

    def add(self, one: FileReplay) -> None:
        """Count a file."""
        faults = len(one.faults)
        self.files += 1
        self.unread += one.error is not None
        self.clean += one.error is None and not faults
        self.faults += faults
        self.games += sum(len(record.games) for record in one.replays)

    def __str__(self) -> str:
        words = [f"{_count(self.files, 'file')}, {_count(self.games, 'game')}: {self.clean} without a fault"]
        faulty = self.files - self.clean - self.unread
        words += [f"{_count(self.faults, 'fault')} in {faulty}"] * (faulty > 0)
        words += [f"{self.unread} not read"] * (self.unread > 0)
        return ", ".join(words)


def _count(n: int, word: str) -> str:
    return f"{n:,} {word}{'s' * (n != 1)}"


def _check_html(context: click.Context, _: click.Parameter, file: Path | None) -> Path | None:
    check_ending(context, "--html", file, (".html", ".htm"), devices=True)
    return file


@click.command(short_help="Check match records, and show them.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--variant", metavar="NAME", help=f"Variant played, whatever a file says: {variants_named()}.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Print also where a record is written in a dialect, and how it was read.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="OUT",
    callback=_check_html,
    help="Write a page to step through the record: .html or .htm.",
)
@click.pass_context
def replay(
    context: click.Context, files: tuple[Path, ...], variant: str | None, as_json: bool, verbose: bool, html: Path | None
) -> None:
    """Check every roll, play, cube decision, award and score of match records (.mat, .sgf, JSON lines, GNU text).

    Each fault is printed as soon as it is found, as "FILE: game G move M: what is wrong"; of several files a summary follows.
    The exit code is 1 if there is any fault. With --html, the record of the one FILE is written as a page that needs no other
    files.
    """
    from bg_env.records.files import iter_replays

    if html is not None and len(files) > 1:
        msg = f"--html writes a page of one record: give one FILE, not {len(files)}"
        raise click.UsageError(msg, context)
    for file in files:
        if not file.exists():
            msg = f"there is no file {file}: give files of match records"
            raise click.UsageError(msg, context)
    check_inputs_kept(context, "--html", html, files)
    if html is not None and not files[0].is_file():
        msg = f"{files[0]} is not a regular file, and the page of --html holds the whole record: give a file"
        raise click.UsageError(msg, context)
    found, tally = iter_replays(files, variant), _Tally()
    for line in _as_json(found, tally, html, context) if as_json else _as_text(found, tally, html, context, verbose=verbose):
        click.echo(line)
    if len(files) > 1:
        click.echo(str(tally), err=as_json)
    if html is not None and tally.unread == 0:
        click.echo(f"written: {printable(str(html))}", err=as_json)
    context.exit(int(tally.clean < tally.files))


def _as_text(
    found: Iterator[FileReplay], tally: _Tally, html: Path | None, context: click.Context, *, verbose: bool
) -> Iterator[str]:
    for one in found:
        tally.add(one)
        games = sum(len(record.games) for record in one.replays)
        lines = one.lines or [f"{one.path}: {_count(games, 'game')}, no fault"]
        yield from map(printable, [*(one.note_lines if verbose else []), *lines])
        _write_html(one, html, context)


def _as_json(found: Iterator[FileReplay], tally: _Tally, html: Path | None, context: click.Context) -> Iterator[str]:
    """A JSON array, an item for each file as it is read."""
    opening = "["
    for one in found:
        tally.add(one)
        yield opening + "\n " + json.dumps(one.as_dict(), indent=1).replace("\n", "\n ")
        opening = ","
        _write_html(one, html, context)
    yield "]"


def _write_html(one: FileReplay, out: Path | None, context: click.Context) -> None:
    if out is None or not one.replays:
        return
    from bg_env.files import write_whole
    from bg_env.records.check import stated_settings
    from bg_env.records.decode import decoded
    from bg_env.records.frames import frames_of
    from bg_env.render.html import replay_html

    if len(one.replays) > 1:
        msg = f"--html writes a page of one record: the file has {len(one.replays)}"
        raise click.UsageError(msg, context)
    played = one.replays[0]
    path = Path(one.path)
    record = (path.name, decoded(path.read_bytes()))
    page = replay_html(frames_of(played), stated_settings(played.record), names=played.record.players, record=record)
    write_whole(out, page)
