"""The traps of the rules, one position each: its plays, and the first steps that lead to them, by hand.

All on the mover's numbering: 25 is its bar, and the opponent's checkers stand where the mover sees them. Checkers that are
not named are borne off. A play is written as its steps; the empty play is a dance.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import oracle
import pytest
from engine import EngineGame, board_of

from bg_env import Position
from bg_env.rules import Settings


class Trap(NamedTuple):
    case: str
    mover: dict
    opponent: dict
    roll: tuple
    plays: list
    checkers: int = 15


TRAPS = [
    Trap("R6.2: two on the bar, both entries shut", {25: 2, 10: 2}, {22: 2, 20: 2}, (5, 3), [""]),
    Trap("R6.2: two on the bar, only the 5 enters, the 3 is lost", {25: 2, 10: 2}, {22: 2}, (5, 3), ["bar/20"]),
    Trap("R6.2: two on the bar, only the 3 enters, with a hit", {25: 2, 10: 2}, {22: 1, 20: 2}, (5, 3), ["bar/22*"]),
    Trap("R6.2: three on the bar, two enter, one stays", {25: 3, 10: 2}, {20: 1}, (5, 3), ["bar/20* bar/22"]),
    Trap("R6.2: enter with a hit, the other die nowhere", {25: 1, 10: 2}, {22: 2, 20: 1, 17: 2, 7: 3}, (5, 3), ["bar/20*"]),
    Trap("R5.2: either die enters, only one can: the larger", {25: 1}, {20: 2}, (3, 2), ["bar/22"]),
    Trap("R5.1: only one die enters, the other is played elsewhere", {25: 1, 12: 1}, {20: 2, 9: 2}, (3, 2), ["bar/22 12/10"]),
    Trap("R11.2: two orders, one result", {25: 1}, {9: 2}, (3, 2), ["bar/22 22/20"]),
    Trap("R11.2: two orders, one of them hits", {25: 1}, {23: 1}, (3, 2), ["bar/22 22/20", "bar/23* 23/20"]),
    Trap("R5.2: only the smaller die can be played", {7: 2}, {2: 2}, (5, 2), ["7/5"]),
    Trap(
        "R7.1: the last checker comes home, then one is borne off in the same roll", {8: 1, 4: 3}, {1: 2}, (4, 3), ["8/5 4/off"]
    ),
    Trap(
        "R7.3: bearing off is never forced",
        {5: 2, 4: 3, 3: 1},
        {20: 1},
        (4, 3),
        ["5/1 5/2", "5/1 4/1", "5/1 3/off", "4/off 5/2", "4/off 4/1", "4/off 3/off"],
    ),
    Trap("R4.2: one order hits, the other passes by", {10: 1}, {6: 1}, (4, 2), ["10/6* 6/4", "10/8 8/4"]),
    Trap("R7.2: the 6 takes the highest, which the 1 may change", {2: 1, 1: 5}, {}, (6, 1), ["2/off 1/off", "2/1 1/off"]),
    Trap(
        "R5.1: the 6 can only be played from one point, so the 2 must leave it",
        {24: 1, 8: 1, 6: 5},
        {20: 4, 19: 3, 18: 4, 16: 2, 4: 2},
        (6, 2),
        ["8/2 24/22"],
    ),
    Trap(
        "R5.1: the small die first, so that the large one can bear off",
        {9: 1, 5: 3, 3: 2},
        {24: 10, 23: 3, 1: 2},
        (6, 4),
        ["9/5 5/off"],
    ),
    Trap("R7.2: both dice from the highest point in turn", {4: 1, 2: 4}, {24: 1, 1: 1}, (6, 4), ["4/off 2/off"]),
    Trap("R6.2: a double, shut out", {25: 4}, {22: 2}, (3, 3), [""]),
    Trap(
        "R5.3: two of four can be played",
        {25: 1, 15: 1, 10: 1, 4: 1},
        {22: 2, 20: 2, 17: 3, 11: 2, 6: 1, 2: 2},
        (4, 4),
        ["bar/21 10/6*"],
    ),
    Trap(
        "R6.2: two enter, then two steps are free",
        {25: 2, 4: 1, 3: 1},
        {24: 2},
        (3, 3),
        ["bar/22 bar/22 22/19 22/19", "bar/22 bar/22 22/19 19/16", "bar/22 bar/22 22/19 4/1"],
    ),
    Trap("R4.1: each checker is blocked after one step", {10: 4}, {22: 1, 4: 2}, (3, 3), ["10/7 10/7 10/7 10/7"]),
    Trap("R5.3: both enter, then nothing", {25: 2}, {22: 1, 19: 2}, (3, 3), ["bar/22* bar/22"]),
    Trap("R5.2: either die can be played, only one of them: the larger", {13: 1}, {6: 2}, (5, 2), ["13/8"]),
    Trap("R5.2: the larger is blocked: the smaller", {24: 1}, {18: 2, 13: 2}, (6, 5), ["24/19"]),
    Trap("R4.2: hit and stop", {24: 1}, {21: 1, 19: 3}, (3, 2), ["24/21*"]),
    Trap("R7.2: dice above all checkers take the highest first", {4: 1, 3: 2, 1: 2}, {}, (6, 5), ["4/off 3/off"]),
    Trap("R5.4: the last checker, with one step or two", {4: 1}, {24: 1}, (6, 2), ["4/2 2/off"]),
    Trap("R7.3: bear off or hit", {6: 1, 3: 1}, {1: 1}, (5, 2), ["6/1* 3/1", "6/4 4/off"]),
    Trap(
        "R7.2: nothing on the die's point: the higher ones step down first", {6: 2, 3: 2}, {}, (4, 4), ["6/2 6/2 3/off 3/off"]
    ),
    Trap("R7.1: each checker takes two 3s to go off", {6: 2}, {24: 2}, (3, 3), ["6/3 6/3 3/off 3/off"]),
    Trap(
        "R7.1: a hit with the 6, or home with the 1 and off with the 6",
        {7: 1, 6: 1, 4: 2, 3: 2, 2: 9},
        {1: 1},
        (6, 1),
        ["7/1* 6/5", "7/1* 4/3", "7/1* 3/2", "7/1* 2/1", "7/1* 1/off", "7/6 6/off"],
    ),
    Trap(
        "R7.1: the last two come home with half a double and others go off with the rest",
        {8: 2, 4: 2},
        {24: 2},
        (4, 4),
        ["8/4 8/4 4/off 4/off"],
    ),
    Trap(
        "R5.3: ten plays of 3-3 at home",
        {6: 2, 5: 1, 4: 3, 2: 3},
        {24: 2},
        (3, 3),
        [
            "6/3 6/3 5/2 4/1",
            "6/3 6/3 5/2 3/off",
            "6/3 6/3 4/1 4/1",
            "6/3 6/3 4/1 3/off",
            "6/3 6/3 3/off 3/off",
            "6/3 5/2 4/1 4/1",
            "6/3 5/2 4/1 3/off",
            "6/3 4/1 4/1 4/1",
            "6/3 4/1 4/1 3/off",
            "5/2 4/1 4/1 4/1",
        ],
    ),
    Trap("R7.2: the 4 cannot bear off, the 2 can", {5: 1, 2: 1}, {24: 2}, (4, 2), ["5/1 2/off", "5/3 3/off"]),
    Trap(
        "R10.4: Hypergammon, 6-5 from the start",
        {24: 1, 23: 1, 22: 1},
        {1: 1, 2: 1, 3: 1},
        (6, 5),
        [
            "24/18 23/18",
            "24/18 22/17",
            "24/18 18/13",
            "23/17 24/19",
            "23/17 22/17",
            "23/17 17/12",
            "22/16 24/19",
            "22/16 23/18",
            "22/16 16/11",
        ],
        3,
    ),
    Trap(
        "R10.1: 6-1 from the start",
        {24: 2, 13: 5, 8: 3, 6: 5},
        {1: 2, 12: 5, 17: 3, 19: 5},
        (6, 1),
        [
            "24/18 24/23",
            "24/18 8/7",
            "24/18 6/5",
            "13/7 24/23",
            "13/7 8/7",
            "13/7 7/6",
            "13/7 6/5",
            "8/2 24/23",
            "8/2 8/7",
            "8/2 6/5",
        ],
    ),
    Trap("R5.4: the last checker on the 2, either die", {2: 1}, {24: 2}, (6, 5), ["2/off"]),
    Trap("R5.4: the last checker on the 4, the 2 blocked", {4: 1}, {2: 2}, (6, 2), ["4/off"]),
    Trap("R5.1: the last two checkers need both dice", {6: 1, 2: 1}, {24: 2}, (6, 5), ["6/off 2/off", "6/1 2/off"]),
    Trap("R5.1: only one order plays both", {10: 1}, {8: 2}, (4, 2), ["10/6 6/4"]),
    Trap(
        "R5.2: the larger would do, but only the smaller enters", {25: 1, 8: 1}, {19: 2}, (6, 1), ["bar/24 8/2", "bar/24 24/18"]
    ),
    Trap("R6.1: four on the bar enter before all else", {25: 5, 13: 10}, {1: 1}, (2, 2), ["bar/23 bar/23 bar/23 bar/23"]),
    Trap(
        "R6.2: a closed board",
        {25: 1, 1: 14},
        {24: 2, 23: 2, 22: 2, 21: 2, 20: 2, 19: 2},
        (6, 6),
        [""],
    ),
    Trap(
        "R7.1: one on the bar forbids bearing off",
        {25: 1, 1: 14},
        {24: 2, 23: 2, 22: 2, 21: 2, 20: 2},
        (6, 1),
        ["bar/19 19/18"],
    ),
    Trap("R7.2: a 5 between checkers must be stepped", {6: 1, 4: 2}, {24: 2}, (5, 5), ["6/1 4/off 4/off 1/off"]),
    Trap("R7.2: a 5 whose only step is blocked cannot bear off lower ones", {6: 1, 4: 2}, {1: 2}, (5, 5), [""]),
    Trap("R3.2: one checker makes all four steps", {24: 1}, {6: 1}, (4, 4), ["24/20 20/16 16/12 12/8"]),
    Trap("R4.2: two hits in one roll", {8: 1}, {6: 1, 3: 1}, (3, 2), ["8/6* 6/3*", "8/5 5/3*"]),
    Trap("R4.1: an own stack is never blocked", {24: 1, 18: 14}, {12: 2}, (6, 6), ["24/18"]),
]


def made(board, play):
    """The board after a play as it is written, whether or not it is legal."""
    mover, opponent = (list(side) for side in board)
    for text in play.split():
        source, target = (int({"bar": 25, "off": 0}.get(place, place)) for place in text.rstrip("*").split("/"))
        assert mover[source] > 0
        mover[source] -= 1
        mover[target] += 1
        hit = target > 0 and opponent[25 - target] > 0
        assert hit == text.endswith("*"), text
        if hit:
            assert opponent[25 - target] == 1
            opponent[25 - target] -= 1
            opponent[25] += 1
    return tuple(mover), tuple(opponent)


def walked(game, seat):
    """The boards, seen by `seat`, in which step by step play of its roll can end."""
    if game.phase != "CHECKER" or game.decider != seat:
        points = game.states[0]["points"].tolist()
        return {(tuple(points[seat]), tuple(points[1 - seat]))}
    ends = set()
    for action in game.legal():
        after = game.copy()
        after.apply(action)
        ends |= walked(after, seat)
    return ends


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.case)
def test_trap(trap):
    board = board_of(trap.mover, trap.opponent, trap.checkers)
    variant = "hypergammon" if trap.checkers == 3 else "backgammon"
    want = {made(board, play) for play in trap.plays}
    assert len(want) == len(trap.plays)
    assert oracle.results(board, oracle.roll_of(*trap.roll)) == want
    for roll in (trap.roll, trap.roll[::-1]):
        plays = Position(*board, variant).legal_plays(*roll)
        assert len(plays) == len(want)
        assert {oracle.turned((play.result.mover, play.result.opponent)) for play in plays} == want
        for seat in (0, 1):
            game = EngineGame(Settings(variant, cube=False)).place(board, roll, turn=seat, owner=-1)
            assert walked(game, seat) == want


def first_steps(mover, opponent, roll):
    game = EngineGame(Settings("backgammon", cube=False)).place(board_of(mover, opponent), roll, owner=-1)
    return {(action // 6 + 1, action % 6 + 1) for action in game.legal()}


@pytest.mark.parametrize(
    ("case", "mover", "opponent", "roll", "steps"),
    [
        ("R5.1: 8/6 would leave no 6", {24: 1, 8: 1, 6: 5}, {20: 4, 19: 3, 18: 4, 16: 2, 4: 2}, (6, 2), {(8, 6), (24, 2)}),
        ("R5.1: the 6 first would leave no 4", {9: 1, 5: 3, 3: 2}, {24: 10, 23: 3, 1: 2}, (6, 4), {(9, 4)}),
        ("R5.1: only one order", {10: 1}, {8: 2}, (4, 2), {(10, 4)}),
        ("R5.2: the larger, though the smaller could be", {13: 1}, {6: 2}, (5, 2), {(13, 5)}),
        ("R5.2: the smaller, for want of the larger", {24: 1}, {18: 2, 13: 2}, (6, 5), {(24, 5)}),
        ("R5.4: with whichever die makes it", {4: 1}, {24: 1}, (6, 2), {(4, 6), (4, 2)}),
        ("R5.4: R5.2 notwithstanding", {2: 1}, {24: 2}, (6, 5), {(2, 6), (2, 5)}),
        ("R5.4 does not hold for the last but one", {4: 1, 1: 1}, {24: 1}, (6, 2), {(4, 6), (4, 2)}),
        ("R6.1: only the bar", {25: 1, 13: 2}, {1: 1}, (5, 3), {(25, 5), (25, 3)}),
        ("R6.2: only the die that enters", {25: 1, 13: 2}, {20: 2}, (5, 3), {(25, 3)}),
        ("R7.2: exact or the highest", {4: 2, 2: 2}, {24: 2}, (6, 2), {(4, 6), (4, 2), (2, 2)}),
        ("R7.2: not a lower one while a higher stands", {5: 1, 2: 2}, {24: 2}, (4, 3), {(5, 4), (5, 3)}),
    ],
)
def test_first_steps(case, mover, opponent, roll, steps):
    assert first_steps(mover, opponent, roll) == steps


# Distinct plays of the 21 rolls from the two starts of which GNU Backgammon's counts are known
PLAYS = {
    "backgammon": [[42], [15, 75], [16, 17, 73], [14, 18, 17, 52], [8, 8, 9, 9, 4], [10, 14, 14, 14, 7, 11]],
    "nackgammon": [[65], [22, 108], [22, 26, 106], [19, 22, 22, 52], [12, 15, 16, 14, 8], [14, 18, 18, 14, 10, 11]],
}


@pytest.mark.parametrize("name", PLAYS)
def test_distinct_plays_of_the_opening_rolls(name):
    start = Position.start(name)
    got = [[len(start.legal_plays(a, b)) for b in range(1, a + 1)] for a in range(1, 7)]
    assert got == PLAYS[name]


def test_the_handed_cases(shared):
    """Every case of positions.json as it is handed; they also stand, by hand, in the table above."""
    cases = json.loads((shared / "data" / "positions.json").read_text())
    assert len(cases) >= 36
    for case in cases:
        points = ({int(p): n for p, n in case[side].items()} for side in ("mover", "opponent"))
        board = board_of(*points, checkers=case["mover_off"] + sum(case["mover"].values()))
        want = set()
        for result in case["results"]:
            after = {p: n for p, n in enumerate(result["opponent_after"]) if n}
            want.add((tuple(result["mover_after"]), board_of({}, after, sum(board[0]))[1]))
        plays = Position(*board, "hypergammon" if sum(board[0]) == 3 else "backgammon").legal_plays(*case["dice"])
        assert {oracle.turned((play.result.mover, play.result.opponent)) for play in plays} == want, case["id"]
        finished = any(end[0][0] == sum(board[0]) for end in want)
        assert max(len(play.steps) for play in plays) == case["dice_used"] or finished, case["id"]
        assert any(trap.roll == tuple(case["dice"]) and board_of(*trap[1:3], trap.checkers) == board for trap in TRAPS)


@pytest.mark.parametrize("kind", ["contact", "race"])
def test_positions_of_strong_players(shared, kind):
    """200 positions from their self-play, seven of the rolls: the oracle's plays."""
    lines = (shared / "data" / f"position_ids_{kind}.txt").read_text().split()
    texts = [text for text in lines if len(text) == 14]
    assert len(texts) >= 200
    for text in texts[:: len(texts) // 200][:200]:
        position = Position.from_id(text)
        board = (position.mover, position.opponent)
        for roll in oracle.ROLLS[::3]:
            ends = {oracle.turned((play.result.mover, play.result.opponent)) for play in position.legal_plays(*roll)}
            assert ends == oracle.results(board, oracle.roll_of(*roll)), (text, roll)
