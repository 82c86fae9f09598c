"""The checkpoint of a run of MaskablePPO: one file with everything, of which the other files of the run are copies.

It is an .npz file without pickle: the games in progress and the random numbers as arrays, and the content of `model.zip`,
`pool.npz`, `curve.csv` and `run.json` as bytes. Version 0.1 wrote the arrays alone; its runs are read from their files.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from sb3_contrib import MaskablePPO

from bg_env.checks import is_whole
from bg_env.errors import SettingsError
from bg_env.files import check_private, read_arrays
from bg_env.players.sb3_file import read_model_file
from bg_env.train.ppo.curve import read_curve
from bg_env.train.ppo.model import make_model
from bg_env.train.ppo.options import PpoOptions
from bg_env.train.run_folder import RunFolder

__all__ = ["PARTS", "read_checkpoint", "restored_model", "write_checkpoint", "written"]

PARTS: Final[tuple[str, ...]] = ("model.zip", "pool.npz", "curve.csv", "run.json")
"""Names of the files that a checkpoint holds, of which the pool is there after self-play only."""


def written(put: Callable[[io.BytesIO], object]) -> bytes:
    """The bytes that `put` writes to a file."""
    file = io.BytesIO()
    put(file)
    return file.getvalue()


def write_checkpoint(file: IO[bytes], arrays: Mapping[str, Any], parts: Mapping[str, bytes]) -> None:
    """Write a checkpoint: the arrays of games and random numbers, and the content of files by their names."""
    content: dict[str, Any] = {name: np.frombuffer(part, np.uint8) for name, part in parts.items()}
    np.savez(file, **arrays, **content)


def read_checkpoint(folder: RunFolder) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The checkpoint that `write_checkpoint` wrote in the folder: arrays, and the contents of files by their names.

    A run of version 0.1 has the files themselves, and may lack the arrays.

    Raises:
        SettingsError: the checkpoint or a copy of one of its parts is damaged, or other users may change the run.
        OSError: a file cannot be read.
    """
    check_private(folder.games if folder.games.is_file() else folder.model)
    arrays: dict[str, Any] = {}
    if folder.games.is_file():
        arrays = read_arrays(folder.games, "checkpoint of a training run")
    parts = {name: arrays.pop(name).tobytes() for name in PARTS if name in arrays}
    whole = {"model.zip", "run.json"} <= parts.keys()
    for name in PARTS:
        path = folder.path / name
        if not path.is_file():
            continue
        content = path.read_bytes()
        if content != parts.get(name):
            _check_copy(folder, path, content, whole=whole)
            if not whole:
                parts[name] = content
    return arrays, parts


def _check_copy(folder: RunFolder, path: Path, content: bytes, *, whole: bool) -> None:
    """Refuse a file that no run wrote, instead of replacing it: it may be somebody's; an older copy passes."""
    try:
        if path == folder.model:
            check_private(path)
            read_model_file(content, path)
        elif path == folder.pool:
            read_arrays(path, "pool of a training run")
        elif path == folder.curve:
            read_curve(path)
        else:
            folder.read_copied_notes()
    except SettingsError as error:
        if not whole:
            raise
        msg = f"{error}; delete it, and --resume writes it again from {folder.games.name}"
        raise SettingsError(msg) from error


def restored_model(options: PpoOptions, content: bytes, path: Path) -> MaskablePPO:
    """The model and its optimizer in the content of `model.zip`, over a new batch of games; no code of the file is run.

    Args:
        options: of the run that is resumed.
        content: of the file.
        path: of the file, for messages.

    Raises:
        SettingsError: it is damaged, or not a model of such a run.
    """
    file = read_model_file(content, path)
    model = make_model(options, kept=file.data)
    try:
        model.policy.load_state_dict(file.weights["policy"])
        model.policy.optimizer.load_state_dict(file.weights["policy.optimizer"])
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
        msg = f"{path} is not a model that train ppo made for {options.id}: its weights have other names or shapes"
        raise SettingsError(msg) from error
    steps, updates = file.data.get("num_timesteps"), file.data.get("_n_updates")
    if not is_whole(steps, 0) or not is_whole(updates, 0):
        msg = f"{path} is not a model that train ppo made: it does not say how long it has learnt"
        raise SettingsError(msg)
    model.num_timesteps, model._n_updates = steps, updates
    return model
