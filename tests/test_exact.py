"""Exact tables against recursion in plain Python, against other programs, as values of games, and as files."""

from __future__ import annotations

import errno
import functools
import itertools
import json
import pickle
import shutil
import subprocess
from math import comb

import numpy as np
import pytest
from disk_states import DiskStates

from bg_env import Game, Position, Settings, Variant, exact
from bg_env.actions import DOUBLE, DROP, ROLL, TAKE
from bg_env.errors import IllegalActionError, PositionError, SettingsError
from bg_env.exact import one_side, storage, two_sides
from bg_env.exact.numbering import home_numbers, home_positions, positions_of
from bg_env.files import temporary_name
from bg_env.rules import STATE, Phase

ROLLS = list(itertools.product(range(1, 7), repeat=2))
CUBES = ("cubeless", "owned", "centred", "opponent")


def homes(most):
    """All home positions of up to so many checkers, as tuples of the counts on points 1 to 6."""
    found = (home for home in itertools.product(range(most + 1), repeat=6) if sum(home) <= most)
    return sorted(found, key=lambda home: (sum(home), home))


@functools.cache
def stepped(home, die):
    """The positions after one step."""
    found = set()
    for p in range(1, 7):
        if home[p - 1] and (p >= die or not any(home[p:])):
            if p < die and any(home[p:]):
                continue
            after = list(home)
            after[p - 1] -= 1
            if p > die:
                after[p - die - 1] += 1
            found.add(tuple(after))
    return found or {home}


@functools.cache
def results(home, roll):
    """The positions after a roll: every home position lets a die be played, so all dice are, in either order."""
    found = set()
    for dice in {roll, roll[::-1]} if roll[0] != roll[1] else {roll * 2}:
        ends = {home}
        for die in dice:
            ends = set().union(*(stepped(end, die) for end in ends))
        found |= ends
    return found


@functools.cache
def expected(home):
    return 1 + sum(min(map(expected, results(home, roll))) for roll in ROLLS) / 36 if any(home) else 0.0


@functools.cache
def before_roll(own, other, cube):
    """The equity of a roll without a double, by the definition of a live cube."""
    if not any(other):
        return -1.0
    theirs = {"cubeless": "cubeless", "owned": "opponent", "centred": "centred", "opponent": "owned"}[cube]
    return sum(max(-decided(other, end, theirs) if any(end) else 1.0 for end in results(own, roll)) for roll in ROLLS) / 36


@functools.cache
def decided(own, other, cube):
    rolled = before_roll(own, other, cube)
    return rolled if cube in ("cubeless", "opponent") else max(rolled, min(2 * before_roll(own, other, "opponent"), 1))


def side(home, checkers=15):
    return [checkers - sum(home), *home, *[0] * 19]


def position(own, other=(1, 0, 0, 0, 0, 0)):
    return Position(side(own), side(other))


@pytest.fixture(scope="module")
def table():
    return exact.one_sided()


@pytest.fixture(scope="module")
def pairs():
    return exact.two_sided(3)


def test_every_position_has_its_number():
    for checkers in (1, 3, 15):
        count = positions_of(checkers)
        found = home_positions(0, count)
        assert count == comb(checkers + 6, 6) == len(np.unique(found, axis=0))
        assert found.sum(axis=1).max() == checkers
        assert np.array_equal(home_numbers(found), np.arange(count))
    assert home_numbers(np.array([[0] * 6, [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 15]])).tolist() == [0, 1, 54263]


def test_rolls_are_those_of_a_recursion_in_plain_python(table):
    """Up to three checkers, of a table that is built here."""
    means, distributions = one_side.build(3)
    assert np.array_equal(means, table.expected[: len(means)])
    assert np.array_equal(distributions, table.distributions[: len(means)])
    for home in homes(3):
        assert table.rolls(position(home)) == pytest.approx(expected(home), abs=1e-12)


def test_distributions_are_whole(table):
    assert table.expected.shape == (54264,)
    assert np.abs(table.distributions.sum(axis=1) - 1).max() < 1e-12
    assert np.abs(table.distributions @ np.arange(table.distributions.shape[1]) - table.expected).max() < 1e-11
    assert table.expected.sum() == pytest.approx(394310.933338, abs=1e-6)  # of an independent program


def test_figures_that_are_known(table):
    """Facts of every book on the bear-off: one checker on point 6 gets off in 27 of 36 rolls, two on point 1 always."""
    chances = {(0, 0, 0, 0, 0, 1): 27, (0, 0, 0, 0, 1, 0): 31, (2, 0, 0, 0, 0, 0): 36, (1, 0, 0, 0, 1, 0): 23}
    for home, rolls in chances.items():
        assert table.distribution(position(home))[1] * 36 == pytest.approx(rolls)
    assert table.epc(position((1, 0, 0, 0, 0, 0))) == pytest.approx(49 / 6)


def test_known_distributions(shared, table):
    known = json.loads((shared / "data" / "bearoff_known.json").read_text(encoding="utf-8"))
    assert len(known["positions"]) > 30
    for text, entry in known["positions"].items():
        home = tuple(map(int, text.strip("()").split(",")))
        assert table.rolls(position(home)) == pytest.approx(entry["expected_rolls"], abs=1e-6)
        assert table.epc(position(home)) == pytest.approx(entry["epc"], abs=1e-4)
        assert table.distribution(position(home))[: len(entry["dist"])] == pytest.approx(entry["dist"], abs=1e-8)
    for text, rolls in known["one_roll_out_of_36"].items():
        points = list(map(int, text.split(",")))
        home = tuple(points.count(p) for p in range(1, 7))
        assert table.distribution(position(home))[1] * 36 == pytest.approx(rolls)


def test_the_best_play_comes_first(table):
    found = table.plays(position((1, 0, 1, 0, 1, 2)), 2, 1)
    assert sorted(rolls for _, rolls in found) == [rolls for _, rolls in found]
    assert [rolls for _, rolls in found] == [table.rolls(play.result, opponent=True) for play, _ in found]
    home = (1, 0, 1, 0, 1, 2)
    best = [table.plays(position(home), *roll)[0][1] for roll in ROLLS]
    assert 1 + sum(best) / 36 == pytest.approx(table.rolls(position(home)))


def test_a_race_by_two_distributions(table, pairs):
    own, other = (0, 1, 0, 0, 1, 0), (1, 0, 0, 1, 0, 1)
    mine, theirs = table.distribution(position(own)), table.distribution(position(other))
    chance = sum(mine[k] * theirs[n] for k in range(20) for n in range(20) if k <= n)
    race = position(own, other)
    assert table.win_probability(race) == pytest.approx(chance)
    assert 2 * table.win_probability(race) - 1 == pytest.approx(pairs.equity(race), abs=0.002)
    assert table.win_probability(Position(side(own), [15, *[0] * 25])) == 0
    assert table.win_probability(Position([15, *[0] * 25], side(own))) == 1


def test_equities_are_those_of_a_recursion_in_plain_python(pairs):
    """Up to two checkers a side, all places of the cube."""
    for own, other in itertools.product(homes(2)[1:], repeat=2):
        for cube in CUBES:
            assert pairs.equity(position(own, other), cube) == pytest.approx(decided(own, other, cube), abs=1e-12)
        for cube in ("centred", "owned"):
            found = pairs.cube_equities(position(own, other), cube)
            assert found.no_double == pytest.approx(before_roll(own, other, cube), abs=1e-12)
            assert found.double_take == pytest.approx(2 * before_roll(own, other, "opponent"), abs=1e-12)
            assert found.equity == pytest.approx(decided(own, other, cube), abs=1e-12)
            assert (found.double_drop, found.take) == (1, found.double_take <= 1)
            assert found.double == (min(found.double_take, 1) > found.no_double)


def test_tables_of_all_sizes_agree(pairs):
    for checkers in (1, 2):
        (values,) = two_sides.build(checkers)
        n = positions_of(checkers)
        assert np.array_equal(values, pairs.values[:n, :n])
    assert np.array_equal(exact.two_sided(4).values[:84, :84], pairs.values)


def test_a_known_cube_decision(pairs):
    """The last roll: 5 and 2 against one checker: 19 of 36 rolls win, so it is a double and a take, and no more."""
    found = pairs.cube_equities(position((0, 1, 0, 0, 1, 0)))
    assert found.no_double == pytest.approx(2 / 36)
    assert (found.double, found.take) == (True, True)
    found = pairs.cube_equities(position((0, 0, 0, 0, 0, 1)))  # 27 of 36: the take point of every book, since no roll follows
    assert found.double_take == pytest.approx(found.double_drop)
    assert pairs.cube_equities(position((0, 0, 0, 0, 1, 0))).take is False  # 31 of 36


def gnubg_numbers(checkers):
    """GNU Backgammon's numbers of our positions: combinations of 6 bars among checkers and points, in colexicographic order."""

    def number(home):
        bits, at = [5 + sum(home)], 5 + sum(home)
        for count in home[:-1]:
            at -= count + 1
            bits.append(at)
        return sum(comb(bit, k + 1) for k, bit in enumerate(sorted(bits)))

    return [number(tuple(map(int, home))) for home in home_positions(0, positions_of(checkers))]


def test_gnu_backgammon_has_the_same_equities(tmp_path, pairs):
    program = shutil.which("makebearoff") or shutil.which("makebearoff", path="/usr/games")
    if program is None:
        pytest.skip("needs makebearoff (Debian's gnubg), which is not installed")
    path = tmp_path / "two-sided"
    subprocess.run([program, "-t", "6x3", "-f", str(path)], check=True, capture_output=True, timeout=60)
    found = np.frombuffer(path.read_bytes()[40:], "<u2").reshape(84, 84, 4) / 32767.5 - 1
    numbers = gnubg_numbers(3)
    assert sorted(numbers) == list(range(84))
    assert np.abs(found[np.ix_(numbers, numbers)] - pairs.values)[1:, 1:].max() < 2e-4  # it rounds to 16 bits, at every step


def test_a_game_has_the_value_of_its_phase(pairs):
    own, other = (0, 1, 0, 1, 1, 0), (0, 0, 2, 0, 1, 0)
    board = position(own, other)
    game = Game.from_position(board)
    assert game.phase == Phase.ROLL_OR_DOUBLE
    assert pairs.value(game) == pairs.equity(board, "centred")
    assert pairs.value(Game.from_position(board, cube=False)) == pairs.equity(board)
    assert pairs.value(Game.from_position(board, cube_cap=1)) == pairs.equity(board)
    rolled = [pairs.value(Game.from_position(board, roll)) for roll in ROLLS]
    game.apply(ROLL)
    decision = pairs.cube_equities(board)
    assert pairs.value(game) == decision.no_double == pytest.approx(sum(rolled) / 36)
    doubled = Game.from_position(board)
    doubled.apply(DOUBLE)
    assert pairs.value(doubled) == min(decision.double_take, 1)
    taken = doubled.copy()
    taken.apply(TAKE)
    assert pairs.value(taken) == decision.double_take == 2 * pairs.equity(board, "opponent")
    taken.apply_roll(2, 1)
    plays = pairs.plays(taken)
    assert pairs.value(taken) == plays[0][1] == max(points for _, points in plays)
    assert [play for play, _ in plays] != list(taken.legal_plays()) or len(plays) == 1
    taken.play(plays[0][0])
    assert pairs.value(taken) == -plays[0][1] == 2 * pairs.equity(taken.position, "owned")
    doubled.apply(DROP)
    assert pairs.value(doubled) == 1


def test_a_won_game_counts_the_cube(pairs):
    game = Game.from_position(position((1, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 1)))
    for action in (DOUBLE, TAKE):
        game.apply(action)
    game.apply_roll(2, 1)
    ((play, points),) = pairs.plays(game)
    game.play(play)
    assert game.over
    assert points == pairs.value(game) == game.points == 2


def test_records_have_the_values_of_their_games(table, pairs):
    settings = Settings()
    boards = [position(own, (0, 1, 0, 0, 1, 0)) for own in homes(3)[1:20]]
    games = [Game.from_position(board, roll) for board in boards for roll in (None, (3, 1), (2, 2))]
    states = np.concatenate([game.states for game in games])
    assert pairs.value(states, settings).tolist() == [pairs.value(game) for game in games]
    assert pairs.equity(states, "owned").tolist() == [pairs.equity(game, "owned") for game in games]
    assert table.rolls(states).tolist() == [table.rolls(game) for game in games]
    assert table.distribution(states)[7].tolist() == table.distribution(games[7]).tolist()
    assert table.win_probability(states).tolist() == [table.win_probability(game) for game in games]
    assert pairs.covers(states).all()
    assert table.covers(states, opponent=True).all()
    assert pairs.value(states[:0], settings).shape == (0,)


def test_boards_that_are_not_covered(table, pairs):
    start = Position.start()
    assert not table.covers(start)
    assert not pairs.covers(start)
    with pytest.raises(PositionError, match="the player on roll has checkers elsewhere"):
        table.rolls(start)
    behind = Position(side((0, 0, 0, 0, 0, 2)), [14, *[0] * 23, 1, 0])
    with pytest.raises(PositionError, match="the opponent still has checkers to pass"):
        table.rolls(behind)
    with pytest.raises(PositionError, match="the opponent still has checkers to pass"):
        table.win_probability(behind)
    past = Position(side((2, 0, 0, 0, 0, 0)), [14, *[0] * 18, 1, *[0] * 6])
    assert table.rolls(past) == 1
    with pytest.raises(PositionError, match="some are elsewhere"):
        pairs.equity(past)
    many = position((1, 1, 1, 1, 1, 0))
    with pytest.raises(PositionError, match=r"up to 3 checkers a side on the board, not 5: exact.two_sided\(5\) does"):
        pairs.equity(many)
    with pytest.raises(PositionError, match=r"not 15$"):
        pairs.equity(position((15, 0, 0, 0, 0, 0)))
    small = Variant("small", {6: 2})
    with pytest.raises(PositionError, match="a side has borne off no checker yet"):
        pairs.equity(Position(side((0, 0, 0, 0, 0, 2), 2), side((1, 0, 0, 0, 0, 0), 2), small))
    assert pairs.covers(Position(side((0, 0, 0, 0, 0, 1), 2), side((1, 0, 0, 0, 0, 0), 2), small))
    states = np.concatenate([Game.from_position(board).states for board in (position((1, 0, 0, 0, 0, 0)), many)])
    with pytest.raises(PositionError, match=r"^record 1: the two-sided table covers up to 3"):
        pairs.equity(states)
    assert pairs.covers(states).tolist() == [True, False]
    with pytest.raises(PositionError, match=r"^record 0: nobody is on roll"):
        table.covers(Game().states)


def test_what_is_refused(table, pairs):
    board = position((1, 1, 0, 0, 0, 0))
    cases = [
        (SettingsError, "checkers is a whole number from 1 to 6, not 7", lambda: exact.two_sided(7)),
        (SettingsError, "asked by a Position, a Game or an array of STATE", lambda: table.rolls("4HPwATDgc/ABMA")),
        (SettingsError, "asked by a Position", lambda: pairs.equity(np.zeros((1, 1), STATE))),
        (
            SettingsError,
            "cube is 'cubeless', 'owned', 'centred' or 'opponent', not 'mine'",
            lambda: pairs.equity(board, "mine"),
        ),
        (SettingsError, "cube is 'centred' or 'owned'", lambda: pairs.cube_equities(board, "opponent")),
        (SettingsError, "one Position or Game", lambda: pairs.cube_equities(Game.from_position(board).states)),
        (SettingsError, "give settings=, or a Game", lambda: pairs.value(Game.from_position(board).states)),
        (SettingsError, "give none beside it", lambda: pairs.value(Game.from_position(board), Settings())),
        (SettingsError, "not for a match to 5", lambda: pairs.value(Game.from_position(board, match_length=5))),
        (SettingsError, "not for acey_deucey", lambda: pairs.value(np.zeros(0, STATE), Settings("acey_deucey"))),
        (SettingsError, "a Game that has rolled, not of Position", lambda: pairs.plays(board)),
        (SettingsError, "of a Position, not of Game", lambda: table.plays(Game.from_position(board), 2, 1)),
        (IllegalActionError, "give the dice", lambda: table.plays(board)),
        (IllegalActionError, "a die shows", lambda: table.plays(board, 7, 1)),
        (PositionError, "a side has borne off all", lambda: pairs.cube_equities(position((0,) * 6))),
    ]
    for kind, text, call in cases:
        with pytest.raises(kind, match=text) as raised:
            call()
        assert "\n" not in str(raised.value)
    beavers = Game.from_position(position((0, 0, 0, 0, 0, 2)), beavers=1)
    assert pairs.value(beavers) == pairs.equity(beavers, "centred")
    beavers.apply(DOUBLE)
    with pytest.raises(PositionError, match="may be beavered"):
        pairs.value(beavers)
    with pytest.raises(IllegalActionError, match="this one is in phase ROLL_OR_DOUBLE"):
        pairs.plays(Game.from_position(board))


def test_records_that_no_rules_made_are_refused(table, pairs):
    good = Game.from_position(position((1, 1, 0, 0, 0, 0)), (2, 1)).states
    for field, value in (("points", 120), ("turn", 7), ("dice", 9), ("cube", 99)):
        states = np.concatenate([good, good])
        states[field][1] = value
        for call in (table.rolls, pairs.equity, lambda states: pairs.value(states, Settings())):
            with pytest.raises(PositionError, match="state 1 has a wrong"):
                call(states)
    with pytest.raises(PositionError, match="must be a 1-D array"):
        pairs.value("x", Settings())


def test_tables_are_values(table, pairs):
    for value in (table, pairs):
        assert pickle.loads(pickle.dumps(value)) is value  # noqa: S301 - made here
        with pytest.raises(AttributeError, match="immutable"):
            value.values = value.expected = None
    for array in (table.expected, table.distributions, pairs.values):
        assert not array.flags.writeable
    assert "54,264 positions" in repr(table)
    assert "6,889 pairs" in repr(pairs)


# Files

SHAPES = {"first": (3,), "second": (2, 2)}


class Builder:
    """Counts how often the table is built."""

    def __init__(self):
        self.built = 0

    def __call__(self):
        self.built += 1
        return np.arange(3.0), np.eye(2)


@pytest.fixture
def builder(monkeypatch, tmp_path):
    monkeypatch.setattr(storage, "tables_folder", lambda: tmp_path / "tables")
    return Builder()


def check(builder, built):
    first, second = storage.kept("small", SHAPES, builder)
    assert first.tolist() == [0, 1, 2]
    assert second.tolist() == [[1, 0], [0, 1]]
    assert not first.flags.writeable
    assert not second.flags.writeable
    assert builder.built == built


def test_a_table_is_built_once(builder, tmp_path):
    check(builder, 1)
    check(builder, 1)
    (path,) = (tmp_path / "tables").iterdir()
    assert path.name == "small"
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("how", ["cut", "empty", "changed", "another layout"])
def test_a_damaged_table_is_built_anew(builder, tmp_path, how):
    check(builder, 1)
    path = tmp_path / "tables" / "small"
    content = bytearray(path.read_bytes())
    if how == "another layout":
        storage.kept("small", {"only": (1,)}, lambda: (np.zeros(1),))
    else:
        content[-1] ^= how == "changed"
        path.write_bytes({"cut": content[:-9], "empty": b"", "changed": content}[how])
    check(builder, 2)
    check(builder, 2)


def test_a_full_disk_is_no_error(builder, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    check(builder, 1)
    assert not list((tmp_path / "tables").iterdir())
    check(builder, 2)


def test_nor_is_a_folder_that_cannot_be_made(builder, monkeypatch, tmp_path):
    (tmp_path / "tables").write_text("a file is here")
    check(builder, 1)
    monkeypatch.setattr(storage, "tables_folder", lambda: None)
    check(builder, 2)


@pytest.mark.parametrize("mode", [0o757, 0o777])
def test_a_folder_that_others_may_write_is_not_used(builder, tmp_path, mode):
    check(builder, 1)
    (tmp_path / "tables").chmod(mode)
    check(builder, 2)
    check(builder, 3)


def test_a_kill_at_any_moment_leaves_a_folder_that_can_be_used(builder, monkeypatch, tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "kept").mkdir()
    with DiskStates(tmp_path / "tables", tmp_path / "kept") as disk:
        check(builder, 1)
    assert len(disk.states) == 2  # before and after the new name
    for folder in disk.states:
        monkeypatch.setattr(storage, "tables_folder", lambda folder=folder: folder)
        check(Builder(), built=folder == disk.states[0])


def test_old_leftovers_are_removed(builder, monkeypatch, tmp_path):
    check(builder, 1)
    left = tmp_path / "tables" / temporary_name()
    left.write_bytes(b"half")
    (tmp_path / "tables" / "small").unlink()
    check(builder, 2)
    assert left.exists()  # it may be another process that writes now
    monkeypatch.setattr(storage, "_OLD", -1.0)
    (tmp_path / "tables" / "small").unlink()
    check(builder, 3)
    assert not left.exists()


def test_without_a_lasting_folder_of_kernels_there_is_none_of_tables(monkeypatch, tmp_path):
    for cache, folder in (("", None), (str(tmp_path / "bg_env-x1"), None), (str(tmp_path / "kernels"), tmp_path / "tables")):
        monkeypatch.setattr(storage, "CACHE_DIR", cache)
        assert storage.tables_folder() == folder
