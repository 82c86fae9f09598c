"""Rollouts: against exact values, in every phase, on any number of threads, cut short, stopped and interrupted."""

from __future__ import annotations

import numpy as np
import pytest

import bg_env
from bg_env import exact
from bg_env.errors import IllegalActionError, NotationError, SettingsError
from bg_env.evaluation.rollouts import rollout_states
from bg_env.evaluation.trials import Trials
from bg_env.rules import Phase, Settings
from bg_env.rules.candidates import candidates

TINY = bg_env.Variant("tiny", {6: 1}, cube=False)


def side(*points: int, checkers: int = 15) -> list[int]:
    """26 counts with one checker on each of the points, the others borne off."""
    counts = [0] * 26
    for point in points:
        counts[point] += 1
    counts[0] = checkers - len(points)
    return counts


def race(mover: tuple[int, ...], other: tuple[int, ...], **settings: object) -> bg_env.Game:
    """A game at the beginning of a turn with a few checkers left."""
    return bg_env.Game.from_position(bg_env.Position(side(*mover), side(*other)), **settings)  # type: ignore[arg-type]


def opening() -> bg_env.Game:
    game = bg_env.Game(cube=False)
    game.apply_roll(3, 1)
    return game


def test_36_trials_have_every_first_roll_and_then_the_exact_values() -> None:
    game = race((7,), (3, 3, 2), cube=False)
    assert not exact.two_sided().covers(game)
    total = 0.0
    for d1 in range(1, 7):
        for d2 in range(1, 7):
            after = game.copy()
            after.apply_roll(d1, d2)
            values = []
            for play in after.legal_plays():
                end = after.copy()
                end.play(play)
                values.append(1.0 if end.over else -float(exact.two_sided().equity(end.position)))
            total += max(values) / 36
    found = bg_env.rollout(game, games=36, luck=False)
    assert found.equity == pytest.approx(total, abs=1e-12)
    assert found.games == 36
    assert not found.best.exact
    assert found.probabilities[0] == pytest.approx((1 + total) / 2, abs=1e-12)


def test_the_luck_is_subtracted_from_the_same_trials() -> None:
    game = race((6, 6, 5, 5, 4, 4, 3), (6, 6, 5, 5, 4, 4, 3), cube=False)
    plain, less = (bg_env.rollout(game, games=144, truncate=None, luck=luck) for luck in (False, True))
    assert less.best.plain == pytest.approx(plain.equity, abs=1e-12)
    assert less.best.plain_error == pytest.approx(plain.standard_error, abs=1e-12)
    assert less.standard_error < plain.standard_error / 1.5
    assert abs(less.equity - plain.equity) < 4 * plain.standard_error
    assert sum(less.probabilities[k] for k in (0, 3)) == pytest.approx(1)


@pytest.mark.parametrize("truncate", [None, 3])
def test_a_game_that_is_solved(truncate: int | None) -> None:
    """The mean of many trials, and what the luck of a foreign net leaves of them, is the exact value."""
    solution = exact.solve(TINY)
    game = bg_env.Game.from_position(bg_env.Position(side(6, checkers=1), side(5, checkers=1), TINY), cube=False)
    value = solution.value(game)
    found = bg_env.rollout(game, solution.player(), games=1296, truncate=truncate, luck="td")
    assert abs(found.best.plain - value) < 4 * found.best.plain_error + 1e-9
    assert abs(found.equity - value) < 4 * found.standard_error + 1e-9


def test_any_number_of_threads_gives_the_same() -> None:
    one, three = (bg_env.rollout(opening(), games=40, truncate=2, plays=["8/5 6/5", "13/9"], num_threads=n) for n in (1, 3))
    assert one.to_dict() == three.to_dict()
    other = bg_env.rollout(opening(), games=40, truncate=2, plays=["8/5 6/5", "13/9"], seed=2)
    assert other.equity != one.equity


def test_candidates_come_best_first_with_their_losses() -> None:
    game = opening()
    found = bg_env.rollout(game, games=72, truncate=2, plays=["13/9", game.legal_plays()[0], "8/5 6/5"])
    assert [one.equity for one in found.candidates] == sorted((one.equity for one in found.candidates), reverse=True)
    best = found.best
    assert (best.text, best.loss, best.loss_error) == ("8/5 6/5", 0, 0)
    assert best.play in game.legal_plays()
    for one in found.candidates[1:]:
        assert one.loss == pytest.approx(best.equity - one.equity)
        assert 0 < one.loss_error < 0.1
    assert found.player == game.player
    assert found.text().count("\n") == 4


def test_a_covered_position_is_exact() -> None:
    game = race((6, 5), (4, 4, 1), cube=False)
    found = bg_env.rollout(game)
    assert found.equity == pytest.approx(exact.two_sided().equity(game.position), abs=1e-12)
    assert (found.standard_error, found.best.exact) == (0, True)


def test_cube_decisions_are_those_of_the_table() -> None:
    game = race((6, 5, 2), (4, 4, 1))
    table = exact.two_sided().cube_equities(game, "centred")
    assert game.phase == Phase.ROLL_OR_DOUBLE
    assert bg_env.rollout(game).equity == pytest.approx(table.equity, abs=1e-12)
    rows = {one.text: one for one in bg_env.rollout(game, games=36, plays=["roll", "double"]).candidates}
    assert rows["roll"].equity == pytest.approx(table.no_double, abs=1e-12)
    assert rows["double"].equity == pytest.approx(min(table.double_take, 1), abs=1e-12)
    game.play("double")
    rows = {one.text: one for one in bg_env.rollout(game, games=36, plays=["take", "drop"]).candidates}
    assert rows["take"].equity == pytest.approx(-table.double_take, abs=1e-12)
    assert (rows["drop"].equity, rows["drop"].probabilities[3]) == (-1, 1)


def test_equities_are_in_units_of_the_cube() -> None:
    game = race((6, 5, 2), (4, 4, 1))
    value = bg_env.rollout(game).equity
    game.play("double")
    game.play("take")
    after = bg_env.rollout(game).equity
    assert after == pytest.approx(exact.two_sided().cube_equities(game, "centred").double_take / 2, abs=1e-12)
    assert value != after


def test_matches_are_counted_by_the_match_equity_table() -> None:
    game = race((6, 5), (4, 4, 1), match_length=3, cube=False)
    chance = (1 + exact.two_sided().equity(game.position)) / 2
    found = bg_env.rollout(game)
    won, lost = bg_env.equity.match_equity(2, 3), bg_env.equity.match_equity(3, 2)
    assert found.equity == pytest.approx(2 * chance - 1, abs=1e-12)
    assert found.match_chance() == pytest.approx(chance * won + (1 - chance) * lost, abs=1e-9)
    live = bg_env.rollout(race((6, 5, 2), (4, 4, 1), match_length=3), games=72)
    assert 0 < live.match_chance() < 1  # type: ignore[operator]
    assert abs(live.equity) < 1.5


def test_the_end_of_a_game_of_a_match_is_exact() -> None:
    game = race((2, 1), (4, 4, 1), match_length=3, cube=False)
    game.apply_roll(2, 1)
    found = bg_env.rollout(game, plays=[str(game.legal_plays()[0])])
    assert (found.equity, found.best.exact, found.probabilities) == (pytest.approx(1), True, (1, 0, 0, 0, 0, 0))
    game.play(game.legal_plays()[0])
    assert game.phase == Phase.OPENING
    after = bg_env.rollout(game, games=30, truncate=1, luck=False)
    assert abs(after.equity) < 0.2  # the next game, from its opening throw
    assert (after.player, after.best.exact) == (0, False)


def test_a_game_that_is_over() -> None:
    game = bg_env.Game(cube=False)
    game.resign(2, player=1)
    found = bg_env.rollout(game)
    assert (found.player, found.equity, found.standard_error) == (0, 2, 0)
    assert found.probabilities == (1, 1, 0, 0, 0, 0)


def test_named_doubles() -> None:
    game = bg_env.Game("acey_deucey", seed=3)
    while game.phase != Phase.CHOOSE_DOUBLE:
        game.apply(game.legal_actions()[-1])
    found = bg_env.rollout(game, games=36, truncate=2, plays=["1-1", "6-6"])
    assert {one.text for one in found.candidates} == {"1-1", "6-6"}
    assert found.best.play is None


@pytest.mark.parametrize("variant", sorted(set(bg_env.VARIANTS) - {"backgammon"}))
def test_variants_and_both_seats(variant: str) -> None:
    game = bg_env.Game(variant, seed=5)
    found = bg_env.rollout(game, games=30, truncate=3)
    assert found.player == game.player
    assert found.probabilities[0] + found.probabilities[3] == pytest.approx(1, abs=1e-6)
    assert abs(found.equity) < 3


def test_the_dice_of_the_game_are_not_looked_at() -> None:
    seeded, plain = bg_env.Game(seed=9, cube=False), bg_env.Game(cube=False)
    plain = bg_env.Game.from_states(seeded.states, seeded.settings)
    before = seeded.states.tobytes()
    assert bg_env.rollout(seeded, games=36, truncate=2).equity == bg_env.rollout(plain, games=36, truncate=2).equity
    assert seeded.states.tobytes() == before


def test_a_wanted_standard_error_ends_the_trials() -> None:
    found = bg_env.rollout(opening(), games=10_000, truncate=2, standard_error=0.02)
    assert found.complete
    assert found.games < 400
    assert found.standard_error <= 0.02


def test_arrays_of_states() -> None:
    game = opening()
    _, _, after = candidates(game.states, game.settings.record())
    found = rollout_states(after[:3], game.settings, games=36, truncate=2)
    rows = bg_env.rollout(game, games=36, truncate=2, plays=game.legal_plays()[:3]).candidates
    sign = 1 if game.player == 0 else -1
    assert sorted(sign * found.equities) == pytest.approx(sorted(one.equity for one in rows))
    assert found.games.tolist() == [36] * 3
    assert found.probabilities.shape == (3, 6)


def test_interrupts_give_what_there_is() -> None:
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    found = bg_env.rollout(opening(), games=1296, truncate=1, progress=stop)
    assert not found.complete
    assert found.games == 36
    assert found.equity == bg_env.rollout(opening(), games=36, truncate=1).equity


def test_an_interrupt_before_any_trial_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Trials, "run", run)
    with pytest.raises(KeyboardInterrupt):
        bg_env.rollout(opening(), games=36)


def test_progress_counts_all_trials() -> None:
    seen: list[int] = []
    bg_env.rollout(opening(), games=40, truncate=1, luck=False, plays=["8/5 6/5", "13/9"], progress=seen.append)
    assert sum(seen) == 80


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"player": "nobody"}, "no player is called"),
        ({"player": 3}, "not"),
        ({"games": 0}, "games"),
        ({"truncate": 0}, "truncate"),
        ({"luck": "random"}, "has no value net"),
        ({"luck": 2}, "has no value net"),
        ({"standard_error": -1}, "standard_error"),
        ({"seed": -1}, "seed"),
        ({"num_threads": 0}, "num_threads"),
        ({"plays": []}, "plays are a list"),
        ({"plays": "8/5 6/5"}, "plays are a list"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        bg_env.rollout(opening(), **options)  # type: ignore[arg-type]


def test_bad_candidates_are_refused() -> None:
    with pytest.raises(IllegalActionError):
        bg_env.rollout(opening(), plays=["13/1"])
    with pytest.raises(NotationError):
        bg_env.rollout(opening(), plays=["hello"])
    with pytest.raises(IllegalActionError, match="nobody decides"):
        bg_env.rollout(bg_env.Game(), plays=["8/5 6/5"])
    with pytest.raises(IllegalActionError, match="is not a candidate"):
        bg_env.rollout(race((6, 5, 2), (4, 4, 1)), plays=["take"])
    with pytest.raises(SettingsError, match="begins with a"):
        bg_env.rollout("XGID")  # type: ignore[arg-type]


def test_an_illegal_choice_of_the_player_is_reported() -> None:
    class Wrong:
        def choose(self, states: np.ndarray, words: np.ndarray) -> np.ndarray:
            return np.full(len(states), 151)

    with pytest.raises(IllegalActionError, match="Wrong chose an illegal action in a rollout"):
        bg_env.rollout(opening(), Wrong(), games=2)


def test_a_player_of_single_steps() -> None:
    found = bg_env.rollout(opening(), "random", games=36, truncate=2, luck=False)
    assert found.by == "random"
    assert Settings("backgammon", cube=False) == found.settings
