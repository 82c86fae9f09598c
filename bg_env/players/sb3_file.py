"""Model files of Stable-Baselines3, read without running code of the file.

Such a file is a .zip of weights, which PyTorch can load as weights only, and of a JSON text `data`. The text has a pickled form
of everything that is not plain: unpickling runs code, so whoever writes a file decides what is run where it is loaded. But
beside the pickled form SB3 writes the attributes of the same object in plain text, and for a model with one of SB3's own
policies these say all that a policy is made of. Here such a policy is made from the plain text alone, and its weights loaded.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

import numpy as np
from gymnasium import spaces

from bg_env.checks import is_whole
from bg_env.errors import SettingsError, needs
from bg_env.observations import ENCODERS

__all__ = ["ModelFile", "algorithms", "plain_model", "read_model_file"]

_ACTIVATIONS: Final = ("ReLU", "Tanh", "ELU", "LeakyReLU", "SiLU", "GELU", "Mish", "Sigmoid", "Softplus", "SELU", "Identity")
_BOX: Final = re.compile(r"'(\w+)'(?:: |, )Box\(.*?, \(([\d, ]*)\), (\w+)\)", re.DOTALL)
"""A space of a Dict as Gymnasium prints it: its name, its shape and its type."""
_WIDEST: Final = 1 << 16
"""Units of a layer at most."""
_PLAIN: Final = {"n_quantiles", "normalize_images", "ortho_init", "share_features_extractor"}
"""Arguments of a policy that are numbers or flags."""
_UNUSED: Final = {"optimizer_class", "optimizer_kwargs"}
"""Arguments of a policy that only training needs."""


@dataclass(frozen=True)
class ModelFile:
    """The content of a model file.

    Attributes:
        data: the JSON of `data`, nothing unpickled: a pickled object is a dict of `:type:`, `:serialized:` and its attributes.
        weights: the state dicts by name, "policy" and "policy.optimizer" among them.
    """

    data: Mapping[str, Any]
    weights: Mapping[str, Any]


def algorithms() -> dict[str, Any]:
    """The classes of the algorithms whose models can be loaded, by name.

    Raises:
        MissingDependencyError: Stable-Baselines3 or sb3-contrib is not installed.
    """
    try:
        from sb3_contrib import QRDQN, MaskablePPO
        from stable_baselines3 import A2C, DQN, PPO
    except ImportError as error:
        msg = "models of Stable-Baselines3 need it"
        raise needs(msg, "sb3") from error
    return {"MaskablePPO": MaskablePPO, "QRDQN": QRDQN, "DQN": DQN, "PPO": PPO, "A2C": A2C}


def read_model_file(content: bytes, name: str | Path) -> ModelFile:
    """Read a model file without unpickling anything.

    Args:
        content: of the file.
        name: of the file, for messages.

    Raises:
        SettingsError: it is not a model of Stable-Baselines3, or it is damaged.
    """
    import torch

    try:
        with ZipFile(io.BytesIO(content)) as archive:
            data = json.loads(archive.read("data"))
            weights = {
                item.removesuffix(".pth"): torch.load(io.BytesIO(archive.read(item)), map_location="cpu", weights_only=True)
                for item in archive.namelist()
                if item.endswith(".pth")
            }
        if not isinstance(data, dict) or not isinstance(weights["policy"], dict):
            raise TypeError
    except Exception as error:  # whatever three libraries raise where a file is damaged
        msg = f"{name} is not a model of Stable-Baselines3, or it is damaged: give a .zip that the model's save() wrote"
        raise SettingsError(msg) from error
    return ModelFile(data, weights)


def plain_model(file: ModelFile) -> Any:
    """The model of the file to play with, made of its plain text and weights alone; its settings of training are not restored.

    Returns:
        The model, or None if the plain text does not say what its policy is: the policy or a part of it is not SB3's own, the
        spaces are other than arrays of float32, alone or in a Dict, and one number of actions, or the weights do not fit.
    """
    try:
        return _made(file)
    except (AssertionError, AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError):
        return None


def _made(file: ModelFile) -> Any:
    """`plain_model`, which raises one of its errors where it returns None."""
    data = file.data
    name, policy = _kind(data)
    model = algorithms()[name](policy, None, device="cpu", _init_setup_model=False)
    model.observation_space = _observation_space(data["observation_space"])
    model.action_space = spaces.Discrete(int(_attributes(data["action_space"], "gymnasium.spaces.discrete.Discrete")["n"]))
    model.policy_kwargs = _policy_options(data["policy_kwargs"])
    model.n_envs = 1
    model.__dict__.update({"buffer_size": 1} if "DQN" in name else {"n_steps": 1})  # room to learn, which it does not
    model._setup_model()
    model.policy.load_state_dict(file.weights["policy"])
    model.policy.set_training_mode(mode=False)
    if is_whole(data.get("num_timesteps"), 0):
        model.num_timesteps = data["num_timesteps"]
    return model


def _kind(data: Mapping[str, Any]) -> tuple[str, Any]:
    """The name of the algorithm, and the class of the policy, that the plain text names."""
    policy = data["policy_class"]
    module, called = policy["__module__"], re.fullmatch(r"<function (\w+)\.__init__ at \w+>", policy["__init__"])
    for name, kind in algorithms().items():
        if name in ("PPO", "A2C") and (name == "PPO") != ("clip_range" in data):
            continue
        for known in kind.policy_aliases.values():
            if called and (module, called[1]) == (known.__module__, known.__name__):
                return name, known
    raise ValueError


def _attributes(value: Any, kind: str) -> Mapping[str, Any]:
    """The plain attributes of an object of the class called `kind` that was pickled."""
    if value[":type:"] != f"<class '{kind}'>":
        raise ValueError
    attributes: Mapping[str, Any] = value
    return attributes


def _observation_space(value: Any) -> spaces.Space[Any]:
    if value[":type:"] == "<class 'gymnasium.spaces.dict.Dict'>":
        found = _BOX.findall(value["spaces"])
        return spaces.Dict({name: _box([int(n) for n in shape.split(",") if n.strip()], kind) for name, shape, kind in found})
    box = _attributes(value, "gymnasium.spaces.box.Box")
    return _box(box["_shape"], box["dtype"])


def _box(sizes: Any, kind: str) -> spaces.Box:
    """A space of arrays of this shape and type: with the bounds of the encoder whose shape it has, if there is one."""
    shape = tuple(int(n) for n in sizes)
    if kind == "int8":  # an action mask
        return spaces.Box(0, 1, shape, np.int8)
    if kind != "float32":
        raise ValueError
    for encoder in ENCODERS.values():
        if encoder.shape == shape:
            return spaces.Box(encoder.low.copy(), encoder.high.copy(), dtype=np.float32)
    return spaces.Box(-np.inf, np.inf, shape, np.float32)


def _policy_options(value: Any) -> dict[str, Any]:
    """The arguments of the policy, where all that decide its outputs are plain."""
    from torch import nn

    options: dict[str, Any] = {}
    for name, one in value.items():
        if name == "activation_fn":
            called = re.fullmatch(r"<class 'torch\.nn\.modules\.activation\.(\w+)'>", one)
            if called is None or called[1] not in _ACTIVATIONS:
                raise ValueError
            options[name] = getattr(nn, called[1])
        elif name == "net_arch":
            parts = one.values() if isinstance(one, dict) else [one]
            if not all(is_whole(units, 1, _WIDEST) for part in parts for units in part):
                raise ValueError
            options[name] = one
        elif name in _PLAIN and isinstance(one, int):  # or True or False
            options[name] = one
        elif name not in _UNUSED and name not in (":type:", ":serialized:"):
            raise ValueError
    return options
