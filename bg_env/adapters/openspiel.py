"""OpenSpiel: bg_env as a game of pyspiel, and OpenSpiel's bots and agents as players of bg_env.

    from bg_env.adapters.openspiel import load_game

    game = load_game("hypergammon", cube=False)  # or pyspiel.load_game("python_bg_env(variant=hypergammon,cube=0)")
    state = game.new_initial_state()

Dice are chance nodes with their probabilities: a search rolls its own dice and never sees those of a game played with a seed.
Clones, random simulations, MCTS and `rl_environment.Environment` work. One agent may act several times in a row, and action
numbers are those of bg_env. The chance outcome of the roll a, b is `6 * (a - 1) + b - 1`; in the opening roll a is player 0's
die.

Utilities are the points of a game in money play, and 1 or -1 for a match. `observation_tensor` is an encoder of bg_env.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._renamed import warn_renamed
from bg_env.actions import STEPS, action_text, legal_actions, step_of
from bg_env.errors import OrderError, needs
from bg_env.game import Game
from bg_env.observations import Encoder, encoder
from bg_env.render.text import board_text
from bg_env.rules import (
    END_FINISHED,
    STATE,
    VARIANTS,
    Phase,
    Settings,
    SettingsKeywords,
    SettingsLike,
    States,
    VariantLike,
    apply,
    apply_roll,
    new_episode,
    read_settings,
    ties_double,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

try:
    import pyspiel
    from open_spiel.python import rl_environment
except ImportError as error:
    msg = "bg_env.adapters.openspiel needs OpenSpiel"
    raise needs(msg, "openspiel") from error

__all__ = ["AgentPlayer", "BotPlayer", "OpenSpielGame", "OpenSpielState", "load_game", "state_of"]

NAME: Final = "python_bg_env"
"""The name by which `pyspiel.load_game` knows the game once this module is imported."""
HIGHEST_LEVEL: Final = 3
LONGEST: Final = 100_000
"""The most actions and rolls of a game, as OpenSpiel needs to know them; random games have some hundreds."""

_PARAMETERS: Final[dict[str, Any]] = {
    "variant": "backgammon",
    "cube": -1,  # the variant's default
    "match_length": 0,
    "crawford": True,
    "allow_dead_cube": False,
    "dead_cube": True,  # the old name, with the opposite meaning, until version 0.3
    "cube_cap": 64,  # 0 lifts it
    "jacoby": False,
    "beavers": 0,
    "auto_doubles": 0,
    "max_turns": 0,  # no limit
    "observation": "tesauro",
}
_TYPE: Final = pyspiel.GameType(
    short_name=NAME,
    long_name="Backgammon and its variants, with cube and match play (bg_env)",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=_PARAMETERS,
)


class _Fixed:
    """The values that all states of a game share; copies of a state do not copy them."""

    def __init__(self, settings: Settings, observation: str | Encoder) -> None:
        self.settings, self.rules = settings, settings.record()
        self.encoder: Encoder = encoder(observation)
        self.encoder.check(settings)
        self.start: States = np.zeros(1, STATE)
        new_episode(self.start, 0, self.rules, np.uint64(0))

    def __deepcopy__(self, memo: Any) -> _Fixed:
        return self


class OpenSpielGame(pyspiel.Game):  # type: ignore[misc] # pyspiel has no types
    """A `pyspiel.Game`, made by `load_game` or by its name.

    Args:
        params: the parameters of `pyspiel.load_game`: settings by name (cube -1: the variant's default, cube_cap 0: no cap,
            max_turns 0: no limit) and `observation`.
        observation: the encoder, by name or a `bg_env.Encoder`; None: that of `params`. pyspiel cannot load a game with an
            encoder of your own from its text.

    Attributes:
        settings: the `bg_env.Settings` in force.

    Raises:
        SettingsError: a setting is refused.
    """

    def __init__(self, params: dict[str, Any] | None = None, *, observation: str | Encoder | None = None) -> None:
        view = encoder((params or {}).get("observation", _PARAMETERS["observation"]) if observation is None else observation)
        params = {**(params or {}), "observation": view.name}
        given = {name: value for name, value in {**_PARAMETERS, **params}.items() if name != "observation"}
        if not given.pop("dead_cube"):
            warn_renamed("dead_cube=False is now allow_dead_cube=True")
            given["allow_dead_cube"] = True
        settings = Settings(
            **given
            | {
                "cube": None if given["cube"] < 0 else bool(given["cube"]),
                "cube_cap": given["cube_cap"] or None,
                "max_turns": given["max_turns"] or None,
            }
        )
        fixed = _Fixed(settings, view)
        most = 1.0
        if settings.money:
            most = float(HIGHEST_LEVEL << (settings.cap_log2 if settings.cube else 0))
        information = pyspiel.GameInfo(
            num_distinct_actions=settings.actions,
            max_chance_outcomes=36,
            num_players=2,
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0,
            max_game_length=LONGEST * max(2 * settings.match_length - 1, 1),
        )
        super().__init__(_TYPE, information, params)
        self.settings, self.fixed = settings, fixed

    def new_initial_state(self) -> OpenSpielState:
        """The state before the opening roll."""
        return OpenSpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer:  # noqa: ARG002 - nothing is hidden
        """The observer of the game; without hidden information all kinds are the same."""
        return _Observer(self.fixed)


class OpenSpielState(pyspiel.State):  # type: ignore[misc] # pyspiel has no types
    """A `pyspiel.State`; `state.states` is its STATE record, `state.game()` a `bg_env.Game` in the same position."""

    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        self.fixed = game.fixed
        self.states: States = game.fixed.start.copy()

    def game(self) -> Game:
        """A `bg_env.Game` in the same position, without dice of its own."""
        return Game.from_states(self.states, self.fixed.settings)

    def current_player(self) -> int:
        """0, 1, `pyspiel.PlayerId.CHANCE` or `pyspiel.PlayerId.TERMINAL`."""
        state = self.states[0]
        decider = int(state["decider"])
        if decider >= 0:
            return decider
        return int(pyspiel.PlayerId.TERMINAL if state["phase"] == Phase.OVER else pyspiel.PlayerId.CHANCE)

    def _legal_actions(self, player: int) -> list[int]:  # noqa: ARG002 - only the player to act is asked for
        return legal_actions(self.states, 0, self.fixed.rules)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Rolls and their probabilities: 21 in a turn; 30 in the opening roll, 36 while ties double the cube."""
        if self.states[0]["phase"] == Phase.ROLL:
            return [(6 * a + b, (1 if a == b else 2) / 36) for a in range(6) for b in range(a + 1)]
        ties = bool(ties_double(self.states, 0, self.fixed.rules))
        return [(6 * a + b, 1 / (36 if ties else 30)) for a in range(6) for b in range(6) if ties or a != b]

    def _apply_action(self, action: int) -> None:
        if self.states[0]["decider"] >= 0:
            apply(self.states, 0, self.fixed.rules, action)
        else:
            apply_roll(self.states, 0, self.fixed.rules, action // 6 + 1, action % 6 + 1)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"roll {action // 6 + 1}-{action % 6 + 1}"
        text = action_text(action)
        if action < STEPS and step_of(action)[0] < step_of(action)[1]:
            text += f" ({step_of(action)[1]})"  # the die, which is higher than needed
        return text

    def is_terminal(self) -> bool:
        """Whether the game, or the match, is over."""
        return bool(self.states[0]["phase"] == Phase.OVER)

    def returns(self) -> list[float]:
        """Points of both players in a finished game, 1 and -1 for a match; zeros before the end and at the limit of turns."""
        state = self.states[0]
        if state["phase"] != Phase.OVER or state["ending"] != END_FINISHED:
            return [0.0, 0.0]
        points = float(state["won"]) if self.fixed.settings.money else 1.0
        return [points, -points] if state["winner"] == 0 else [-points, points]

    def __str__(self) -> str:
        return board_text(self.states, 0, self.fixed.settings)


class _Observer:
    """An observer: `tensor` is the flat observation, `dict` holds it in its shape."""

    def __init__(self, fixed: _Fixed) -> None:
        self.tensor: npt.NDArray[np.float32] = np.zeros(fixed.encoder.size, np.float32)
        self.dict = {"observation": self.tensor.reshape(fixed.encoder.shape)}

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Write the observation of `player`."""
        fixed = state.fixed
        fixed.encoder.encode(state.states, fixed.rules, out=self.dict["observation"][None], seats=player)

    def string_from(self, state: OpenSpielState, player: int) -> str:  # noqa: ARG002 - both see the same board
        """The board as text."""
        return str(state)


pyspiel.register_game(_TYPE, OpenSpielGame)


def load_game(
    variant: VariantLike | None = None,
    *,
    settings: SettingsLike | None = None,
    observation: str | Encoder = "tesauro",
    **changes: Unpack[SettingsKeywords],
) -> OpenSpielGame:
    """Make the game for OpenSpiel.

    Args:
        variant: a name or a `bg_env.Variant`; None: the variant of `settings`, or backgammon.
        settings: a `bg_env.Settings`.
        observation: the encoder, by name or a `bg_env.Encoder`.
        **changes: fields of `bg_env.Settings` by name.

    Raises:
        SettingsError: a setting is refused.
    """
    return _game_of(read_settings(settings, variant=variant, **changes), observation)


def _game_of(settings: Settings, observation: str | Encoder = "tesauro") -> OpenSpielGame:
    variant = settings.variant
    params: dict[str, Any] = {"variant": variant.name if VARIANTS.get(variant.name) == variant else str(variant)}
    for name, default in _PARAMETERS.items():
        if name not in ("variant", "observation", "dead_cube"):
            params[name] = type(default)(getattr(settings, name) or 0)
    return OpenSpielGame(params, observation=observation)


def state_of(game: Game, observation: str | Encoder = "tesauro") -> OpenSpielState:
    """The OpenSpiel state of a `bg_env.Game`, without the game's dice to come.

    Args:
        game: the game, which is not changed.
        observation: the encoder, by name or a `bg_env.Encoder`.
    """
    return _state_at(_game_of(game.settings, observation), game.states)


def _state_at(game: OpenSpielGame, states: States) -> OpenSpielState:
    state = game.new_initial_state()
    state.states = states.copy()
    for name in ("key", "rolls", "choices"):  # the stream of the dice to come
        state.states[name] = 0
    return state


class BotPlayer:
    """A bot of OpenSpiel, such as MCTS, as a player; it chooses for one state at a time where more than one action is legal.

    Args:
        make: makes the bot of a game.
        name: name of the player.
        settings: what is played; None until `bind`.
    """

    def __init__(self, make: Callable[[OpenSpielGame], Any], name: str = "openspiel", settings: Settings | None = None) -> None:
        self.make, self.name, self.settings = make, name, settings
        if settings is not None:
            self._game = _game_of(settings)
            self._bot = make(self._game)

    def bind(self, settings: Settings) -> BotPlayer:
        """The player under these settings, with its own bot."""
        return BotPlayer(self.make, self.name, settings)

    def choose(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:  # noqa: ARG002 - bots draw by themselves
        """Choose actions by the bot; see `bg_env.players.Player.choose`.

        Raises:
            OrderError: the player is bound to no settings.
        """
        _need_settings(self)
        chosen = np.empty(len(states), np.int64)
        for i in range(len(states)):
            state = _state_at(self._game, states[i : i + 1])
            legal = state.legal_actions()
            chosen[i] = legal[0] if len(legal) == 1 else self._bot.step(state)
        return chosen


class AgentPlayer:
    """An agent of OpenSpiel, such as DQN, as a player in either seat; it acts without exploring or learning.

    Observations are from the view of the player to act, so that an agent trained in one seat can play in both.

    Args:
        agent: an `rl_agent.AbstractAgent`.
        observation: the encoder of the agent's training, by name or a `bg_env.Encoder`.
        name: name of the player.
        settings: what is played; None until `bind`.
    """

    def __init__(
        self, agent: Any, observation: str | Encoder = "tesauro", name: str = "openspiel", settings: Settings | None = None
    ) -> None:
        self.agent, self.name, self.settings = agent, name, settings
        self._encoder = encoder(observation)
        if settings is not None:
            self._encoder.check(settings)
            self._rules = settings.record()

    def bind(self, settings: Settings) -> AgentPlayer:
        """The player under these settings."""
        return AgentPlayer(self.agent, self._encoder, self.name, settings)

    def choose(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:  # noqa: ARG002 - it takes the best
        """Choose actions by the agent; see `bg_env.players.Player.choose`.

        Raises:
            OrderError: the player is bound to no settings.
        """
        _need_settings(self)
        seat = self.agent.player_id
        views = self._encoder.encode(states, self._rules).reshape(len(states), -1)
        chosen = np.empty(len(states), np.int64)
        for i, view in enumerate(views):
            legal = legal_actions(states, i, self._rules)
            observations = {"info_state": [view, view], "legal_actions": [legal, legal], "current_player": seat}
            step = rl_environment.TimeStep(observations, [0.0, 0.0], [1.0, 1.0], rl_environment.StepType.MID)
            chosen[i] = self.agent.step(step, is_evaluation=True).action
        return chosen


def _need_settings(player: BotPlayer | AgentPlayer) -> None:
    if player.settings is None:
        msg = f"player {player.name} must know the settings: give them to it, or use the player that bind(settings) returns"
        raise OrderError(msg)
