"""MaskablePPO of sb3-contrib, trained over the native batch against an opponent, and measured in fresh games.

With the same seed, versions, number of threads and machine a run goes through the same games and the same updates: its model
after so many steps is the same, also if it was stopped and resumed on the way. How many steps there are is fixed by
`steps`; `minutes` stops at whatever the clock allows. Between machines, or other numbers of threads, sums are rounded
otherwise, and the runs drift apart.
"""

from __future__ import annotations

import platform
import sys
import time
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import gymnasium
import numpy as np
from tqdm import tqdm

import bg_env
from bg_env import arena
from bg_env.errors import MissingDependencyError, SettingsError
from bg_env.train.interrupt import FirstCtrlC
from bg_env.train.ppo.curve import Row, draw_curve, read_curve, write_curve
from bg_env.train.ppo.evaluate import FRESH, evaluate, score_table
from bg_env.train.ppo.options import SELF, PpoOptions, settings_of
from bg_env.train.run_folder import RunFolder

try:
    import matplotlib as mpl  # to know at once, and not after the training, that it is there
    import sb3_contrib
    import stable_baselines3
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.logger import Logger
    from stable_baselines3.common.vec_env import VecEnvWrapper

    from bg_env.adapters.sb3 import Sb3VecEnv, make_sb3
    from bg_env.train.ppo.opponent_pool import EVERY, PastSelves, actor_of
except ImportError as error:
    msg = 'training needs PyTorch, sb3-contrib and matplotlib: pip install "bg_env[train]"'
    raise MissingDependencyError(msg) from error

__all__ = ["FRESH", "Outcome", "evaluate", "make_model", "score_table", "train"]

ROLLOUT: Final = 64
"""Steps of each game between two updates."""
HIGHEST: Final = 3
"""Rewards in points are divided by it: a backgammon without cube is 1."""
_HOW: Final[dict[str, Any]] = {"batch": 2048, "n_epochs": 4, "learning_rate": 6e-4, "ent_coef": 0.01, "gae_lambda": 0.95}
"""Against a player that stays as it is."""
_HOW_SELF: Final[dict[str, Any]] = {"batch": 512, "n_epochs": 2, "learning_rate": 5e-4, "ent_coef": 0.01, "gae_lambda": 0.8}
"""In self-play."""
_KEEP_SECONDS: Final = 30
"""So often the run is written while it goes on."""
_NEVER: Final = 10**9


@dataclass(frozen=True)
class Outcome:
    """What a run came to.

    Attributes:
        folder: where its files are.
        steps: decisions of the learner, over all sessions.
        seconds: of training, over all sessions.
        interrupted: whether Ctrl-C ended it; then nothing was measured.
        scores: the fresh games of the "untrained" and the "trained" net, unless there were none.
    """

    folder: Path
    steps: int
    seconds: float
    interrupted: bool
    scores: dict[str, arena.Result] = field(default_factory=dict)


class _Thirds(VecEnvWrapper):
    """Rewards divided by HIGHEST; infos keep points."""

    def reset(self) -> Any:
        return self.venv.reset()

    def step_wait(self) -> tuple[Any, Any, Any, Any]:
        observation, rewards, dones, infos = self.venv.step_wait()
        return observation, rewards / HIGHEST, dones, infos


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


def make_model(options: PpoOptions, num_envs: int | None = None) -> MaskablePPO:
    """A fresh net over a batch of games, with the settings that `train` uses: that of the same seed is always the same."""
    env = _environment(options, num_envs or options.num_envs)
    rows = ROLLOUT * env.num_envs
    how = dict(_HOW_SELF if options.opponent == SELF else _HOW)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="You have specified a mini-batch size")  # a smaller last one does no harm
        return MaskablePPO(
            "MlpPolicy",
            env,
            n_steps=ROLLOUT,
            batch_size=min(how.pop("batch"), rows),
            gamma=1.0,
            policy_kwargs={"net_arch": [128, 128], "activation_fn": torch.nn.ReLU},
            seed=options.seed,
            device="cpu",
            **how,
        )


def _environment(options: PpoOptions, num_envs: int) -> _Thirds | Sb3VecEnv:
    """The batch to learn in; game i of it has the seed `options.seed + i`. For self-play its opponent is to be set."""
    match = settings_of(options.id).match_length > 0
    env = make_sb3(
        options.id,
        num_envs,
        seed=options.seed,
        opponent="random" if options.opponent == SELF else options.opponent,
        reward="match" if match else "points",
        num_threads=options.threads,
    )
    return env if match else _Thirds(env)


def _warm_up(options: PpoOptions, pool: PastSelves | None) -> None:
    """Have the kernels compiled, if they are not yet, before the clock runs."""
    env = _environment(options, 1)
    batch = _batch(env)
    if pool is not None:
        pool.draw(0)
        batch.env.set_opponent(pool)
    env.reset()
    for _ in range(1 if pool is None else 8):  # within eight steps the pool is asked
        env.step(np.flatnonzero(batch.action_masks()[0])[:1])
    env.close()


def _batch(env: Any) -> Sb3VecEnv:
    batch: Sb3VecEnv = env.unwrapped
    return batch


class _Run:
    """A training in a folder: what it has learnt, its curve, and how it is kept."""

    def __init__(self, options: PpoOptions, folder: RunFolder, *, resume: bool) -> None:
        self.options = options
        self.folder = folder
        self.notes: dict[str, Any] = {}
        self.rows: list[Row] = []
        self.seconds = 0.0
        if resume:
            try:
                self._resume()
                self.pool = self._make_pool(resume=True)
            except SettingsError:
                raise
            except (AttributeError, EOFError, IndexError, KeyError, RuntimeError, TypeError, ValueError, BadZipFile) as error:
                msg = f"the run in {folder.path} cannot be resumed, a file of it is damaged: {type(error).__name__}: {error}"
                raise SettingsError(msg) from error
        else:
            self.model = make_model(options)
            self.pool = self._make_pool(resume=False)
        _warm_up(options, self.pool)
        self.model.set_logger(Logger(folder=None, output_formats=[]))
        self.count = _Count()

    def _resume(self) -> None:
        self.notes = self.folder.read_notes()
        self.seconds = float(self.notes.get("seconds", 0.0))
        if self.folder.curve.is_file():
            self.rows = read_curve(self.folder.curve)
        env = _environment(self.options, self.options.num_envs)
        self.model = MaskablePPO.load(self.folder.model, env=env, device="cpu")
        env.seed(self.options.seed + self.model.num_timesteps)  # other games, should those in progress be lost
        if self.folder.games.is_file():
            self._restore_games(env)

    def _make_pool(self, *, resume: bool) -> PastSelves | None:
        """In self-play the past selves, of which there is at least one, as the opponent in all games."""
        options, model = self.options, self.model
        if options.opponent != SELF:
            return None
        observation = gymnasium.spec(options.id).kwargs.get("observation", "tesauro")
        pool = PastSelves(actor_of(model.policy), settings_of(options.id), observation, seed=options.seed)
        if resume and self.folder.pool.is_file():
            with self.folder.pool.open("rb") as file:
                pool.restore(file, until=model.num_timesteps)
        if not pool.steps:
            pool.add(actor_of(model.policy), model.num_timesteps)
        _batch(model.env).env.set_opponent(pool)
        return pool

    def _restore_games(self, env: _Thirds | Sb3VecEnv) -> None:
        """Go on with the games in progress and the random numbers, if they belong to this model."""
        with np.load(self.folder.games) as kept:
            saved = {name: kept[name] for name in kept.files}
        if int(saved["steps"]) != self.model.num_timesteps:
            return
        batch = _batch(env)
        games = {name: saved[name] for name in ("plan", "states", "slots", "dice") if name in saved}
        observation, infos = batch.env.restore({"settings": str(saved["settings"]), **games})
        batch._keep_masks(observation, infos)
        self.model._last_obs = observation
        self.model._last_episode_starts = saved["starts"]
        torch.set_rng_state(torch.from_numpy(saved["torch"]))
        np.random.set_state(("MT19937", saved["numpy"], int(saved["numpy_at"]), 0, 0.0))  # noqa: NPY002 - SB3's own

    def rollout(self) -> Row:
        """Play and learn once."""
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
            measured=self._measured() if (number + 1) % self.options.measure_every == 0 else (),
        )
        self.rows.append(row)
        return row

    def _measured(self) -> tuple[tuple[str, arena.Estimate], ...]:
        """How the net does now against the players that measure it; its time is not that of the training."""
        results = {who: evaluate(self.model, self.options, "learner", against=who) for who in self.options.measure}
        if not all(result.complete for result in results.values()):
            raise KeyboardInterrupt  # the second Ctrl-C, which ends the games early
        return tuple((who, result.points) for who, result in results.items())

    def keep(self, scores: dict[str, arena.Result] | None = None) -> None:
        """Write everything that the folder holds."""
        model, options = self.model, self.options
        numpy_state = np.random.get_state(legacy=False)  # noqa: NPY002 - SB3's own
        arrays = {
            **_batch(model.env).env.save(),
            "steps": np.int64(model.num_timesteps),
            "starts": model._last_episode_starts,
            "torch": torch.get_rng_state().numpy(),
            "numpy": numpy_state["state"]["key"],
            "numpy_at": np.int64(numpy_state["state"]["pos"]),
        }
        if self.pool is not None:
            self.folder.write(self.folder.pool, self.pool.dump)
        self.folder.write(self.folder.model, lambda file: model.save(file, exclude=["_last_obs", "_last_episode_starts"]))
        self.folder.write(self.folder.games, lambda file: np.savez(file, **arrays))
        self.folder.write(self.folder.curve, lambda file: write_curve(file, self.rows))
        self.notes |= {
            "options": asdict(options),
            "steps": model.num_timesteps,
            "seconds": round(self.seconds, 3),
            "versions": _versions(),
        }
        self.notes.pop("scores", None)
        if scores:
            self.notes["scores"] = {name: result.to_dict() for name, result in scores.items()}
        self.folder.write_notes(self.notes)

    def draw(self, scores: dict[str, arena.Result]) -> None:
        """Draw the curve."""
        marks = {name: (result.points, result.sides[0].wins) for name, result in scores.items()}
        against = "past selves" if self.pool is not None else self.options.opponent
        title = f"MaskablePPO on {self.options.id} against {against}"
        match = settings_of(self.options.id).match_length > 0
        unit = "matches won - lost" if match else "points a game"
        before, after = marks.get("untrained"), marks.get("trained")
        judge = self.options.judge if self.pool is not None else ""
        self.folder.write(
            self.folder.picture,
            lambda file: draw_curve(file, self.rows, title, unit=unit, before=before, after=after, judge=judge),
        )


def train(
    options: PpoOptions,
    folder: RunFolder,
    *,
    resume: bool = False,
    progress: bool = True,
) -> Outcome:
    """Train MaskablePPO, keep model and learning curve in a folder, and measure the net against its untrained self.

    Ctrl-C ends the training after the rollout at hand; everything is kept. A run can be resumed at any later time.

    Args:
        options: what to train.
        folder: where to.
        resume: whether to go on with the run in the folder.
        progress: whether to show progress bars (on stderr).
    """
    threads_before = torch.get_num_threads()
    torch.set_num_threads(options.threads)
    try:
        run = _Run(options, folder, resume=resume)
        folder.make()  # from here on there is a run to put in the place of another
        interrupted = _learn(run, progress)
        scores = {} if interrupted or not options.games else _measure(run, progress)
        run.keep(scores)
        run.draw(scores)
    finally:
        torch.set_num_threads(threads_before)
    return Outcome(folder.path, run.model.num_timesteps, run.seconds, interrupted or not (scores or not options.games), scores)


def _bar(progress: bool) -> dict[str, Any]:
    """How a progress bar behaves: in a log, where each state of it is a new line, it speaks seldom."""
    return {"disable": not progress, "mininterval": 0.2 if sys.stderr.isatty() else 15.0, "dynamic_ncols": True}


def _learn(run: _Run, progress: bool) -> bool:
    """Rollouts until the time or the steps are up; whether Ctrl-C ended them."""
    options = run.options
    seconds, steps = 60 * (options.minutes or float("inf")), options.steps or float("inf")
    first_seconds, first_steps, kept = run.seconds, run.model.num_timesteps, time.monotonic()
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
            told = {"steps": f"{row.steps:,}"}
            if row.games and run.pool is None:
                told |= {"won": f"{row.wins / row.games:.0%}", "points": f"{row.points / row.games:+.2f}"}
            strength |= {f"v {who}": f"{points.value:+.2f}" for who, points in row.measured}
            bar.set_postfix(told | strength, refresh=False)
            done = run.seconds - first_seconds if by_time else row.steps - first_steps
            bar.update(min(done, bar.total or done) - bar.n)
            if time.monotonic() - kept > _KEEP_SECONDS:
                run.keep()
                kept = time.monotonic()
        if ctrl_c.asked or options.games:
            run.keep()
        return ctrl_c.asked


def _measure(run: _Run, progress: bool) -> dict[str, arena.Result]:
    """The untrained and the trained net in the same fresh games; nothing, if Ctrl-C came."""
    options, scores = run.options, {}
    state = torch.get_rng_state(), np.random.get_state()  # noqa: NPY002 - SB3's own
    with tqdm(total=2 * options.games, desc="measuring", unit="game", **_bar(progress)) as bar:
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
