"""Learning the cube and the match: self-play with it, its targets, runs of every kind."""

from __future__ import annotations

from dataclasses import replace

import nets
import numpy as np
import pytest
from test_players_cubeful import plain_worth, played_states

from bg_env.errors import SettingsError
from bg_env.players.valuenet.evaluate import Evaluator, new_scratch, plain
from bg_env.players.valuenet.search import new_search, write_probabilities
from bg_env.rules import STATE, Phase, Settings, apply_roll, episode_key
from bg_env.rules.candidates import candidates
from bg_env.train.td.self_play import BROKEN, GOES_ON, PAYOFFS, TERMINAL, Games, Trajectories, begin, self_play

pytest.importorskip("torch", reason="the TD learner needs torch")

from bg_env.train.td.learner import TDLearner, TDSettings
from bg_env.train.td.targets import td_targets

SMALL = TDSettings(total=400, hidden=(24, 12), batch=16, turns=6, minibatch=32, seed=3)


def record_of(settings: Settings, kind: str, *, explore: float = 0.0, games: int = 60, turns: int = 90):
    """The trajectories that self-play of a random net records."""
    rules, net = settings.record(), nets.random_net(2, kind=kind, tactics=kind == "match")
    evaluator = Evaluator(net.kernel_arrays(rules), rules, PAYOFFS)
    seeds, episodes, states = np.arange(games, dtype=np.uint64), np.zeros(games, np.int64), np.zeros(games, STATE)
    for i in range(games):
        begin(states, i, rules, np.uint64(episode_key(seeds[i], np.uint64(0))))
    shape = turns + 1, games
    kept = Trajectories(
        np.zeros(shape, STATE),
        np.zeros((*shape, net.b3.size), np.float32),
        np.zeros(shape, np.int8),
        np.full(shape, TERMINAL, np.int8),
    )
    self_play(Games(states, seeds, episodes), 0, games, evaluator, explore, new_search(evaluator.net), kept)
    return net, kept


CASES = [("cube", Settings(max_turns=400)), ("match", Settings(match_length=5, max_turns=400))]


@pytest.mark.parametrize(("kind", "settings"), CASES, ids=[kind for kind, _ in CASES])
def test_what_is_recorded_is_what_the_net_answers(kind, settings):
    net, (rows, answers, seen, kinds) = record_of(settings, kind, explore=0.3)
    where = np.argwhere(np.ones(rows[1:].shape))[::7] + np.array([1, 0])
    for t, i in where:
        state = rows[t, i]
        stake = 2 ** int(state["cube"]) if kind == "cube" else 1
        assert answers[t, i, 0] * stake == pytest.approx(plain_worth(net, state, int(seen[t, i]), settings), abs=1e-4 * stake)
        assert (kinds[t, i] == TERMINAL) == (state["winner"] >= 0)
        if state["winner"] < 0:
            assert seen[t, i] == state["turn"]
            assert state["phase"] in (Phase.ROLL, Phase.ROLL_OR_DOUBLE)
    assert {Phase.ROLL, Phase.ROLL_OR_DOUBLE} <= set(rows[1:]["phase"].reshape(-1).tolist())
    assert rows[1:]["cube"].max() > 0
    assert (kinds[1:] == TERMINAL).sum() > 20


@pytest.mark.parametrize("explore", [0.0, 0.3])
def test_plays_by_chance_are_not_what_followed(explore):
    """The net's answer stands beside every position; those that chance led to are told, and are no other's targets."""
    settings = Settings(cube=False, max_turns=400)
    net, (rows, answers, seen, kinds) = record_of(settings, "odds", explore=explore)
    on = kinds[1:] != TERMINAL
    states, seats = rows[1:][on], seen[1:][on]
    assert (states["turn"] == seats).all()
    want = nets.plain_forward(net, nets.plain_inputs(net, states, settings.record(), seats))
    np.testing.assert_allclose(answers[1:][on], want, atol=3e-5)
    broken = (kinds[1:] == BROKEN).mean()
    assert broken == pytest.approx(explore, abs=0.08) if explore else broken < 0.02  # games that go on for 400 turns
    _, known = td_targets(answers, seen, kinds, 0.7)
    assert not known[(kinds[1:] == BROKEN)].any()


@pytest.mark.parametrize(
    "settings", [Settings(cube=False), Settings("acey_deucey"), Settings("nackgammon", cube=False)], ids=str
)
def test_no_turn_is_left_out(settings):
    """A roll that cannot be played makes a position too: the same checkers with the other player on roll."""
    _, (rows, _, seen, kinds) = record_of(settings.but(max_turns=400), "odds")
    passed = 0
    for i in range(rows.shape[1]):
        for t in range(1, len(rows) - 1):
            before, after = rows[t, i], rows[t + 1, i]
            if kinds[t, i] != GOES_ON or kinds[t + 1, i] == BROKEN:
                continue
            extra = settings.variant.acey_deucey and before["turn"] == after["turn"]
            assert after["turns"] - before["turns"] == (kinds[t + 1, i] == GOES_ON and not extra)
            if (before["points"] == after["points"]).all() and kinds[t + 1, i] == GOES_ON:
                assert (after["turn"], after["phase"]) == (1 - before["turn"], Phase.ROLL)
                assert seen[t + 1, i] == after["turn"]
                passed += 1
    assert passed > 10


def test_only_what_goes_by_chance_breaks_the_chain():
    settings = Settings(max_turns=400)
    _, (rows, _, _, kinds) = record_of(settings, "cube", explore=0.0)
    assert not (kinds[1:] == BROKEN).any()
    _, (rows, _, seen, kinds) = record_of(settings, "cube", explore=0.5)
    broken = np.argwhere(kinds[1:] == BROKEN) + np.array([1, 0])
    assert len(broken) > 20
    turned = 0
    for t, i in broken:
        before, after = rows[t - 1, i], rows[t, i]
        assert after["phase"] == Phase.ROLL
        assert (before["points"] == after["points"]).all()
        if before["winner"] >= 0 or after["cube"] < before["cube"]:  # turned by the net: taken back
            continue
        assert after["cube"] == before["cube"] + 1
        assert after["owner"] == 1 - seen[t, i]
        turned += 1
    assert turned > 5


def test_matches_begin_at_every_score():
    _, (rows, *_) = record_of(Settings(match_length=3, max_turns=400), "match", games=300, turns=2)
    scores = {tuple(score) for score in rows[1:]["score"].reshape(-1, 2).tolist()}
    assert {(a, b) for a in range(3) for b in range(3)} <= scores
    one = rows[2][(rows[2]["score"] == [2, 0]).all(-1)]["crawford"]
    assert set(one.tolist()) == {0, 1}
    assert not rows[2][(rows[2]["score"] == [2, 2]).all(-1)]["crawford"].any()


def test_targets_in_units_of_the_cube_by_hand():
    answers = np.array([[[0.5]], [[0.25]], [[-0.4]], [[1.0]]], np.float32)
    seen = np.array([[0], [0], [1], [1]], np.int8)
    kind = np.array([[GOES_ON], [GOES_ON], [GOES_ON], [TERMINAL]], np.int8)
    cubes = np.array([[0], [1], [1], [1]], np.int8)
    targets, known = td_targets(answers, seen, kind, 0.5, cubes)
    third = 1.0
    second = -(0.5 * third + 0.5 * -0.4)
    first = 2 * (0.5 * second + 0.5 * 0.25)
    np.testing.assert_allclose(targets[:, 0, 0], [first, second, third], rtol=1e-6)
    assert known.all()
    targets, _ = td_targets(answers, seen, kind, 0.5)
    np.testing.assert_allclose(targets[0, 0, 0], 0.5 * second + 0.5 * 0.25, rtol=1e-6)


@pytest.mark.parametrize(("kind", "settings"), CASES, ids=[kind for kind, _ in CASES])
def test_exact_targets_are_the_mean_over_21_rolls(kind, settings):
    states = played_states(settings, 60)
    states = states[states["phase"] == Phase.ROLL_OR_DOUBLE][:6].copy()
    states["phase"], states["decider"] = Phase.ROLL, -1
    net, rules = nets.random_net(8, kind=kind), settings.record()
    weights, mean = net.kernel_arrays(rules), np.empty((len(states), 6))
    evaluator = Evaluator(weights, rules, np.repeat(PAYOFFS, len(states), 0))
    write_probabilities(states, plain(evaluator), plain(new_scratch(weights)), 1, mean)
    for state, got in zip(states, mean[:, 0], strict=True):
        seat, want = int(state["turn"]), 0.0
        stake = 2 ** int(state["cube"]) if kind == "cube" else 1
        for d1 in range(1, 7):
            for d2 in range(1, 7):
                rolled = np.array([state], STATE)
                apply_roll(rolled, 0, rules, d1, d2)
                after = candidates(rolled, rules)[2] if rolled[0]["phase"] == Phase.CHECKER else rolled
                want += max(plain_worth(net, each, seat, settings) for each in after) / 36 / stake
        assert got == pytest.approx(want, abs=2e-4)


@pytest.mark.parametrize(
    "what",
    [{"cube": True}, {"match_length": 3, "cube": True}, {"targets": "rolls", "exact_from": 0.0}, {"variant": "acey_deucey"}],
)
def test_runs_of_every_kind_go_on_after_a_stop_as_without(tmp_path, what):
    settings = replace(SMALL, **what)
    whole, stopped = TDLearner(settings, threads=2), TDLearner(settings)
    for _ in range(6):
        whole.round()
    for _ in range(3):
        stopped.round()
    stopped.save(tmp_path / "run.npz")
    gone_on = TDLearner.load(tmp_path / "run.npz")
    for _ in range(3):
        gone_on.round()
    assert gone_on.settings == settings
    assert np.isfinite(whole.loss)
    assert gone_on.loss == whole.loss
    assert whole.net().kind == settings.kind
    np.testing.assert_array_equal(gone_on.net().w1, whole.net().w1)
    assert np.isfinite(whole.against_pubeval(4)[0])


def test_a_run_begins_with_another_net(tmp_path):
    net = nets.random_net(5, *SMALL.hidden)
    net.save(tmp_path / "start.npz")
    given = replace(SMALL, start=str(tmp_path / "start.npz"))
    same = TDLearner(given).net(averaged=False)
    np.testing.assert_array_equal(same.w3, net.w3)
    assert same.about["start"] == "start.npz"
    cube = TDLearner(replace(given, cube=True)).net(averaged=False)
    np.testing.assert_array_equal(cube.w1[: len(net.w1)], net.w1)
    np.testing.assert_array_equal(cube.w2, net.w2)
    assert len(cube.w1) == len(net.w1) + 3
    assert not cube.w1[len(net.w1) :].any()
    assert cube.w3.shape == (12, 1)
    plain = nets.random_net(5, *SMALL.hidden, tactics=False)
    plain.save(tmp_path / "plain.npz")
    more = TDLearner(replace(SMALL, start=str(tmp_path / "plain.npz"))).net(averaged=False)
    np.testing.assert_array_equal(more.w1[:198], plain.w1)
    assert not more.w1[198:].any()
    plain_match = nets.random_net(5, *SMALL.hidden, kind="match", tactics=False)
    plain_match.save(tmp_path / "match.npz")
    money = TDLearner(replace(SMALL, start=str(tmp_path / "match.npz"))).net(averaged=False)
    np.testing.assert_array_equal(money.w1[:198], plain_match.w1[:198])
    assert not money.w1[198:].any()
    fewer = TDLearner(replace(given, tactics=False)).net(averaged=False)
    np.testing.assert_array_equal(fewer.w1, net.w1[:198])
    wide = TDLearner(replace(given, hidden=(30, 12))).net(averaged=False)
    np.testing.assert_array_equal(wide.w1, TDLearner(replace(SMALL, hidden=(30, 12))).net(averaged=False).w1)


def test_a_run_goes_on_without_the_net_that_it_began_with(tmp_path):
    nets.random_net(5, *SMALL.hidden).save(tmp_path / "start.npz")
    learner = TDLearner(replace(SMALL, start=str(tmp_path / "start.npz")))
    learner.round()
    learner.save(tmp_path / "run.npz")
    (tmp_path / "start.npz").unlink()
    again = TDLearner.load(tmp_path / "run.npz")
    assert again.settings == learner.settings
    np.testing.assert_array_equal(again.net().w1, learner.net().w1)


def test_settings_are_checked() -> None:
    for wrong in ({"targets": "mc"}, {"explore": -0.1}, {"match_length": 65}, {"variant": "chess"}, {"match_length": -1}):
        with pytest.raises(SettingsError):
            TDSettings(**wrong)
