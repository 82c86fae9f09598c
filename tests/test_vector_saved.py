"""`VectorEnv.restore`, which accepts all that games can come to and nothing else; and copies, which have games of their own."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from bg_env.envs.aec import BackgammonEnv
from bg_env.envs.recording import BatchRecorder
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv
from bg_env.errors import SettingsError
from bg_env.game import Game
from bg_env.rules import check_state, illegal_reason

SMALL = {"variant": "hypergammon"}
CASES = [
    {},
    {"opponent": "pubeval", "match_length": 3},
    SMALL | {"opponent": None, "match_length": 5},
    {"variant": "acey_deucey", "opponent": None},
    {"variant": "acey_deucey", "cube": True, "jacoby": True, "beavers": 2, "auto_doubles": 3},
    SMALL | {"opponent": None, "jacoby": True, "beavers": 3, "auto_doubles": 2, "cube_cap": 8},
    SMALL | {"match_length": 4, "reward": "mwc"},
    SMALL | {"opponent": None, "match_length": 3, "reward": "match", "max_turns": 12},
    SMALL | {"reward": "normalized", "max_episode_steps": 7},
    SMALL | {"match_length": 2, "max_turns": 5, "reward": "win"},
    SMALL | {"seat": 1, "match_length": 3, "allow_dead_cube": False},
]
MODES = ("next_step", "same_step", "disabled")


def played(env, steps, seed, every=9):
    """Saves of a batch on its way, illegal actions and resets included."""
    rng, saves = np.random.default_rng(seed), []
    env.reset(seed=seed)
    for k in range(steps):
        actions = env.sample(rng)
        if k % every == 4:
            actions[k % env.num_envs] = env.single_action_space.n - 1
        env.step(actions)
        saves.append(env.save())
        over = env.games.slots["over"] == 1
        if env.autoreset_mode.value == "Disabled" and over.any():
            env.reset(options={"reset_mask": over})
    return saves


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", CASES)
def test_whatever_was_saved_is_restored(options, mode):
    env = VectorEnv(6, autoreset_mode=mode, **options)
    for saved in played(env, 40, seed=3):
        env.restore(saved)
        assert (env.states == saved["states"]).all()
        assert (env.games.slots == saved["slots"]).all()


def test_a_game_set_up_from_outside_is_restored():
    env = VectorEnv(2, opponent=None, max_turns=3)
    games = [
        Game.from_xgid("XGID=-b----E-C---eE---c-e----B-:1:-1:1:00:0:0:0:0:6"),
        Game.from_position(Game().position, dice=(2, 1)),
    ]
    for game in games:
        env.reset(options={"game": game})
        env.restore(env.save())


def changed(saved, rng):
    """One to three fields of one game each made something else, or checkers set elsewhere."""
    out = dict(saved)
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        part = str(rng.choice(["states", "states", "slots"]))
        out[part] = out[part].copy()
        i, name = int(rng.integers(len(out[part]))), str(rng.choice(out[part].dtype.names))
        if name == "points":
            side = out[part][name][i, rng.integers(2)]
            start, stop = rng.choice(np.flatnonzero(side)), rng.integers(26)
            moved = rng.integers(1, side[start] + 1)
            side[start] -= moved
            side[stop] += moved
            continue
        kind, shape = out[part].dtype[name].base, out[part].dtype[name].shape
        place = (i, *(int(rng.integers(n)) for n in shape))
        old = out[part][name][place]
        if kind.kind == "f":
            out[part][name][place] = rng.choice([old + 1, -old, 0.5, 1e300, np.inf])
        else:
            info = np.iinfo(kind)
            new = [
                int(old) + 1,
                int(old) - 1,
                int(rng.integers(-1, 8)),
                info.max,
                info.min,
                int(old) ^ 2 ** int(rng.integers(7)),
            ]
            out[part][name][place] = max(min(new[int(rng.integers(6))], info.max), info.min)
    return out


def check_games(env, deep):
    """Check what the rules demand of every game."""
    settings, masks, states = env.settings, env.action_masks(), env.states.copy()
    assert (states["points"].sum(axis=2) == settings.variant.checkers).all()
    assert states["points"].min() >= 0
    for i in np.flatnonzero(env.games.slots["over"] == 0).tolist():
        check_state(states, i, settings)
        assert masks[i].any()
        if deep:
            legal = [illegal_reason(states, i, settings.record(), action) == 0 for action in range(masks.shape[1])]
            assert masks[i].tolist() == legal


@pytest.mark.parametrize("mode", MODES)
def test_what_was_changed_is_refused_or_leads_to_possible_games_only(mode):
    rng, accepted, refused = np.random.default_rng(1), 0, 0
    for k, options in enumerate(CASES):
        env = VectorEnv(3, autoreset_mode=mode, **options)
        saves = played(env, 30, seed=k)
        for m in range(25):
            try:
                env.restore(changed(saves[int(rng.integers(len(saves)))], rng))
            except SettingsError as error:
                assert "\n" not in str(error)  # noqa: PT017 - it need not be raised
                refused += 1
                continue
            accepted += 1
            check_games(env, deep=m % 5 == 0)
            for _ in range(12):
                over = env.games.slots["over"] == 1
                if mode == "disabled" and over.any():
                    env.reset(options={"reset_mask": over})
                _, rewards, *_ = env.step(env.sample(rng))
                assert (np.abs(rewards) <= 3 * env.games.options.reward.most(env.settings)).all()  # of a few games of a match
                check_games(env, deep=False)
                env.restore(env.save())
    assert refused > 100
    assert accepted > 20


FIELDS = [
    ("states", "key", 5, "key"),
    ("states", "chain", 1, "chain of turns of the cube"),
    ("states", "stage", 2, "stage of the 1-2 bonus"),
    ("states", "crawford", 1, "Crawford game"),
    ("states", "ending", 1, "ending"),
    ("states", "won", 2, "result"),
    ("states", "winner", 1, "result"),
    ("states", "owner", 2, "owner"),
    ("states", "filler", 1, "filler"),
    ("states", "turns", 2**31 - 1, "turns"),
    ("slots", "over", 1, "over"),
    ("slots", "length", -1, "length"),
    ("slots", "actor", 1, "actor"),
    ("slots", "fresh", 1, "mark of a new episode"),
    ("slots", "starter", 0, "starter"),
    ("slots", "total", 1.0, "reward"),
    ("slots", "gain", -1.0, "reward"),
]


@pytest.mark.parametrize(("part", "field", "value", "said"), FIELDS)
def test_a_field_that_contradicts_the_others_is_named(part, field, value, said):
    env = VectorEnv(3, seat=0, cube=False)
    saved = played(env, 3, seed=2)[-1]
    wrong = saved[part].copy()
    wrong[field][1] = value
    with pytest.raises(SettingsError, match=f"has a wrong {said} in game 1: give the return value of save"):
        env.restore(saved | {part: wrong})
    env.restore(saved)


def test_the_autoreset_mode_is_saved():
    for one in MODES:
        saved = played(VectorEnv(2, autoreset_mode=one), 2, seed=1)[-1]
        for other in MODES:
            env = VectorEnv(2, autoreset_mode=other)
            if one == other or "autoreset_mode" not in saved:
                env.restore(saved)
            else:
                with pytest.raises(SettingsError, match="autoreset_mode"):
                    env.restore(saved)
    env.restore({name: value for name, value in saved.items() if name != "autoreset_mode"})  # as version 0.1 saved it


def function(seen):
    return seen["action_mask"].argmax(1)


def state_of(env):
    return env.games.states if hasattr(env, "games") else env.env.games.states if hasattr(env, "env") else env._episode.states


@pytest.mark.parametrize(
    "make",
    [
        SingleEnv,
        lambda: SingleEnv(opponent=function),
        BackgammonEnv,
        lambda: VectorEnv(3, num_threads=2),
        lambda: VectorEnv(3, opponent=function),
        lambda: BatchRecorder(VectorEnv(3)),
    ],
)
def test_a_copy_has_games_of_its_own(make):
    def step(env):
        if isinstance(env, BackgammonEnv):
            env.step(env.game.legal_actions()[0])
        else:
            masks = getattr(env, "env", env).action_masks()
            env.step(int(masks.argmax()) if masks.ndim == 1 else masks.argmax(1))

    env = make()
    env.reset(seed=4)
    twin = copy.copy(env)
    assert type(twin) is type(env)
    before = state_of(env).copy()
    step(env)
    after = state_of(env).copy()
    assert (after != before).any()
    assert (state_of(twin) == before).all()
    step(twin)
    assert (state_of(twin) == after).all()
    games, others = ((one.games if isinstance(one, VectorEnv) else one) for one in (env, twin))
    if isinstance(env, VectorEnv):
        assert games.opponent is others.opponent  # which may be large
        assert not np.shares_memory(copy.copy(games).states, games.states)
