"""The readable side of a game: `GameView`, of which `Game` is made."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bg_env import actions
from bg_env.actions import Event
from bg_env.checks import is_whole
from bg_env.errors import IllegalActionError, quoted
from bg_env.game_state import SIZE, Bytes, as_states, deciding, legal_numbers, offset_of
from bg_env.notation.gnubg_ids import write_match_id
from bg_env.notation.ogid import write_ogid
from bg_env.notation.xgid import write_xgid
from bg_env.outcome import outcome_of
from bg_env.position import Play, Position, plays_of_state
from bg_env.render.text import board_text
from bg_env.rules import MOST_ACTIONS, Phase, Rules, Settings, States, ties_double

if TYPE_CHECKING:
    from bg_env.evaluation.hints import Evaluation, Hint

__all__ = ["PHASE", "Fixed", "GameView", "rules_of", "why_illegal"]

PHASE: Final = offset_of("phase")
_TURN: Final = offset_of("turn")
_DECIDER: Final = offset_of("decider")


class Fixed(NamedTuple):
    """Common values of a game and all its copies: the settings, and the beginning of its history."""

    settings: Settings
    rules: Rules
    rule_bytes: Bytes
    first: States
    """The state with which its record begins."""
    events: tuple[Event, ...]
    """The events before it was made."""
    recorded_from: int
    """The number of `events` that are not in its record."""


@functools.lru_cache(maxsize=64)
def rules_of(settings: Settings) -> tuple[Rules, Bytes]:
    """The RULES record of settings, and its bytes; all games under them share it."""
    rules = settings.record()
    return rules, rules.view(np.int8)


class GameView:
    """The state of a game: its phase, board, dice, cube and score, and the actions and plays that are legal."""

    __slots__ = ("_fixed", "_state")
    _fixed: Fixed
    _state: Bytes  # never written to: copies share it

    @property
    def _states(self) -> States:
        """The state for kernels that only read it."""
        return as_states(self._state)

    @property
    def _settings(self) -> Settings:
        return self._fixed.settings

    @property
    def settings(self) -> Settings:
        """The settings it is played under."""
        return self._fixed.settings

    @property
    def states(self) -> States:
        """A copy of its state, as an array of one STATE record."""
        return as_states(self._state.copy())

    @property
    def phase(self) -> Phase:
        """The decision or the dice that it waits for; prints as its name."""
        return Phase(self._state.item(PHASE))

    @property
    def over(self) -> bool:
        """Whether the game is over; of a match: the match."""
        return self._state.item(PHASE) == Phase.OVER

    @property
    def player(self) -> int | None:
        """The player who must act, or whose dice are due; None before the opening throw and at the end."""
        item = self._state.item
        if item(PHASE) == Phase.OVER or item(_TURN) < 0:
            return None
        decider = item(_DECIDER)
        return decider if decider >= 0 else item(_TURN)

    @property
    def position(self) -> Position:
        """The checkers seen by the player on roll: player 0 before the opening throw, at the end the winner, not turned."""
        s = self._states[0]
        seen = int(s["winner"]) if s["phase"] == Phase.OVER and s["winner"] >= 0 else int(s["turn"])
        points, side = s["points"].tolist(), max(seen, 0)
        return Position.unchecked(tuple(points[side]), tuple(points[1 - side]), self.settings.variant)

    @property
    def dice(self) -> tuple[int, ...]:
        """The dice left to play, higher first."""
        s = self._states[0]
        return tuple(int(d) for d, n in zip(s["dice"], s["left"], strict=True) for _ in range(n))

    @property
    def cube(self) -> int:
        """Points of a single game now: the cube's value, before its last turn while that waits for an answer."""
        s = self._states[0]
        return 1 << int(s["cube"]) + max(int(s["chain"]) - 1, 0)

    @property
    def cube_owner(self) -> int | None:
        """The owner of the cube; None while it is centred."""
        owner = int(self._states[0]["owner"])
        return None if owner < 0 else owner

    @property
    def score(self) -> tuple[int, int]:
        """Points of player 0 and 1 in the match; points beyond its length count in full."""
        return int(self._states[0]["score"][0]), int(self._states[0]["score"][1])

    @property
    def match_length(self) -> int:
        """Points to win the match; 0 in money play."""
        return self.settings.match_length

    @property
    def crawford(self) -> bool:
        """Whether this is the Crawford game (R9.2)."""
        return bool(self._states[0]["crawford"])

    @property
    def winner(self) -> int | None:
        """The winner of the game, of a match the match; None while it goes on and where the cap on turns ended it."""
        outcome = outcome_of(self._states, self.settings, None)
        return None if outcome is None else outcome.winner

    @property
    def points(self) -> int:
        """Points won by the winner in the last game; 0 without a winner."""
        outcome = outcome_of(self._states, self.settings, None)
        return 0 if outcome is None else outcome.points

    @property
    def key(self) -> bytes:
        """Everything that determines how the game can continue, as a value for the tables of a search.

        Games with equal keys have the same legal actions and, over the dice to come, the same distribution of futures and of
        results; players 0 and 1 are not exchanged. It holds the rules and the state, but neither history nor random stream;
        of the counters only the number of turns, and that only under a cap on turns.
        """
        out: Bytes = np.empty(SIZE, np.int8)
        deciding(self._state, self._fixed.rule_bytes, out)
        return self._fixed.rule_bytes.tobytes() + out.tobytes()

    @property
    def xgid(self) -> str:
        """The XGID; player 1 is its bottom player.

        Raises:
            NotationError: it cannot hold the state.
        """
        return write_xgid(self._states, 0, self.settings)

    @property
    def ogid(self) -> str:
        """The OGID; player 0 is its White.

        Raises:
            NotationError: it cannot hold the state.
        """
        return write_ogid(self._states, 0, self.settings)

    @property
    def position_id(self) -> str:
        """GNU Backgammon's position id, seen by the player on roll."""
        return self.position.id

    @property
    def match_id(self) -> str:
        """GNU Backgammon's match id.

        Raises:
            NotationError: it cannot hold the state.
        """
        return write_match_id(self._states, 0, self.settings)

    # Legal actions, plays and rolls

    def legal_actions(self) -> list[int]:
        """The numbers of the legal actions, ascending; empty in chance phases and at the end."""
        out = np.empty(MOST_ACTIONS, np.int64)
        found: list[int] = out[: legal_numbers(self._state, self._fixed.rule_bytes, out)].tolist()
        return found

    def legal_plays(self) -> tuple[Play, ...]:
        """The distinct whole plays of the dice left to play (`dice`), as `Position.legal_plays`; empty where no roll waits.

        Part of the roll may have been played: then these are the ways to complete it.
        """
        if self._state.item(PHASE) != Phase.CHECKER:
            return ()
        return plays_of_state(self._states, self.settings.variant)

    def legal_texts(self) -> tuple[str, ...]:
        """All texts that `play` accepts now, once each: those of the whole plays, or of the cube actions."""
        if self._state.item(PHASE) == Phase.CHECKER:
            return tuple(map(str, self.legal_plays()))
        return tuple(map(actions.action_text, self.legal_actions()))

    def chance(self) -> list[tuple[tuple[int, int], float]]:
        """The rolls of a chance phase with their probabilities, which sum to 1; [] in other phases.

        ROLL: 21 rolls, higher die first. OPENING: 30 ordered pairs (player 0's die first), 36 while ties double the cube.
        """
        if self.phase == Phase.ROLL:
            return [((a, b), (1 if a == b else 2) / 36) for a in range(1, 7) for b in range(1, a + 1)]
        if self.phase == Phase.OPENING:
            ties = bool(ties_double(self._states, 0, self._fixed.rules))
            return [((a, b), 1 / (36 if ties else 30)) for a in range(1, 7) for b in range(1, 7) if ties or a != b]
        return []

    # Evaluation by a player

    def evaluate(self, player: Any = "td") -> Evaluation:
        """The value of the game by a player with a value net, in any phase.

        Args:
            player: a name ("td", "td:1", "td-cube", "greedy:FILE", "gnubg"), a `ValuePlayer`, or a player with a method
                `probabilities` like its.

        Returns:
            Equities and probabilities of the player who decides or rolls: before a roll, of the best play of dice in hand, of
            the best answer to a double, at the end exactly. The game's own dice to come play no part.

        Raises:
            SettingsError: the player has no values, or does not play under the game's settings.
        """
        from bg_env.evaluation.hints import evaluate

        return evaluate(self, player)

    def hints(self, player: Any = "td") -> list[Hint]:
        """All choices of the decision that the game waits for, with their equities by a player, best first.

        Plays are compared as the player compares them, so the first is the player's own choice and its loss is 0. With
        look-ahead ("td:1") only the plays that the player looks ahead from have such equities; the others are ranked below
        their best. The game's own dice to come play no part.

        Args:
            player: as of `evaluate`.

        Raises:
            OrderError: dice are due, or the game is over.
            SettingsError: the player has no values, or does not play under the game's settings.
        """
        from bg_env.evaluation.hints import hints

        return hints(self, player)

    def __repr__(self) -> str:
        return f"<Game of {self.settings}: {self.phase}, player {self.player}, score {self.score[0]}-{self.score[1]}>"

    def __str__(self) -> str:
        return board_text(self._states, 0, self.settings)


def why_illegal(game: GameView, action: int | str) -> str | None:
    """The reason why `action` is illegal in `game` now, as a sentence that names the clause of the rules; None if it is legal.

    Args:
        game: the game.
        action: an action number, or its text: "8/4", "double".

    Raises:
        NotationError: the text is not an action.
        IllegalActionError: `action` is neither text nor an integer.
    """
    if isinstance(action, str):
        action = actions.parse_action(action, game.states, 0)
    if not is_whole(action):
        msg = f"an action is an integer, not {quoted(action)}"
        raise IllegalActionError(msg)
    return actions.why_illegal_text(game.states, 0, game.settings, int(action))
