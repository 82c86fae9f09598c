"""Learning by temporal differences from self-play on whole plays (Tesauro's TD-Gammon, in batches).

All games of a batch are played greedily by the net as it is, some turns at a time, in compiled code without the GIL. The
positions met are then fitted to what followed them: TD(lambda) targets over those turns, six outcome probabilities a
position, cross entropy, Adam. What is kept and measured is the running average of the weights, which plays better than any
single one of them.

The same settings and seed give the same curve, whatever the number of threads that play; one that was stopped and goes on
from its file gives the same as one that was not.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.errors import MissingDependencyError, SettingsError
from bg_env.observations import encoder
from bg_env.players.net import FLIP, VALUES, ValueNet, net_scratch
from bg_env.players.pubeval import pubeval_table
from bg_env.players.selfplay import BROKEN, TERMINAL, duel, self_play
from bg_env.rules import STATE, Settings, episode_key, new_episode

try:
    import torch
except ImportError as _error:
    _msg = 'learning needs torch: pip install "bg_env[train]"'
    raise MissingDependencyError(_msg) from _error

__all__ = ["TDLearner", "TDSettings", "td_targets"]

_TURNS: Final = 400
"""Turns after which a game of self-play is cut off; only the first nets play so long."""
_DUEL_SEED: Final = 99

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class TDSettings:
    """What a run is made of.

    Attributes:
        total: games of self-play after which the learning rate has fallen to `lr_end`, and learning ends.
        hidden: units of the two hidden layers.
        batch: games played side by side.
        turns: turns of each game between two rounds of fitting.
        minibatch: positions an update.
        lr, lr_end: learning rate at the start and at the end; it falls linearly.
        lam: lambda at the start; it falls linearly to 0 over the first `lam_share` of the games.
        lam_share: see `lam`.
        average: decay of the running average of the weights, a round.
        seed: of weights, dice and order of updates.
        variant: what is played; without a cube.
    """

    total: int = 2_000_000
    hidden: tuple[int, int] = (256, 96)
    batch: int = 384
    turns: int = 8
    minibatch: int = 384
    lr: float = 1e-3
    lr_end: float = 5e-6
    lam: float = 0.7
    lam_share: float = 0.3
    average: float = 0.998
    seed: int = 0
    variant: str = "backgammon"

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(int(n) for n in self.hidden))
        whole = {"total": self.total, "batch": self.batch, "turns": self.turns, "minibatch": self.minibatch}
        whole |= {"hidden": min(self.hidden, default=0)}
        for name, value in whole.items():
            if isinstance(value, bool) or int(value) != value or value < 1:
                msg = f"{name} is a whole number of at least 1, not {value!r}"
                raise SettingsError(msg)
        if isinstance(self.seed, bool) or int(self.seed) != self.seed or not 0 <= self.seed < 2**32:
            msg = f"seed is a whole number from 0 to 2**32 - 1, not {self.seed!r}"
            raise SettingsError(msg)
        if len(self.hidden) != 2:
            msg = f"hidden is the number of units of two layers, not {self.hidden}"
            raise SettingsError(msg)
        for name, low, high in (("lr", 0, 1), ("lr_end", 0, 1), ("lam", 0, 1), ("lam_share", 0, 1), ("average", 0, 1)):
            if not low <= getattr(self, name) <= high:
                msg = f"{name} is a number from {low} to {high}, not {getattr(self, name)!r}"
                raise SettingsError(msg)


def td_targets(odds: Floats, seen: Any, kind: Any, lam: float) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """TD(lambda) targets within a stretch of turns.

    Args:
        odds: float32 (turns + 1, games, 6): probabilities of each position, at the end of a game its outcome, as player
            `seen` sees them.
        seen: int8 (turns + 1, games): that player.
        kind: int8 (turns + 1, games): GOES_ON, TERMINAL or BROKEN (see `selfplay`).
        lam: lambda, 0 to 1.

    Returns:
        The targets of all rows but the last, (turns, games, 6), and which of them are any: a finished game has no successor.
    """
    turns = len(odds) - 1
    targets = np.zeros((turns, *odds.shape[1:]), np.float32)
    known = np.zeros((turns, odds.shape[1]), bool)
    ahead = odds[turns]
    for t in range(turns - 1, -1, -1):
        target = np.float32(lam) * ahead + np.float32(1 - lam) * odds[t + 1]
        ended = kind[t + 1] == TERMINAL
        target[ended] = odds[t + 1][ended]
        turned = seen[t] != seen[t + 1]
        target[turned] = target[turned][:, FLIP]
        known[t] = (kind[t] != TERMINAL) & (kind[t + 1] != BROKEN)
        targets[t] = target
        ahead = np.where(known[t][:, None], target, odds[t])
    return targets, known


class TDLearner:
    """A run: the net, its games, and how far it has come.

    Attributes:
        settings: what the run is made of.
        rounds: rounds of play and fitting so far.
        seconds: seconds of them.
        loss: mean cross entropy of the last round, in nats.
    """

    def __init__(self, settings: TDSettings | None = None, *, threads: int = 1) -> None:
        self.settings = settings or TDSettings()
        self.threads = threads
        self.rounds = 0
        self.seconds = 0.0
        self.loss = float("nan")
        s = self.settings
        self._game = Settings(s.variant, cube=False, max_turns=_TURNS)
        self._rules = self._game.record()
        generator = torch.Generator().manual_seed(s.seed)
        self._weights = [w.requires_grad_() for w in _first_weights(s.hidden, generator)]
        self._average = [w.detach().clone() for w in self._weights]
        self._adam = torch.optim.Adam(self._weights, lr=s.lr)
        self._seeds = np.arange(s.batch, dtype=np.uint64) + np.uint64(s.seed * 1_000_003)
        self._episodes = np.zeros(s.batch, np.int64)
        self._states = np.zeros(s.batch, STATE)
        for i in range(s.batch):
            new_episode(self._states, i, self._rules, np.uint64(episode_key(self._seeds[i], np.uint64(0))))
        rows = s.turns + 1
        self._record: tuple[npt.NDArray[Any], ...] = (
            np.zeros((rows, s.batch), STATE),
            np.zeros((rows, s.batch, 6), np.float32),
            np.zeros((rows, s.batch), np.int8),
            np.full((rows, s.batch), TERMINAL, np.int8),
        )

    @property
    def games(self) -> int:
        """Games of self-play that have ended."""
        return int(self._episodes.sum())

    @property
    def done(self) -> float:
        """The share of the run that is done, 0 to 1."""
        return min(1.0, self.games / self.settings.total)

    def net(self, *, averaged: bool = True) -> ValueNet:
        """The net as it is now, averaged over the last rounds or not."""
        weights = self._average if averaged else self._weights
        w1, b1, w2, b2, w3, b3 = (w.detach().numpy().copy() for w in weights)
        about = {**asdict(self.settings), "games": self.games, "rounds": self.rounds, "minutes": round(self.seconds / 60, 1)}
        return ValueNet(w1, b1, w2, b2, w3, b3, about)

    def round(self, share: float | None = None) -> None:
        """Play some turns of all games, then fit the net to what followed the positions met.

        Args:
            share: of the run that is done, which learning rate and lambda follow; None: by the games that have ended.
        """
        start = time.perf_counter()
        s = self.settings
        done = self.done if share is None else min(share, 1.0)
        self._play()
        rows, odds, seen, kind = self._record
        lam = s.lam * max(0.0, 1 - (done / s.lam_share if s.lam_share else 1.0))
        targets, known = td_targets(odds, seen, kind, lam)
        at = np.flatnonzero(known.reshape(-1))
        inputs = encoder("tesauro198").encode(rows[:-1].reshape(-1)[at], self._rules, seats=seen[:-1].reshape(-1)[at])
        for group in self._adam.param_groups:
            group["lr"] = s.lr + (s.lr_end - s.lr) * done
        self._fit(torch.from_numpy(inputs), torch.from_numpy(targets.reshape(-1, 6)[at]))
        self._keep_average()
        self.rounds += 1
        self.seconds += time.perf_counter() - start

    def compile(self) -> None:
        """Compile what self-play needs, before the clock runs."""
        arrays = self.net().kernel_arrays(self._rules)
        record, scratch = self._record, net_scratch(arrays)
        self_play(self._states, self._rules, self._seeds, self._episodes, 0, 0, VALUES, arrays, scratch, record)

    def _play(self) -> None:
        arrays = self.net(averaged=False).kernel_arrays(self._rules)

        def part(lo: int, hi: int) -> None:
            scratch = net_scratch(arrays)
            self_play(self._states, self._rules, self._seeds, self._episodes, lo, hi, VALUES, arrays, scratch, self._record)

        self._in_parts(part, self.settings.batch)

    def _in_parts(self, part: Any, n: int) -> None:
        """Call `part(lo, hi)` on slices of n things, one a thread."""
        cuts = [int(cut) for cut in np.linspace(0, n, self.threads + 1)]
        if self.threads == 1:
            part(0, n)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            for future in [pool.submit(part, lo, hi) for lo, hi in pairwise(cuts)]:
                future.result()

    def _fit(self, inputs: torch.Tensor, targets: torch.Tensor) -> None:
        s = self.settings
        order = torch.from_numpy(np.random.default_rng([s.seed, self.rounds]).permutation(len(inputs)))
        total, n = 0.0, 0
        for first in range(0, len(order), s.minibatch):
            chosen = order[first : first + s.minibatch]
            w1, b1, w2, b2, w3, b3 = self._weights
            hidden = torch.relu(torch.addmm(b1, inputs[chosen], w1))
            logits = torch.addmm(b3, torch.relu(torch.addmm(b2, hidden, w2)), w3)
            loss = -(targets[chosen] * torch.log_softmax(logits, 1)).sum(1).mean()
            self._adam.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            self._adam.step()
            total += loss.item()
            n += 1
        self.loss = total / max(n, 1)

    def _keep_average(self) -> None:
        """The average follows quickly at first, when old weights are worth nothing."""
        decay = min(self.settings.average, (1 + self.rounds) / (10 + self.rounds))
        with torch.no_grad():
            for kept, now in zip(self._average, self._weights, strict=True):
                kept.mul_(decay).add_(now, alpha=1 - decay)

    def against_pubeval(self, games: int) -> tuple[float, float]:
        """Points a game of the averaged net against pubeval over duplicate games, and half its 95 % interval.

        Args:
            games: an even number; the same dice at every call.
        """
        rules = self._game.but(max_turns=None).record()
        arrays, points = self.net().kernel_arrays(rules), np.zeros(games, np.int32)
        table = pubeval_table(self._game.variant.checkers)

        def part(lo: int, hi: int) -> None:
            duel(
                np.zeros(1, STATE),
                rules,
                np.uint64(_DUEL_SEED),
                2 * lo,
                2 * hi,
                VALUES,
                arrays,
                net_scratch(arrays),
                table,
                points,
            )

        self._in_parts(part, games // 2)
        pairs = points.reshape(-1, 2).mean(1)
        return float(pairs.mean()), float(1.96 * pairs.std(ddof=1) / np.sqrt(len(pairs)))

    def save(self, path: str | Path) -> None:
        """Write everything needed to go on to an .npz file that loads without pickle."""
        with Path(path).open("wb") as file:
            self.dump(file)

    def dump(self, file: IO[bytes]) -> None:
        """`save` to an open file."""
        arrays: dict[str, Any] = {"settings": np.array(str(_plain(asdict(self.settings))))}
        for name, weights in (("weight", self._weights), ("average", self._average)):
            arrays |= {f"{name}{k}": w.detach().numpy() for k, w in enumerate(weights)}
        for k, w in enumerate(self._weights):
            for name, value in self._adam.state.get(w, {}).items():
                arrays[f"adam{k}_{name}"] = value.numpy()
        for name, array in zip(("rows", "odds", "seen", "kind"), self._record, strict=True):
            arrays[name] = array
        arrays |= {"states": self._states, "episodes": self._episodes}
        arrays |= {"rounds": np.array(self.rounds), "seconds": np.array(self.seconds)}
        np.savez(file, **arrays)

    @classmethod
    def load(cls, path: str | Path, *, threads: int = 1) -> TDLearner:
        """The run that `save` has written; it goes on as if it had not stopped.

        Raises:
            SettingsError: it is no such file.
        """
        import ast

        try:
            with np.load(path, allow_pickle=False) as file:
                content = {name: file[name] for name in file.files}
            known = {item.name for item in fields(TDSettings)}
            given = ast.literal_eval(str(content["settings"]))
            learner = cls(TDSettings(**{name: value for name, value in given.items() if name in known}), threads=threads)
            learner._restore(content)
        except (OSError, ValueError, KeyError, EOFError, SyntaxError, TypeError) as error:
            msg = f"{path} is no file of a TD run: {error}"
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
                if name.startswith(f"adam{k}_")
            }
            if state:
                self._adam.state[weight] = state
        for name, array in zip(("rows", "odds", "seen", "kind"), self._record, strict=True):
            np.copyto(array, content[name])
        self._states[...] = content["states"]
        self._episodes[...] = content["episodes"]
        self.rounds = int(content["rounds"])
        self.seconds = float(content["seconds"])


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _first_weights(hidden: tuple[int, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Weights and biases as (in, out), drawn uniformly within 1 / sqrt(inputs)."""
    sizes = (198, *hidden, 6)
    weights = []
    for n, m in pairwise(sizes):
        bound = n**-0.5
        weights.append((torch.rand(n, m, generator=generator) * 2 - 1) * bound)
        weights.append((torch.rand(m, generator=generator) * 2 - 1) * bound)
    return weights
