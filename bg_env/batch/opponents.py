"""Opponents of a batch that are no kernel of it: players and callables, asked for all waiting games at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from bg_env.actions import why_illegal_text
from bg_env.batch.kernels import answer, answer_plays, find_waiting
from bg_env.batch.layout import NO_OPPONENT, OTHER_OPPONENT, PUBEVAL_OPPONENT, RANDOM_OPPONENT, Batch
from bg_env.errors import IllegalActionError
from bg_env.options import EnvOptions
from bg_env.players import PubevalPlayer, RandomPlayer, ask, player_for
from bg_env.players.protocol import plays_only

__all__ = ["batch_opponent", "opponent_kind", "reply"]


def batch_opponent(opponent: Any, options: EnvOptions) -> Any:
    """The opponent as a player bound to the settings, see `player_for`; None for self-play.

    Raises:
        SettingsError: it is not a name, a player, a model, a callable or None.
    """
    if opponent is None:
        return None
    return player_for(opponent, options.settings, observation=options.encoder, mask=options.mask)


def opponent_kind(opponent: Any) -> int:
    """How the batch sees it: NO_OPPONENT, RANDOM_OPPONENT and PUBEVAL_OPPONENT, which are kernels of it, or OTHER_OPPONENT."""
    if opponent is None:
        return NO_OPPONENT
    return {RandomPlayer: RANDOM_OPPONENT, PubevalPlayer: PUBEVAL_OPPONENT}.get(type(opponent), OTHER_OPPONENT)


def _round(batch: Batch, opponent: Any, options: EnvOptions, info: Any, lo: int, hi: int) -> bool:
    """One decision, or one whole play, in every game that waits for the opponent; whether there was any."""
    states, slots, rules, *_ = batch
    index, words = np.empty(hi - lo, np.int64), np.empty(hi - lo, np.uint64)
    checker = np.empty(hi - lo, np.bool_)
    n = find_waiting(states, slots, lo, hi, index, words, checker, plays_only(opponent))
    if n == 0:
        return False
    games = index[:n]
    choices = ask(opponent, states[games], words[:n])
    moving, acting = games[choices.moving], games[choices.acting]
    bad = answer_plays(*batch, info, moving, choices.plays) if len(moving) else -1
    if bad >= 0:
        msg = f"the opponent's play {choices.plays[bad].tolist()} in game {moving[bad]} is not legal"
        raise IllegalActionError(msg)
    bad = answer(*batch, info, acting, choices.actions) if len(acting) else -1
    if bad >= 0:
        i, action = int(acting[bad]), int(choices.actions[bad])
        reason = why_illegal_text(states, i, options.settings, action, rules)
        msg = f"the opponent's action {action} in game {i} is illegal: {reason}"
        raise IllegalActionError(msg)
    return True


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
