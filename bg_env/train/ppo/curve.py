"""The learning curve: one row per rollout, as CSV and as a picture."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env.arena import Estimate
from bg_env.errors import SettingsError, needs
from bg_env.files import read_bytes

__all__ = ["Row", "draw_curve", "parsed_curve", "read_curve", "write_curve"]

_SMOOTH: Final = 500
"""Games over which the bold line is a moving mean."""


class Row(NamedTuple):
    """One rollout of the learner, which explores while it learns: it draws its actions from its policy.

    Attributes:
        steps: decisions of the learner so far.
        seconds: seconds of training so far.
        games: episodes that ended in this rollout.
        wins: episodes won among them.
        points: points won less points lost in them.
        entropy: mean entropy of the policy in this rollout's updates, in nats.
        kl: mean Kullback-Leibler divergence of the policy after the updates from the one before.
        explained: share of the returns' variance that the value net explained.
        evaluated: names of the players that the net was evaluated against after this rollout, each with the net's points a
            game, played greedily.
    """

    steps: int
    seconds: float
    games: int
    wins: int
    points: float
    entropy: float
    kl: float
    explained: float
    evaluated: tuple[tuple[str, Estimate], ...] = ()


_KINDS: Final = (int, float, int, int, float, float, float, float)
_COLUMNS: Final = Row._fields[: len(_KINDS)]
_ENDS: Final = ("", " low", " high")
"""Suffixes of the three columns of a player: the mean, and the ends of the 95 % interval."""


def write_curve(file: IO[bytes], rows: Sequence[Row]) -> None:
    """Write the rows as CSV with a header, with three columns for each player that the net was evaluated against."""
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    players = list(dict.fromkeys(name for row in rows for name, _ in row.evaluated))
    table.writerow([*_COLUMNS, *(name + end for name in players for end in _ENDS)])
    for *values, evaluated in rows:
        known = dict(evaluated)
        numbers = [*values, *(number for name in players for number in known.get(name, ("", "", "")))]
        table.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in numbers])
    file.write(text.getvalue().encode())


def read_curve(path: Path) -> list[Row]:
    """Read a CSV file that `write_curve` wrote.

    Raises:
        SettingsError: the file has other columns.
    """
    return parsed_curve(read_bytes(path), path)


def parsed_curve(content: bytes, path: Path) -> list[Row]:
    """The rows in the content of a CSV file that `write_curve` wrote, or of the file at `path` that holds it.

    Raises:
        SettingsError: it has other columns, a cell that is not such a number, steps that do not rise, or a cut last line.
    """
    rows: list[Row] | None = None
    with contextlib.suppress(ValueError, csv.Error):
        head, *lines = list(csv.reader(io.StringIO(content.decode(), newline=""))) or [[]]
        n = len(_COLUMNS)
        players = head[n :: len(_ENDS)]
        expected = [*_COLUMNS, *(name + end for name in players for end in _ENDS)]
        if head == expected and {len(line) for line in lines} <= {len(head)}:
            rows = [_row(line[:n], players, line[n:]) for line in lines]
    if rows is None or not content.endswith(b"\n") or any(one.steps >= next_.steps for one, next_ in pairwise(rows)):
        msg = f"{path} is not the curve of a training run: a table with the columns {','.join(_COLUMNS)}"
        raise SettingsError(msg)
    return rows


def _row(words: Sequence[str], players: Sequence[str], strengths: Sequence[str]) -> Row:
    """A row from the cells of a line, of which the last are the strengths against all players of the curve."""
    each = ((name, strengths[3 * k : 3 * k + 3]) for k, name in enumerate(players))
    evaluated = tuple((name, Estimate(*map(float, numbers))) for name, numbers in each if any(numbers))
    return Row(*(kind(word) for kind, word in zip(_KINDS, words, strict=True)))._replace(evaluated=evaluated)


def _moving(totals: npt.NDArray[np.float64], games: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The mean per game over the last `_SMOOTH` games at each row, or over one rollout where that has more."""
    all_games, all_totals = np.concatenate([[0], games.cumsum()]), np.concatenate([[0], totals.cumsum()])
    first = np.searchsorted(all_games, all_games[1:] - _SMOOTH, side="right") - 1
    first = np.maximum(first, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: npt.NDArray[np.float64] = (all_totals[1:] - all_totals[first]) / (all_games[1:] - all_games[first])
    return means


def _draw_evaluated(axes: Any, rows: Sequence[Row]) -> None:
    """Draw a line for each player that the net was evaluated against during training."""
    for k, name in enumerate(dict.fromkeys(name for row in rows for name, _ in row.evaluated)):
        found = [(row.seconds / 60, *dict(row.evaluated)[name]) for row in rows if name in dict(row.evaluated)]
        minutes, mean, low, high = np.array(found, np.float64).T
        label = f"greedy against {name}: {mean[-1]:+.3g}"
        axes.errorbar(minutes, mean, [mean - low, high - mean], fmt=".-", color=f"C{k + 1}", capsize=2, label=label)


def draw_curve(
    file: IO[bytes],
    rows: Sequence[Row],
    title: str,
    *,
    unit: str = "points a game",
    before: tuple[Estimate, Estimate] | None = None,
    after: tuple[Estimate, Estimate] | None = None,
    against: str = "",
) -> None:
    """Draw the rows as a PNG: points and share of games won over minutes of training.

    Args:
        file: where to write.
        rows: of the curve.
        title: the line above the picture.
        unit: of the points.
        before: points and wins of the untrained net, played greedily, with intervals; None if it was not evaluated.
        after: those of the trained net.
        against: the player that both met, if it is not the opponent of the training.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        msg = "drawing the learning curve needs matplotlib"
        raise needs(msg, "train") from error
    figure = Figure(figsize=(8, 6), layout="constrained")
    FigureCanvasAgg(figure)
    upper, lower = figure.subplots(2, 1, sharex=True)
    minutes = np.array([row.seconds for row in rows], np.float64) / 60
    games = np.array([row.games for row in rows], np.float64)
    points = np.array([row.points for row in rows], np.float64)
    wins = np.array([row.wins for row in rows], np.float64)
    last = float(minutes[-1]) if len(minutes) else 0.0
    for axes, totals, which, factor in ((upper, points, 0, 1.0), (lower, wins, 1, 100.0)):
        played = games > 0
        axes.plot(
            minutes[played], factor * totals[played] / games[played], ".", color="#9db8d2", markersize=3, label="each rollout"
        )
        label = f"last {_SMOOTH} games (exploring)"
        axes.plot(minutes[played], factor * _moving(totals, games)[played], color="#1f4e79", linewidth=2, label=label)
        for when, found, name, colour in ((0.0, before, "untrained", "#8a8a8a"), (last, after, "trained", "#b5451b")):
            if found is not None:
                mean, low, high = (factor * number for number in found[which])
                bars = [[mean - low], [high - mean]]
                met = f" against {against}" if against else ""
                label = f"{name}, greedy{met}: {mean:.3g}"
                axes.errorbar([when], [mean], bars, fmt="o", color=colour, capsize=4, label=label)
        if which == 0:
            _draw_evaluated(axes, rows)
        axes.grid(visible=True, alpha=0.3)
        axes.legend(loc="lower right", fontsize="small")
    upper.set_ylabel(unit)
    lower.set_ylabel("won, %")
    lower.set_xlabel("minutes of training")
    figure.suptitle(title)
    figure.savefig(file, format="png", dpi=120)
