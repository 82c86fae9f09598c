"""Error rates on fixed decisions: against values of a solved game, computed play by play, and on the sets of the package."""

from __future__ import annotations

import json
import os
from importlib import resources

import numpy as np
import pytest
from cli_run import run
from solved_games import TWO

import bg_env
from bg_env import Decisions, Game, Position, Settings, SettingsError, ValuePlayer, exact, measure_errors
from bg_env.actions import DOUBLE, DROP, ROLL, TAKE
from bg_env.errors import IllegalActionError, PositionError
from bg_env.evaluation.decisions import (
    ESTIMATED,
    EXACT,
    POSITION_KINDS,
    ROLLED_OUT,
    STANDARD,
    do_steps,
    position_kinds,
    reference_decisions,
)
from bg_env.players import FunctionPlayer, RandomPlayer
from bg_env.rules import STATE
from bg_env.rules.candidates import candidates

CUBELESS = Settings(TWO, cube=False)


@pytest.fixture(scope="module")
def solution(two):
    return two


def games_of(count):
    """The decisions with a choice in games at random."""
    rng = np.random.default_rng(5)
    found = {}
    for seed in range(count):
        game = Game(TWO, seed=seed, cube=False)
        while not game.over:
            plays = game.legal_plays()
            if len(plays) > 1:
                found[game.position, game.dice] = game.copy()
            game.play(plays[rng.integers(len(plays))])
    return list(found.values())


@pytest.fixture(scope="module")
def games():
    return games_of(12)


@pytest.fixture(scope="module")
def decisions(solution, games):
    states = np.concatenate([game.states for game in games])
    for field in ("key", "rolls", "choices", "turns", "games"):
        states[field] = 0
    offsets, actions, after = candidates(states, CUBELESS.record())
    owners = np.repeat(np.arange(len(states)), np.diff(offsets))
    decider = states["decider"][owners]
    over = after["winner"] >= 0
    values = np.where(after["winner"] == decider, 1.0, -1.0) * after["won"]
    values[~over] = solution.value(after[~over], CUBELESS) * np.where(after["turn"][~over] == decider[~over], 1, -1)
    return Decisions(
        CUBELESS,
        states,
        offsets,
        actions.astype(np.int64),
        values,
        np.zeros(len(values)),
        np.full(len(values), EXACT),
        np.array(["random"] * len(states)),
        {"name": "two", "evaluator": "exact values"},
    )


def value_after(solution, game, play):
    """The value to the mover of a play, by the solved game."""
    mover, copy = game.player, game.copy()
    without = Game.from_states(copy.states, CUBELESS)  # without dice of its own
    without.play(play)
    if without.over:
        return without.outcome.points * (1 if without.outcome.winner == mover else -1)
    return -solution.value(without)


def loss_of(solution, game, play):
    return max(value_after(solution, game, each) for each in game.legal_plays()) - value_after(solution, game, play)


def test_the_loss_of_each_decision_is_that_of_the_play_chosen(solution, games, decisions):
    first = {}

    def lowest(seen):  # the lowest legal action, a step at a time
        return np.argmax(seen["action_mask"], axis=1)

    report = measure_errors(lowest, decisions)
    for i, game in enumerate(games):
        copy = Game.from_states(game.states, CUBELESS)
        mover = copy.player
        while copy.player == mover and copy.phase == bg_env.Phase.CHECKER:
            copy.apply(copy.legal_actions()[0])
        result = next(play for play in game.legal_plays() if play.result.mover == _sides(copy, mover)[1])
        same = [play for play in game.legal_plays() if (play.result.opponent, play.result.mover) == _sides(copy, mover)]
        assert len(same) == 1, result
        first[i] = loss_of(solution, game, same[0])
    assert report.losses == pytest.approx(list(first.values()), abs=1e-6)
    assert report.error_rate == pytest.approx(500 * np.mean(list(first.values())), abs=1e-3)
    assert report.error_rate > 1
    assert report.drawn == ""
    assert report.complete
    assert report.rms is None
    low, high = report.interval
    assert low < report.error_rate < high


def _sides(game, mover):
    """The counts of the mover and of the other after a play."""
    points = game.states[0]["points"].tolist()
    return tuple(points[mover]), tuple(points[1 - mover])


def test_perfect_play_loses_nothing(solution, decisions):
    report = measure_errors(solution.player(), decisions)
    assert report.error_rate == pytest.approx(0, abs=1e-6)
    assert report.total.best == 1


def random_loss(solution, game, start, share=1.0):
    """The mean loss of steps at random from a game with some of its roll left."""
    actions = game.legal_actions()
    total = 0.0
    for action in actions:
        copy = game.copy()
        copy.apply(action)
        if copy.phase == bg_env.Phase.CHECKER and copy.player == game.player:
            total += random_loss(solution, copy, start, share / len(actions))
        else:
            play = next(p for p in start.legal_plays() if (p.result.opponent, p.result.mover) == _sides(copy, start.player))
            total += share / len(actions) * loss_of(solution, start, play)
    return total


def test_a_player_that_states_probabilities_is_judged_by_them(solution, games, decisions):
    report = measure_errors("random", decisions)
    assert report.drawn == "expected"
    few = range(0, len(games), 7)
    wanted = [random_loss(solution, Game.from_states(games[i].states, CUBELESS), games[i]) for i in few]
    assert report.losses[few] == pytest.approx(wanted, abs=1e-6)
    assert (report.chosen == -1).all()


def test_a_player_that_only_draws_is_sampled_and_the_report_says_so(decisions):
    class Drawing:
        name = "drawing"

        def choose(self, states, words):
            return RandomPlayer().choose(states, words)

    sampled, again, other = (measure_errors(Drawing(), decisions, seed=seed) for seed in (3, 3, 4))
    assert sampled.drawn == "sampled"
    assert "seed 3" in sampled.text()
    assert (sampled.chosen == again.chosen).all()
    assert (sampled.chosen != other.chosen).any()
    exactly = measure_errors("random", decisions)
    assert sampled.error_rate == pytest.approx(
        exactly.error_rate, abs=3 * 500 * sampled.losses.std() / len(decisions.states) ** 0.5
    )


@pytest.mark.parametrize(
    ("shares", "why"),
    [
        (lambda n: np.zeros((n, 161)), "add up to 1"),
        (lambda n: np.full((n, 161), 1 / 161), "not legal"),
        (np.zeros, "shape"),
        (lambda n: np.full((n, 161), np.nan), "shape"),
    ],
)
def test_bad_probabilities_are_refused(decisions, shares, why):
    class Stating:
        name = "stating"

        def choose(self, states, words):
            return RandomPlayer().choose(states, words)

        def action_probabilities(self, states):
            return shares(len(states))

    with pytest.raises(IllegalActionError, match=why):
        measure_errors(Stating(), decisions)


def test_a_player_of_whole_plays_and_one_of_steps_are_judged_alike(decisions):
    whole = measure_errors("td", decisions)

    class Steps:
        def __init__(self, player):
            self.player, self.name = player, "steps"

        def bind(self, settings):
            return Steps(bg_env.players.player("td", settings))

        def choose(self, states, words):
            return self.player.choose(states, words)

    assert measure_errors(Steps(None), decisions).error_rate == pytest.approx(whole.error_rate, abs=5)


def test_what_is_not_legal_is_named(decisions):
    with pytest.raises(IllegalActionError, match="chose \\[0\\], which is not legal, in decision 0"):
        measure_errors(FunctionPlayer(lambda seen: np.zeros(len(seen["action_mask"]), int), name="zero"), decisions)


def test_an_interrupted_measure_gives_what_there_is(solution, decisions):
    many = joined(decisions, 260)
    whole = measure_errors(solution.player(), many)

    def stop(_):
        raise KeyboardInterrupt

    part = measure_errors(solution.player(), many, progress=stop)
    assert len(whole.losses) == 260
    assert (part.complete, len(part.losses)) == (False, 100)
    assert part.total.decisions == 100


def joined(decisions, n):
    """The same decisions several times."""
    order = np.arange(n) % len(decisions.states)
    counts = np.diff(decisions.offsets)[order]
    where = np.concatenate([np.arange(decisions.offsets[i], decisions.offsets[i + 1]) for i in order])
    rows = {name: getattr(decisions, name)[where] for name in ("actions", "values", "errors", "methods")}
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return Decisions(
        decisions.settings, decisions.states[order], offsets, **rows, sources=decisions.sources[order], about=decisions.about
    )


# Evaluators


def test_a_net_measured_by_itself_is_faultless(decisions):
    report = measure_errors("td", decisions, "td")
    assert report.evaluator == "td"
    assert report.error_rate == pytest.approx(0, abs=0.05)  # but for the exact tables in races
    assert report.rms == pytest.approx(0, abs=1e-6)
    assert measure_errors("td", decisions).rms > 0.01
    with pytest.raises(SettingsError, match="'pubeval'"):
        measure_errors("td", decisions, "pubeval")


def cube_set():
    """A race of two against two with the cube, which the two-sided table knows."""
    settings = Settings()
    game = Game.from_position(Position(counts({0: 13, 1: 1, 4: 1}), counts({0: 14, 1: 1})), cube=True)
    doubled = game.copy()
    doubled.play("double")
    states = np.concatenate([game.states, doubled.states])
    table = exact.two_sided(6)
    rolled, taken = game.copy(), doubled.copy()
    rolled.apply(ROLL)
    taken.apply(TAKE)
    values = [table.value(rolled), min(table.value(taken), 1.0), -table.value(taken), -1.0]
    return Decisions(
        settings,
        states,
        np.array([0, 2, 4]),
        np.array([[action, -1, -1, -1] for action in (ROLL, DOUBLE, TAKE, DROP)]),
        np.array(values),
        np.zeros(4),
        np.full(4, EXACT),
        np.array(["", ""]),
        {"name": "cube", "evaluator": "exact values"},
    )


def test_decisions_about_the_cube():
    decisions = cube_set()
    assert decisions.values == pytest.approx([22 / 36, 1, -44 / 36, -1])  # 29 of the 36 rolls bear off both
    assert measure_errors("td", decisions).error_rate == 0  # the table decides
    report = measure_errors("pubeval", decisions)  # it rolls, and takes
    assert report.losses == pytest.approx([14 / 36, 8 / 36])
    assert [row.name for row in report.by_decision] == ["double", "take"]
    dead = ValuePlayer(bg_env.players.player("td", Settings()).net, bearoff=True, cube_life=0)
    for cube, owner in ((0, -1), (1, 1)):  # losses are points at the present cube
        turned = cube_set()
        turned.states["cube"][0] = turned.after["cube"][:2] = cube
        turned.states["owner"][0] = turned.after["owner"][:2] = owner
        assert measure_errors("pubeval", turned, dead).losses == pytest.approx(report.losses)
    assert measure_errors("pubeval", decisions, "td").losses == pytest.approx(report.losses)  # the table decides here too
    net = bg_env.players.player("td", Settings()).net
    judged = measure_errors("pubeval", decisions, ValuePlayer(net))  # Janowski's model of a cube that is not dead
    assert 0 < judged.losses[0] < report.losses[0]


# Sets


def test_a_set_comes_back_from_its_file(decisions, tmp_path):
    decisions.save(tmp_path / "set.npz")
    again = Decisions.load(tmp_path / "set.npz")
    assert (again.states == decisions.states).all()
    assert (again.offsets == decisions.offsets).all()
    assert (again.actions == decisions.actions).all()
    assert again.values == pytest.approx(decisions.values, abs=1e-6)
    assert again.settings == decisions.settings
    assert dict(again.about) == dict(decisions.about)
    assert measure_errors("random", str(tmp_path / "set.npz")).error_rate == pytest.approx(
        measure_errors("random", decisions).error_rate, abs=1e-3
    )


def test_a_file_that_is_none_is_refused_in_one_line(decisions, tmp_path):
    path = tmp_path / "set.npz"
    decisions.save(path)
    content = path.read_bytes()
    for damaged in (b"", b"text", content[: len(content) // 2], content[:200] + b"\0" * 50 + content[250:]):
        path.write_bytes(damaged)
        with pytest.raises(SettingsError, match=r"set\.npz"):
            Decisions.load(path)
    np.savez(path, states=np.zeros(1, STATE))
    with pytest.raises(SettingsError, match="not a set of decisions"):
        Decisions.load(path)
    with np.load(_saved(decisions, tmp_path / "other.npz")) as file:
        arrays = dict(file)
    for name, value in (("values", arrays["values"][:-1]), ("version", np.array(9)), ("offsets", arrays["offsets"] * 0)):
        np.savez(path, **(arrays | {name: value}))
        with pytest.raises(SettingsError):
            Decisions.load(path)
    broken = arrays["states"].copy()
    broken["points"][0, 0, 3] = 77
    np.savez(path, **(arrays | {"states": broken}))
    with pytest.raises(PositionError):
        Decisions.load(path)


def _saved(decisions, path):
    decisions.save(path)
    return path


@pytest.mark.parametrize("positions", ["", "nothing", 5, None, [1]])
def test_positions_that_are_none_are_refused(positions):
    with pytest.raises(SettingsError, match="positions are 'standard'"):
        measure_errors("random", positions)


def test_no_such_file():
    with pytest.raises((SettingsError, OSError), match=r"nowhere\.npz"):
        measure_errors("random", "nowhere.npz")


def test_kinds_of_positions():
    settings = Settings()
    wanted = {
        "opening": (Position.start().mover, Position.start().mover),
        "race": (counts({7: 5, 3: 10}), counts({8: 5, 4: 10})),
        "bear-off": (counts({0: 3, 6: 6, 3: 6}), counts({0: 1, 5: 14})),
        "bear-off against contact": (counts({6: 6, 5: 5, 4: 4}), counts({20: 1, 6: 14})),
        "back game": (counts({6: 3, 8: 6, 13: 6}), counts({24: 2, 22: 2, 13: 5, 6: 6})),
        "prime": (counts({8: 2, 7: 2, 6: 3, 5: 2, 4: 2, 13: 4}), counts({24: 2, 14: 5, 12: 3, 6: 5})),
        "contact": (counts({24: 1, 6: 6, 8: 4, 5: 4}), counts({13: 5, 6: 5, 23: 1, 8: 4})),
    }
    for name, sides in wanted.items():
        for own, other in (sides, sides[::-1]):
            states = np.zeros(1, STATE)
            states["points"][0] = own, other
            assert POSITION_KINDS[position_kinds(states, settings)[0]] == name, sides
    shown = (POSITION_KINDS[kind] for kind in position_kinds(reference_decisions("hypergammon").states[:50], settings))
    assert len(set(shown)) > 3


def counts(points):
    side = [0] * 26
    for point, n in points.items():
        side[point] = n
    return tuple(side)


SHIPPED = [name for name in STANDARD if (resources.files("bg_env") / "data" / "decisions" / f"{name}.npz").is_file()]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_sets_of_the_package(name):
    decisions = reference_decisions(name)
    assert decisions.name == name
    losses = decisions.losses
    assert (np.minimum.reduceat(losses, decisions.offsets[:-1]) == 0).all()
    rolled = decisions.methods == ROLLED_OUT
    assert np.isfinite(decisions.errors[decisions.methods != ESTIMATED]).all()
    assert (decisions.errors[rolled] > 0.0061).sum() <= 0.1 * rolled.sum()  # these have 1,296 games
    after = decisions.states[decisions.owners].copy()
    assert do_steps(after, decisions.settings.record(), decisions.actions).all()
    assert (decisions.find(decisions.owners, after) == np.arange(len(after))).all()  # results are distinct
    rates = [measure_errors(player, name).error_rate for player in ("td", "pubeval", "random")]
    assert rates == sorted(rates)
    assert rates[2] > 2 * rates[1] > 3 * rates[0]
    everyone = {str(one) for one in decisions.sources}
    assert len(everyone) >= 5


def test_the_sets_are_small():
    folder = resources.files("bg_env") / "data" / "decisions"
    assert {"hypergammon"} <= set(SHIPPED)
    assert sum(len((folder / f"{name}.npz").read_bytes()) for name in SHIPPED) < 2 * 2**20


def test_the_command(tmp_path, decisions):
    done = run("errors", "td", "--positions", "hypergammon", "--json", "--quiet")
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)
    assert shown["error_rate"] == pytest.approx(measure_errors("td", "hypergammon").error_rate)
    assert shown["evaluator"] == "exact values"
    decisions.save(tmp_path / "two.npz")
    done = run("errors", "random", "--positions", tmp_path / "two.npz", "--quiet")
    assert "random: error rate" in done.output
    assert "by exact values, mean over its stated probabilities" in done.output
    for wrong in (["nobody"], ["td", "--positions", "none"], ["td", "--evaluator", "pubeval"], ["td", "--seed", "-1"]):
        done = run("errors", *wrong)
        assert done.exit_code == 2, wrong
        assert done.stderr.count("\n") == 1, done.stderr


def test_models_of_stable_baselines3(decisions, tmp_path):
    sb3 = pytest.importorskip("sb3_contrib")
    from bg_env.adapters.sb3 import make_sb3

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    env = make_sb3("bg_env/BackgammonCubeless-v0", 2, seed=1, settings=CUBELESS)
    model = sb3.MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, policy_kwargs={"net_arch": [8]}, device="cpu", seed=1)
    greedy = measure_errors(model, decisions)
    assert greedy.drawn == ""
    drawn = measure_errors(bg_env.players.ModelPlayer(model, deterministic=False), decisions)
    assert drawn.drawn == "expected"
    assert drawn.error_rate == pytest.approx(measure_errors("random", decisions).error_rate, rel=0.3)  # untrained
