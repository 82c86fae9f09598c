"""Moves and words against the rules: the legal play or action that they mean, or the reason why they mean none."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import numpy as np

from bg_env.actions import DROP, action_text, step_action, step_of, why_illegal_text
from bg_env.game_view import GameView
from bg_env.notation.moves import Move, match_play
from bg_env.position import Play
from bg_env.rules import BAR, OFF, Phase, States, apply, plays

__all__ = ["LISTED", "Choice", "Chooser", "Fault", "Unit", "listed"]

Fault = Literal["unclear", "several", "illegal", "partial"]
"""Kinds of refused replies: no answer found; several that differ; not legal; a part of a roll that must be played whole."""
Unit = Literal["play", "step"]
"""Units of a reply while a roll waits: a whole play, or a single checker step."""

LISTED: Final = 8
"""Legal choices that a reason lists at most."""


class Choice(NamedTuple):
    """A legal choice, or the reason why a reply is refused.

    Attributes:
        actions: the action numbers; empty where it is refused.
        text: the choice as `Game.play` reads it, or, if refused, the moves as the reply has them.
        play: the whole play; None for other actions.
        fault: the kind of fault; None for a legal choice.
        reason: the reason, a sentence without the list of legal choices; empty for a legal choice.
        ways: the moves of a refused reply, from and to, to which some legal plays are closer than others.
    """

    actions: tuple[int, ...]
    text: str
    play: Play | None = None
    fault: Fault | None = None
    reason: str = ""
    ways: tuple[tuple[int, int], ...] = ()


def listed(texts: Sequence[str], most: int = LISTED) -> str:
    """Legal choices as a clause of a reason: "legal: roll; double"."""
    shown = "; ".join(texts[:most])
    return f"legal: {shown}" + (f"; and {len(texts) - most} more" if len(texts) > most else "")


def _refused(fault: Fault, text: str, reason: str) -> Choice:
    return Choice((), text, None, fault, reason)


class Chooser:
    """The legal choices of a game in which somebody decides, and the way to them from moves and words.

    Args:
        game: the game; not changed.
        unit: the unit of a reply while a roll waits.
    """

    def __init__(self, game: GameView, unit: Unit) -> None:
        self.states, self.settings, self.phase = game.states, game.settings, game.phase
        self.rules = self.settings.record()
        self.dice = game.dice
        self.moving = self.phase == Phase.CHECKER
        self.unit = unit
        self._legal = game.legal_actions()
        self.plays = game.legal_plays() if self.moving and unit == "play" else ()
        if self.plays:
            _, self._numbers, _ = plays(self.states, self.rules)
        decider = int(self.states[0]["decider"])
        self._you = f"player_{decider}"

    def texts(self, ways: Sequence[tuple[int, int]] = ()) -> list[str]:
        """All legal choices as text, once each; whole plays that share more of the given steps come first."""
        if self.plays:
            return [str(play) for play in sorted(self.plays, key=lambda play: -_shared(play, ways))]
        return list(dict.fromkeys(action_text(action, self.states) for action in self._legal))

    def why(self, action: int) -> str:
        """The reason why an action is illegal, addressed to the player."""
        reason = why_illegal_text(self.states, 0, self.settings, action, self.rules) or ""
        return reason.replace(f"{self._you} has", "you have").replace(self._you, "you")

    def of_action(self, action: int) -> Choice:
        """The choice of a cube action or of a named double."""
        text = action_text(action)
        if action in self._legal:
            return Choice((action,), text)
        return _refused("illegal", text, self.why(action))

    def of_moves(self, moves: tuple[Move, ...]) -> Choice:
        """The choice of checker moves, all of them together."""
        text = " ".join(map(_text, moves))
        if not self.moving:
            for move in moves:
                source, target = move.places[0], move.places[1]
                if 1 <= source <= BAR and 1 <= source - target <= 6:
                    return _refused("illegal", text, self.why(step_action(source, source - target)))
            return _refused("illegal", text, f"{text} is illegal: no roll waits to be played")
        for move in moves:
            if max(move.places) > BAR:
                return _refused("illegal", text, f"{text} is no way on the board: points go from 25 (the bar) down to 0 (off)")
            if any(a <= b for a, b in itertools.pairwise(move.places)):
                other = "/".join(_name(BAR - place) for place in move.places)
                msg = (
                    f"{_text(move)} goes up: your checkers go down on your own numbering, from 24 to 1 (the same way counted "
                    f"from your side is {other})"
                )
                return _refused("illegal", text, msg)
        return self._step(moves, text) if self.unit == "step" else self._play(moves, text)

    def no_move(self) -> Choice:
        """The choice of not moving, which the rules make by themselves where it is due."""
        if self.phase == Phase.TAKE_OR_DROP:
            return self.of_action(DROP)
        if self.moving:
            dice = " ".join(map(str, self.dice))
            msg = f"you cannot pass: {dice} can be played, so it must be (a turn without a legal play passes by itself, R3.3)"
            return _refused("illegal", "pass", msg)
        return _refused("unclear", "pass", "to pass is no choice here")

    def _step(self, moves: tuple[Move, ...], text: str) -> Choice:
        """A single checker step."""
        if len(moves) > 1 or len(moves[0].places) > 2:
            return _refused("illegal", text, f"{text} is more than one step: give one checker step, of one die")
        source, target = moves[0].places
        for action in self._legal:  # ascending: of several dice that bear the checker off, the lowest
            start, die = step_of(action)
            if (start, max(start - die, OFF)) == (source, target):
                return Choice((action,), action_text(action, self.states))
        return _refused("illegal", text, self._first_fault([(source, target)])[0] or f"{text} is not a legal step")

    def _play(self, moves: tuple[Move, ...], text: str) -> Choice:
        """A whole play."""
        opponent = self.states[0]["points"][1 - int(self.states[0]["turn"])]
        true = tuple(
            Move(move.places, tuple(place for place in move.hits if OFF < place < BAR and opponent[25 - place] == 1))
            for move in moves
        )
        found: int | str = (
            "no roll moves more than four checkers" if len(true) > 4 else match_play(true, self.states, 0, self._numbers)
        )
        wrong = true != moves  # a star where nothing can be hit leaves open what is
        if wrong or not isinstance(found, int):
            fitting = self._fitting(true)
            if len(fitting) > 1:
                names = " or ".join(str(self.plays[k]) for k in fitting[:4])
                return _refused("several", text, f"{text} fits {len(fitting)} plays: write which you mean, {names}")
        if isinstance(found, int):
            play = self.plays[found]
            return Choice(tuple(int(action) for action in self._numbers[found] if action >= 0), str(play), play)
        ways = tuple(way for move in moves for way in itertools.pairwise(move.places))
        reason, left = self._first_fault(ways)
        if reason:
            return _refused("illegal", text, reason)._replace(ways=ways)
        if left:
            dice = " ".join(map(str, left))
            msg = f"{text} is only a part of the roll: {dice} is still to be played (R5)"
            return _refused("partial", text, msg)._replace(ways=ways)
        return _refused("illegal", text, f"{text} is illegal: {found}")._replace(ways=ways)

    def _fitting(self, moves: tuple[Move, ...]) -> list[int]:
        """The plays with the net effect of these moves that land where they land."""
        change = np.zeros(26, np.int64)
        landings = {place for move in moves for place in move.places[1:]}
        for move in moves:
            change[move.places[0]] -= 1
            change[move.places[-1]] += 1
        fitting = []
        for k, play in enumerate(self.plays):
            made = np.zeros(26, np.int64)
            for step in play.steps:
                made[step.source] -= 1
                made[step.target] += 1
            if (made == change).all() and landings <= {step.target for step in play.steps}:
                fitting.append(k)
        return fitting

    def _first_fault(self, ways: Sequence[tuple[int, int]]) -> tuple[str, list[int]]:
        """The reason why the first of these ways that cannot be made cannot, "" if all can; and the dice that are left then."""
        states = self.states.copy()
        side = int(states[0]["turn"])
        for source, target in sorted(ways, reverse=True):
            left = _left(states)
            if int(states[0]["turn"]) != side or states[0]["phase"] != Phase.CHECKER or not left:
                return f"{_way(source, target)} is one move too many: {' '.join(map(str, self.dice))} is played without it", []
            orders = _orders(source, target, left, 1 if self.unit == "step" else len(left))
            if not orders:
                dice = " ".join(map(str, left))
                whole = "" if len(left) == len(self.dice) else ", after the moves before it,"
                return f"{_way(source, target)} moves {source - target}: your dice{whole} are {dice} (R3.2)", left
            reasons = []
            for order in orders:
                trial, place, reason = states.copy(), source, ""
                for die in order:
                    if trial[0]["phase"] != Phase.CHECKER or int(trial[0]["turn"]) != side:
                        break  # the game has ended, or nothing more can be played
                    action = step_action(place, die)
                    reason = why_illegal_text(trial, 0, self.settings, action, self.rules) or ""
                    if reason:
                        break
                    apply(trial, 0, self.rules, action)
                    place -= die
                if not reason:
                    states = trial
                    break
                reasons.append(reason.replace(f"{self._you} has", "you have").replace(self._you, "you"))
            else:
                return reasons[0], left
        over = states[0]["phase"] != Phase.CHECKER or int(states[0]["turn"]) != side
        return "", [] if over else _left(states)


def _shared(play: Play, ways: Sequence[tuple[int, int]]) -> int:
    """The number of these steps that a play has as well."""
    rest = [(step.source, step.target) for step in play.steps]
    shared = 0
    for way in ways:
        if way in rest:
            rest.remove(way)
            shared += 1
    return shared


def _left(states: States) -> list[int]:
    s = states[0]
    return [int(die) for die, n in zip(s["dice"], s["left"], strict=True) for _ in range(n)]


def _orders(source: int, target: int, left: Sequence[int], most: int) -> list[tuple[int, ...]]:
    """The dice, one after another, that lead from `source` to `target`: as few as do, and at most `most`."""
    for n in range(1, most + 1):
        found = []
        for order in dict.fromkeys(itertools.permutations(left, n)):
            total, before = sum(order), sum(order[:-1])
            if total == source - target or (target == OFF and before < source <= total):
                found.append(order)
        if found:
            return sorted(found, key=sum)
    return []


def _name(place: int) -> str:
    return {BAR: "bar", OFF: "off"}.get(place, str(place))


def _way(source: int, target: int) -> str:
    return f"{_name(source)}/{_name(target)}"


def _text(move: Move) -> str:
    return "/".join(f"{_name(place)}{'*' if place in move.hits else ''}" for place in move.places)
