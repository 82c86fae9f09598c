"""Options of a training with MaskablePPO, checked before anything heavy is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import gymnasium

from bg_env.errors import SettingsError, quoted
from bg_env.players import PLAYERS, player
from bg_env.registration import IDS
from bg_env.rules import Settings, read_settings
from bg_env.rules.settings import settings_names
from bg_env.train.run_folder import RunFolder
from bg_env.train.setting import check_fields, described, renamed_fields, setting, settings_of_class

__all__ = ["MINUTES", "SELF", "PpoOptions", "check_given", "choose_options", "settings_of"]

MINUTES: Final = 4.0
"""Minutes of training where neither minutes nor steps are given."""
SELF: Final = "self"
"""The opponent of self-play: a pool of snapshots of the learner."""
_RENAMED: Final = {"measure": "evaluate", "measure_every": "evaluate_every"}
"""Names in `run.json` of version 0.1."""


def settings_of(id: str) -> Settings:  # noqa: A002 - the name that Gymnasium uses
    """The settings of the environment that is registered as `id`."""
    preset = gymnasium.spec(id).kwargs
    return read_settings(preset.get("settings"), **{name: preset[name] for name in settings_names() if name in preset})


@renamed_fields(**_RENAMED, judge="evaluated_against")
@described
@dataclass(frozen=True)
class PpoOptions:
    """Options of a training run: the environment, the opponent, the length of the training, and the evaluation.

    Raises:
        SettingsError: a value has the wrong type, is out of range, or contradicts another.
    """

    id: str = setting(
        "bg_env/BackgammonCubeless-v0",
        f"Gymnasium id of the environment: {', '.join(IDS)}. The reward is points / 3; in a match it is 1 or -1 at the end.",
        metavar="ID",
    )
    opponent: str = setting(
        "random",
        "Player to learn against (see bg-env info), or self: a pool of earlier snapshots of the learner.",
        metavar="PLAYER",
    )
    minutes: float | None = setting(
        None,
        "Minutes to train for; with --resume, that many more.",
        kind=float,
        low=0,
        above=True,
        optional=True,
        shown_default=f"{MINUTES:g}, without --steps",
    )
    steps: int | None = setting(
        None,
        "Decisions of the learner to train for, rounded up to whole rollouts; with --resume, that many more.",
        kind=int,
        low=1,
        optional=True,
    )
    seed: int = setting(1, "Seed of games, net and exploration.", low=0, high=2**32 - 1)
    num_envs: int = setting(256, "Games played at once.", low=1)
    threads: int = setting(
        1, "Threads of PyTorch and of the games. On a machine with other work, two can be ten times slower than one.", low=1
    )
    games: int = setting(
        1000,
        "Games that evaluate the untrained and the trained net, half of them from each seat; 0 for none.",
        low=0,
        even=True,
    )
    evaluate: tuple[str, ...] = setting(
        (),
        "Player to evaluate the net against during training as well, in as many games; can be repeated.",
        kind=str,
        many=True,
        metavar="PLAYER",
    )
    evaluate_every: int = setting(50, "Rollouts (of 64 steps of each game) between two evaluations during training.", low=1)

    def __post_init__(self) -> None:
        check_fields(self)
        _check_id(self.id)
        _check_games(self.evaluate, self.games)
        for name in self.evaluate if self.opponent == SELF else (self.opponent, *self.evaluate):
            player(name, settings_of(self.id))
        if self.minutes is None and self.steps is None:
            object.__setattr__(self, "minutes", MINUTES)

    @property
    def evaluated_against(self) -> str:
        """The player of the evaluation games at the end: the opponent; in self-play the first of `evaluate`, or random."""
        return (*self.evaluate, "random")[0] if self.opponent == SELF else self.opponent


def _check_id(id: str) -> None:  # noqa: A002 - the name that Gymnasium uses
    spec = gymnasium.registry.get(id)
    if spec is None or not str(spec.vector_entry_point).startswith("bg_env."):
        msg = f"no environment of bg_env is called {quoted(id)}: choose from {', '.join(IDS)}"
        raise SettingsError(msg)


def _check_games(evaluate: tuple[str, ...], games: int) -> None:
    if evaluate and not games:
        msg = f"to evaluate the net against {', '.join(evaluate)}, games must not be 0"
        raise SettingsError(msg)


def check_given(given: dict[str, Any]) -> None:
    """Check options one by one, as far as that is possible without the rest of them.

    Raises:
        SettingsError: an option has the wrong type, is out of range, or names an environment or player that does not exist.
    """
    for name, one in settings_of_class(PpoOptions).items():
        if name in given:
            one.checked(name, given[name])
    id_ = given.get("id", PpoOptions.id)
    _check_id(id_)
    for name in (given.get("opponent", SELF), *given.get("evaluate", ())):
        if name != SELF and name.partition(":")[0] not in PLAYERS:
            player(name, settings_of(id_))  # raises
    _check_games(given.get("evaluate", ()), given.get("games", PpoOptions.games))


def choose_options(folder: RunFolder | None = None, **given: Any) -> PpoOptions:
    """The options of a run: those given; for the rest, those of the run that is resumed in `folder`, or the defaults.

    Raises:
        SettingsError: an option is refused, or it contradicts the run that is resumed.
    """
    if folder is None:
        return PpoOptions(**given)
    if folder.notes.is_file():
        _check_copy(folder)
    kept = {_RENAMED.get(name, name): value for name, value in folder.read_notes()["options"].items()}
    for name in ("id", "seed", "num_envs"):
        if name in given and given[name] != kept.get(name):
            msg = f"the run in {folder.path} has {name}={kept.get(name)!r}: it cannot be resumed with {given[name]!r}"
            raise SettingsError(msg)
    known = set(settings_of_class(PpoOptions)) - {"minutes", "steps"}
    try:
        return PpoOptions(**({name: value for name, value in kept.items() if name in known} | given))
    except TypeError as error:
        msg = f"the run in {folder.path} cannot be resumed, run.json is damaged: {error}"
        raise SettingsError(msg) from error


def _check_copy(folder: RunFolder) -> None:
    """Refuse a `run.json` that no run wrote, instead of replacing it by the notes in the checkpoint."""
    known = settings_of_class(PpoOptions)
    for name, value in folder.read_copied_notes()["options"].items():
        one = known.get(_RENAMED.get(name, name))
        try:
            if one is not None:
                one.checked(name, value)
        except SettingsError as error:
            msg = f"the run in {folder.path} cannot be resumed, run.json is damaged: {error}"
            raise SettingsError(msg) from error
