"""The luck of the dice in games of the arena, as a value net sees it.

The luck of a roll is the value of the net's best play of it, less the mean of these values over all rolls that were possible:
36 of a turn, and of an extra roll of Acey-Deucey; of the opening throw 30, 36 where a tie would double the cube. Its
expectation is 0 whatever the players do, so a result less the luck in it has the expectation of the result, for any two players
and any net; the better the net, the smaller the spread. (White and Bowling, "Learning a Value Analysis Tool for Agent
Evaluation", IJCAI 2009; Burch, Schmid, Moravcik and Bowling, "AIVAT", AAAI 2018.)

Values are points in money play, at the cube of the moment by Janowski's model where a cube is in play, and match winning
chances in a match. Where a player needs more points than the match equity table covers, the chance that a point adds is that of
the rule of Trice and Jacobs, .85 / (T + 6), T the points that the trailing player needs.

A roll is a function of a game's key and of the number of its rolls, so the luck is found beside the games: each choice is made
once more on a copy of its state.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.actions import FIRST_NAMED
from bg_env.equity import LONGEST
from bg_env.errors import SettingsError, quoted
from bg_env.players import ValueNet, player
from bg_env.players.janowski import CUBE_LIFE, CubeLines, cube_lines, cube_values, write_payoffs
from bg_env.players.protocol import name_of
from bg_env.players.valuenet.evaluate import (
    Evaluator,
    Scratch,
    evaluate_as,
    evaluate_plays,
    new_scratch,
    plain,
    scratch_of,
)
from bg_env.players.valuenet.net import OUTCOMES, Net
from bg_env.players.valuenet.search import plain_rules
from bg_env.rules import (
    STATE,
    Phase,
    Rules,
    Settings,
    States,
    apply,
    apply_roll,
    draw_roll,
    may_double,
    new_episode,
    ties_double,
)

__all__ = ["ROLLERS", "LuckMeter"]

ROLLERS: Final = 3
"""The parts of the luck in a game: of the first player's rolls, of the second player's, of the opening throws."""

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_FIRST = np.int64(0)
_OPENING: Final = 2


class Tools(NamedTuple):
    """The net and the scratch of the kernels.

    Attributes:
        evaluator: the net, the rules of the variant without cube and match, and float32 (1, 2, 6), the payoffs of `work`.
        scratch: for the plays of a roll.
        lines: for Janowski's model.
        rules: the RULES record in force.
        probabilities: float64 (1, 6), the outcomes as the player on roll sees them.
        work: STATE (1,), the game.
        turned: STATE (1,), the game after a play.
        named: STATE (1,), the game in which a double is named.
        life: the cube-life index.
    """

    evaluator: Evaluator
    scratch: Scratch
    lines: CubeLines
    rules: Rules
    probabilities: Floats
    work: States
    turned: States
    named: States
    life: float


@kernel
def _equity(tools: Tools, turn: int, over: bool, new_turn: bool) -> float:
    """The value to seat 0 of the game of `work` with the outcomes of `probabilities`, `turn` on roll.

    Points in money play, in a match the chance to win it. With `over` nothing is left to play; with `new_turn` the player on
    roll may double, if it has access to the cube.
    """
    turned, rules = tools.turned, tools.rules
    turned[0] = tools.work[0]
    turned[0]["turn"] = turn
    live = rules[0]["cube"] != 0 and turned[0]["crawford"] == 0 and not over
    life = tools.life if live else 0.0
    values = cube_values(turned, _FIRST, rules, tools.probabilities, _FIRST, life, tools.lines)
    value: float = values.stands
    if live and new_turn and may_double(turned, _FIRST, rules, turn):
        value = max(value, min(values.taken, values.dropped))
    length = np.int64(rules[0]["match_length"])
    if length == 0:
        return value if turn == 0 else -value
    need: int = length - min(np.int64(turned[0]["score"][0]), np.int64(turned[0]["score"][1]))
    if need > LONGEST:
        gain: float = (value if turn == 0 else -value) * 0.85 / (need + 6)
        return gain
    return value if turn == 0 else 1.0 - value


@kernel
def _play_best(tools: Tools, mover: int) -> tuple[int, bool]:
    """Make the best play by the net in the state of `scratch.step`, in which `mover` has rolled, or pass without a play.

    Returns:
        Who is on roll then, `mover` where the game is over, and whether it is over. `turned` has the state, and
        `probabilities` the outcomes as that player sees them.
    """
    step, layers, found = tools.scratch.step, tools.scratch.layers, tools.probabilities
    turn = np.int64(step[0]["turn"])
    if step[0]["phase"] != Phase.CHECKER:
        evaluate_as(step, _FIRST, turn, tools.evaluator, layers)
        for o in range(OUTCOMES):
            found[0, o] = layers.outputs[o]
        tools.turned[0] = step[0]
        return turn, False
    best = evaluate_plays(step, _FIRST, tools.evaluator, _FIRST, tools.scratch)[0]
    tools.turned[0] = tools.scratch.plays.after[best]
    over = tools.turned[0]["winner"] >= 0
    turn = mover if over else np.int64(tools.turned[0]["turn"])
    shift = 0 if turn == mover else 3  # the outputs at the best play are as the mover sees it
    for o in range(OUTCOMES):
        found[0, o] = layers.best[(o + shift) % OUTCOMES]
    return turn, over


@kernel
def _value_ahead(tools: Tools, mover: int) -> float:
    """The value to seat 0 of the state in `scratch.step`, in which `mover` has rolled: that of the best play by the net.

    Where that earns a double (R10.6), its value is that of the best double.
    """
    turn, over = _play_best(tools, mover)
    if tools.turned[0]["phase"] != Phase.CHOOSE_DOUBLE:
        return _equity(tools, turn, over, turn != mover)
    sign = 1.0 if mover == 0 else -1.0
    tools.named[0] = tools.turned[0]
    top = 0.0
    for d in range(1, 7):
        tools.scratch.step[0] = tools.named[0]
        apply(tools.scratch.step, _FIRST, tools.evaluator.rules, FIRST_NAMED + d - 1)
        turn, over = _play_best(tools, mover)
        value = sign * _equity(tools, turn, over, turn != mover)
        if d == 1 or value > top:
            top = value
    return sign * top


@kernel
def _luck_of(tools: Tools, d1: int, d2: int) -> float:
    """The luck to seat 0 of the roll `d1`, `d2` in the state of `work`, in which dice are due."""
    work, step, rules = tools.work, tools.scratch.step, tools.rules
    write_payoffs(work, rules, tools.evaluator.payoffs)
    opening = work[0]["phase"] == Phase.OPENING
    tie_counts = opening and ties_double(work, _FIRST, rules)
    total = 0.0
    rolls = 0.0
    thrown = 0.0
    for a in range(1, 7):
        for b in range(1, 7 if opening else a + 1):
            tie = opening and a == b
            if tie and not tie_counts:
                continue
            value = 0.0  # of a tie, which leaves money play even at twice the cube
            if not tie:
                step[0] = work[0]
                apply_roll(step, _FIRST, tools.evaluator.rules, a, b)
                mover = np.int64(work[0]["turn"])
                if opening:
                    mover = np.int64(0) if a > b else np.int64(1)
                value = _value_ahead(tools, mover)
            weight = 1.0 if opening or a == b else 2.0
            total += weight * value
            rolls += weight
            if (a == d1 and b == d2) or (not opening and a == d2 and b == d1):
                thrown = value
    return thrown - total / rolls


@kernel
def _tools(arrays: tuple[Any, ...]) -> Tools:
    """The tools of their fields by `plain`."""
    evaluator, scratch, lines, rules, probabilities, work, turned, named, life = arrays
    net, plain_game, payoffs = evaluator
    return Tools(
        Evaluator(Net(*net), plain_game, payoffs),
        scratch_of(scratch),
        CubeLines(*lines),
        rules,
        probabilities,
        work,
        turned,
        named,
        life,
    )


@kernel
def _follow(states: States, games: Integers, choices: Integers, begin: bool, arrays: tuple[Any, ...], luck: Floats) -> None:
    """Add the luck of the rolls that come after a choice in each state, or at the beginning of its game.

    Args:
        states: STATE (n,); afterwards the states after these rolls.
        games: int64 (n,), the games' numbers, rows of `luck`; in even ones the first player has seat 0.
        choices: int64 (n, m), the actions one after the other, -1 after the last.
        begin: whether the games begin; of the states only the keys count then.
        arrays: the fields of `Tools`, by `plain`.
        luck: float64 (games, ROLLERS), luck of the first player, see `ROLLERS`.
    """
    tools = _tools(arrays)
    rules, work = tools.rules, tools.work
    for k in range(states.shape[0]):
        work[0] = states[k]
        if begin:
            new_episode(work, _FIRST, rules, states[k]["key"])
        else:
            for m in range(choices.shape[1]):
                if choices[k, m] < 0:
                    break
                apply(work, _FIRST, rules, choices[k, m])
        game = games[k]
        while work[0]["phase"] == Phase.ROLL or work[0]["phase"] == Phase.OPENING:
            roller = _OPENING if work[0]["phase"] == Phase.OPENING else np.int64(work[0]["turn"]) ^ (game & 1)
            d1, d2 = draw_roll(work, _FIRST, rules)
            gain = _luck_of(tools, d1, d2)
            luck[game, roller] += gain if game & 1 == 0 else -gain
            apply_roll(work, _FIRST, rules, d1, d2)
        states[k] = work[0]


@kernel
def _each(states: States, dice: Integers, arrays: tuple[Any, ...], luck: Floats) -> None:
    """Write the luck to seat 0 of one roll in each state."""
    tools = _tools(arrays)
    for k in range(states.shape[0]):
        tools.work[0] = states[k]
        luck[k] = _luck_of(tools, dice[k, 0], dice[k, 1])


class LuckMeter:
    """The luck in games under some settings, as a player's value net sees it.

    The net evaluates positions before a roll, without look-ahead, also where the player itself looks ahead.

    Args:
        evaluator: a player with a value net of kind "odds", or its name.
        settings: the settings in force.

    Attributes:
        name: of the evaluator.

    Raises:
        SettingsError: there is no such player, or it has no such net.
    """

    def __init__(self, evaluator: Any, settings: Settings) -> None:
        chosen = player(evaluator, settings) if isinstance(evaluator, str) else evaluator
        self.name = name_of(chosen)
        net = getattr(chosen, "net", None)
        if not isinstance(net, ValueNet) or net.kind != "odds":
            kind = f"has a net of kind {net.kind!r}" if isinstance(net, ValueNet) else "has no value net"
            msg = f"luck is measured by a value net of kind 'odds', such as that of 'td': {quoted(self.name)} {kind}"
            raise SettingsError(msg)
        rules = settings.record()
        arrays = net.kernel_arrays(rules)
        self._tools = plain(
            Tools(
                evaluator=Evaluator(arrays, plain_rules(settings.variant), np.empty((1, 2, OUTCOMES), np.float32)),
                scratch=new_scratch(arrays),
                lines=cube_lines(),
                rules=rules,
                probabilities=np.empty((1, OUTCOMES), np.float64),
                work=np.zeros(1, STATE),
                turned=np.zeros(1, STATE),
                named=np.zeros(1, STATE),
                life=float(getattr(chosen, "cube_life", CUBE_LIFE)),
            )
        )

    def begin(self, states: States, games: Integers, luck: Floats) -> None:
        """Add the luck of the first rolls of games.

        Args:
            states: STATE (n,), of which the keys count; afterwards as the first player to decide finds them.
            games: int64 (n,), the games' numbers: in even ones the first player has seat 0.
            luck: float64 (games, ROLLERS), to add to.
        """
        _follow(states, games, np.empty((len(states), 0), np.int64), True, self._tools, luck)

    def follow(self, states: States, games: Integers, choices: Integers, luck: Floats) -> None:
        """Add the luck of the rolls after legal choices.

        Args:
            states: STATE (n,), before the choices; afterwards as the next player to decide finds them.
            games: as of `begin`.
            choices: int64 (n, m), the actions of each choice, one after the other, -1 after the last.
            luck: as of `begin`.
        """
        _follow(states, games, choices, False, self._tools, luck)

    def of_rolls(self, states: States, dice: npt.NDArray[Any]) -> Floats:
        """The luck of rolls that were made.

        Args:
            states: STATE (n,) in which dice are due (phases OPENING and ROLL).
            dice: whole numbers (n, 2); of an opening throw, seat 0's die first.

        Returns:
            float64 (n,), the luck to seat 0: points in money play, match winning chances in a match.
        """
        luck = np.empty(len(states), np.float64)
        _each(states, np.ascontiguousarray(dice, np.int64).reshape(-1, 2), self._tools, luck)
        return luck
