"""Records of games that an environment or a Game plays, written and read back as the same games."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import bg_env
from bg_env import Game, backgammon_v0
from bg_env.envs.recording import BatchRecorder
from bg_env.envs.vector import VectorEnv
from bg_env.errors import NotationError, OrderError, SettingsError
from bg_env.records import read_records, replay_files, write_records


def play_out(env, rng, **reset) -> list[tuple[int, int]]:
    """Play an AEC episode with legal actions, doubling now and then; its (player, action) pairs."""
    env.reset(**reset)
    done = []
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        action = bg_env.sample(observation["action_mask"], rng)
        if action == 151 and rng.random() < 0.8:
            action = 150
        done.append((int(agent[-1]), action))
        env.step(action)
    return done


def boards(path) -> list[tuple]:
    """Player and board after everything that happened, game by game, as the file is replayed."""
    (found,) = replay_files([path])
    assert not found.lines
    (replay,) = found.replays
    return [
        (game.number, moment.player, replay.states[moment.index]["points"].tolist())
        for game in replay.games
        for moment in game.moments
        if moment.actions
    ]


@pytest.mark.parametrize("ending", ["mat", "sgf", "jsonl"])
@pytest.mark.parametrize(
    "options", [{"cube": False}, {"match_length": 3}, {"jacoby": True, "beavers": 1}, {"variant": "nackgammon_ballard"}]
)
def test_recorded_games_read_back_to_the_same_events(tmp_path, options: dict, ending: str) -> None:
    env = backgammon_v0.env(**options)
    env.start_recording()
    done = play_out(env, np.random.default_rng(3), seed=5)
    history = env.game.history
    assert [(event.player, event.action) for event in history if event.action is not None] == done
    path = tmp_path / f"game.{ending}"
    env.save_records(path, ("A", "B"))
    (record,) = read_records(path)
    assert record.players == ("A", "B")
    rolls = [entry.dice for game in record.games for entry in game.entries if entry.kind == "roll"]
    assert rolls == [entry.dice for game in env.records[0].games for entry in game.entries if entry.kind == "roll"]
    env.save_records(tmp_path / "plain.jsonl")
    assert boards(path) == boards(tmp_path / "plain.jsonl")
    assert len(boards(path)) > 20


def test_money_games_become_one_session_and_a_render_mode_changes_nothing(tmp_path) -> None:
    plain = backgammon_v0.env(cube=False)
    shown = backgammon_v0.env(cube=False, render_mode="rgb_array")
    for env in (plain, shown):
        env.start_recording()
        for seed in (1, 2, 3):
            play_out(env, np.random.default_rng(seed), seed=seed)
        env.save_records(tmp_path / f"{env.render_mode}.mat")
    assert plain.records == shown.records
    (record,) = read_records(tmp_path / "None.mat")
    assert len(record.games) == 3
    assert (tmp_path / "None.mat").read_text() == (tmp_path / "rgb_array.mat").read_text()
    (found,) = replay_files([tmp_path / "None.mat"])
    assert not found.lines


def test_the_single_environment_records_both_sides(tmp_path) -> None:
    env = gym.make("bg_env/BackgammonMatch-v0", match_length=2).unwrapped
    with pytest.raises(OrderError, match="start_recording"):
        env.save_records(tmp_path / "x.jsonl")
    env.start_recording()
    observation, _ = env.reset(seed=8)
    rng = np.random.default_rng(0)
    over = False
    while not over:
        observation, _, terminated, truncated, _ = env.step(bg_env.sample(observation["action_mask"], rng))
        over = terminated or truncated
    env.save_records(tmp_path / "match.sgf")
    (found,) = replay_files([tmp_path / "match.sgf"])
    assert not found.lines
    assert {event.player for event in env.game.history} == {0, 1}


def test_an_illegal_end_goes_into_json_lines_only(tmp_path) -> None:
    env = backgammon_v0.env()
    env.start_recording()
    env.reset(seed=1)
    env.step(152)
    env.save_records(tmp_path / "a.jsonl")
    assert read_records(tmp_path / "a.jsonl") == list(env.records)
    with pytest.raises(NotationError):
        env.save_records(tmp_path / "a.mat")
    assert not (tmp_path / "a.mat").exists()


def test_a_game_is_recorded_from_where_it_was_made(tmp_path) -> None:
    game = bg_env.Game.new(seed=4, cube=False)
    while game.phase != bg_env.Phase.OVER:
        game.apply(game.legal_actions()[0])
    write_records(tmp_path / "game.mat", [game.record(("Ann", "Bob"))])
    (found,) = replay_files([tmp_path / "game.mat"])
    assert not found.lines
    halfway = bg_env.Game.new(seed=4, cube=False)
    halfway.apply(halfway.legal_actions()[0])
    copied = halfway.copy(seed=9)
    copied.apply(copied.legal_actions()[0])
    assert copied.record() != halfway.record()
    assert copied.history[: len(halfway.history)] == halfway.history


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("opponent", ["random", "pubeval", None])
def test_a_batch_is_recorded_as_its_games_are_one_by_one(mode, opponent) -> None:
    options = {"opponent": opponent, "match_length": 2, "variant": "hypergammon"}
    batch = BatchRecorder(VectorEnv(3, autoreset_mode=mode, **options))
    observations, _ = batch.reset(seed=11)
    rng = np.random.default_rng(2)
    done: list[list[int]] = [[], [], []]
    ended = np.zeros(3, bool)
    while not ended.all():
        actions = bg_env.sample(observations["action_mask"], rng)
        for i in np.flatnonzero(~ended):
            done[i].append(int(actions[i]))
        observations, _, terminated, truncated, _ = batch.step(actions)
        over = terminated | truncated
        if mode == "disabled" and over.any() and not (ended | over).all():
            observations, _ = batch.reset(options={"reset_mask": over})
        ended |= over
    one = gym.make("bg_env/Backgammon-v0", **options).unwrapped
    one.start_recording()
    for i in range(3):
        one.reset(seed=11 + i)
        for action in done[i]:
            one.step(action)
    assert len(one.records) == 3
    assert all(record in batch.records for record in one.records)


@pytest.mark.parametrize("illegal", ["terminate", "raise"])
def test_a_game_that_cannot_be_played_over_is_missed_not_made_up(tmp_path, illegal) -> None:
    rng = np.random.default_rng(1)
    batch = BatchRecorder(
        VectorEnv(
            4,
            cube=False,
            seat=0,
            illegal=illegal,
            autoreset_mode="same_step",
            opponent=lambda seen: bg_env.sample(seen["action_mask"], rng),
        )
    )
    observations, _ = batch.reset(seed=3)
    ended = 0
    while ended < 3:
        observations, _, terminated, *_ = batch.step(bg_env.sample(observations["action_mask"], rng))
        ended += int(terminated.sum())
    assert batch.missed == ended
    assert not batch.records
    with pytest.raises(OrderError, match="could not be recorded"):
        batch.save_records(tmp_path / "x.jsonl")


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path) -> None:
    env = backgammon_v0.env(cube=False)
    env.start_recording()
    play_out(env, np.random.default_rng(3), seed=5)
    for ending in ("jsonl", "mat", "sgf"):
        path = tmp_path / f"keep.{ending}"
        path.write_text("old")
        with pytest.raises(NotationError):
            env.save_records(path, ("\udcff", "b"))
        assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 3


def test_a_batch_recorder_wants_a_batch_and_a_reset(tmp_path) -> None:
    with pytest.raises(SettingsError, match="VectorEnv"):
        BatchRecorder(gym.make("bg_env/Backgammon-v0"))
    batch = BatchRecorder(VectorEnv(1, cube=False, opponent=None))
    with pytest.raises(OrderError):
        batch.save_records(tmp_path / "x.jsonl")
    observations, _ = batch.reset(seed=1, options={"dice": [(6, 1), (3, 3)], "position": None})
    rng = np.random.default_rng(0)
    while not batch.records:
        observations, *_ = batch.step(bg_env.sample(observations["action_mask"], rng))
    batch.save_records(tmp_path / "x.mat")
    (found,) = replay_files([tmp_path / "x.mat"])
    assert not found.lines
    rolls = [entry.dice for entry in batch.records[0].games[0].entries if entry.kind == "roll"]
    assert rolls[:2] == [(6, 1), (3, 3)]


@pytest.mark.parametrize("players", [("a", None), ("a", "b", "c"), "ab", ("a",), None, (b"a", b"b"), 5])
def test_players_are_two_names(tmp_path, players) -> None:
    env = backgammon_v0.env(cube=False)
    env.start_recording()
    play_out(env, np.random.default_rng(3), seed=5)
    for ending in ("jsonl", "mat", "sgf"):
        path = tmp_path / f"keep.{ending}"
        path.write_text("old")
        with pytest.raises(NotationError, match="players are the names of both"):
            env.save_records(path, players)
        assert path.read_text() == "old"
    with pytest.raises(NotationError, match="players are the names of both"):
        Game.new().record(players)
    assert Game.new().record(["a", "b"]).players == ("a", "b")
