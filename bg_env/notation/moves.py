"""Move text as people write it: "24/18*/13", "8/5(2)", "bar/22", "6/off" - read into a legal play, and written.

A move is a checker's way between points on the mover's own numbering; `bar` is also 25, `off` also 0. Moves may stand in
any order, with spaces or commas between them; hits (`*`), points passed on the way, repetition (`(2)`) and case are the
writer's choice. Since the dice are known, whatever is not written is found among the legal plays.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.actions import STEPS, Step, legal_actions, step_of
from bg_env.errors import IllegalActionError, NotationError, quoted
from bg_env.rules import BAR, OFF, Phase, Rules, States, apply, plays
from bg_env.rules.actions import die_of, source_of

__all__ = [
    "NO_PLAY",
    "Move",
    "find_play",
    "first_steps",
    "format_actions",
    "format_steps",
    "match_play",
    "parse_moves",
    "steps_of",
]

_Plays = npt.NDArray[np.int16]
"""Action numbers of plays, (m, 4), as `rules.plays` gives them."""

NO_PLAY: Final = "(no play)"
"""The text of a play without steps."""

_PLACE = r"(?:bar|b|off|o|\d{1,2})"
_MOVE = re.compile(rf"({_PLACE}\*?(?:/{_PLACE}\*?)+)(?:\(([1-4])\)(\*?))?", re.IGNORECASE | re.ASCII)
_DANCES: Final = {"", "(no play)", "no play", "(no move)", "no move", "cannot move", "dance", "dances", "pass", "-", "--"}
_MAX_MOVES: Final = 4
_CHECKER: Final = int(Phase.CHECKER)
_AMBIGUOUS: Final = "it fits more than one play: write the points touched on the way, and all hits"
_EXAMPLE: Final = "write moves like '24/18*/13', '8/5(2)', 'bar/22' or '6/off'"


@dataclass(frozen=True)
class Move:
    """The way of one checker: the points that are written, from the first to the last, and those of them with a `*`."""

    places: tuple[int, ...]
    hits: tuple[int, ...] = ()


def _place(text: str) -> int:
    if text[0] == "b":
        return BAR
    return OFF if text[0] == "o" else int(text)


def parse_moves(text: str) -> tuple[Move, ...]:
    """The moves written in `text`, one a checker's way (a repeated one as often as it is made); none for a dance.

    Raises:
        NotationError: not move text, a point above 25, a way that does not go down, or more than four moves.
    """
    if not isinstance(text, str):
        msg = f"a play is given as text, not {type(text).__name__}: {_EXAMPLE}"
        raise NotationError(msg)
    return _parse_moves(text)


@functools.lru_cache(maxsize=4096)
def _parse_moves(text: str) -> tuple[Move, ...]:
    body = text.strip().lower()
    if body in _DANCES:
        return ()
    moves: list[Move] = []
    for word in re.split(r"[\s,;]+", body.strip(" \t\r\n,;")):
        found = _MOVE.fullmatch(word)
        if not found:
            msg = f"{word[:40]!r} is not a move: {_EXAMPLE}"
            raise NotationError(msg)
        marks = found[1].split("/")
        places = tuple(_place(mark.rstrip("*")) for mark in marks)
        if max(places) > BAR or any(a <= b for a, b in itertools.pairwise(places)):
            msg = f"{quoted(word)} is not a move: points go down from 25 (the bar) to 0 (off)"
            raise NotationError(msg)
        starred = [place for place, mark in zip(places, marks, strict=True) if mark.endswith("*")]
        if found[3]:
            starred.append(places[-1])
        moves += [Move(places, tuple(starred))] * int(found[2] or 1)
        if len(moves) > _MAX_MOVES:
            msg = f"{text[:60]!r} moves more than four checkers: no roll does"
            raise NotationError(msg)
    return tuple(moves)


def _fits(ways: list[tuple[int, int]], dice: list[int]) -> bool:
    """Whether the dice can be shared among the ways (from, to), each the sum of its own; off may be overshot by the last."""
    if not ways:
        return True
    (start, end), rest = ways[0], ways[1:]
    for chosen in range(1, 1 << len(dice)):
        own = [die for k, die in enumerate(dice) if chosen >> k & 1]
        total = sum(own)
        exact = total == start - end
        over = end == OFF and total >= start and total - max(own) < start
        if (exact or over) and _fits(rest, [die for k, die in enumerate(dice) if not chosen >> k & 1]):
            return True
    return False


def _dice_left(states: States, i: int) -> list[int]:
    s = states[i]
    return [int(die) for die, n in zip(s["dice"], s["left"], strict=True) for _ in range(n)]


def match_play(moves: Sequence[Move], states: States, i: int, numbers: _Plays, *, strict: bool = False) -> int | str:
    """The index of the legal play with these moves, or the reason why no play has them.

    Where several plays fit, the one that hits on just the points named is meant, if there is one.

    Args:
        moves: from `parse_moves`.
        states: STATE records.
        i: the index of a state in phase CHECKER.
        numbers: int16 (m, 4), the actions of its distinct plays, from `rules.plays`.
        strict: refuse a way of several steps that ends with a `*` and may hit before its end too: some put one `*` for all
            that a way hits, so "bar/21*" may stand for bar/22/21* as well as for bar/24*/21*.
    """
    side = int(states[i]["turn"])
    opponent = states[i]["points"][1 - side].tolist()
    landings = {place for move in moves for place in move.places[1:] if place != OFF}
    for place in sorted(landings):
        if opponent[25 - place] >= 2:
            return f"point {place} is held by {opponent[25 - place]} opposing checkers"
    must_hit = {place for place in landings if opponent[25 - place] == 1}
    for place in sorted({place for move in moves for place in move.hits} - must_hit):
        return f"there is no checker to hit on {place if OFF < place < BAR else _text(place)}"
    dice = _dice_left(states, i)
    if not _fits([way for move in moves for way in itertools.pairwise(move.places)], dice):
        return f"{'-'.join(map(str, dice))} cannot be shared among these moves"
    change = np.zeros(26, np.int8)
    for move in moves:
        change[move.places[0]] -= 1
        change[move.places[-1]] += 1
    changes, landed = _results(numbers)
    same = np.flatnonzero((changes == change).all(axis=1))
    if len(same) > 1 or must_hit:
        passed = _passed(moves, max(dice, default=0))
        blots = [place for place in range(1, BAR) if opponent[25 - place] == 1]
        hits = landed[same][:, blots]
        wanted = np.isin(blots, list(must_hit))
        possible = (hits >= wanted).all(axis=1) & (hits <= (wanted | np.isin(blots, list(passed)))).all(axis=1)
        same, hits = same[possible], hits[possible]
        exact = same[(hits == wanted).all(axis=1)]
        if not (strict and any(move.places[-1] in move.hits for move in moves)):
            same = exact if len(exact) else same
    if len(same) > 1:
        return _AMBIGUOUS
    return int(same[0]) if len(same) else "it is not a legal play of this roll"


def _passed(moves: Sequence[Move], highest: int) -> set[int]:
    """The points between two that are named where one die does not reach from the first to the second."""
    pairs = [pair for move in moves for pair in itertools.pairwise(move.places) if pair[0] - pair[1] > highest]
    return {point for start, end in pairs for point in range(end + 1, start)}


def _results(numbers: _Plays) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
    """Results of plays: int8 (m, 26), the change of the mover's counts, and bool (m, 26), where its checkers land."""
    rows, steps = np.nonzero(numbers >= 0)
    made: Any = numbers[rows, steps]  # functions of one action take arrays as well
    source: Any = source_of(made)
    target = np.maximum(source - die_of(made), OFF)
    changes = np.zeros((len(numbers), 26), np.int8)
    np.subtract.at(changes, (rows, source), 1)
    np.add.at(changes, (rows, target), 1)
    landed = np.zeros((len(numbers), 26), np.bool_)
    landed[rows, target] = True
    return changes, landed


def find_play(text: str, states: States, i: int, rules: Rules, *, whole: bool = False) -> list[int]:
    """The actions of a play written as text, in a legal order.

    Args:
        text: a whole play, or, unless `whole`, also only the next steps of one.
        states: STATE records.
        i: the index of a state in phase CHECKER.
        rules: the RULES record.
        whole: whether to refuse a play that does not finish the roll.

    Raises:
        NotationError: `text` is not move text, or it fits several plays.
        IllegalActionError: it fits no legal play.
    """
    moves = parse_moves(text)
    if states[i]["phase"] != _CHECKER:
        msg = f"no roll waits to be played, so {text.strip()[:60]!r} cannot be"
        raise IllegalActionError(msg)
    _, numbers, _ = plays(states[i : i + 1], rules)
    found = match_play(moves, states, i, numbers)
    if isinstance(found, int):
        return [int(a) for a in numbers[found] if a >= 0]
    if found == _AMBIGUOUS:
        msg = f"{quoted(text.strip())}: {found}"
        raise NotationError(msg)
    if not whole and moves:
        some = first_steps(moves, states, i, rules)
        if some:
            return some
    first = [int(a) for a in numbers[0] if a >= 0]
    more = f" (or another of {len(numbers)})" if len(numbers) > 1 else ""
    msg = f"{quoted(text.strip() or NO_PLAY)} cannot be played: {found}; legal is {format_actions(first, states, i)}{more}"
    raise IllegalActionError(msg)


def first_steps(moves: Sequence[Move], states: States, i: int, rules: Rules) -> list[int]:
    """The actions of these moves, made one after another and not yet the whole roll, if each is legal in turn; else [].

    A move with a `*` where there is no checker to hit is not legal.
    """
    opponent = states[i]["points"][1 - int(states[i]["turn"])]
    if any(not OFF < place < BAR or opponent[25 - place] != 1 for move in moves for place in move.hits):
        return []
    return _first_steps([way for move in moves for way in itertools.pairwise(move.places)], states, i, rules)


def _first_steps(ways: list[tuple[int, int]], states: States, i: int, rules: Rules) -> list[int]:
    """The actions of these ways one after another, if each step is legal in turn; else []."""
    if not ways:
        return []
    (start, end), rest = ways[0], ways[1:]
    for action in legal_actions(states, i, rules):
        source, die = step_of(action) if action < STEPS else (0, 0)
        if source != start or (source - die < end and end != OFF):
            continue
        there = max(source - die, OFF) == end
        todo = rest if there else [(source - die, end), *rest]
        if not todo:
            return [action]
        after = states[i : i + 1].copy()
        side = after[0]["turn"]
        apply(after, 0, rules, action)
        if after[0]["phase"] == _CHECKER and after[0]["turn"] == side:
            others = _first_steps(todo, after, 0, rules)
            if others:
                return [action, *others]
    return []


def _text(place: int) -> str:
    return {BAR: "bar", OFF: "off"}.get(place, str(place))


def format_steps(steps: Sequence[Step]) -> str:
    """A play as text: highest checker first, the steps of one checker joined, points passed named only where it hits.

    `format_steps` of the play found by `find_play(text)` is the canonical form of `text`, and is read as the same play.
    """
    if not steps:
        return NO_PLAY
    chains: list[list[Step]] = []
    for step in sorted(steps, key=lambda step: -step.source):
        for chain in chains:
            if chain[-1].target == step.source:
                chain.append(step)
                break
        else:
            chains.append([step])
    words: dict[tuple[str, int], list[bool]] = {}
    order = sorted(chains, key=lambda chain: (-chain[0].source, -chain[-1].target, not any(step.hit for step in chain[:-1])))
    for chain in order:
        way = _text(chain[0].source) + "".join(f"/{_text(step.target)}*" for step in chain[:-1] if step.hit)
        words.setdefault((way, chain[-1].target), []).append(chain[-1].hit)
    texts = []
    for (way, end), hits in words.items():
        texts.append(f"{way}/{_text(end)}{'*' if any(hits) else ''}{f'({len(hits)})' if len(hits) > 1 else ''}")
    return " ".join(texts)


def steps_of(numbers: Sequence[int], states: States, i: int, side: int | None = None) -> tuple[Step, ...]:
    """The steps that these action numbers make one after another from state `i`; numbers below 0 are nothing.

    `side` moves, by default the player whose turn it is.
    """
    other = states[i]["points"][1 - int(states[i]["turn"] if side is None else side)].tolist()
    steps = []
    for number in numbers:
        if number < 0:
            continue
        source, die = step_of(number)
        target = max(source - die, OFF)
        hit = target > OFF and other[25 - target] == 1
        if hit:
            other[25 - target] = 0
        steps.append(Step(source, target, die, hit))
    return tuple(steps)


def format_actions(numbers: Sequence[int], states: States, i: int) -> str:
    """The play that these action numbers make from state `i`, as `format_steps` writes it."""
    return format_steps(steps_of(numbers, states, i))
