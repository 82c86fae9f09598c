"""Whole plays in a batch: every candidate of every game as one flat batch, to be valued at once and chosen from.

choice = vec.afterstates(observation="tesauro198")
values = net(choice.observations)                          # equities of the player who chooses
values = np.where(choice.over, choice.rewards, choice.rewards + values)
vec.step_plays(best(values, choice.offsets))
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.batch.batch import Games
from bg_env.batch.layout import RUNNING
from bg_env.errors import IllegalActionError, SettingsError, quoted
from bg_env.observations import Encoder, encoder
from bg_env.rewards import CUSTOM, reward_of
from bg_env.rules import Phase, Rules, States
from bg_env.rules.candidates import Room

__all__ = ["Afterstates", "best", "checked_index", "find_afterstates"]


class Afterstates(NamedTuple):
    """The candidates of a batch's games, m in all: whole plays, and cube decisions and doubles to name as one action each."""

    offsets: npt.NDArray[np.int64]
    """(num_envs + 1,): game i has the candidates offsets[i] to offsets[i + 1] - 1; none where its episode is over."""
    actions: npt.NDArray[np.int16]
    """(m, 4): the actions that lead there, then -1."""
    states: States
    """(m,): the state after them, before the dice that are due then."""
    seats: npt.NDArray[np.int8]
    """(m,): the player who chooses, who also looks in `observations` and receives `rewards`."""
    rewards: npt.NDArray[np.float64]
    """(m,): the reward, where the candidate ends a game."""
    over: npt.NDArray[np.bool_]
    """(m,): whether it ends the episode, so that nothing is to come."""
    observations: npt.NDArray[np.float32] | None
    """(m, ...): the states encoded; None if that was not asked for."""


@kernel
def _judge(
    after: States,
    offsets: npt.NDArray[np.int64],
    deciders: npt.NDArray[np.int8],
    rules: Rules,
    kind: int,
    seats: npt.NDArray[np.int8],
    rewards: npt.NDArray[np.float64],
    over: npt.NDArray[np.bool_],
) -> None:
    """Seat, reward and end of every candidate."""
    for i in range(offsets.shape[0] - 1):
        seat = deciders[i]
        for k in range(offsets[i], offsets[i + 1]):
            reward = reward_of(after, k, rules, kind)
            seats[k] = seat
            rewards[k] = reward if seat == 0 else -reward
            over[k] = after[k]["phase"] == Phase.OVER


@kernel
def _best(values: npt.NDArray[np.float64], offsets: npt.NDArray[np.int64], index: npt.NDArray[np.int64]) -> None:
    for i in range(offsets.shape[0] - 1):
        top = offsets[i]
        for k in range(offsets[i] + 1, offsets[i + 1]):
            if values[k] > values[top]:
                top = k
        index[i] = top if offsets[i + 1] > offsets[i] else -1


def best(values: npt.ArrayLike, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The first candidate of the highest value in each game.

    Args:
        values: one for each candidate (m,).
        offsets: int64 (n + 1,), as of `Afterstates`.

    Returns:
        int64 (n,): for `VectorEnv.step_plays`; -1 for a game without candidates.

    Raises:
        SettingsError: `values` are not as many numbers, or NaN is among them; or `offsets` do not ascend from 0.
    """
    bounds = _offsets(offsets)
    try:
        given = np.ascontiguousarray(values, np.float64)
    except (OverflowError, TypeError, ValueError):
        msg = f"values are numbers, one for each candidate, not {quoted(values)}"
        raise SettingsError(msg) from None
    if given.shape != (int(bounds[-1]),):
        msg = f"values are one for each of the {int(bounds[-1])} candidates, not of shape {given.shape}"
        raise SettingsError(msg)
    unknown = np.isnan(given)
    if unknown.any():
        msg = f"values are numbers: that of candidate {int(np.argmax(unknown))} is NaN"
        raise SettingsError(msg)
    index = np.empty(len(bounds) - 1, np.int64)
    _best(given, bounds, index)
    return index


def _offsets(given: Any) -> npt.NDArray[np.int64]:
    """The offsets of candidates as `Afterstates` has them; kernels trust them.

    Raises:
        SettingsError: they are not integers that ascend from 0.
    """
    if not isinstance(given, np.ndarray) or given.ndim != 1 or given.dtype.kind not in "iu" or not len(given):
        shown = f"{given.dtype} of shape {given.shape}" if isinstance(given, np.ndarray) else quoted(given)
        msg = f"offsets are an integer array of shape (games + 1,), as afterstates() returns them, not {shown}"
        raise SettingsError(msg)
    offsets = np.ascontiguousarray(given, np.int64)
    if offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
        msg = "offsets ascend from 0, as afterstates() returns them: game i has the candidates offsets[i] to offsets[i + 1] - 1"
        raise SettingsError(msg)
    return offsets


def _flat(games: Games, rooms: list[Room]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int16], States]:
    """Offsets, actions and states of all candidates, found by all threads."""
    which = games.slots["over"] == RUNNING
    counts = np.zeros(games.n, np.int64)
    filled: dict[int, tuple[npt.NDArray[np.int16], States]] = {}

    def fill(lo: int, hi: int, *_: Any) -> None:
        room = rooms[games.ranges.index((lo, hi))]
        m = room.fill(games.states, which, lo, hi, games.rules, counts)
        filled[lo] = room.actions[:m], room.after[:m]

    games.run(fill)
    offsets = np.zeros(games.n + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    parts = [filled[lo] for lo, _ in games.ranges]
    return offsets, np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def find_afterstates(
    games: Games, rooms: list[Room], observation: str | Encoder | None, out: npt.NDArray[np.float32] | None
) -> Afterstates:
    """The candidates of all games; see `VectorEnv.afterstates`.

    Raises:
        SettingsError: no such encoder, or `out` does not fit.
    """
    view = None if observation is None else encoder(observation)
    if view is None and out is not None:
        msg = "out is for the observations: name the encoder with observation=... as well"
        raise SettingsError(msg)
    if view is not None:
        view.check(games.options.settings)
        if out is not None and not _holds(out, view.shape):
            msg = f"out is a writable, C-contiguous float32 array of shape (room, {', '.join(map(str, view.shape))})"
            raise SettingsError(msg)
    offsets, actions, states = _flat(games, rooms)
    m = len(states)
    seats, rewards, over = np.empty(m, np.int8), np.empty(m), np.empty(m, np.bool_)
    _judge(states, offsets, games.states["decider"], games.rules, games.options.reward.kind, seats, rewards, over)
    if games.options.reward.kind == CUSTOM:
        ended = np.flatnonzero(states["winner"] >= 0)
        gains = games.options.reward.of(states[ended], games.rules) if len(ended) else np.empty(0)
        rewards[ended] = np.where(seats[ended] == 0, gains, -gains)
    observations = None
    if view is not None:
        if out is not None and len(out) < m:
            msg = f"out has room for {len(out)} candidates: there are {m}"
            raise SettingsError(msg)
        flat = np.empty((m, *view.shape), np.float32) if out is None else out[:m]
        rows = flat.reshape(m, view.size)
        games.encode("candidates", view, states, seats, rows)
        observations = flat
    return Afterstates(offsets, actions, states, seats, rewards, over, observations)


def _holds(out: Any, shape: tuple[int, ...]) -> bool:
    """Whether rows of that shape can be written into `out`."""
    if not isinstance(out, np.ndarray) or out.dtype != np.float32 or out.ndim < 1 or out.shape[1:] != shape:
        return False
    return bool(out.flags.c_contiguous and out.flags.writeable)


def checked_index(index: Any, offsets: npt.NDArray[np.int64], over: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The chosen candidates as int64 (n,); those of games that are over may be any integers.

    Raises:
        IllegalActionError: naming the game.
    """
    n = len(offsets) - 1
    try:
        given = np.asarray(index)
    except ValueError:  # ragged
        given = np.empty(0, object)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        msg = f"index is {n} integers, the chosen candidate of each game, not {given.dtype} of shape {given.shape}"
        raise IllegalActionError(msg)
    chosen = given.astype(np.int64)
    wrong = ((chosen < offsets[:-1]) | (chosen >= offsets[1:])) & (over == RUNNING)
    if wrong.any():
        i = int(np.argmax(wrong))
        msg = f"candidate {chosen[i]} is not one of game {i}: it has {offsets[i]} to {offsets[i + 1] - 1}"
        raise IllegalActionError(msg)
    return chosen
