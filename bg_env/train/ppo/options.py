"""What a training with MaskablePPO is told; checked before anything heavy is imported."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

import gymnasium

from bg_env.checks import checked_seed, checked_whole
from bg_env.errors import SettingsError, quoted
from bg_env.players import player
from bg_env.registration import IDS
from bg_env.rules import Settings, read_settings
from bg_env.rules.settings import settings_names
from bg_env.train.run_folder import RunFolder

__all__ = ["MINUTES", "SELF", "PpoOptions", "choose_options", "settings_of"]

MINUTES: Final = 4.0
"""How long a run learns that is told neither minutes nor steps."""
SELF: Final = "self"
"""The opponent of self-play: past selves of the learner."""


def settings_of(id: str) -> Settings:  # noqa: A002 - the name that Gymnasium uses
    """What is played in the environment that is registered as `id`."""
    preset = gymnasium.spec(id).kwargs
    return read_settings(preset.get("settings"), **{name: preset[name] for name in settings_names() if name in preset})


@dataclass(frozen=True)
class PpoOptions:
    """What to train, and for how long.

    Attributes:
        id: a Gymnasium id of bg_env. Of a match the reward is 1 or -1 at its end, else points / 3.
        opponent: name of the player to learn against, or SELF: a pool of the learner's past selves.
        minutes: of training from now on; None for no limit, if `steps` is given, else MINUTES.
        steps: decisions of the learner from now on, rounded up to whole rollouts; None for no limit.
        seed: of games, net and exploration, 0 to 2**32 - 1.
        num_envs: games played at once.
        threads: of PyTorch and of the batch; on a machine that others use as well, two are ten times slower than one.
        games: how many fresh games measure the untrained and the trained net, an even number; 0 for none.
        measure: names of players that the net meets in so many fresh games on the way as well.
        measure_every: so often, in rollouts.
    """

    id: str = "bg_env/BackgammonCubeless-v0"
    opponent: str = "random"
    minutes: float | None = None
    steps: int | None = None
    seed: int = 1
    num_envs: int = 256
    threads: int = 1
    games: int = 1000
    measure: tuple[str, ...] = ()
    measure_every: int = 50

    def __post_init__(self) -> None:
        spec = gymnasium.registry.get(self.id)
        if spec is None or not str(spec.vector_entry_point).startswith("bg_env."):
            msg = f"no environment of bg_env is called {quoted(self.id)}: choose from {', '.join(IDS)}"
            raise SettingsError(msg)
        object.__setattr__(self, "measure", tuple(self.measure))
        for name in self.measure if self.opponent == SELF else (self.opponent, *self.measure):
            player(name, settings_of(self.id))
        if self.measure and not self.games:
            msg = f"to measure the net against {', '.join(self.measure)}, games must not be 0"
            raise SettingsError(msg)
        if self.minutes is not None and not 0 < self.minutes < float("inf"):
            msg = f"minutes is a number above 0, not {quoted(self.minutes)}"
            raise SettingsError(msg)
        for name, low in (("steps", 1), ("num_envs", 1), ("threads", 1), ("games", 0), ("measure_every", 1)):
            if (name, self.steps) != ("steps", None):
                object.__setattr__(self, name, checked_whole(name, getattr(self, name), low))
        object.__setattr__(self, "seed", checked_seed(self.seed, 2**32 - 1))
        if self.games % 2:
            msg = f"games is even, half of them from each seat: {self.games - 1} or {self.games + 1}, not {self.games}"
            raise SettingsError(msg)
        if self.minutes is None and self.steps is None:
            object.__setattr__(self, "minutes", MINUTES)

    @property
    def judge(self) -> str:
        """Whom the untrained and the trained net meet: the opponent; in self-play the first that measures, or "random"."""
        return (*self.measure, "random")[0] if self.opponent == SELF else self.opponent


def choose_options(folder: RunFolder | None = None, **given: Any) -> PpoOptions:
    """The options of a run: those given; for the rest, those of the run that is resumed in `folder`, or the defaults.

    Raises:
        SettingsError: an option is refused, or it contradicts the run that is resumed.
    """
    if folder is None:
        return PpoOptions(**given)
    kept = folder.read_notes()["options"]
    for name in ("id", "seed", "num_envs"):
        if name in given and given[name] != kept.get(name):
            msg = f"the run in {folder.path} has {name}={kept.get(name)!r}: it cannot be resumed with {given[name]!r}"
            raise SettingsError(msg)
    known = {item.name for item in fields(PpoOptions)} - {"minutes", "steps"}
    try:
        return PpoOptions(**({name: value for name, value in kept.items() if name in known} | given))
    except TypeError as error:
        msg = f"the run in {folder.path} cannot be resumed, run.json is damaged: {error}"
        raise SettingsError(msg) from error
