"""The Gymnasium environment: the opponent inside `step`, seats, self-play, what goes wrong."""

from __future__ import annotations

import inspect

import gymnasium
import numpy as np
import pytest
from env_cases import (
    AGENTS,
    IDS,
    INFO_KEYS,
    OPTIONS,
    first_legal,
    make,
    mask_of,
    play_single,
    same,
    seldom_cube,
    uniform,
)
from gymnasium import spaces

from bg_env import BgEnvError, Game, IllegalActionError, OrderError, Phase, Settings, SettingsError
from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from bg_env.envs.aec import BackgammonEnv
from bg_env.envs.single import SingleEnv
from bg_env.players import PLAYERS, RandomPlayer
from bg_env.rules import SEAT, STATE, episode_key, legal_mask, plays, word

ids = pytest.mark.parametrize("name", IDS)

START = "XGID=-b----E-C---eE---c-e----B-"
LAST_CHECKER = "XGID=-A----------------------o-:0:0:1:61:0:0:0:0:10"  # player_1 is about to win a gammon


def state(env):
    """All that an environment shows, and where its random stream stands."""
    episode = env._episode
    gain = float(episode.slots["gain"][0])
    return episode.states.tobytes(), episode.player, *env._seen(), env.action_masks(), env.seat, gain, env._going


class Recorder:
    """A player that plays as `choose` says and keeps what it was asked."""

    def __init__(self, choose=first_legal, settings=None):
        self.pick, self.asked, self.settings = choose, [], settings

    def bind(self, settings):
        return Recorder(self.pick, settings) if self.settings is None else self

    def choose(self, states, words):
        assert states.dtype == STATE
        assert words.dtype == np.uint64
        assert len(states) == len(words) == 1
        mask = np.zeros((1, 161), np.int8)
        legal_mask(states, 0, self.settings.record(), mask, 0)
        self.asked.append((states.copy(), int(words[0])))
        return np.array([self.pick(mask[0])])


class WholePlays:
    """A player of whole plays that takes the first it finds; it knows no cube."""

    def __init__(self):
        self.phases = []

    def choose_plays(self, states, words):
        self.phases += states["phase"].tolist()
        steps = np.full((len(states), 4), -1)
        _, found, _ = plays(states[:1], Settings(cube=False).record())
        steps[0] = found[0]
        return steps


def test_the_default_opponent_is_random_and_none_is_self_play():
    assert isinstance(make("bg_env/Backgammon-v0")._episode.opponent, RandomPlayer)
    assert make("bg_env/Backgammon-v0", opponent=None)._episode.opponent is None


@ids
@pytest.mark.parametrize("given", OPTIONS.values(), ids=[name.replace(" ", "-") for name in OPTIONS])
def test_infos_are_those_of_aec(name, given):
    """Keys, order and types agree; observations are in their space and masks where they are asked for."""
    if IDS[name].get("match_length") and given.get("jacoby"):
        given = {**given, "match_length": 0}
    env = make(name, **given)
    aec = BackgammonEnv(**{**IDS[name], **given})
    aec.reset(seed=3)
    observation, info = env.reset(seed=3)
    aec_info = aec.last()[4]
    assert env.observation_space == aec.observation_space("player_0")
    assert env.action_space == aec.action_space("player_0")
    for told in (info, *(step[4] for step in play_single(env, seldom_cube(3), observation, info))):
        assert list(told) == list(aec_info)
        assert [type(value) for value in told.values()] == [type(value) for value in aec_info.values()]
    assert list(info)[:7] == list(INFO_KEYS)


@ids
def test_rewards_are_the_learners_own_losses_included(name):
    env = make(name)
    got = []
    observation, info = env.reset(seed=1)
    for episode in range(30):
        seen = play_single(env, uniform(episode), observation, info)
        for observation, reward, terminated, truncated, info, _ in seen:
            assert observation in env.observation_space
            assert type(reward) is float
            assert type(terminated) is type(truncated) is bool
            over = terminated or truncated
            assert mask_of(observation, info).all() == over
            assert info["player"] == (-1 if over else env.seat)
            if info["winner"] >= 0 and env.settings.money:
                assert reward == (info["points"] if info["winner"] == env.seat else -info["points"])
        total = sum(step[1] for step in seen)
        score = env.game.score
        if not env.settings.money:
            assert total == score[env.seat] - score[1 - env.seat]
        got.append(total)
        observation, info = env.reset()
    assert min(got) < 0 < max(got)


@ids
@pytest.mark.parametrize("seat", [0, 1])
def test_the_game_is_that_of_the_pettingzoo_environment(name, seat):
    """Two agents that choose as the learner and its opponent do see the same game, move by move."""
    learner, other = seldom_cube(1), seldom_cube(2)
    recorder = Recorder(other, Settings(**IDS[name]))
    env = make(name, opponent=recorder, seat=seat)
    observation, info = env.reset(seed=17)
    seen = play_single(env, learner, observation, info)
    aec = BackgammonEnv(**IDS[name])
    aec.reset(seed=17)
    learner, other = seldom_cube(1), seldom_cube(2)
    actions, total = [], 0.0
    for agent in aec.agent_iter():
        view, reward, terminated, _, _ = aec.last()
        total += reward if agent == AGENTS[seat] else 0.0
        if terminated:
            aec.step(None)
            continue
        action = (learner if agent == AGENTS[seat] else other)(view["action_mask"])
        if agent == AGENTS[seat]:
            actions.append(action)
        aec.step(action)
    assert [step[-1] for step in seen] == actions
    assert sum(step[1] for step in seen) == total
    one, two = env.game.states, aec.game.states
    for field in STATE.names:
        if field not in ("key", "choices"):
            assert (one[field] == two[field]).all(), field


# Opponents


def test_the_random_opponent_named_given_and_asked_one_by_one_plays_the_same():
    class Slow:
        """Asked for each decision, without the kernel's short cut."""

        def choose(self, states, words):
            return RandomPlayer().choose(states, words)

    games = []
    for opponent in ("random", RandomPlayer(), Slow()):
        env = make("bg_env/Backgammon-v0", opponent=opponent)
        first = env.reset(seed=2)
        games.append(
            [first, play_single(env, seldom_cube(4), *first), env.reset(), play_single(env, seldom_cube(5), *env.reset())]
        )
    assert same(games[0], games[1])
    assert same(games[0], games[2])


def test_the_random_opponent_never_turns_the_cube_and_always_takes():
    env = make("bg_env/Backgammon-v0", seat=0)
    doubled = 0
    for seed in range(6):
        observation, info = env.reset(seed=seed)
        while info["player"] >= 0:
            mask = mask_of(observation, info)
            assert not mask[TAKE]
            action = DOUBLE if mask[DOUBLE] else uniform(seed)(mask)
            observation, _, _, _, after = env.step(action)
            if action == DOUBLE:
                doubled += 1
                assert after["cube"] == 2 * info["cube"]
                assert env.game.cube_owner == 1
            info = after
    assert doubled >= 5


def test_the_random_opponent_draws_from_the_episodes_key():
    def games(env):
        first = env.reset(seed=5)
        return [first, play_single(env, uniform(1), *first)]

    assert same(games(make("bg_env/Hypergammon-v0")), games(make("bg_env/Hypergammon-v0")))
    assert not same(games(make("bg_env/Hypergammon-v0")), [make("bg_env/Hypergammon-v0").reset(seed=6)])


def test_a_player_is_bound_to_the_settings_and_given_copies_and_words():
    class Vandal(Recorder):
        def choose(self, states, words):
            answer = super().choose(states, words)
            states["points"] = 0
            return answer

        def bind(self, settings):
            made = Vandal(self.pick, settings)
            made.asked = self.asked
            return made

    opponent = Vandal()
    env = make("bg_env/BackgammonMatch-v0", opponent=opponent, seat=1)
    first = env.reset(seed=3)
    play_single(env, uniform(1), *first)
    words = [asked[1] for asked in opponent.asked]
    assert len(words) > 50
    assert len(set(words)) == len(words)
    assert all(int(states[0]["decider"]) == 0 for states, _ in opponent.asked)


def test_a_player_of_whole_plays_is_asked_once_a_turn_and_knows_no_cube():
    opponent = WholePlays()
    env = make("bg_env/Backgammon-v0", opponent=opponent, seat=0)
    observation, info = env.reset(
        seed=1, options={"position": f"{START}:0:0:-1:00:0:0:0:0:10", "dice": [(3, 1), (6, 5), (2, 1)]}
    )
    observation, _, _, _, info = env.step(DOUBLE)  # it takes
    assert (info["cube"], env.game.cube_owner) == (2, 1)
    play_single(env, first_legal, observation, info)
    assert set(opponent.phases) == {Phase.CHECKER}
    ace = make("bg_env/AceyDeucey-v0", opponent=WholePlays(), seat=0, cube=False)
    ace.reset(seed=1, options={"dice": [(1, 2), (2, 1), (6, 6)]})
    assert ace.game.player == 0
    ace = make("bg_env/AceyDeucey-v0", opponent=WholePlays(), seat=0)
    ace.reset(seed=1, options={"starter": 1, "dice": [(1, 2), (2, 1), (5, 3), (6, 1)]})
    assert ace.game.player == 0
    assert ace.game.position.opponent[19] == 4, "it named 6-6 and entered four"


def test_a_player_with_both_is_asked_for_the_cube_too():
    class Both(WholePlays):
        def choose(self, states, words):
            self.phases += states["phase"].tolist()
            return np.where(states["phase"] == Phase.TAKE_OR_DROP, DROP, ROLL)

    opponent = Both()
    env = make("bg_env/Backgammon-v0", opponent=opponent, seat=0)
    env.reset(seed=1, options={"position": f"{START}:0:0:-1:00:0:0:0:0:10"})
    _, reward, terminated, _, info = env.step(DOUBLE)
    assert (reward, terminated, info["points"]) == (1.0, True, 1)
    assert opponent.phases == [Phase.TAKE_OR_DROP]


@pytest.mark.parametrize("mask", ["both", "observation", "info"])
@pytest.mark.parametrize("answer", ["array", "number", "list"])
def test_a_callable_gets_the_batched_observation(mask, answer):
    calls = []

    def opponent(*given):
        calls.append(given)
        masks = given[1] if mask == "info" else given[0]["action_mask"]
        choice = [first_legal(row) for row in masks]
        return {"array": np.array(choice), "number": choice[0], "list": choice}[answer]

    env = make("bg_env/Backgammon-v0", opponent=opponent, mask=mask, seat=1)
    first = env.reset(seed=2)
    play_single(env, uniform(1), *first)
    assert len(calls) > 10
    for given in calls:
        if mask == "info":
            views, masks = given
        else:
            (view,) = given
            assert list(view) == ["observation", "action_mask"]
            views, masks = view.values()
        assert views.shape == (1, 229)
        assert views.dtype == np.float32
        assert masks.shape == (1, 154)
        assert masks.dtype == np.int8
        assert masks.any()
        assert views[0, 196 + 9] == 1, "it looks from its own seat: the decision is its own"


def test_it_can_be_swapped_while_training():
    env = make("bg_env/Backgammon-v0", seat=0)
    first = env.reset(seed=1)
    recorder = Recorder()
    env.step(first_legal(env.action_masks()))
    env.set_opponent(recorder)
    bound = env._episode.opponent
    assert bound.settings == env.settings
    play_single(env, uniform(1), first[0] | {"action_mask": env.action_masks()}, first[1])
    assert len(bound.asked) > 5
    env.set_opponent("pubeval")
    env.reset()
    with pytest.raises(SettingsError, match="self-play"):
        env.set_opponent(None)
    with pytest.raises(SettingsError, match="self-play"):
        make("bg_env/Backgammon-v0", opponent=None).set_opponent("random")


@pytest.mark.parametrize("opponent", [3, object(), ["random"], b"random"])
def test_what_is_no_opponent_is_refused(opponent):
    with pytest.raises(SettingsError, match="opponent is a name"):
        make("bg_env/Backgammon-v0", opponent=opponent)
    env = make("bg_env/Backgammon-v0")
    with pytest.raises(SettingsError, match="opponent is a name"):
        env.set_opponent(opponent)


def test_a_class_is_no_opponent():
    for wrong in (RandomPlayer, dict):
        with pytest.raises(SettingsError, match=rf"not the class {wrong.__name__}: give {wrong.__name__}\(\.\.\.\)"):
            make("bg_env/Backgammon-v0", opponent=wrong)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(SettingsError, match=r"\S*, ".join(PLAYERS)):
        make("bg_env/Backgammon-v0", opponent="stockfish")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (DROP, "illegal"),
        (149, "illegal"),
        (-1, "0 to 153"),
        (1000, "0 to 153"),
        (1.5, "integer"),
        (None, "not"),
        ([3, 4], r"integers of shape \(1,\), not int64 of shape \(2,\)"),
        ([[3]], "integer"),
        ("roll", "integer"),
    ],
)
@pytest.mark.parametrize("kind", ["callable", "player"])
@pytest.mark.parametrize("where", ["step", "reset"])
def test_an_opponent_that_chooses_what_is_not_legal_changes_nothing(answer, words, kind, where):
    broken = [False]

    def choose(mask):
        return first_legal(mask)

    def function(view):
        return answer if broken[0] else first_legal(view["action_mask"][0])

    class Wrong(Recorder):
        def choose(self, states, words):
            right = super().choose(states, words)
            return answer if broken[0] and isinstance(answer, list) else [answer] if broken[0] else right

        def bind(self, settings):
            return Wrong(self.pick, settings)

    env = make("bg_env/Backgammon-v0", opponent=function if kind == "callable" else Wrong(choose), seat=0)
    env.reset(seed=4, options={"starter": 0, "dice": [(3, 1)]})
    env.step(first_legal(env.action_masks()))
    before = state(env)
    action = first_legal(env.action_masks())
    broken[0] = True
    call = (lambda: env.step(action)) if where == "step" else (lambda: env.reset(seed=4, options={"starter": 1}))
    with pytest.raises(IllegalActionError, match=words):
        call()
    assert same(state(env), before)
    broken[0] = False
    env.step(action)
    after = state(env)
    twin = make("bg_env/Backgammon-v0", opponent=lambda view: first_legal(view["action_mask"][0]), seat=0)
    twin.reset(seed=4, options={"starter": 0, "dice": [(3, 1)]})
    for _ in range(2):
        twin.step(first_legal(twin.action_masks()))
    assert same(after[2:5], state(twin)[2:5])


@pytest.mark.parametrize("where", ["step", "reset"])
def test_an_opponent_that_errs_changes_nothing(where):
    class Broken(Recorder):
        patience = 1000

        def choose(self, states, words):
            if len(self.asked) > self.patience:
                raise ZeroDivisionError
            return super().choose(states, words)

        def bind(self, settings):
            self.settings = settings
            return self

    opponent = Broken()
    env = make("bg_env/Nackgammon-v0", opponent=opponent, seat=1)
    env.reset(seed=4)
    opponent.asked.clear()
    opponent.patience = 4
    before = None
    for _ in range(100):
        before = state(env)
        try:
            env.step(first_legal(env.action_masks())) if where == "step" else env.reset()
        except ZeroDivisionError:
            break
    else:
        pytest.fail("the opponent was asked five times and never erred")
    assert same(state(env), before)
    env.set_opponent("random")
    env.step(first_legal(env.action_masks()))


def test_after_a_reset_that_failed_the_next_episode_is_the_one_that_was_due():
    def fails(view):
        raise ZeroDivisionError

    def states(env, n):
        return [(env.reset(seed=11 if k == 0 else None), env._episode.states.tobytes())[1] for k in range(n)]

    want = states(make("bg_env/Backgammon-v0", seat=0), 5)
    env = make("bg_env/Backgammon-v0", seat=0)
    got = states(env, 1)
    while len(got) < 5:
        env.set_opponent(fails)
        failed = 0
        try:
            env.reset()
        except ZeroDivisionError:
            failed = 1
            env.set_opponent("random")
            env.reset()
        got.append(env._episode.states.tobytes())
    assert got == want
    assert failed in (0, 1)


# Seats


def test_seat_none_is_a_bit_of_the_episodes_key():
    env = make("bg_env/Hypergammon-v0")
    seats = []
    for episode in range(40):
        env.reset(seed=31 if episode == 0 else None)
        key = np.uint64(episode_key(np.uint64(31), np.uint64(episode)))
        assert env.seat == int(word(key, np.uint64(SEAT), np.uint64(0))) & 1
        seats.append(env.seat)
    assert 8 < sum(seats) < 32


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_that_is_asked_for(seat):
    env = make("bg_env/Hypergammon-v0", seat=seat)
    assert env.seat is None
    for _ in range(10):
        _, info = env.reset()
        assert env.seat == seat
        assert info["player"] in (seat, -1)


@pytest.mark.parametrize("seat", [2, -1, True, "0", 1.0])
def test_a_seat_that_is_none(seat):
    with pytest.raises(SettingsError, match="seat is 0, 1 or None"):
        make("bg_env/Backgammon-v0", seat=seat)


def test_a_seat_needs_an_opponent():
    with pytest.raises(SettingsError, match="opponent"):
        make("bg_env/Backgammon-v0", opponent=None, seat=0)


# Self-play


@ids
def test_in_self_play_the_reward_belongs_to_who_has_just_acted(name):
    env = make(name, opponent=None)
    aec = BackgammonEnv(**IDS[name])
    aec.reset(seed=5)
    choose = seldom_cube(3)
    observation, info = env.reset(seed=5)
    assert env.seat is None
    while True:
        actor = AGENTS.index(aec.agent_selection)
        assert info["player"] == actor
        assert same(observation, aec.observe(AGENTS[actor]))
        assert (env.action_masks() == aec.observe(AGENTS[actor])["action_mask"]).all()
        action = choose(observation["action_mask"])
        aec.step(action)
        observation, reward, terminated, truncated, info = env.step(action)
        assert reward == aec.rewards[AGENTS[actor]]
        assert {key: info[key] for key in INFO_KEYS} == {key: aec.infos["player_0"][key] for key in INFO_KEYS}
        if terminated:
            break
    assert aec.terminations["player_0"]
    assert info["player"] == -1
    assert observation["action_mask"].all()
    assert same(observation, aec.observe(AGENTS[info["winner"]]))
    assert not truncated


# Ends


def test_an_episode_that_ends_before_the_learner_acts():
    env = make("bg_env/Backgammon-v0", seat=0)
    for action in (0, ROLL, 153):  # whatever it is
        observation, info = env.reset(seed=1, options={"position": LAST_CHECKER})
        assert observation["action_mask"].all()
        assert env.action_masks().all()
        assert info["player"] == -1
        assert (info["winner"], info["level"], info["points"]) == (1, 2, 2)
        after, reward, terminated, truncated, info = env.step(action)
        assert (reward, terminated, truncated) == (-2.0, True, False)
        assert info["illegal"] == 0
        assert (info["winner"], info["level"], info["points"]) == (1, 2, 2)
        assert same(after, observation)
        with pytest.raises(OrderError):
            env.step(action)


def test_an_episode_cut_off_before_the_learner_acts():
    env = make("bg_env/Backgammon-v0", seat=0, max_turns=1)
    _, info = env.reset(seed=1, options={"starter": 1})
    assert info["player"] == -1
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["winner"] == -1


@pytest.mark.parametrize("name", ["bg_env/Backgammon-v0", "bg_env/AceyDeucey-v0"])
def test_the_cap_on_turns_truncates(name):
    env = make(name, max_turns=6)
    seen = play_single(env, first_legal, *env.reset(seed=2))
    assert seen[-1][2:4] == (False, True)
    assert [step[1] for step in seen] == [0.0] * len(seen)
    assert seen[-1][4]["turns"] == 6


def test_losing_in_the_opponents_turn_is_seen_in_the_learners_step():
    """The learner bears off two of three checkers, then the opponent its last."""
    env = make("bg_env/Backgammon-v0", seat=0)
    options = {"position": f"XGID=-A{'-' * 21}ba-:0:1:-1:21:0:0:0:0:10", "dice": [(6, 5)]}
    _, info = env.reset(seed=1, options=options)
    reward = 0.0
    steps = 0
    while info["player"] == 0:
        _, reward, terminated, _, info = env.step(first_legal(env.action_masks()))
        steps += 1
    assert steps == 2
    assert (reward, terminated) == (-1.0, True)
    assert (info["winner"], info["points"]) == (1, 1)


def test_games_of_a_match_that_the_opponent_wins_are_told_with_the_next_decision():
    env = make("bg_env/BackgammonMatch-v0", seat=0, opponent=first_player)
    observation, info = env.reset(seed=1)
    seen = play_single(env, seldom_cube(2), observation, info)
    score = [0, 0]
    for _, reward, _, _, info, _ in seen:
        if reward:
            assert info["winner"] == (0 if reward > 0 else 1)
            score[info["winner"]] += info["points"]
        else:
            assert (info["winner"], info["points"], info["level"]) == (-1, 0, 0)
    assert tuple(score) == env.game.score
    assert min(score) > 0


def first_player(view):
    return [first_legal(row) for row in view["action_mask"]]


# Illegal actions


def test_an_illegal_action_loses_three_times_the_cube():
    env = make("bg_env/Backgammon-v0", seat=1)
    env.reset(seed=1, options={"position": f"{START}:2:1:1:31:0:0:0:0:10"})
    observation, reward, terminated, truncated, info = env.step(DROP)
    assert (reward, terminated, truncated) == (-12.0, True, False)
    assert {key: info[key] for key in INFO_KEYS} == {
        "player": -1, "points": 12, "level": 3, "cube": 4, "winner": 0, "illegal": 1, "turns": 1,
    }  # fmt: skip
    assert observation["action_mask"].all()
    with pytest.raises(OrderError, match="reset"):
        env.step(0)
    env.reset()
    assert env.action_masks().any()


def test_illegal_raise_says_why_and_changes_nothing():
    env = make("bg_env/Backgammon-v0", illegal="raise")
    env.reset(seed=1)
    before = state(env)
    for action in np.flatnonzero(~env.action_masks()):
        with pytest.raises(IllegalActionError, match="is illegal"):
            env.step(int(action))
    assert same(state(env), before)


@pytest.mark.parametrize("action", [-1, 154, None, 1.0, True, "roll", np.array([1]), [1], np.float64(2)])
@pytest.mark.parametrize("illegal", ["terminate", "raise"])
def test_what_is_no_action_is_an_error_and_changes_nothing(action, illegal):
    env = make("bg_env/Backgammon-v0", illegal=illegal)
    env.reset(seed=1)
    before = state(env)
    with pytest.raises(IllegalActionError, match="0 to 153"):
        env.step(action)
    assert same(state(env), before)


def test_calls_out_of_order():
    env = make("bg_env/Backgammon-v0", render_mode="ansi")
    for call in (lambda: env.step(0), env.action_masks, env.render, lambda: env.game):
        with pytest.raises(OrderError, match=r"call reset\(\) first"):
            call()
    env.reset(seed=1)
    assert env.render() == str(env.game)
    env.close()


# Masks, copies, seeds


def test_action_masks_are_booleans_of_the_learner_through_wrappers_too():
    env = gymnasium.make("bg_env/Backgammon-v0")
    observation, info = env.reset(seed=1)
    masks = env.unwrapped.action_masks()
    assert masks.dtype == np.bool_
    assert masks.shape == (154,)
    assert (masks == observation["action_mask"]).all()
    assert (masks == info["action_mask"]).all()
    masks[:] = True
    assert not env.unwrapped.action_masks().all()
    assert (env.get_wrapper_attr("action_masks")() == observation["action_mask"]).all()


def test_returned_arrays_are_fresh():
    env = make("bg_env/Backgammon-v0")
    observation, info = env.reset(seed=1)
    kept = [(observation, {key: value.copy() for key, value in observation.items()})]
    before = env._episode.states.tobytes()
    info["action_mask"][:] = 1
    observation["observation"][:] = 9
    kept[0] = (observation, {key: value.copy() for key, value in observation.items()})
    assert env.action_masks().any()
    assert not env.action_masks().all()
    assert env._episode.states.tobytes() == before
    for _ in range(20):
        observation, _, over, _, _ = env.step(first_legal(env.action_masks()))
        kept.append((observation, {key: value.copy() for key, value in observation.items()}))
        if over:
            break
    assert all(same(now, then) for now, then in kept)


@ids
def test_the_same_seed_gives_the_same_episodes(name):
    def episodes(env):
        seen = []
        for k in range(4):
            first = env.reset(seed=77 if k == 0 else None)
            seen.append([first, play_single(env, seldom_cube(k), *first)])
        return seen

    one, other = make(name), make(name)
    other.reset(seed=3)
    assert same(episodes(one), episodes(other))
    one.reset(seed=77)
    two = make(name)
    two.reset(seed=78)
    assert one._episode.states.tobytes() != two._episode.states.tobytes()


@pytest.mark.parametrize("seed", [-1, 2**64, "a"])
def test_a_seed_that_is_none_changes_nothing(seed):
    env = make("bg_env/Backgammon-v0")
    env.reset(seed=2)
    before = state(env)
    with pytest.raises(BgEnvError):
        env.reset(seed=seed)
    assert same(state(env), before)


@pytest.mark.parametrize("seed", [np.int64(7), np.uint32(7), 2**64 - 1])
def test_seeds_may_be_numpys(seed):
    env, twin = make("bg_env/Backgammon-v0"), make("bg_env/Backgammon-v0")
    assert same(env.reset(seed=seed), twin.reset(seed=int(seed)))


def test_spaces_are_not_shared_between_environments():
    one, other = make("bg_env/Backgammon-v0"), make("bg_env/Backgammon-v0")
    assert one.action_space is not other.action_space
    assert one.observation_space is not other.observation_space
    assert isinstance(one.action_space, spaces.Discrete)


def test_beavers_against_an_opponent_that_beavers():
    def opponent(view):
        mask = view["action_mask"][0]
        return BEAVER if mask[BEAVER] else first_legal(mask)

    env = make("bg_env/Backgammon-v0", seat=1, beavers=1, opponent=opponent)
    env.reset(seed=1, options={"position": f"{START}:0:0:1:00:0:0:2:0:6", "dice": [(3, 1)]})
    _, reward, terminated, _, info = env.step(DOUBLE)
    assert (reward, terminated) == (0.0, False)
    assert env.game.phase == Phase.TAKE_OR_DROP
    assert info["player"] == 1
    assert info["cube"] == 2
    env.step(TAKE)
    assert (env.game.cube, env.game.cube_owner, env.game.dice) == (4, 0, (3, 1))


def test_two_environments_of_different_variants_do_not_disturb_each_other():
    """Stepped in turn they play what each plays alone."""
    kinds = [
        ("bg_env/Backgammon-v0", {"cube_cap": 4, "observation": "planes"}),
        ("bg_env/AceyDeucey-v0", {"cube": True, "mask": "info"}),
        ("bg_env/Hypergammon-v0", {"jacoby": True, "beavers": 3, "reward": "win"}),
        ("bg_env/BackgammonMatch-v0", {"observation": "counts"}),
    ]

    def start(kind):
        env = make(kind[0], **kind[1])
        return env, seldom_cube(1), list(env.reset(seed=4))

    def step(env, choose, last):
        observation, reward, terminated, truncated, info = env.step(choose(mask_of(*last)))
        last[:] = env.reset() if terminated or truncated else (observation, info)
        return reward, terminated, truncated, info, observation

    alone = []
    for kind in kinds:
        game = start(kind)
        alone.append([step(*game) for _ in range(150)])
    games = [start(kind) for kind in kinds]
    together = [[] for _ in kinds]
    for _ in range(150):
        for seen, game in zip(together, games, strict=True):
            seen.append(step(*game))
    assert same(alone, together)


def test_the_constructor_is_the_same_as_the_pettingzoo_one():
    def arguments(cls):
        own = ("checks", "name", "opponent", "seat")
        return [(p.name, p.default) for p in inspect.signature(cls).parameters.values() if p.name not in own]

    assert arguments(SingleEnv) == arguments(BackgammonEnv)


@pytest.mark.parametrize(
    "answer",
    [[[-1] * 4], [[]], [[-1]], "first step", [None], [3], [["a"] * 4], [[1], [2, 3]], [[0] * 5]],
    ids=str,
)
def test_an_opponents_play_must_be_whole_and_a_play(answer):
    class Half:
        def choose_plays(self, states, words):
            if answer != "first step":
                return answer
            steps = started(states).legal_actions()
            return [[steps[0], -1, -1, -1]]

    env = make("bg_env/BackgammonCubeless-v0", opponent=Half(), seat=0)
    with pytest.raises(IllegalActionError, match=r"opponent|Half must return a play"):
        play_some(env)


def play_some(env):
    """First legal actions in a few episodes, so that the opponent has something to play."""
    for seed in range(40):
        observation, _ = env.reset(seed=seed)
        env.step(int(np.flatnonzero(observation["action_mask"])[0]))


def started(states):
    return Game.from_states(states, Settings(cube=False))
