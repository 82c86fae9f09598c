"""`bg-env play` and `bg-env watch`: games in the terminal."""

from __future__ import annotations

import contextlib
import functools
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

import bg_env
from bg_env.cli.outputs import check_ending, check_inputs_kept, check_place
from bg_env.cli.params import (
    PLAYER_HELP,
    FiniteRange,
    IdCommand,
    line_width,
    name_of,
    next_command,
    player_of,
    settings_options,
    strongest,
    supports_colour,
    supports_unicode,
)
from bg_env.errors import NotationError, printable
from bg_env.rules import States

if TYPE_CHECKING:
    from bg_env.cli.terminal import Screen
    from bg_env.records.record import Record

__all__ = ["play", "watch"]

STRENGTHS: Final[Mapping[str, str]] = {
    "random": "plays any legal move",
    "pubeval": "is Tesauro's benchmark, and wins 99.7 % of its games against random",
    "td": "wins 71 % of its games against pubeval, like gnubg without look-ahead",
    "td:1": "looks one roll ahead and wins 51.5 % of its games against td",
    "td-cube": "has learnt when to double, and wins about half of its games against td",
    "gnubg": "is GNU Backgammon's nets, and wins 70.9 % of its games against pubeval",
}
"""The strength of the named players, from docs/strength.md."""

_ascii_option = click.option("--ascii", "plain", is_flag=True, help="Draw boards with ASCII characters only, without colour.")


def _check_outputs(players: Sequence[str], save: Path | None, gif: Path | None = None, *, overwrite: bool) -> None:
    """Refuse before the game, when all other arguments are checked, files that should not be written after it."""
    from bg_env.records.files import WRITTEN

    context = click.get_current_context()
    inputs = [name for text in players for name in (text, text.partition(":")[2]) if name]
    for file, name, endings in ((save, "--save", WRITTEN), (gif, "--gif", (".gif",))):
        check_place(context, name, file, endings, overwrite=overwrite)
        check_inputs_kept(context, name, file, inputs)


def _check_save(context: click.Context, _: click.Parameter, file: Path | None) -> Path | None:
    from bg_env.records.files import WRITTEN

    check_ending(context, "--save", file, WRITTEN)
    return file


def _check_gif(context: click.Context, _: click.Parameter, file: Path | None) -> Path | None:
    check_ending(context, "--gif", file, (".gif",))
    if file is not None:
        from bg_env.render.raster import need_pillow

        need_pillow()
    return file


_save_option = click.option(
    "--save",
    type=click.Path(path_type=Path),
    metavar="FILE",
    callback=_check_save,
    help="Write the game, finished or not, as a record, in the format that FILE ends with: .mat, .sgf or .jsonl.",
)
_overwrite_option = click.option(
    "--overwrite", is_flag=True, help="Replace a file that exists already; it is refused otherwise."
)


class _Begun(NamedTuple):
    """A game at its start: the game, with its own dice, the state that it starts from, and the seed of the dice."""

    game: bg_env.Game
    states: States
    seed: int


def _game_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of a game, which a command takes as `begun`."""

    @click.option("--seed", type=int, help="Seed of the dice, 0 to 2**64 - 1.  [default: a new one each time]")
    @click.option(
        "--position", metavar="ID", help="Start from an XGID, an OGID or a GNU Backgammon id, which also decides the stakes."
    )
    @settings_options("Play with the doubling cube.  [default: the variant's]")
    @functools.wraps(command)
    def begin(
        seed: int | None, position: str | None, variant: str, cube: bool | None, match_length: int, **options: Any
    ) -> None:
        seed = secrets.randbelow(2**32) if seed is None else seed
        settings = bg_env.Settings(variant, cube=cube, match_length=match_length)
        if position is None:
            game, states = bg_env.Game(settings, seed=seed), bg_env.Game(settings).states
        else:
            from bg_env.notation import read_position

            states, settings = read_position(position, variant)
            game = bg_env.Game.from_states(states, settings, seed=seed)
        command(begun=_Begun(game, states, seed), **options)

    return begin


@click.command(cls=IdCommand, short_help="Play against a player in the terminal.")
@click.option("--opponent", default=strongest(), show_default=True, metavar="PLAYER", help=PLAYER_HELP)
@click.option("--seat", type=click.IntRange(0, 1), default=0, show_default=True, help="Your seat: 0 is White, 1 is Black.")
@_game_options
@click.option("--hints-by", default=strongest(), show_default=True, metavar="PLAYER", help="The player that gives hints.")
@_save_option
@_overwrite_option
@_ascii_option
def play(begun: _Begun, opponent: str, seat: int, hints_by: str, save: Path | None, overwrite: bool, plain: bool) -> None:
    """Play against a player in the terminal.

    Type plays as "8/5 6/5" or "8-5 6-5", whole or one step at a time; "help" lists the other commands: hint, undo, list,
    double, resign. The arrow keys edit the line and bring earlier ones back.
    """
    from bg_env.cli import terminal

    game, start, seed = begun
    rival, adviser = player_of(opponent, game.settings), player_of(hints_by, game.settings)
    _check_outputs((opponent, hints_by), save, overwrite=overwrite)
    called = name_of(opponent)
    names = ("you", called) if seat == 0 else (called, "you")
    screen = _screen(names, seat, plain)
    screen.say(f"You are {('White (O)', 'Black (X)')[seat]} against {called}; the dice are those of --seed {seed}.")
    if strength := STRENGTHS.get(opponent):
        screen.say(f"{opponent} {strength}.")
    else:
        click.echo(next_command(f"To see how strong {called} is", "arena", opponent, "pubeval"))
    with _saving(save, start, game, names):
        over = False
        try:
            over = terminal.play(game, start, seat, rival, screen, adviser)
        finally:
            if not over:
                click.echo("")
                with contextlib.suppress(NotationError):
                    words = [
                        "--seat",
                        seat,
                        "--position",
                        game.xgid,
                        "--variant",
                        _name(game.settings.variant),
                        "--opponent",
                        opponent,
                    ]
                    click.echo(next_command("To continue this game", "play", *words))


@click.command(cls=IdCommand, short_help="Watch two players play.")
@click.argument("first", metavar="WHITE")
@click.argument("second", metavar="BLACK")
@_game_options
@click.option("--delay", type=FiniteRange(0, 86_400), default=1.0, show_default=True, help="Seconds between turns.")
@click.option("--step", is_flag=True, help="Wait for Enter after each turn.")
@_save_option
@click.option(
    "--gif",
    type=click.Path(path_type=Path),
    metavar="FILE",
    callback=_check_gif,
    help="Write the game, finished or not, as an animated picture, .gif; needs Pillow.",
)
@_overwrite_option
@_ascii_option
def watch(
    begun: _Begun,
    first: str,
    second: str,
    delay: float,
    step: bool,
    save: Path | None,
    gif: Path | None,
    overwrite: bool,
    plain: bool,
) -> None:
    """Watch WHITE and BLACK play a game or a match, turn by turn.

    A player is a name (see `bg-env info`), or the folder or file of a trained model.
    """
    from bg_env.cli import terminal

    game, start, seed = begun
    players = [player_of(text, game.settings) for text in (first, second)]
    _check_outputs((first, second), save, gif, overwrite=overwrite)
    click.echo(f"The dice are those of --seed {seed}.")
    first, second = name_of(first), name_of(second)
    names = (first, second) if first != second else (f"{first} (O)", f"{second} (X)")
    screen = _screen(names, 0, plain)
    with _saving(save, start, game, names, gif), contextlib.suppress(EOFError):
        terminal.watch(game, start, players, screen, lambda: screen.ask("Enter> ") if step else time.sleep(delay))


def _name(variant: bg_env.Variant) -> str:
    """The text of --variant for a variant."""
    return variant.name if bg_env.VARIANTS.get(variant.name) == variant else str(variant)


@contextlib.contextmanager
def _saving(
    file: Path | None, start: States, game: bg_env.Game, names: tuple[str, str], gif: Path | None = None
) -> Iterator[None]:
    """Write the game as a record and as a film however it ends, also after a signal, an error of a player, a closed output."""
    try:
        yield
    finally:
        if file is not None or gif is not None:
            from bg_env.records.files import write_records
            from bg_env.records.write import record_of

            record = record_of(start, game.settings, game.history, names)
            if file is not None:
                write_records(file, [record])
                click.echo(f"written: {printable(str(file))}")
            if gif is not None:
                _write_gif(gif, record)
                click.echo(f"written: {printable(str(gif))}")


def _write_gif(out: Path, record: Record) -> None:
    from bg_env.files import replacing
    from bg_env.records.check import replay, stated_settings
    from bg_env.records.frames import frames_of
    from bg_env.render.drawing import draw
    from bg_env.render.film import gif
    from bg_env.render.html import seen_frame

    settings = stated_settings(record)
    frames = frames_of(replay(record))
    film = gif(draw(seen_frame(frame, settings, 0, record.players), frame.arrows) for frame in frames)
    with replacing(out) as file:
        file.write(film)


def _screen(names: tuple[str, str], seat: int | None, plain: bool) -> Screen:
    from bg_env.cli.terminal import Screen

    if all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        with contextlib.suppress(ImportError):  # Windows has none, and edits lines itself
            import readline  # noqa: F401 - with it `input` edits lines, and the arrow keys bring earlier ones
    colour, unicode = not plain and supports_colour(), not plain and supports_unicode()
    return Screen(click.echo, input, names, seat, colour, unicode, line_width())
