"""The engine's steps and whole plays against the oracle's, on thousands of positions of every variant (R3-R7).

For every variant half of the positions are from random play, half random placements; a quarter of the rolls are doubles.
"""

from __future__ import annotations

from functools import cache
from itertools import islice

import numpy as np
import oracle
import positions
import pytest
from engine import EngineGame

from bg_env import rules as engine
from bg_env.rules import STATE, VARIANTS, Phase, Settings

EACH = 2_100
"""Positions from random play, and as many placements, for each of the six variants: 25,200 in all."""
SOURCES = ("random play", "placements")


@cache
def sample(name, source):
    variant = VARIANTS[name]
    if source == "random play":
        return list(islice(positions.random_play(variant.start, 1), EACH))
    return list(islice(positions.placements(variant.checkers, sorted(VARIANTS).index(name)), EACH))


def batch(settings, cases):
    """The cases as states in which players 0 and 1 have rolled in turn."""
    rules, states = settings.record(), np.zeros(len(cases), STATE)
    for i, ((mover, opponent), roll) in enumerate(cases):
        turn = i % 2
        states[i]["turn"], states[i]["owner"] = turn, -1
        states[i]["points"][turn], states[i]["points"][1 - turn] = mover, opponent
        engine.set_up(states, i, rules, *roll)
    return rules, states


def boards(states, turns):
    """(mover, opponent) of every state, `turns` being the movers."""
    points = np.where(turns[:, None, None] == 0, states["points"], states["points"][:, ::-1]).tolist()
    return [(tuple(mover), tuple(opponent)) for mover, opponent in points]


def dice_left(states):
    dice, left = states["dice"].tolist(), states["left"].tolist()
    return [tuple(sorted([d[0]] * n[0] + [d[1]] * n[1])) for d, n in zip(dice, left, strict=True)]


def walk(rules, states, turns):
    """Every board reached by legal steps of the movers `turns`, as {(board, dice left): steps} per state, ends included.

    All states are gone through together, one step at a time.
    """
    n = len(states)
    reached = [{} for _ in range(n)]
    origin = np.arange(n)
    mask = np.zeros((1, 161), np.int8)
    for _ in range(5):
        following, sources = [], []
        here = zip(origin.tolist(), boards(states, turns[origin]), dice_left(states), strict=True)
        playing = (states["phase"] == Phase.CHECKER) & (states["turn"] == turns[origin])
        for k, (i, board, left) in enumerate(here):
            steps = set()
            if playing[k]:
                engine.legal_mask(states, k, rules, mask, 0)
                steps = {(action // 6 + 1, action % 6 + 1) for action in mask[0].nonzero()[0].tolist()}
                assert steps, "a state that waits for an agent has a legal action"
            key = (board, left if playing[k] else ())  # what cannot be played is gone
            if key in reached[i]:
                continue
            reached[i][key] = steps
            for source, die in steps:
                following.append((k, (source - 1) * 6 + die - 1))
                sources.append(i)
        if not following:
            return reached
        states = states[[k for k, _ in following]]
        origin = np.array(sources)
        for k, (_, action) in enumerate(following):
            engine.apply(states, k, rules, action)
    raise AssertionError("more than four steps")


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", VARIANTS)
def test_steps_and_plays_are_the_oracles(name, source):
    settings = Settings(name, cube=False)
    cases = sample(name, source)
    rules, states = batch(settings, cases)
    turns = np.arange(len(cases)) % 2
    reached = walk(rules, states, turns)
    offsets, actions, after = engine.plays(states, rules)
    ends = boards(after, np.repeat(turns, np.diff(offsets)))
    for i, (board, roll) in enumerate(cases):
        dice = oracle.roll_of(*roll)
        allowed = oracle.decisions(board, dice)
        want = {key: steps for key, steps in allowed.items() if steps}
        got = {key: steps for key, steps in reached[i].items() if steps}
        assert got == want, (board, roll)  # the mask, step by step
        finished = oracle.results(board, dice)
        assert {board for (board, _), steps in reached[i].items() if not steps} == finished, (board, roll)
        plays = ends[offsets[i] : offsets[i + 1]]
        if finished == {board}:
            assert plays == [], (board, roll)  # a dance has passed already
            assert states[i]["phase"] == Phase.ROLL, (board, roll)
            assert states[i]["turn"] == 1 - turns[i], (board, roll)
        else:
            assert len(plays) == len(set(plays)), (board, roll)  # R11.2
            assert set(plays) == finished, (board, roll)
        for row, end in zip(actions[offsets[i] : offsets[i + 1]].tolist(), plays, strict=True):
            here, left = board, tuple(sorted(dice))
            for action in row:
                if action >= 0:
                    one = (action // 6 + 1, action % 6 + 1)
                    assert one in allowed[here, left], (board, roll, row)
                    here, left = oracle.step(here, *one), oracle.without(left, one[1])
            assert here == end, (board, roll, row)


def clauses(board, dice):
    """The clauses that decide in a position with a roll."""
    first, legal = list(oracle.single_steps(board, dice)), oracle.legal_steps(board, dice)
    most, two = oracle.longest(board, dice), len(set(dice)) == 2
    if not first:
        yield "R3.3 no step"
    if any(after[1][25] > board[1][25] for _, after, _ in first):
        yield "R4.2 hit"
    if two and most == 2 and len(legal) < len(first):
        yield "R5.1 a first step forbidden"
    if two and most == 1 and len(legal) < len(first):
        yield "R5.2 the smaller forbidden"
    if two and most == 1 and first and all(die == min(dice) for (_, die), _, _ in first):
        yield "R5.2 only the smaller"
    if not two and 0 < most < 4:
        yield "R5.3 a double in part"
    if any(oracle.won(after) and 1 + oracle.longest(after, left) < most for _, after, left in first):
        yield "R5.4 the last checker"
    if board[0][25] > 1 and most == 1:
        yield "R6.2 one of several enters"
    if any(die > source for (source, die), _, _ in first):
        yield "R7.2 off from the highest"


def test_the_sample_is_as_large_and_as_mixed_as_promised():
    found, total = {}, 0
    for name in VARIANTS:
        for source in SOURCES:
            cases = sample(name, source)
            total += len(cases)
            assert len(cases) >= 1_000
            assert 0.22 < sum(a == b for _, (a, b) in cases) / len(cases) < 0.28
            for board, roll in cases:
                for clause in clauses(board, oracle.roll_of(*roll)):
                    found[clause] = found.get(clause, 0) + 1
    assert total >= 20_000
    assert len(found) == 9
    assert min(found.values()) >= 100, found


def test_a_roll_partly_played_is_completed():
    """`plays` from the middle of a roll: what the oracle makes of the dice that are left."""
    settings = Settings("backgammon", cube=False)
    checked = 0
    for board, roll in sample("backgammon", "random play")[:150]:
        game = EngineGame(settings).place(board, roll, owner=-1)
        if game.phase != "CHECKER" or game.decider != 0:
            continue
        game.apply(min(game.legal()))
        if game.phase != "CHECKER" or game.decider != 0:
            continue
        here, left = game.board(), game.dice()
        _, _, after = engine.plays(game.states, game.rules)
        assert set(boards(after, np.zeros(len(after), int))) == oracle.results(here, left)
        checked += 1
    assert checked > 100
