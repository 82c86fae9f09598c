"""Opponents of a batch that are no kernel of it: players and callables, asked for all waiting games at once."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.actions import FIRST_NAMED, ROLL, TAKE, why_illegal_text
from bg_env.batch.kernels import answer, answer_plays, find_waiting, masks_of
from bg_env.batch.layout import NO_OPPONENT, OTHER_OPPONENT, PUBEVAL_OPPONENT, RANDOM_OPPONENT, Batch
from bg_env.errors import IllegalActionError, SettingsError, quoted
from bg_env.options import EnvOptions
from bg_env.players import ModelPlayer, PubevalPlayer, RandomPlayer, bound, player
from bg_env.rules import Phase, Settings, States

__all__ = ["CallablePlayer", "actions_of", "batch_opponent", "opponent_for", "opponent_kind", "plays_of", "reply"]

_UNCUBED: Final = {Phase.ROLL_OR_DOUBLE: ROLL, Phase.TAKE_OR_DROP: TAKE, Phase.CHOOSE_DOUBLE: FIRST_NAMED + 5}
"""What a player of whole plays does that knows no cube."""


def opponent_for(opponent: Any, settings: Settings) -> Any:
    """The opponent for these settings: the player of that name, a player object bound to them, or the callable itself.

    A model of Stable-Baselines3 is made a `ModelPlayer`.

    Raises:
        SettingsError: it is none of these.
    """
    if isinstance(opponent, str):
        return player(opponent, settings)
    if isinstance(opponent, type):
        msg = f"an opponent is an object, not the class {opponent.__name__}: give {opponent.__name__}(...)"
        raise SettingsError(msg)
    if hasattr(opponent, "choose") or hasattr(opponent, "choose_plays"):
        return bound(opponent, settings)
    if hasattr(opponent, "predict"):
        return ModelPlayer(opponent, settings=settings)
    if callable(opponent):
        return opponent
    msg = f"an opponent is a name, an object with choose or choose_plays, a model, or a callable, not {quoted(opponent)}"
    raise SettingsError(msg)


class CallablePlayer:
    """A callable as a player: given the batched observation of the waiting games, it answers with an action for each.

    Under `mask="info"` it gets the observations and the masks as two arguments, else the Dict of both.
    """

    def __init__(self, function: Any, options: EnvOptions) -> None:
        self.function = function
        self.options = options
        self._rules = options.settings.record()

    def choose(self, states: States, words: npt.NDArray[Any]) -> Any:  # noqa: ARG002 - it draws from what it likes
        """The callable's actions; see `Player.choose`."""
        mask = np.empty((len(states), self.options.settings.actions), np.int8)
        masks_of(states, self._rules, mask)
        view = self.options.encoder.encode(states, self._rules, seats=states["decider"].copy())
        if self.options.in_observation:
            return self.function({"observation": view, "action_mask": mask})
        return self.function(view, mask)


def batch_opponent(opponent: Any, options: EnvOptions) -> Any:
    """The opponent as a player bound to the settings, or None for self-play.

    Raises:
        SettingsError: it is no name, player, callable or None.
    """
    if opponent is None:
        return None
    chosen = opponent_for(opponent, options.settings)
    return chosen if hasattr(chosen, "choose") or hasattr(chosen, "choose_plays") else CallablePlayer(chosen, options)


def opponent_kind(opponent: Any) -> int:
    """How the batch sees it: NO_OPPONENT, RANDOM_OPPONENT and PUBEVAL_OPPONENT, which are kernels of it, or OTHER_OPPONENT."""
    if opponent is None:
        return NO_OPPONENT
    return {RandomPlayer: RANDOM_OPPONENT, PubevalPlayer: PUBEVAL_OPPONENT}.get(type(opponent), OTHER_OPPONENT)


def _whole(answer: Any, shape: tuple[int, ...], what: str) -> npt.NDArray[np.int64]:
    try:
        given = np.asarray(answer)
    except ValueError:  # ragged
        given = np.empty(0, object)
    if given.shape != shape or given.dtype.kind not in "iu":
        msg = f"the opponent must give {what}, integers of shape {shape}, not {given.dtype} of shape {given.shape}"
        raise IllegalActionError(msg)
    return np.ascontiguousarray(given, np.int64)


def actions_of(opponent: Any, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """What a bound player chooses, an action for each state; one of whole plays that knows no cube rolls, takes, names 6-6.

    Raises:
        IllegalActionError: it gave something else than integers (n,); whether they are legal is not looked at.
    """
    if hasattr(opponent, "choose"):
        return _whole(opponent.choose(states, words), (len(states),), "an action for each state")
    return np.array([_UNCUBED[Phase(int(phase))] for phase in states["phase"]], np.int64)


def plays_of(opponent: Any, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """What a bound player with `choose_plays` chooses: the steps of a whole play for each state.

    Raises:
        IllegalActionError: it gave something else than integers (n, 4); whether they are legal is not looked at.
    """
    return _whole(opponent.choose_plays(states, words), (len(states), 4), "a play for each state")


def _round(batch: Batch, opponent: Any, options: EnvOptions, info: Any, lo: int, hi: int) -> bool:
    """One decision, or one whole play, in every game that waits for the opponent; whether there was any."""
    states, slots, rules, *_ = batch
    index, words = np.empty(hi - lo, np.int64), np.empty(hi - lo, np.uint64)
    checker = np.empty(hi - lo, np.bool_)
    whole = hasattr(opponent, "choose_plays")
    n = find_waiting(states, slots, lo, hi, index, words, checker, not hasattr(opponent, "choose"))
    games, words, moving = index[:n], words[:n], checker[:n]
    if whole and moving.any():
        chosen = games[moving]
        plays = plays_of(opponent, states[chosen], words[moving])
        bad = answer_plays(*batch, info, chosen, plays)
        if bad >= 0:
            msg = f"the opponent's play {plays[bad].tolist()} in game {chosen[bad]} is not legal"
            raise IllegalActionError(msg)
        games, words = games[~moving], words[~moving]
    if len(games):
        actions = actions_of(opponent, states[games], words)
        bad = answer(*batch, info, games, actions)
        if bad >= 0:
            i, action = int(games[bad]), int(actions[bad])
            reason = why_illegal_text(states, i, options.settings, action, rules)
            msg = f"the opponent's action {action} in game {i} is illegal: {reason}"
            raise IllegalActionError(msg)
    return bool(n > 0)


def reply(batch: Batch, opponent: Any, options: EnvOptions, info: Any, lo: int, hi: int) -> None:
    """Let the opponent decide in the games from `lo` to `hi` until it has no decision left in any of them.

    Args:
        batch: see `Batch`.
        opponent: a bound player.
        options: of the environment.
        info: the info array.
        lo: the first game.
        hi: the game behind the last.

    Raises:
        IllegalActionError: it gave an action or a play that is not legal, or something else; the batch is half done.
    """
    while _round(batch, opponent, options, info, lo, hi):
        pass
