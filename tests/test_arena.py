"""The arena: duplicate dice, both seats, and intervals that hold what they promise."""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import math
import sys
from dataclasses import replace

import numpy as np
import pytest

from bg_env import arena
from bg_env.actions import DOUBLE, DROP, ROLL, TAKE
from bg_env.arena.duel import Duel
from bg_env.arena.match_up import MatchUp, read_match_up
from bg_env.errors import IllegalActionError, MissingDependencyError, SettingsError
from bg_env.players import RandomPlayer
from bg_env.rules import Phase, Settings


class Seeded:
    """The random player with words of its own: another random player for each seed."""

    def __init__(self, seed):
        self.mask = np.uint64((seed * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) % 2**64)
        self.name = f"random {seed}"

    def choose(self, states, words):
        return RandomPlayer().choose(states, words ^ self.mask)


class Cubes(RandomPlayer):
    """Doubles whenever it may, and answers doubles always alike."""

    name = "doubler"

    def __init__(self, answer):
        self.answer = answer

    def bind(self, settings):
        return self

    def choose(self, states, words):
        actions = super().choose(states, words)
        actions[states["phase"] == Phase.ROLL_OR_DOUBLE] = DOUBLE
        actions[states["phase"] == Phase.TAKE_OR_DROP] = self.answer
        return actions


def first_legal(seen):
    return seen["action_mask"].argmax(axis=1)


def error_of(estimate):
    return (estimate.high - estimate.low) / (2 * 1.96)


def test_seats_swapped_give_the_mirrored_result():
    one = arena.play("pubeval", Seeded(3), games=200, seed=8, cube=False)
    other = arena.play(Seeded(3), "pubeval", games=200, seed=8, cube=False)
    assert one.points == pytest.approx((-other.points.value, -other.points.high, -other.points.low))
    assert one.sides == other.sides[::-1]


def test_a_player_against_itself_comes_out_even_exactly():
    for player in ("random", "pubeval"):
        result = arena.play(player, player, games=60)
        assert result.points == (0, 0, 0)
        assert result.sides[0] == result.sides[1]


def test_each_dice_stream_is_played_from_both_seats():
    duel = Duel("pubeval", Seeded(1), MatchUp(Settings(), games=2, seed=5, boards=2))
    assert (duel._boards.states["key"][0], duel._boards.states["rolls"][0]) == (
        duel._boards.states["key"][1],
        duel._boards.states["rolls"][1],
    )
    assert duel._boards.states["turn"][0] == duel._boards.states["turn"][1]
    assert (duel._boards.states["points"][0] == duel._boards.states["points"][1]).all()
    while not duel.tally["done"].all():
        duel.round()
    again = Duel(Seeded(1), "pubeval", MatchUp(Settings(), games=2, seed=5, boards=2))
    while not again.tally["done"].all():
        again.round()
    assert duel.tally["net"].tolist() == (-again.tally["net"][::-1]).tolist()


def test_two_random_players_are_equally_strong():
    result = arena.play(Seeded(1), Seeded(2), games=6000, cube=False)
    assert result.points.low < result.points.high
    assert abs(result.points.value) < 4 * error_of(result.points)
    assert abs(result.sides[0].wins.value - 0.5) < 4 * error_of(result.sides[0].wins)


def test_pubeval_against_random_is_as_strong_as_is_known():
    result = arena.play("pubeval", "random", games=4000, seed=2, cube=False)
    assert abs(result.points.value - 2.507) < 4 * error_of(result.points)
    assert error_of(result.points) < 0.02
    won = result.sides[0].won
    assert sum(won) + sum(result.sides[1].won) == 4000
    shares = (result.sides[0].gammons.value, result.sides[0].backgammons.value)
    assert shares == pytest.approx((won[1] / 4000, won[2] / 4000))


def test_intervals_cover_the_truth_as_often_as_they_say():
    """The truth between two random players is 0 points and half of the games."""
    results = [arena.play(Seeded(5), Seeded(6), games=100, seed=seed, cube=False) for seed in range(100)]
    assert sum(result.points.low <= 0 <= result.points.high for result in results) >= 90
    assert sum(result.sides[0].wins.low <= 0.5 <= result.sides[0].wins.high for result in results) >= 90
    assert any(not result.points.low <= 0 <= result.points.high for result in results), "they would cover anything"


def test_shares_near_one_keep_an_interval():
    share = arena.share_of(np.ones(50))
    assert share.value == 1
    assert 0.9 < share.low < 0.95
    assert share.high == 1
    assert arena.share_of(np.array([0.5, 0.5, 0.5])).low < 0.5
    assert math.isnan(arena.share_of(np.zeros(0)).value)
    assert math.isnan(arena.mean_of(np.zeros(0)).value)


def test_wilsons_interval_is_the_textbooks():
    """Of 20 trials 6 succeed: 0.145 to 0.519 (Newcombe 1998, a worked figure of the score interval)."""
    values = np.array([1.0] * 6 + [0.0] * 14)
    share = arena.share_of(values)
    assert share == pytest.approx((0.3, 0.1455, 0.5190), abs=2e-2)  # the spread is by n - 1, so the trials are 19


@pytest.mark.parametrize("boards", [1, 3, 7, 64])
def test_the_same_seed_gives_the_same_result_whatever_the_batch(boards):
    settings = Settings("hypergammon", match_length=3)
    want = arena.play(Seeded(1), "pubeval", games=20, seed=4, settings=settings)
    assert arena.play(Seeded(1), "pubeval", games=20, seed=4, boards=boards, settings=settings) == want
    other = arena.play(Seeded(1), "pubeval", games=20, seed=5, settings=settings)
    assert other.points != want.points


def test_callables_see_what_their_seat_sees():
    """A callable that takes the first legal action is a player; it meets another kind in all phases."""
    result = arena.play(first_legal, "random", games=40, variant="acey_deucey", names=("first", "other"))
    assert result.episodes == 40
    assert [side.name for side in result.sides] == ["first", "other"]
    assert arena.play(first_legal, "random", games=4).sides[0].name == "first_legal"


def test_what_the_cube_does_is_counted():
    takes = arena.play(Cubes(TAKE), "random", games=40, cube_cap=2)
    assert takes.sides[0].doubles == takes.sides[1].takes == 40
    assert takes.sides[1].doubles == takes.sides[0].takes == 0
    assert abs(takes.points.value) <= 6
    drops = arena.play(Cubes(TAKE), Cubes(DROP), games=40)
    assert drops.sides[1].drops + drops.sides[0].takes == drops.sides[0].doubles + drops.sides[1].doubles
    assert drops.points.value > 0
    assert "doubled" in drops.text()
    assert "doubled" not in arena.play("random", "random", games=2).text()


def test_a_drop_wins_one_point():
    result = arena.play(Cubes(DROP), Cubes(DROP), games=20)
    assert result.sides[0].won[0] + result.sides[1].won[0] == 20
    assert result.sides[0].drops + result.sides[1].drops == 20


def test_matches_are_counted_as_matches():
    result = arena.play("pubeval", Seeded(1), games=40, match_length=3)
    assert result.episodes == 40
    assert result.unit == "match"
    assert result.sides[0].wins.value > 0.85
    assert sum(result.sides[0].won) >= 34
    assert "points per match" in result.text()


def test_a_cap_of_turns_leaves_episodes_without_a_winner():
    result = arena.play("random", "random", games=20, max_turns=4)
    assert result.episodes == 20
    assert result.turns == 4
    assert result.sides[0].wins.value == result.sides[1].wins.value == 0


def test_json_holds_everything():
    result = arena.play("pubeval", Seeded(2), games=20, cube=False)
    read = json.loads(json.dumps(result.to_dict()))
    assert read["settings"] == "backgammon, cube=False"
    assert read["points"]["value"] == result.points.value
    assert read["sides"][1]["wins"]["low"] == result.sides[1].wins.low
    assert read["sides"][0]["won"] == list(result.sides[0].won)
    assert read["complete"] is True


def test_what_two_games_do_not_tell_is_null_in_json():
    result = arena.play("random", "random", games=2)
    assert math.isinf(result.points.low)
    read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert read["points"] == {"value": result.points.value, "low": None, "high": None}
    nothing = arena.mean_of(np.zeros(0)).to_dict()
    assert nothing == {"value": None, "low": None, "high": None}


def test_progress_tells_of_every_game_once():
    told = []
    arena.play("random", "random", games=50, boards=8, progress=told.append)
    assert sum(told) == 50
    assert len(told) > 5


@pytest.mark.parametrize("after", [0, 3])
def test_ctrl_c_leaves_what_was_played(after):
    """Of the pairs played to the end, in order, those before the first that was not."""
    calls = 0

    def stop(_ended):
        nonlocal calls
        calls += 1
        if calls > after:
            raise KeyboardInterrupt

    result = arena.play(Seeded(1), Seeded(2), games=400, boards=8, seed=3, progress=stop)
    assert not result.complete
    assert result.episodes < 400
    assert result.episodes % 2 == 0
    if result.episodes:
        assert result.points == arena.play(Seeded(1), Seeded(2), games=result.episodes, seed=3).points
    else:
        assert math.isnan(result.points.value)
    assert "nan" in result.text() or result.episodes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"games": 3}, "games must be even.*: 2 or 4"),
        ({"names": ("a",)}, "names are two names, one for each player, not"),
        ({"games": 0}, r"games is a whole number from 2 to 2\*\*31 - 1, not 0"),
        ({"games": 2**31}, "games is a whole number from 2 to"),
        ({"games": 2.0}, "games is a whole number"),
        ({"seed": -1}, r"seed is a whole number from 0 to 2\*\*64 - 1, not -1"),
        ({"seed": 2**64}, r"seed is a whole number from 0 to 2\*\*64 - 1, not 18446744073709551616"),
        ({"boards": 0}, "boards is a whole number from 1 to .*, not 0"),
        ({"variant": "chess"}, "no variant is called 'chess'"),
        ({"cub": True}, "unexpected keyword argument 'cub': did you mean cube"),
        ({"observation": "eyes"}, "eyes"),
    ],
)
def test_what_cannot_be_is_refused(arguments, message):
    with pytest.raises(SettingsError, match=message):
        arena.play("random", "random", **arguments)


def test_one_list_of_options():
    match_up = MatchUp(Settings(cube=False), games=20, seed=3, observation="counts", names=["a", "b"])
    assert match_up == MatchUp(Settings(cube=False), games=20, seed=3, observation="counts", names=("a", "b"))
    assert hash(match_up) != hash(replace(match_up, seed=4))
    given = {"games": 20, "seed": 3, "observation": "counts", "names": ("a", "b"), "cube": False}
    assert read_match_up(given) == read_match_up({**given, "settings": Settings()}) == match_up
    options = {*given, "boards", "mask", "settings", "variant", "match_length"}
    for function in (arena.play, arena.play_part):
        parameters = inspect.signature(function).parameters
        assert options <= parameters.keys()
        assert (parameters["games"].default, parameters["mask"].default) == (1000, "both")
    assert "first" in inspect.signature(arena.play_part).parameters


def test_a_callable_may_take_the_mask_as_a_second_argument():
    def two(view, mask):
        assert view.shape == (len(mask), 85)
        return mask.argmax(axis=1)

    def one(seen):
        return seen["action_mask"].argmax(axis=1)

    want = arena.play(one, "random", games=20, observation="counts")
    assert arena.play(two, "random", games=20, observation="counts", mask="info", names=("one", "random")) == want
    with pytest.raises(SettingsError, match="mask is one of 'both', 'observation', 'info', not 'neither'"):
        arena.play(two, "random", mask="neither")


@pytest.mark.parametrize("player", [None, "nobody", 5, Seeded])
def test_what_is_no_player_is_refused(player):
    said = r"None is not a player|no player is called 'nobody'|an opponent is|not the class Seeded: give Seeded\(\.\.\.\)"
    with pytest.raises(SettingsError, match=said):
        arena.play("random", player)


def test_illegal_choices_name_the_player_and_the_game():
    class Wrong:
        name = "wrong"

        def choose(self, states, words):
            return np.full(len(states), ROLL)

    with pytest.raises(IllegalActionError, match=r"wrong chose an illegal action in game [01]: roll is illegal"):
        arena.play(Wrong(), Wrong(), games=2)

    class WrongPlays:
        name = "wrong plays"

        def choose_plays(self, states, words):
            return np.full((len(states), 4), -1)

    with pytest.raises(
        IllegalActionError, match=r"wrong plays gave the play \[-1, -1, -1, -1\], not a legal one, in game [01]"
    ):
        arena.play(WrongPlays(), WrongPlays(), games=2)


def test_several_players_are_ranked():
    results = arena.round_robin(["random", "pubeval", first_legal], games=100, cube=False)
    assert [tuple(side.name for side in result.sides) for result in results] == [
        ("random", "pubeval"),
        ("random", "first_legal"),
        ("pubeval", "first_legal"),
    ]
    found = arena.ratings(results)
    assert found[0].name == "pubeval"
    assert found[0].elo > 300 > found[1].elo >= found[2].elo
    assert sum(rating.elo for rating in found) == pytest.approx(0, abs=1e-6)
    assert arena.ratings_text(found).splitlines()[1].startswith("pubeval")


def test_elo_is_that_of_chess():
    """A player who wins ten games to one is 400 points better."""

    def side(name, wins):
        share = arena.Estimate(wins, 0, 1)
        return arena.Side(name, share, share, share, (0, 0, 0), 0, 0, 0, 0)

    even = arena.Estimate(0.0, 0, 0)
    result = arena.Result(Settings(), 1, 10**9, even, (side("a", 10 / 11), side("b", 1 / 11)), 50.0, True)
    a, b = arena.ratings([result])
    assert a.elo - b.elo == pytest.approx(400, abs=1e-3)


def test_an_interrupted_tournament_stops():
    def stop(_ended):
        raise KeyboardInterrupt

    results = arena.round_robin(["random", "pubeval", "random"], ["a", "b", "c"], games=10, progress=stop)
    assert len(results) == 1
    assert not results[0].complete


@pytest.mark.parametrize("cuts", [[0, 2, 40], [0, 14, 16, 40], [0, 40]])
@pytest.mark.parametrize("rules", [{"cube": False}, {"variant": "hypergammon", "match_length": 3}])
def test_parts_make_the_same_result_as_the_whole(cuts, rules):
    whole = arena.play("pubeval", Seeded(4), games=40, seed=9, **rules)
    parts = [
        arena.play_part("pubeval", Seeded(4), first=lo, games=hi - lo, seed=9, boards=5, **rules)
        for lo, hi in itertools.pairwise(cuts)
    ]
    assert arena.joined(parts[::-1]) == whole


def test_games_of_a_part_that_was_stopped_end_the_result():
    def stop(_ended):
        raise KeyboardInterrupt

    first = arena.play_part("random", Seeded(4), games=20)
    second = arena.play_part("random", Seeded(4), first=20, games=20, boards=2, progress=stop)
    third = arena.play_part("random", Seeded(4), first=40, games=20)
    result = arena.joined([first, second, third])
    assert not result.complete
    assert 20 <= result.episodes < 40
    assert result.points == arena.play("random", Seeded(4), games=result.episodes).points


def test_parts_that_are_no_whole_are_refused():
    first, second = (arena.play_part("random", "pubeval", first=lo, games=4, cube=False) for lo in (0, 4))
    for parts, message in [
        ([], "there are no parts"),
        ([second], "after game -1 comes game 0, and not a part that begins with game 4"),
        ([first, first], "after game 3 comes game 4, and not a part that begins with game 0"),
        ([first, replace(second, seed=2)], "not of the same games"),
        ([first, arena.play_part("random", "pubeval", first=4, games=4)], "not of the same games"),
    ]:
        with pytest.raises(SettingsError, match=message):
            arena.joined(parts)
    with pytest.raises(SettingsError, match=r"first must be even.*: 2 or 4"):
        arena.play_part("random", "random", first=3, games=2)
    with pytest.raises(SettingsError, match="unexpected keyword argument 'first'"):
        arena.play("random", "random", first=2)


def test_an_illegal_choice_is_told_with_the_number_of_its_game():
    with pytest.raises(IllegalActionError, match=r"in game 10[01]"):
        arena.play_part(lambda seen: np.full(len(seen["observation"]), -1), "random", first=100, games=2)


@pytest.mark.parametrize("module", ["bg_env.arena.on_ray", "bg_env.train.td.on_ray"])
def test_without_ray_the_message_says_what_to_install(monkeypatch, module):
    pytest.importorskip("torch", reason="bg_env.train needs torch")
    for name in ("bg_env.arena.on_ray", "bg_env.train.td.on_ray"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingDependencyError, match=r'needs Ray: pip install "bg_env\[rllib\]"'):
        importlib.import_module(module)
