"""`bg-env arena`, `play` and `watch`."""

from __future__ import annotations

import contextlib
import json
import secrets
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import bg_env
from bg_env.cli.params import (
    PLAYER_HELP,
    FiniteRange,
    name_of,
    player_of,
    settings_options,
    shows_colour,
    speaks_unicode,
    strongest,
)
from bg_env.errors import NotationError, SettingsError
from bg_env.rules.settings import settings_names

__all__ = ["arena", "play", "watch"]


@click.command(short_help="Let players meet, and measure who is better.")
@click.argument("players", nargs=-1, required=True, metavar="A B [C...]")
@click.option(
    "--games", type=int, default=1000, show_default=True, help="Games (with --match-length: matches) of each pair; even."
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Of dice and random choices, 0 to 2^64 - 1: the same seed, the same result.",
)
@settings_options("With the doubling cube.  [default: in matches]")
@click.option("--boards", type=int, default=1024, show_default=True, help="Games played at once.")
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
@click.pass_context
def arena(
    context: click.Context,
    players: tuple[str, ...],
    games: int,
    seed: int,
    variant: str,
    cube: bool | None,
    match_length: int,
    boards: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Let two players meet, or each of several every other: both seats, each dice stream twice with the seats swapped.

    A player is a name (see `bg-env info`), or the folder or model.zip of a trained model. Prints wins, gammons, backgammons,
    what the cube did and points per game with 95 % intervals that know of the pairing; of several players also a table of
    ratings. Ctrl-C prints what was played so far.
    """
    from tqdm import tqdm

    from bg_env import arena as ring

    if len(players) < 2:
        msg = "give at least two players"
        raise click.UsageError(msg, context)
    settings = bg_env.Settings(variant, cube=bool(match_length) if cube is None else cube, match_length=match_length)
    bound = [player_of(text, settings) for text in players]
    names = [name_of(text) for text in players]
    if len(set(names)) < len(names):
        names = [f"{name} ({k})" for k, name in enumerate(names, 1)]
    meetings = len(players) * (len(players) - 1) // 2
    with tqdm(total=meetings * games, unit="game", disable=quiet, delay=0.2, dynamic_ncols=True) as bar:
        results = ring.round_robin(bound, names, games=games, seed=seed, boards=boards, settings=settings, progress=bar.update)
    found = ring.ratings(results) if len(players) > 2 and results[-1].complete else []
    if as_json:
        click.echo(
            json.dumps(
                {"results": [one.to_dict() for one in results], "ratings": [vars(one) for one in found]},
                indent=1,
                allow_nan=False,
            )
        )
    else:
        for one in results:
            click.echo(one.text())
        if found:
            click.echo(ring.ratings_text(found))
    if not results[-1].complete:
        click.echo("bg-env arena: interrupted; this is what was played so far", err=True)
        context.exit(130)


def _game(position: str | None, seed: int | None, settings: bg_env.Settings) -> tuple[bg_env.Game, Any, int]:
    """A game with dice of its own, from its beginning or from an id; the state it begins with; the seed of the dice."""
    seed = secrets.randbelow(2**32) if seed is None else seed
    if position is None:
        rules = {name: getattr(settings, name) for name in settings_names() if name != "variant"}
        start = bg_env.Game.new(settings.variant, **rules).states
        return bg_env.Game.new(settings.variant, seed=seed, **rules), start, seed
    from bg_env.notation.ids import read_position

    states, told = read_position(position, settings.variant)
    return bg_env.Game._from_states(states.copy(), told, seed), states, seed


def _check_save(file: Path | None) -> None:
    """Refuse before the game what could not be written after it."""
    if file is not None and (file.suffix.lower() not in (".mat", ".sgf", ".jsonl") or not file.parent.is_dir()):
        msg = f"--save {file}: give a file in an existing folder that ends with .mat, .sgf or .jsonl"
        raise SettingsError(msg)


@contextlib.contextmanager
def _saving(file: Path | None, start: Any, game: bg_env.Game, names: tuple[str, str]) -> Iterator[None]:
    """Write what was played as a record, however it ends: Ctrl-C, a player that fails or a closed output lose nothing."""
    try:
        yield
    finally:
        if file is not None:
            from bg_env.records.check import write_records
            from bg_env.records.write import record_of

            write_records(file, [record_of(start, game.settings, game.history, names)])
            click.echo(f"written: {file}")


def _screen(names: tuple[str, str], seat: int | None, plain: bool) -> Any:
    from bg_env.cli.terminal import Screen

    return Screen(click.echo, input, names, seat, not plain and shows_colour(), not plain and speaks_unicode())


_position_option = click.option(
    "--position", metavar="ID", help="Begin from an XGID or a GNU Backgammon id; the stakes come from it."
)
_save_option = click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the game as a record, also an unfinished one: .mat, .sgf or .jsonl.",
)
_plain_option = click.option("--ascii", "plain", is_flag=True, help="Boards in ASCII, without colour.")


@click.command(short_help="Play in the terminal.")
@click.option("--opponent", default=strongest(), show_default=True, metavar="PLAYER", help=PLAYER_HELP)
@click.option("--seat", type=click.IntRange(0, 1), default=0, show_default=True, help="Yours: 0 is White, 1 is Black.")
@click.option("--seed", type=int, help="Of the dice, 0 to 2^64 - 1.  [default: another each time]")
@_position_option
@settings_options("With the doubling cube.  [default: as the variant has it]")
@click.option(
    "--hints-by", default=strongest(), show_default=True, metavar="PLAYER", help="Who answers when you ask for a hint."
)
@_save_option
@_plain_option
def play(
    opponent: str,
    seat: int,
    seed: int | None,
    position: str | None,
    variant: str,
    cube: bool | None,
    match_length: int,
    hints_by: str,
    save: Path | None,
    plain: bool,
) -> None:
    """Play against a player in the terminal.

    Type plays as you like: "8/5 6/5", "8-5 6-5", one step at a time; "help" tells the rest: hint, undo, list, double, resign.
    """
    from bg_env.cli import terminal

    _check_save(save)
    settings = bg_env.Settings(variant, cube=cube, match_length=match_length)
    game, start, seed = _game(position, seed, settings)
    rival = player_of(opponent, game.settings)
    called = name_of(opponent)
    names = ("you", called) if seat == 0 else (called, "you")
    click.echo(f"You are {('White (O)', 'Black (X)')[seat]} against {called}; the dice are those of --seed {seed}.")
    screen = _screen(names, seat, plain)
    adviser = player_of(hints_by, game.settings)
    with _saving(save, start, game, names):
        over = False
        try:
            over = terminal.play(game, start, seat, rival, screen, adviser)
        finally:
            if not over:
                click.echo("")
                with contextlib.suppress(NotationError):
                    words = ["--seat", str(seat), "--position", game.xgid, "--variant", variant, "--opponent", opponent]
                    click.echo(f"Left. To go on from here: bg-env play {shlex.join(words)}")


@click.command(short_help="Watch two players, step by step.")
@click.argument("first", metavar="WHITE")
@click.argument("second", metavar="BLACK")
@click.option("--seed", type=int, help="Of the dice, 0 to 2^64 - 1.  [default: another each time]")
@_position_option
@settings_options("With the doubling cube.  [default: as the variant has it]")
@click.option("--delay", type=FiniteRange(0, 86_400), default=1.0, show_default=True, help="Seconds between turns.")
@click.option("--step", is_flag=True, help="Wait for Enter after each turn.")
@_save_option
@_plain_option
def watch(
    first: str,
    second: str,
    seed: int | None,
    position: str | None,
    variant: str,
    cube: bool | None,
    match_length: int,
    delay: float,
    step: bool,
    save: Path | None,
    plain: bool,
) -> None:
    """Watch two players play a game or a match, turn by turn. A player is a name, or a trained model's folder or file."""
    from bg_env.cli import terminal

    _check_save(save)
    settings = bg_env.Settings(variant, cube=cube, match_length=match_length)
    game, start, seed = _game(position, seed, settings)
    players = [player_of(text, game.settings) for text in (first, second)]
    click.echo(f"The dice are those of --seed {seed}.")
    first, second = name_of(first), name_of(second)
    names = (first, second) if first != second else (f"{first} (O)", f"{second} (X)")
    screen = _screen(names, 0, plain)
    with _saving(save, start, game, names), contextlib.suppress(EOFError):
        terminal.watch(game, start, players, screen, lambda: screen.ask("Enter> ") if step else time.sleep(delay))
