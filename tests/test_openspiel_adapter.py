"""bg_env as a game of OpenSpiel: the same game, dice as chance, OpenSpiel's own checks, its bots and agents as players."""

from __future__ import annotations

import copy

import numpy as np
import pytest

pytest.importorskip("pyspiel", reason="needs the extra bg_env[openspiel]")

import pyspiel
from open_spiel.python import rl_agent, rl_environment
from open_spiel.python.algorithms import evaluate_bots, mcts
from own_values import RACE

from bg_env import ENCODERS, Game, Settings, SettingsError, Variant, arena
from bg_env.adapters.openspiel import AgentPlayer, BotPlayer, load_game, state_of

CASES = {
    "cubeless": {"cube": False},
    "money": {"jacoby": True, "beavers": 2, "auto_doubles": 1},
    "match": {"match_length": 3},
    "acey_deucey": {"variant": "acey_deucey"},
    "hypergammon": {"variant": "hypergammon", "cube_cap": None},
    "capped": {"cube": False, "max_turns": 9},
}
each = pytest.mark.parametrize("settings", CASES.values(), ids=CASES)


def advance(state, rng):
    """One action or roll at random; which it was."""
    if state.is_chance_node():
        outcomes, chances = zip(*state.chance_outcomes(), strict=True)
        action = int(rng.choice(outcomes, p=chances))
    else:
        action = int(rng.choice(state.legal_actions()))
    state.apply_action(action)
    return action


@each
def test_openspiel_finds_no_fault_with_it(settings):
    pyspiel.random_sim_test(load_game(**settings), num_sims=1, serialize=False, verbose=False)


@each
def test_it_is_the_same_game(settings):
    rng = np.random.default_rng(3)
    state, game = load_game(**settings).new_initial_state(), Game.new(**settings)
    while not state.is_terminal():
        assert state.current_player() == (pyspiel.PlayerId.CHANCE if game.chance() else game.player)
        if state.is_chance_node():
            rolls = {6 * (a - 1) + b - 1: chance for (a, b), chance in game.chance()}
            assert dict(state.chance_outcomes()) == pytest.approx(rolls)
            action = advance(state, rng)
            game.apply_roll(action // 6 + 1, action % 6 + 1)
        else:
            assert state.legal_actions() == game.legal_actions()
            game.apply(advance(state, rng))
        assert state.game().states.tobytes() == game.states.tobytes()
    assert not game.legal_actions()
    worth = 1 if game.match_length else game.points
    sign = {0: 1, 1: -1, None: 0}[game.winner]
    assert state.returns() == [sign * worth, -sign * worth]
    assert max(state.returns()) <= load_game(**settings).max_utility()


def test_a_clone_goes_its_own_way():
    rng = np.random.default_rng(1)
    state = load_game(cube=False).new_initial_state()
    for _ in range(20):
        advance(state, rng)
    before = state.states.tobytes()
    for twin in (state.clone(), copy.deepcopy(state)):
        assert twin.states.tobytes() == before
        assert twin.history() == state.history()
        advance(twin, rng)
        assert twin.states.tobytes() != before
    assert state.states.tobytes() == before


@pytest.mark.parametrize("item", [ENCODERS["tesauro"], ENCODERS["planes"], RACE], ids=repr)
def test_observations_are_those_of_the_encoder_for_either_seat(item):
    rng = np.random.default_rng(2)
    game = load_game(settings=Settings(cube=False), observation=item)
    assert game.observation_tensor_size() == item.size
    state = game.new_initial_state()
    for _ in range(30):
        advance(state, rng)
        for seat in (0, 1):
            told = item.encode(state.states, game.settings.record(), seats=seat)
            assert np.array_equal(state.observation_tensor(seat), told.ravel())


def test_a_game_with_an_encoder_of_ones_own_is_not_loaded_from_text():
    game = load_game(observation=RACE, max_turns=9)
    with pytest.raises(SettingsError, match="no observation is called 'race'"):
        pyspiel.load_game(str(game))


def test_settings_as_one_value_and_their_old_name():
    settings = Settings("nackgammon", match_length=3, allow_dead_cube=True)
    assert load_game(settings=settings).settings == settings
    assert load_game("hypergammon", settings=settings).settings == settings.but(variant="hypergammon")
    with pytest.warns(DeprecationWarning, match="dead_cube=False is now allow_dead_cube=True"):
        game = pyspiel.load_game("python_bg_env(variant=nackgammon,match_length=3,dead_cube=False)")
    assert game.settings == settings


def test_openspiel_loads_it_by_name():
    game = pyspiel.load_game("python_bg_env(variant=hypergammon,cube=0,match_length=3,observation=counts)")
    assert game.settings == Settings("hypergammon", cube=False, match_length=3)
    assert game.observation_tensor_size() == ENCODERS["counts"].size
    again = pyspiel.load_game(str(game))
    assert again.settings == game.settings


def test_a_variant_of_ones_own_is_played():
    short = Variant("short", {6: 2, 5: 2})
    game = load_game(short, cube=False)
    assert game.settings == Settings(short, cube=False)
    state = game.new_initial_state()
    rng = np.random.default_rng(0)
    while not state.is_terminal():
        advance(state, rng)
    assert max(state.returns()) >= 1


def test_what_is_refused_is_refused_as_everywhere():
    with pytest.raises(SettingsError, match="no variant is called 'ludo'"):
        load_game("ludo")
    with pytest.raises(SettingsError, match="pgx is made for standard backgammon"):
        load_game("hypergammon", observation="pgx")


def test_a_state_of_a_game_knows_nothing_of_its_dice():
    games = [Game.new(cube=False, seed=seed) for seed in range(200)]
    by_position = {}
    for game in games:
        by_position.setdefault((game.player, game.dice), []).append(state_of(game).states.tobytes())
    assert max(map(len, by_position.values())) > 3
    for same in by_position.values():
        assert len(set(same)) == 1  # other keys of other dice leave no trace
    state = state_of(games[0])
    assert state.legal_actions() == games[0].legal_actions()
    while not state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    assert len(state.chance_outcomes()) == 21


def test_actions_have_distinct_names():
    rng = np.random.default_rng(5)
    for settings in ({"cube": True}, {"variant": "acey_deucey"}):
        state = load_game(**settings).new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            player = state.current_player()
            names = [state.action_to_string(player, action) for action in legal]
            assert len(set(names)) == len(legal)
            advance(state, rng)


def search(simulations, seed=1):
    def make(game):
        rng = np.random.RandomState(seed)
        return mcts.MCTSBot(game, 2, simulations, mcts.RandomRolloutEvaluator(1, rng, max_length=20), random_state=rng)

    return make


def test_a_search_sees_many_rolls_and_not_the_one_that_falls():
    state = state_of(Game.new(cube=False, seed=4))
    bot = search(200)(state.get_game())
    seen = set()
    nodes = [bot.mcts_search(state)]
    while nodes:
        node = nodes.pop()
        nodes += node.children
        seen |= {child.action for child in node.children if child.player == pyspiel.PlayerId.CHANCE and child.explore_count}
    assert len(seen) > 15


def test_a_bot_is_a_player():
    race = Variant("race", {1: 2, 2: 1})
    result = arena.play(BotPlayer(search(6), "mcts"), "random", games=4, seed=3, variant=race, cube=False)
    assert result.complete
    assert result.sides[0].name == "mcts"


def test_a_bot_wins_where_it_can_at_once():
    last = Variant("last", {1: 1, 6: 1})
    player = BotPlayer(search(60), settings=Settings(last, cube=False))
    game = Game.new(last, cube=False)
    game.apply_roll(6, 1)  # player 0, who bears both off
    words = np.zeros(1, np.uint64)
    while game.player == 0:
        game.apply(int(player.choose(game.states, words)[0]))
    assert game.winner == 0


def test_bots_of_openspiel_play_each_other():
    game = load_game(Variant("tiny", {1: 2}), cube=False)
    rng = np.random.RandomState(0)
    bots = [pyspiel.make_uniform_random_bot(seat, 3) for seat in (0, 1)]
    assert sum(evaluate_bots.evaluate_bots(game.new_initial_state(), bots, rng)) == 0


def test_the_environment_of_openspiel_runs_over_it():
    env = rl_environment.Environment(load_game("hypergammon", cube=False))
    env.seed(1)
    rng = np.random.default_rng(1)
    step, turns = env.reset(), 0
    while not step.last():
        player = step.current_player()
        assert step.observations["legal_actions"][player]
        assert step.observations["legal_actions"][1 - player] == []
        step = env.step([int(rng.choice(step.observations["legal_actions"][player]))])
        turns += 1
    assert turns > 5
    assert sorted(np.abs(step.rewards)) in ([1, 1], [2, 2], [3, 3])
    assert sum(step.rewards) == 0


class LastLegal:
    """An agent of OpenSpiel that takes the highest legal action, and remembers what it was shown."""

    player_id = 0

    def __init__(self):
        self.shown = []

    def step(self, time_step, is_evaluation=False):
        assert is_evaluation
        assert time_step.current_player() == self.player_id
        self.shown.append(time_step.observations["info_state"][self.player_id])
        return rl_agent.StepOutput(time_step.observations["legal_actions"][self.player_id][-1], [])


def test_an_agent_is_a_player_on_either_seat():
    agent = LastLegal()
    game = Game.new(cube=False, seed=6)
    player = AgentPlayer(agent).bind(game.settings)
    seats = set()
    while game.player is not None and len(seats) < 2:
        seats.add(game.player)
        told = ENCODERS["tesauro"].encode(game.states, game.settings.record(), seats=game.player)
        (action,) = player.choose(game.states, np.zeros(1, np.uint64))
        assert action == game.legal_actions()[-1]
        assert np.array_equal(agent.shown[-1], told[0])
        game.apply(int(action))
    assert seats == {0, 1}


@pytest.mark.parametrize("player", [BotPlayer(search(2)), AgentPlayer(LastLegal())])
def test_a_player_must_know_the_settings(player):
    with pytest.raises(Exception, match="must know the settings"):
        player.choose(Game.new(seed=1).states, np.zeros(1, np.uint64))
