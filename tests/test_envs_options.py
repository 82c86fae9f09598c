"""The options of the constructors and of `reset`: what they do, what they refuse, and that a refusal changes nothing."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import typing

import gymnasium
import numpy as np
import pytest
from env_cases import AGENTS, MODULES, first_legal, play, same, seldom_cube
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode

from bg_env import (
    BgEnvError,
    Game,
    IllegalActionError,
    NotationError,
    Phase,
    Position,
    PositionError,
    Settings,
    SettingsError,
    Variant,
    arena,
    backgammon_v0,
    hypergammon_v0,
)
from bg_env.actions import BEAVER, DOUBLE, DROP, FIRST_NAMED, ROLL, TAKE, step_action
from bg_env.envs.aec import BackgammonEnv
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv
from bg_env.options import OPTIONS, EnvKeywords, EnvOptions
from bg_env.reset_options import RESET_OPTIONS

START = "XGID=-b----E-C---eE---c-e----B-"
GNUBG_START = "4HPwATDgc/ABMA"


def begun(reset_options=None, seed=1, **given):
    env = BackgammonEnv(**given)
    env.reset(seed=seed, options=reset_options)
    return env


# Constructors


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"variant": "chess"}, "no variant is called 'chess'"),
        ({"variant": 3}, "a variant is a name or a bg_env.Variant"),
        ({"observation": "pixels"}, "no observation is called 'pixels'"),
        ({"observation": "openspiel", "variant": "hypergammon"}, "standard backgammon"),
        ({"reward": "fame"}, "no reward is called 'fame'"),
        ({"reward": "match"}, "match_length"),
        ({"reward": "normalized", "cube_cap": None}, "cube_cap"),
        ({"mask": "none"}, "mask is one of 'both', 'observation', 'info'"),
        ({"mask": None}, "mask is one of"),
        ({"illegal": "ignore"}, "illegal is one of 'terminate', 'raise'"),
        ({"render_mode": "3d"}, "render_mode is one of None, 'ansi'"),
        ({"cube": 1}, "cube is True or False"),
        ({"cube_cap": 63}, "power of two"),
        ({"cube_cap": 65536}, "cube_cap"),
        ({"match_length": -1}, "match_length"),
        ({"match_length": 2.0}, "match_length"),
        ({"match_length": 5, "jacoby": True}, "jacoby belongs to money play"),
        ({"match_length": 5, "beavers": 1}, "beavers belongs to money play"),
        ({"match_length": 5, "auto_doubles": 1}, "auto_doubles belongs to money play"),
        ({"cube": False, "beavers": 1}, "needs the cube"),
        ({"cube": False, "auto_doubles": 1}, "needs the cube"),
        ({"variant": "acey_deucey", "beavers": 1}, "needs the cube"),
        ({"max_turns": 0}, "max_turns"),
        ({"max_turns": True}, "max_turns"),
        ({"crawford": "yes"}, "crawford is True or False"),
        ({"allow_dead_cube": None}, "allow_dead_cube is True or False"),
    ],
)
@pytest.mark.parametrize("kind", ["aec", "single"])
def test_arguments_that_cannot_stand_are_refused(given, words, kind):
    with pytest.raises(SettingsError, match=words):
        backgammon_v0.env(**given) if kind == "aec" else SingleEnv(**given)


@pytest.mark.parametrize("name", MODULES)
def test_an_unknown_argument_is_refused(name):
    for make in (MODULES[name].env, MODULES[name].raw_env, SingleEnv, VectorEnv):
        with pytest.raises(SettingsError, match=r"got an unexpected keyword argument 'dice': .*takes .*match_length") as caught:
            make(dice=2)
        assert isinstance(caught.value, TypeError)
        with pytest.raises(TypeError, match="unexpected keyword argument 'match_lenght': did you mean match_length"):
            make(match_lenght=2)
    with pytest.raises(SettingsError, match="unexpected keyword argument 'colour' and an unexpected keyword argument 'dice'"):
        gymnasium.make("bg_env/Backgammon-v0", dice=2, colour="red")


@pytest.mark.parametrize("owner", [BackgammonEnv, SingleEnv, VectorEnv, Settings, Variant])
def test_signatures_can_still_be_looked_at(owner):
    found = inspect.signature(owner).parameters
    assert len(found) > 5
    assert not [name for name, one in found.items() if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
    assert typing.get_type_hints(owner.__init__)["cube"]


# Settings as one value

SHORT = Settings(Variant("short", {24: 2, 6: 3}), match_length=3, allow_dead_cube=True)


@pytest.mark.parametrize("owner", [BackgammonEnv, SingleEnv, VectorEnv])
def test_the_list_of_options_is_one(owner):
    """A constructor shows and documents the fields of Settings and EnvOptions, with the same defaults and types."""
    stakes, shown = inspect.signature(Settings).parameters, inspect.signature(EnvOptions).parameters
    assert [*OPTIONS] == ["variant", "settings", *list(stakes)[1:], *list(shown)[1:]]
    assert set(EnvKeywords.__annotations__) == set(OPTIONS) - {"variant"}
    hints, found = typing.get_type_hints(EnvKeywords), inspect.signature(owner).parameters
    for name, one in ({**stakes, **shown}).items():
        if name in ("variant", "settings"):
            assert found[name].default is None
            continue
        here = typing.get_type_hints((Settings if name in stakes else EnvOptions).__init__)[name]
        assert (found[name].default, found[name].annotation, hints[name]) == (one.default, here, here)
        assert re.search(rf"^        {name}: \S", owner.__doc__, re.MULTILINE), f"{name} is not in the docstring"
    assert "**options" not in owner.__doc__


@pytest.mark.parametrize(
    "given", [SHORT, str(SHORT), dataclasses.asdict(SHORT), json.loads(json.dumps(dataclasses.asdict(SHORT)))]
)
def test_settings_are_taken_as_one_value_and_changed_by_name(given):
    for env in (
        backgammon_v0.env(settings=given),
        hypergammon_v0.raw_env(settings=given),
        SingleEnv(settings=given),
        VectorEnv(2, settings=given),
        gymnasium.make("bg_env/BackgammonCubeless-v0", settings=given).unwrapped,
        gymnasium.make_vec("bg_env/AceyDeucey-v0", 2, settings=given),
    ):
        assert env.settings == SHORT
    for env in (
        hypergammon_v0.env(settings=given, match_length=5),
        VectorEnv(2, settings=given, match_length=5),
        gymnasium.make("bg_env/BackgammonMatch-v0", settings=given, match_length=5).unwrapped,
    ):
        assert env.settings == SHORT.but(match_length=5)
    assert hypergammon_v0.env("nackgammon", settings=given).settings == SHORT.but(variant="nackgammon")
    assert arena.play("random", "random", games=2, settings=given, max_turns=4).settings == SHORT.but(max_turns=4)


def test_what_an_id_presets_is_changed_by_name_and_replaced_by_settings():
    def made(**given):
        return gymnasium.make("bg_env/BackgammonMatch-v0", **given).unwrapped.settings

    assert made() == Settings(match_length=7)
    assert made(crawford=False) == Settings(match_length=7, crawford=False)
    assert made(variant="acey_deucey") == Settings("acey_deucey", match_length=7), "the variant's own cube"
    assert made(settings={"variant": "hypergammon"}) == Settings("hypergammon")
    assert hypergammon_v0.env(settings=None).settings == Settings("hypergammon")
    assert hypergammon_v0.env(settings={"jacoby": True}).settings == Settings(jacoby=True)


@pytest.mark.parametrize("given", [3, {1: 2}, [SHORT], "chess", "backgammon, colour=3", {"variant": {"name": "own"}}])
def test_what_is_no_settings_is_refused(given):
    for make in (backgammon_v0.env, SingleEnv, VectorEnv):
        with pytest.raises(SettingsError) as caught:
            make(settings=given)
        assert "\n" not in str(caught.value)
    with pytest.raises(SettingsError, match="unexpected keyword argument 'colour'"):
        SingleEnv(settings={"colour": 3})


@pytest.mark.parametrize(
    "given",
    [{"settings": SHORT}, {"variant": SHORT.variant, "match_length": 3}, {"settings": Settings("nackgammon"), "jacoby": True}],
    ids=str,
)
def test_settings_and_variants_come_back_from_a_specs_json(given):
    env = gymnasium.make("bg_env/Backgammon-v0", **given)
    spec = EnvSpec.from_json(env.spec.to_json())
    again = gymnasium.make(spec)
    assert again.unwrapped.settings == env.unwrapped.settings
    assert gymnasium.make_vec(spec, 2).settings == env.unwrapped.settings


def test_a_spec_with_numpys_numbers_is_json():
    given = {"match_length": np.int64(3), "cube": np.bool_(True), "seat": np.int8(1), "settings": {"max_turns": np.int32(50)}}
    env = gymnasium.make("bg_env/Backgammon-v0", **given)
    again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.unwrapped.settings == env.unwrapped.settings == Settings(match_length=3, max_turns=50)
    envs = gymnasium.make_vec("bg_env/Backgammon-v0", np.int64(2), autoreset_mode=AutoresetMode.SAME_STEP, **given)
    spec = EnvSpec.from_json(envs.spec.to_json())
    twin = gymnasium.make_vec(spec, **{name: spec.kwargs.pop(name) for name in ("num_envs", "vectorization_mode")})
    assert (twin.num_envs, twin.settings, twin.autoreset_mode) == (2, envs.settings, AutoresetMode.SAME_STEP)


def test_the_old_name_of_the_dead_cube_is_accepted_with_a_warning():
    wanted = Settings(match_length=3, allow_dead_cube=True)
    for make in (
        Settings,
        Settings(match_length=3).but,
        lambda **given: Game.new(**given).settings,
        lambda **given: backgammon_v0.env(**given).settings,
        lambda **given: SingleEnv(**given).settings,
        lambda **given: VectorEnv(**given).settings,
        lambda **given: gymnasium.make("bg_env/Backgammon-v0", **given).unwrapped.settings,
        lambda **given: gymnasium.make_vec("bg_env/Backgammon-v0", **given).settings,
        lambda **given: arena.play("random", "random", games=2, **given).settings,
    ):
        with pytest.warns(DeprecationWarning, match=r"dead_cube=False is now allow_dead_cube=True.* version 0\.3"):
            assert make(match_length=3, dead_cube=False) == wanted
        with pytest.warns(DeprecationWarning, match="dead_cube=True is now allow_dead_cube=False"):
            assert make(match_length=3, dead_cube=True) == Settings(match_length=3)
        with pytest.raises(SettingsError, match="give allow_dead_cube alone"):
            make(match_length=3, dead_cube=True, allow_dead_cube=True)
    with pytest.warns(DeprecationWarning, match="is now Settings.allow_dead_cube") as caught:
        assert wanted.dead_cube is False
    assert caught[0].filename == __file__
    with pytest.raises(SettingsError, match="dead_cube is True or False"):
        SingleEnv(dead_cube=None)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("variant", "a variant is a name or a bg_env.Variant"),
        ("observation", "no observation is called"),
        ("reward", "no reward is called"),
        ("mask", "mask is one of"),
        ("illegal", "illegal is one of"),
        ("render_mode", "render_mode is one of"),
        ("autoreset_mode", "autoreset_mode is next_step, same_step or disabled"),
    ],
)
@pytest.mark.parametrize("value", [[], {}, np.array(["a", "b"]), 3])
def test_what_is_no_name_is_refused(name, words, value):
    with pytest.raises(SettingsError, match=words):
        VectorEnv(**{name: value})


def test_long_values_are_cut():
    for given in (
        {"variant": "x" * 10**5},
        {"observation": "x" * 10**5},
        {"match_length": 10**5000},
        {"opponent": [1] * 10**5},
    ):
        with pytest.raises(SettingsError) as caught:
            SingleEnv(**given)
        assert len(str(caught.value)) < 300
        assert "\n" not in str(caught.value)
    with pytest.raises(SettingsError, match=r"not array\(\[\[0\., 0\.\], \[0\., 0\.\]\]\)"):
        Settings(match_length=np.zeros((2, 2)))


def test_the_default_arguments_are_those_of_the_design():
    env = backgammon_v0.env()
    assert env.settings == Settings(
        "backgammon",
        cube=True,
        match_length=0,
        crawford=True,
        allow_dead_cube=False,
        cube_cap=64,
        jacoby=False,
        beavers=0,
        auto_doubles=0,
        max_turns=None,
    )
    assert (env._episode.options.encoder.name, env._episode.options.mask, env._episode.options.illegal) == (
        "tesauro",
        "both",
        "terminate",
    )
    assert {name: module.env().settings.cube for name, module in MODULES.items()} == {
        "backgammon_v0": True,
        "nackgammon_v0": True,
        "acey_deucey_v0": False,
        "hypergammon_v0": True,
        "longgammon_v0": True,
    }


@pytest.mark.parametrize("variant", ["nackgammon_ballard", "mine(24:3 6:2)", Variant("mine", {24: 3, 6: 2}), "acey_deucey"])
def test_a_module_plays_any_variant_that_is_asked_for(variant):
    env = backgammon_v0.env(variant=variant)
    env.reset(seed=1)
    assert env.settings == Settings(variant)
    assert env.metadata["name"] == "backgammon_v0"
    assert play(env, seldom_cube(1))[-1][3]


# A reset's position and game


@pytest.mark.parametrize(
    "position",
    [
        f"{START}:0:0:1:31:0:0:0:0:10",
        f"{START}:1:-1:-1:00:0:0:0:0:10",
        f"{START}:0:0:1:D:0:0:0:0:10",
        "XGID=aB--CBA-B---cB-------bgb--:0:0:1:41:0:0:0:0:10",
    ],
)
def test_a_position_by_xgid(position):
    env = begun({"position": position})
    game = Game.from_xgid(position)
    assert env.game.position == game.position
    for name in ("cube", "cube_owner", "score", "crawford"):
        assert getattr(env.game, name) == getattr(game, name)
    assert env.agent_selection == AGENTS[game.player]
    if game.phase != Phase.ROLL:
        assert env.game.phase == game.phase
        assert env.game.dice == game.dice
        assert env.game.legal_actions() == game.legal_actions()


def test_a_position_by_xgid_in_a_match():
    position = f"{START}:1:1:1:00:2:4:0:7:10"
    env = begun({"position": position}, match_length=7)
    assert env.game.score == (4, 2)
    assert (env.game.cube, env.game.cube_owner, env.game.player) == (2, 1, 1)
    assert env.game.legal_actions() == [ROLL, DOUBLE]


@pytest.mark.parametrize("starter", [None, 0, 1])
def test_a_position_by_gnubg_id_is_seen_by_player_0_or_the_starter(starter):
    text = Position.from_id("4HPwATDgc/ABMA").legal_plays(3, 1)[0].result.id
    options = {"position": text} | ({} if starter is None else {"starter": starter})
    env = begun(options)
    assert env.game.player == (starter or 0)
    assert env.game.position.id == text
    assert env.game.phase == Phase.ROLL_OR_DOUBLE, "a position set up by hand is not a first turn (R8.2)"
    cubeless = begun(options, cube=False)
    assert cubeless.game.phase == Phase.CHECKER


def test_a_position_by_gnubg_id_with_its_match_id():
    game = Game.from_xgid(f"{START}:1:1:1:52:2:4:0:7:10")
    env = begun({"position": f"{game.position_id}:{game.match_id}"}, match_length=7)
    assert env.game.score == (4, 2)
    assert (env.game.cube, env.game.cube_owner, env.game.player, env.game.dice) == (2, 1, 1, (5, 2))


def test_a_position_of_another_variant():
    game = Game.new("hypergammon", seed=1)
    env = hypergammon_v0.env()
    env.reset(options={"position": game.position_id})
    assert env.game.position == game.position
    with pytest.raises(NotationError):
        env.reset(options={"position": GNUBG_START})


def test_a_position_whose_roll_cannot_be_played_passes_at_once():
    env = begun({"position": f"XGID=aBBBBBBC{'-' * 16}n-:0:0:-1:33:0:0:0:0:10"})
    assert env.agent_selection == "player_1"
    assert env.infos["player_1"]["turns"] == 2


def test_a_game_as_it_stands():
    """A roll that is partly played, a double of the 1-2 bonus, an answer: whatever no id can say."""
    for seed in range(8):
        game = Game.new("acey_deucey", seed=seed, cube=True, beavers=1)
        choose = seldom_cube(seed, 0.3)
        env = MODULES["acey_deucey_v0"].env(cube=True, beavers=1)
        for _ in range(60):
            env.reset(seed=9, options={"game": game})
            assert env.game.position == game.position
            for name in ("phase", "player", "dice", "cube", "cube_owner", "score"):
                assert getattr(env.game, name) == getattr(game, name)
            assert env.game.legal_actions() == game.legal_actions()
            mask = np.zeros(161)
            mask[game.legal_actions()] = 1
            game.apply(choose(mask))
            if game.phase == Phase.OVER:
                break


def test_a_game_is_copied_and_its_dice_stay_its_own():
    game = Game.new(seed=3)
    before = game.copy(seed=1), game.states.tobytes()
    env = begun({"game": game})
    play(env, first_legal)
    assert game.states.tobytes() == before[1]
    rolls = []
    for seed in (1, 2):
        env.reset(seed=seed, options={"game": game})
        while not any(env.terminations.values()):
            env.step(env.game.legal_actions()[0])
            rolls.append((seed, env.game.dice))
    assert [dice for seed, dice in rolls if seed == 1] != [dice for seed, dice in rolls if seed == 2]


def test_a_game_without_a_seed_waits_for_the_environments_dice():
    env = begun({"game": Game.new()})
    assert env.game.phase == Phase.CHECKER
    env = begun({"game": Game.new(), "dice": [(2, 5)]})
    assert (env.game.player, env.game.dice) == (1, (5, 2))


def test_a_game_counts_its_turns_for_nobody_else():
    game = Game.new(seed=1, max_turns=5)
    env = begun({"game": game}, max_turns=9)
    assert env.infos["player_0"]["turns"] == 1


# A reset's dice and starter


def test_dice_are_the_next_rolls_the_first_pair_player_0s_and_player_1s():
    env = begun({"dice": [(3, 1), (6, 5), (2, 2)]}, cube=False)
    seen = []
    for _ in range(3):
        seen.append((env.agent_selection, env.game.dice))
        agent = env.agent_selection
        while env.agent_selection == agent:
            env.step(first_legal(env.observe(agent)["action_mask"]))
    assert seen == [("player_0", (3, 1)), ("player_1", (6, 5)), ("player_0", (2, 2, 2, 2))]
    env = begun({"dice": [(1, 3)]})
    assert (env.agent_selection, env.game.dice) == ("player_1", (3, 1))


def test_after_the_given_dice_the_stream_goes_on():
    rolls = set()
    for seed in range(5):
        env = begun({"dice": [(3, 1), (6, 5)]}, seed=seed, cube=False)
        again = begun({"dice": [(3, 1), (6, 5)]}, seed=seed, cube=False)
        seen = play(env, first_legal)
        assert same(play(again, first_legal), seen)
        rolls.add(str([turn[5]["turns"] for turn in seen]))
    assert len(rolls) == 5


def test_given_dice_are_kept_for_the_roll_after_a_double():
    env = begun({"position": f"{START}:0:0:1:00:0:0:0:0:10", "dice": [(6, 6)]})
    assert env.game.phase == Phase.ROLL_OR_DOUBLE
    env.step(DOUBLE)
    env.step(TAKE)
    assert env.game.dice == (6, 6, 6, 6)
    assert env.agent_selection == "player_1"


def test_the_winner_of_the_throw_rolls_two_fresh_dice_where_the_variant_says_so():
    env = begun({"dice": [(3, 1), (1, 2), (6, 5)]}, variant="acey_deucey")
    assert (env.agent_selection, env.game.dice) == ("player_0", (2, 1))
    for action in (step_action(25, 1), step_action(25, 2), FIRST_NAMED + 5, *[step_action(25, 6)] * 4):
        assert env.agent_selection == "player_0"
        env.step(action)
    assert (env.agent_selection, env.game.dice) == ("player_0", (6, 5)), "the extra roll is one of the given dice too"


def test_automatic_doubles_by_given_dice():
    env = begun({"dice": [(4, 4), (2, 2), (6, 1)]}, auto_doubles=2)
    assert (env.game.cube, env.game.cube_owner, env.game.dice, env.agent_selection) == (4, None, (6, 1), "player_0")
    env = begun({"dice": [(4, 4), (1, 6)]}, auto_doubles=3)
    assert (env.game.cube, env.game.dice, env.agent_selection) == (2, (6, 1), "player_1")
    with pytest.raises(BgEnvError, match="4-4 is a tie"):
        begun({"dice": [(2, 2), (3, 3), (4, 4), (6, 1)]}, auto_doubles=2)
    with pytest.raises(BgEnvError, match="2-2 is a tie"):
        begun({"dice": [(2, 2), (2, 1)]}, auto_doubles=2, cube_cap=1)


@pytest.mark.parametrize("starter", [0, 1])
@pytest.mark.parametrize("variant", ["backgammon", "acey_deucey"])
def test_the_starter(starter, variant):
    for seed in range(12):
        env = begun({"starter": starter}, seed=seed, variant=variant)
        assert env.agent_selection == AGENTS[starter]
        if variant == "backgammon":
            assert env.game.dice[0] > env.game.dice[1]
    env = begun({"starter": starter, "dice": [(5, 2) if starter == 0 else (2, 5)]})
    assert env.game.dice == (5, 2)


def test_the_starter_starts_the_first_game_only():
    env = begun({"starter": 1}, variant="hypergammon", match_length=15, seed=8)
    starts, games = [], 0
    while not any(env.terminations.values()):
        env.step(env.game.legal_actions()[0])
        now = int(env._episode.states[0]["games"])
        if now != games:
            games = now
            starts.append(env.agent_selection)
    assert "player_0" in starts


def test_a_starter_and_ties_that_double():
    for seed in range(30):
        env = begun({"starter": 0}, seed=seed, auto_doubles=5)
        assert env.agent_selection == "player_0"
        env = begun({"starter": 1, "dice": [(3, 3)]}, seed=seed, auto_doubles=5)
        assert env.agent_selection == "player_1"
        assert env.game.cube >= 2


def test_dice_given_for_later_games_of_a_match():
    """A tie among them cannot be the opening throw of a later game: it is thrown again (R2.1), the next pair decides."""
    options = {"position": f"XGID=-A{'-' * 22}o-:0:0:1:61:0:0:0:5:10", "dice": [(4, 4), (2, 6)]}
    env = begun(options, match_length=5)
    env.step(env.game.legal_actions()[0])
    assert env.game.score == (0, 2)
    assert (env.agent_selection, env.game.dice) == ("player_1", (6, 2))


# A reset's score and Crawford game


@pytest.mark.parametrize(
    ("score", "crawford", "want"),
    [
        ((0, 0), None, False),
        ((6, 2), None, True),
        ((2, 6), None, True),
        ((6, 6), None, False),
        ((6, 2), False, False),
        ((6, 2), True, True),
        ((3, 4), None, False),
        ((3, 4), False, False),
        ((5, 4), False, False),
    ],
)
def test_the_score_and_the_crawford_game(score, crawford, want):
    options = {"score": score} | ({} if crawford is None else {"crawford": crawford})
    env = begun(options, match_length=7)
    assert env.game.score == score
    assert env.game.crawford is want
    bare = begun({**options, "position": GNUBG_START}, match_length=7)
    assert bare.game.score == score
    assert bare.game.crawford is want
    assert bare.game.phase == (Phase.CHECKER if want or score[0] == 6 else Phase.ROLL_OR_DOUBLE)


def test_no_game_is_crawford_where_there_is_no_such_game():
    assert not begun({"score": (6, 2)}, match_length=7, cube=False).game.crawford
    assert not begun({"score": (6, 2)}, match_length=7, crawford=False).game.crawford
    assert not begun({"score": (0, 0)}, match_length=1).game.crawford


@pytest.mark.parametrize("score", [[2, 4], np.array([2, 4]), (np.int64(2), 4)])
def test_a_score_is_a_pair(score):
    assert begun({"score": score}, match_length=7).game.score == (2, 4)


# What a reset refuses

REFUSED = [
    ({}, {"seat": 1}, SettingsError, "no reset option is called 'seat'"),
    ({}, {"Dice": [(3, 1)]}, SettingsError, "no reset option is called 'Dice'"),
    ({}, {"options": 1, "board": 2}, SettingsError, "'board'"),
    ({}, {5: 1}, SettingsError, "'5'"),
    ({}, [("dice", 1)], SettingsError, "options is a dict"),
    ({}, "position", SettingsError, "options is a dict"),
    ({}, 5, SettingsError, "options is a dict, not 5"),
    ({}, [], SettingsError, "options is a dict"),
    ({}, {"position": GNUBG_START, "game": Game.new()}, SettingsError, "position and game"),
    ({}, {"position": 3}, SettingsError, "option position is an XGID.*as text, not int"),
    ({}, {"position": ""}, NotationError, "position id|id of a position"),
    ({}, {"position": "nonsense"}, NotationError, "position id|id of a position"),
    ({}, {"position": "XGID=nonsense"}, NotationError, "XGID"),
    ({}, {"position": GNUBG_START + ":nonsense"}, NotationError, "match id"),
    ({}, {"position": f"{START}:0:0:1:31:0:0:0:7:10"}, NotationError, "match_length=7"),
    ({}, {"position": f"{START}:0:0:1:31:0:0:1:0:10"}, NotationError, "jacoby=True"),
    ({"cube": False}, {"position": f"{START}:1:1:1:31:0:0:0:0:10"}, BgEnvError, "cube"),
    ({"cube_cap": 2}, {"position": f"{START}:2:1:1:31:0:0:0:0:10"}, BgEnvError, "cube at 4"),
    ({}, {"position": f"{START}:0:0:1:B:0:0:0:0:10"}, BgEnvError, "beaver"),
    ({}, {"position": f"XGID=-{'-' * 23}o-:0:0:1:00:0:0:0:0:10"}, SettingsError, "over"),
    ({}, {"game": "4HPwATDgc/ABMA"}, SettingsError, "game is a bg_env.Game, not str"),
    ({}, {"game": Game.new("hypergammon")}, SettingsError, "other settings"),
    ({}, {"game": Game.new(cube=False)}, SettingsError, "other settings"),
    ({}, {"game": Game.new(match_length=7)}, SettingsError, "other settings"),
    ({}, {"dice": 3}, SettingsError, "list of pairs"),
    ({}, {"dice": "31"}, SettingsError, "list of pairs"),
    ({}, {"dice": [3, 1]}, SettingsError, "list of pairs"),
    ({}, {"dice": [(3, 1, 2)]}, SettingsError, "list of pairs"),
    ({}, {"dice": [(3, 0)]}, IllegalActionError, "1 to 6, not 0"),
    ({}, {"dice": [(3, 1), (7, 1)]}, IllegalActionError, "1 to 6, not 7"),
    ({}, {"dice": [(3.0, 1)]}, IllegalActionError, "1 to 6"),
    ({}, {"dice": [(True, 2)]}, IllegalActionError, "1 to 6"),
    ({}, {"dice": [(3, 3)]}, SettingsError, "R2.1"),
    ({}, {"starter": 2}, SettingsError, "starter is 0 or 1"),
    ({}, {"starter": True}, SettingsError, "starter is 0 or 1"),
    ({}, {"starter": "0"}, SettingsError, "starter is 0 or 1"),
    ({}, {"starter": 1.0}, SettingsError, "starter is 0 or 1"),
    ({}, {"starter": 1, "dice": [(3, 1)]}, SettingsError, "player 0 starts"),
    ({}, {"starter": 0, "position": f"{START}:0:0:1:00:0:0:0:0:10"}, SettingsError, "player 1 is on roll"),
    ({}, {"score": (1, 2)}, SettingsError, "score belongs to a match"),
    ({}, {"crawford": False}, SettingsError, "crawford belongs to a match"),
    ({"match_length": 5}, {"score": 3}, SettingsError, "score is a pair"),
    ({"match_length": 5}, {"score": (1, 2, 3)}, SettingsError, "score is a pair"),
    ({"match_length": 5}, {"score": (1.0, 2)}, SettingsError, "score is a pair"),
    ({"match_length": 5}, {"score": (-1, 2)}, SettingsError, "score is a pair"),
    ({"match_length": 5}, {"score": (5, 2)}, PositionError, "ends a match to 5"),
    ({"match_length": 5}, {"score": (2**31, 0)}, PositionError, "ends a match to 5"),
    ({"match_length": 5}, {"score": (0, 10**5000)}, PositionError, "ends a match to 5"),
    ({"match_length": 5}, {"score": np.array(3)}, SettingsError, "score is a pair"),
    ({"match_length": 5}, {"score": np.zeros((2, 2), int)}, SettingsError, "score is a pair"),
    ({"match_length": 5}, {"score": [[1], 2]}, SettingsError, "score is a pair"),
    ({"match_length": 5}, {"crawford": 1}, SettingsError, "crawford is True or False"),
    ({"match_length": 5}, {"crawford": True}, PositionError, "R9.2"),
    ({"match_length": 5}, {"crawford": True, "score": (2, 2)}, PositionError, "R9.2"),
    ({"match_length": 5}, {"crawford": True, "score": (4, 4)}, PositionError, "R9.2"),
    ({"match_length": 5, "crawford": False}, {"crawford": True, "score": (4, 2)}, PositionError, "R9.2"),
    ({"match_length": 5, "cube": False}, {"crawford": True, "score": (4, 2)}, PositionError, "R9.2"),
    ({"match_length": 5}, {"score": (1, 2), "position": f"{START}:0:0:1:31:0:0:0:5:10"}, SettingsError, "contradicts"),
    ({"match_length": 5}, {"crawford": True, "position": f"{START}:0:0:1:31:0:4:0:5:10"}, SettingsError, "contradicts"),
    ({"match_length": 5}, {"score": (1, 2), "game": Game.new(match_length=5)}, SettingsError, "contradicts"),
]  # fmt: skip


def shown(env):
    """All that an environment of one game shows, and where its random stream stands."""
    episode = env._episode
    masks = [episode.mask(seat).tobytes() for seat in (0, 1)]
    return episode.states.tobytes(), episode.slots.tobytes(), episode.player, episode.infos(), masks


@pytest.mark.parametrize(("given", "options", "error", "words"), REFUSED)
@pytest.mark.parametrize("kind", ["aec", "single"])
def test_options_that_cannot_stand_are_refused_and_leave_the_episode_as_it_was(given, options, error, words, kind):
    if kind == "aec":
        env = backgammon_v0.env(**given)
        env.reset(seed=6)
        env.step(first_legal(env.observe(env.agent_selection)["action_mask"]))
        twin = backgammon_v0.env(**given)
        twin.reset(seed=6)
    else:
        env = gymnasium.make("bg_env/Backgammon-v0", **given).unwrapped
        env.reset(seed=6)
        env.step(first_legal(env.action_masks()))
        twin = gymnasium.make("bg_env/Backgammon-v0", **given).unwrapped
        twin.reset(seed=6)
    before = shown(env)
    for seed in (None, 99):
        with pytest.raises(error, match=words):
            env.reset(seed=seed, options=options)
        assert shown(env) == before
    for each in (env, twin):
        each.reset()
    assert env._episode.states.tobytes() == twin._episode.states.tobytes(), "the next episode is the one that was due"


def test_every_error_says_it_in_one_line():
    for given, options, error, _ in REFUSED:
        env = backgammon_v0.env(**given)
        with pytest.raises(error) as caught:
            env.reset(options=options)
        text = str(caught.value)
        assert "\n" not in text
        assert 20 < len(text) < 250, text


@pytest.mark.parametrize("options", [None, {}, {"options": 1}, dict.fromkeys(RESET_OPTIONS), {"dice": []}, {"dice": ()}])
def test_options_that_say_nothing(options):
    env, twin = backgammon_v0.env(), backgammon_v0.env()
    env.reset(seed=5, options=options)
    twin.reset(seed=5)
    assert env._episode.states.tobytes() == twin._episode.states.tobytes()


def test_options_are_read_not_kept():
    dice = [(3, 1), (6, 5)]
    options = {"dice": dice}
    env = begun(options, cube=False)
    dice.append((1, 1))
    dice[1] = (2, 2)
    while env.agent_selection == "player_0":
        env.step(env.game.legal_actions()[0])
    assert env.game.dice == (6, 5)
    assert options == {"dice": dice}


def test_options_hold_for_one_episode():
    env = begun({"dice": [(3, 1)], "starter": 0, "score": (3, 4), "crawford": False}, match_length=5)
    env.reset()
    assert env.game.score == (0, 0)
    other = begun(None, match_length=5)
    other.reset()
    assert env._episode.states.tobytes() == other._episode.states.tobytes()


# Variants of a user's own

OWN = [
    Variant("last-checkers", {1: 1}),
    Variant("one", {24: 1}),
    Variant("fresh", {24: 2, 6: 3}, fresh_first_roll=True),
    Variant("bonus", {25: 2, 6: 1}, acey_deucey=True, cube=False),
    Variant("crowd", {24: 5, 13: 5, 6: 5}, cube=False),
]


@pytest.mark.parametrize("variant", OWN, ids=str)
@pytest.mark.parametrize("given", [{}, {"match_length": 2}, {"mask": "info", "reward": "win"}], ids=["money", "match", "info"])
def test_a_users_own_variant_in_every_environment(variant, given):
    aec = backgammon_v0.env(variant=variant, **given)
    aec.reset(seed=2)
    seen = play(aec, seldom_cube(1))
    assert seen[-1][3]
    for opponent in ("random", None):
        env = gymnasium.make("bg_env/Backgammon-v0", variant=variant, opponent=opponent, **given).unwrapped
        assert env.settings == aec.settings
        env.reset(seed=2)
        for _ in range(300):
            if env.step(first_legal(env.action_masks()))[2]:
                env.reset()
        assert env.game.settings.variant == variant


def test_beavers_are_in_the_mask_where_the_rules_have_them():
    env = begun({"position": f"{START}:0:0:1:D:0:0:2:0:10"}, beavers=1)
    assert BEAVER in env.game.legal_actions()
    env.step(BEAVER)
    assert BEAVER not in env.game.legal_actions()


def test_a_position_in_which_a_side_has_borne_off_all_is_over_whatever_the_dice():
    env = backgammon_v0.env()
    env.reset(seed=1)
    before = env.game.position
    for dice in ("31", "00"):
        with pytest.raises(SettingsError, match="the game is over"):
            env.reset(options={"position": f"XGID=------------C-------------:0:0:1:{dice}:0:0:0:0:6"})
    assert env.game.position == before


def test_an_episode_from_a_game_tells_nothing_of_games_before_it():
    game = Game.new(match_length=5)
    game.apply_roll(3, 1)
    game.play("8/5 6/5")
    game.apply(DOUBLE)
    game.apply(DROP)
    env = backgammon_v0.env(match_length=5)
    env.reset(seed=1, options={"game": game})
    info = env.infos["player_0"]
    assert (info["points"], info["level"], info["winner"]) == (0, 0, -1)
    with pytest.raises(SettingsError, match="opening throw is still due"):
        env.reset(options={"game": game, "starter": 0})
