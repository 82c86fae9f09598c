"""Solved games against a second computation, Bellman's equation and other programs; as players; as files that are stopped."""

from __future__ import annotations

import errno
import itertools
import os
import pickle
import shutil
import subprocess
from math import comb

import gymnasium
import numpy as np
import pytest
from cli_run import run
from disk_states import DiskStates
from solved_games import ONE, ROLLS, TWO

from bg_env import Game, Position, Settings, Variant, arena, exact, players
from bg_env.actions import DOUBLE, ROLL, TAKE
from bg_env.errors import OrderError, PositionError, SettingsError
from bg_env.exact import value_iteration as solving
from bg_env.exact.boards import board_numbers, boards_of, plays_of
from bg_env.rules import STATE, Phase


@pytest.fixture(scope="module")
def cubeful():
    return exact.solve(TWO, cube=True)


# Values


def run_on(place, dice, blocked):
    """The places of a lone checker after the dice in this order, and those where it lands; as many dice as can be played."""
    at, touched = place, []
    for die in dice:
        if at == 0 or (at - die > 0 and at - die == blocked):
            break
        if at > 6 and at - die < 1:
            break
        at = max(at - die, 0)
        touched.append(at)
    return at, touched


def plays_of_one(own, other, a, b):
    """The results (own place, other's place) of a roll with one checker a side, by the rules in words."""
    orders = [(a,) * 4] if a == b else [(a, b), (b, a)]
    done = [run_on(own, dice, 0) for dice in orders]  # one checker alone blocks nothing
    most = max(len(touched) for _, touched in done)
    found = set()
    for dice, (at, touched) in zip(orders, done, strict=True):
        best_die = most == 1 and a != b and dice[0] != max(a, b) and run_on(own, (max(a, b),), 0)[1]
        if len(touched) == most and not best_die:
            found.add((at, 25 if 25 - other in touched and other < 25 and other > 0 else other))
    return found


def test_one_checker_a_side_is_as_computed_in_another_way(one):
    """Value iteration in plain Python, on places and not on numbers, over plays found in another way."""
    places = [(own, other) for own in range(1, 26) for other in range(1, 26) if own + other != 25 or own == 25]
    results = {pair: [(plays_of_one(*pair, *roll), weight) for roll, weight in ROLLS] for pair in places}
    values = dict.fromkeys(places, 0.0)
    points = [0.0] + [2.0] * 18 + [3.0] * 7  # what a side loses with its only checker there
    for _ in range(60):
        for own, other in places:
            values[own, other] = sum(
                weight * max(points[hit] if at == 0 else -values[hit, at] for at, hit in found)
                for found, weight in results[own, other]
            )
    assert len(places) == 601 == exact.size_of(ONE).standing
    for own, other in places:
        position = Position([int(p == own) for p in range(26)], [int(p == other) for p in range(26)], ONE)
        assert one.equity(position) == pytest.approx(values[own, other], abs=1e-8)


def positions(variant, count, seed):
    """Random positions of a variant, as the sides' checkers."""
    rng = np.random.default_rng(seed)
    counts = boards_of(variant.checkers).counts
    while count:
        own, other = counts[rng.integers(1, len(counts), 2)].tolist()
        if not any(own[p] and other[25 - p] for p in range(1, 25)):
            count -= 1
            yield Position(own, other, variant)


def decided(solution, position, cube):
    if position.mover[0] == position.variant.checkers or position.opponent[0] == position.variant.checkers:
        return -3.0 if position.mover[0] == 0 and any(position.mover[19:]) else -2.0 if position.mover[0] == 0 else -1.0
    return solution.equity(position, cube)


@pytest.mark.parametrize("cube", ["cubeless", "owned", "centred", "opponent"])
def test_values_follow_from_those_after_a_roll(cubeful, cube):
    """Bellman's equation, and the cube by its definition, over the rules' plays: it has one solution only."""
    after = {"cubeless": "cubeless", "owned": "opponent", "centred": "centred", "opponent": "owned"}[cube]
    for position in positions(TWO, 60, 1):
        rolled = 0.0
        for (a, b), weight in ROLLS:
            plays = [play.result for play in position.legal_plays(a, b)]
            assert plays
            rolled += weight * max(-decided(cubeful, result, after) for result in plays)
        turned = min(2 * cubeful.equity(position, "opponent"), 1)
        expected = max(rolled, turned) if cube in ("owned", "centred") else rolled
        assert cubeful.equity(position, cube) == pytest.approx(expected, abs=1e-8)


def test_all_values_follow_from_those_after_a_roll(two):
    assert two.residual < 1e-8
    boards = boards_of(2)
    assert exact.size_of(TWO)[:2] == (351**2, 106_552)
    assert np.array_equal(board_numbers(boards.counts), np.arange(351))
    assert (np.diff(boards.pips) >= 0).all()
    assert np.abs(two.values).max() == 3
    rng = np.random.default_rng(5)
    own, other = rng.integers(1, 351, (2, 300))
    stand = (boards.held[own] & boards.turned[other]) == 0
    games = [
        Game.from_position(Position(boards.counts[i].tolist(), boards.counts[j].tolist(), TWO), cube=False)
        for i, j in zip(own[stand], other[stand], strict=True)
    ]
    for game in games:
        means = 0.0
        for (a, b), weight in ROLLS:
            rolled = game.copy()
            rolled.apply_roll(a, b)
            value = two.value(rolled)
            means += weight * (value if rolled.player == 1 else -value)
        assert two.value(game) == pytest.approx(means, abs=1e-8)


def test_the_cubeless_values_are_the_same_with_the_cube(two, cubeful):
    assert np.abs(cubeful.values[..., 0] - two.values).max() < 1e-8


def test_races_are_those_of_the_two_sided_table(cubeful):
    table = exact.two_sided(1)
    for own, other in itertools.product(range(1, 7), repeat=2):
        sides = [[1, *(int(p == place) for p in range(1, 26))] for place in (own, other)]
        position = Position(*sides, TWO)
        for cube in ("cubeless", "owned", "centred", "opponent"):
            assert cubeful.equity(position, cube) == pytest.approx(table.equity(position, cube), abs=1e-12)
        assert cubeful.cube_equities(position) == pytest.approx(table.cube_equities(position), abs=1e-12)


def gnubg_number(counts):
    """GNU Backgammon's number of a board: 25 bars among checkers and places, in colexicographic order."""
    on = [int(n) for n in counts[1:]]
    at = 24 + sum(on)
    bits = [at]
    for count in on[:-1]:
        at -= count + 1
        bits.append(at)
    return sum(comb(bit, k + 1) for k, bit in enumerate(sorted(bits)))


@pytest.mark.parametrize("checkers", [1])
def test_gnu_backgammon_has_the_same_values(tmp_path, checkers):
    """Of one checker a side, in a second; docs/exact.md says how those of two and three were compared."""
    program = shutil.which("makehyper") or shutil.which("makehyper", path="/usr/games")
    if program is None:
        pytest.skip("needs makehyper (Debian's gnubg), which is not installed")
    path = tmp_path / "hyper"
    command = [program, "-c", str(checkers), "-n", "-t", "1e-7", "-f", str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    solution = exact.solve(Variant("few", {24: checkers}), cube=True)
    boards = boards_of(checkers)
    m = len(boards.counts)
    numbers = [gnubg_number(counts) for counts in boards.counts]
    assert sorted(numbers) == list(range(m))
    records = np.frombuffer(path.read_bytes()[40:], np.uint8).reshape(m, m, 28)[np.ix_(numbers, numbers)].astype(np.int64)
    found = (records[..., 0:27:3] + (records[..., 1:27:3] << 8) + (records[..., 2:27:3] << 16)) / (2**24 - 1)
    win, gammon, backgammon, lost_gammon, lost_backgammon = np.moveaxis(found[..., :5], -1, 0)
    cubeless = 2 * win - 1 + gammon + backgammon - lost_gammon - lost_backgammon
    owned, centred, _, other = np.moveaxis((found[..., 5:] - 0.5) * 6, -1, 0)  # the third is under the Jacoby rule
    stand = (boards.held[:, None] & boards.turned == 0) & (np.arange(m) > 0) & (np.arange(m) > 0)[:, None]
    for column, values in enumerate((cubeless, owned, centred, other)):
        assert np.abs(values - solution.values[..., column])[stand].max() < 2e-6


def test_numbers_do_not_depend_on_threads(one, two):
    assert exact.solve(TWO, num_threads=1).values.tobytes() == two.values.tobytes()
    assert exact.solve(ONE, num_threads=3).values.tobytes() == one.values.tobytes()


# Phases


def test_a_game_has_the_value_of_its_phase(two, cubeful):
    game = Game(TWO, cube=False)
    assert game.phase == Phase.OPENING
    rolls = [(a, b) for a in range(1, 7) for b in range(1, 7) if a != b]
    values = []
    for roll in rolls:
        game = Game(TWO, cube=False)
        game.apply_roll(*roll)
        winner = 0 if roll[0] > roll[1] else 1
        values.append(two.value(game) * (1 if game.player == winner else -1))
    assert two.value(Game(TWO, cube=False)) == pytest.approx(sum(values) / 30)
    game = Game(TWO)
    game.apply_roll(3, 1)
    ranked = cubeful.plays(game)
    assert cubeful.value(game) == ranked[0][1]
    game.apply(ranked[0][0].steps[0].action)  # part of the roll has been played
    assert cubeful.value(game) == ranked[0][1]
    game.apply(ranked[0][0].steps[1].action)
    assert game.phase == Phase.ROLL_OR_DOUBLE
    assert cubeful.value(game) == -ranked[0][1]
    decision = cubeful.cube_equities(game)
    assert cubeful.value(game) == decision.equity
    game.apply(DOUBLE)
    assert cubeful.value(game) == min(decision.double_take, 1)
    game.apply(TAKE)
    assert cubeful.value(game) == decision.double_take
    fresh = Variant("fresh", {24: 1, 23: 1}, fresh_first_roll=True)
    start = Position(TWO.start, TWO.start, TWO)
    assert two.value(Game(fresh, cube=False)) == pytest.approx(two.equity(start))
    for name, solution in (("two", two), ("cubeful", cubeful)):
        settings = Settings(TWO, cube=name == "cubeful")
        games = [Game(TWO, cube=settings.cube, seed=seed) for seed in range(20)] + [Game(TWO, cube=settings.cube)]
        states = np.concatenate([game.states for game in games])
        assert solution.value(states, settings).tolist() == pytest.approx([solution.value(game) for game in games])


def test_a_won_game_counts_level_and_cube(cubeful):
    off, home = [1, 1, *[0] * 24], [0] * 23 + [2, 0, 0]
    game = Game.from_position(Position(off, home, TWO))
    game.apply(ROLL)
    game.apply_roll(2, 1)
    assert cubeful.plays(game)[0][1] == 3
    game.play(game.legal_plays()[0])
    assert game.over
    assert cubeful.value(game) == game.points == 3


# Players


def test_perfect_play_against_itself_is_even(two):
    """Each dice stream is played twice with the seats swapped, and the mean of the first player is the value of the start."""
    settings = Settings(TWO, cube=False)
    result = arena.play(two.player(), two.player(), games=400, settings=settings)
    assert result.points.value == 0
    assert arena.play(two.player(), "pubeval", games=400, settings=settings).points.low > 0.2


def test_the_player_plays_what_is_best(cubeful):
    player = cubeful.player().bind(Settings(TWO))
    for seed in range(40):
        game = Game(TWO, seed=seed)
        while not game.over:
            value, phase = cubeful.value(game), game.phase
            action = int(player.choose(game.states, np.zeros(1, np.uint64))[0])
            if phase == Phase.CHECKER:
                plays = {str(play): points for play, points in cubeful.plays(game)}
                steps = player.choose_plays(game.states, np.zeros(1, np.uint64))[0]
                assert steps[0] == action
                chosen = [
                    play for play in game.legal_plays() if [step.action for step in play.steps] == [s for s in steps if s >= 0]
                ]
                assert plays[str(chosen[0])] == value
            elif phase == Phase.ROLL_OR_DOUBLE:
                decision = cubeful.cube_equities(game, "owned" if game.cube_owner is not None else "centred")
                assert (action == DOUBLE) == decision.double
            else:
                decision = cubeful.cube_equities(game, "owned" if game.cube_owner is not None else "centred")
                assert (action == TAKE) == decision.take
            game.apply(action)
    with pytest.raises(OrderError, match="must know the settings"):
        cubeful.player().choose_plays(game.states, np.zeros(1, np.uint64))


def test_it_plays_by_name(two, tmp_path):
    path = tmp_path / "two.sol"
    exact.solve(TWO, path=path)
    env = gymnasium.make("bg_env/Hypergammon-v0", settings=Settings(TWO, cube=False), opponent=f"exact:{path}")
    env.reset(seed=1)
    done = False
    while not done:
        _, _, terminated, truncated, _ = env.step(int(np.flatnonzero(env.unwrapped.action_masks())[0]))
        done = terminated or truncated
    env.close()
    player = players.player(f"exact:{path}", Settings(TWO, cube=False))
    assert player.name == "exact:two.sol"
    assert arena.play(player, two.player(), games=20, settings=Settings(TWO, cube=False)).points.value == 0
    for settings, text in (
        (Settings(), "2 checkers a side, not for the 15 of backgammon"),
        (Settings(TWO, match_length=3), "not for a match to 3"),
        (Settings(TWO), "without the cube"),
    ):
        with pytest.raises(SettingsError, match=text):
            players.player(f"exact:{path}", settings)
    loaded = exact.Solution.load(path)
    again = pickle.loads(pickle.dumps(loaded))  # noqa: S301 - made here
    assert again.values.tobytes() == two.values.tobytes()
    assert pickle.loads(pickle.dumps(two)).residual == two.residual  # noqa: S301
    assert isinstance(loaded.values, np.memmap)
    for solution in (two, loaded):
        assert not solution.values.flags.writeable
        with pytest.raises(AttributeError, match="immutable"):
            solution.residual = 0


# Files


class StopError(Exception):
    """What ends a computation."""


def stopped(path, after, variant=ONE, cube=True):
    """Solve into a file, and stop after so many sweeps."""

    def progress(sweep):
        if sweep.number == after:
            raise StopError

    with pytest.raises(StopError):
        exact.solve(variant, cube, path=path, progress=progress)


def test_it_goes_on_where_it_was_stopped(tmp_path):
    whole = exact.solve(ONE, cube=True, path=tmp_path / "whole")
    for after in (0, 1, 2, whole.sweeps):
        path = tmp_path / str(after)
        stopped(path, after)
        with pytest.raises(SettingsError, match=rf"is not finished \({after} sweeps\): go on with"):
            exact.Solution.load(path)
        seen = []
        found = exact.solve(ONE, cube=True, path=path, progress=seen.append)
        assert [sweep.number for sweep in seen] == list(range(after, whole.sweeps + 1))
        assert [sweep.done for sweep in seen] == sorted(sweep.done for sweep in seen)
        assert (found.sweeps, found.residual, found.values.tobytes()) == (whole.sweeps, whole.residual, whole.values.tobytes())
        assert path.stat().st_size == (tmp_path / "whole").stat().st_size
    seen = []
    assert exact.solve(ONE, cube=True, path=path, progress=seen.append).sweeps == whole.sweeps
    assert not seen  # it was finished


def test_a_kill_at_any_moment_loses_no_finished_sweep(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "run").mkdir()
    with DiskStates(tmp_path / "run", tmp_path / "kept") as disk:
        whole = exact.solve(ONE, path=tmp_path / "run" / "one")
    found = []
    for folder in disk.states:
        contents = solving.SweepFile(folder / "one", solving._kind(ONE, False)).contents
        found.append(0 if contents.saved is None else contents.saved.sweeps)
    assert found == sorted(found)
    assert set(found) == set(range(whole.sweeps + 1))
    for folder in disk.states[:: len(disk.states) // 6]:
        assert exact.solve(ONE, path=folder / "one").values.tobytes() == whole.values.tobytes()


def test_a_full_disk_in_the_middle_loses_no_finished_sweep(tmp_path, monkeypatch):
    path = tmp_path / "one"
    calls = []
    fsync = os.fsync

    def full(number):
        calls.append(number)
        if len(calls) == 12:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(number)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device.*one"):
        exact.solve(ONE, path=path)
    contents = solving.SweepFile(path, solving._kind(ONE, False)).contents
    assert contents.saved.sweeps == 5  # 1 + 2 a sweep
    assert exact.solve(ONE, path=path).residual < 1e-8


def test_no_space_at_the_beginning_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(OSError, match=r"No space left on device.*one"):
        exact.solve(ONE, path=tmp_path / "one")
    assert not list(tmp_path.iterdir())

    def cannot(*_):
        raise OSError(errno.EOPNOTSUPP, "not supported")

    monkeypatch.setattr(os, "posix_fallocate", cannot)
    assert exact.solve(ONE, path=tmp_path / "one").sweeps > 10


@pytest.mark.parametrize("how", ["cut", "empty", "changed", "foreign", "first line", "shape"])
def test_a_damaged_file_is_refused(tmp_path, how):
    path = tmp_path / "one"
    exact.solve(ONE, path=path)
    content = bytearray(path.read_bytes())
    content[-1] ^= how == "changed"
    content[8] ^= how == "first line"
    new = {
        "cut": content[:-9],
        "empty": b"",
        "foreign": b"gnubg-H1" + bytes(99),
        "shape": bytes(content).replace(b"[26, 26]", b"[-1, 99]"),
    }.get(how, content)
    path.write_bytes(new)
    for call in (lambda: exact.Solution.load(path), lambda: exact.solve(ONE, path=path)):
        with pytest.raises(SettingsError, match=r"is not a file of exact\.solve or bg-env solve, or it is damaged") as raised:
            call()
        assert "\n" not in str(raised.value)
    assert path.read_bytes() == new


def test_what_is_refused(two, tmp_path):
    path = tmp_path / "one"
    exact.solve(ONE, path=path)
    four = Variant("four", {24: 4})
    board = Position(TWO.start, TWO.start, TWO)
    cases = [
        (SettingsError, "four has 564,110,001 positions .4 checkers a side.: at most 10,732,176", lambda: exact.solve(four)),
        (SettingsError, "backgammon has 1,618,078,384,874,263,643,136 positions", lambda: exact.size_of("backgammon")),
        (SettingsError, "no variant is called 'hyper'", lambda: exact.solve("hyper")),
        (SettingsError, "a roll of 1-2 earns more rolls", lambda: exact.solve("acey_deucey")),
        (SettingsError, "cube is True or False, not 2", lambda: exact.solve(ONE, 2)),
        (SettingsError, "num_threads is a whole number from 1 to 256, not 0", lambda: exact.solve(ONE, num_threads=0)),
        (SettingsError, "progress is a function", lambda: exact.solve(ONE, progress=3)),
        (SettingsError, "a file is named by a path", lambda: exact.solve(ONE, path=3)),
        (SettingsError, r"is for one\(24:1\), without the cube: give another path", lambda: exact.solve(ONE, True, path=path)),
        (SettingsError, r"is for one\(24:1\), without", lambda: exact.solve(TWO, path=path)),
        (SettingsError, "the Jacoby rule is not supported", lambda: exact.solve(Settings(ONE, jacoby=True))),
        (SettingsError, "beavers is not supported", lambda: exact.solve(Settings(ONE, beavers=1))),
        (SettingsError, "auto_doubles is not supported", lambda: exact.solve(Settings(ONE, auto_doubles=1))),
        (SettingsError, "not a match to 5", lambda: exact.solve(Settings(ONE, match_length=5))),
        (SettingsError, "these values are without the cube", lambda: two.equity(board, "owned")),
        (SettingsError, "these values are without the cube", lambda: two.cube_equities(board)),
        (SettingsError, "the solution is without the cube", lambda: two.value(Game(TWO))),
        (SettingsError, "not for the 15 of backgammon", lambda: two.value(Game(cube=False))),
        (SettingsError, "not for acey_deucey", lambda: two.value(Game("acey_deucey"))),
        (PositionError, "2 checkers a side, those borne off included", lambda: two.equity(Position.start())),
        (
            PositionError,
            "state 0 has a wrong number of checkers",
            lambda: two.value(np.zeros(1, STATE), Settings(TWO, cube=False)),
        ),
        (OSError, "No such file or directory", lambda: exact.solve(ONE, path=tmp_path / "no" / "one")),
        (OSError, "Is a directory|Permission denied", lambda: exact.solve(ONE, path=tmp_path)),
    ]
    for kind, text, call in cases:
        with pytest.raises(kind, match=text) as raised:
            call()
        assert "\n" not in str(raised.value)
    assert exact.solve(Settings(ONE), path=tmp_path / "cube").cube
    assert "with the cube: 676 positions, residual" in repr(exact.Solution.load(tmp_path / "cube"))
    assert two.covers(board)
    assert not two.covers(Position.start())
    settings = Settings(TWO, jacoby=True)
    with pytest.raises(SettingsError, match="does not hold with jacoby=True"):
        exact.solve(TWO, cube=True).player().bind(settings)


def test_lists_of_plays_are_whole():
    """Each board that does not hold the blocked point has a play for each roll, itself where nothing can be played."""
    plays, boards = plays_of(2), boards_of(2)
    for blocked in range(25):
        counts = np.diff(plays.offsets[blocked]).reshape(351, 21).min(axis=1)
        holds = (boards.held >> blocked & 1 == 1) if blocked else np.zeros(351, bool)
        assert ((counts > 0) == ~holds)[1:].all()
        assert counts[0] == 0


# The command line


def test_solve_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("solve", "one(24:1)", "--quiet")
    assert done.exit_code == 0
    assert "one, cubeless: 676 positions (601 can stand)" in done.output
    assert "the player who wins the opening throw wins +0." in done.output
    assert "arena exact:one.sol td --variant 'one(24:1)'" in done.output
    assert "it was finished before" in run("solve", "one(24:1)", "--quiet").output
    assert "one.sol v random, 20 games" in run("arena", "one.sol", "random", "--games", "20", "--variant", "one(24:1)").output
    assert run("solve", "backgammon").exit_code == 2
    assert not (tmp_path / "backgammon.sol").exists()


def test_ctrl_c_keeps_the_sweeps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    solve = exact.solve

    def stopped_solve(*arguments, progress, **options):
        def stop(sweep):
            progress(sweep)
            if sweep.number == 4:
                raise KeyboardInterrupt

        return solve(*arguments, progress=stop, **options)

    monkeypatch.setattr(exact, "solve", stopped_solve)
    done = run("solve", "one(24:1)", "--cube", "--quiet")
    assert done.exit_code == 130
    assert "Interrupted after 4 sweeps, which are in one-cube.sol" in done.output
    assert "solve 'one(24:1)' --cube" in done.output
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert "Solved (" in run("solve", "one(24:1)", "--cube", "--quiet").output
