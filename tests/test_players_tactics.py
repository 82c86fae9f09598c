"""Inputs of nets beside the places of the checkers, compared with hand-counted shots, legal plays and the other side's view."""

from __future__ import annotations

import nets
import numpy as np
import pytest

from bg_env.players.valuenet.features import TACTICS, tactics_of
from bg_env.position import Position
from bg_env.rules import STATE, Phase, Settings, episode_key, new_episode, pick_action, settle, word
from bg_env.rules import apply as do

SIDE = (TACTICS - 2) // 2
ROLLS = [(a, b) for a in range(1, 7) for b in range(1, a + 1)]


def of(mover: dict[int, int], opponent: dict[int, int]) -> np.ndarray:
    """The inputs of a board, whose places are on each side's own numbering; the rest of 15 checkers is off."""
    states = np.zeros(1, STATE)
    for seat, board in enumerate((mover, opponent)):
        for place, n in board.items():
            states["points"][0, seat, place] = n
        states["points"][0, seat, 0] = 15 - sum(board.values())
    states["phase"] = Phase.ROLL
    return tactics_of(states, np.zeros(1, np.int8))[0]


def shots(distance: int, *, gap: int = 0) -> float:
    """Rolls that hit a blot on the opponent's 1 point (place 24 seen from the mover) by one checker."""
    return float(of({24: 1}, {25 - (24 - distance): 1, **({gap: 2} if gap else {})})[0] * 36)


def test_shots_at_one_blot_are_those_of_the_table():
    """The table of single shots that every book on backgammon has, 1 to 12 pips and the doubles beyond."""
    table = {1: 11, 2: 12, 3: 14, 4: 15, 5: 15, 6: 17, 7: 6, 8: 6, 9: 5, 10: 3, 11: 2, 12: 3}
    table |= {13: 0, 14: 0, 15: 1, 16: 1, 17: 0, 18: 1, 20: 1}
    assert {distance: round(shots(distance)) for distance in table} == table


def test_points_between_take_shots_away():
    assert shots(6, gap=3) == pytest.approx(16)  # the 2-2; 4-2 goes by the 4
    blocked = of({24: 1}, {7: 1, 3: 2, 5: 2})
    assert blocked[0] * 36 == pytest.approx(17 - 3)  # 4-2 both ways, 2-2


def test_two_blots_a_double_shot_and_pips():
    seen = of({24: 2}, {2: 1, 3: 1})  # one pip and two pips away, two checkers to hit with
    assert seen[0] * 36 == pytest.approx(20)  # any 1, any 2
    assert seen[1] * 36 == pytest.approx(2 + 1)  # 2-1, and 1-1 hits both
    alone = of({24: 1}, {2: 1, 3: 1})
    assert alone[1] * 36 == pytest.approx(1)  # 1-1 alone
    assert of({24: 1}, {25 - 18: 1})[2] * 360 == pytest.approx(17 * 18)  # a blot on 18 loses 18 pips
    assert of({24: 1}, {25 - 18: 1})[11] == pytest.approx(0.25)


def test_from_the_bar():
    seen = of({25: 1}, {6: 2, 5: 2, 4: 1})
    assert seen[6] == pytest.approx((36 - 2 * 2) / 36)
    assert seen[0] * 36 == pytest.approx(11 + 2 + 1 + 1)  # any 4, 3-1, 1-1, 2-2
    two = of({25: 2}, {4: 1})
    assert two[0] * 36 == pytest.approx(11 + 1)  # the 4s, and 2-2 by going on after both are in


def test_the_race_and_freedom():
    race = of({6: 5, 5: 5, 4: 5}, {3: 5, 2: 5, 1: 5})
    assert race[2 * SIDE] == 1
    assert race[2 * SIDE + 1] == pytest.approx((30 - 75) / 105)
    assert race[7] == pytest.approx(0.75)
    assert race[SIDE + 7] == pytest.approx(0.30)
    assert not race[[0, 1, 2, 3, 9, 12, 13, 14]].any()
    primed = of({24: 1}, dict.fromkeys(range(2, 8), 2))
    assert primed[3] == 0  # six points in a row
    assert of({24: 1}, {2: 2})[3] * 36 == pytest.approx(36 - 1)  # only 1-1 is stopped


def states_of(variant: str, n: int) -> np.ndarray:
    """Positions before a roll, from random play."""
    settings = Settings(variant, cube=False)
    rules, found = settings.record(), []
    state, episode = np.zeros(1, STATE), 0
    while len(found) < n:
        if state[0]["games"] == 0 or state[0]["phase"] == Phase.OVER:
            new_episode(state, 0, rules, np.uint64(episode_key(np.uint64(9), np.uint64(episode))))
            episode += 1
        elif state[0]["phase"] == Phase.ROLL:
            found.append(state[0].copy())
        settle(state, 0, rules)
        while state[0]["phase"] not in (Phase.ROLL, Phase.OVER):
            bits = np.uint64(word(state[0]["key"], np.uint64(2), np.uint64(state[0]["choices"])))
            state["choices"] += 1
            do(state, 0, rules, pick_action(state, 0, bits))
    return np.array(found, STATE)


def test_shots_are_those_of_the_legal_plays():
    """Except where both dice must be played and the play that hits leaves one, which the sets of bits do not see."""
    states = states_of("backgammon", 250)
    seats = states["turn"].astype(np.int8)
    got = np.round(tactics_of(states, seats)[:, 0] * 36).astype(int)
    want = []
    for state, seat in zip(states, seats, strict=True):
        position = Position(tuple(state["points"][seat].tolist()), tuple(state["points"][1 - seat].tolist()))
        bar, n = position.opponent[25], 0
        for a, b in ROLLS:
            after = [play.result.mover[25] for play in position.legal_plays(a, b)]
            n += (1 if a == b else 2) * (max(after, default=0) > bar)
        want.append(n)
    far = np.abs(got - want)
    assert (far > 0).mean() < 0.03
    assert far.max() <= 4
    assert max(want) > 20


@pytest.mark.parametrize("variant", ["backgammon", "hypergammon", "acey_deucey", "longgammon"])
def test_each_side_is_seen_as_the_other_sees_it(variant):
    states = states_of(variant, 120)
    one, other = (tactics_of(states, np.full(len(states), seat, np.int8)) for seat in range(2))
    np.testing.assert_array_equal(one[:, :SIDE], other[:, SIDE : 2 * SIDE])
    np.testing.assert_array_equal(one[:, SIDE : 2 * SIDE], other[:, :SIDE])
    np.testing.assert_array_equal(one[:, 2 * SIDE], other[:, 2 * SIDE])
    np.testing.assert_array_equal(one[:, -1], -other[:, -1])
    assert np.isfinite(one).all()
    assert np.abs(one).max() < 8


def test_a_net_without_them_is_of_another_layout():
    assert nets.random_net(tactics=False).layout == "tesauro198-6-v0"
    assert nets.random_net().layout == f"tactics{198 + TACTICS}-6-v0"
