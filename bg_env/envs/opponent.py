"""The opponent inside an environment: a name, a player object or a callable, asked for one game at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from bg_env._jit import kernel
from bg_env.actions import checked, why_illegal_text
from bg_env.envs.episode import OneGame
from bg_env.errors import IllegalActionError
from bg_env.players import RandomPlayer, ask
from bg_env.players.protocol import plays_only
from bg_env.rewards import reward_of
from bg_env.rules import CHOICE, Phase, apply, legal_mask, pick_action, settle, word

__all__ = ["next_word", "opponent_moves"]


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
        reward, winner, level, won = _random_moves(one.states, one.rules, seat, one.options.reward.kind, one.mask)
        one.look(ended if winner < 0 else (won, level, winner))
        return float(reward)
    total = 0.0
    while one.info[0] == 1 - seat:
        whole = hasattr(opponent, "choose_plays") and one.states[0]["phase"] == Phase.CHECKER
        turn, left = int(one.states[0]["turns"]), int(one.states[0]["left"].sum())
        chosen = _chosen(one, opponent)
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


def _chosen(one: OneGame, opponent: Any) -> list[int]:
    """What the opponent chooses now: one action, or the steps of a whole play."""
    words = np.zeros(1, np.uint64)
    if not plays_only(opponent) or one.states[0]["phase"] == Phase.CHECKER:
        words[0] = next_word(one.states, 0)
    return [checked(action, one.settings.actions) for action in ask(opponent, one.states.copy(), words).only()]
