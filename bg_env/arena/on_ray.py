"""Ray: games of the arena as tasks on one machine or on many, with the result that they have here.

    import ray
    from bg_env.arena.on_ray import play_on_ray

    ray.init()  # this machine alone; ray.init(address="HOST:6379") for a cluster
    print(play_on_ray("td", "pubeval", games=10_000, cube=False).text())

A task plays a part of the games by number. It is a pure function of what it is sent, so Ray gives it to another worker, with
the same result, if a worker or a whole machine is lost. Every machine needs bg_env installed. For the self-play of the TD
learner and for a pool of past selves see `bg_env.train.td.on_ray`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import numpy as np

from bg_env.arena import Part, Result, joined, play_part
from bg_env.arena.duel import TALLY
from bg_env.arena.play import meeting_options
from bg_env.checks import checked_whole, is_whole
from bg_env.errors import BgEnvError, MissingDependencyError, SettingsError, quoted
from bg_env.players import PLAYERS, player
from bg_env.players.protocol import name_of
from bg_env.rules import Settings

try:
    import ray
    from ray.exceptions import RayTaskError
except ImportError as error:
    msg = 'bg_env.arena.on_ray needs Ray: pip install "bg_env[rllib]"'
    raise MissingDependencyError(msg) from error

__all__ = ["cuts", "outcome", "packed", "play_on_ray", "unpacked"]

_SHARE: Final = 4
"""Tasks for each processor, so that none waits long for another."""


def packed(value: Any) -> bytes:
    """Anything as bytes, functions and classes of the main program included.

    What Ray itself hands over to a task shares memory that cannot be written to, and the kernels would be compiled anew for
    such arrays; out of these bytes come arrays like all others.
    """
    content: bytes = ray.cloudpickle.dumps(value)
    return content


def unpacked(content: bytes) -> Any:
    """What `packed` has made bytes of."""
    return pickle.loads(content)  # noqa: S301 - our own, come with the task that asks for it


def outcome(task: Any) -> Any:
    """What a task has returned, when it has; an error of bg_env in it is raised as if there had been no task."""
    try:
        return ray.get(task)
    except RayTaskError as error:
        if isinstance(error.cause, BgEnvError):
            raise error.cause from None
        raise


def cuts(n: int, tasks: int | None, share: int = _SHARE) -> list[tuple[int, int]]:
    """From where to where each task goes, if so many share in `n` things; None: `share` for each processor of the cluster.

    Raises:
        SettingsError: `tasks` is no whole number of at least 1.
    """
    if tasks is None:
        tasks = max(1, share * int(ray.cluster_resources().get("CPU", 1)))
    if not is_whole(tasks, 1):
        msg = f"tasks is a whole number of at least 1, or None for {share} for each processor, not {quoted(tasks)}"
        raise SettingsError(msg)
    return list(pairwise(np.linspace(0, n, min(n, int(tasks)) + 1).astype(int).tolist()))


def play_on_ray(
    a: Any,
    b: Any,
    *,
    games: int = 1000,
    seed: int = 1,
    boards: int = 1024,
    tasks: int | None = None,
    cpus: float = 1,
    retries: int = 3,
    observation: str = "tesauro",
    names: tuple[str, str] | None = None,
    progress: Callable[[int], object] | None = None,
    settings: Settings | None = None,
    **rules: Any,
) -> Result:
    """Let two players meet, as `bg_env.arena.play` does, by tasks on Ray.

    Args:
        a: the first player, as the arena takes it. A name goes to the workers as a name; a player that is read from a file, or
            an object, goes there itself, so the file need not be there.
        b: the second, likewise.
        games: see the arena.
        seed: see the arena.
        boards: how many games a task plays at once.
        tasks: how many tasks share in the games; None: four for each processor of the cluster.
        cpus: processors that a task asks Ray for.
        retries: how often a task is given to another worker because the one that had it was lost; -1 without end.
        observation: see the arena.
        names: see the arena.
        progress: called with the number of games of each task, when it has ended.
        settings: see the arena.
        **rules: see the arena.

    Returns:
        The result that the arena has for the same games, bit for bit, for all players that are the same in any batch: those
        known by a name, value nets, and all others that draw from their words alone. After Ctrl-C it covers the games before
        the first task that had not ended.

    Raises:
        SettingsError: as in the arena; or `tasks`, `cpus` or `retries` is refused; or no machine has so many processors.
        IllegalActionError: a player chose something that is not legal.
    """
    options = meeting_options(a, b, {"games": games, "boards": boards}, seed, observation, names, settings, rules)
    _check(cpus, retries)
    parts = [(2 * lo, 2 * (hi - lo)) for lo, hi in cuts(games // 2, tasks)]
    play = _TASK.options(num_cpus=cpus, max_retries=retries, name="bg_env arena")
    players = [ray.put(packed(_sendable(one, options.settings))) for one in (a, b)]
    how = {"seed": seed, "boards": boards, "observation": observation, "names": names, "settings": options.settings}
    waiting = {play.remote(*players, how | {"first": first, "games": n}): (first, n) for first, n in parts}
    done: list[Part] = []
    try:
        while waiting:
            task = ray.wait(list(waiting))[0][0]
            done.append(outcome(task))
            _, n = waiting.pop(task)
            if progress is not None:
                progress(n)
    except KeyboardInterrupt:
        called = done[0].names if done else names or (_called(a), _called(b))
        done += [Part(options.settings, int(seed), called, first, np.zeros(n, TALLY)) for first, n in waiting.values()]
    finally:
        for task in waiting:
            ray.cancel(task, force=True)
    return joined(done)


def _check(cpus: Any, retries: Any) -> None:
    """Refuse what Ray would refuse in words of its own, or wait for without end."""
    if isinstance(cpus, bool) or not isinstance(cpus, (int, float)) or not 0 <= cpus < float("inf"):
        msg = f"cpus is a number of processors, at least 0, not {quoted(cpus)}"
        raise SettingsError(msg)
    most = max((node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]), default=0)
    if 0 < most < cpus:
        msg = f"a task asks for {cpus:g} processors, and no machine of the cluster has more than {most:g}"
        raise SettingsError(msg)
    checked_whole("retries", retries, -1)


def _part(a: bytes, b: bytes, how: dict[str, Any]) -> Part:
    """The task."""
    return play_part(unpacked(a), unpacked(b), **how)


def _called(one: Any) -> str:
    """What a player is called that no task has told the name of."""
    return one if isinstance(one, str) else name_of(one)


def _sendable(one: Any, settings: Settings) -> Any:
    """A player as it goes to the workers."""
    known = PLAYERS.get(one.partition(":")[0]) if isinstance(one, str) else None
    return player(one, settings) if known is not None and known.argument == "FILE" else one


_TASK: Final = ray.remote(_part)
