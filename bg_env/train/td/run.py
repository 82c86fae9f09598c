"""A run of the TD learner into a folder: progress bar, curve, strength against pubeval, stop and resume.

The folder gets `net.npz` (the averaged net, for the player `greedy:FILE`), `run.npz` (everything needed to go on),
`curve.csv` (a line for each measurement) and, where TensorBoard's writer is installed, its event files.
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
from bg_env.train.td.learner import TDLearner, TDSettings

__all__ = ["TDFolder", "TDOutcome", "train_td"]

_HEAD: Final = ("games", "seconds", "games_per_second", "loss", "pubeval", "half_interval")


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
        """Everything needed to go on."""
        return self.path / "run.npz"


@dataclass(frozen=True)
class TDOutcome:
    """What a run came to.

    Attributes:
        folder: where its files are.
        games: of self-play, over all sessions.
        seconds: of learning, over all sessions.
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
                csv.writer(file, lineterminator="\n").writerow(_HEAD)
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


def train_td(
    folder: TDFolder,
    settings: TDSettings,
    *,
    minutes: float | None = None,
    threads: int = 2,
    resume: bool = False,
    every: float = 60.0,
    duel: int = 1000,
    progress: bool = True,
) -> TDOutcome:
    """Learn until `settings.total` games of self-play have ended, or the minutes are over.

    Args:
        folder: where to write; `resume` goes on with the run in it, whose settings count then.
        settings: what the run is made of.
        minutes: of learning, over all sessions; the learning rate then falls with the time, and the curve depends on the
            clock. None: with the games alone.
        threads: that play.
        resume: see `folder`.
        every: seconds between two measurements against pubeval.
        duel: games of a measurement, even.
        progress: whether to show a progress bar.

    Raises:
        SettingsError: the run in the folder cannot be read, or a number is out of range.
    """
    if duel < 4 or duel % 2 or threads < 1 or every <= 0 or (minutes is not None and not 0 < minutes < float("inf")):
        msg = "duel is an even number of at least 4, threads a whole number of at least 1, every and minutes above 0"
        raise SettingsError(msg)
    learner = TDLearner.load(folder.run, threads=threads) if resume else TDLearner(settings, threads=threads)
    folder.make()
    learner.compile()
    log, stop = _Log(folder), FirstCtrlC(tqdm.write)
    measured: tuple[float, float] | None = None
    bar = tqdm(total=learner.settings.total, initial=learner.games, unit="game", disable=not progress, smoothing=0.1)
    games, seconds, last = learner.games, learner.seconds, time.monotonic()

    def measure() -> tuple[float, float]:
        nonlocal games, seconds, last
        strength = learner.against_pubeval(duel)
        rate = (learner.games - games) / max(learner.seconds - seconds, 1e-9)
        log.write(learner, rate, strength)
        folder.write(folder.net, learner.net().dump)
        folder.write(folder.run, learner.dump)
        bar.set_postfix_str(f"loss {learner.loss:.3f}, pubeval {strength[0]:+.3f} ± {strength[1]:.3f}")
        games, seconds, last = learner.games, learner.seconds, time.monotonic()
        return strength

    with stop, bar:
        while not stop.asked:
            share = learner.games / learner.settings.total
            if minutes is not None:
                share = max(share, learner.seconds / (60 * minutes))
            if share >= 1:
                break
            learner.round(share if minutes is not None else None)
            bar.update(learner.games - bar.n)
            if time.monotonic() - last > every:
                measured = measure()
        if measured is None or learner.seconds > seconds:
            measured = measure()
    return TDOutcome(folder.path, learner.games, learner.seconds, stop.asked, measured)
