"""Opponents of a batch: players and callables, asked for all waiting games at once, and pubeval as a kernel.

The random player is a kernel as well: `bg_env.batch.step.random_replies`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined, kernel
from bg_env.actions import why_illegal_text
from bg_env.batch.kernels import answer, answer_plays, copy_states, find_waiting, look_at
from bg_env.batch.layout import (
    NO_OPPONENT,
    OTHER_OPPONENT,
    PUBEVAL_OPPONENT,
    RANDOM_OPPONENT,
    RUNNING,
    Arrays,
    Batch,
    Finals,
    Info,
    Report,
)
from bg_env.batch.step import act, close_step, go_to, opponent_decides, report_step
from bg_env.errors import IllegalActionError
from bg_env.options import EnvOptions
from bg_env.players import Choices, Player, PlayPlayer, PubevalPlayer, RandomPlayer, ask, player_for
from bg_env.players.protocol import plays_only
from bg_env.players.pubeval import pubeval_play, pubeval_table
from bg_env.rules import STATE, Phase, PlayBuffer, Settings, play_buffer
from bg_env.rules.actions import LAST_NAMED, ROLL, TAKE

__all__ = [
    "Pubeval",
    "batch_opponent",
    "opponent_kind",
    "pubeval_finish",
    "pubeval_for",
    "pubeval_replies",
    "reply",
    "reply_once",
]


def batch_opponent(opponent: Any, options: EnvOptions) -> Player | PlayPlayer | None:
    """The opponent as a player bound to the settings, see `player_for`; None for self-play.

    Raises:
        SettingsError: it is not a name, a player, a model, a callable or None.
    """
    if opponent is None:
        return None
    return player_for(opponent, options.settings, observation=options.encoder, mask=options.mask)


def opponent_kind(opponent: Player | PlayPlayer | None) -> int:
    """The kind of an opponent: NO_OPPONENT, RANDOM_OPPONENT or PUBEVAL_OPPONENT (kernels), or OTHER_OPPONENT (`ask`)."""
    if opponent is None:
        return NO_OPPONENT
    return {RandomPlayer: RANDOM_OPPONENT, PubevalPlayer: PUBEVAL_OPPONENT}.get(type(opponent), OTHER_OPPONENT)


def reply_once(
    batch: Arrays, opponent: Player | PlayPlayer, options: EnvOptions, info: Info, lo: int, hi: int
) -> Choices | None:
    """One decision, or one whole play, in every game that waits for the opponent; None if no game does. See `reply`."""
    games = Batch(*batch)
    index, words = np.empty(hi - lo, np.int64), np.empty(hi - lo, np.uint64)
    n = find_waiting(batch, lo, hi, index, words, plays_only(opponent))
    if n == 0:
        return None
    waiting, states = index[:n], np.empty(n, STATE)
    copy_states(games.states, waiting, states)
    choices = ask(opponent, states, words[:n])
    moving, acting = waiting[choices.moving], waiting[choices.acting]
    bad = answer_plays(batch, moving, choices.plays, info) if len(moving) else -1
    if bad >= 0:
        msg = f"the opponent's play {choices.plays[bad].tolist()} in game {moving[bad]} is not legal"
        raise IllegalActionError(msg)
    bad = answer(batch, acting, choices.actions, info) if len(acting) else -1
    if bad >= 0:
        i, action = int(acting[bad]), int(choices.actions[bad])
        reason = why_illegal_text(games.states, i, options.settings, action, games.rules)
        msg = f"the opponent's action {action} in game {i} is illegal: {reason}"
        raise IllegalActionError(msg)
    return choices


def reply(batch: Arrays, opponent: Player | PlayPlayer, options: EnvOptions, info: Info, lo: int, hi: int) -> None:
    """Let the opponent decide in the games from `lo` to `hi` until it has no decision left in any of them.

    Args:
        batch: the fields of a `Batch`.
        opponent: a bound player.
        options: of the environment.
        info: the info array.
        lo: the first game.
        hi: the game after the last.

    Raises:
        IllegalActionError: it gave an action or a play that is not legal, or something else; the batch is half done.
    """
    while reply_once(batch, opponent, options, info, lo, hi) is not None:
        pass


class Pubeval(NamedTuple):
    """The arrays that pubeval works with: one for each thread."""

    table: npt.NDArray[np.int64]
    """`pubeval_table(checkers)`."""
    plays: tuple[Any, ...]
    """The fields of a `PlayBuffer`."""


def pubeval_for(settings: Settings) -> Pubeval:
    """Pubeval's table and arrays for these settings."""
    return Pubeval(pubeval_table(settings.variant.checkers), tuple(play_buffer()))


@inlined
def _pubeval_decides(games: Batch, i: int, info: Info, pubeval: Pubeval) -> None:
    """Let pubeval decide in game `i` until the learner or nobody does.

    Each play takes a random word, as all that is chosen does; rolling, taking and naming 6-6, where it has no choice, take
    none.
    """
    states, plays = games.states, PlayBuffer(*pubeval.plays)
    while games.slots[i]["over"] == RUNNING and opponent_decides(games, i):
        phase = states[i]["phase"]
        if phase == Phase.CHECKER:
            states[i]["choices"] += 1
            n = pubeval_play(states, i, games.rules, pubeval.table, plays)
            go_to(games, i, plays.after, n, info)
        elif phase == Phase.ROLL_OR_DOUBLE:
            act(games, i, ROLL, info)
        elif phase == Phase.TAKE_OR_DROP:
            act(games, i, TAKE, info)
        else:
            act(games, i, LAST_NAMED, info)


@kernel
def pubeval_replies(batch: Arrays, info: Info, pubeval: Arrays, lo: int, hi: int) -> None:
    """Let pubeval decide until the learner or nobody does; `pubeval` has the fields of a `Pubeval`."""
    games, player = Batch(*batch), Pubeval(*pubeval)
    for i in range(lo, hi):
        _pubeval_decides(games, i, info, player)


@kernel
def pubeval_finish(batch: Arrays, report: Arrays, finals: Arrays, seen: Arrays, pubeval: Arrays, lo: int, hi: int) -> None:
    """Parts 2 to 5 of a step against pubeval, and a look; see `bg_env.batch.kernels.step_games`."""
    games, outcome, ended, player = Batch(*batch), Report(*report), Finals(*finals), Pubeval(*pubeval)
    viewers, mask = seen
    for i in range(lo, hi):
        for part in range(2):  # a loop, so that the plays are compiled into it once
            if part == 1:
                report_step(games, i, outcome, ended)
            _pubeval_decides(games, i, outcome.info, player)
        close_step(games, i, outcome.info)
        look_at(games, i, viewers, mask)
