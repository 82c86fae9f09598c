"""The PettingZoo environment: two agents, one decision at a time (AEC)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv

from bg_env.actions import checked
from bg_env.checks import checked_flag
from bg_env.envs.luck import episode_of
from bg_env.envs.recording import Recorder
from bg_env.envs.rendering import RENDER_FPS, RENDER_MODES, View
from bg_env.errors import BgEnvError, IllegalActionError, OrderError, SettingsError, quoted
from bg_env.game import Game
from bg_env.options import EnvKeywords, read_options, takes_options
from bg_env.rules import VariantLike

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["BackgammonEnv"]

AGENTS: Final = ("player_0", "player_1")
_SEAT: Final = {agent: seat for seat, agent in enumerate(AGENTS)}


@takes_options
class BackgammonEnv(Recorder, AECEnv[str, Any, Any]):
    """Backgammon for two agents, `player_0` (White) and `player_1` (Black), as a PettingZoo AEC environment.

    One agent may act several times in a row: a step of the environment is one checker step or one cube decision. An
    episode is one game of money play, or a whole match with rewards at each game's end.

    Args:
        variant: a name (`bg_env.VARIANTS`) or a `bg_env.Variant`; None: the variant of `settings`, or backgammon.
        **options: see `bg_env.options.EnvOptions`.
        checks: whether calls out of order and actions that are illegal or out of range are caught; `raw_env` has it off, and
            must then be given legal actions only.
        name: of the environment, `metadata["name"]`.

    Raises:
        SettingsError: an argument is unknown, out of range, or contradicts another.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo declares it so; each environment has a copy
        "name": "backgammon_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        variant: VariantLike | None = None,
        *,
        checks: bool = True,
        name: str = "backgammon_v0",
        **options: Unpack[EnvKeywords],
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.metadata = {**type(self).metadata, "name": name}
        chosen = read_options(variant, options, self.metadata["render_modes"])
        self.render_mode = chosen.render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = {agent: chosen.observation_space() for agent in AGENTS}
        self.action_spaces = {agent: chosen.action_space() for agent in AGENTS}
        seen = self.observation_spaces[AGENTS[0]]
        self.state_space = seen["observation"] if isinstance(seen, spaces.Dict) else seen
        self._episode = episode_of(chosen)
        self._view = View(chosen.render_mode)
        self._dict_observation = chosen.in_observation
        self._mask_in_info = chosen.in_info
        self._size = chosen.settings.actions
        self._checks = checked_flag("checks", checks)
        self._was_reset = False
        self._over = True
        self._infos: dict[str, dict[str, Any]] = {}

    @property
    def settings(self) -> Any:
        """The `bg_env.Settings` in force."""
        return self._episode.settings

    @property
    def game(self) -> Game:
        """The present state as a `bg_env.Game`; its dice to come are not the environment's own."""
        self._need_reset("game")
        return self._episode.game()

    def observation_space(self, agent: str) -> Any:
        """The space of an agent's observations, the same object at every call."""
        return self.observation_spaces[_known(agent)]

    def action_space(self, agent: str) -> Any:
        """The space of an agent's actions, the same object at every call."""
        return self.action_spaces[_known(agent)]

    @property
    def infos(self) -> dict[str, dict[str, Any]]:  # type: ignore[override]
        """The infos of the agents; each is made when it is first looked at after a step."""
        for agent in self.agents:
            if agent not in self._infos:
                self._infos[agent] = self._info(agent)
        return self._infos

    def _info(self, agent: str) -> dict[str, Any]:
        info = self._episode.infos()
        if self._mask_in_info:
            info["action_mask"] = self._episode.mask(_SEAT[agent])
        return info

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: 0 to 2**64 - 1. None: the next episode since the last seed (a random one if there was none).
            options: any of position (an XGID, a gnubg position id, or one with its match id after a colon), game (a
                `bg_env.Game`), dice (pairs: the next rolls; from a start the first is player_0's die and player_1's),
                starter (0 or 1), score (points of both), crawford (bool).

        Raises:
            BgEnvError: the seed or an option is refused; the episode in progress is as it was.
        """
        self._view.open()
        episode = self._episode
        try:
            episode.reset(seed, options)
            self.agents = list(AGENTS)
            self.rewards = dict.fromkeys(AGENTS, 0.0)
            self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
            self.terminations = dict.fromkeys(AGENTS, False)
            self.truncations = dict.fromkeys(AGENTS, False)
            self._infos = {}
            self._rewarded = False
            self._over = False
            self._skip_agent_selection = None  # type: ignore[assignment]
            self.agent_selection = AGENTS[max(episode.player, 0)]
            self._was_reset = True
            if episode.over:  # truncated by a cap of turns before anybody could act
                self._end()
        except BaseException as error:
            flags = episode.torn, self._was_reset, self.agents, self._over
            episode.torn, self._was_reset, self.agents, self._over = True, False, [], True
            if episode.undone is error or isinstance(error, BgEnvError):
                episode.torn, self._was_reset, self.agents, self._over = flags
            episode.undone = None
            raise
        if self.render_mode == "human":
            self.render()

    def step(self, action: Any) -> None:
        """Take the action of `agent_selection`; None for an agent that is done.

        Raises:
            OrderError: before `reset`, or after both agents have been stepped out.
            IllegalActionError: the action is not an integer of the action space or, under `illegal="raise"`, not legal.
                Nothing has changed.
            BaseException: an interrupt; the step is done or not begun, or the environment must be reset.
        """
        if self._checks:
            if not self.agents:
                self._need_reset("step()")
                msg = "the episode is over and both agents are gone: call reset() first"
                raise OrderError(msg)
            if self._over:
                self._step_out(action)
                return
            if type(action) is not int or not 0 <= action < self._size:
                action = checked(action, self._size)
        elif self._over:
            self._step_out(action)
            return
        episode, agent = self._episode, self.agent_selection
        try:
            reward = episode.act(action)
            self._infos = {}
            self._cumulative_rewards[agent] = 0.0
            if reward:
                self.rewards = {AGENTS[0]: reward, AGENTS[1]: -reward}
                self._rewarded = True
                for name in AGENTS:
                    self._cumulative_rewards[name] += self.rewards[name]
            elif self._rewarded:
                self.rewards = dict.fromkeys(AGENTS, 0.0)
                self._rewarded = False
            player = episode.player
            if player >= 0:
                self.agent_selection = AGENTS[player]
            else:
                self._end()
        except BaseException as error:  # written out as in `reset`: a call would let a second interrupt in before the flags
            flags = episode.torn, self._was_reset, self.agents, self._over
            episode.torn, self._was_reset, self.agents, self._over = True, False, [], True
            if episode.undone is error or isinstance(error, BgEnvError):
                episode.torn, self._was_reset, self.agents, self._over = flags
            episode.undone = None
            raise
        if self.render_mode == "human":
            self.render()

    def _end(self) -> None:
        self._over = True
        truncated = self._episode.truncated
        self.terminations = dict.fromkeys(AGENTS, not truncated)
        self.truncations = dict.fromkeys(AGENTS, truncated)
        self._deads_step_first()

    def _step_out(self, action: Any) -> None:
        self._need_reset("step()")
        if action is not None:
            msg = f"{self.agent_selection} is done: the only action it has is None, not {quoted(action)}"
            raise IllegalActionError(msg)
        try:
            self._was_dead_step(None)
        except BaseException:
            self._episode.torn, self._was_reset, self.agents, self._over = True, False, [], True
            raise

    def observe(self, agent: str) -> Any:
        """The present observation of an agent, in new arrays; at any time, also while it waits and after the end.

        Returns:
            A dict of `observation` (float32) and `action_mask` (int8 (actions,): zeros while the other decides, ones at the
            end), in this order; under `mask="info"` the observation alone.
        """
        self._need_reset("observe()")
        episode, seat = self._episode, _SEAT[_known(agent)]
        if not self._dict_observation:
            return episode.observation(seat)
        return {"observation": episode.observation(seat), "action_mask": episode.mask(seat)}

    def state(self) -> npt.NDArray[np.float32]:
        """The whole state, in `state_space`, for a central critic: the observation of player_0, whichever agent acts.

        Both players see everything, so nothing is missing. It is a new array, at any time after the first reset.
        """
        self._need_reset("state()")
        return self._episode.observation(0)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last step, terminated, truncated and info of `agent_selection`."""
        if not self.agents:
            self._need_reset("last()")
            msg = "the episode is over and both agents are gone: call reset() first"
            raise OrderError(msg)
        agent, episode = self.agent_selection, self._episode
        seat = _SEAT[agent]
        mask = None
        info = self._infos.get(agent)
        if info is None:
            info = episode.infos()
            if self._mask_in_info:
                info["action_mask"] = mask = episode.mask(seat)
            self._infos[agent] = info
        observation: Any = None
        if observe:
            observation = episode.observation(seat)
            if self._dict_observation:
                observation = {"observation": observation, "action_mask": episode.mask(seat) if mask is None else mask.copy()}
        return observation, self._cumulative_rewards[agent], self.terminations[agent], self.truncations[agent], info

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Iterate over the agents in the order in which they must act."""
        self._need_reset("agent_iter()")
        return super().agent_iter(max_iter)

    def _need_reset(self, what: str) -> None:
        if not self._was_reset:
            self._episode.refuse(what)

    def render(self) -> Any:
        """The board: text under `render_mode="ansi"`, uint8 pixels (height, width, 3) under "rgb_array", else None."""
        self._need_reset("render()")
        return self._view.render(self._episode)

    def close(self) -> None:
        """Close the window of "human", if there is one."""
        self._view.close()


def _known(agent: str) -> str:
    if not isinstance(agent, str) or agent not in _SEAT:
        msg = f"no agent is called {quoted(agent)}: they are {AGENTS[0]} and {AGENTS[1]}"
        raise SettingsError(msg)
    return agent
