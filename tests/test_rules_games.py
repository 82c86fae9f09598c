"""Whole random games: how they end, and that a game is the same alone, in any batch, on any thread, in any process."""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from engine import begin, play_out

import bg_env
from bg_env import rules as engine
from bg_env._jit import CACHE_DIR
from bg_env.rules import VARIANTS, Phase, Settings

PACKAGE = Path(bg_env.__file__).parent
KINDS = [
    Settings("backgammon", match_length=3),
    Settings("backgammon", jacoby=True, beavers=2, auto_doubles=1),
    Settings("acey_deucey", cube=True, max_turns=60),
    Settings("hypergammon", match_length=9, crawford=False),
]
SEEDS = range(5, 12)


def digests(settings=None, seeds=SEEDS):
    """Of the ways to the end of every game of `SEEDS` under all `KINDS`, the cube turned now and then."""
    return [play_out(kind, begin(kind, seeds), turning=40) for kind in (KINDS if settings is None else [settings])]


@pytest.fixture(scope="module")
def expected():
    return digests()


def test_states_have_no_padding():
    """Numpy's copies leave padding as it happens to be, and states are compared and hashed by their bytes."""
    assert engine.STATE.itemsize == sum(field[0].itemsize for field in engine.STATE.fields.values()) <= 128


def by_plays(states, rules, rng):
    """Play all to their ends: one of the distinct whole plays of each roll, all alike."""
    going = np.arange(len(states))
    while len(going):
        for i in going:
            engine.settle(states, i, rules)
        going = going[states["phase"][going] != Phase.OVER]
        offsets, _, after = engine.plays(states[going], rules)
        states[going] = after[rng.integers(offsets[:-1], offsets[1:])]


def by_steps(states, rules, rng):
    """Play all to their ends as the random player does: one of the legal steps, all alike."""
    for i in range(len(states)):
        engine.settle(states, i, rules)
        while states[i]["phase"] != Phase.OVER:
            bits = engine.word(states[i]["key"], engine.CHOICE, np.uint64(states[i]["choices"]))
            states[i]["choices"] += 1
            engine.apply(states, i, rules, engine.pick_action(states, i, np.uint64(bits)))
            engine.settle(states, i, rules)


@pytest.mark.parametrize(("play", "want"), [(by_plays, [0.37, 0.37, 0.26]), (by_steps, [0.40, 0.365, 0.235])])
def test_random_games_end_as_often_in_each_way_as_they_should(play, want):
    """2,000 cubeless games. The shares published are those of random whole plays; random steps win a few gammons less."""
    settings = Settings("backgammon", cube=False)
    rules, states = settings.record(), begin(settings, range(2_000))
    play(states, rules, np.random.default_rng(6))
    levels = Counter(states["level"].tolist())
    shares = [levels[level] / len(states) for level in (1, 2, 3)]
    assert shares == pytest.approx(want, abs=0.03)
    assert (states["won"] == states["level"]).all()
    assert (states["ending"] == engine.END_FINISHED).all()
    assert abs(states["winner"].mean() - 0.5) < 4 * 0.5 / np.sqrt(len(states))
    assert len({state.tobytes() for state in states}) == len(states)


def test_the_random_player_picks_every_legal_action_as_often():
    settings = Settings("backgammon", cube=False)
    rules, states = settings.record(), begin(settings, [1])
    engine.apply_roll(states, 0, rules, 3, 1)
    mask = np.zeros((1, settings.actions), np.int8)
    engine.legal_mask(states, 0, rules, mask, 0)
    words = (np.uint64(engine.word(np.uint64(9), engine.CHOICE, np.uint64(n))) for n in range(14_000))
    counts = Counter(int(engine.pick_action(states, 0, bits)) for bits in words)
    assert sorted(counts) == np.flatnonzero(mask[0]).tolist()
    share = 14_000 / len(counts)
    assert sum((n - share) ** 2 / share for n in counts.values()) < 31  # seven ways: chance of more 2e-5


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_game_is_the_same_alone_and_in_any_batch(kind, expected):
    want = dict(zip(SEEDS, expected[KINDS.index(kind)], strict=True))
    assert len(set(want.values())) == len(want)
    for seed in SEEDS:
        assert play_out(kind, begin(kind, [seed]), turning=40) == [want[seed]]
    others = [9, 3, 7, 1_000]
    assert play_out(kind, begin(kind, others), turning=40)[::2] == [want[9], want[7]]


@pytest.mark.parametrize("threads", [2, 5])
def test_a_game_is_the_same_on_any_number_of_threads(threads, expected):
    """The kernels drop the GIL; slices of one array are played at the same time."""
    for kind, want in zip(KINDS, expected, strict=True):
        states = begin(kind, SEEDS)
        parts = np.array_split(np.arange(len(states)), threads)
        with ThreadPoolExecutor(threads) as pool:
            done = pool.map(lambda part, kind=kind, states=states: play_out(kind, states[part[0] : part[-1] + 1], 40), parts)
        assert [digest for part in done for digest in part] == want


@pytest.mark.parametrize("variant", VARIANTS)
def test_settings_and_variants_in_one_process_do_not_disturb_each_other(variant):
    """Games of all kinds one between the other, and of each kind alone."""
    mine = Settings(variant, cube=False)
    alone = play_out(mine, begin(mine, [3]))
    for kind in KINDS:
        play_out(kind, begin(kind, [1]), turning=40)
    assert play_out(mine, begin(mine, [3])) == alone


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_children_play_the_same_games(method, expected):
    """Forked after the kernels have run here, and spawned."""
    context = multiprocessing.get_context(method)
    with context.Pool(1) as pool:
        assert pool.apply_async(digests).get(timeout=120) == expected


def python(code, **environment):
    """Another process, with warnings as errors: its output, and its stderr."""
    tests = str(Path(__file__).parent)
    here = {"PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), tests]), **environment}
    env = {name: value for name, value in os.environ.items() if not name.startswith(("BG_ENV", "NUMBA", "PYTHON"))} | here
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=env,
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


SHOW = "from test_rules_games import digests; print(digests())"


def test_another_process_plays_the_same_games_from_warm_caches(expected):
    """This process has compiled or loaded the kernels: a further one loads them, which once crashed self-recursive ones."""
    out, err = python(SHOW, BG_ENV_CACHE_DIR=str(Path(CACHE_DIR).parent))
    assert out.strip() == str(expected)
    assert "compiling" not in err


def test_the_same_games_without_compilation(expected):
    """`NUMBA_DISABLE_JIT=1`, warnings (of overflows, say) being errors."""
    out, err = python(SHOW, NUMBA_DISABLE_JIT="1")
    assert out.strip() == str(expected)
    assert err == ""


ONE_TURN = """
import numpy as np
from bg_env import rules as engine
from bg_env._jit import CACHE_DIR
from bg_env.rules.game import finish_roll
settings = engine.Settings("backgammon", cube=False)
rules, states = settings.record(), np.zeros(1, engine.STATE)
states["owner"] = -1
finish_roll(states, 0, rules)
print(engine.Phase(int(states[0]["phase"])), CACHE_DIR)
"""
"""A turn that ends: few kernels to compile, in more than one file."""


@pytest.fixture
def unwritable(tmp_path):
    """The package in a folder where nothing can be written, and no home to write to: files stand where folders would."""
    shutil.copytree(PACKAGE, tmp_path / "bg_env", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "bg_env" / "__pycache__").write_text("a file, so that no folder can be made")
    (tmp_path / "home").write_text("a file as well")
    home = str(tmp_path / "home")
    return {"PYTHONPATH": str(tmp_path), "HOME": home, "USERPROFILE": home, "XDG_CACHE_HOME": home, "LOCALAPPDATA": home}


def test_package_and_home_unwritable(unwritable, tmp_path):
    """One warning, and a temporary folder instead."""
    code = f"import warnings; warnings.simplefilter('default')\n{ONE_TURN}"
    out, err = python(code, TMPDIR=str(tmp_path), TEMP=str(tmp_path), TMP=str(tmp_path), **unwritable)
    phase, folder = out.split(maxsplit=1)
    assert phase == "ROLL"
    assert Path(folder.strip()).parent == tmp_path
    assert len(re.findall("RuntimeWarning", err)) == 1
    assert "BG_ENV_CACHE_DIR" in err


def test_the_cache_folder_can_be_chosen_and_is_keyed_by_the_kernels(unwritable, tmp_path):
    """Numba alone would not see that a helper in another file has changed."""
    environment = {"BG_ENV_CACHE_DIR": str(tmp_path / "mine"), **unwritable}
    out, err = python(ONE_TURN, **environment)
    phase, folder = out.split(maxsplit=1)
    assert phase == "ROLL"
    assert Path(folder.strip()).parent == tmp_path / "mine"
    assert any(Path(folder.strip()).rglob("*.nbi"))
    assert err.count("compiling") == 1
    assert "Warning" not in err
    assert python(ONE_TURN, **environment) == (out, "")  # loaded
    helper = tmp_path / "bg_env" / "rules" / "cube.py"
    text = helper.read_text(encoding="utf-8")
    assert text.count('if rules[0]["cube"] == 0 or') == 1
    helper.write_text(text.replace('if rules[0]["cube"] == 0 or', "if"), encoding="utf-8")
    assert python(ONE_TURN, **environment)[0].startswith("ROLL_OR_DOUBLE")
