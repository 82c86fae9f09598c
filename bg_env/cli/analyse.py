"""`bg-env analyse`: the errors and the luck in match records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bg_env.cli.outputs import check_ending, check_inputs_kept
from bg_env.cli.params import player_of
from bg_env.errors import NotationError, printable

if TYPE_CHECKING:
    from bg_env.evaluation.analysis import Analysis

__all__ = ["analyse"]


def _check_html(context: click.Context, _: click.Parameter, file: Path | None) -> Path | None:
    check_ending(context, "--html", file, (".html", ".htm"), devices=True)
    return file


@click.command(short_help="Analyse match records: errors and luck.")
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE...")
@click.option("--player", default="td:1", show_default=True, metavar="NAME", help="The player whose equities are used.")
@click.option("--variant", metavar="NAME", help="Variant played, whatever a file says.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="OUT",
    callback=_check_html,
    help="Write a page with the analysis of the one record: .html or .htm.",
)
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
@click.pass_context
def analyse(
    context: click.Context,
    files: tuple[Path, ...],
    player: str,
    variant: str | None,
    as_json: bool,
    html: Path | None,
    quiet: bool,
) -> None:
    """Analyse match records (.mat, .sgf, JSON lines, GNU text): error rates, blunders, and the result less luck.

    Records with faults are analysed up to the first fault of each game, which is printed; the exit code is then 1. Ctrl-C
    prints what has been analysed so far.
    """
    from tqdm import tqdm

    from bg_env.evaluation.analysis import analyse as analysed
    from bg_env.files import write_whole
    from bg_env.records import iter_replays

    for file in files:
        if not file.exists():
            msg = f"there is no file {file}: give files of match records"
            raise click.UsageError(msg, context)
    check_inputs_kept(context, "--html", html, files)
    read = list(iter_replays(files, variant))
    for item in read:
        if item.error is not None:
            raise NotationError(item.lines[0])
    records = [(item.path, played) for item in read for played in item.replays]
    if html is not None and len(records) > 1:
        msg = f"--html writes a page of one record, but there are {len(records)}"
        raise click.UsageError(msg, context)
    found: list[tuple[str, Analysis]] = []
    stopped = False
    try:
        for path, played in tqdm(records, unit="record", disable=quiet or len(records) == 1, delay=0.2, dynamic_ncols=True):
            found.append((path, analysed(played.record, player_of(player, played.settings))))
    except KeyboardInterrupt:
        stopped = True
    if as_json:
        items = [{"file": path, **report.to_dict()} for path, report in found]
        click.echo(json.dumps(items, indent=1, allow_nan=False))
    else:
        for path, report in found:
            faults = [f"{path}: {fault}" for fault in report.faults]
            click.echo("\n".join(map(printable, [path, *faults, *report.text().splitlines(), ""])))
    if html is not None and found:
        write_whole(html, found[0][1].html())
        click.echo(f"written: {printable(str(html))}", err=as_json)
    if stopped:
        click.echo("bg-env analyse: interrupted; the records analysed so far are printed", err=True)
        context.exit(130)
    context.exit(int(any(report.faults for _, report in found)))
