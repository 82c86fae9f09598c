"""TextArena: bg_env as a game of TextArena for two agents that read and write text.

    import textarena as ta
    import bg_env.adapters.textarena  # registers the ids

    env = ta.make("bg_env/Backgammon-v0", legal=True)
    env.reset(num_players=2, seed=1)
    player, observation = env.get_observation()
    done, info = env.step(action=agents[player](observation))  # until it is done
    rewards, game_info = env.close()

There is an id for each variant, see `IDS`. An observation is the rules in short, what happened so far, and the present prompt;
an id with `-history` after it keeps all earlier prompts as well, and one with `-raw` has TextArena's messages as they are.

A refused reply comes back with its reason in the next prompt, not only in TextArena's own message, which some of its wrappers
leave out. Rewards are 1 and -1; `game_info[player]["points"]` has the points. After `error_allowance` further refusals in a row
the game is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bg_env.checks import checked_whole
from bg_env.errors import needs
from bg_env.game import Game
from bg_env.rules import SettingsKeywords, SettingsLike, VariantLike, read_settings
from bg_env.text import instructions, parse_reply, prompt

if TYPE_CHECKING:
    from typing_extensions import Unpack

try:
    import textarena
    from textarena.envs.registration import ENV_REGISTRY, register_with_versions
except ImportError as error:
    msg = "bg_env.adapters.textarena needs TextArena"
    raise needs(msg, "textarena") from error

__all__ = ["IDS", "TextArenaEnv"]

IDS: Final = {
    "bg_env/Backgammon-v0": "backgammon",
    "bg_env/Nackgammon-v0": "nackgammon",
    "bg_env/AceyDeucey-v0": "acey_deucey",
    "bg_env/Hypergammon-v0": "hypergammon",
    "bg_env/Longgammon-v0": "longgammon",
}
"""The variants by id."""
_NAMES: Final = {0: "White", 1: "Black"}


class TextArenaEnv(textarena.Env):  # type: ignore[misc] # TextArena has no types
    """Backgammon for two agents of TextArena; `textarena.make` makes it by id, with a wrapper for observations.

    Args:
        variant: a name or a `bg_env.Variant`; None: the variant of `settings`, or backgammon.
        settings: a `bg_env.Settings`.
        legal: as of `bg_env.text.prompt`.
        board: likewise.
        error_allowance: further replies after a refused one, at least 0; then the player loses.
        **changes: fields of `bg_env.Settings` by name.

    Attributes:
        settings: the `bg_env.Settings` in force.
        state: TextArena's state of the game.

    Raises:
        SettingsError: an argument is unknown or out of range.
    """

    def __init__(
        self,
        variant: VariantLike | None = None,
        *,
        settings: SettingsLike | None = None,
        legal: bool | int = False,
        board: bool = True,
        error_allowance: int = 2,
        **changes: Unpack[SettingsKeywords],
    ) -> None:
        self.settings = read_settings(settings, variant=variant, **changes)
        self._legal, self._board = legal, board
        self._allowance = checked_whole("error_allowance", error_allowance, 0)
        prompt(Game(self.settings), legal=legal, board=board)  # checks both

    @property
    def game(self) -> Game:
        """The game as it stands, with other dice to come."""
        return self._game.copy()

    def reset(self, num_players: int = 2, seed: int | None = None) -> None:
        """Begin a game.

        Args:
            num_players: 2.
            seed: of the dice, 0 to 2**64 - 1; None for a random one.

        Raises:
            SettingsError: the seed or the number of players is refused.
        """
        checked_whole("num_players", num_players, 2, 2)
        seed = int(np.random.default_rng().integers(2**63)) if seed is None else seed
        self._game = Game(self.settings, seed=seed)
        self.state = textarena.TwoPlayerState(num_players=2, error_allowance=self._allowance)
        self.state.reset(game_state={"game": str(self._game)}, player_prompt_function=self._rules, role_mapping=dict(_NAMES))
        self._ask()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Read the reply of the player who must act and, if it is a legal choice, carry it out.

        Returns:
            Whether the game is over, and TextArena's info.

        Raises:
            NotationError: the reply is not text.
        """
        player, game, state = int(self.state.current_player_id), self._game, self.state
        reply = parse_reply(game, action)
        state.add_observation(from_id=player, message=action, observation_type=textarena.ObservationType.PLAYER_ACTION)
        if not reply.legal:
            state.set_invalid_move(reason=str(reply.reason))
            if not state.done:
                self._show(f"Your reply was refused: {reply.reason}\n\n")
            return self._stepped()
        dice = "-".join(map(str, game.dice))
        game.play(reply.text)
        said = f"{_NAMES[player]} {f'plays {dice}: ' if reply.play else ''}{reply.text}"
        state.add_observation(message=said, observation_type=textarena.ObservationType.GAME_ACTION_DESCRIPTION)
        if game.over:
            self._finish()
        else:
            self._ask()
        return self._stepped()

    def get_board_str(self) -> str:
        """The board as text, for TextArena's wrapper that renders."""
        return str(self._game)

    def _stepped(self) -> tuple[bool, dict[str, Any]]:
        done, info = self.state.step(rotate_player=False)
        if not done and self._game.player is not None:
            self.state.current_player_id = self._game.player
        return bool(done), info

    def _rules(self, player_id: int, game_state: dict[str, Any]) -> str:  # noqa: ARG002 - as TextArena calls it
        return f"You are {_NAMES[player_id]}. {instructions(self.settings)}"

    def _ask(self) -> None:
        """The prompt for the player who must act next."""
        self.state.game_state["game"] = str(self._game)
        if self.state.turn == 0 and self._game.player is not None:
            self.state.current_player_id = self._game.player
        self._show("")

    def _show(self, before: str) -> None:
        text = before + prompt(self._game, legal=self._legal, board=self._board)
        self.state.add_observation(
            to_id=int(self._game.player or 0), message=text, observation_type=textarena.ObservationType.GAME_BOARD
        )

    def _finish(self) -> None:
        outcome = self._game.outcome
        winner, points = (None, 0) if outcome is None else (outcome.winner, outcome.points)
        if winner is None:
            self.state.set_draw(reason=str(outcome))
        else:
            self.state.set_winner(player_id=winner, reason=str(outcome))
        for player in (0, 1):
            self.state.game_info[player]["points"] = 0 if winner is None else points if player == winner else -points


def _register() -> None:
    wrappers = textarena.wrappers
    versions = {
        "default": [wrappers.GameMessagesAndCurrentBoardObservationWrapper],
        "-history": [wrappers.LLMObservationWrapper],
    }
    for name, variant in IDS.items():
        if name not in ENV_REGISTRY:
            register_with_versions(id=name, entry_point=TextArenaEnv, wrappers=versions, variant=variant)


_register()
