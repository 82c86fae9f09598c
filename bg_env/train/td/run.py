"""A run of the TD learner in a folder: progress bar, curve, evaluation against pubeval, stop and resume.

The folder gets `run.npz`, the checkpoint, from which a resumed run continues exactly: learner, games and curve in one file that
is replaced as a whole. The other files are copies of its parts, written after it and again when a run is resumed: `net.npz`
(the averaged net, for the player `greedy:FILE`), `curve.csv` (a line for each evaluation) and, where TensorBoard is installed,
its event files.
"""

from __future__ import annotations

import csv
import io
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from tqdm import tqdm

from bg_env.checks import checked_even, is_number, is_whole
from bg_env.errors import SettingsError
from bg_env.files import read_arrays, read_bytes
from bg_env.players import ValueNet
from bg_env.train.events import Events, writer_class
from bg_env.train.interrupt import FirstCtrlC
from bg_env.train.run_folder import RunFolder
from bg_env.train.td.learner import TDLearner
from bg_env.train.td.settings import TDSettings

__all__ = ["TDFolder", "TDOutcome", "train_td"]

_COLUMNS: Final = ("games", "seconds", "games_per_second", "loss", "pubeval", "half_interval")

Row = tuple[int, float, float, float, float, float]
"""A line of the curve."""


class TDFolder(RunFolder):
    """The folder of a TD run; see `RunFolder`. Its checkpoint is `run.npz`, its copies are `net.npz` and `curve.csv`."""

    NAMES = ("net.npz", "run.npz", "curve.csv", "events.out.tfevents.*")
    NEEDED = ("run.npz",)
    CHECKPOINT = "run.npz"

    @property
    def net(self) -> Path:
        """The averaged net."""
        return self.path / "net.npz"

    @property
    def run(self) -> Path:
        """Everything needed to continue."""
        return self.path / "run.npz"


@dataclass(frozen=True)
class TDOutcome:
    """The result of a run.

    Attributes:
        folder: where its files are.
        games: games of self-play, over all sessions.
        seconds: seconds of learning, over all sessions.
        interrupted: whether Ctrl-C or SIGTERM ended it.
        pubeval: points a game against pubeval at the end, and half the 95 % interval.
    """

    folder: Path
    games: int
    seconds: float
    interrupted: bool
    pubeval: tuple[float, float]


def _written_curve(rows: list[Row]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([_COLUMNS, *rows])
    return text.getvalue().encode()


def _read_curve(path: Path) -> list[Row]:
    """The rows of a `curve.csv`.

    Raises:
        SettingsError: it is not the curve of such a run.
    """
    try:
        content = read_bytes(path)
        head, *lines = csv.reader(io.StringIO(content.decode(), newline=""))
        if tuple(head) != _COLUMNS or any(len(line) != len(_COLUMNS) for line in lines) or not content.endswith(b"\n"):
            raise ValueError
        return [_row([int(games), *map(float, rest)]) for games, *rest in lines]
    except (ValueError, csv.Error) as error:
        msg = f"{path} is not the curve of a run of the TD learner: a table with the columns {','.join(_COLUMNS)}"
        raise SettingsError(msg) from error


def _row(numbers: Any) -> Row:
    games, *rest = numbers
    return (int(games), *map(float, rest))  # type: ignore[return-value] # as many as there are columns


def _kept_rows(folder: TDFolder, learner: TDLearner) -> list[Row]:
    """The curve of a run that is resumed; the files that are copies are checked, because they will be replaced.

    Raises:
        SettingsError: the curve or a copy is damaged.
    """
    content = read_arrays(folder.run, "file of a TD run")
    whole = "curve" in content
    try:
        if folder.net.is_file():
            ValueNet.load(folder.net)
        copied = _read_curve(folder.curve) if folder.curve.is_file() else []
    except SettingsError as error:
        msg = f"{error}; delete it, and --resume writes it again from {folder.run.name}" if whole else str(error)
        raise SettingsError(msg) from error
    if not whole:  # a run of version 0.1, which may have been killed between two files
        return [row for row in copied if row[0] <= learner.games]
    curve = content["curve"]
    if curve.ndim != 2 or curve.shape[1] != len(_COLUMNS) or curve.dtype != np.float64:
        msg = f"{folder.run} is not a file of a TD run: its curve is {curve.dtype} {curve.shape}"
        raise SettingsError(msg)
    return list(map(_row, curve.tolist()))


class _Session:
    """A learner at work in a folder: each evaluation adds a row to the curve and saves everything."""

    def __init__(self, learner: TDLearner, folder: TDFolder, events: Events, evaluation_games: int, rows: list[Row]) -> None:
        self.rows = rows
        self._learner = learner
        self._folder = folder
        self._events = events
        self._evaluation_games = evaluation_games
        self._mark()

    def _mark(self) -> None:
        self._games, self._seconds, self._time = self._learner.games, self._learner.seconds, time.monotonic()

    @property
    def seconds_since(self) -> float:
        """Seconds since the last evaluation."""
        return time.monotonic() - self._time

    @property
    def due(self) -> bool:
        """Whether the net has learnt since the last evaluation, or was never evaluated."""
        return not self.rows or self.rows[-1][0] != self._learner.games or self._learner.seconds > self._seconds

    @property
    def strength(self) -> tuple[float, float]:
        """Points a game against pubeval at the last evaluation, and half the 95 % interval."""
        return self.rows[-1][4:]

    def evaluate(self, bar: tqdm[Any]) -> None:
        """Play evaluation games against pubeval, and write everything."""
        learner = self._learner
        strength = learner.against_pubeval(self._evaluation_games)
        rate = (learner.games - self._games) / max(learner.seconds - self._seconds, 1e-9)
        numbers = [round(learner.seconds, 1), round(rate, 1), round(learner.loss, 5), *(round(x, 4) for x in strength)]
        self.rows.append(_row([learner.games, *numbers]))
        curve = np.array(self.rows, np.float64)
        self._folder.save(lambda file: learner.dump(file, curve=curve), self.copies())
        self._events.write(map(_point, self.rows))
        bar.set_postfix_str(f"loss {learner.loss:.3f}, pubeval {strength[0]:+.3f} ± {strength[1]:.3f}")
        self._mark()

    def copies(self) -> dict[str, bytes]:
        """The content of the files that are copies of parts of the checkpoint."""
        net = io.BytesIO()
        self._learner.net().dump(net)
        return {"net.npz": net.getvalue(), "curve.csv": _written_curve(self.rows)}


def _point(row: Row) -> tuple[int, dict[str, float]]:
    """A row as TensorBoard shows it."""
    games, _, rate, loss, points, _ = row
    return games, {"loss": loss, "games_per_second": rate, "points_a_game/pubeval": points}


def train_td(
    folder: TDFolder,
    settings: TDSettings,
    *,
    minutes: float | None = None,
    threads: int = 2,
    resume: bool = False,
    every: float = 60.0,
    evaluation_games: int = 1000,
    progress: bool = True,
    tensorboard: bool | None = None,
) -> TDOutcome:
    """Learn until `settings.total` games of self-play have ended, or the minutes are over.

    Ctrl-C or SIGTERM ends the learning after the current round; everything is saved. A run can be resumed at any later time,
    also one that was killed.

    Args:
        folder: where to write.
        settings: of a new run.
        minutes: of learning, over all sessions; the learning rate then falls with the time, and the curve depends on the
            clock. None: with the games alone.
        threads: that play.
        resume: whether to continue the run in the folder, under its own settings.
        every: seconds between two evaluations against pubeval.
        evaluation_games: games of an evaluation, an even number of at least 4.
        progress: whether to show a progress bar.
        tensorboard: whether to write event files for TensorBoard; None: where it is installed.

    Raises:
        SettingsError: the run in the folder cannot be read, or a number is out of range.
        MissingDependencyError: `tensorboard` is True, and it is not installed.
    """
    checked_even("evaluation_games", evaluation_games, 4)
    timed = minutes is None or (is_number(minutes) and 0 < minutes < float("inf"))
    if not is_whole(threads, 1) or not is_number(every) or every <= 0 or not timed:
        msg = "threads is a whole number of at least 1, every and minutes are numbers above 0"
        raise SettingsError(msg)
    events = Events(folder.path, writer_class(tensorboard))
    learner = TDLearner.load(folder.run, threads=threads) if resume else TDLearner(settings, threads=threads)
    rows = _kept_rows(folder, learner) if resume else []
    learner.compile()
    folder.start()
    session, ctrl_c = _Session(learner, folder, events, evaluation_games, rows), FirstCtrlC(tqdm.write)
    if resume:
        folder.write_copies(session.copies())
    bar = tqdm(total=learner.settings.total, initial=learner.games, unit="game", disable=not progress, smoothing=0.1)
    with events, ctrl_c, bar:
        while not ctrl_c.asked:
            share = learner.games / learner.settings.total
            if minutes is not None:
                share = max(share, learner.seconds / (60 * minutes))
            if share >= 1:
                break
            learner.round(share if minutes is not None else None)
            bar.update(learner.games - bar.n)
            if session.seconds_since > every:
                session.evaluate(bar)
        if session.due:
            session.evaluate(bar)
    return TDOutcome(folder.path, learner.games, learner.seconds, ctrl_c.asked, session.strength)
