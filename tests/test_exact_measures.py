"""Errors, exploitability and best responses by a solved game, against a second computation in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from solved_games import ONE, ROLLS, TWO

from bg_env import Game, Position, Settings, ValuePlayer, arena, exact, players
from bg_env.errors import IllegalActionError, SettingsError
from bg_env.exact import solution as solutions
from bg_env.rules import Phase
from bg_env.rules.sound import check_sound

PLAIN = Settings(ONE, cube=False)


class Far:
    """Plays so that its own pips are most after the play, and of equal plays the first in the order of their texts."""

    name = "far"

    def choose_plays(self, states, words):
        del words
        found = []
        for state in states:
            plays = Game.from_states(state[None], PLAIN).legal_plays()
            best = max(plays, key=lambda play: (sum(p * n for p, n in enumerate(play.result.opponent)), str(play)))
            steps = [step.action for step in best.steps]
            found.append(steps + [-1] * (4 - len(steps)))
        return np.array(found)


class OneStep:
    """The same player, asked for one step after the other."""

    def __init__(self, player):
        self.player, self.name = player, "step by step"

    def choose(self, states, words):
        return self.player.choose_plays(states, words)[:, 0]


def chosen_by_far(plays):
    return max(plays, key=lambda play: (sum(p * n for p, n in enumerate(play.result.opponent)), str(play))).result


@pytest.fixture(scope="module")
def plays():
    """The plays of all positions of one checker a side and all rolls."""
    places = [(own, other) for own in range(1, 26) for other in range(1, 26) if own + other != 25 or own == 25]
    positions = [
        Position([int(p == own) for p in range(26)], [int(p == other) for p in range(26)], ONE) for own, other in places
    ]
    return {key(position): [(position.legal_plays(*roll), weight) for roll, weight in ROLLS] for position in positions}


def key(position):
    return position.mover.index(1), position.opponent.index(1)


def value_after(result, values):
    """The value of a play's result to the side that is on roll then."""
    own, other = key(result)
    return -(3.0 if own > 18 else 2.0) if other == 0 else values[own, other]


START = (24, 24)
FIRST = {roll: 1 / 15 for roll, weight in ROLLS if roll[0] != roll[1]}


def test_exploitability_is_as_computed_in_another_way(one, plays):
    best, fixed = dict.fromkeys(plays, 0.0), dict.fromkeys(plays, 0.0)
    for _ in range(60):
        for pair, rolls in plays.items():
            best[pair] = sum(w * max(-value_after(play.result, fixed) for play in found) for found, w in rolls)
            fixed[pair] = sum(w * -value_after(chosen_by_far(found), best) for found, w in rolls)
    first = second = 0.0
    for (roll, _), (found, _) in zip(ROLLS, plays[START], strict=True):
        if roll in FIRST:
            first += FIRST[roll] * max(-value_after(play.result, fixed) for play in found)
            second += FIRST[roll] * value_after(chosen_by_far(found), best)
    assert one.exploitability(Far()) == pytest.approx((first + second) / 2, abs=1e-7)
    assert one.exploitability(OneStep(Far())) == pytest.approx((first + second) / 2, abs=1e-7)
    assert first + second > 0.1


def test_errors_are_as_computed_in_another_way(one, plays):
    values = {pair: one.equity(Position(*([int(p == at) for p in range(26)] for at in pair), ONE)) for pair in plays}
    losses = {}  # of the player, and where perfect play goes
    for pair, rolls in plays.items():
        for n, (found, _) in enumerate(rolls):
            after = [-value_after(play.result, values) for play in found]
            loss = max(after) + value_after(chosen_by_far(found), values) if len(found) > 1 else None
            losses[pair, n] = loss, found[int(np.argmax(after))].result
    uniform = [(weight, losses[pair, n][0]) for pair in plays for n, (_, weight) in enumerate(ROLLS)]
    total = sum(weight * loss for weight, loss in uniform if loss is not None)
    flow, met, decisions = {START: 1.0}, 0.0, 0.0
    first = [FIRST.get(roll, 0.0) for roll, _ in ROLLS]
    while sum(flow.values()) > 1e-12:
        later = {}
        for pair, x in flow.items():
            for n, weight in enumerate(first):
                loss, result = losses[pair, n]
                met += x * weight * (loss or 0)
                decisions += x * weight * (loss is not None)
                if key(result)[1]:
                    later[key(result)] = later.get(key(result), 0.0) + x * weight
        flow, first = later, [weight for _, weight in ROLLS]
    found = one.errors(Far())
    assert found.uniform == pytest.approx(total / sum(weight for weight, loss in uniform if loss is not None), abs=1e-8)
    assert found.met == pytest.approx(met / decisions, abs=1e-8)
    assert (found.met_error, found.uniform_error) == (0, 0)
    assert found.met > 0.01
    assert one.errors(one.policy(Far())) == found
    drawn = one.errors(Far(), sample=4000, seed=3)
    assert abs(drawn.met - found.met) < 4 * drawn.met_error < 0.05
    assert abs(drawn.uniform - found.uniform) < 4 * drawn.uniform_error < 0.05
    assert drawn == one.errors(one.policy(Far()), sample=4000, seed=3)


def test_perfect_play_has_no_errors(one, two):
    settings = Settings(TWO, cube=False)
    greedy = two.greedy_policy(lambda states: two.value(states, settings))
    for solution, policy in ((one, one.policy(one.player())), (two, greedy)):
        assert solution.errors(policy)[:2] == (0, 0)
        assert abs(solution.exploitability(policy)) < 1e-7
    assert exact.solve(ONE, cube=True).errors(one.player()) == one.errors(one.player())


def test_the_best_response_wins_what_it_is_said_to(two):
    """Against pubeval, which is also worth its own errors: the more the better the opponent knows it."""
    settings = Settings(TWO, cube=False)
    policy = two.policy("pubeval")
    lost = two.exploitability(policy)
    response = two.best_response(policy)
    assert response.name == "best response to pubeval"
    result = arena.play(response, "pubeval", games=2000, settings=settings).points
    assert result.low < lost < result.high
    assert lost > 0.5 > two.errors(policy).met > 0.05


def test_a_value_player_is_asked_for_its_values(monkeypatch, one):
    """Its plays follow from the values of all positions; the end of a race is that of the tables."""
    settings = Settings(ONE, cube=False)
    td = players.player("td", settings)
    for player in (td, ValuePlayer(td.net, name="net alone")):
        asked = one.policy(player)
        monkeypatch.setattr(solutions, "_MANY", 1)
        seen = []
        known = one.policy(player, progress=seen.append)
        assert np.array_equal(known.choices, asked.choices)
        assert seen == sorted(seen)
        assert 0.9 < seen[-1] <= 1
        monkeypatch.undo()

    def truth(states):
        return one.value(states, settings)

    policy = one.greedy_policy(truth, "truth", num_threads=1)
    assert policy.name == "truth"
    assert one.errors(policy)[:2] == (0, 0)
    for wrong in (lambda states: truth(states)[:-1], lambda states: truth(states) * np.nan, lambda _: "x"):
        with (
            pytest.raises(SettingsError, match="evaluate must return a finite number for each state"),
        ):
            one.greedy_policy(wrong)


def test_players_that_draw_their_plays(one):
    for call in (one.exploitability, one.policy, one.best_response):
        with pytest.raises(SettingsError, match="random draws its plays: give a deterministic player, or sampled=True"):
            call("random")
    policy = one.policy("random", sampled=True, seed=4)
    assert policy.sampled
    assert np.array_equal(policy.choices, one.policy("random", sampled=True, seed=4).choices)
    assert not np.array_equal(policy.choices, one.policy("random", sampled=True, seed=5).choices)
    assert one.exploitability(policy) == one.exploitability("random", sampled=True, seed=4) > 0.05
    assert one.errors("random").met > one.errors(Far()).met / 10
    assert one.best_response("random", sampled=True).name == "best response to random"


def test_what_is_refused(one):
    class Short(Far):
        name = "short"

        def choose_plays(self, states, words):
            return np.where(np.arange(4) < 1, super().choose_plays(states, words), -1)

    class Wrong(Far):
        name = "wrong"

        def choose_plays(self, states, words):
            return super().choose_plays(states, words) + 1

    cases = [
        (IllegalActionError, "short chose what is not a legal play of a roll", lambda: one.errors(Short())),
        (IllegalActionError, "wrong chose what is not a legal play of a roll", lambda: one.policy(Wrong())),
        (SettingsError, "no player is called 'nobody'", lambda: one.errors("nobody")),
        (SettingsError, "an opponent is a name", lambda: one.exploitability(3)),
        (SettingsError, "sample is a whole number of at least 2, not 1", lambda: one.errors(Far(), sample=1)),
        (SettingsError, "seed is a whole number", lambda: one.policy(Far(), seed=-1)),
        (SettingsError, "sampled is True or False", lambda: one.policy(Far(), sampled=1)),
        (SettingsError, "num_threads is a whole number from 1 to 256", lambda: one.exploitability(Far(), num_threads=0)),
        (SettingsError, "count is a whole number", lambda: one.sample(0)),
        (SettingsError, "name is text", lambda: one.greedy_policy(lambda states: states, 3)),
    ]
    for kind, text, call in cases:
        with pytest.raises(kind, match=text) as raised:
            call()
        assert "\n" not in str(raised.value)


def test_positions_as_perfect_play_meets_them(two):
    settings = Settings(TWO, cube=False)
    rolled = two.sample(3000, seed=2)
    assert (rolled["phase"] == Phase.CHECKER).all()
    check_sound(rolled, settings.record(), playing=True)
    assert np.array_equal(rolled, two.sample(3000, seed=2))
    due = two.sample(3000, seed=2, rolled=False)
    assert (due["phase"] == Phase.ROLL).all()
    check_sound(due, settings.record())
    first = (due["points"] == np.array([TWO.start, TWO.start])).all(axis=(1, 2)).mean()
    result = arena.play(two.player(), two.player(), games=400, settings=settings)
    assert first == pytest.approx(1 / result.turns, rel=0.25)  # one of the turns of a game is the first
    two.value(rolled, settings)


def test_what_luck_leaves_is_the_value_of_the_start(two):
    """Of each game of perfect play: its result less the luck of its rolls; so it has lost nothing by its plays."""
    settings = Settings(TWO, cube=False)
    player = two.player().bind(settings)
    start = two.value(Game(TWO, cube=False))
    rng = np.random.default_rng(1)
    for _ in range(20):
        game = Game(TWO, cube=False)
        a, b = rng.choice(6, 2, replace=False) + 1
        game.apply_roll(int(a), int(b))
        first = 0 if a > b else 1

        def seen(game=game, first=first):
            return two.value(game) * (1 if game.states["turn"][0] == first else -1)

        luck = seen() - start
        while not game.over:
            if game.phase == Phase.ROLL:
                before = seen()
                game.apply_roll(*map(int, rng.integers(1, 7, 2)))
                luck += seen() - before
            else:
                game.apply(int(player.choose(game.states, np.zeros(1, np.uint64))[0]))
        won = game.points if game.winner == first else -game.points
        assert won - luck == pytest.approx(start, abs=1e-6)
