"""Head-to-head games as tasks of Ray, on one machine or many, with the results of the arena.

    import ray
    from bg_env.arena.on_ray import play_on_ray

    ray.init()  # this machine alone; ray.init(address="HOST:6379") for a cluster
    print(play_on_ray("td", "pubeval", games=10_000, cube=False).text())

A task plays a part of the games by number. It is a pure function of its arguments, so Ray gives it to another worker, with the
same result, if a worker or a whole machine is lost. Every machine needs bg_env installed. For the self-play of the TD learner
see `bg_env.train.td.on_ray`, for a pool of opponents `bg_env.train.ppo.on_ray`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bg_env.arena.duel import TALLY
from bg_env.arena.match_up import MatchUp, MatchUpKeywords, read_match_up, takes_match_up
from bg_env.arena.play import played
from bg_env.arena.result import Part, Result, joined
from bg_env.checks import checked_whole, is_whole
from bg_env.errors import BgEnvError, SettingsError, needs, quoted
from bg_env.evaluation.luck import ROLLERS
from bg_env.players import PLAYERS, player
from bg_env.players.protocol import name_of
from bg_env.rules import Settings

try:
    import ray
    from ray.exceptions import RayError, RayTaskError
except ImportError as error:
    msg = "bg_env.arena.on_ray needs Ray"
    raise needs(msg, "rllib") from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["checked_retries", "checked_tasks", "cuts", "outcome", "packed", "play_on_ray", "unpacked"]

_SHARE: Final = 4
"""Tasks for each processor, so that no processor waits long for another."""
_ABOUT_TO_END: Final = 0.5
"""Seconds that are given to tasks before they are cancelled."""


def packed(value: Any) -> bytes:
    """Anything as bytes, functions and classes of the main program included.

    Arrays that Ray itself hands over to a task share memory that cannot be written to, and kernels would be compiled anew for
    such arrays; those made of these bytes are like all others.
    """
    content: bytes = ray.cloudpickle.dumps(value)
    return content


def unpacked(content: bytes) -> Any:
    """The value that `packed` turned into these bytes."""
    return pickle.loads(content)  # noqa: S301 - our own, come with the task that asks for it


def outcome(task: Any) -> Any:
    """The value that a task returned, waiting for it; an error that it raised is raised here as itself."""
    try:
        return ray.get(task)
    except RayTaskError as error:
        cause = error.cause
        if isinstance(cause, BgEnvError):
            raise cause from None
        if isinstance(cause, Exception) and not isinstance(cause, RayError):  # an error of the player's own
            raise cause from error
        raise


def checked_tasks(tasks: int | None, share: int = _SHARE) -> int | None:
    """The argument `tasks`: a number of tasks, or None for `share` for each processor.

    Raises:
        SettingsError: it is neither None nor a whole number of at least 1.
    """
    if tasks is not None and not is_whole(tasks, 1):
        msg = f"tasks is a whole number of at least 1, or None for {share} for each processor, not {quoted(tasks)}"
        raise SettingsError(msg)
    return tasks


def checked_retries(retries: int) -> int:
    """The argument `retries`.

    Raises:
        SettingsError: it is not a whole number of at least -1.
    """
    return checked_whole("retries", retries, -1)


def cuts(n: int, tasks: int | None, share: int = _SHARE) -> list[tuple[int, int]]:
    """The ranges (first, end) of `n` things, one for each of `tasks` tasks; None: `share` tasks for each processor.

    Raises:
        SettingsError: `tasks` is neither None nor a whole number of at least 1.
    """
    number = checked_tasks(tasks, share)
    if number is None:
        number = max(1, share * int(ray.cluster_resources().get("CPU", 1)))
    return list(pairwise(np.linspace(0, n, min(n, int(number)) + 1).astype(int).tolist()))


@takes_match_up
def play_on_ray(
    a: Any,
    b: Any,
    *,
    tasks: int | None = None,
    cpus: float = 1,
    retries: int = 3,
    progress: Callable[[int], object] | None = None,
    **options: Unpack[MatchUpKeywords],
) -> Result:
    """Play two players head to head, as `bg_env.arena.play` does, by tasks of Ray.

    Args:
        a: the first player, as the arena takes it. A name goes to the workers as a name. A player that is read from a file, or
            an object, goes there itself, so the file need not be there.
        b: the second, likewise.
        tasks: number of tasks that share the games; None: four for each processor of the cluster.
        cpus: processors that a task asks Ray for.
        retries: times that a task is repeated because its worker was lost; -1 for no limit.
        progress: called with the number of games of each task, when it has ended.
        **options: as of `bg_env.arena.play`; `boards` is the number of games that a task plays at once.

    Returns:
        The result of the arena for the same games, bit for bit, for all players that play the same in any batch: those known by
        a name, value nets, and all others that draw from their words alone. After Ctrl-C it covers the games before the first
        task that had not ended.

    Raises:
        SettingsError: as in the arena; or `tasks`, `cpus` or `retries` is refused; or no machine has so many processors.
        IllegalActionError: a player chose something that is not legal.
    """
    match_up = read_match_up(options)
    match_up = replace(match_up, luck=_sendable(match_up.luck, match_up.settings))
    checked_retries(retries)
    _check_cpus(cpus)
    parts = [(2 * lo, 2 * (hi - lo)) for lo, hi in cuts(match_up.games // 2, tasks)]
    task_of = _TASK.options(num_cpus=cpus, max_retries=retries, name="bg_env arena")
    players = [ray.put(packed(_sendable(one, match_up.settings))) for one in (a, b)]
    waiting = {task_of.remote(*players, packed(replace(match_up, games=n)), first): (first, n) for first, n in parts}
    done: list[Part] = []
    try:
        while waiting:
            task = ray.wait(list(waiting))[0][0]
            done.append(outcome(task))
            _, n = waiting.pop(task)
            if progress is not None:
                progress(n)
    except KeyboardInterrupt:
        names = done[0].names if done else match_up.names or (_name(a), _name(b))
        done += [_unplayed(match_up, names, first, n) for first, n in waiting.values()]
    finally:
        _cancel(list(waiting))
    return joined(done)


def _cancel(tasks: list[Any]) -> None:
    """Cancel tasks, the last first, but wait for those that are about to end.

    Ray aborts this process if a task ends while it is cancelled, as a short one does, or one that waits and then gets the
    worker of a task cancelled before it.
    """
    if tasks:
        ended, _ = ray.wait(tasks, num_returns=len(tasks), timeout=_ABOUT_TO_END, fetch_local=False)
        for task in reversed([task for task in tasks if task not in ended]):
            ray.cancel(task, force=True)


def _unplayed(match_up: MatchUp, names: tuple[str, str], first: int, n: int) -> Part:
    """The part of a task that has not ended."""
    evaluator = None if match_up.luck is None else _name(match_up.luck)
    luck = None if match_up.luck is None else np.zeros((n, ROLLERS))
    return Part(match_up.settings, match_up.seed, names, first, np.zeros(n, TALLY), evaluator, luck)


def _check_cpus(cpus: Any) -> None:
    """Refuse a number for which Ray would wait forever, or which it would refuse with a message of its own."""
    if isinstance(cpus, bool) or not isinstance(cpus, (int, float)) or not 0 <= cpus < float("inf"):
        msg = f"cpus is a number of processors, at least 0, not {quoted(cpus)}"
        raise SettingsError(msg)
    most = max((node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]), default=0)
    if 0 < most < cpus:
        msg = f"a task asks for {cpus:g} processors, and no machine of the cluster has more than {most:g}"
        raise SettingsError(msg)


def _part(a: bytes, b: bytes, match_up: bytes, first: int) -> Part:
    """The task."""
    return played(unpacked(a), unpacked(b), unpacked(match_up), first)


def _name(one: Any) -> str:
    """The name of a player, for a result to which no task has contributed."""
    return one if isinstance(one, str) else name_of(one)


def _sendable(one: Any, settings: Settings) -> Any:
    """A player as it goes to the workers."""
    known = PLAYERS.get(one.partition(":")[0]) if isinstance(one, str) else None
    return player(one, settings) if known is not None and known.argument == "FILE" else one


_TASK: Final = ray.remote(_part)
