"""Old names of modules and of what is in them, which give the new ones with a DeprecationWarning for one version."""

from __future__ import annotations

import functools
import importlib
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final, TypeVar, cast

__all__ = ["MODULES", "SPLIT", "install", "old_names", "renamed_argument", "warn_renamed"]

MODULES: Final = {
    "adapters.ray": "arena.on_ray",
    "arena.meeting": "arena.play",
    "arena.several": "arena.ratings",
    "envs.afterstates": "batch.afterstates",
    "envs.batch": "batch.kernels",
    "envs.batch_game": "batch.step",
    "envs.batch_input": "batch.checks",
    "envs.batch_pubeval": "batch.opponents",
    "envs.batch_recorder": "envs.recording",
    "envs.batch_records": "batch.layout",
    "envs.batch_saved": "batch.restore",
    "envs.batch_shared": "batch.shared_step",
    "envs.duel": "arena.duel",
    "envs.games": "batch.batch",
    "envs.one": "envs.episode",
    "envs.options": "options",
    "envs.recorder": "envs.recording",
    "envs.replies": "batch.opponents",
    "envs.slices": "batch.threads",
    "envs.view": "envs.rendering",
    "notation.jsonl": "records.jsonl",
    "notation.mat": "records.mat",
    "notation.record": "records.record",
    "notation.recording": "records.write",
    "notation.replay": "records",
    "notation.replayed": "records.report",
    "notation.replayer": "records.check_game",
    "notation.setup": "notation.state_of_id",
    "notation.sgf": "records.sgf",
    "notation.written": "records.fast_roll",
    "players.cube": "players.janowski",
    "players.models": "players.sb3",
    "players.net": "players.valuenet.net",
    "players.search": "players.valuenet.search",
    "players.selfplay": "train.td.self_play",
    "players.tactics": "players.valuenet.features",
    "players.value": "players.valuenet.player",
    "players.weigh": "players.valuenet.evaluate",
    "train.cluster": "train.td.on_ray",
    "train.curve": "train.ppo.curve",
    "train.folder": "train.run_folder",
    "train.measure": "train.ppo.evaluate",
    "train.muon": "train.td.muon",
    "train.options": "train.ppo.options",
    "train.pool": "train.ppo.opponent_pool",
    "train.stopping": "train.interrupt",
    "train.store": "train.td.replay_buffer",
    "train.td_run": "train.td.run",
    "train.td_settings": "train.td.settings",
    "train.td_targets": "train.td.targets",
}
"""Old module names of version 0.1, without the package's own name, and the new ones."""


SPLIT: Final = {
    "notation.ids": {
        "read_ids": "notation.gnubg_ids:read_ids",
        "read_position": "notation:read_position",
        "read_position_id": "notation.gnubg_ids:read_position_id",
        "write_match_id": "notation.gnubg_ids:write_match_id",
        "write_position_id": "notation.gnubg_ids:write_position_id",
    },
    "notation.match_id": {
        "LENGTH": "notation.gnubg_ids:MATCH_ID_LENGTH",
        "decode": "notation.gnubg_ids:decode_match_id",
        "encode": "notation.gnubg_ids:encode_match_id",
        **{name: f"notation.gnubg_ids:{name}" for name in ("DROPPED", "NO_GAME", "OVER", "PLAYING", "RESIGNED", "MatchId")},
    },
    "notation.position_id": {
        "ImpossibleIdError": "notation.state_of_id:ImpossibleIdError",
        "LENGTH": "notation.gnubg_ids:POSITION_ID_LENGTH",
        "decode": "notation.gnubg_ids:decode_position_id",
        "encode": "notation.gnubg_ids:encode_position_id",
    },
}
"""Modules of version 0.1 whose names are called otherwise now: for each of them the module and the name."""


F = TypeVar("F", bound=Callable[..., Any])


def warn_renamed(message: str) -> None:
    """Issue a DeprecationWarning at the line outside bg_env that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "bg_env":
        frame, level = frame.f_back, level + 1
    warnings.warn(f"{message}; the old name will be removed in version 0.3", DeprecationWarning, stacklevel=level)


def renamed_argument(old: str, new: str) -> Callable[[F], F]:
    """Decorates a function whose argument `new` was called `old`: that name is accepted with a DeprecationWarning."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def taken(*args: Any, **given: Any) -> Any:
            if old in given:
                warn_renamed(f"the argument {old} of {function.__qualname__.removesuffix('.__init__')} is now {new}")
                given[new] = given.pop(old)
            return function(*args, **given)

        return cast("F", taken)

    return decorate


class _Loader(Loader):
    """Puts the module of the new name in the place of the old one."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make an empty module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Import the module of the new name, and warn; one whose names have changed warns where they are used."""
        name = module.__name__
        if name.removeprefix("bg_env.") in SPLIT:
            names = {old: f"bg_env.{new}" for old, new in SPLIT[name.removeprefix("bg_env.")].items()}
            vars(module)["__getattr__"] = old_names(name, **names)
            return
        new = f"bg_env.{MODULES[name.removeprefix('bg_env.')]}"
        warnings.warn(f"{name} is now {new}; the old name will be removed in version 0.3", DeprecationWarning, stacklevel=2)
        sys.modules[name] = importlib.import_module(new)


class _Finder(MetaPathFinder):
    """Finds old names only, after every other finder."""

    def find_spec(self, fullname: str, _path: Sequence[str] | None = None, _target: Any = None) -> ModuleSpec | None:
        """The spec of an old name; None for any other."""
        package, _, name = fullname.partition(".")
        return ModuleSpec(fullname, _Loader()) if package == "bg_env" and name in {*MODULES, *SPLIT} else None


def install() -> None:
    """Let Python find old names."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def old_names(module: str, **new_names: str) -> Callable[[str], Any]:
    """A module's `__getattr__`, which knows old names of what is in it.

    Args:
        module: name of the module.
        **new_names: for each old name the new one: "name" in the same module, or "module:name".
    """

    def get(name: str) -> Any:
        if name not in new_names:
            msg = f"module {module!r} has no attribute {name!r}"
            raise AttributeError(msg)
        where, _, new = new_names[name].rpartition(":")
        where = where or module
        warn_renamed(f"{module}.{name} is now {where}.{new}")
        return getattr(importlib.import_module(where), new)

    return get
