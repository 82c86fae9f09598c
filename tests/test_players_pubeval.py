"""Pubeval: its choices are gnubg-nn's, its strength against random is the published one, and it is exact."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import subprocess
import sys
from fractions import Fraction
from importlib import resources

import numpy as np
import pytest

from bg_env import rules as engine
from bg_env.errors import OrderError
from bg_env.observations import encoder
from bg_env.players import player
from bg_env.players.pubeval import PubevalPlayer, pubeval_play, pubeval_table
from bg_env.players.random import RandomPlayer
from bg_env.rules import STATE, VARIANTS, Phase, Settings, Variant

CUBELESS = Settings(cube=False)


def weights():
    return json.loads(resources.files("bg_env").joinpath("data", "pubeval_weights.json").read_text(encoding="utf-8"))


def start(settings, seed):
    states = np.zeros(1, STATE)
    engine.new_episode(states, 0, settings.record(), np.uint64(engine.episode_key(np.uint64(seed), 0)))
    engine.settle(states, 0, settings.record())
    return states


def rolled_states(settings, seed, good):
    """Every state with a whole roll to play of one game: by pubeval's plays if `good`, else by random ones."""
    rng, rules, states = np.random.default_rng(seed), settings.record(), start(settings, seed)
    table, buffer = pubeval_table(settings.variant.checkers), engine.play_buffer()
    while states[0]["phase"] != Phase.OVER:
        if states[0]["phase"] == Phase.CHECKER:
            yield states.copy()
            if good and rng.random() < 0.9:
                n = pubeval_play(states, 0, rules, table, buffer)
                states[0] = buffer.after[n]
            else:
                _, _, after = engine.plays(states, rules)
                states[0] = after[rng.integers(len(after))]
        else:
            engine.apply(states, 0, rules, engine.pick_action(states, 0, rng.integers(2**64, dtype=np.uint64)))
        engine.settle(states, 0, rules)


def many_states(settings, n, good):
    return list(itertools.islice(itertools.chain.from_iterable(rolled_states(settings, s, good) for s in itertools.count()), n))


def can_meet(state):
    """Whether a checker of one side is not yet past one of the other."""
    rear = [max((p for p in range(1, 26) if side[p]), default=0) for side in state["points"]]
    return sum(rear) >= 25


def plain_best(states, settings):
    """The indices of the plays that score highest, by exact fractions over the encoder's inputs."""
    rules, mover = settings.record(), int(states[0]["turn"])
    _, _, after = engine.plays(states, rules)
    won = [n for n in range(len(after)) if after[n]["winner"] >= 0]
    if won:
        return won
    chosen = [Fraction(str(w)) for w in weights()["contact" if can_meet(states[0]) else "race"]]
    off, checkers = after["points"][:, mover, 0], settings.variant.checkers
    inputs = encoder("pubeval").encode(after, rules, seats=mover)
    scores = []
    for row, n in zip(inputs, off, strict=True):
        exact = [*(Fraction(float(x)) for x in row[:-1]), Fraction(int(n), checkers)]
        scores.append(sum(w * x for w, x in zip(chosen, exact, strict=True) if x))
    return [n for n, score in enumerate(scores) if score == max(scores)]


@pytest.mark.parametrize(
    "settings",
    [*(Settings(name) for name in VARIANTS), Settings(Variant("four", {24: 2, 6: 2})), Settings("hypergammon", match_length=5)],
    ids=str,
)
def test_the_first_of_the_plays_that_score_highest(settings):
    rules, table, buffer = settings.record(), pubeval_table(settings.variant.checkers), engine.play_buffer()
    batch = many_states(settings, 25, good=False) + many_states(settings, 25, good=True)
    chosen = PubevalPlayer(settings).choose_plays(np.concatenate(batch), None)
    for states, steps in zip(batch, chosen, strict=True):
        before = states.copy()
        best = plain_best(states, settings)
        n = pubeval_play(states, 0, rules, table, buffer)
        assert n == best[0]
        assert np.array_equal(states, before)
        _, actions, after = engine.plays(states, rules)
        assert buffer.after[n] == after[n]
        assert steps.tolist() == actions[n].tolist() == buffer.actions[n].tolist()


def gnubg_side(counts):
    return counts[1:26].tolist()


def gnubg_result(board, moves):
    """The board after gnubg-nn's list of (source, target) pairs, points from 0, bar 24, off below 0; the mover's side last."""
    theirs, mine = list(board[0]), list(board[1])
    for source, target in zip(moves[::2], moves[1::2], strict=True):
        mine[source] -= 1
        if target >= 0:
            mine[target] += 1
            if theirs[23 - target]:
                theirs[24] += theirs[23 - target]
                theirs[23 - target] = 0
    return [theirs, mine]


def gnubg():
    """gnubg-nn; CI installs it, so its absence is a failure there."""
    try:
        import gnubg_nn
    except ImportError:
        if os.environ.get("CI"):
            raise
        pytest.skip("needs gnubg-nn (pip install gnubg-nn), the oracle of this test")
    return gnubg_nn


def test_the_choices_of_gnubg_nn():
    """At least 2,000 positions: random play, pubeval's own play, and races out of both."""
    library = gnubg()
    batch = many_states(CUBELESS, 1000, good=False) + many_states(CUBELESS, 1500, good=True)
    rules, table, buffer = CUBELESS.record(), pubeval_table(15), engine.play_buffer()
    races = doubles = 0
    for states in batch:
        s = states[0]
        mover = int(s["turn"])
        board = [gnubg_side(s["points"][1 - mover]), gnubg_side(s["points"][mover])]
        theirs = gnubg_result(board, library.pub_best_move(board, int(s["dice"][0]), int(s["dice"][1])))
        n = pubeval_play(states, 0, rules, table, buffer)
        points = buffer.after[n]["points"]
        ours = [gnubg_side(points[1 - mover]), gnubg_side(points[mover])]
        assert ours == theirs, (board, s["dice"], plain_best(states, CUBELESS))
        races += not can_meet(s)
        doubles += int(s["dice"][0] == s["dice"][1])
    assert races >= 200
    assert doubles >= 300


def test_the_inputs_give_gnubg_nns_scores():
    """Its score of a position is one of the two weighted sums of the encoder's inputs, to float32 accuracy."""
    library = gnubg()
    batch = np.concatenate(many_states(CUBELESS, 1000, good=False) + many_states(CUBELESS, 1000, good=True))
    sums = {}
    for seat in (0, 1):
        inputs = encoder("pubeval").encode(batch, CUBELESS.record(), seats=seat).astype(float)
        sums[seat] = [inputs @ np.array(weights()[name]) for name in ("contact", "race")]
    for i, s in enumerate(batch):
        for seat in (0, 1):
            score = library.pub_eval_score([gnubg_side(s["points"][seat]), gnubg_side(s["points"][1 - seat])])
            kind = 0 if can_meet(s) else 1
            assert score == pytest.approx(sums[seat][kind][i], abs=2e-4)


def test_points_a_game_against_random():
    """+2.507 points a game, cubeless, within four standard errors over 4,000 games at a fixed seed."""
    n, rules = 4000, CUBELESS.record()
    states = np.zeros(n, STATE)
    for i in range(n):
        engine.new_episode(states, i, rules, np.uint64(engine.episode_key(np.uint64(i), 0)))
        engine.settle(states, i, rules)
    seats = np.arange(n) % 2
    players = [player("pubeval", CUBELESS), RandomPlayer()]
    rng = np.random.default_rng(11)
    while True:
        open_games = np.flatnonzero(states["phase"] != Phase.OVER)
        if not len(open_games):
            break
        own = states["decider"][open_games] == seats[open_games]
        mine, theirs = open_games[own], open_games[~own]
        for i, steps in zip(mine, players[0].choose_plays(states[mine], None), strict=True):
            for action in steps[steps >= 0]:
                engine.apply(states, i, rules, action)
            engine.settle(states, i, rules)
        words = rng.integers(2**64, size=len(theirs), dtype=np.uint64)
        for i, action in zip(theirs, players[1].choose(states[theirs], words), strict=True):
            engine.apply(states, i, rules, action)
            engine.settle(states, i, rules)
    points = np.where(states["winner"] == seats, states["won"], -states["won"])
    error = points.std(ddof=1) / n**0.5
    assert 0.005 < error < 0.02
    assert abs(points.mean() - 2.507) < 4 * error, (points.mean(), error)


def test_the_table_is_the_weights():
    for checkers in (15, 3, 1):
        table = pubeval_table(checkers)
        assert table.shape == (2, 26, checkers + 2)
        assert not table.flags.writeable
        for kind, name in enumerate(("contact", "race")):
            w = [Fraction(str(v)) for v in weights()[name]]
            unit = 10**5 * 2 * checkers
            for p in range(1, 25):
                own = w[5 * (24 - p) : 5 * (24 - p) + 5]
                want = [
                    own[0],
                    0,
                    own[1],
                    own[2],
                    own[2] + own[3],
                    *(own[2] + own[4] * Fraction(n - 3, 2) for n in range(4, 16)),
                ]
                assert table[kind, p].tolist() == [v * unit for v in want[: checkers + 2]]
            assert table[kind, 25].tolist()[1:] == [w[120] * Fraction(n, 2) * unit for n in range(checkers + 1)]
            assert table[kind, 0].tolist()[1:] == [w[121] * Fraction(n, checkers) * unit for n in range(checkers + 1)]


def test_a_roll_partly_played_is_completed():
    settings = CUBELESS
    rules = settings.record()
    for states in many_states(settings, 40, good=False):
        engine.apply(states, 0, rules, int(engine.plays(states, rules)[1][0][0]))
        if states[0]["phase"] == Phase.CHECKER:
            steps = PubevalPlayer(settings).choose_plays(states, None)[0]
            mover = states[0]["turn"]
            for action in steps[steps >= 0]:
                assert states[0]["turn"] == mover
                assert engine.illegal_reason(states, 0, rules, int(action)) == 0
                engine.apply(states, 0, rules, int(action))
            assert states[0]["turn"] != mover or states[0]["phase"] == Phase.OVER


def test_by_name_and_as_a_value():
    settings = Settings("hypergammon")
    chosen = player("pubeval", settings)
    assert isinstance(chosen, PubevalPlayer)
    assert repr(chosen) == "PubevalPlayer('hypergammon')"
    states = np.concatenate(many_states(settings, 5, good=False))
    again = pickle.loads(pickle.dumps(chosen))  # noqa: S301 - our own bytes
    assert np.array_equal(again.choose_plays(states, None), chosen.choose_plays(states, None))
    assert chosen.choose_plays(states[:0], None).shape == (0, 4)
    with pytest.raises(OrderError, match="pubeval must know the settings"):
        PubevalPlayer().choose_plays(states, None)


def test_the_same_choices_without_compilation(tmp_path):
    batch = np.concatenate(many_states(CUBELESS, 6, good=False))
    np.save(tmp_path / "states.npy", batch)
    script = """
import sys, numpy as np
from bg_env.players.pubeval import PubevalPlayer
from bg_env.rules import Settings
steps = PubevalPlayer(Settings(cube=False)).choose_plays(np.load(sys.argv[1] + "/states.npy"), None)
np.save(sys.argv[1] + "/steps.npy", steps)
"""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-W", "error", "-c", script, str(tmp_path)], env=environment, check=True, timeout=120)
    assert np.array_equal(np.load(tmp_path / "steps.npy"), PubevalPlayer(CUBELESS).choose_plays(batch, None))
