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

from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined, kernel
from bg_env.actions import FIRST_NAMED
from bg_env.equity import LONGEST
from bg_env.errors import SettingsError, quoted
from bg_env.players import ValueNet, player
from bg_env.players.janowski import CUBE_LIFE, CubeLines, cube_lines, cube_values, write_payoffs
from bg_env.players.names import shipped
from bg_env.players.protocol import name_of
from bg_env.players.valuenet.boards import sum_board, sum_change
from bg_env.players.valuenet.evaluate import (
    Evaluator,
    Scratch,
    evaluate_as,
    evaluate_plays,
    evaluator_of,
    flip,
    new_scratch,
    note,
    note_block,
    plain,
    scratch_of,
    write_result,
)
from bg_env.players.valuenet.net import OUTCOMES, add_cube, add_tactics, knows_cube
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

__all__ = ["FAST", "ROLLERS", "LuckMeter", "Tools", "luck_of", "tools_of"]

ROLLERS: Final = 3
"""The parts of the luck in a game: of the first player's rolls, of the second player's, of the opening throws."""

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FAST: Final = "fast"
"""The name of the evaluator that is chosen by variance and time: the net of "td" behind a small one."""

NUMBER: Final = 3
"""The plays of each roll that the small net of FAST leaves to that of "td"."""

_SIEVE: Final = "luck"
_FIRST = np.int64(0)
_DONE = np.float32(-1e30)
_OPENING: Final = 2


class Tools(NamedTuple):
    """The nets and the scratch of the kernels.

    Attributes:
        evaluator: the net, the rules of plays, and float32 (1, 2, 6), the payoffs of `work`. The rules are those in force for a
            net that knows the cube, else those of the variant without cube and match; they have no limit of turns.
        scratch: for the plays of a roll.
        sieve: the net that chooses the plays to evaluate, with the same rules and payoffs.
        coarse: for the plays of a roll by the sieve.
        number: the plays of a roll that the sieve leaves to the net, at most BLOCK; 0 without a sieve.
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
    sieve: Evaluator
    coarse: Scratch
    number: int
    lines: CubeLines
    rules: Rules
    probabilities: Floats
    work: States
    turned: States
    named: States
    life: float


@inlined
def tools_of(arrays: tuple[Any, ...]) -> Tools:
    """The `Tools` that `plain` made a tuple of."""
    evaluator, scratch, sieve, coarse, number, lines, rules, probabilities, work, turned, named, life = arrays
    return Tools(
        evaluator_of(evaluator),
        scratch_of(scratch),
        evaluator_of(sieve),
        scratch_of(coarse),
        number,
        CubeLines(*lines),
        rules,
        probabilities,
        work,
        turned,
        named,
        life,
    )


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
def _value_of_net(tools: Tools, seat: int) -> float:
    """The value to seat 0 of the output of a net that knows the cube, in `probabilities`, as `seat` sees it."""
    value: float = tools.probabilities[0, 0] if seat == 0 else -tools.probabilities[0, 0]
    if tools.rules[0]["match_length"] == 0:
        value *= np.int64(1) << np.int64(tools.work[0]["cube"])
        return value
    return (value + 1.0) / 2.0


@kernel
def _value(tools: Tools, turn: int, mover: int, over: bool) -> float:
    """The value to seat 0 after a roll of `mover`, as `_play_best` left it."""
    if knows_cube(tools.evaluator.net):
        return _value_of_net(tools, turn)
    return _equity(tools, turn, over, turn != mover)


@kernel
def _best_of_sieve(tools: Tools, mover: int) -> int:
    """The play in `coarse` that the net likes best of those that the sieve likes best; `best` of `scratch` has its outputs."""
    step, layers, after, values = tools.scratch.step, tools.scratch.layers, tools.coarse.plays.after, tools.coarse.values
    net, other = tools.evaluator.net, 1 - mover
    best, end = evaluate_plays(step, _FIRST, tools.sieve, _FIRST, tools.coarse)
    chosen: int = np.int64(-1)
    rows = np.int64(0)
    for k in range(min(end, tools.number)):
        if k > 0:
            values[best] = _DONE
            for n in range(end):
                if values[n] > values[best]:
                    best = n
        if after[best]["winner"] >= 0:
            write_result(after, best, mover, tools.evaluator, layers.outputs)
            chosen = note(best, chosen, tools.evaluator, _FIRST, mover, tools.scratch)
        elif after[best]["turn"] == mover:
            evaluate_as(after, best, mover, tools.evaluator, layers)
            chosen = note(best, chosen, tools.evaluator, _FIRST, mover, tools.scratch)
        else:
            if rows == 0:
                sum_board(step, _FIRST, other, net.board, layers.base)
                add_cube(after, best, other, tools.evaluator.rules, net, layers, layers.base)
            sum_change(step, _FIRST, after, best, other, net.board, layers.base, layers.units[0, rows])
            add_tactics(after, best, other, net, layers, rows)
            layers.plays[rows] = best
            rows += 1
    if rows > 0:
        chosen = note_block(rows, chosen, tools.evaluator, _FIRST, mover, tools.scratch)
    return chosen


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
    if tools.number > 0:
        tools.turned[0] = tools.coarse.plays.after[_best_of_sieve(tools, mover)]
    else:
        best = evaluate_plays(step, _FIRST, tools.evaluator, _FIRST, tools.scratch)[0]
        tools.turned[0] = tools.scratch.plays.after[best]
    over = tools.turned[0]["winner"] >= 0
    turn = mover if over else np.int64(tools.turned[0]["turn"])
    if turn != mover:
        flip(tools.evaluator.net, layers.best)  # the outputs at the best play are as the mover sees it
    for o in range(OUTCOMES):
        found[0, o] = layers.best[o]
    return turn, over


@kernel
def _value_ahead(tools: Tools, mover: int) -> float:
    """The value to seat 0 of the state in `scratch.step`, in which `mover` has rolled: that of the best play by the net.

    Where that earns a double (R10.6), its value is that of the best double.
    """
    turn, over = _play_best(tools, mover)
    if tools.turned[0]["phase"] != Phase.CHOOSE_DOUBLE:
        return _value(tools, turn, mover, over)
    sign = 1.0 if mover == 0 else -1.0
    tools.named[0] = tools.turned[0]
    top = 0.0
    for d in range(1, 7):
        tools.scratch.step[0] = tools.named[0]
        apply(tools.scratch.step, _FIRST, tools.evaluator.rules, FIRST_NAMED + d - 1)
        turn, over = _play_best(tools, mover)
        value = sign * _value(tools, turn, mover, over)
        if d == 1 or value > top:
            top = value
    return sign * top


@kernel
def luck_of(tools: Tools, d1: int, d2: int) -> float:
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
    tools = tools_of(arrays)
    work, rules = tools.work, tools.rules
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
            gain = luck_of(tools, d1, d2)
            luck[game, roller] += gain if game & 1 == 0 else -gain
            apply_roll(work, _FIRST, rules, d1, d2)
        states[k] = work[0]


@kernel
def _rolls(states: States, dice: Integers, arrays: tuple[Any, ...], out: Floats) -> None:
    """The luck to seat 0 of the roll `dice[k]` in each state, into `out`; see `LuckMeter.of_rolls`."""
    tools = tools_of(arrays)
    for k in range(states.shape[0]):
        tools.work[0] = states[k]
        out[k] = luck_of(tools, dice[k, 0], dice[k, 1])


class LuckMeter:
    """The luck in games under some settings, as a player's value net sees it.

    A measure is for one thread; a copy has scratch of its own. The net evaluates positions before a roll, without look-ahead,
    also where the player itself looks ahead.

    Args:
        evaluator: a player with a value net, or its name; or "fast": the net of "td", which evaluates those plays of a
            roll alone that a small net likes best.
        settings: the settings in force.

    Attributes:
        name: of the evaluator.
        arrays: the fields of a `Tools` as nested plain tuples, for kernels.

    Raises:
        SettingsError: there is no such player, it has no value net, or the net knows no such game: one of kind "cube" no
            match, one of kind "match" no money play.
    """

    def __init__(self, evaluator: Any, settings: Settings) -> None:
        quick = isinstance(evaluator, str) and evaluator == FAST
        chosen: Any = "td" if quick else evaluator
        if isinstance(chosen, str):
            chosen = player(chosen, settings)
        self.name = FAST if quick else name_of(chosen)
        net = getattr(chosen, "net", None)
        if not isinstance(net, ValueNet):
            msg = f"luck is measured by a value net, such as that of 'td': {quoted(self.name)} has no value net"
            raise SettingsError(msg)
        if settings.money if net.kind == "match" else (net.kind == "cube" and not settings.money):
            played = "money play" if settings.money else "matches"
            msg = f"{quoted(self.name)} measures no luck here: its net, of kind {net.kind!r}, knows no {played}; choose 'td'"
            raise SettingsError(msg)
        rules = settings.record()
        self._rules = rules
        self._free = replace(settings, max_turns=None).record() if net.kind != "odds" else plain_rules(settings.variant)
        self._net = net.kernel_arrays(rules)
        self._sieve = shipped(_SIEVE).kernel_arrays(rules) if quick else self._net
        self._number = NUMBER if quick else 0
        self._life = float(getattr(chosen, "cube_life", CUBE_LIFE))
        self.arrays = self._new_tools()

    def _new_tools(self) -> tuple[Any, ...]:
        """The nets, with scratch of their own."""
        payoffs = np.empty((1, 2, OUTCOMES), np.float32)
        scratch = new_scratch(self._net)
        return plain(
            Tools(
                evaluator=Evaluator(self._net, self._free, payoffs),
                scratch=scratch,
                sieve=Evaluator(self._sieve, self._free, payoffs),
                coarse=new_scratch(self._sieve) if self._number else scratch,
                number=self._number,
                lines=cube_lines(),
                rules=self._rules,
                probabilities=np.empty((1, OUTCOMES), np.float64),
                work=np.zeros(1, STATE),
                turned=np.zeros(1, STATE),
                named=np.zeros(1, STATE),
                life=self._life,
            )
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "arrays"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.arrays = self._new_tools()

    def of_rolls(self, states: States, dice: Integers) -> Floats:
        """The luck of rolls.

        Args:
            states: STATE (n,), in which dice are due (phase ROLL or OPENING).
            dice: integers (n, 2), the rolls; in the opening player 0's die first, unequal where a tie does not count.

        Returns:
            float64 (n,), to seat 0: points at the cube of the moment, in a match chances to win it.
        """
        luck = np.empty(len(states))
        _rolls(states, np.ascontiguousarray(dice, np.int64).reshape(-1, 2), self.arrays, luck)
        return luck

    def begin(self, states: States, games: Integers, luck: Floats) -> None:
        """Add the luck of the first rolls of games.

        Args:
            states: STATE (n,), of which the keys count; afterwards as the first player to decide finds them.
            games: int64 (n,), the games' numbers: in even ones the first player has seat 0.
            luck: float64 (games, ROLLERS), to add to.
        """
        _follow(states, games, np.empty((len(states), 0), np.int64), True, self.arrays, luck)

    def follow(self, states: States, games: Integers, choices: Integers, luck: Floats) -> None:
        """Add the luck of the rolls after legal choices.

        Args:
            states: STATE (n,), before the choices; afterwards as the next player to decide finds them.
            games: as of `begin`.
            choices: int64 (n, m), the actions of each choice, one after the other, -1 after the last.
            luck: as of `begin`.
        """
        _follow(states, games, choices, False, self.arrays, luck)
