"""Training of MaskablePPO (sb3-contrib) over the native batch, against an opponent or by self-play, with evaluation games.

With the same seed, versions, number of threads and machine, a run plays the same games and makes the same updates: after the
same number of steps its model is the same, also if it was stopped and resumed. `steps` fixes that number; `minutes` stops
where the clock allows. On other machines, or with other numbers of threads, sums are rounded differently and runs diverge.
"""

from __future__ import annotations

import io
import platform
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import gymnasium
import numpy as np
from tqdm import tqdm

import bg_env
from bg_env import arena
from bg_env._renamed import old_names
from bg_env.errors import SettingsError, needs
from bg_env.train.events import Events, writer_class
from bg_env.train.interrupt import FirstCtrlC
from bg_env.train.ppo.curve import Row, draw_curve, parsed_curve, write_curve
from bg_env.train.ppo.evaluate import evaluate, score_table
from bg_env.train.ppo.options import SELF, PpoOptions, settings_of
from bg_env.train.run_folder import RunFolder, notes_text, parsed_notes

try:
    import matplotlib as mpl  # imported now, so that its absence is found before the training and not after it
    import sb3_contrib
    import stable_baselines3
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.logger import Logger

    from bg_env.train.ppo.checkpoint import read_checkpoint, restored_model, write_checkpoint, written
    from bg_env.train.ppo.model import ROLLOUT, batch_of, make_model, warm_up
    from bg_env.train.ppo.opponent_pool import EVERY, OpponentPool, actor_of
except ImportError as error:
    msg = "training needs PyTorch, sb3-contrib and matplotlib"
    raise needs(msg, "train") from error

__all__ = ["Outcome", "evaluate", "make_model", "score_table", "train"]

_SAVE_SECONDS: Final = 30
"""Seconds between two saves of a run in progress."""
_NEVER: Final = 10**9
_DAMAGED: Final = (AssertionError, AttributeError, EOFError, IndexError, KeyError, RuntimeError, TypeError, ValueError)
"""Errors of libraries that read a damaged file."""

__getattr__ = old_names(__name__, FRESH="bg_env.train.ppo.evaluate:EVALUATION")


@dataclass(frozen=True)
class Outcome:
    """The result of a run.

    Attributes:
        folder: where its files are.
        steps: decisions of the learner, over all sessions.
        seconds: seconds of training, over all sessions.
        interrupted: whether Ctrl-C or SIGTERM ended it; there were no evaluation games then.
        scores: evaluation games of the "untrained" and the "trained" net; empty if there were none.
    """

    folder: Path
    steps: int
    seconds: float
    interrupted: bool
    scores: dict[str, arena.Result] = field(default_factory=dict)


class _Count(BaseCallback):
    """Counts the episodes that end in a rollout."""

    def __init__(self) -> None:
        super().__init__()
        self.games = self.wins = 0
        self.points = 0.0

    def _on_rollout_start(self) -> None:
        self.games = self.wins = 0
        self.points = 0.0

    def _on_step(self) -> bool:
        for i in np.flatnonzero(self.locals["dones"]):
            won = self.locals["infos"][i]["episode"]["r"]
            self.games += 1
            self.wins += won > 0
            self.points += won
        return True


class _Run:
    """A training run in a folder: its model, its opponent pool, its curve, and how they are saved."""

    def __init__(self, options: PpoOptions, folder: RunFolder, events: Events, *, resume: bool) -> None:
        self.options = options
        self.folder = folder
        self.notes: dict[str, Any] = {}
        self.rows: list[Row] = []
        self.parts: dict[str, bytes] = {}
        self.events = events
        self.seconds = 0.0
        if resume:
            try:
                self._resume()
                self.pool = self._make_pool()
            except SettingsError:
                raise
            except _DAMAGED as error:
                msg = (
                    f"the run in {folder.path} cannot be resumed, one of its files is damaged: {type(error).__name__}: {error}"
                )
                raise SettingsError(msg) from error
        else:
            self.model: MaskablePPO = make_model(options)
            self.pool = self._make_pool()
        warm_up(options, self.pool)
        self.model.set_logger(Logger(folder=None, output_formats=[]))
        self.count = _Count()

    def _resume(self) -> None:
        """Continue the run in the folder."""
        arrays, self.parts = read_checkpoint(self.folder)
        self.notes = parsed_notes(self.parts["run.json"], self.folder.notes)
        self.seconds = float(self.notes.get("seconds", 0.0))
        self.model = restored_model(self.options, self.parts["model.zip"], self.folder.model)
        if "curve.csv" in self.parts:
            rows = parsed_curve(self.parts["curve.csv"], self.folder.curve)
            self.rows = [row for row in rows if row.steps <= self.model.num_timesteps]
        env: Any = self.model.env
        env.seed(self.options.seed + self.model.num_timesteps)  # other games, should those in progress be lost
        if arrays:
            self._restore_games(arrays)

    def _make_pool(self) -> OpponentPool | None:
        """In self-play the opponent pool, with at least one snapshot, as the opponent in all games."""
        options, model = self.options, self.model
        if options.opponent != SELF:
            return None
        observation = gymnasium.spec(options.id).kwargs.get("observation", "tesauro")
        pool = OpponentPool(actor_of(model.policy), settings_of(options.id), observation, seed=options.seed)
        if "pool.npz" in self.parts:
            pool.restore(io.BytesIO(self.parts["pool.npz"]), until=model.num_timesteps)
        if not pool.steps:
            pool.add(actor_of(model.policy), model.num_timesteps)
        batch_of(model.env).env.set_opponent(pool)
        return pool

    def _restore_games(self, saved: dict[str, Any]) -> None:
        """Continue the games in progress and the random numbers, if they belong to this model."""
        if int(saved["steps"]) != self.model.num_timesteps:  # a run of version 0.1 that was killed between two files
            return
        games: dict[str, Any] = {name: saved[name] for name in ("plan", "states", "slots", "dice") if name in saved}
        self.model._last_obs = batch_of(self.model.env).restore({"settings": str(saved["settings"]), **games})
        self.model._last_episode_starts = saved["starts"]
        torch.set_rng_state(torch.from_numpy(saved["torch"]))
        np.random.set_state(("MT19937", saved["numpy"], int(saved["numpy_at"]), 0, 0.0))  # noqa: NPY002 - SB3's own

    def rollout(self) -> Row:
        """One rollout and the updates that it leads to."""
        began = time.perf_counter()
        steps = ROLLOUT * self.options.num_envs
        number = self.model.num_timesteps // steps
        if self.pool is not None:
            if number % EVERY == 0 and self.pool.steps[-1] < self.model.num_timesteps:
                self.pool.add(actor_of(self.model.policy), self.model.num_timesteps)
            self.pool.draw(number)
        self.model.learn(steps, callback=self.count, reset_num_timesteps=False, log_interval=_NEVER)
        self.seconds += time.perf_counter() - began
        logged = self.model.logger.name_to_value
        row = Row(
            steps=self.model.num_timesteps,
            seconds=self.seconds,
            games=self.count.games,
            wins=self.count.wins,
            points=self.count.points,
            entropy=-float(logged["train/entropy_loss"]),
            kl=float(logged["train/approx_kl"]),
            explained=float(logged["train/explained_variance"]),
            evaluated=self._evaluated() if (number + 1) % self.options.evaluate_every == 0 else (),
        )
        self.rows.append(row)
        return row

    def _evaluated(self) -> tuple[tuple[str, arena.Estimate], ...]:
        """Points of the net against each player of `options.evaluate`; the time for it is not counted as training."""
        results = {who: evaluate(self.model, self.options, "learner", against=who) for who in self.options.evaluate}
        if not all(result.complete for result in results.values()):
            raise KeyboardInterrupt  # the second Ctrl-C, which ends the games early
        return tuple((who, result.points) for who, result in results.items())

    def save(self, scores: dict[str, arena.Result] | None = None) -> None:
        """Write everything that the folder holds."""
        model, options = self.model, self.options
        numpy_state = np.random.get_state(legacy=False)  # noqa: NPY002 - SB3's own
        arrays: dict[str, Any] = {
            **batch_of(model.env).env.save(),
            "steps": np.int64(model.num_timesteps),
            "starts": model._last_episode_starts,
            "torch": torch.get_rng_state().numpy(),
            "numpy": numpy_state["state"]["key"],
            "numpy_at": np.int64(numpy_state["state"]["pos"]),
        }
        self.notes |= {
            "options": asdict(options),
            "steps": model.num_timesteps,
            "seconds": round(self.seconds, 3),
            "versions": _versions(),
        }
        self.notes.pop("scores", None)
        if scores:
            self.notes["scores"] = {name: result.to_dict() for name, result in scores.items()}
        if self.pool is not None:
            self.parts["pool.npz"] = written(self.pool.dump)
        self.parts["model.zip"] = written(lambda file: model.save(file, exclude=["_last_obs", "_last_episode_starts"]))
        self.parts["curve.csv"] = written(lambda file: write_curve(file, self.rows))
        self.parts["run.json"] = notes_text(self.notes)
        self.folder.save(lambda file: write_checkpoint(file, arrays, self.parts), self.parts)
        self.events.write(map(_point, self.rows))

    def draw(self, scores: dict[str, arena.Result]) -> None:
        """Draw the curve."""
        marks = {name: (result.points, result.sides[0].wins) for name, result in scores.items()}
        against = "an opponent pool" if self.pool is not None else self.options.opponent
        title = f"MaskablePPO on {self.options.id} against {against}"
        match = settings_of(self.options.id).match_length > 0
        unit = "matches won - lost" if match else "points a game"
        before, after = marks.get("untrained"), marks.get("trained")
        met = self.options.evaluated_against if self.pool is not None else ""
        self.folder.write(
            self.folder.picture,
            lambda file: draw_curve(file, self.rows, title, unit=unit, before=before, after=after, against=met),
        )


def train(
    options: PpoOptions,
    folder: RunFolder,
    *,
    resume: bool = False,
    progress: bool = True,
    tensorboard: bool | None = None,
) -> Outcome:
    """Train MaskablePPO, save model and learning curve in a folder, and evaluate the untrained and the trained net.

    Ctrl-C or SIGTERM ends the training after the current rollout; everything is saved. A run can be resumed at any later time,
    also one that was killed.

    Args:
        options: what to train.
        folder: where to write.
        resume: whether to continue the run in the folder.
        progress: whether to show progress bars (on stderr).
        tensorboard: whether to write event files for TensorBoard; None: where it is installed.

    Raises:
        SettingsError: the run in the folder cannot be resumed.
        MissingDependencyError: `tensorboard` is True, and it is not installed.
    """
    events = Events(folder.path, writer_class(tensorboard))
    threads_before = torch.get_num_threads()
    torch.set_num_threads(options.threads)
    try:
        with events:
            run = _Run(options, folder, events, resume=resume)
            folder.start()
            if resume:
                folder.write_copies(run.parts)
            interrupted = _learn(run, progress)
            scores = {} if interrupted or not options.games else _evaluate(run, progress)
            run.save(scores)
        run.draw(scores)
    finally:
        torch.set_num_threads(threads_before)
    return Outcome(folder.path, run.model.num_timesteps, run.seconds, interrupted or not (scores or not options.games), scores)


def _point(row: Row) -> tuple[int, dict[str, float]]:
    """A row as TensorBoard shows it."""
    found = {"train/entropy": row.entropy, "train/kl": row.kl, "train/explained": row.explained}
    if row.games:
        found |= {"rollout/points": row.points / row.games, "rollout/wins": row.wins / row.games}
    return row.steps, found | {f"points_a_game/{who}": points.value for who, points in row.evaluated}


def _bar(progress: bool) -> dict[str, Any]:
    """Options of a progress bar; in a log, where each update is a new line, it is updated rarely."""
    return {"disable": not progress, "mininterval": 0.2 if sys.stderr.isatty() else 15.0, "dynamic_ncols": True}


def _learn(run: _Run, progress: bool) -> bool:
    """Rollouts until the time or the steps are used up; whether Ctrl-C ended them."""
    options = run.options
    seconds, steps = 60 * (options.minutes or float("inf")), options.steps or float("inf")
    first_seconds, first_steps, saved = run.seconds, run.model.num_timesteps, time.monotonic()
    strength: dict[str, str] = {}
    by_time = options.minutes is not None
    with (
        tqdm(
            total=round(seconds) if by_time else steps,
            desc="training",
            unit="s" if by_time else "step",
            bar_format="{l_bar}{bar}| {n:.0f}/{total:.0f} {unit}{postfix}" if by_time else None,
            **_bar(progress),
        ) as bar,
        FirstCtrlC(bar.write) as ctrl_c,
    ):
        while run.seconds - first_seconds < seconds and run.model.num_timesteps - first_steps < steps and not ctrl_c.asked:
            row = run.rollout()
            shown = {"steps": f"{row.steps:,}"}
            if row.games and run.pool is None:
                shown |= {"won": f"{row.wins / row.games:.0%}", "points": f"{row.points / row.games:+.2f}"}
            strength |= {f"v {who}": f"{points.value:+.2f}" for who, points in row.evaluated}
            bar.set_postfix(shown | strength, refresh=False)
            done = run.seconds - first_seconds if by_time else row.steps - first_steps
            bar.update(min(done, bar.total or done) - bar.n)
            if time.monotonic() - saved > _SAVE_SECONDS:
                run.save()
                saved = time.monotonic()
        if ctrl_c.asked or options.games:
            run.save()
        return ctrl_c.asked


def _evaluate(run: _Run, progress: bool) -> dict[str, arena.Result]:
    """The untrained and the trained net in the same evaluation games; nothing after Ctrl-C."""
    options, scores = run.options, {}
    state = torch.get_rng_state(), np.random.get_state()  # noqa: NPY002 - SB3's own
    with tqdm(total=2 * options.games, desc="evaluating", unit="game", **_bar(progress)) as bar:
        for name, model in (("untrained", make_model(options, 1)), ("trained", run.model)):
            scores[name] = evaluate(model, options, name, bar.update)
            if not scores[name].complete:
                return {}
    torch.set_rng_state(state[0])
    np.random.set_state(state[1])  # noqa: NPY002 - SB3's own
    return scores


def _versions() -> dict[str, str]:
    modules = (bg_env, np, torch, stable_baselines3, sb3_contrib, mpl)
    return {"python": platform.python_version(), **{module.__name__: str(module.__version__) for module in modules}}
