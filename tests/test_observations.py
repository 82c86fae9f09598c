"""Every encoder against an independent encoding in plain Python, on random states of all phases, variants and settings."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from bg_env.errors import SettingsError
from bg_env.observations import ENCODERS, Encoder, default_seats, encoder
from bg_env.rules.settings import Settings
from bg_env.rules.state import STATE, Phase
from bg_env.rules.variant import VARIANTS, Variant

SETTINGS = [
    *(Settings(name) for name in VARIANTS),
    Settings(cube=False, max_turns=200),
    Settings(match_length=1),
    Settings("nackgammon", match_length=7),
    Settings(match_length=30000, crawford=False, cube_cap=None),
    Settings("hypergammon", cube_cap=None, jacoby=True, beavers=15, auto_doubles=3),
    Settings("acey_deucey", cube=True, beavers=1),
    Settings(Variant("four", {24: 2, 6: 2}), beavers=2),
    Settings("longgammon", match_length=25, allow_dead_cube=True),
]
SIZES = {"tesauro": 229, "tesauro198": 198, "counts": 85, "planes": 45 * 24, "pubeval": 122, "openspiel": 200, "pgx": 34}


def random_board(rng, checkers):
    """Both sides' 26 counts: mostly spread out, sometimes piled up, borne off or on the bar."""
    pile = rng.random()
    sides = np.zeros((2, 26), np.int8)
    for side in rng.permutation(2):
        other = sides[1 - side]
        free = [p for p in range(1, 25) if other[25 - p] == 0]
        places = rng.choice(free, size=1 if pile < 0.1 else min(len(free), 8), replace=False)
        for _ in range(checkers):
            u = rng.random()
            place = 25 if u < 0.06 else 0 if u < 0.15 else rng.choice(places)
            sides[side, 25 if 0.1 < pile < 0.13 else place] += 1
    return sides


def random_states(settings, n, seed):
    """States with every field within what `check_state` and the phases allow, not all of them reachable."""
    rng = np.random.default_rng(seed)
    states = np.zeros(n, STATE)
    phases = [Phase.OPENING, Phase.ROLL, Phase.CHECKER, Phase.CHECKER, Phase.CHECKER, Phase.OVER]
    if settings.cube:
        phases += [Phase.ROLL_OR_DOUBLE, Phase.TAKE_OR_DROP, Phase.TAKE_OR_DROP]
    if settings.variant.acey_deucey:
        phases += [Phase.CHOOSE_DOUBLE]
    for s in states:
        s["points"] = random_board(rng, settings.variant.checkers)
        phase = Phase(int(rng.choice(phases)))
        turn = int(rng.integers(2))
        s["phase"], s["turn"], s["decider"] = phase, turn, turn
        s["winner"], s["owner"] = -1, -1
        if phase is Phase.OPENING:
            s["turn"] = -1
        if phase in (Phase.OPENING, Phase.ROLL, Phase.OVER):
            s["decider"] = -1
        if phase is Phase.OVER:
            s["winner"] = rng.integers(-1, 2)
        if phase is Phase.CHECKER:
            high, low = sorted(rng.integers(1, 7, 2).tolist(), reverse=True)
            s["dice"] = high, low
            left = (int(rng.integers(1, 5)), 0) if high == low else [(1, 1), (1, 0), (0, 1)][rng.integers(3)]
            s["left"] = left
        if settings.variant.acey_deucey:
            s["stage"] = rng.integers(4)
        if settings.cube:
            s["cube"] = rng.integers(settings.cap_log2 + 1)
            s["owner"] = rng.integers(-1, 2)
            if phase is Phase.TAKE_OR_DROP:
                s["cube"] = rng.integers(settings.cap_log2)
                s["chain"] = 1 + rng.integers(min(settings.beavers + 1, settings.cap_log2 - s["cube"]))
                s["decider"] = 1 - turn if s["chain"] % 2 else turn
        if settings.match_length:
            most = settings.match_length + (3 if phase is Phase.OVER else 0)
            s["score"] = rng.integers(0, most, 2)
            s["crawford"] = rng.integers(2) if settings.cube else 0
    return states


# --- the independent encoding: lists of exact numbers, from the point of view of one seat -----------------------------------


def plain_units(n):
    return [int(n >= 1), int(n >= 2), int(n >= 3), Fraction(max(n - 3, 0), 2)]


def views(state, seat):
    """The viewer's and the opponent's checkers by the viewer's point 1-24, then (bar, off) of each."""
    mine, theirs = state["points"][seat].tolist(), state["points"][1 - seat].tolist()
    return mine[1:25], theirs[1:25][::-1], (mine[25], mine[0]), (theirs[25], theirs[0])


def plain_context(state, settings, seat):
    phase = Phase(int(state["phase"]))
    left = {int(d): int(n) for d, n in zip(state["dice"], state["left"], strict=True) if n}
    over = phase is Phase.OVER
    turn, decider, stage = int(state["turn"]), int(state["decider"]), int(state["stage"])
    chain, owner = int(state["chain"]), int(state["owner"])
    raised = max(chain - 1, 0)
    values = [int(die in left) for die in range(1, 7)]
    values += [Fraction(sum(left.values()), 4)]
    values += [int(turn == seat and not over), int(turn == 1 - seat and not over), int(decider == seat)]
    values += [int(phase in (Phase.OPENING, Phase.ROLL))]
    values += [
        int(phase is p) for p in (Phase.ROLL_OR_DOUBLE, Phase.TAKE_OR_DROP, Phase.CHECKER, Phase.CHOOSE_DOUBLE, Phase.OVER)
    ]
    values += [int(stage == k) for k in (1, 2, 3)]
    owners = [seat, 1 - seat, -1]
    values += [int(settings.cube), Fraction(int(state["cube"]) + raised, 6)]
    values += [int(settings.cube and owner == who) for who in owners]
    values += [Fraction(chain, 4), int(settings.match_length > 0)]
    for who in (seat, 1 - seat):
        needed = max(settings.match_length - int(state["score"][who]), 0) if settings.match_length else 0
        values += [min(Fraction(needed, 25), 1), Fraction(1, needed) if needed else 0]
    values += [int(state["crawford"]), int(settings.jacoby), Fraction(max(settings.beavers - raised, 0), 4)]
    return values


def plain_board(state, settings, seat):
    mine, theirs, trays, their_trays = views(state, seat)
    values = []
    for points, (bar, off) in ((mine, trays), (theirs, their_trays)):
        values += [unit for n in points for unit in plain_units(n)]
        values += [Fraction(bar, 2), Fraction(off, settings.variant.checkers)]
    return values


def plain_tesauro(state, settings, seat):
    return plain_board(state, settings, seat) + plain_context(state, settings, seat)


def plain_tesauro198(state, settings, seat):
    turn = -1 if state["phase"] == Phase.OVER else state["turn"]
    return [*plain_board(state, settings, seat), int(turn == seat), int(turn == 1 - seat)]


def plain_counts(state, settings, seat):
    mine, theirs, trays, their_trays = views(state, seat)
    counts = [*mine, *trays, *theirs, *their_trays]
    return [Fraction(n, settings.variant.checkers) for n in counts] + plain_context(state, settings, seat)


def plain_planes(state, settings, seat):
    mine, theirs, trays, their_trays = views(state, seat)
    channels = [list(column) for points in (mine, theirs) for column in zip(*map(plain_units, points), strict=True)]
    flat = [
        value for bar, off in (trays, their_trays) for value in (Fraction(bar, 2), Fraction(off, settings.variant.checkers))
    ]
    flat += plain_context(state, settings, seat)
    return [value for channel in channels for value in channel] + [value for value in flat for _ in range(24)]


def plain_pubeval(state, settings, seat):
    mine, theirs, (_, off), (their_bar, _) = views(state, seat)
    values = []
    for n, m in zip(mine[::-1], theirs[::-1], strict=True):
        values += [int(m == 1), int(n == 1), int(n >= 2), int(n == 3), Fraction(n - 3, 2) if n >= 4 else 0]
    return [*values, Fraction(their_bar, 2), Fraction(off, settings.variant.checkers)]


def plain_openspiel(state, settings, seat):
    absolute = [state["points"][0, 1:25].tolist()[::-1], state["points"][1, 1:25].tolist()]
    values = []
    for side in (seat, 1 - seat):
        for n in absolute[side]:
            values += [int(n == 1), int(n == 2), int(n == 3), n - 3 if n > 3 else 0]
    for side in (seat, 1 - seat):
        values += [int(state["points"][side, 25]), int(state["points"][side, 0]), int(state["decider"] == side)]
    left = sorted(d for d, n in zip(state["dice"].tolist(), state["left"].tolist(), strict=True) for _ in range(n))
    return values + [*left, 0, 0][:2]


def plain_pgx(state, settings, seat):
    mover = plain_viewer(state)
    mine, theirs, (bar, off), (their_bar, their_off) = views(state, mover)
    values = [n - m for n, m in zip(mine[::-1], theirs[::-1], strict=True)] + [bar, -their_bar, off, -their_off]
    left = dict.fromkeys(range(1, 7), 0)
    for d, n in zip(state["dice"].tolist(), state["left"].tolist(), strict=True):
        if n and seat == mover:
            left[d] = n
    return values + list(left.values())


PLAIN = {name: globals()[f"plain_{name}"] for name in SIZES}


def plain_viewer(state):
    """The default viewer."""
    winner = state["winner"] if state["phase"] == Phase.OVER else -1
    return int(next(who for who in (state["decider"], winner, state["turn"], 0) if who >= 0))


def rounded(values):
    """Exact numbers to float32, by way of the nearest double."""
    return np.array([float(v) for v in values]).astype(np.float32)


# --- tests -------------------------------------------------------------------------------------------------------------------


def test_the_table_names_every_layout():
    assert {name: ENCODERS[name].size for name in ENCODERS} == SIZES
    assert next(iter(ENCODERS)) == "tesauro"
    for name, item in ENCODERS.items():
        assert item is encoder(name)
        assert item.name == name
        assert item.shape == ((45, 24) if name == "planes" else (SIZES[name],))
        assert len(item.labels) == len(set(item.labels)) == item.size
        assert all(isinstance(label, str) and label for label in item.labels)
        for bound in (item.low, item.high):
            assert bound.dtype == np.float32
            assert bound.shape == item.shape
            assert not bound.flags.writeable
        assert (item.low <= item.high).all()
    with pytest.raises(SettingsError, match=r"no observation is called 'tesauro9': choose from tesauro, tesauro198"):
        encoder("tesauro9")


@pytest.mark.parametrize("name", SIZES)
def test_kernels_agree_with_the_plain_encoding(name):
    item = encoder(name)
    for k, settings in enumerate(SETTINGS):
        states = random_states(settings, 160, 1000 + k)
        rules = settings.record()
        for seat in (0, 1, None):
            before = states.copy()
            got = item.encode(states, rules, seats=seat)
            assert np.array_equal(states, before)
            assert got.dtype == np.float32
            assert got.shape == (len(states), *item.shape)
            for state, row in zip(states, got, strict=True):
                viewer = plain_viewer(state) if seat is None else seat
                want = rounded(PLAIN[name](state, settings, viewer)).reshape(item.shape)
                assert np.array_equal(row, want), (settings, state, viewer, np.flatnonzero(row != want))
            assert (got >= item.low).all()
            assert (got <= item.high).all()


@pytest.mark.parametrize("name", SIZES)
def test_every_element_is_written(name):
    item = encoder(name)
    for settings in (SETTINGS[0], SETTINGS[3]):
        states = random_states(settings, 50, 5)
        outs = [np.full((50, *item.shape), filler, np.float32) for filler in (np.nan, 7e9)]
        for out in outs:
            assert item.encode(states, settings.record(), out, seats=0) is out
        assert np.array_equal(*outs)


@pytest.mark.parametrize("name", sorted(set(SIZES) - {"openspiel"}))
def test_the_board_looks_the_same_from_either_side(name):
    """Swap the sides and the seats, and the viewer sees the same (OpenSpiel's points are absolute instead)."""
    item = encoder(name)
    for k, settings in enumerate(SETTINGS):
        states = random_states(settings, 60, 50 + k)
        mirrored = states.copy()
        mirrored["points"], mirrored["score"] = states["points"][:, ::-1], states["score"][:, ::-1]
        for field in ("turn", "decider", "owner", "winner"):
            mirrored[field] = np.where(states[field] >= 0, 1 - states[field], -1)
        seats = np.random.default_rng(k).integers(0, 2, len(states))
        if name == "pgx":  # before the opening throw it shows player 0's board
            states["turn"], mirrored["turn"] = np.maximum(states["turn"], 0), np.where(states["turn"] > 0, 0, 1)
        rules = settings.record()
        assert np.array_equal(item.encode(states, rules, seats=seats), item.encode(mirrored, rules, seats=1 - seats))


def test_a_batch_is_its_games():
    settings = SETTINGS[2]
    states, rules = random_states(settings, 40, 9), settings.record()
    for item in ENCODERS.values():
        whole = item.encode(states, rules)
        alone = np.concatenate([item.encode(states[i : i + 1], rules) for i in range(len(states))])
        assert np.array_equal(whole, alone)
        assert np.array_equal(item.encode(states[::3], rules), whole[::3])
        assert item.encode(states[:0], rules).shape == (0, *item.shape)


def test_labels_say_what_is_at_their_place():
    settings = Settings(match_length=5)
    states = np.zeros(1, STATE)
    states["points"][0, 1, 24] = 2
    states["points"][0, 1, 0] = 13
    states["points"][0, 0, 6] = 4
    states["points"][0, 0, 25] = 1
    states["points"][0, 0, 0] = 10
    states["phase"], states["dice"], states["left"], states["owner"], states["cube"] = Phase.CHECKER, (6, 2), (0, 1), 1, 1
    states["score"] = (1, 4)
    seen = {}
    for name, item in ENCODERS.items():
        values = item.encode(states, settings.record(), seats=0).reshape(-1)
        seen[name] = {label: float(v) for label, v in zip(item.labels, values, strict=True) if v}
    context = {
        "die 2 left to play": 1,
        "steps left / 4": 0.25,
        "own turn": 1,
        "own decision": 1,
        "phase CHECKER": 1,
        "cube in play": 1,
        "cube: log2 of the value before the take / 6": pytest.approx(1 / 6),
        "cube owned by the opponent": 1,
        "match play": 1,
        "points needed / 25, at most 1": pytest.approx(4 / 25),
        "1 / points needed": 0.25,
        "points needed by the opponent / 25, at most 1": pytest.approx(1 / 25),
        "1 / points needed by the opponent": 1,
    }
    board = {
        "own checkers on point 6: n >= 1": 1,
        "own checkers on point 6: n >= 2": 1,
        "own checkers on point 6: n >= 3": 1,
        "own checkers on point 6: (n - 3) / 2": 0.5,
        "own checkers on the bar / 2": 0.5,
        "own share of checkers borne off": pytest.approx(10 / 15),
        "opponent's checkers on point 1: n >= 1": 1,
        "opponent's checkers on point 1: n >= 2": 1,
        "opponent's share of checkers borne off": pytest.approx(13 / 15),
    }
    assert seen["tesauro"] == board | context
    assert seen["tesauro198"] == board | {"own turn": 1}
    assert seen["counts"] == context | {
        "own share of checkers on point 6": pytest.approx(4 / 15),
        "own share of checkers on the bar": pytest.approx(1 / 15),
        "own share of checkers borne off": pytest.approx(10 / 15),
        "opponent's share of checkers on point 1": pytest.approx(2 / 15),
        "opponent's share of checkers borne off": pytest.approx(13 / 15),
    }
    assert len(seen["planes"]) == 4 + 2 + 24 * (3 + len(context))
    assert seen["planes"]["own checkers: (n - 3) / 2, point 6"] == 0.5
    assert seen["planes"]["opponent's checkers: n >= 2, point 1"] == 1
    assert seen["planes"]["die 2 left to play, point 17"] == 1
    assert seen["pubeval"] == {
        "point 6: own n >= 2": 1,
        "point 6: own (n - 3) / 2": 0.5,
        "own share of checkers borne off": pytest.approx(10 / 15),
    }
    assert seen["openspiel"] == {
        "own checkers on x's point 6: n - 3": 1,
        "own: checkers on the bar": 1,
        "own: checkers borne off": 10,
        "own: decision": 1,
        "opponent's checkers on x's point 1: n = 2": 1,
        "opponent's: checkers borne off": 13,
        "die: the lower, or the one left": 2,
    }
    assert seen["pgx"] == {
        "checkers on the mover's point 6, the opponent's negative": 4,
        "checkers on the mover's point 1, the opponent's negative": -2,
        "the mover's checkers on the bar": 1,
        "the mover's checkers borne off": 10,
        "minus the opponent's checkers borne off": -13,
        "steps left with a 2, for the mover": 1,
    }


def test_bounds_hold_at_the_extremes():
    """All checkers in one place, for either side, with the cube at the highest value that may wait for an answer."""
    settings = Settings(cube_cap=None, beavers=15)
    for item in ENCODERS.values():
        reached = np.full(item.size, -np.inf)
        for place in range(26):
            for side in (0, 1):
                states = np.zeros(1, STATE)
                states["points"][0, side, place] = settings.variant.checkers
                states["points"][0, 1 - side, 0 if place else 25] = settings.variant.checkers
                states["phase"], states["chain"], states["cube"], states["dice"] = Phase.TAKE_OR_DROP, 16, 0, 0
                seen = item.encode(states, settings.record(), seats=0).reshape(-1)
                assert (seen >= item.low.reshape(-1)).all(), item.name
                assert (seen <= item.high.reshape(-1)).all(), item.name
                reached = np.maximum(reached, seen)
        tight = [
            k
            for k, label in enumerate(item.labels)
            if "(n - 3)" in label or "bar" in label or "off" in label or "log2" in label
        ]
        assert tight or item.name == "counts"
        assert np.array_equal(reached[tight], item.high.reshape(-1)[tight]), item.name


def test_default_seats():
    rows = [  # phase, decider, turn, winner -> seat
        (Phase.OPENING, -1, -1, -1, 0),
        (Phase.OPENING, -1, -1, 1, 0),  # the winner is that of the game before
        (Phase.ROLL, -1, 1, -1, 1),
        (Phase.TAKE_OR_DROP, 0, 1, -1, 0),
        (Phase.CHECKER, 1, 1, 0, 1),
        (Phase.OVER, -1, 0, 1, 1),
        (Phase.OVER, -1, 1, 0, 0),
        (Phase.OVER, -1, 1, -1, 1),
        (Phase.OVER, -1, -1, -1, 0),
    ]
    states, seats = np.zeros(len(rows), STATE), np.empty(len(rows), np.int8)
    for state, (phase, decider, turn, winner, _) in zip(states, rows, strict=True):
        state["phase"], state["decider"], state["turn"], state["winner"] = phase, decider, turn, winner
    default_seats(states, seats)
    assert seats.tolist() == [row[-1] for row in rows]


def test_other_libraries_layouts_refuse_other_variants():
    for name, item in ENCODERS.items():
        for settings in SETTINGS:
            if item.standard_only and settings.variant.name != "backgammon":
                with pytest.raises(SettingsError, match=f"observation {name} is made for standard backgammon, not for"):
                    item.check(settings)
            else:
                item.check(settings)
    assert {name for name, item in ENCODERS.items() if item.standard_only} == {"openspiel", "pgx"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": np.zeros((2, 2), STATE)}, "1-D array of STATE"),
        ({"states": np.zeros(3)}, "1-D array of STATE"),
        ({"states": [1, 2, 3]}, "1-D array of STATE"),
        ({"rules": Settings()}, "one RULES record"),
        ({"rules": Settings().record()[0]}, "one RULES record"),
        ({"out": np.zeros((3, 228), np.float32)}, r"float32 array of shape \(3, 229\)"),
        ({"out": np.zeros((3, 229))}, r"float32 array of shape \(3, 229\)"),
        ({"out": np.zeros((3, 458), np.float32)[:, ::2]}, "C-contiguous"),
        ({"out": np.zeros(687, np.float32).reshape(3, 229).view()}, None),
        ({"seats": [0, 1]}, "seats must be 0 or 1"),
        ({"seats": [0, 1, 2]}, "seats must be 0 or 1"),
        ({"seats": -1}, "seats must be 0 or 1"),
        ({"seats": [0.0, 1.0, 0.0]}, "seats must be 0 or 1"),
        ({"seats": np.array([[0, 1, 0]])}, "seats must be 0 or 1"),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    given = {"states": np.zeros(3, STATE), "rules": Settings().record(), "out": None, "seats": None} | change
    if message is None:
        assert encoder("tesauro").encode(**given) is given["out"]
        return
    with pytest.raises(SettingsError, match=message):
        encoder("tesauro").encode(**given)


def test_a_read_only_out_is_refused():
    out = np.zeros((3, 229), np.float32)
    out.flags.writeable = False
    with pytest.raises(SettingsError, match="writable"):
        encoder("tesauro").encode(np.zeros(3, STATE), Settings().record(), out)


def test_labels_and_bounds_must_fit():
    with pytest.raises(SettingsError, match="encoder short: 1 labels for 2 features"):
        Encoder("short", ("one",), np.zeros(2), np.ones(2), encoder("tesauro").kernel, (2,))


def test_an_encoder_survives_copies():
    item = encoder("counts")
    assert pickle.loads(pickle.dumps(item)) is item  # noqa: S301 - our own bytes
    assert copy.deepcopy(item) is item
    assert repr(item) == "Encoder('counts', shape=(85,))"


def test_the_same_arrays_without_compilation(tmp_path):
    """NUMBA_DISABLE_JIT=1 runs the kernels as plain Python, without a warning, and writes the same bits."""
    chosen = SETTINGS[:6] + SETTINGS[9:12]
    batches = [random_states(settings, 12, 70 + k) for k, settings in enumerate(chosen)]
    np.save(tmp_path / "states.npy", np.concatenate(batches))
    np.save(tmp_path / "rules.npy", np.concatenate([settings.record() for settings in chosen]))
    script = """
import sys, numpy as np
from bg_env.observations import ENCODERS, default_seats
folder = sys.argv[1]
states, rules = np.load(folder + "/states.npy"), np.load(folder + "/rules.npy")
out = {name: np.concatenate([e.encode(states[12 * k : 12 * k + 12], rules[k : k + 1]) for k in range(len(rules))])
       for name, e in ENCODERS.items()}
assert not hasattr(default_seats, "signatures")
np.savez(folder + "/out.npz", **out)
"""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-W", "error", "-c", script, str(tmp_path)], env=environment, check=True, timeout=120)
    got = np.load(tmp_path / "out.npz")
    for name, item in ENCODERS.items():
        want = np.concatenate([item.encode(b, s.record()) for b, s in zip(batches, chosen, strict=True)])
        assert np.array_equal(got[name].view(np.uint32), want.view(np.uint32)), name
