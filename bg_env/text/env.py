"""The Gymnasium environment of text: prompts as observations, replies as actions."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any, Final

import gymnasium
from gymnasium import spaces

from bg_env.checks import checked_flag, checked_number, checked_whole, is_flag
from bg_env.envs.rendering import RENDER_FPS, RENDER_MODES
from bg_env.envs.single import SingleEnv
from bg_env.errors import OrderError, SettingsError
from bg_env.game import Game
from bg_env.options import EnvKeywords
from bg_env.rules import Settings, VariantLike
from bg_env.text.choices import Unit
from bg_env.text.prompts import instructions, prompt
from bg_env.text.reply import checked_unit, parse_reply

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["TextEnv"]

_OWN: Final = ("illegal", "mask", "observation")
_LONGEST_PROMPT: Final = 100_000
_SAMPLED: Final = 200


class TextEnv(gymnasium.Env[str, str]):
    """Backgammon for an agent that reads prompts and writes replies; the opponent plays inside `step`.

    A step is a whole play or a cube decision. A reply that is refused changes nothing: the next observation begins with the
    reason, `info["reason"]`, and after `retries` further refusals in a row the episode ends as after an illegal action, which
    costs three times the stake.

    Args:
        variant: as of `bg_env.SingleEnv`.
        opponent: likewise.
        seat: likewise.
        unit: "play" for whole plays, "step" for one checker step at a time.
        retries: further replies after a refused one, 0 to 1,000.
        refused_reward: the reward of a reply that is refused and may be followed by another, -1,000 to 0.
        legal: as of `bg_env.text.prompt`.
        board: likewise.
        **options: settings, `settings`, `reward` and `render_mode` as of `bg_env.options.EnvOptions`.

    Attributes:
        instructions: the rules in short and the notation, for a system prompt.

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
        unit: Unit = "play",
        retries: int = 2,
        refused_reward: float = 0.0,
        legal: bool | int = False,
        board: bool = True,
        **options: Unpack[EnvKeywords],
    ) -> None:
        given = sorted(options.keys() & set(_OWN))
        if given:
            msg = f"TextEnv shows text and takes text: {', '.join(given)} cannot be given; unit, legal and board can"
            raise SettingsError(msg)
        self._unit = checked_unit(unit)
        self._retries = checked_whole("retries", retries, 0, 1000)
        self._refused_reward = checked_number("refused_reward", refused_reward, -1000, 0)
        self._legal = legal if is_flag(legal) else checked_whole("legal", legal, 0)
        self._board = checked_flag("board", board)
        hidden: EnvKeywords = {"observation": "counts", "mask": "info", "illegal": "terminate"}
        self._env = SingleEnv(variant, opponent=opponent, seat=seat, **(options | hidden))
        self.render_mode = self._env.render_mode
        self.instructions = instructions(self.settings)
        letters = frozenset(string.printable)
        self.observation_space = spaces.Text(_LONGEST_PROMPT, min_length=1, charset=letters)
        self.action_space = spaces.Text(_SAMPLED, min_length=0, charset=letters)
        self._refused = 0
        self._going = False

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._env.settings

    @property
    def seat(self) -> int | None:
        """The learner's seat in this episode; None in self-play and before the first reset."""
        return self._env.seat

    @property
    def game(self) -> Game:
        """The present state as a `bg_env.Game`; its dice to come are not the environment's own."""
        return self._env.game

    def legal_texts(self) -> tuple[str, ...]:
        """Texts of all choices that are legal now: whole plays or cube actions, see `bg_env.Game.legal_texts`."""
        return self.game.legal_texts()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode; the opponent acts first if it is its turn.

        Args:
            seed: as of `bg_env.SingleEnv.reset`.
            options: likewise.

        Returns:
            The prompt, and the info of `bg_env.SingleEnv` with the keys of `step`.

        Raises:
            BgEnvError: as of `bg_env.SingleEnv.reset`.
        """
        _, info = self._env.reset(seed=seed, options=options)
        super().reset(seed=None if seed is None else int(seed))
        self._refused, self._going = 0, True
        return self._shown(), self._info(info)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Read a reply and, if it is a legal choice, carry it out.

        Args:
            action: the reply, of any length and in any characters; see `bg_env.text.parse_reply`.

        Returns:
            The next prompt (after a refusal with the reason before it), the reward, the two flags of Gymnasium, and the info
            of `bg_env.SingleEnv` with "reply" (the choice as text, "" if refused), "fault" and "reason" ("" if legal) and
            "refused" (refusals in a row).

        Raises:
            NotationError: the reply is not text.
            OrderError: before `reset` or after the end.
            IllegalActionError: the opponent chose an illegal action; a part of the play may have been made.
        """
        if not self._going:
            msg = "step() comes after reset(), and not after the end of an episode: call reset()"
            raise OrderError(msg)
        if self.game.over:  # it ended before the learner had a decision, which any step reports
            return self._end(*self._env.step(0)[1:], "")
        reply = parse_reply(self.game, action, unit=self._unit)
        if reply.legal:
            total = 0.0
            for number in reply.actions:
                _, reward, terminated, truncated, info = self._env.step(number)
                total += reward
                if terminated or truncated:
                    return self._end(total, terminated, truncated, info, reply.text)
            self._refused = 0
            return self._shown(), total, False, False, self._info(info, reply.text)
        self._refused += 1
        reason, fault = str(reply.reason), str(reply.fault)
        if self._refused > self._retries:
            legal = self.game.legal_actions()
            number = next(number for number in range(len(legal) + 1) if number not in legal)
            return self._end(*self._env.step(number)[1:], "", fault, reason)
        shown = f"Your reply was refused: {reason}\n\n{self._shown()}"
        return shown, self._refused_reward, False, False, self._info({}, "", fault, reason)

    def _end(
        self,
        reward: float,
        terminated: bool,
        truncated: bool,
        info: dict[str, Any],
        reply: str,
        fault: str = "",
        reason: str = "",
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self._going = False
        return self._shown(), reward, terminated, truncated, self._info(info, reply, fault, reason)

    def _info(self, info: dict[str, Any], reply: str = "", fault: str = "", reason: str = "") -> dict[str, Any]:
        return {**info, "reply": reply, "fault": fault, "reason": reason, "refused": self._refused}

    def _shown(self) -> str:
        return prompt(self.game, legal=self._legal, board=self._board, unit=self._unit, seat=self.seat)

    def render(self) -> Any:
        """The board, as of `bg_env.SingleEnv.render`."""
        return self._env.render()

    def close(self) -> None:
        """Close the window of "human", if there is one."""
        self._env.close()
