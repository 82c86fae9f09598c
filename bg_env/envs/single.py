"""The Gymnasium environment of one game: the opponent plays inside `step`, or one agent plays both seats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt

from bg_env.actions import checked
from bg_env.envs.luck import episode_of
from bg_env.envs.recording import Recorder
from bg_env.envs.rendering import RENDER_FPS, RENDER_MODES, View
from bg_env.errors import BgEnvError, SettingsError
from bg_env.game import Game
from bg_env.options import EnvKeywords, JsonSpec, read_options, read_seat, takes_options
from bg_env.rules import Settings, VariantLike

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["SingleEnv"]


@takes_options
class SingleEnv(Recorder, JsonSpec, gymnasium.Env[Any, Any]):
    """Backgammon for one learner.

    The learner sits on `seat`; the opponent acts inside `step` and `reset`, so the learner sees every reward of its own,
    losses included. With `opponent=None` one agent plays both seats: the reward belongs to the player who just acted, the
    observation and `info["player"]` to who acts next.

    Args:
        variant: a name (`bg_env.VARIANTS`) or a `bg_env.Variant`; None: the variant of `settings`, or backgammon.
        opponent: a name (`bg_env.PLAYERS`), an object with `choose` or `choose_plays` (`bg_env.Player`), a
            function from a batch of observations (here a batch of one) to actions, or None for self-play. Under
            `mask="info"` the function receives the action masks as a second argument.
        seat: the learner's seat, 0 or 1; None draws it anew for each episode, from the episode's own random stream.
        **options: see `bg_env.options.EnvOptions`.

    Raises:
        SettingsError: an argument is unknown, out of range, or contradicts another.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(
        self,
        variant: VariantLike | None = None,
        *,
        opponent: Any = "random",
        seat: int | None = None,
        **options: Unpack[EnvKeywords],
    ) -> None:
        chosen = read_options(variant, options, self.metadata["render_modes"])
        self.render_mode = chosen.render_mode
        self.observation_space = chosen.observation_space()
        self.action_space = chosen.action_space()
        self._episode = episode_of(chosen, opponent=opponent, seat=read_seat(seat, opponent))
        self._view = View(chosen.render_mode)
        self._dict_observation = chosen.in_observation
        self._mask_in_info = chosen.in_info
        self._size = chosen.settings.actions
        self._going = False

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._episode.settings

    @property
    def seat(self) -> int | None:
        """The learner's seat in this episode; None in self-play and before the first reset."""
        return self._episode.seat

    @property
    def game(self) -> Game:
        """The present state as a `bg_env.Game`; its dice to come are not the environment's own."""
        self._need_reset("game")
        return self._episode.game()

    def set_opponent(self, opponent: Any) -> None:
        """Change the opponent; it acts from its next decision on. `opponent` as in the constructor.

        Raises:
            SettingsError: it is not an opponent, or the environment is made for self-play (or the other way round).
        """
        if (opponent is None) != (self._episode.opponent is None):
            msg = "an environment is made either for self-play or for an opponent: make another one to change that"
            raise SettingsError(msg)
        self._episode.set_opponent(opponent)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions now: bool (actions,), a new array; MaskablePPO of sb3-contrib looks for this method.

        Raises:
            OrderError: before the first reset.
        """
        self._need_reset("action_masks()")
        return self._episode.mask(self._episode.viewer).astype(np.bool_)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; the opponent acts first if it is its turn.

        A game can end before the learner has a decision (it only danced). Then the mask is all ones, and the next step,
        whatever the action, reports the end and the reward.

        Args:
            seed: 0 to 2**64 - 1. None: the next episode since the last seed (a random one if there was none).
            options: as of `bg_env.envs.aec.BackgammonEnv.reset`.

        Raises:
            BgEnvError: the seed or an option is refused, or the opponent chose something illegal; the episode in progress is
                as it was.
        """
        self._view.open()
        episode, begun = self._episode, False
        try:
            episode.reset(seed, options)
            super().reset(seed=None if seed is None else int(seed))
            self._going = begun = True
            seen = self._seen()
        except BaseException as error:
            flags = episode.torn, episode.begun, self._going
            episode.torn, episode.begun, self._going = True, False, False
            if begun or episode.undone is error or isinstance(error, BgEnvError):
                episode.torn, episode.begun, self._going = flags
            episode.undone = None
            raise
        if self.render_mode == "human":
            self.render()
        return seen

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take the learner's action, then the opponent's until the learner must decide again.

        Raises:
            OrderError: before `reset` or after the end.
            IllegalActionError: the action is not an integer of the action space or, under `illegal="raise"`, not legal, or
                the opponent chose an illegal one. Nothing has changed.
            SettingsError: a user's encoder or reward raised an error; nothing has changed.
            BaseException: an interrupt; the step is done or not begun, or the environment must be reset.
        """
        episode, reward = self._episode, None
        if not self._going:
            episode.refuse("step()")
        if type(action) is not int or not 0 <= action < self._size:
            action = checked(action, self._size)
        before = episode.mark() if episode.custom_view else None
        try:
            actor = episode.seat
            if actor is None:
                actor = episode.player
            reward = episode.act(action)
            over = episode.over
            truncated = over and episode.truncated
            self._going = not over
            observation, info = self._seen()
        except BaseException as error:
            flags = episode.torn, episode.begun, self._going
            episode.torn, episode.begun, self._going = True, False, False
            if before is not None:  # a user's encoder may have failed
                episode.go_back(before)
                self._going = True
            elif reward is not None:
                episode.torn, episode.begun, self._going = False, True, episode.player >= 0
            elif episode.undone is error or isinstance(error, BgEnvError):
                episode.torn, episode.begun, self._going = flags
            episode.undone = None
            raise
        if self.render_mode == "human":
            self.render()
        return observation, -reward if actor == 1 else reward, over and not truncated, truncated, info

    def _seen(self) -> tuple[Any, dict[str, Any]]:
        """The observation and the info, which share the mask."""
        episode = self._episode
        seat = episode.viewer
        observation: Any = episode.observation(seat)
        info: dict[str, Any] = episode.infos()
        mask = episode.mask(seat)
        if self._dict_observation:
            observation = {"observation": observation, "action_mask": mask}
        if self._mask_in_info:
            info["action_mask"] = mask
        return observation, info

    def _need_reset(self, what: str) -> None:
        if not self._episode.begun:
            self._episode.refuse(what)

    def render(self) -> Any:
        """The board: text under `render_mode="ansi"`, uint8 pixels (height, width, 3) under "rgb_array", else None."""
        self._need_reset("render()")
        return self._view.render(self._episode)

    def close(self) -> None:
        """Close the window of "human", if there is one."""
        self._view.close()
