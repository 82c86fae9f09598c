"""The command line: `bg-env`, also `python -m bg_env`.

Bad input gets one line that says what is wrong and what would be right, and exit code 2; Ctrl-C gives 130. What a command
needs beyond the core is imported when it runs.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any, Final, NoReturn

import click

import bg_env
from bg_env.errors import BgEnvError, SettingsError
from bg_env.players import PLAYERS
from bg_env.registration import IDS

__all__ = ["main"]

_CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


class _Program(click.Group):
    """A group whose errors are one line each."""

    def main(self, args: Any = None, prog_name: Any = None, standalone_mode: bool = True, **extra: Any) -> Any:  # type: ignore[override] # overloads
        """Run the program; see `click.Command.main`."""
        if not standalone_mode:
            return super().main(args, prog_name, standalone_mode=False, **extra)
        try:
            code = super().main(args, prog_name or "bg-env", standalone_mode=False, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            sys.exit(0)
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            where = context.command_path if context else "bg-env"
            _fail(where, error.format_message(), f" ({where} --help tells what there is)" if context else "")
        except BgEnvError as error:
            _fail("bg-env", str(error))
        except OSError as error:
            if isinstance(error, BrokenPipeError) or error.filename is None:
                raise
            _fail("bg-env", f"{error.filename}: {error.strerror}: give a path that can be used")
        except (click.Abort, KeyboardInterrupt):
            click.echo("bg-env: interrupted", err=True)
            sys.exit(130)
        sys.exit(code if isinstance(code, int) else 0)


def _fail(where: str, message: str, more: str = "") -> NoReturn:
    click.echo(f"{where}: {' '.join(message.split())}{more}", err=True)
    sys.exit(2)


@click.group(cls=_Program, context_settings=_CONTEXT, no_args_is_help=True)
@click.version_option(bg_env.__version__, prog_name="bg-env")
def main() -> None:
    """Backgammon for reinforcement learning: train agents, look at positions, see what there is."""


_variant_option = click.option(
    "--variant",
    default="backgammon",
    show_default=True,
    metavar="NAME",
    help=f"One of {', '.join(bg_env.VARIANTS)}, or a variant as bg_env.Variant prints it.",
)


# Training


@main.command(short_help="Train an agent and measure it.")
@click.option(
    "--id", "id_", metavar="ID", help=f"What to learn: one of {', '.join(IDS)}.  [default: bg_env/BackgammonCubeless-v0]"
)
@click.option("--opponent", type=click.Choice(list(PLAYERS)), help="Whom to learn against.  [default: random]")
@click.option("--minutes", type=float, help="Train for so many minutes (more, with --resume).  [default: 4, without --steps]")
@click.option(
    "--steps", type=int, help="Train for so many decisions of the learner (more, with --resume), rounded up to rollouts."
)
@click.option("--seed", type=int, help="Of games, net and exploration, 0 to 2^32 - 1.  [default: 1]")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("runs/ppo"), show_default=True, help="Folder for model and curve."
)
@click.option("--resume", is_flag=True, help="Go on with the run in the folder: its model, its games, its curve.")
@click.option("--overwrite", is_flag=True, help="Replace the run in the folder.")
@click.option("--num-envs", type=int, help="Games played at once.  [default: 256]")
@click.option("--threads", type=int, help="Threads of PyTorch and of the games.  [default: 1]")
@click.option("--games", type=int, help="Fresh games that measure the net, half from each seat; 0 for none.  [default: 1000]")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def train(id_: str | None, out: Path, resume: bool, overwrite: bool, quiet: bool, **given: Any) -> int:
    """Train an agent against an opponent, then play fresh games with it.

    Writes model.zip (for MaskablePPO.load), curve.csv, curve.png, run.json and games.npz into the folder, and prints wins,
    gammons, backgammons and points per game of the trained net beside those of the untrained one, with 95 % intervals.

    Ctrl-C ends the training and keeps what was learnt: go on with --resume.

    With the same --seed and --steps a machine goes through the same games and comes to the same net, also if it was stopped
    and resumed; with --minutes it comes as far as the clock allows.
    """
    from bg_env.train.folder import RunFolder
    from bg_env.train.options import choose_options

    asked = {name: value for name, value in ({"id": id_} | given).items() if value is not None}
    folder = RunFolder(out, overwrite=overwrite, resume=resume)
    options = choose_options(folder if resume else None, **asked)
    from bg_env.train import ppo  # slow: it brings PyTorch

    outcome = ppo.train(options, folder, resume=resume, progress=not quiet)
    shown = f"{outcome.folder / 'model.zip'}, curve.csv, curve.png"
    if outcome.interrupted:
        click.echo(f"Interrupted after {outcome.steps:,} steps: kept in {shown}. Go on with --resume --out {outcome.folder}")
        return 130
    click.echo(f"Learnt from {outcome.steps:,} steps in {outcome.seconds / 60:.1f} minutes: {shown}")
    if outcome.scores:
        click.echo(ppo.score_table(outcome.scores, options))
    return 0


# Looking at things


def _versions() -> dict[str, str]:
    needed = ("numpy", "numba", "gymnasium", "pettingzoo", "click", "tqdm")
    optional = ("torch", "stable-baselines3", "sb3-contrib", "matplotlib", "tensorboard", "pillow", "pygame", "gnubg-nn")
    found = {"python": sys.version.split()[0], "bg_env": bg_env.__version__}
    for name in (*needed, *optional):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


@main.command(short_help="Versions, ids, variants, encoders, rewards, players.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def info(as_json: bool) -> None:
    """Tell what there is: versions, Gymnasium ids, variants, observations, rewards, players, and where kernels are kept."""
    from bg_env._jit import CACHE_DIR

    facts: dict[str, Any] = {
        "versions": _versions(),
        "ids": {name: str(bg_env.Settings(**preset)) for name, preset in IDS.items()},
        "variants": {name: _variant_line(variant) for name, variant in bg_env.VARIANTS.items()},
        "observations": {name: _shape(encoder.shape) for name, encoder in bg_env.ENCODERS.items()},
        "rewards": list(bg_env.REWARDS),
        "players": list(PLAYERS),
        "cache": CACHE_DIR or "none: NUMBA_DISABLE_JIT is set",
    }
    if as_json:
        click.echo(json.dumps(facts, indent=1))
        return
    for title, part in facts.items():
        if isinstance(part, dict):
            width = max(map(len, part))
            click.echo(f"{title}:")
            for name, text in part.items():
                click.echo(f"  {name:{width}}  {text}")
        else:
            click.echo(f"{title}: {', '.join(part) if isinstance(part, list) else part}")


def _variant_line(variant: bg_env.Variant) -> str:
    start = bg_env.Position.start(variant)
    return f"start {start.id}, {variant.checkers} checkers, {start.pips[0]} pips"


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) + " numbers"


def _read(text: str, variant: str) -> bg_env.Game:
    """The game that an id tells, with the settings that the id tells."""
    from bg_env.notation.ids import read_position

    states, settings = read_position(text, variant)
    return bg_env.Game(states, settings, seeded=False)


def _dice(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"\s*([1-6])[-,/ x]?([1-6])\s*", text)
    if not found:
        msg = f"{text!r} is no roll: give two dice from 1 to 6 such as 31 or 3-1"
        raise SettingsError(msg)
    return int(found[1]), int(found[2])


@main.command(short_help="The distinct plays of a position and a roll.")
@click.argument("position")
@click.argument("dice", required=False)
@_variant_option
@click.option("--json", "as_json", is_flag=True, help="As JSON: play and resulting position id.")
def plays(position: str, dice: str | None, variant: str, as_json: bool) -> None:
    """List the distinct plays of DICE (31, 3-1) in POSITION, each with the id of the position that it leads to.

    POSITION is an XGID, a GNU Backgammon position id, or a position id and a match id with ":" between. DICE may be left
    out where the id says what was rolled.
    """
    game = _read(position, variant)
    if dice is None and len(game.dice) not in (2, 4):
        msg = "the id tells no roll: give the dice as well, such as 31 or 3-1"
        raise SettingsError(msg)
    d1, d2 = _dice(dice) if dice is not None else game.dice[:2]
    found = game.position.legal_plays(d1, d2)
    rows = [(str(play), play.result.id) for play in found]
    if as_json:
        click.echo(json.dumps([{"play": text, "position": result} for text, result in rows], indent=1))
        return
    width = max(len(text) for text, _ in rows)
    click.echo(f"{len(rows)} distinct play{'s' * (len(rows) > 1)} of {d1}-{d2}:")
    for text, result in rows:
        click.echo(f"  {text:{width}}  {result}")


@main.command(short_help="Draw a position.")
@click.argument("position")
@_variant_option
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write it as a picture as well.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII characters only.")
def show(position: str, variant: str, svg: Path | None, ascii_only: bool) -> None:
    """Draw the board of POSITION: an XGID, a GNU Backgammon position id, or a position id and a match id with ":" between."""
    from bg_env.render.svg import board_svg
    from bg_env.render.text import board_text

    game = _read(position, variant)
    text = board_text(game.states, 0, game.settings, colour=False, unicode=not ascii_only and _speaks_unicode())
    click.echo(text)
    if svg is not None:
        svg.write_text(board_svg(game.states, 0, game.settings), encoding="utf-8")
        click.echo(f"written: {svg}")


def _speaks_unicode() -> bool:
    try:
        "─│┌▸".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
