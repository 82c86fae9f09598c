"""The PettingZoo environment: DESIGN 4 and 6, sentence by sentence."""

from __future__ import annotations

import numpy as np
import pytest
from env_cases import AGENTS, INFO_KEYS, MODULES, OPTIONS, first_legal, mask_of, play, same, seldom_cube, uniform
from gymnasium import spaces

import bg_env
from bg_env import Game, IllegalActionError, OrderError, Phase, SettingsError, backgammon_v0
from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from bg_env.observations import ENCODERS

modules = pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
options = pytest.mark.parametrize("given", OPTIONS.values(), ids=[name.replace(" ", "-") for name in OPTIONS])

GAMMON = "XGID=-A----------------------o-:0:0:1:61:0:0:0:0:10"  # player_1 bears off its last checker; player_0 has none off


def begun(seed=1, reset_options=None, **given):
    env = backgammon_v0.env(**given)
    env.reset(seed=seed, options=reset_options)
    return env


def state(env):
    """All that an environment shows."""
    return (
        env.agents,
        env.agent_selection,
        dict(env.rewards),
        dict(env.terminations),
        dict(env.truncations),
        dict(env._cumulative_rewards),
        {agent: dict(env.infos[agent]) for agent in env.agents},
        [env.observe(agent) for agent in AGENTS],
        env._episode.states.tobytes(),
    )


# Spaces and observations


@modules
@pytest.mark.parametrize(
    ("given", "actions"),
    [({"cube": False}, 150), ({"cube": True}, 154), ({"cube": True, "beavers": 1}, 155), ({"match_length": 2}, 154)],
)
def test_the_action_space_is_the_shortest_prefix(module, given, actions):
    env = module.env(**given)
    if module is MODULES["acey_deucey_v0"]:
        actions = 161
    assert all(env.action_space(agent) == spaces.Discrete(actions) for agent in AGENTS)


@modules
@options
def test_space_objects_are_the_same_at_every_call(module, given):
    env = module.env(**given)
    before = [(env.observation_space(agent), env.action_space(agent)) for agent in AGENTS]
    env.reset(seed=1)
    play(env, uniform(1))
    env.reset()
    for agent, (observations, actions) in zip(AGENTS, before, strict=True):
        assert env.observation_space(agent) is observations is env.observation_spaces[agent]
        assert env.action_space(agent) is actions is env.action_spaces[agent]
    assert before[0][0] is not before[1][0]
    assert before[0][1] is not before[1][1]


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("mask", ["both", "observation"])
def test_the_dict_has_observation_then_action_mask(name, mask):
    env = begun(observation=name, mask=mask)
    space = env.observation_space("player_0")
    assert list(space) == list(space.spaces) == ["observation", "action_mask"]
    assert space["observation"].shape == ENCODERS[name].shape
    assert (space["observation"].dtype, space["action_mask"].dtype) == (np.float32, np.int8)
    seen = env.observe("player_0")
    assert list(seen) == ["observation", "action_mask"]
    assert (seen["observation"].dtype, seen["action_mask"].dtype) == (np.float32, np.int8)
    assert seen["action_mask"].shape == (154,)
    assert ("action_mask" in env.last()[4]) == (mask == "both")


@pytest.mark.parametrize("name", ENCODERS)
def test_mask_info_gives_a_plain_box(name):
    env = begun(observation=name, mask="info")
    space = env.observation_space("player_0")
    assert isinstance(space, spaces.Box)
    assert space.shape == ENCODERS[name].shape
    seen = env.observe("player_1")
    assert isinstance(seen, np.ndarray)
    assert seen in space
    info = env.last()[4]
    assert (info["action_mask"].dtype, info["action_mask"].shape) == (np.int8, (154,))


@modules
@options
def test_every_observation_is_valid_for_either_seat_at_any_time(module, given):
    env = module.env(**given)
    env.reset(seed=2)
    choose = seldom_cube(4)
    phases = []
    for agent in env.agent_iter():
        over = env.terminations[agent] or env.truncations[agent]
        for seat in AGENTS:
            seen = env.observe(seat)
            assert seen in env.observation_space(seat)
            if given.get("mask") == "info" and seat not in env.agents:
                continue
            mask = env.infos[seat]["action_mask"] if given.get("mask") == "info" else seen["action_mask"]
            if over:
                assert mask.all()
            elif seat == env.agent_selection:
                assert set(np.flatnonzero(mask)) == set(env.game.legal_actions()) != set()
            else:
                assert not mask.any()
        phases.append(env.game.phase)
        env.step(None if over else choose(mask_of(env.observe(agent), env.infos[agent])))
    assert not env.agents
    for seat in AGENTS:  # the agents are gone, and still it can be looked at
        assert env.observe(seat) in env.observation_space(seat)
    assert phases.count(Phase.OVER) == 2
    assert phases.count(Phase.CHECKER) > 5


def test_observe_is_pure_and_its_arrays_are_fresh():
    env = begun()
    before = env._episode.states.tobytes(), env.observe("player_0"), env.observe("player_1")
    for agent in AGENTS:
        one, other = env.observe(agent), env.observe(agent)
        assert same(one, other)
        for key in one:
            assert not np.shares_memory(one[key], other[key])
            one[key][:] = 1  # the caller's own
    assert (env._episode.states.tobytes(), env.observe("player_0"), env.observe("player_1"))[0] == before[0]
    assert same([env.observe(agent) for agent in AGENTS], list(before[1:]))
    old = env.last()[0]
    kept = old["observation"].copy(), old["action_mask"].copy()
    env.step(first_legal(old["action_mask"]))
    assert same((old["observation"], old["action_mask"]), kept)


def test_the_masks_an_info_holds_are_not_the_environments_own():
    env = begun()
    agent = env.agent_selection
    env.last()[4]["action_mask"][:] = 1
    assert set(np.flatnonzero(env.observe(agent)["action_mask"])) == set(env.game.legal_actions())
    env = begun(illegal="raise")
    env.last()[4]["action_mask"][:] = 1
    env.last()[0]["action_mask"][:] = 1
    with pytest.raises(IllegalActionError):
        env.step(ROLL)


def test_each_seat_sees_the_board_from_its_own_side():
    env = begun(reset_options={"position": "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"}, observation="tesauro198")
    one, other = env.observe("player_0")["observation"], env.observe("player_1")["observation"]
    for mine, theirs in ((one, other), (other, one)):
        points, again = mine[:96].reshape(24, 4), theirs[98:194].reshape(24, 4)
        assert (points == again[::-1]).all()
        assert (mine[96:98] == theirs[194:196]).all()
    assert one[196:].tolist() == [0, 1]
    assert other[196:].tolist() == [1, 0]


@pytest.mark.parametrize("agent", ["player_2", "", None, 0])
def test_there_are_two_agents(agent):
    env = begun()
    for call in (env.observe, env.observation_space, env.action_space):
        with pytest.raises(SettingsError, match="player_0 and player_1"):
            call(agent)


# Rewards, ends, infos


@modules
@options
def test_rewards_ends_and_infos(module, given):
    """Zero-sum in one step, Python bools for both at once, and infos of fixed keys and ints."""
    env = module.env(**given)
    env.reset(seed=9)
    total = dict.fromkeys(AGENTS, 0.0)
    keys = (*INFO_KEYS, "action_mask") if given.get("mask", "both") != "observation" else INFO_KEYS
    turns, choose = 0, seldom_cube(1)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        assert type(reward) is float
        assert sum(env.rewards.values()) == 0
        assert set(env.rewards) == set(env.terminations) == set(env.truncations) == set(env.infos) == set(env.agents)
        assert all(type(flag) is bool for flag in (*env.terminations.values(), *env.truncations.values()))
        assert len(set(env.terminations.values())) == len(set(env.truncations.values())) == 1
        for each in env.infos.values():
            assert tuple(each) == keys
            assert all(type(each[key]) is int for key in INFO_KEYS)
            assert {key: each[key] for key in INFO_KEYS} == {key: info[key] for key in INFO_KEYS}
        assert info["player"] == (-1 if terminated or truncated else AGENTS.index(agent))
        assert info["turns"] >= turns
        assert (info["winner"] >= 0) == (info["level"] > 0) == (info["points"] > 0)
        assert info["cube"] & (info["cube"] - 1) == 0 < info["cube"]
        turns = info["turns"]
        total[agent] += reward
        env.step(None if terminated or truncated else choose(mask_of(observation, info)))
    assert total["player_0"] == -total["player_1"]
    assert (total["player_0"] != 0) == (not truncated)


def test_the_reward_comes_to_both_in_the_step_that_ends_the_game():
    env = begun(reset_options={"position": GAMMON})
    assert env.agent_selection == "player_1"
    env.step(int(env.game.legal_actions()[0]))
    assert env.rewards == {"player_0": -2.0, "player_1": 2.0}
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.truncations == {"player_0": False, "player_1": False}
    assert {key: env.infos["player_0"][key] for key in INFO_KEYS} == {
        "player": -1, "points": 2, "level": 2, "cube": 1, "winner": 1, "illegal": 0, "turns": 1,
    }  # fmt: skip
    said = {}
    while env.agents:
        said[env.agent_selection] = env.last()[1]
        env.step(None)
    assert said == {"player_0": -2.0, "player_1": 2.0}


@pytest.mark.parametrize(
    ("given", "cube", "worth"),
    [
        ({}, 0, 2.0),
        ({}, 2, 8.0),
        ({"reward": "win"}, 2, 1.0),
        ({"reward": "normalized"}, 2, 8 / 192),
        ({"reward": "normalized", "cube_cap": 4}, 2, 8 / 12),
        ({"reward": "normalized", "cube": False}, 0, 2 / 3),
        ({"jacoby": True}, 0, 1.0),
        ({"jacoby": True}, 1, 4.0),
    ],
)
def test_each_reward_by_name(given, cube, worth):
    rules = bg_env.Settings(**{key: value for key, value in given.items() if key != "reward"})
    cap = rules.cap_log2 if rules.cube else 0
    text = f"XGID=-A----------------------o-:{cube}:{1 if cube else 0}:1:61:0:0:{int(rules.jacoby)}:0:{cap}"
    game = Game.from_xgid(text)
    env = backgammon_v0.env(**given)
    if game.settings != rules:  # no id says that there is no cube
        game = Game.from_states(game.states, rules)
    env.reset(seed=1, options={"game": game})
    env.step(env.game.legal_actions()[0])
    assert env.rewards == {"player_0": -worth, "player_1": worth}


def test_a_reward_that_cannot_be_is_refused():
    with pytest.raises(SettingsError, match="match_length"):
        backgammon_v0.env(reward="match")
    with pytest.raises(SettingsError, match="cube_cap"):
        backgammon_v0.env(reward="normalized", cube_cap=None)


def test_a_drop_is_worth_the_cube_before():
    env = begun(reset_options={"position": "XGID=-b----E-C---eE---c-e----B-:1:1:1:00:0:0:0:0:10"})
    env.step(DOUBLE)
    assert env.agent_selection == "player_0"
    assert env.last()[4]["cube"] == 2
    assert set(np.flatnonzero(env.last()[0]["action_mask"])) == {TAKE, DROP}
    env.step(DROP)
    assert env.rewards == {"player_0": -2.0, "player_1": 2.0}
    assert env.infos["player_1"]["points"] == 2
    assert env.terminations["player_0"]


@pytest.mark.parametrize("reward", ["points", "win", "match"])
def test_a_match_is_one_episode_with_a_reward_at_each_games_end(reward):
    env = begun(seed=6, match_length=5, reward=reward)
    choose = seldom_cube(6)
    score, games, kept = [0, 0], 0, dict.fromkeys(AGENTS, 0.0)
    for agent in env.agent_iter():
        _, got, terminated, truncated, info = env.last()
        kept[agent] += got
        if info["winner"] >= 0 and not terminated:
            assert env.game.phase in (Phase.CHECKER, Phase.ROLL_OR_DOUBLE)
        env.step(None if terminated or truncated else choose(info["action_mask"]))
        if terminated or truncated:
            continue
        told = next(iter(env.infos.values()))
        if told["winner"] >= 0:
            games += 1
            score[told["winner"]] += told["points"]
            worth = {"points": float(told["points"]), "win": 1.0, "match": float(told["player"] < 0)}[reward]
            assert env.rewards[AGENTS[told["winner"]]] == worth
            assert env.game.score == tuple(score)
        else:
            assert set(env.rewards.values()) == {0.0}
    assert games > 1
    assert max(score) >= 5 > min(score)
    assert env.game.winner == score.index(max(score))
    if reward == "points":
        assert kept == {"player_0": score[0] - score[1], "player_1": score[1] - score[0]}
    if reward == "match":
        assert sorted(kept.values()) == [-1.0, 1.0]


def test_points_of_a_match_count_in_full():
    env = begun(
        match_length=3, reset_options={"position": "XGID=-A----------------------o-:2:1:1:61:0:1:0:3:10", "crawford": False}
    )
    env.step(env.game.legal_actions()[0])
    assert env.rewards == {"player_0": -8.0, "player_1": 8.0}
    assert env.game.score == (1, 8)


def test_the_cap_on_turns_truncates_both_with_nothing_for_the_unfinished_game():
    env = begun(seed=3, max_turns=4)
    seen = play(env, first_legal)
    assert all(turn[2] == 0.0 for turn in seen)
    assert [turn[3:5] for turn in seen[-2:]] == [(False, True)] * 2
    assert {turn[0] for turn in seen[-2:]} == set(AGENTS)
    assert seen[-1][5]["turns"] == 4
    assert seen[-1][5]["winner"] == -1
    assert env.game.winner is None


def test_points_already_won_stay_when_a_match_is_cut_off():
    env = begun(seed=3, match_length=25, max_turns=150, variant="hypergammon")
    seen = play(env, first_legal)
    assert seen[-1][4]
    assert sum(env.game.score) > 0
    total = sum(turn[2] for turn in seen if turn[0] == "player_0")
    assert total == env.game.score[0] - env.game.score[1]


# Actions that are not legal, or not actions


def cubed(**given):
    """player_1 must answer a double that takes the cube from 2 to 4."""
    env = begun(reset_options={"position": "XGID=-b----E-C---eE---c-e----B-:1:-1:-1:00:0:0:0:0:10"}, **given)
    assert env.agent_selection == "player_0"
    env.step(DOUBLE)
    assert env.agent_selection == "player_1"
    return env


def test_an_illegal_action_loses_three_times_the_cube():
    env = cubed()
    assert env.infos["player_0"]["illegal"] == 0
    env.step(ROLL)
    assert env.rewards == {"player_0": 6.0, "player_1": -6.0}
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.truncations == {"player_0": False, "player_1": False}
    for agent in AGENTS:
        told = {key: env.infos[agent][key] for key in INFO_KEYS}
        assert told == {"player": -1, "points": 6, "level": 3, "cube": 2, "winner": 0, "illegal": 1, "turns": 1}
    got = {}
    while env.agents:
        got[env.agent_selection] = env.last()[1]
        env.step(None)
    assert got == {"player_0": 6.0, "player_1": -6.0}


@pytest.mark.parametrize(("reward", "worth"), [("points", 3.0), ("win", 1.0), ("normalized", 3 / 192)])
def test_an_illegal_action_under_each_reward(reward, worth):
    env = begun(reward=reward)
    loser = env.agent_selection
    env.step(DROP)
    assert env.rewards[loser] == -worth
    assert sum(env.rewards.values()) == 0


def test_an_illegal_action_ends_a_match():
    env = begun(match_length=7, reward="match")
    loser = env.agent_selection
    env.step(DROP)
    assert env.rewards[loser] == -1.0
    assert all(env.terminations.values())


@modules
def test_illegal_raise_says_why_and_changes_nothing(module):
    env = module.env(illegal="raise", cube=True)
    env.reset(seed=4)
    before = state(env)
    mask = env.observe(env.agent_selection)["action_mask"]
    for action in np.flatnonzero(mask == 0):
        with pytest.raises(IllegalActionError, match="is illegal"):
            env.step(int(action))
    assert same(state(env), before)
    env.step(first_legal(mask))
    assert not env.infos["player_0"]["illegal"]


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (-1, "0 to 153"),
        (154, "0 to 153"),
        (10**30, "0 to 153"),
        (None, "not None"),
        (True, "not bool"),
        (1.0, "not float"),
        ("roll", "not str"),
        (np.float32(3), "not float32"),
        (np.array([3]), "not ndarray"),
        (np.int64(-3), "0 to 153"),
        ([3], "not list"),
        (np.bool_(True), "not bool"),
    ],
)
@pytest.mark.parametrize("illegal", ["terminate", "raise"])
def test_what_is_no_action_is_an_error_and_changes_nothing(action, words, illegal):
    env = begun(illegal=illegal)
    before = state(env)
    with pytest.raises(IllegalActionError, match=words):
        env.step(action)
    assert same(state(env), before)


@pytest.mark.parametrize("kind", [int, np.int8, np.int32, np.int64, np.uint8, np.array])
def test_any_integer_is_an_action(kind):
    env = begun()
    action = first_legal(env.last()[0]["action_mask"])
    env.step(kind(action))
    assert not env.infos["player_0"]["illegal"]


def test_calls_out_of_order():
    env = backgammon_v0.env(render_mode="ansi")
    for call in (
        lambda: env.step(0),
        env.last,
        lambda: env.observe("player_0"),
        env.render,
        env.agent_iter,
        lambda: env.game,
    ):
        with pytest.raises(OrderError, match=r"call reset\(\) first"):
            call()
    env.reset(seed=1, options={"position": GAMMON})
    env.step(env.game.legal_actions()[0])
    for action in (0, 5, "x"):
        with pytest.raises(IllegalActionError, match="is done: the only action it has is None"):
            env.step(action)
    env.step(None)
    env.step(None)
    assert env.agents == []
    for call in (lambda: env.step(None), lambda: env.step(0), env.last):
        with pytest.raises(OrderError, match=r"call reset\(\) first"):
            call()
    assert isinstance(env.render(), str)
    assert list(env.agent_iter()) == []
    env.reset()
    assert env.agents == list(AGENTS)
    env.close()


def test_raw_env_plays_the_same_games():
    one, other = backgammon_v0.env(), backgammon_v0.raw_env()
    for env in (one, other):
        env.reset(seed=12)
    assert same(play(one, seldom_cube(1)), play(other, seldom_cube(1)))


# Seeds and episodes


@modules
@pytest.mark.parametrize(
    "given", [{}, {"match_length": 3}, {"cube": True, "auto_doubles": 2}], ids=["default", "match", "ties"]
)
def test_a_game_with_the_seed_is_the_first_episode(module, given):
    env = module.env(**given)
    game = Game.new(env.settings.variant, seed=21, **given)
    env.reset(seed=21)
    choose = seldom_cube(5)
    while game.phase != Phase.OVER:
        assert env.agent_selection == AGENTS[game.player]
        mask = env.observe(env.agent_selection)["action_mask"]
        assert np.flatnonzero(mask).tolist() == game.legal_actions()
        action = choose(mask)
        env.step(action)
        game.apply(action)
        assert env._episode.states.tobytes() == game.states.tobytes()
    assert all(env.terminations.values())


def test_reset_without_a_seed_goes_on_with_the_next_episode_of_the_seed():
    def first_states(env, n):
        seen = []
        for k in range(n):
            env.reset(seed=7 if k == 0 else None)
            seen.append(env.game.position.id + str(env.game.dice) + env.agent_selection)
            if k % 2:
                play(env, uniform(k))  # whether an episode is played out does not matter
        return seen

    one = first_states(backgammon_v0.env(), 6)
    other = backgammon_v0.env()
    other.reset(seed=99)
    assert first_states(other, 6) == one
    assert len(set(one)) > 3


def test_without_any_seed_episodes_differ():
    seen = set()
    for _ in range(12):
        env = backgammon_v0.env()
        env.reset()
        seen.add((env.agent_selection, env.game.dice, tuple(env._episode.states["key"])))
    assert len(seen) == 12


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", True, (1, 2)])
def test_a_seed_out_of_range_is_refused_and_changes_nothing(seed):
    env = begun()
    before = state(env)
    with pytest.raises(SettingsError, match=r"2\*\*64 - 1"):
        env.reset(seed=seed)
    assert same(state(env), before)
    with pytest.raises(SettingsError):
        Game.new(seed=seed)


@pytest.mark.parametrize("seed", [0, 2**63, 2**64 - 1, np.int64(5), np.uint64(2**64 - 1)])
def test_seeds_up_to_64_bits(seed):
    env = begun(seed=seed)
    again = begun(seed=int(seed))
    assert same(state(env), state(again))


def test_agents_take_turns_as_the_rules_say_and_may_act_several_times():
    env = begun(reset_options={"dice": [(3, 1), (6, 6)], "starter": 0})
    assert env.agent_selection == "player_0"
    assert env.game.dice == (3, 1)
    env.step(env.game.legal_actions()[0])
    assert env.agent_selection == "player_0"
    env.step(env.game.legal_actions()[0])
    assert env.agent_selection == "player_1"
    assert env.game.phase == Phase.ROLL_OR_DOUBLE
    env.step(ROLL)
    assert env.agent_selection == "player_1"
    assert env.game.dice == (6, 6, 6, 6)


def test_a_beaver_chain_passes_between_the_agents():
    env = begun(beavers=2, reset_options={"game": Game.from_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:2:0:6", seed=1)})
    order = []
    for action in (DOUBLE, BEAVER, BEAVER, TAKE):
        order.append(env.agent_selection)
        env.step(action)
    assert order == ["player_1", "player_0", "player_1", "player_0"]
    assert env.agent_selection == "player_1"
    assert env.game.cube == 8
    assert env.game.cube_owner == 0


def test_render_is_the_board_as_text_for_who_is_on_roll():
    env = begun(render_mode="ansi")
    assert env.render() == str(env.game)
    assert backgammon_v0.env().render_mode is None
    quiet = begun()
    assert quiet.render() is None


def test_the_game_of_an_environment_is_a_copy_with_dice_of_its_own():
    """Others each time, so that a search may take as many copies as it likes; the same ones for the same seed."""
    env = begun()
    before = state(env)
    seen = [rolls(env.game) for _ in range(4)]
    assert len({str(each) for each in seen}) == 4
    game = env.game
    game.apply(game.legal_actions()[0])
    assert same(state(env), before)
    twin = begun()
    assert [rolls(twin.game) for _ in range(4)] == seen
    twin.reset(seed=2)
    twin.reset(seed=1)
    assert rolls(twin.game) == seen[0]
    real = []
    while not env.terminations["player_0"]:
        env.step(env.game.legal_actions()[0])
        real.append(env.game.dice)
    assert real not in seen


def rolls(game):
    """The dice left after each action of a game that is played out by first legal actions."""
    seen = []
    while game.phase != Phase.OVER:
        game.apply(game.legal_actions()[0])
        seen.append(game.dice)
    return seen
