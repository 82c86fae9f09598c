"""Course of a replayed record: every roll and every decision with the state before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bg_env.actions import BEAVER, DOUBLE, DROP, FIRST_NAMED, ROLL, TAKE
from bg_env.records.report import Moment, Replay
from bg_env.rules import Phase, Rules, States, apply, apply_roll

__all__ = ["Made", "Thrown", "course"]

_CUBE = {"take": TAKE, "drop": DROP}


@dataclass(frozen=True, eq=False)
class Thrown:
    """A roll of a game.

    Attributes:
        game: index of the game in `Replay.games`.
        moment: index of the moment in `GameReplay.moments`.
        states: the state in which the dice are due, an array of one STATE record.
        dice: the dice; of an opening throw, seat 0's die first.
    """

    game: int
    moment: int
    states: States
    dice: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Made:
    """A decision of a game.

    Attributes:
        game: index of the game in `Replay.games`.
        moment: index of the moment in `GameReplay.moments`.
        states: the state that waits for the decision, an array of one STATE record.
        actions: the chosen actions, of a play its steps. A play that was broken off has only the steps that were made.
    """

    game: int
    moment: int
    states: States
    actions: tuple[int, ...]

    @property
    def player(self) -> int:
        """The player who decided."""
        return int(self.states[0]["decider"])


def course(replay: Replay) -> Iterator[Thrown | Made]:
    """The rolls and decisions of a replayed record in order, each game up to its first fault.

    To roll where a double was allowed is a decision, and so is a beaver's acceptance that is not written. A resignation, and an
    illegal action, are not listed. In variants in which the opening throw only decides who starts, a throw that is not written
    is one that its winner wins.
    """
    rules = replay.settings.record()
    for g, game in enumerate(replay.games):
        for m, moment in enumerate(game.moments):
            if moment.entry is not None:
                before: States = replay.states[moment.index - 1 : moment.index].copy()
                yield from _of_moment(g, m, moment, before, rules)


def _of_moment(g: int, m: int, moment: Moment, states: States, rules: Rules) -> Iterator[Thrown | Made]:
    """The rolls and decisions of a moment; `states` is the state before it, and is changed."""
    entry = moment.entry
    if entry is None:
        return
    if entry.kind in ("tie", "throw") and entry.dice is not None:
        yield Thrown(g, m, states, entry.dice)
    elif entry.kind in ("double", "beaver"):
        yield Made(g, m, states, (BEAVER if states[0]["phase"] == Phase.TAKE_OR_DROP else DOUBLE,))
    elif entry.kind in _CUBE:
        yield Made(g, m, states, (_CUBE[entry.kind],))
    elif entry.kind == "roll" and entry.dice is not None and moment.player is not None:
        yield from _rolled(g, m, moment, states, rules)


def _rolled(g: int, m: int, moment: Moment, states: States, rules: Rules) -> Iterator[Thrown | Made]:
    """The decisions before a roll, the roll, and its play."""
    player = int(moment.player or 0)
    high, low = moment.entry.dice if moment.entry is not None and moment.entry.dice is not None else (0, 0)
    implied = {Phase.TAKE_OR_DROP: TAKE, Phase.ROLL_OR_DOUBLE: ROLL, Phase.CHOOSE_DOUBLE: FIRST_NAMED + high - 1}
    while (phase := Phase(int(states[0]["phase"]))) in implied:
        yield Made(g, m, states.copy(), (implied[phase],))
        apply(states, 0, rules, implied[phase])
    if phase == Phase.OPENING and rules[0]["fresh_first_roll"]:
        won = (2, 1) if player == 0 else (1, 2)
        yield Thrown(g, m, states.copy(), won)
        apply_roll(states, 0, rules, *won)
        phase = Phase(int(states[0]["phase"]))
    if phase in (Phase.OPENING, Phase.ROLL):
        dice = (low, high) if phase == Phase.OPENING and player == 1 else (high, low)
        yield Thrown(g, m, states.copy(), dice)
        apply_roll(states, 0, rules, *dice)
    if moment.actions and states[0]["phase"] == Phase.CHECKER and states[0]["turn"] == player:
        yield Made(g, m, states, moment.actions)
