"""Models of Stable-Baselines3 and sb3-contrib as players.

The libraries are imported only where a model is loaded from a file, which needs the extra `sb3`.
"""

from __future__ import annotations

import inspect
import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from bg_env.errors import OrderError, SettingsError, UntrustedCodeWarning
from bg_env.files import check_private
from bg_env.observations import ENCODERS, Encoder, encoder
from bg_env.players.function import legal_masks
from bg_env.players.protocol import check_states, default_actions
from bg_env.players.sb3_file import algorithms, plain_model, read_model_file
from bg_env.rules import Settings, States

__all__ = ["ModelPlayer", "load_model"]


def load_model(path: str | Path) -> Any:
    """A model to play with, from a .zip that Stable-Baselines3 or sb3-contrib saved: MaskablePPO, PPO, A2C, DQN or QRDQN.

    Where the policy and the spaces are of the libraries' own kinds, weights and plain text alone are read, and no code of the
    file is run. Any other model needs the loader of Stable-Baselines3, which unpickles objects and so runs code of the file: an
    UntrustedCodeWarning says so before.

    Raises:
        MissingDependencyError: Stable-Baselines3 or sb3-contrib is not installed.
        SettingsError: there is no such file, it is damaged, it holds another kind of model, or other users may change it.
    """
    known = algorithms()
    if not Path(path).is_file():
        msg = f"there is no file {path}: give the .zip that the model's save() wrote"
        raise SettingsError(msg)
    check_private(path)
    content = Path(path).read_bytes()
    model = plain_model(read_model_file(content, path))
    if model is not None:
        return model
    check_private(path, owned=True)
    warnings.warn(
        f"{path} is not of the libraries' own kinds alone, and loading it runs code that is stored in it: trust its source",
        UntrustedCodeWarning,
        stacklevel=2,
    )
    from stable_baselines3.common.save_util import load_from_zip_file

    try:
        data, _, _ = load_from_zip_file(io.BytesIO(content), device="cpu")
        policy = (data or {}).get("policy_class")
        kinds = [kind for kind in known.values() if policy in kind.policy_aliases.values()]
        by_clip = [kind for kind in kinds if (kind.__name__ == "A2C") == ("clip_range" not in (data or {}))]
        loaded = [kind.load(io.BytesIO(content), device="cpu") for kind in (by_clip or kinds)[:1]]
    except Exception as error:  # whatever the code in the file raises
        msg = f"{path} is a model that cannot be loaded here: {type(error).__name__}: {error}"
        raise SettingsError(msg) from error
    if not loaded:
        msg = f"{path} holds a model with the policy {policy}: MaskablePPO, PPO, A2C, DQN and QRDQN can be loaded by name"
        raise SettingsError(msg)
    return loaded[0]


class ModelPlayer:
    """A model of Stable-Baselines3 or sb3-contrib as a player.

    It is shown the observations of the encoder whose shape its observation space has. MaskablePPO gets the action masks; PPO
    and A2C, which know no masks, play the most probable legal action, DQN and QRDQN the one of the highest value. A model that
    was trained without cube, or without naming doubles, rolls, takes, and names 6-6 where it has no action for it.

    Args:
        model: an object with `predict`, `policy`, `observation_space` and a Discrete `action_space`.
        observation: the encoder, by name or as an `Encoder`; None to find it by the shape of the observation space.
        deterministic: whether to play the most probable action, the same in every run; False draws from the policy, by torch's
            own random numbers (MaskablePPO only).
        name: the player's name; None for that of the model's class.
        settings: the settings in force; None until `bind` is called.

    Raises:
        SettingsError: the model's spaces fit no encoder, or it can neither take masks nor score actions.
    """

    def __init__(
        self,
        model: Any,
        observation: str | Encoder | None = None,
        *,
        deterministic: bool = True,
        name: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        if not hasattr(model, "predict") or not isinstance(getattr(model, "action_space", None), spaces.Discrete):
            msg = f"a model with predict and a Discrete action_space is needed, not {type(model).__name__}"
            raise SettingsError(msg)
        self.model, self.deterministic, self.settings = model, deterministic, settings
        self.name = name or type(model).__name__
        self.actions = int(model.action_space.n)
        self._dict = isinstance(model.observation_space, spaces.Dict)
        self._encoder = _encoder_of(model.observation_space, observation)
        self._masked = "action_masks" in inspect.signature(model.predict).parameters
        if not self._masked:
            _scores_of(model)
        if settings is not None:
            self._encoder.check(settings)
            self._rules = settings.record()

    def bind(self, settings: Settings) -> ModelPlayer:
        """The player under these settings."""
        return ModelPlayer(self.model, self._encoder, deterministic=self.deterministic, name=self.name, settings=settings)

    def choose(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:  # noqa: ARG002 - see deterministic
        """The model's actions; see `Player.choose`.

        Raises:
            OrderError: the player is bound to no settings.
        """
        actions = default_actions(states)
        asked, view, mask = self._shown(states)
        if len(asked):
            actions[asked] = self._ask(view, mask)
        return actions

    def action_probabilities(self, states: States) -> npt.NDArray[np.float64]:
        """The probabilities by which a model that takes masks chooses each action, whatever `deterministic` is.

        Args:
            states: STATE records (n,) in which it has the decision.

        Returns:
            float64 (n, actions), a column for each action of the settings; 1 where a decision is fixed, see the class.

        Raises:
            OrderError: the player is bound to no settings, or the model takes no masks.
        """
        if not self._masked:
            msg = f"{self.name} takes no masks, so it plays its best legal action: ask choose()"
            raise OrderError(msg)
        actions = default_actions(states)
        asked, view, mask = self._shown(states)
        shares = np.zeros((len(states), max(self.actions, self.settings.actions if self.settings else 0)))
        fixed = np.setdiff1d(np.arange(len(states)), asked)
        shares[fixed, actions[fixed]] = 1
        if len(asked):
            observation: Any = {"observation": view, "action_mask": mask} if self._dict else view
            policy = self.model.policy
            found = policy.get_distribution(policy.obs_to_tensor(observation)[0], action_masks=mask).distribution.probs
            shares[asked, : self.actions] = found.detach().cpu().numpy() * mask
        return shares

    def _shown(self, states: States) -> tuple[npt.NDArray[np.int64], Any, npt.NDArray[np.int8]]:
        """The states in which the model has a legal action, and their observations and masks.

        Raises:
            OrderError: the player is bound to no settings.
        """
        if self.settings is None:
            msg = f"player {self.name} must know the settings: give them to it, or use what its bind(settings) returns"
            raise OrderError(msg)
        check_states(states, self._rules)
        mask = np.zeros((len(states), max(self.actions, self.settings.actions)), np.int8)
        mask[:, : self.settings.actions] = legal_masks(states, self._rules, self.settings.actions)
        mask = np.ascontiguousarray(mask[:, : self.actions])
        asked = np.flatnonzero(mask.any(axis=1))
        if not len(asked):
            return asked, None, mask[asked]
        part = np.ascontiguousarray(states[asked])
        return asked, self._encoder.encode(part, self._rules, seats=part["decider"].copy()), mask[asked]

    def _ask(self, view: npt.NDArray[Any], mask: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        observation: Any = {"observation": view, "action_mask": mask} if self._dict else view
        if self._masked:
            chosen: npt.NDArray[Any] = self.model.predict(observation, action_masks=mask, deterministic=self.deterministic)[0]
            return chosen
        scores = _scores_of(self.model)(observation)
        best: npt.NDArray[Any] = np.where(mask, scores, -np.inf).argmax(axis=1)
        return best

    def __repr__(self) -> str:
        return f"<ModelPlayer {self.name}: observation={self._encoder.name!r}, {self.actions} actions>"


def _encoder_of(space: spaces.Space[Any], wanted: str | Encoder | None) -> Encoder:
    box = space.spaces.get("observation") if isinstance(space, spaces.Dict) else space
    shape = getattr(box, "shape", None)
    if isinstance(space, spaces.Dict) and set(space.spaces) != {"observation", "action_mask"}:
        shape = None
    known = list(ENCODERS.values())
    if wanted is not None:
        known = [encoder(wanted)]
    for item in known:
        if item.shape == shape:
            return item
    shapes = ", ".join(f"{item.name} {item.shape}" for item in known)
    msg = f"the model's observation space {space} fits no encoder: {shapes}, alone or in a Dict with action_mask"
    raise SettingsError(msg)


def _scores_of(model: Any) -> Callable[[Any], npt.NDArray[Any]]:
    """A function from observations to a number for each action, the higher the better."""
    policy: Any = getattr(model, "policy", None)
    if hasattr(policy, "get_distribution"):
        return lambda seen: policy.get_distribution(policy.obs_to_tensor(seen)[0]).distribution.logits.detach().cpu().numpy()
    if hasattr(policy, "quantile_net"):
        return lambda seen: policy.quantile_net(policy.obs_to_tensor(seen)[0]).mean(dim=1).detach().cpu().numpy()
    if hasattr(policy, "q_net"):
        return lambda seen: policy.q_net(policy.obs_to_tensor(seen)[0]).detach().cpu().numpy()
    msg = f"a model of type {type(model).__name__} takes no masks and gives no scores: use MaskablePPO, PPO, A2C, DQN or QRDQN"
    raise SettingsError(msg)
