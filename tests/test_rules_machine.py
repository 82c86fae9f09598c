"""Whole games and matches under random settings: the engine and the oracle side by side, action by action.

The cube is turned one time in twenty that it may be, so that games get long.
"""

from __future__ import annotations

import pickle
import random
from collections import Counter
from dataclasses import fields

import numpy as np
import pytest
from engine import ACTIONS, EngineGame
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from oracle import BEAVER, DOUBLE, DROP, ROLL, TAKE, OracleGame

from bg_env import Game
from bg_env import rules as engine
from bg_env.rules import VARIANTS, Settings, Variant

OWN = [
    Variant("one", {3: 1}),
    Variant("mini", {24: 2, 13: 2, 6: 3}, acey_deucey=True),
    Variant("bars", {25: 2, 5: 3}, fresh_first_roll=True, cube=False),
]
"""Variants of a user (R10.7): one checker a side; the 1-2 bonus with an ordinary opening; some start on the bar."""

variants = st.sampled_from([*VARIANTS.values(), *OWN])
caps = st.sampled_from([1, 2, 4, 64, None])
turns = st.sampled_from([None, None, None, None, None, 1, 7, 40, 150])
money = st.builds(
    lambda variant, cube, **rest: Settings(variant, cube=cube, **(rest if cube else rest | {"beavers": 0, "auto_doubles": 0})),
    variants,
    st.sampled_from([True, True, True, False]),
    cube_cap=caps,
    jacoby=st.booleans(),
    beavers=st.integers(0, 3),
    auto_doubles=st.integers(0, 3),
    max_turns=turns,
)
match = st.builds(
    Settings,
    variants,
    cube=st.sampled_from([True, True, True, False]),
    match_length=st.integers(1, 9),
    crawford=st.sampled_from([True, True, False]),
    allow_dead_cube=st.sampled_from([False, False, True]),
    cube_cap=caps,
    max_turns=turns,
)


def pick(rng: random.Random, actions: set[int]) -> int:
    """A legal action; the cube is turned one time in twenty, turned again one time in three, dropped one time in five."""
    if DOUBLE in actions:
        return DOUBLE if rng.random() < 0.05 else ROLL
    if BEAVER in actions and rng.random() < 0.33:
        return BEAVER
    if TAKE in actions:
        return DROP if rng.random() < 0.2 else TAKE
    return rng.choice(sorted(actions))


def check_reasons(game: EngineGame, legal: set[int]) -> None:
    """`illegal_reason` is 0 for the legal actions, and for no other of the 161 and none outside."""
    reasons = game.reasons()
    assert {a for a, reason in enumerate(reasons) if reason == 0} == legal
    assert all(engine.illegal_reason(game.states, 0, game.rules, a) for a in (-1, ACTIONS, 10_000))
    assert set(reasons) <= {int(reason) for reason in engine.Reason}


def friendly_game(given: Settings) -> Game:
    """A `Game` under the settings that waits for its dice."""
    names = (item.name for item in fields(given) if item.name != "variant")
    return Game.new(given.variant, **{name: getattr(given, name) for name in names})


def check_friendly(game: Game, truth: OracleGame) -> None:
    """The state of a `Game` in plain values."""
    over = truth.phase == "OVER"
    turn = None if over or truth.turn < 0 else truth.turn
    assert str(game.phase) == truth.phase
    assert game.player == (turn if truth.decider < 0 else truth.decider)
    assert sorted(game.dice) == sorted(truth.dice)
    assert game.cube_owner == (None if truth.owner < 0 else truth.owner)
    assert (list(game.score), game.crawford) == (truth.score, truth.crawford)
    assert over or game.cube == truth.cube * 2 ** max(truth.chain - 1, 0)
    assert game.winner == (truth.winner if over and not truth.truncated else None)
    assert game.points == (truth.won if over and not truth.truncated else 0)
    seat = truth.winner if over and truth.winner >= 0 else max(truth.turn, 0)
    assert [list(side) for side in (game.position.mover, game.position.opponent)] == [
        truth.points[seat],
        truth.points[1 - seat],
    ]
    assert game.position.turned().turned() == game.position
    assert set(game.legal_actions()) == truth.legal()
    throws = truth.throws() if truth.phase == "OPENING" else {roll for roll in truth.throws() if roll[0] >= roll[1]}
    assert {roll for roll, _ in game.chance()} == throws
    assert not throws or abs(sum(p for _, p in game.chance()) - 1) < 1e-12


def mirrored(game: EngineGame) -> EngineGame:
    """The same game with the players' names exchanged."""
    twin = game.copy()
    for name in ("points", "score"):
        twin.states[0][name] = game.states[0][name][::-1]
    for name in ("turn", "decider", "owner", "winner"):
        if game.states[0][name] >= 0:
            twin.states[0][name] = 1 - game.states[0][name]
    return twin


class Twin(RuleBasedStateMachine):
    """One episode, played by both."""

    @initialize(given=st.one_of(money, match))
    def begin(self, given):
        self.settings = given
        self.game, self.oracle = EngineGame(given), OracleGame(given)
        self.friendly = friendly_game(given)

    def advance(self, rng):
        """One throw or one action."""
        if self.oracle.phase in ("OPENING", "ROLL"):
            roll = rng.choice(sorted(self.oracle.throws()))
            if rng.random() < 0.1 and (1, 2) in self.oracle.throws():
                roll = (1, 2)  # more bonus
            before = self.game.mask()
            self.game.roll(*roll)
            self.oracle.roll(*roll)
            self.friendly.apply_roll(*roll)
            assert not before.any()
        else:
            action = pick(rng, self.oracle.legal())
            self.game.apply(action)
            self.oracle.apply(action)
            self.friendly.apply(action)

    def compare(self):
        view = self.oracle.view()
        assert self.game.view() == view
        legal = self.oracle.legal()
        assert self.game.legal() == legal
        assert bool(legal) == (view["decider"] >= 0)
        assert all(a < self.settings.actions for a in legal)
        if view["phase"] == "OPENING":
            assert bool(engine.ties_double(self.game.states, 0, self.game.rules)) == self.oracle.automatic()
        check_reasons(self.game, legal)
        check_friendly(self.friendly, self.oracle)
        points = view["points"]
        checkers = self.settings.variant.checkers
        assert [sum(side) for side in points] == [checkers, checkers]
        assert min(min(side) for side in points) >= 0
        assert not any(points[0][p] and points[1][25 - p] for p in range(1, 25))  # nobody on a point of the other's
        assert mirrored(mirrored(self.game)).states == self.game.states
        assert mirrored(self.game).legal() == legal  # the seats are alike

    @precondition(lambda self: self.oracle.phase != "OVER")
    @rule(n=st.sampled_from([1, 30, 400]), seed=st.integers(0, 2**32))
    def play_on(self, n, seed):
        rng = random.Random(seed)
        for _ in range(n):
            if self.oracle.phase == "OVER":
                return
            self.advance(rng)
            self.compare()

    @precondition(lambda self: self.oracle.phase == "OVER")
    @rule()
    def once_more(self):
        """After the end the next episode begins as the first did."""
        engine.new_episode(self.game.states, 0, self.game.rules, np.uint64(engine.episode_key(np.uint64(0), np.uint64(0))))
        assert self.game.states.tobytes() == EngineGame(self.settings).states.tobytes()
        self.oracle, self.friendly = OracleGame(self.settings), friendly_game(self.settings)

    @rule()
    def a_copy_is_its_own(self):
        """Playing on with a copy leaves the state as it is."""
        twin, before = self.game.copy(), self.game.states.tobytes()
        twin.settle()
        for _ in range(5):
            if twin.legal():
                twin.apply(max(twin.legal()))
                twin.settle()
        assert self.game.states.tobytes() == before
        kept, history = pickle.loads(pickle.dumps(self.friendly)), self.friendly.history  # noqa: S301 - our own
        copy = self.friendly.copy(seed=3)
        assert kept == self.friendly
        for _ in range(5):
            if copy.legal_actions():
                copy.apply(copy.legal_actions()[-1])
        assert self.friendly == kept
        assert self.friendly.history == history

    @invariant()
    def compared(self):
        if hasattr(self, "oracle"):
            self.compare()


TestTwin = Twin.TestCase
TestTwin.settings = settings(max_examples=150, stateful_step_count=8, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("options", [{"match_length": 5}, {"cube": True, "jacoby": True, "beavers": 2, "auto_doubles": 1}])
def test_a_whole_episode_of_every_variant(name, options):
    """Episodes that hypothesis draws may be short: here every variant's match and money game is played to its end."""
    rng = random.Random(f"{name} {options}")
    twin = Twin()
    twin.begin(Settings(name, **options))
    while twin.oracle.phase != "OVER":
        twin.advance(rng)
        twin.compare()
    assert twin.game.phase == "OVER"
    assert twin.oracle.winner in (0, 1)


def drawn(rng: random.Random) -> Settings:
    """Settings out of all that may stand together."""
    variant = rng.choice([*VARIANTS.values(), *OWN])
    some = {"cube": rng.random() < 0.85, "cube_cap": rng.choice([1, 2, 4, 64, 64, None])}
    some["max_turns"] = rng.choice([None, None, None, 1, 20, 150])
    if rng.random() < 0.5:
        some |= {"match_length": rng.randint(1, 9), "crawford": rng.random() < 0.7, "allow_dead_cube": rng.random() >= 0.7}
        return Settings(variant, **some)
    some["jacoby"] = rng.random() < 0.5
    if some["cube"]:
        some |= {"beavers": rng.randint(0, 3), "auto_doubles": rng.randint(0, 3)}
    return Settings(variant, **some)


def test_many_episodes_reach_everything():
    """100 episodes under settings drawn at random, to their ends; and what they must have met on the way."""
    rng = random.Random("many episodes")
    met: Counter[str] = Counter()
    for _ in range(100):
        twin = Twin()
        twin.begin(drawn(rng))
        while twin.oracle.phase != "OVER":
            twin.advance(rng)
            twin.compare()
            game, rules = twin.oracle, twin.settings
            met[game.phase] += 1
            met[f"chain {game.chain}"] += 1
            met["Crawford"] += game.crawford
            met["after Crawford"] += bool(game.had_crawford and not game.crawford and game.phase == "ROLL_OR_DOUBLE")
            met["double to the cap"] += bool(game.chain and game.cube * 2**game.chain == game.cap)
            met["automatic double"] += bool(game.ties)
            met[f"bonus {game.bonus}"] += 1
            met[f"level {game.level}"] += 1
            met["Jacoby"] += bool(game.level == 1 and rules.jacoby and game.owner == -1)
        met["truncated"] += twin.oracle.truncated
        met["match won by more than it takes"] += 0 < rules.match_length < max(game.score)
    kinds = ["OPENING", "ROLL", "ROLL_OR_DOUBLE", "TAKE_OR_DROP", "CHECKER", "CHOOSE_DOUBLE", "OVER"]
    kinds += ["chain 1", "chain 2", "chain 3", "bonus 1-2", "bonus double", "bonus extra", "level 1", "level 2", "level 3"]
    kinds += ["Crawford", "after Crawford", "double to the cap", "automatic double", "Jacoby", "truncated"]
    kinds += ["match won by more than it takes"]
    assert not [kind for kind in kinds if met[kind] < 2], met
