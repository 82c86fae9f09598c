"""The options of `reset`, checked against each other and against the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bg_env.checks import checked_die, checked_flag, is_player, is_whole
from bg_env.errors import PositionError, SettingsError, quoted
from bg_env.game import Game
from bg_env.notation import read_position
from bg_env.notation.gnubg_ids import decode_position_id
from bg_env.notation.pasted import find_id
from bg_env.rules import END_NONE, OFF, Phase, Rules, Settings, States, check_state, new_episode, set_up, ties_double

__all__ = ["Start", "read_reset_options", "start_from"]

RESET_OPTIONS: Final = ("position", "game", "dice", "starter", "score", "crawford")


@dataclass(frozen=True)
class Start:
    """The checked options of a `reset`.

    Attributes:
        states: the state that the episode begins with, an array of one; None for the opening throw.
        dice: the next rolls, in order.
        starter: who must win the opening throw; None for either player.
        score: points of both players at the start of a match; None for the state's own.
        crawford: whether the first game is the Crawford game; None for what R9.2 says.
    """

    states: States | None = None
    dice: tuple[tuple[int, int], ...] = ()
    starter: int | None = None
    score: tuple[int, int] | None = None
    crawford: bool | None = None

    @property
    def changes(self) -> bool:
        """Whether the episode begins in another state than an episode without options."""
        return self.states is not None or self.score is not None or self.crawford is not None

    def make(self, states: States, rules: Rules, settings: Settings, key: int | np.uint64) -> None:
        """Write the beginning of an episode with the random stream `key` into `states[0]`."""
        new_episode(states, 0, rules, np.uint64(key))
        if self.states is not None:
            states[0] = self.states[0]
            states["key"] = np.uint64(key)
            states["rolls"] = states["choices"] = 0
            states["level"] = states["won"] = states["was_crawford"] = 0  # no step of this episode has ended a game
            states["winner"] = -1
            return
        if not settings.match_length:
            return
        if self.score is not None:
            states["score"] = self.score
        states["crawford"] = _crawford(settings, tuple(states[0]["score"].tolist()), self.crawford)


def _crawford(settings: Settings, score: tuple[int, int], asked: bool | None) -> bool:
    """Whether the first game of a match that is set up from a score alone is the Crawford game (R9.2)."""
    if asked is not None:
        return asked
    near = [n == settings.match_length - 1 for n in score]
    return settings.crawford and settings.cube and settings.match_length > 1 and sum(near) == 1


def read_reset_options(options: Any) -> dict[str, Any]:
    """The options of a `reset` as a new dict, empty for None.

    Raises:
        SettingsError: they are not a mapping.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        msg = f"options is a dict, not {quoted(options)}"
        raise SettingsError(msg)
    return dict(options)


def start_from(options: Mapping[str, Any] | None, settings: Settings) -> Start:
    """Check the options of `reset` against each other and against the settings in force.

    Raises:
        SettingsError: an option is unknown or contradicts another or the settings.
        NotationError: `position` is not an id.
        PositionError: the state is impossible.
        IllegalActionError: a die in `dice` is not a number from 1 to 6.
    """
    given = read_reset_options(options)
    if not given:
        return Start()
    unknown = [str(name) for name in given if name not in RESET_OPTIONS and name != "options"]
    if unknown:
        msg = f"no reset option is called {', '.join(map(quoted, unknown))}: choose from {', '.join(RESET_OPTIONS)}"
        raise SettingsError(msg)
    given = {name: value for name, value in given.items() if name in RESET_OPTIONS and value is not None}
    if "position" in given and "game" in given:
        msg = "options position and game both set the state up: give one of them"
        raise SettingsError(msg)
    dice = _dice(given.get("dice", ()))
    starter = given.get("starter")
    if starter is not None and not is_player(starter):
        msg = f"option starter is 0 or 1, not {quoted(starter)}"
        raise SettingsError(msg)
    score, crawford = _match_options(given, settings)
    if "position" in given or "game" in given:
        states = _from_game(given["game"], settings) if "game" in given else _from_id(given["position"], settings, starter)
        _fit(states, settings, starter, score, crawford)
        _fit_dice(states, settings, dice, None)
        return Start(states, dice)
    start = Start(None, dice, starter, score, crawford)
    states = Game.new(settings.variant).states
    start.make(states, settings.record(), settings, 0)
    check_state(states, 0, settings)
    _fit_dice(states, settings, dice, starter)
    return start


def _dice(rolls: Any) -> tuple[tuple[int, int], ...]:
    try:
        pairs = [tuple(roll) for roll in rolls]
    except TypeError:
        pairs = [()]
    if isinstance(rolls, (str, bytes)) or any(len(pair) != 2 for pair in pairs):
        msg = f"option dice is a list of pairs such as [(3, 1), (6, 5)], not {quoted(rolls)}"
        raise SettingsError(msg)
    return tuple((checked_die(pair[0]), checked_die(pair[1])) for pair in pairs)


def _match_options(given: Mapping[str, Any], settings: Settings) -> tuple[tuple[int, int] | None, bool | None]:
    score, crawford = given.get("score"), given.get("crawford")
    for name in ("score", "crawford"):
        if name in given and not settings.match_length:
            msg = f"option {name} belongs to a match: give the environment a match_length"
            raise SettingsError(msg)
    if score is not None:
        pair = list(score) if isinstance(score, (tuple, list)) or (isinstance(score, np.ndarray) and score.ndim == 1) else []
        if len(pair) != 2 or not all(is_whole(n, 0) for n in pair):
            msg = f"option score is a pair of points such as (2, 4), not {quoted(score)}"
            raise SettingsError(msg)
        if max(pair) >= settings.match_length:
            msg = f"option score: a score of {quoted(int(max(pair)))} ends a match to {settings.match_length}"
            raise PositionError(msg)
        score = (int(pair[0]), int(pair[1]))
    return score, None if crawford is None else checked_flag("option crawford", crawford)


def _from_game(game: Any, settings: Settings) -> States:
    if not isinstance(game, Game):
        msg = f"option game is a bg_env.Game, not {type(game).__name__}"
        raise SettingsError(msg)
    theirs = game.settings.but(max_turns=settings.max_turns)
    if theirs != settings:
        msg = f"the game is played under other settings ({theirs}) than the environment ({settings})"
        raise SettingsError(msg)
    states: States = game.states
    return states


def _from_id(text: Any, settings: Settings, starter: int | None) -> States:
    if not isinstance(text, str):
        msg = f"option position is an XGID, a gnubg id or an OGID as text, not {type(text).__name__}"
        raise SettingsError(msg)
    found = find_id(text)
    if found.kind != "position":
        return read_position(text, settings.variant, settings)[0]
    mover, opponent = decode_position_id(found.words[0], settings.variant)
    states = Game.new(settings.variant).states
    turn = starter or 0
    states["points"][0, turn], states["points"][0, 1 - turn] = mover, opponent
    states["turn"] = turn
    return states  # `_fit` sets it up: score and Crawford are known there


def _fit(states: States, settings: Settings, starter: int | None, score: tuple[int, int] | None, crawford: bool | None) -> None:
    """Refuse options that contradict a state that was set up, and complete a position without score and decider."""
    s = states[0]
    bare = s["phase"] == Phase.OPENING and s["turn"] >= 0
    if bare:
        states["score"] = score or (0, 0)
        states["crawford"] = _crawford(settings, score or (0, 0), crawford)
        set_up(states, 0, settings.record(), 0, 0)
    elif score is not None and score != tuple(s["score"].tolist()):
        msg = f"option score {score} contradicts the state's own, {tuple(s['score'].tolist())}"
        raise SettingsError(msg)
    elif crawford is not None and crawford != bool(s["crawford"]):
        msg = f"option crawford={crawford} contradicts the state's own, {bool(s['crawford'])}"
        raise SettingsError(msg)
    if starter is not None and s["turn"] < 0:
        msg = "option starter is for a start or a position: in the given game the opening throw is still due"
        raise SettingsError(msg)
    if starter is not None and starter != s["turn"]:
        msg = f"option starter={starter} contradicts the state, in which player {int(s['turn'])} is on roll"
        raise SettingsError(msg)
    check_state(states, 0, settings)
    borne_off = s["points"][:, OFF].max() == settings.variant.checkers
    if s["phase"] == Phase.OVER or s["ending"] != END_NONE or borne_off:
        msg = "the game is over in the given state: an episode needs a decision or a roll to come"
        raise SettingsError(msg)


def _fit_dice(states: States, settings: Settings, dice: tuple[tuple[int, int], ...], starter: int | None) -> None:
    """Refuse dice that the opening throw cannot show (R2.1, R2.2), or by which the other player starts."""
    if not dice or states[0]["phase"] != Phase.OPENING:
        return
    probe, rules = states.copy(), settings.record()
    for first, second in dice:
        if first != second:
            if starter is not None and starter != int(second > first):
                msg = f"option dice begins with {first}-{second}, so player {int(second > first)} starts, not starter={starter}"
                raise SettingsError(msg)
            return
        if not ties_double(probe, 0, rules):
            msg = f"option dice: the opening throw {first}-{second} is a tie and is thrown again: give unequal dice (R2.1)"
            raise SettingsError(msg)
        probe["ties"] += 1
        probe["cube"] += 1
