"""TD(lambda) learning of a value net from self-play on whole plays, as in Tesauro's TD-Gammon, over a batch of games.

The net plays all games of a batch greedily, some turns at a time, in compiled code without the GIL. The positions of those
turns are then fitted to TD(lambda) targets: six outcome probabilities a position, by cross entropy and Muon. The net that is
saved and evaluated is the running average of the weights, which plays better than the weights of any single round.

The same settings and seed give the same learning curve, whatever the number of threads that play, and also if the run is
stopped and continued from its file.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, fields, replace
from itertools import pairwise
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.checks import checked_even
from bg_env.errors import SettingsError, needs
from bg_env.files import read_arrays, replacing
from bg_env.observations import encoder
from bg_env.players.pubeval import pubeval_table
from bg_env.players.valuenet.cube_inputs import encode_cube
from bg_env.players.valuenet.evaluate import Evaluator, plain
from bg_env.players.valuenet.features import tactics_of
from bg_env.players.valuenet.net import LAYOUTS, ValueNet
from bg_env.players.valuenet.search import new_search, write_probabilities
from bg_env.rules import STATE, Phase, Settings, episode_key
from bg_env.train.td.replay_buffer import ReplayBuffer
from bg_env.train.td.self_play import PAYOFFS, TERMINAL, Games, Trajectories, begin, play_pubeval, self_play
from bg_env.train.td.settings import TDSettings
from bg_env.train.td.targets import td_targets

try:
    import torch
except ImportError as _error:
    _msg = "learning needs torch"
    raise needs(_msg, "train") from _error

from bg_env.train.td.weights import first_weights, make_optimizers, one_thread, optimizer_of, outputs_of, weights_from

__all__ = ["TDLearner", "TDSettings"]

_DUEL_SEED: Final = 99
"""Seed of the evaluation games against pubeval."""
_RECORD: Final = ("rows", "odds", "seen", "kind", "exact")
"""Names of the arrays of a round of play in a saved run."""
_SLICES: Final = 4
"""Slices of the batch for each thread, so that no thread waits long for another."""

Floats = npt.NDArray[np.float32]


class TDLearner:
    """A run: the net, its games, and its progress.

    Args:
        settings: of a new run; None for the defaults.
        threads: that play.

    Attributes:
        settings: the settings of the run.
        rounds: rounds of play and fitting so far.
        seconds: seconds of these rounds.
        loss: loss of the last round: mean cross entropy in nats; for nets of kind "cube" and "match", mean squared error.

    Raises:
        SettingsError: the net to start from cannot be read.
    """

    def __init__(self, settings: TDSettings | None = None, *, threads: int = 1) -> None:
        self.settings = settings or TDSettings()
        self.threads = threads
        self.rounds = 0
        self.seconds = 0.0
        self.loss = float("nan")
        s = self.settings
        self._rules = s.played().record()
        _, self._tactics, self._extra, outputs = next(
            layout for layout in LAYOUTS.values() if layout[0] == s.kind and bool(layout[1]) == s.tactics
        )
        generator = torch.Generator().manual_seed(s.seed)
        first = first_weights((198 + self._tactics + self._extra, *s.widths, outputs), generator)
        self._weights = [
            w.requires_grad_() for w in (weights_from(first, ValueNet.load(s.start), s.tactics) if s.start else first)
        ]
        self._average = [w.detach().clone() for w in self._weights]
        self._optimizers = make_optimizers(self._weights, s)
        self._seeds = np.arange(s.batch, dtype=np.uint64) + np.uint64(s.seed * 1_000_003)
        self._episodes = np.zeros(s.batch, np.int64)
        self._states = np.zeros(s.batch, STATE)
        for i in range(s.batch):
            begin(self._states, i, self._rules, np.uint64(episode_key(self._seeds[i], np.uint64(0))))
        self._record, self._next = _arrays(s, outputs), _arrays(s, outputs)
        self._buffer = ReplayBuffer(outputs) if s.replay > 1 else None
        self._pool = ThreadPoolExecutor(threads)

    @property
    def games(self) -> int:
        """Games of self-play that have ended."""
        return int(self._episodes.sum())

    @property
    def done(self) -> float:
        """The share of the run that is finished, 0 to 1."""
        return min(1.0, self.games / self.settings.total)

    def net(self, *, averaged: bool = True) -> ValueNet:
        """The net as it is now, averaged over the last rounds or as the last round left it."""
        weights = self._average if averaged else self._weights
        about = {
            **asdict(self.settings),
            "start": Path(self.settings.start).name,
            "games": self.games,
            "rounds": self.rounds,
            "minutes": round(self.seconds / 60, 1),
        }
        return ValueNet(*(w.detach().numpy().copy() for w in weights), about=about)

    def round(self, share: float | None = None) -> None:
        """Play some turns of all games, and fit the net to the positions of the round before.

        Both happen at the same time; the games are played by the net as it was before.

        Args:
            share: the share of the run that is finished, which the learning rate follows; None: `done`.
        """
        start = time.perf_counter()
        done = self.done if share is None else min(share, 1.0)
        arrays = self.net(averaged=False).kernel_arrays(self._rules)
        for now, before in zip(self._next, self._record, strict=True):
            now[0] = before[-1]
        look = self.settings.targets == "rolls" and done >= self.settings.exact_from
        self._share_out(
            lambda lo, hi: self._play(lo, hi, arrays, look), self.settings.batch, meanwhile=lambda: self._learn(done)
        )
        self._record, self._next = self._next, self._record
        self.rounds += 1
        self.seconds += time.perf_counter() - start

    def _play(self, lo: int, hi: int, arrays: Any, look: bool) -> None:
        """Play the games from `lo` to `hi`; with `look`, compute exact targets: the mean over the 21 rolls to come."""
        games, kept = Games(self._states, self._seeds, self._episodes), Trajectories(*self._next[:4])
        search = new_search(arrays)
        self_play(games, lo, hi, Evaluator(arrays, self._rules, PAYOFFS), self.settings.explore, search, kept)
        rows, exact = self._next[0][:-1, lo:hi], self._next[4][:-1, lo:hi]
        exact[...] = np.nan
        if look:
            due = rows["phase"] == Phase.ROLL  # where nothing else is to be decided first
            states = rows[due]
            mean = np.empty((len(states), 6))
            net = tuple(arrays), self._rules, np.repeat(PAYOFFS, len(states), 0)
            write_probabilities(states, net, plain(search.inner), 1, mean)
            exact[due] = mean[:, : exact.shape[2]]

    def _learn(self, done: float) -> None:
        """Fit the net to the round of play before."""
        s = self.settings
        rows, outputs, seen, kind, exact = self._record
        targets, known = td_targets(outputs, seen, kind, s.lam, rows["cube"] if s.kind == "cube" else None, exact)
        at = np.flatnonzero(known.reshape(-1))
        if not len(at):
            return
        states, seats = rows[:-1].reshape(-1)[at], seen[:-1].reshape(-1)[at]
        wanted = targets.reshape(known.size, -1)[at]
        rng = np.random.default_rng([s.seed, self.rounds])
        if self._buffer is not None:
            self._buffer.add(states, seats, wanted)
            states, seats, wanted = self._buffer.sample(s.replay * len(seats), rng)
        inputs = encoder("tesauro198").encode(states, self._rules, seats=seats)
        if self._tactics:
            inputs = np.hstack([inputs, tactics_of(states, seats)])
        if self._extra:
            inputs = np.hstack([inputs, encode_cube(states, seats, self._rules, self._extra)])
        for optimizer in self._optimizers:
            for group in optimizer.param_groups:
                group["lr"] = (s.lr + (s.lr_end - s.lr) * done) * group["share"]
        with one_thread():
            self._fit(torch.from_numpy(inputs), torch.from_numpy(wanted), rng)
            self._keep_average()

    def compile(self) -> None:
        """Compile the kernels of self-play, before the clock runs."""
        self._play(0, 0, self.net().kernel_arrays(self._rules), self.settings.targets == "rolls")

    def _share_out(self, work: Callable[[int, int], None], n: int, meanwhile: Callable[[], None] | None = None) -> None:
        """Call `work(lo, hi)` on slices of n items in all threads; one of them calls `meanwhile` first."""
        cuts = np.linspace(0, n, min(n, _SLICES * self.threads) + 1).astype(int).tolist()
        slices: SimpleQueue[tuple[int, int]] = SimpleQueue()
        for part in pairwise(cuts):
            slices.put(part)

        def until_done() -> None:
            with suppress(Empty):
                while True:
                    work(*slices.get_nowait())

        others = [self._pool.submit(until_done) for _ in range(self.threads - 1)]
        try:
            if meanwhile is not None:
                meanwhile()
            until_done()
        finally:
            wait(others)  # no thread is still at work when an error is seen
        for other in others:
            other.result()

    def _fit(self, inputs: torch.Tensor, targets: torch.Tensor, rng: np.random.Generator) -> None:
        """Fit the net once to every row, in random order."""
        s = self.settings
        order = torch.from_numpy(rng.permutation(len(inputs)))
        total, n = 0.0, 0
        for first in range(0, len(order), s.minibatch):
            chosen = order[first : first + s.minibatch]
            output = outputs_of(self._weights, inputs[chosen])
            if s.kind == "odds":
                loss = -(targets[chosen] * torch.log_softmax(output, 1)).sum(1).mean()
            else:
                loss = torch.square(targets[chosen] - output).mean()
            for optimizer in self._optimizers:
                optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            for optimizer in self._optimizers:
                optimizer.step()
            total += loss.item()
            n += 1
        self.loss = total / max(n, 1)

    def _keep_average(self) -> None:
        """Update the running average, which follows quickly at first, while old weights are poor."""
        decay = min(self.settings.average, (1 + self.rounds) / (10 + self.rounds))
        with torch.no_grad():
            for kept, now in zip(self._average, self._weights, strict=True):
                kept.mul_(decay).add_(now, alpha=1 - decay)

    def against_pubeval(self, games: int) -> tuple[float, float]:
        """Points a game of the averaged net against pubeval over duplicate games, and half the 95 % interval.

        Args:
            games: an even number of games, at least 4, with the same dice at every call.

        Raises:
            SettingsError: it is another number.
        """
        checked_even("games", games, 4)
        settings = Settings(self.settings.variant, cube=False)
        rules = settings.record()
        arrays, points = self.net().kernel_arrays(rules), np.zeros(games, np.int32)
        table = pubeval_table(settings.variant.checkers)

        def part(lo: int, hi: int) -> None:
            evaluator = Evaluator(arrays, rules, PAYOFFS)
            play_pubeval(np.uint64(_DUEL_SEED), 2 * lo, 2 * hi, evaluator, new_search(arrays), table, points)

        self._share_out(part, games // 2)
        pairs = points.reshape(-1, 2).mean(1)
        return float(pairs.mean()), float(1.96 * pairs.std(ddof=1) / np.sqrt(len(pairs)))

    def save(self, path: str | Path) -> None:
        """Write everything needed to continue the run to an .npz file that loads without pickle."""
        with replacing(path) as file:
            self.dump(file)

    def dump(self, file: IO[bytes], **more: Any) -> None:
        """Write it to an open file, with `more` arrays by name that `load` does not read; see `save`."""
        arrays: dict[str, Any] = {"settings": np.array(str(_plain(asdict(self.settings))))}
        for name, weights in (("weight", self._weights), ("average", self._average)):
            arrays |= {f"{name}{k}": w.detach().numpy() for k, w in enumerate(weights)}
        for k, w in enumerate(self._weights):
            for optimizer in self._optimizers:
                for name, value in optimizer.state.get(w, {}).items():
                    arrays[f"optimizer{k}_{name}"] = value.numpy()
        for name, array in zip(_RECORD, self._record, strict=True):
            arrays[name] = array
        if self._buffer is not None:
            arrays |= self._buffer.content()
        arrays |= {"states": self._states, "episodes": self._episodes}
        arrays |= {"rounds": np.array(self.rounds), "seconds": np.array(self.seconds), "loss": np.array(self.loss)}
        np.savez(file, **arrays, **more)

    @classmethod
    def load(cls, path: str | Path, *, threads: int = 1) -> TDLearner:
        """Read a run that `save` wrote; it continues as if it had not stopped.

        Raises:
            SettingsError: the file is not a saved run, or it is damaged.
        """
        content = read_arrays(path, "file of a TD run")
        try:
            known = {item.name for item in fields(TDSettings)}
            given = ast.literal_eval(str(content["settings"]))
            if "optimizer" not in given:
                msg = "it was written by an older version, whose runs cannot be continued: start a new one from its net"
                raise ValueError(msg)
            settings = TDSettings(**{name: value for name, value in given.items() if name in known})
            learner = cls(replace(settings, start=""), threads=threads)  # the net that it started from may be gone
            learner.settings = settings
            learner._restore(content)
        except (AttributeError, ValueError, KeyError, RuntimeError, SyntaxError, TypeError) as error:
            msg = f"{path} is not a file of a TD run: {error}"
            raise SettingsError(msg) from error
        return learner

    def _restore(self, content: dict[str, Any]) -> None:
        with torch.no_grad():
            for k, (weight, average) in enumerate(zip(self._weights, self._average, strict=True)):
                weight.copy_(torch.from_numpy(content[f"weight{k}"]))
                average.copy_(torch.from_numpy(content[f"average{k}"]))
        for k, weight in enumerate(self._weights):
            state = {
                name.partition("_")[2]: torch.from_numpy(value)
                for name, value in content.items()
                if name.startswith(f"optimizer{k}_")
            }
            if state:
                optimizer_of(self._optimizers, weight).state[weight] = state
        for name, array in zip(_RECORD, self._record, strict=True):
            np.copyto(array, content[name])
        if self._buffer is not None:
            self._buffer.restore(content)
        self._states[...] = content["states"]
        self._episodes[...] = content["episodes"]
        self.rounds = int(content["rounds"])
        self.seconds = float(content["seconds"])
        self.loss = float(content.get("loss", np.nan))  # version 0.1 did not save it


def _arrays(settings: TDSettings, outputs: int) -> tuple[npt.NDArray[Any], ...]:
    """Arrays for `self_play` to record in, and for exact targets, without anything to learn from yet."""
    shape = settings.turns + 1, settings.batch
    recorded = np.zeros((*shape, outputs), np.float32)
    exact = np.full_like(recorded, np.nan)
    return np.zeros(shape, STATE), recorded, np.zeros(shape, np.int8), np.full(shape, TERMINAL, np.int8), exact


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
