"""The encoders `openspiel` and `pgx` against those libraries' own output, bit for bit, on states of random play."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest

from bg_env import rules as engine
from bg_env.observations import encoder
from bg_env.rules import STATE, Phase, Settings

CUBELESS = Settings(cube=False)
PGX = Path(__file__).parent / "data" / "pgx_observations.npz"


def same_bits(ours, theirs):
    theirs = np.asarray(theirs, np.float32)
    return ours.dtype == np.float32 and np.array_equal(ours.view(np.uint32), theirs.view(np.uint32))


# --- OpenSpiel ---------------------------------------------------------------------------------------------------------------


def openspiel():
    """pyspiel; CI installs open-spiel, so its absence is a failure there."""
    try:
        import pyspiel
    except ImportError:
        if os.environ.get("CI"):
            raise
        pytest.skip("needs open-spiel (pip install open-spiel), whose output is compared")
    return pyspiel


BAR_POSITION = 100
"""OpenSpiel's number of the bar in `board(player, position)`."""


def from_openspiel(theirs, turn):
    """A state with OpenSpiel's checkers; the player `turn` comes next, and nothing is rolled yet."""
    states = np.zeros(1, STATE)
    state = states[0]
    for player in (0, 1):
        points = state["points"][player]
        for position in range(24):
            points[24 - position if player == 0 else position + 1] = theirs.board(player, position)
        points[25] = theirs.board(player, BAR_POSITION)
        points[0] = 15 - points[1:].sum()
    state["turn"], state["decider"], state["winner"], state["owner"] = turn, -1, -1, -1
    state["phase"] = Phase.OPENING if turn < 0 else Phase.ROLL
    return states


def test_openspiel_bit_for_bit():
    """Our own game goes along with OpenSpiel's, die by die: the start, chance phases, rolls, halves of doubles and the end."""
    game = openspiel().load_game("backgammon(scoring_type=full_scoring)")
    item, rules, rng = encoder("openspiel"), CUBELESS.record(), random.Random(6)
    compared, halves = 0, 0
    both = np.array([0, 1], np.int8)

    def compare(theirs, ours):
        seen = item.encode(np.repeat(ours, 2), rules, seats=both)
        for seat in (0, 1):
            assert same_bits(seen[seat], theirs.observation_tensor(seat)), (str(theirs), ours)
        return 2

    while compared < 3000:
        theirs = game.new_initial_state()
        assert compare(theirs, from_openspiel(theirs, -1))
        mover = None
        while not theirs.is_terminal():
            if theirs.is_chance_node():
                theirs.apply_action(rng.choice(theirs.chance_outcomes())[0])
                second_half, mover = False, theirs.current_player()
            ours = from_openspiel(theirs, mover)
            dice = [int(v) for v in theirs.observation_tensor(0)[-2:]]
            state = ours[0]
            state["phase"], state["decider"] = Phase.CHECKER, mover
            state["dice"] = dice[::-1]
            state["left"] = (2 if second_half else 4, 0) if dice[0] == dice[1] else (1, 1)
            compared += compare(theirs, ours)
            halves += second_half
            theirs.apply_action(rng.choice(theirs.legal_actions()))
            second_half = True
            if theirs.is_terminal():
                over = from_openspiel(theirs, mover)
                over["phase"], over["winner"] = Phase.OVER, mover
                dice_stand = any(theirs.observation_tensor(0)[-2:])  # see the encoder's notes: half of a double was enough
                assert not dice_stand or dice[0] == dice[1]
                compared += 0 if dice_stand else compare(theirs, over)
            elif theirs.is_chance_node():
                compared += compare(theirs, from_openspiel(theirs, 1 - mover))
    assert halves >= 20


def test_openspiel_starts_where_we_start():
    """player_0 is OpenSpiel's player 0: the same opening throw leads both engines to the same observation."""
    game, item, rules = openspiel().load_game("backgammon"), encoder("openspiel"), CUBELESS.record()
    for outcome, _ in game.new_initial_state().chance_outcomes():
        theirs = game.new_initial_state()
        theirs.apply_action(outcome)
        low, high = (int(v) for v in theirs.observation_tensor(0)[-2:])
        ours = np.zeros(1, STATE)
        engine.new_episode(ours, 0, rules, np.uint64(1))
        engine.apply_roll(ours, 0, rules, *((high, low) if theirs.current_player() == 0 else (low, high)))
        for seat in (0, 1):
            assert same_bits(item.encode(ours, rules, seats=seat)[0], theirs.observation_tensor(seat))


# --- Pgx ---------------------------------------------------------------------------------------------------------------------


def pgx_rows():
    """Stored by tests/tools/make_pgx_observations.py, since Pgx needs JAX."""
    stored = np.load(PGX)
    return {name: stored[name] for name in stored.files}


def from_pgx(rows, k):
    """Row `k` as a state of ours: Pgx's player n is player_n, and its board is the mover's."""
    board, mover = rows["board"][k].astype(int), int(rows["player"][k])
    states = np.zeros(1, STATE)
    state = states[0]
    mine, theirs = state["points"][mover], state["points"][1 - mover]
    for index in range(24):
        mine[24 - index], theirs[index + 1] = max(board[index], 0), max(-board[index], 0)
    mine[25], theirs[25], mine[0], theirs[0] = board[24], -board[25], board[26], -board[27]
    state["turn"], state["winner"], state["owner"] = mover, -1, -1
    if rows["over"][k]:
        state["phase"], state["decider"], state["winner"] = Phase.OVER, -1, mover
        return states
    state["phase"], state["decider"] = Phase.CHECKER, mover
    left = {die: int(n) for die, n in enumerate(rows["dice"][k], 1) if n}
    state["dice"] = (sorted(left, reverse=True) * 2)[:2]
    state["left"] = [*(left[die] for die in sorted(left, reverse=True)), 0][:2]
    return states


def test_pgx_bit_for_bit():
    rows, item, rules = pgx_rows(), encoder("pgx"), CUBELESS.record()
    n = len(rows["over"])
    assert 2 * n >= 4000
    assert rows["over"].sum() >= 10
    for k in range(n):
        states = from_pgx(rows, k)
        assert (states["points"].sum(axis=2) == 15).all()
        for seat in (0, 1):
            want = rows["seen"][k, seat].copy()
            if rows["over"][k]:
                want[28:] = 0  # a game that is won has no dice left here (R3.4)
            assert same_bits(item.encode(states, rules, seats=seat)[0], want)


def test_pgx_steps_are_our_steps():
    """Both boards agree after each step of Pgx that is legal here too, so points and dice mean the same."""
    rows, item, rules = pgx_rows(), encoder("pgx"), CUBELESS.record()
    followed = 0
    for k in range(len(rows["over"]) - 1):
        action = int(rows["action"][k])
        source, die = action // 6, action % 6 + 1
        if rows["over"][k] or source == 0 or rows["player"][k] != rows["player"][k + 1]:  # the end, a pass, the last of a roll
            continue
        point = 25 if source == 1 else 24 - (source - 2)
        states = from_pgx(rows, k)
        ours = (point - 1) * 6 + die - 1
        if engine.illegal_reason(states, 0, rules, ours):  # Pgx does not know R5.1 and R5.2
            continue
        engine.apply(states, 0, rules, ours)
        mover = int(rows["player"][k])
        if states[0]["phase"] == Phase.CHECKER and states[0]["turn"] == mover:
            assert same_bits(item.encode(states, rules, seats=mover)[0], rows["seen"][k + 1, mover])
            followed += 1
    assert followed >= 500
