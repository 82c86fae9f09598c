"""The opponent inside an environment: a name, a player object or a callable, asked for one game at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bg_env._jit import kernel
from bg_env.actions import ROLL, TAKE, checked, why_illegal_text
from bg_env.envs.episode import OneGame
from bg_env.errors import IllegalActionError
from bg_env.players import RandomPlayer
from bg_env.rewards import reward_of
from bg_env.rules import CHOICE, Phase, apply, legal_mask, pick_action, settle, word

__all__ = ["next_word", "opponent_moves"]

_NAME_SIXES = 160


@kernel
def next_word(states: Any, i: Any) -> Any:
    """The next 64 bits (uint64) of the game's stream of choices; the state's counter goes on."""
    bits = word(states[i]["key"], CHOICE, states[i]["choices"])
    states[i]["choices"] += 1
    return bits


@kernel
def _random_moves(states: Any, rules: Any, seat: Any, kind: Any, mask: Any) -> Any:
    """The random player acts for the other side until `seat` must decide or it is over.

    Returns player 0's reward, and winner, level and points of the last game that ended on the way (-1, 0, 0 if none did).
    """
    reward = 0.0
    winner = np.int64(-1)
    level = np.int64(0)
    won = np.int64(0)
    while states[0]["decider"] == 1 - seat:
        apply(states, 0, rules, pick_action(states, 0, next_word(states, 0)))
        if states[0]["winner"] >= 0:
            reward += reward_of(states, 0, rules, kind)
            winner = np.int64(states[0]["winner"])
            level = np.int64(states[0]["level"])
            won = np.int64(states[0]["won"])
        settle(states, 0, rules)
    legal_mask(states, 0, rules, mask, 0)
    return reward, int(winner), int(level), int(won)


def opponent_moves(one: OneGame, seat: int, opponent: Any) -> float:
    """The opponent acts until `seat` must decide or the episode is over; player 0's reward for all that.

    Where games end on the way, `one.info` tells of the last of them.

    Raises:
        IllegalActionError: the opponent chose something illegal; the state is as it left it.
    """
    if isinstance(opponent, RandomPlayer) and one.plain:
        if one.info[0] != 1 - seat:
            return 0.0
        ended = one.info[1], one.info[2], one.info[4]
        reward, winner, level, won = _random_moves(one.states, one.rules, seat, one.options.reward, one.mask)
        one.look(ended if winner < 0 else (won, level, winner))
        return float(reward)
    total = 0.0
    while one.info[0] == 1 - seat:
        whole = hasattr(opponent, "choose_plays") and one.states[0]["phase"] == Phase.CHECKER
        turn, left = int(one.states[0]["turns"]), int(one.states[0]["left"].sum())
        chosen = _chosen(one, 1 - seat, opponent)
        for action in chosen:
            if one.info[0] != 1 - seat or not one.mask[0, action]:
                reason = why_illegal_text(one.states, 0, one.settings, action, one.rules)
                msg = f"the opponent chose an illegal action: {reason or 'the turn is not its own any more'}"
                raise IllegalActionError(msg)
            ended = one.info[1], one.info[2], one.info[4]
            total += one.act(action)
            if ended[2] >= 0 and one.info[4] < 0:
                one.look(ended)
        s = one.states[0]
        if whole and s["phase"] == Phase.CHECKER and s["turns"] == turn and s["left"].sum() == left - len(chosen):
            msg = f"the opponent's play of {len(chosen)} steps leaves a part of the roll that can be played (R5)"
            raise IllegalActionError(msg)
    return total


def _chosen(one: OneGame, seat: int, opponent: Any) -> list[int]:
    """What the opponent chooses now: one action, or the steps of a whole play."""
    size = one.settings.actions
    if hasattr(opponent, "choose_plays") and one.states[0]["phase"] == Phase.CHECKER:
        words = np.array([next_word(one.states, 0)], np.uint64)
        steps = np.asarray(_row(opponent.choose_plays(one.states.copy(), words), "choose_plays"))
        if steps.ndim != 1 or len(steps) > 4 or (steps.size and steps.dtype.kind not in "iu"):
            msg = f"the opponent's play must be up to 4 integers, -1 behind the last step, not {str(steps.tolist())[:60]}"
            raise IllegalActionError(msg)
        return [checked(action, size) for action in steps.tolist() if action >= 0]
    if hasattr(opponent, "choose"):
        words = np.array([next_word(one.states, 0)], np.uint64)
        return [checked(_row(opponent.choose(one.states.copy(), words), "choose"), size)]
    if hasattr(opponent, "choose_plays"):
        phase = one.states[0]["phase"]
        return [{Phase.ROLL_OR_DOUBLE: ROLL, Phase.TAKE_OR_DROP: TAKE}.get(phase, _NAME_SIXES)]
    return [checked(_row(_ask(one, seat, opponent), "the callable"), size)]


def _ask(one: OneGame, seat: int, opponent: Callable[..., Any]) -> Any:
    view, mask = one.observation(seat)[None], one.mask_of(seat)[None]
    if one.options.in_observation:
        return opponent({"observation": view, "action_mask": mask})
    return opponent(view, mask)


def _row(answer: Any, what: str) -> Any:
    """The only game's part of an answer for a batch of one."""
    try:
        rows = np.asarray(answer)
    except ValueError:  # ragged
        msg = f"the opponent's answer ({what}) must have one row a game, here 1, and rows of one length"
        raise IllegalActionError(msg) from None
    if rows.ndim == 0 and what == "the callable":
        return rows[()]
    if rows.ndim == 0 or len(rows) != 1:
        msg = f"the opponent's answer ({what}) must have one row a game, here 1, not shape {rows.shape}"
        raise IllegalActionError(msg)
    return rows[0]
