"""`bg-env replay`: match records checked and shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bg_env.errors import printable

if TYPE_CHECKING:
    from bg_env.records.report import Replay

__all__ = ["replay"]


@click.command(short_help="Check match records, and show them.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Print also where a record is written in a dialect, and how it was read.")
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), metavar="OUT", help="Write a page to step through the record."
)
@click.pass_context
def replay(context: click.Context, files: tuple[Path, ...], as_json: bool, verbose: bool, html: Path | None) -> None:
    """Check every roll, play, cube decision, award and score of match records (.mat, .sgf or JSON lines).

    Each fault is printed as "FILE: game G move M: what is wrong"; the exit code is 1 if there is any. With --html, the record
    of the one FILE is written as a page that needs no other files.
    """
    from bg_env.records.files import replay_files

    if html is not None and len(files) > 1:
        msg = f"--html writes a page of one record: give one FILE, not {len(files)}"
        raise click.UsageError(msg, context)
    found = replay_files(files)
    if as_json:
        click.echo(json.dumps([one.as_dict() for one in found], indent=1))
    else:
        for one in found:
            games = sum(len(record.games) for record in one.replays)
            lines = one.lines or [f"{one.path}: {games} game{'s' * (games != 1)}, no fault"]
            click.echo("\n".join(map(printable, [*(one.note_lines if verbose else []), *lines])))
    if html is not None and found[0].replays:
        _write_html(found[0].replays, html, context)
        click.echo(f"written: {printable(str(html))}", err=as_json)
    context.exit(int(any(one.lines for one in found)))


def _write_html(replays: Sequence[Replay], out: Path, context: click.Context) -> None:
    from bg_env.files import write_whole
    from bg_env.render.html import Frame, replay_html

    if len(replays) > 1:
        msg = f"--html writes a page of one record: the file has {len(replays)}"
        raise click.UsageError(msg, context)
    played = replays[0]
    frames = [
        Frame(
            played.states,
            moment.index,
            text=played.text(moment),
            player=moment.player,
            arrows=[(moment.player, step.source, step.target) for step in played.steps(moment) if moment.player is not None],
        )
        for game in played.games
        for moment in game.moments
    ]
    write_whole(out, replay_html(frames, played.settings, names=played.record.players))
