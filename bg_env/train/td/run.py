"""A run of the TD learner in a folder: progress bar, curve, evaluation against pubeval, stop and resume.

The folder gets `net.npz` (the averaged net, for the player `greedy:FILE`), `run.npz` (everything needed to continue),
`curve.csv` (a line for each evaluation) and, where TensorBoard's writer is installed, its event files.
"""

from __future__ import annotations

import csv
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tqdm import tqdm

from bg_env.errors import SettingsError
from bg_env.train.interrupt import FirstCtrlC
from bg_env.train.run_folder import RunFolder
from bg_env.train.td.learner import TDLearner
from bg_env.train.td.settings import TDSettings

__all__ = ["TDFolder", "TDOutcome", "train_td"]

_COLUMNS: Final = ("games", "seconds", "games_per_second", "loss", "pubeval", "half_interval")


class TDFolder(RunFolder):
    """The folder of a TD run; see `RunFolder`."""

    NAMES = ("net.npz", "run.npz", "curve.csv", "events.out.tfevents.*")
    NEEDED = ("run.npz",)

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
        interrupted: whether Ctrl-C ended it.
        pubeval: points a game against pubeval at the end, and half the 95 % interval.
    """

    folder: Path
    games: int
    seconds: float
    interrupted: bool
    pubeval: tuple[float, float]


class _Log:
    """The curve, as CSV and for TensorBoard."""

    def __init__(self, folder: TDFolder) -> None:
        self._path = folder.curve
        if not self._path.exists():
            with self._path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow(_COLUMNS)
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            self._board: Any = None
        else:
            self._board = SummaryWriter(str(folder.path))

    def write(self, learner: TDLearner, rate: float, strength: tuple[float, float]) -> None:
        row = (
            learner.games,
            round(learner.seconds, 1),
            round(rate, 1),
            round(learner.loss, 5),
            *(round(x, 4) for x in strength),
        )
        with self._path.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(row)
        if self._board is not None:
            for name, value in (("loss", learner.loss), ("games_per_second", rate), ("points_a_game/pubeval", strength[0])):
                self._board.add_scalar(name, value, learner.games)
            self._board.flush()


class _Session:
    """A learner at work in a folder: each evaluation adds a row to the curve and saves net and run."""

    def __init__(self, learner: TDLearner, folder: TDFolder, evaluation_games: int) -> None:
        self.strength: tuple[float, float] | None = None
        self._learner = learner
        self._folder = folder
        self._evaluation_games = evaluation_games
        self._log = _Log(folder)
        self._mark()

    def _mark(self) -> None:
        self._games, self._seconds, self._time = self._learner.games, self._learner.seconds, time.monotonic()

    @property
    def seconds_since(self) -> float:
        """Seconds since the last evaluation."""
        return time.monotonic() - self._time

    @property
    def learnt_since(self) -> bool:
        """Whether the net has changed since the last evaluation."""
        return self._learner.seconds > self._seconds

    def evaluate(self, bar: tqdm[Any]) -> tuple[float, float]:
        """Play evaluation games against pubeval, and write everything."""
        learner = self._learner
        self.strength = learner.against_pubeval(self._evaluation_games)
        rate = (learner.games - self._games) / max(learner.seconds - self._seconds, 1e-9)
        self._log.write(learner, rate, self.strength)
        self._folder.write(self._folder.net, learner.net().dump)
        self._folder.write(self._folder.run, learner.dump)
        bar.set_postfix_str(f"loss {learner.loss:.3f}, pubeval {self.strength[0]:+.3f} ± {self.strength[1]:.3f}")
        self._mark()
        return self.strength


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
) -> TDOutcome:
    """Learn until `settings.total` games of self-play have ended, or the minutes are over.

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

    Raises:
        SettingsError: the run in the folder cannot be read, or a number is out of range.
    """
    if evaluation_games < 4 or evaluation_games % 2:
        msg = f"evaluation_games is an even number of at least 4, not {evaluation_games}"
        raise SettingsError(msg)
    if threads < 1 or every <= 0 or (minutes is not None and not 0 < minutes < float("inf")):
        msg = "threads is a whole number of at least 1, every and minutes are numbers above 0"
        raise SettingsError(msg)
    learner = TDLearner.load(folder.run, threads=threads) if resume else TDLearner(settings, threads=threads)
    folder.make()
    learner.compile()
    session, ctrl_c = _Session(learner, folder, evaluation_games), FirstCtrlC(tqdm.write)
    bar = tqdm(total=learner.settings.total, initial=learner.games, unit="game", disable=not progress, smoothing=0.1)
    with ctrl_c, bar:
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
        strength = session.strength
        if strength is None or session.learnt_since:
            strength = session.evaluate(bar)
    return TDOutcome(folder.path, learner.games, learner.seconds, ctrl_c.asked, strength)
