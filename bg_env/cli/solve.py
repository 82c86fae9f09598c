"""`bg-env solve`: the exact solution of a game with few checkers, such as Hypergammon."""

from __future__ import annotations

import math
from pathlib import Path

import click

import bg_env
from bg_env import exact
from bg_env.cli.params import go_on
from bg_env.errors import printable
from bg_env.rules import variant_of

__all__ = ["solve"]


@click.command(short_help="Solve Hypergammon, or another game of up to three checkers a side.")
@click.argument("variant", metavar="VARIANT")
@click.option("--cube", is_flag=True, help="Find the values with the doubling cube as well.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="File of the solution.  [default: VARIANT.sol, or VARIANT-cube.sol]",
)
@click.option("--threads", type=int, default=2, show_default=True, help="Threads that work.")
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
@click.pass_context
def solve(context: click.Context, variant: str, cube: bool, out: Path | None, threads: int, quiet: bool) -> None:
    """Find the exact values of all positions of a game of up to three checkers a side, money play, and keep them in a file.

    The file plays perfectly as "exact:FILE", and Python reads it by bg_env.exact.Solution.load(FILE). A file of the same game
    is continued: each sweep over the positions that was finished is in it, also after a kill. Ctrl-C or SIGTERM ends the
    computation at once.
    """
    from tqdm import tqdm

    size = exact.size_of(variant, cube)  # raises before anything is written
    chosen = variant_of(variant)
    path = out or Path(f"{chosen.name}{'-cube' if cube else ''}.sol")
    click.echo(f"{chosen.name}, {'with the cube' if cube else 'cubeless'}: {size}")
    last = exact.Sweep(0, math.inf, 0.0, 0.0)
    bar_format = "{percentage:3.0f}%|{bar}| {elapsed}{postfix}"
    try:
        with tqdm(total=1.0, disable=quiet, delay=0.2, bar_format=bar_format, dynamic_ncols=True) as bar:

            def show(sweep: exact.Sweep) -> None:
                nonlocal last
                last = sweep
                bar.set_postfix_str(f"sweep {sweep.number}, change {sweep.change:.0e}", refresh=False)
                bar.update(sweep.done - bar.n)

            solution = exact.solve(chosen, cube, num_threads=threads, path=path, progress=show)
    except KeyboardInterrupt:
        click.echo(printable(f"Interrupted after {last.number} sweeps, which are in {path}"))
        more = ["--cube"] * cube + ["--out", str(path)] * (out is not None) + ["--threads", str(threads)] * (threads != 2)
        go_on("To continue", "solve", variant, *more)
        context.exit(130)
    game = bg_env.Game(chosen, cube=cube)
    spent = f"{solution.sweeps} sweeps, {last.seconds / 60:.1f} minutes" if last.number else "it was finished before"
    click.echo(
        f"Solved ({spent}; residual {solution.residual:.0e} points): the player who wins the opening throw wins "
        f"{solution.value(game):+.4f} points a game: {printable(str(path))}"
    )
    go_on("To play against it", "arena", f"exact:{path}", "td", "--variant", variant, *["--cube"] * cube)
