"""The luck of the dice: its mean, single rolls by hand and by plain numpy, and the estimates with luck subtracted."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from cli_run import run
from nets import plain_odds, random_net

from bg_env import Position, Settings, Variant, arena
from bg_env.actions import DOUBLE, FIRST_NAMED, ROLL, TAKE
from bg_env.arena.adjustment import adjustment, weights_of
from bg_env.arena.duel import Duel
from bg_env.arena.match_up import MatchUp
from bg_env.errors import SettingsError
from bg_env.evaluation.luck import LuckMeter
from bg_env.players import RandomPlayer, ValueNet, ValuePlayer
from bg_env.rules import STATE, Phase, apply, apply_roll, draw_roll, new_episode, plays, settle

SMALL = ValuePlayer(random_net(3), name="small")
BACK = Variant("two", {24: 1, 3: 1})
RACE = Variant("race", {4: 1})
OUTCOME = np.array([1, 2, 3, -1, -2, -3])


class Doubler(RandomPlayer):
    """Doubles whenever it may, and takes every double."""

    name = "doubler"

    def choose(self, states, words):
        actions = super().choose(states, words)
        actions[states["phase"] == Phase.ROLL_OR_DOUBLE] = DOUBLE
        actions[states["phase"] == Phase.TAKE_OR_DROP] = TAKE
        return actions


def fixed_net(probabilities):
    """A net with the same answer everywhere."""
    net = random_net(0, 8, 8)
    arrays = {name: np.zeros_like(getattr(net, name)) for name in ("w1", "b1", "w2", "b2", "w3")}
    return ValueNet(**arrays, b3=np.log(probabilities))


def played(a, b, settings, luck=SMALL, games=20, **options):
    duel = Duel(a, b, MatchUp(settings, games=games, luck=luck, **options))
    while not duel.tally["done"].all():
        duel.round()
    return duel


def test_single_rolls_by_hand():
    """One checker each on the 4 point: all rolls but 2-1 bear off and win a gammon; the net says the same everywhere."""
    probabilities = np.array([0.3, 0.2, 0.1, 0.2, 0.1, 0.1])
    equity = float(probabilities @ OUTCOME)
    duel = played("random", "random", Settings(RACE, cube=False), ValuePlayer(fixed_net(probabilities)), games=400, seed=2)
    answer = (34 * 2 + 2 * -equity) / 36  # of a roll of the player on roll, in the mean
    for luck, tally in zip(duel.luck, duel.tally, strict=True):
        winner, turns = int(tally["winner"]), int(tally["turns"])
        opener = winner if turns % 2 else 1 - winner
        opening, reply = {1: (2, 0), 2: (-equity, 2 - answer), 3: (-equity, -equity - answer)}[turns]
        want = np.zeros(3)
        want[2] = opening if opener == 0 else -opening
        want[1 - opener] = -reply if opener == 0 else reply
        assert luck == pytest.approx(want, abs=1e-5)
    assert set(duel.tally["turns"]) >= {1, 2}


def test_a_game_that_is_luck_alone_is_adjusted_to_nothing():
    """One checker each on the 1 point: who wins the opening throw wins a gammon."""
    result = arena.play("random", "random", variant=Variant("ace", {1: 1}), cube=False, games=100, luck=SMALL)
    assert result.adjusted == pytest.approx((0, 0, 0), abs=1e-6)
    duel = played("random", "random", Settings(Variant("ace", {1: 1}), cube=False))
    assert duel.luck.sum(axis=1) == pytest.approx(duel.tally["net"], abs=1e-6)
    assert set(np.abs(duel.tally["net"])) == {2}


def test_luck_is_that_of_plain_numpy():
    """The best play of each of the 21 rolls, with contact, and their mean."""
    settings = Settings(BACK, cube=False)
    meter, rules = LuckMeter(SMALL, settings), settings.record()
    rng = np.random.default_rng(4)
    states = np.zeros(1, STATE)
    checked = 0
    for key in range(12):
        new_episode(states, 0, rules, np.uint64(key))
        settle(states, 0, rules)
        while states[0]["phase"] == Phase.CHECKER:
            seat, rolls = int(states[0]["turn"]), int(states[0]["rolls"])
            _, actions, after = plays(states, rules)
            k = int(rng.integers(len(actions)))
            sides = after[k]["points"][[1 - seat, seat]].tolist()
            luck = np.zeros((1, 3))
            meter.follow(states, np.zeros(1, np.int64), actions[k : k + 1].astype(np.int64), luck)
            if states[0]["phase"] == Phase.CHECKER and states[0]["rolls"] == rolls + 1 and checked < 30:
                position = Position(*sides, BACK)
                values = {roll: best_value(position, roll) for roll in itertools.product(range(1, 7), repeat=2)}
                want = values[tuple(states[0]["dice"].tolist())] - sum(values.values()) / 36
                assert luck[0, 1 - seat] == pytest.approx(want if seat == 1 else -want, abs=1e-4)
                assert np.count_nonzero(luck) == 1
                checked += 1
    assert checked == 30


def best_value(position, roll):
    """The value to the player on roll of the best play by the net, plain numpy."""
    values = []
    for play in position.legal_plays(*roll):
        loser, winner = play.result.mover, play.result.opponent
        if winner[0] == 2:
            values.append(1.0 if loser[0] else 3.0 if sum(loser[19:]) else 2.0)
        else:
            values.append(-float(plain_odds(SMALL.net, [play.result], BACK)[0] @ OUTCOME))
    return max(values)


CASES = [
    {"cube": False},
    {"cube": True, "jacoby": True, "beavers": 1, "auto_doubles": 2},
    {"match_length": 3},
    {"match_length": 30, "cube": False},
    {"variant": "acey_deucey"},
    {"variant": "hypergammon", "cube": True},
    {"variant": Variant("fresh", {6: 2, 3: 1}, fresh_first_roll=True), "max_turns": 9},
]


@pytest.mark.parametrize("options", CASES, ids=str)
def test_luck_follows_the_games_and_its_mean_is_zero(options):
    """After every choice the measure has the state that the game has; over all rolls, the luck of each state is 0."""
    settings = Settings(**options)
    duel = Duel("random", Doubler(), MatchUp(settings, games=4, luck=SMALL, boards=4))
    meter, rules = duel.meter, settings.record()
    seen = 0
    follow = meter.follow

    def checked(states, games, choices, luck):
        nonlocal seen
        follow(states, games, choices, luck)
        boards = duel._boards.states[[int(np.flatnonzero(duel._boards.games == game)[0]) for game in games]]
        assert (states == boards).all()
        seen += len(states)

    meter.follow = checked
    while not duel.tally["done"].all() and seen < 400:
        duel.round()
    assert seen > 4
    states = np.zeros(1, STATE)
    phases = []
    for key in range(2):
        new_episode(states, 0, rules, np.uint64(key))
        while states[0]["phase"] != Phase.OVER and len(phases) < 5 * (key + 1):
            if states[0]["phase"] in (Phase.ROLL, Phase.OPENING):
                phases.append(states[0]["phase"])
                ties = states[0]["phase"] == Phase.ROLL or options.get("auto_doubles", 0) > states[0]["ties"]
                rolls = np.array([(a, b) for a in range(1, 7) for b in range(1, 7) if ties or a != b])
                lucks = meter.of_rolls(states.repeat(len(rolls)), rolls)
                assert len(lucks) == (36 if ties else 30)
                assert sum(lucks) == pytest.approx(0, abs=1e-9)
                assert max(lucks) > 1e-6
                apply_roll(states, 0, rules, *draw_roll(states, 0, rules))
            else:
                forward(states, rules)
    assert set(phases) == {Phase.ROLL, Phase.OPENING}


def forward(states, rules):
    """Make the last play of a roll, decide to roll or to take, or name a double; throw no dice."""
    phase = states[0]["phase"]
    steps = [ROLL if phase == Phase.ROLL_OR_DOUBLE else TAKE if phase == Phase.TAKE_OR_DROP else FIRST_NAMED]
    if phase == Phase.CHECKER:
        steps = [step for step in plays(states, rules)[1][-1].tolist() if step >= 0]
    for step in steps:
        apply(states, 0, rules, step)


@pytest.mark.parametrize("options", [{"cube": False}, {"cube": True}, {"match_length": 3}], ids=str)
def test_results_less_luck_have_the_same_mean(options):
    """In the mean over many games of unlike players, luck is 0 by each of its parts, and so is what it takes away."""
    duel = played("pubeval", "random", Settings(BACK, **options), games=3000, seed=6)
    parts = duel.luck.reshape(-1, 2, 3).mean(axis=1)
    errors = parts.std(axis=0) / len(parts) ** 0.5
    assert (np.abs(parts.mean(axis=0)) <= 4 * errors + 1e-9).all()
    assert (errors[:2] > 0).all()
    settled = ValuePlayer(fixed_net(np.full(6, 1 / 6)))
    other = played("pubeval", "random", Settings(BACK, **options), luck=settled, games=20)
    assert (other.tally == played("pubeval", "random", Settings(BACK, **options), luck=None, games=20).tally).all()


def test_the_shipped_net_explains_most_of_its_own_games():
    plain = arena.play("td", "pubeval", games=40, seed=3, variant="hypergammon", cube=False)
    result = arena.play("td", "pubeval", games=40, seed=3, variant="hypergammon", cube=False, luck="td")
    assert result.points == plain.points == result.luck.plain
    assert result.sides == plain.sides
    assert plain.adjusted is None
    assert "luck" not in plain.to_dict()
    assert result.luck.factor > 1.5
    width, narrow = (one.high - one.low for one in (result.points, result.adjusted))
    assert result.luck.factor == pytest.approx((width / narrow) ** 2)
    assert "luck by td subtracted, variance / " in result.text()
    read = json.loads(json.dumps(result.to_dict(), allow_nan=False))["luck"]
    assert (read["evaluator"], read["adjusted"]["value"]) == ("td", result.adjusted.value)
    assert read["weighted_factor"] == result.luck.weighted_factor


def test_parts_and_boards_make_the_same_result():
    how = {"seed": 9, "luck": SMALL, "variant": BACK, "cube": True}
    whole = arena.play("pubeval", Doubler(), games=40, **how)
    parts = [
        arena.play_part("pubeval", Doubler(), first=lo, games=hi - lo, boards=5, **how)
        for lo, hi in itertools.pairwise([0, 14, 16, 40])
    ]
    assert arena.joined(parts[::-1]) == whole == arena.play("pubeval", Doubler(), games=40, boards=3, **how)
    bare = arena.play_part("pubeval", Doubler(), first=16, games=24, **how | {"luck": None})
    with pytest.raises(SettingsError, match="luck was measured in one part by small, in another by None"):
        arena.joined([*parts[:2], bare])


@pytest.mark.parametrize("options", [{"cube": False}, {"match_length": 2}], ids=str)
def test_ratings_have_the_figure_less_luck(options):
    results = arena.round_robin(["random", "pubeval", Doubler()], games=20, variant=BACK, luck=SMALL, **options)
    found = {rating.name: rating for rating in arena.ratings(results)}
    first, second, _ = (result.adjusted.value for result in results)
    whole = 0 if options.get("cube") is False else 1
    assert found["random"].adjusted == pytest.approx((first + second) / 2)
    assert sum(rating.adjusted for rating in found.values()) == pytest.approx(1.5 * whole, abs=1e-9)
    assert "points less luck" in arena.ratings_text(list(found.values())).splitlines()[0]
    bare = arena.ratings([*results[:2], arena.play("pubeval", Doubler(), games=20, variant=BACK, **options)])
    assert {rating.adjusted for rating in bare} == {None}
    assert "less luck" not in arena.ratings_text(bare)


def test_equal_players_say_the_variance_of_games():
    result = arena.play("pubeval", "pubeval", games=20, variant=BACK, cube=False, luck=SMALL)
    assert (result.luck.factor, result.adjusted.value) == (None, 0)
    assert f"fell to 1 / {result.luck.game_factor:.3g}." in result.text()


def test_a_part_that_was_stopped_ends_the_luck_too():
    ended = 0

    def stop(more):
        nonlocal ended
        ended += more
        if ended > 20:
            raise KeyboardInterrupt

    how = {"luck": SMALL, "variant": BACK, "cube": False}
    result = arena.play("random", "pubeval", games=40, boards=4, progress=stop, **how)
    assert (result.complete, 2 <= result.episodes < 40) == (False, True)
    assert result.luck == arena.play("random", "pubeval", games=result.episodes, **how).luck


def test_weights_are_those_of_other_games_and_never_harm():
    rng = np.random.default_rng(1)
    luck = rng.normal(size=(400, 3)) * [1, 1, 0.1]
    noise = rng.normal(size=400)
    found = weights_of(noise + luck @ [0.5, 0.0, 1.0], luck)
    assert found[:2] == pytest.approx([0.5, 0.0], abs=0.15)
    useless = [weights_of(rng.normal(size=100), rng.normal(size=(100, 3))) for _ in range(60)]
    assert sum(not one.any() for one in useless) > 40
    assert not weights_of(np.ones(50), luck[:50]).any()
    assert not weights_of(noise[:7], luck[:7]).any()
    for size, least in ((0.0, 1.0), (1.0, 1.5)):  # of the luck in the results; all of it subtracted harms
        made = adjustment("net", noise + size * luck[:, 0], np.column_stack([luck[:, 0], 3 * luck[:, 1], luck[:, 2]]))
        assert made.factor < 0.5
        assert made.weighted_factor >= least
        assert made.weighted.value == pytest.approx(made.plain.value, abs=0.2)


def test_intervals_of_all_estimates_cover_the_truth():
    """Of results with the mean 1, of which two thirds are luck: 200 repeats of 100 pairs."""
    rng = np.random.default_rng(5)
    covered = np.zeros(3)
    for _ in range(200):
        luck = rng.exponential(size=(200, 3)) - 1
        made = adjustment("net", 1 + luck @ [0.8, 0.7, 1.0] + rng.normal(size=200), luck)
        covered += [one.low <= 1 <= one.high for one in (made.plain, made.adjusted, made.weighted)]
    assert (covered >= 180).all()
    assert (covered < 200).all()


def test_the_fast_evaluator_and_nets_that_know_the_cube():
    """The mean of their luck over all rolls is 0, they explain a good part of the results, and a cube net knows no match."""
    for luck, options in (("fast", {"cube": False}), ("td-cube", {"cube": True})):
        result = arena.play("td", "pubeval", games=40, seed=3, variant="hypergammon", luck=luck, **options)
        assert (result.luck.evaluator, result.luck.factor > 1.4) == (luck, True)
        settings = Settings("acey_deucey", **options)
        meter, rules = LuckMeter(luck, settings), settings.record()
        states = np.zeros(1, STATE)
        new_episode(states, 0, rules, np.uint64(1))
        apply_roll(states, 0, rules, 3, 2)
        while states[0]["phase"] == Phase.CHECKER:
            forward(states, rules)
        states[0]["phase"] = Phase.ROLL
        rolls = np.array(list(itertools.product(range(1, 7), repeat=2)))
        lucks = meter.of_rolls(states.repeat(36), rolls)
        assert lucks.mean() == pytest.approx(0, abs=1e-9)
        assert np.ptp(lucks) > 0.01
    with pytest.raises(SettingsError, match="'td-cube' measures no luck here: its net, of kind 'cube', knows no matches"):
        LuckMeter("td-cube", Settings(match_length=3))


def test_a_net_for_matches_measures_chances():
    """Nets of kind "match" know no money play; in a match a game that ends it is known exactly."""
    net = ValuePlayer(random_net(4, 16, 16, kind="match"), name="for matches")
    settings = Settings(Variant("ace", {1: 1}), match_length=1)
    states = np.zeros(1, STATE)
    new_episode(states, 0, settings.record(), np.uint64(1))
    rolls = np.array([roll for roll in itertools.product(range(1, 7), repeat=2) if roll[0] != roll[1]])
    lucks = LuckMeter(net, settings).of_rolls(states.repeat(30), rolls)
    assert lucks == pytest.approx(np.where(rolls[:, 0] > rolls[:, 1], 0.5, -0.5), abs=1e-6)
    with pytest.raises(SettingsError, match="its net, of kind 'match', knows no money play; choose 'td'"):
        LuckMeter(net, Settings(cube=False))


@pytest.mark.parametrize(
    ("luck", "message"),
    [
        (5, "luck is a player with a value net, or its name, such as 'td', or None, not 5"),
        ("random", "luck is measured by a value net, such as that of 'td': 'random' has no value net"),
        ("nobody", "no player is called 'nobody'"),
    ],
)
def test_what_measures_no_luck_is_refused(luck, message):
    with pytest.raises(SettingsError, match=message):
        arena.play("random", "random", games=2, luck=luck)


def test_the_command_line_says_both():
    done = run(
        "arena", "random", "pubeval", "--games", "20", "--variant", "hypergammon", "--no-cube", "--luck", "td", "--quiet"
    )
    assert done.exit_code == 0
    assert "luck by td subtracted" in done.output
    assert "points per game, luck weighted" in done.output
    done = run("arena", "random", "pubeval", "--games", "2", "--luck", "pubeval", "--quiet")
    assert (done.exit_code, "'pubeval' has no value net" in " ".join(done.output.split())) == (2, True)
