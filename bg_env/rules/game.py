"""Phases of a game and the changes of state in them: actions, rolls, ends of games and matches.

A caller that has checked an action calls `apply`, then (unless it has dice of its own for `apply_roll`) `settle`, which
throws dice until a player must decide or the episode is over. A turn without a legal step passes by itself (R3.3), so a
state that waits for a player has at least one legal action.
"""

from __future__ import annotations

import numpy as np

from bg_env._jit import inlined, kernel
from bg_env.rules.actions import BEAVER, DOUBLE, DROP, FIRST_NAMED, ROLL, STEPS, TAKE, die_of, source_of
from bg_env.rules.cube import at_stake, may_double
from bg_env.rules.dice import draw
from bg_env.rules.moves import play_step, step_sets
from bg_env.rules.scoring import BACKGAMMON, SINGLE, board_level, counted_level
from bg_env.rules.settings import Rules
from bg_env.rules.state import (
    END_FINISHED,
    END_ILLEGAL,
    END_TRUNCATED,
    STAGE_BONUS,
    STAGE_DOUBLE,
    STAGE_EXTRA,
    STAGE_NONE,
    Phase,
    States,
)
from bg_env.rules.variant import OFF

__all__ = [
    "apply",
    "apply_finished_play",
    "apply_roll",
    "do_action",
    "draw_roll",
    "finish_roll",
    "forfeit",
    "go_on",
    "new_episode",
    "resign",
    "run_on",
    "set_up",
    "settle",
    "show_roll",
    "ties_double",
]


@inlined
def _wait(states: States, i: int, phase: int, decider: int) -> None:
    """Enter `phase`, in which `decider` acts, or nobody (-1)."""
    state = states[i]
    state["phase"] = phase
    state["decider"] = decider


@inlined
def _no_dice(states: States, i: int) -> None:
    """Clear the roll."""
    state = states[i]
    for k in range(2):
        state["dice"][k] = 0
        state["left"][k] = 0


@inlined
def _truncated(states: States, i: int, rules: Rules) -> bool:
    """End the episode if no further turn may begin (R11.1); returns whether it has ended."""
    state = states[i]
    if rules[0]["max_turns"] and state["turns"] >= rules[0]["max_turns"]:
        _wait(states, i, Phase.OVER, -1)
        state["ending"] = END_TRUNCATED
        return True
    return False


@kernel
def _start_game(states: States, i: int, rules: Rules) -> None:
    """Set the board for the next game of the episode; the result of the last one stays in the state."""
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
        _wait(states, i, Phase.OPENING, -1)


@kernel
def new_episode(states: States, i: int, rules: Rules, key: np.uint64) -> None:
    """Make state `i` the beginning of an episode with the random stream `key`; it waits for the opening throw (R2.1)."""
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
def _end_game(states: States, i: int, rules: Rules, winner: int, level: int) -> None:
    """`winner` wins the game at `level` (as it counts, R8.5) times the stake; if a match goes on its next game starts (R9)."""
    state = states[i]
    won = np.int64(level) << at_stake(states, i)
    state["cube"] = at_stake(states, i)
    state["chain"] = 0
    state["winner"] = winner
    state["level"] = level
    state["won"] = won
    state["was_crawford"] = state["crawford"]
    length = np.int64(rules[0]["match_length"])
    if length == 0:
        _wait(states, i, Phase.OVER, -1)
        state["ending"] = END_FINISHED
        return
    before = np.int64(state["score"][winner])
    state["score"][winner] = before + won
    if before + won >= length:
        _wait(states, i, Phase.OVER, -1)
        state["ending"] = END_FINISHED
        return
    reaches = before < length - 1 and before + won == length - 1 and state["score"][1 - winner] < length - 1
    state["crawford"] = rules[0]["crawford"] and rules[0]["cube"] and reaches  # R9.2
    _start_game(states, i, rules)


@inlined
def _start_turn(states: States, i: int, rules: Rules, player: int) -> None:
    """`player` comes on roll (R3.1): it may double first if R8 allows, else its dice are due."""
    state = states[i]
    if _truncated(states, i, rules):
        return
    state["turn"] = player
    state["turns"] += 1
    if may_double(states, i, rules, player):
        _wait(states, i, Phase.ROLL_OR_DOUBLE, player)
    else:
        _wait(states, i, Phase.ROLL, -1)


@inlined
def finish_roll(states: States, i: int, rules: Rules) -> None:
    """Nothing more of the roll can be played: go on with the 1-2 bonus (R10.6) or pass the turn."""
    state = states[i]
    stage = state["stage"]
    in_full = state["left"][0] == 0 and state["left"][1] == 0
    _no_dice(states, i)
    if in_full and stage == STAGE_BONUS:
        _wait(states, i, Phase.CHOOSE_DOUBLE, state["turn"])
    elif in_full and stage == STAGE_DOUBLE:
        state["stage"] = STAGE_EXTRA
        _wait(states, i, Phase.ROLL, -1)
    else:
        state["stage"] = STAGE_NONE
        _start_turn(states, i, rules, 1 - state["turn"])


@inlined
def go_on(states: States, i: int, rules: Rules) -> tuple[int, int]:
    """Wait for the mover's next step, or finish the roll if there is no legal one (R3.3); returns its legal sources."""
    high, low = step_sets(states, i)
    if high | low:
        _wait(states, i, Phase.CHECKER, states[i]["turn"])
    else:
        finish_roll(states, i, rules)
    return high, low


@inlined
def _take_up(states: States, i: int, rules: Rules, d1: int, d2: int) -> None:
    """The mover has rolled: `d1` and `d2` are to be played."""
    state = states[i]
    state["dice"][0] = max(d1, d2)
    state["dice"][1] = min(d1, d2)
    state["left"][0] = 4 if d1 == d2 else 1
    state["left"][1] = 0 if d1 == d2 else 1
    if rules[0]["acey_deucey"] and d1 + d2 == 3:
        state["stage"] = STAGE_BONUS


@inlined
def ties_double(states: States, i: int, rules: Rules) -> bool:
    """Whether a tie in the opening throw, which is due, would double the cube (R2.2)."""
    state = states[i]
    return bool(state["ties"] < rules[0]["auto_doubles"] and state["cube"] < rules[0]["cube_cap"])


@inlined
def show_roll(states: States, i: int, rules: Rules, d1: int, d2: int) -> bool:
    """Show the dice of a chance phase; returns whether they are to be played."""
    state = states[i]
    if state["phase"] == Phase.ROLL:
        _take_up(states, i, rules, d1, d2)
        return True
    if d1 == d2:
        state["ties"] += 1
        state["cube"] += 1
        return False
    state["turn"] = 0 if d1 > d2 else 1
    state["turns"] += 1
    if rules[0]["fresh_first_roll"]:
        _wait(states, i, Phase.ROLL, -1)  # R2.3, and no doubling before it (R8.2)
        return False
    _take_up(states, i, rules, d1, d2)
    return True


@kernel
def apply_roll(states: States, i: int, rules: Rules, d1: int, d2: int) -> None:
    """Apply the dice of a chance phase. In OPENING `d1` is player 0's die (R2.1); a tie must be one that doubles the cube."""
    if show_roll(states, i, rules, d1, d2):
        go_on(states, i, rules)


@inlined
def draw_roll(states: States, i: int, rules: Rules) -> tuple[int, int]:
    """Draw the dice of a chance phase, for `apply_roll`, from the state's own stream."""
    unequal = states[i]["phase"] == Phase.OPENING and not ties_double(states, i, rules)
    d1, d2 = draw(states[i]["key"], states[i]["rolls"], unequal)
    states[i]["rolls"] += 1
    return d1, d2


@inlined
def _throw(states: States, i: int, rules: Rules) -> bool:
    """Throw the dice that are due, of the state's own stream; returns whether they are to be played."""
    d1, d2 = draw_roll(states, i, rules)
    return show_roll(states, i, rules, d1, d2)


@kernel
def run_on(states: States, i: int, rules: Rules, playing: bool) -> None:
    """`settle`, of a state in which dice may have to be played at first (`playing`: what `do_action` returned)."""
    while True:
        if playing:
            go_on(states, i, rules)
        if states[i]["phase"] != Phase.ROLL and states[i]["phase"] != Phase.OPENING:
            return
        playing = _throw(states, i, rules)


@kernel
def settle(states: States, i: int, rules: Rules) -> None:
    """Throw the dice of the state's own stream until a player must decide or the episode is over."""
    run_on(states, i, rules, False)


@kernel
def _borne_off(states: States, i: int, rules: Rules) -> None:
    """The mover has borne off its last checker: the game ends at once (R3.4)."""
    state = states[i]
    side = state["turn"]
    _no_dice(states, i)
    state["stage"] = STAGE_NONE
    _end_game(states, i, rules, side, counted_level(states, i, rules, board_level(states, i, 1 - side)))


@inlined
def _step(states: States, i: int, rules: Rules, action: int) -> bool:
    """Make a checker step; returns whether the roll goes on."""
    state = states[i]
    side = state["turn"]
    die = die_of(action)
    play_step(states, i, side, source_of(action), die)
    if state["dice"][0] == die:
        state["left"][0] -= 1
    else:
        state["left"][1] -= 1
    if state["points"][side, OFF] == rules[0]["checkers"]:
        _borne_off(states, i, rules)
        return False
    return True


@kernel
def apply_finished_play(states: States, i: int, rules: Rules, steps: int) -> None:
    """Go on from a board on which the last `steps` steps of the roll, all that can be played, have been made."""
    state = states[i]
    side = state["turn"]
    state["winner"] = -1
    state["level"] = 0
    state["won"] = 0
    state["was_crawford"] = 0
    if state["points"][side, OFF] == rules[0]["checkers"]:
        _borne_off(states, i, rules)
        return
    if state["left"][0] + state["left"][1] == steps:
        state["left"][0] = 0
        state["left"][1] = 0
    finish_roll(states, i, rules)


@inlined
def do_action(states: States, i: int, rules: Rules, action: int) -> bool:
    """Do a legal action; returns whether dice are to be played."""
    state = states[i]
    state["winner"] = -1
    state["level"] = 0
    state["won"] = 0
    state["was_crawford"] = 0
    turn = state["turn"]
    if action < STEPS:
        return _step(states, i, rules, action)
    if action == ROLL:
        _wait(states, i, Phase.ROLL, -1)
    elif action == DOUBLE:
        state["chain"] = 1
        _wait(states, i, Phase.TAKE_OR_DROP, 1 - turn)
    elif action == TAKE:
        state["cube"] += state["chain"]
        state["chain"] = 0
        state["owner"] = 1 - turn
        _wait(states, i, Phase.ROLL, -1)
    elif action == DROP:
        _end_game(states, i, rules, 1 - state["decider"], SINGLE)
    elif action == BEAVER:
        state["chain"] += 1
        state["decider"] = 1 - state["decider"]
    else:
        state["dice"][0] = action - FIRST_NAMED + 1
        state["dice"][1] = action - FIRST_NAMED + 1
        state["left"][0] = 4
        state["stage"] = STAGE_DOUBLE
        return True
    return False


@kernel
def apply(states: States, i: int, rules: Rules, action: int) -> None:
    """Do `action`, which must be legal, for the player who decides. Dice that fall due are left to `settle`."""
    if do_action(states, i, rules, action):
        go_on(states, i, rules)


@kernel
def resign(states: States, i: int, rules: Rules, loser: int, level: int) -> None:
    """`loser` gives up the game at `level` (1, 2 or 3) times the stake; under the Jacoby rule as in R8.5."""
    _no_dice(states, i)
    states[i]["stage"] = STAGE_NONE
    _end_game(states, i, rules, 1 - loser, counted_level(states, i, rules, level))


@kernel
def forfeit(states: States, i: int, rules: Rules, loser: int) -> None:
    """End the episode for an illegal action: `loser` loses a backgammon at the present stake, whatever the board."""
    state = states[i]
    state["winner"] = 1 - loser
    state["level"] = BACKGAMMON
    state["won"] = np.int64(BACKGAMMON) << at_stake(states, i)
    state["was_crawford"] = state["crawford"]
    if rules[0]["match_length"]:
        state["score"][1 - loser] += state["won"]
    state["ending"] = END_ILLEGAL
    _wait(states, i, Phase.OVER, -1)


@kernel
def set_up(states: States, i: int, rules: Rules, d1: int, d2: int) -> None:
    """Complete a state set up by hand; points, turn, cube, owner, crawford and score are those given.

    With dice 0 and 0 the player `turn` is to double or roll (it is not a first turn, R8.2), else it has rolled `d1` and `d2`.
    Where a side has borne off all its checkers the game is over and won by it, and the scores stay as they are. (With dice
    that holds for the mover only: it may bear off against a side without checkers.)
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
            _wait(states, i, Phase.OVER, -1)
            return
    _start_turn(states, i, rules, turn)
    if d1:
        _take_up(states, i, rules, d1, d2)
        go_on(states, i, rules)
