"""Phases and what happens in them: the only place where a state changes.

A caller that has checked an action calls `apply`, then (unless it has dice of its own for `apply_roll`) `settle`, which
throws dice until somebody must decide or the episode is over. A turn without a legal step passes by itself (R3.3), so a
state that waits for a player has at least one legal action.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bg_env._jit import inlined, kernel
from bg_env.rules.actions import BEAVER, DOUBLE, DROP, FIRST_NAMED, ROLL, STEPS, TAKE, die_of, source_of
from bg_env.rules.cube import at_stake, may_double
from bg_env.rules.dice import draw
from bg_env.rules.moves import play_step, step_sets
from bg_env.rules.scoring import BACKGAMMON, SINGLE, board_level, counted_level
from bg_env.rules.state import (
    END_FINISHED,
    END_ILLEGAL,
    END_TRUNCATED,
    STAGE_BONUS,
    STAGE_DOUBLE,
    STAGE_EXTRA,
    STAGE_NONE,
    Phase,
)
from bg_env.rules.variant import OFF

__all__ = [
    "apply",
    "apply_finished_play",
    "apply_roll",
    "finish_roll",
    "forfeit",
    "new_episode",
    "play_on",
    "resign",
    "set_up",
    "settle",
    "ties_double",
]

_OPENING = int(Phase.OPENING)
_ROLL = int(Phase.ROLL)
_ROLL_OR_DOUBLE = int(Phase.ROLL_OR_DOUBLE)
_TAKE_OR_DROP = int(Phase.TAKE_OR_DROP)
_CHECKER = int(Phase.CHECKER)
_CHOOSE_DOUBLE = int(Phase.CHOOSE_DOUBLE)
_OVER = int(Phase.OVER)


@inlined
def _wait(states: Any, i: Any, phase: Any, decider: Any) -> None:
    states[i]["phase"] = phase
    states[i]["decider"] = decider


@inlined
def _no_dice(states: Any, i: Any) -> None:
    for k in range(2):
        states[i]["dice"][k] = 0
        states[i]["left"][k] = 0


@inlined
def _truncated(states: Any, i: Any, rules: Any) -> Any:
    """End the episode if no further turn may begin (R11.1)."""
    if rules[0]["max_turns"] and states[i]["turns"] >= rules[0]["max_turns"]:
        _wait(states, i, _OVER, -1)
        states[i]["ending"] = END_TRUNCATED
        return True
    return False


@kernel
def _start_game(states: Any, i: Any, rules: Any) -> None:
    """Set the board for the next game of the episode; what the last one ended with stays to be read."""
    for side in range(2):
        for p in range(26):
            states[i]["points"][side, p] = rules[0]["start"][p]
    _no_dice(states, i)
    states[i]["turn"] = -1
    states[i]["stage"] = STAGE_NONE
    states[i]["cube"] = 0
    states[i]["owner"] = -1
    states[i]["chain"] = 0
    states[i]["ties"] = 0
    states[i]["games"] += 1
    if not _truncated(states, i, rules):
        _wait(states, i, _OPENING, -1)


@kernel
def new_episode(states: Any, i: Any, rules: Any, key: Any) -> None:
    """Make state `i` the beginning of an episode with the random stream `key` (uint64); it waits for the opening throw."""
    states[i]["key"] = key
    states[i]["rolls"] = 0
    states[i]["choices"] = 0
    states[i]["crawford"] = 0
    states[i]["winner"] = -1
    states[i]["level"] = 0
    states[i]["won"] = 0
    states[i]["was_crawford"] = 0
    states[i]["ending"] = 0
    states[i]["score"][0] = 0
    states[i]["score"][1] = 0
    states[i]["turns"] = 0
    states[i]["games"] = 0
    _start_game(states, i, rules)


@kernel
def _end_game(states: Any, i: Any, rules: Any, winner: Any, level: Any) -> None:
    """`winner` wins the game at `level` (as it counts) and the stake; then the next game, if a match goes on (R9)."""
    won = np.int64(level) << at_stake(states, i)
    states[i]["cube"] = at_stake(states, i)
    states[i]["chain"] = 0
    states[i]["winner"] = winner
    states[i]["level"] = level
    states[i]["won"] = won
    states[i]["was_crawford"] = states[i]["crawford"]
    length = np.int64(rules[0]["match_length"])
    if length == 0:
        _wait(states, i, _OVER, -1)
        states[i]["ending"] = END_FINISHED
        return
    before = np.int64(states[i]["score"][winner])
    states[i]["score"][winner] = before + won
    if before + won >= length:
        _wait(states, i, _OVER, -1)
        states[i]["ending"] = END_FINISHED
        return
    reaches = before < length - 1 and before + won == length - 1 and states[i]["score"][1 - winner] < length - 1
    states[i]["crawford"] = rules[0]["crawford"] and rules[0]["cube"] and reaches  # R9.2
    _start_game(states, i, rules)


@inlined
def _start_turn(states: Any, i: Any, rules: Any, player: Any) -> None:
    """`player` comes on roll (R3.1): it may double first if R8 allows, else its dice are due."""
    if _truncated(states, i, rules):
        return
    states[i]["turn"] = player
    states[i]["turns"] += 1
    if may_double(states, i, rules, player):
        _wait(states, i, _ROLL_OR_DOUBLE, player)
    else:
        _wait(states, i, _ROLL, -1)


@inlined
def finish_roll(states: Any, i: Any, rules: Any) -> None:
    """Nothing (more) of the roll can be played: go on with the 1-2 bonus (R10.6) or pass the turn."""
    stage = states[i]["stage"]
    in_full = states[i]["left"][0] == 0 and states[i]["left"][1] == 0
    _no_dice(states, i)
    if in_full and stage == STAGE_BONUS:
        _wait(states, i, _CHOOSE_DOUBLE, states[i]["turn"])
    elif in_full and stage == STAGE_DOUBLE:
        states[i]["stage"] = STAGE_EXTRA
        _wait(states, i, _ROLL, -1)
    else:
        states[i]["stage"] = STAGE_NONE
        _start_turn(states, i, rules, 1 - states[i]["turn"])


@inlined
def _go_on(states: Any, i: Any, rules: Any) -> Any:
    """Ask the mover for the next step of its roll, or finish the roll if there is none (R3.3); the legal sources."""
    high, low = step_sets(states, i)
    if high | low:
        _wait(states, i, _CHECKER, states[i]["turn"])
    else:
        finish_roll(states, i, rules)
    return high, low


@inlined
def _take_up(states: Any, i: Any, rules: Any, d1: Any, d2: Any) -> None:
    """The mover has rolled: `d1` and `d2` are to be played."""
    states[i]["dice"][0] = max(d1, d2)
    states[i]["dice"][1] = min(d1, d2)
    states[i]["left"][0] = 4 if d1 == d2 else 1
    states[i]["left"][1] = 0 if d1 == d2 else 1
    if rules[0]["acey_deucey"] and d1 + d2 == 3:
        states[i]["stage"] = STAGE_BONUS


@inlined
def ties_double(states: Any, i: Any, rules: Any) -> Any:
    """Whether a tie in the opening throw, which is due, would double the cube (R2.2)."""
    return states[i]["ties"] < rules[0]["auto_doubles"] and states[i]["cube"] < rules[0]["cube_cap"]


@inlined
def _show(states: Any, i: Any, rules: Any, d1: Any, d2: Any) -> Any:
    """The dice of a chance phase; says whether they are to be played."""
    if states[i]["phase"] == _ROLL:
        _take_up(states, i, rules, d1, d2)
        return True
    if d1 == d2:
        states[i]["ties"] += 1
        states[i]["cube"] += 1
        return False
    states[i]["turn"] = 0 if d1 > d2 else 1
    states[i]["turns"] += 1
    if rules[0]["fresh_first_roll"]:
        _wait(states, i, _ROLL, -1)  # R2.3, and no doubling before it (R8.2)
        return False
    _take_up(states, i, rules, d1, d2)
    return True


@kernel
def apply_roll(states: Any, i: Any, rules: Any, d1: Any, d2: Any) -> None:
    """The dice of a chance phase. In OPENING `d1` is player 0's die (R2); a tie there must be one that doubles the cube."""
    if _show(states, i, rules, d1, d2):
        _go_on(states, i, rules)


@inlined
def _throw(states: Any, i: Any, rules: Any) -> Any:
    """Throw the dice that are due, of the state's own stream; says whether they are to be played."""
    unequal = states[i]["phase"] == _OPENING and not ties_double(states, i, rules)
    d1, d2 = draw(states[i]["key"], states[i]["rolls"], unequal)
    states[i]["rolls"] += 1
    return _show(states, i, rules, d1, d2)


@kernel
def settle(states: Any, i: Any, rules: Any) -> None:
    """Throw the dice of the state's own stream until a player must decide or the episode is over."""
    while states[i]["phase"] == _ROLL or states[i]["phase"] == _OPENING:
        if _throw(states, i, rules):
            _go_on(states, i, rules)


@kernel
def _borne_off(states: Any, i: Any, rules: Any) -> None:
    """The mover has borne off its last checker: the game ends at once (R3.4)."""
    side = states[i]["turn"]
    _no_dice(states, i)
    states[i]["stage"] = STAGE_NONE
    _end_game(states, i, rules, side, counted_level(states, i, rules, board_level(states, i, 1 - side)))


@inlined
def _step(states: Any, i: Any, rules: Any, action: Any) -> Any:
    """One checker step; says whether the roll goes on."""
    side = states[i]["turn"]
    die = die_of(action)
    play_step(states, i, side, source_of(action), die)
    if states[i]["dice"][0] == die:
        states[i]["left"][0] -= 1
    else:
        states[i]["left"][1] -= 1
    if states[i]["points"][side, OFF] == rules[0]["checkers"]:
        _borne_off(states, i, rules)
        return False
    return True


@kernel
def apply_finished_play(states: Any, i: Any, rules: Any, steps: Any) -> None:
    """The board of state `i` has had the last `steps` steps of its roll made by hand, all that can be: what follows them."""
    side = states[i]["turn"]
    states[i]["winner"] = -1
    states[i]["level"] = 0
    states[i]["won"] = 0
    states[i]["was_crawford"] = 0
    if states[i]["points"][side, OFF] == rules[0]["checkers"]:
        _borne_off(states, i, rules)
        return
    if states[i]["left"][0] + states[i]["left"][1] == steps:
        states[i]["left"][0] = 0
        states[i]["left"][1] = 0
    finish_roll(states, i, rules)


@inlined
def _do(states: Any, i: Any, rules: Any, action: Any) -> Any:
    """Do a legal action; says whether dice are to be played."""
    states[i]["winner"] = -1
    states[i]["level"] = 0
    states[i]["won"] = 0
    states[i]["was_crawford"] = 0
    turn = states[i]["turn"]
    if action < STEPS:
        return _step(states, i, rules, action)
    if action == ROLL:
        _wait(states, i, _ROLL, -1)
    elif action == DOUBLE:
        states[i]["chain"] = 1
        _wait(states, i, _TAKE_OR_DROP, 1 - turn)
    elif action == TAKE:
        states[i]["cube"] += states[i]["chain"]
        states[i]["chain"] = 0
        states[i]["owner"] = 1 - turn
        _wait(states, i, _ROLL, -1)
    elif action == DROP:
        _end_game(states, i, rules, 1 - states[i]["decider"], SINGLE)
    elif action == BEAVER:
        states[i]["chain"] += 1
        states[i]["decider"] = 1 - states[i]["decider"]
    else:
        states[i]["dice"][0] = action - FIRST_NAMED + 1
        states[i]["dice"][1] = action - FIRST_NAMED + 1
        states[i]["left"][0] = 4
        states[i]["stage"] = STAGE_DOUBLE
        return True
    return False


@kernel
def apply(states: Any, i: Any, rules: Any, action: Any) -> None:
    """Do `action`, which must be legal, for the player who decides. Dice that fall due are left to `settle`."""
    if _do(states, i, rules, action):
        _go_on(states, i, rules)


@kernel
def play_on(states: Any, i: Any, rules: Any, action: Any) -> Any:
    """`apply` and `settle` in one; returns the legal sources of the two dice then (as `legal_sets`), which it has found."""
    high = low = np.int64(0)
    playing = _do(states, i, rules, action)
    while True:
        if playing:
            high, low = _go_on(states, i, rules)
        if states[i]["phase"] != _ROLL and states[i]["phase"] != _OPENING:
            return high, low
        playing = _throw(states, i, rules)


@kernel
def resign(states: Any, i: Any, rules: Any, loser: Any, level: Any) -> None:
    """`loser` gives up the game at `level` (1, 2, 3) and the present stake; Jacoby holds."""
    _no_dice(states, i)
    states[i]["stage"] = STAGE_NONE
    _end_game(states, i, rules, 1 - loser, counted_level(states, i, rules, level))


@kernel
def forfeit(states: Any, i: Any, rules: Any, loser: Any) -> None:
    """An illegal action ends the episode: `loser` loses as by the highest level at the present cube."""
    states[i]["winner"] = 1 - loser
    states[i]["level"] = BACKGAMMON
    states[i]["won"] = np.int64(BACKGAMMON) << at_stake(states, i)
    states[i]["was_crawford"] = states[i]["crawford"]
    if rules[0]["match_length"]:
        states[i]["score"][1 - loser] += states[i]["won"]
    states[i]["ending"] = END_ILLEGAL
    _wait(states, i, _OVER, -1)


@kernel
def set_up(states: Any, i: Any, rules: Any, d1: Any, d2: Any) -> None:
    """Make a state set up by hand wait for what is due: points, turn, cube, owner, crawford and score are read.

    With `d1`, `d2` 0 the player `turn` is to double or roll (never a first turn, R8.2), else it has rolled them. Where a
    side has borne off everything the game is over, won by it, with the points it is worth; scores stay as they are. (With
    dice only the mover counts: a board without opposing checkers is one to bear off on.)
    """
    turn = states[i]["turn"]
    _no_dice(states, i)
    states[i]["stage"] = STAGE_NONE
    states[i]["chain"] = 0
    states[i]["winner"] = -1
    states[i]["level"] = 0
    states[i]["won"] = 0
    states[i]["was_crawford"] = 0
    states[i]["ending"] = 0
    states[i]["games"] = 1
    states[i]["turns"] = 0
    for side in range(2):
        if states[i]["points"][side, OFF] == rules[0]["checkers"] and (side == turn or d1 == 0):
            level = counted_level(states, i, rules, board_level(states, i, 1 - side))
            states[i]["winner"] = side
            states[i]["level"] = level
            states[i]["won"] = np.int64(level) << states[i]["cube"]
            states[i]["ending"] = END_FINISHED
            _wait(states, i, _OVER, -1)
            return
    _start_turn(states, i, rules, turn)
    if d1:
        _take_up(states, i, rules, d1, d2)
        _go_on(states, i, rules)
