"""Compilation of kernels and their cache: what is kept, where, and what happens to damaged, foreign and full folders."""

from __future__ import annotations

import gc
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

import bg_env
from bg_env import _jit, _numba
from bg_env.rules import Phase, dice

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT) or _jit._PLAIN, reason="needs compiled kernels, by our own dispatcher")

WORD = """
import sys
from numba.core import event
class Count(event.Listener):
    n = 0
    def on_start(self, event): Count.n += 1
    def on_end(self, event): pass
event.register("numba:compile", Count())
from bg_env import _jit
from bg_env.rules.dice import word
import numpy as np
print(int(word(np.uint64(5), np.uint64(0), np.uint64(7))), Count.n, _jit.CACHE_DIR)
"""


def run(code=WORD, path=None, **environment):
    home = path or Path(bg_env.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(home), **environment}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, cwd=home)
    value, n, folder = done.stdout.split(maxsplit=2)
    return int(value), int(n), Path(folder.strip()), done.stderr


EXPECTED = int(dice.word(np.uint64(5), np.uint64(0), np.uint64(7)))


@compiled
def test_kernels_inside_kernels_have_no_machine_code(tmp_path):
    value, n, folder, _ = run(BG_ENV_CACHE_DIR=str(tmp_path))
    assert value == EXPECTED
    assert n >= 1
    assert len(list(folder.glob("*.nbc"))) == 1  # of the one kernel that Python called
    assert run(BG_ENV_CACHE_DIR=str(tmp_path))[:2] == (EXPECTED, 0)


@compiled
def test_plain_numba_gives_the_same(tmp_path):
    value, n, _, _ = run(BG_ENV_CACHE_DIR=str(tmp_path), BG_ENV_PLAIN_NUMBA="1")
    assert value == EXPECTED
    assert n >= 1


@compiled
def test_every_installation_of_a_version_shares_one_cache(tmp_path):
    run(BG_ENV_CACHE_DIR=str(tmp_path / "cache"))
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(Path(bg_env.__file__).parent, elsewhere / "bg_env", ignore=shutil.ignore_patterns("__pycache__"))
    assert run(path=elsewhere, BG_ENV_CACHE_DIR=str(tmp_path / "cache"))[:2] == (EXPECTED, 0)
    edit(elsewhere / "bg_env" / "envs" / "vector.py")  # which the kernel does not import
    assert run(path=elsewhere, BG_ENV_CACHE_DIR=str(tmp_path / "cache"))[1] == 0
    edit(elsewhere / "bg_env" / "rules" / "dice.py")
    assert run(path=elsewhere, BG_ENV_CACHE_DIR=str(tmp_path / "cache"))[1] >= 1


def edit(path):
    with path.open("a") as file:
        file.write("\nEDITED = 1\n")


@pytest.mark.parametrize(
    ("path", "changes"), [("rules/moves.py", True), ("rules/variant.py", True), ("cli/show.py", False), ("envs/aec.py", False)]
)
def test_a_stamp_is_of_all_that_a_module_imports(path, changes):
    before, after = _jit._Stamps(), _jit._Stamps()
    after._digests[path] = b"of an edited file"
    assert (before.of("bg_env.batch.kernels") != after.of("bg_env.batch.kernels")) == changes
    assert before.all() != after.all()


@compiled
def test_the_users_folder_comes_before_that_of_the_package(tmp_path):
    *_, folder, _ = run(BG_ENV_CACHE_DIR="", XDG_CACHE_HOME=str(tmp_path), LOCALAPPDATA="")
    assert folder.parent == tmp_path / "bg_env"


def damage(folder, pattern, how):
    (file,) = folder.glob(pattern)
    content = file.read_bytes()
    middle = len(content) // 2
    changed = content[:middle] + b"\0\1\2" + content[middle + 3 :]
    file.write_bytes({"cut": content[:middle], "empty": b"", "changed": changed}[how])


@compiled
@pytest.mark.parametrize("how", ["cut", "empty", "changed"])
@pytest.mark.parametrize("pattern", ["*.nbc", "*.nbi"])
def test_a_damaged_file_is_made_anew(tmp_path, pattern, how):
    _, _, folder, _ = run(BG_ENV_CACHE_DIR=str(tmp_path))
    damage(folder, pattern, how)
    value, n, _, _ = run(BG_ENV_CACHE_DIR=str(tmp_path))
    assert value == EXPECTED
    if pattern == "*.nbc":
        assert n >= 1
    assert run(BG_ENV_CACHE_DIR=str(tmp_path))[:2] == (EXPECTED, 0)


FULL = """
import bg_env._numba as hooks, errno
def full(*arguments, **options):
    raise OSError(errno.ENOSPC, "No space left on device")
hooks._CheckedFile._open_for_write = full
"""


@compiled
def test_a_full_disk_is_no_error(tmp_path):
    value, n, folder, _ = run(FULL + WORD, BG_ENV_CACHE_DIR=str(tmp_path))
    assert value == EXPECTED
    assert n >= 1
    assert not list(folder.glob("*"))


READ_ONLY = """
import tempfile
def refuse(*arguments, **options):
    raise PermissionError("read-only")
tempfile.TemporaryFile = refuse
"""


@compiled
def test_a_filled_folder_that_cannot_be_written_is_used(tmp_path):
    _, _, folder, _ = run(BG_ENV_CACHE_DIR=str(tmp_path))
    value, n, used, err = run(READ_ONLY + FULL + WORD, BG_ENV_CACHE_DIR=str(tmp_path))
    assert (value, n, used) == (EXPECTED, 0, folder)
    assert "RuntimeWarning" not in err


@compiled
@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX")
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757])
def test_a_folder_that_others_may_write_is_not_used(tmp_path, mode):
    _, _, folder, _ = run(BG_ENV_CACHE_DIR=str(tmp_path))
    folder.chmod(mode)
    value, n, used, err = run(BG_ENV_CACHE_DIR=str(tmp_path))
    assert value == EXPECTED
    assert n >= 1
    assert used.parent != folder.parent
    assert "others may write it" in err


@compiled
@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX")
def test_nor_is_one_in_a_folder_in_which_others_may_replace_it(tmp_path):
    tmp_path.chmod(0o777)
    assert "others may write it" in run(BG_ENV_CACHE_DIR=str(tmp_path))[3]
    tmp_path.chmod(0o1777)  # as /tmp: only the owner of a folder may replace it
    assert "others may write it" not in run(BG_ENV_CACHE_DIR=str(tmp_path))[3]


@compiled
def test_old_files_go_where_they_are_many(tmp_path):
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o755)
    for k in range(_jit._MOST + 1):
        (folder / f"old{k}.nbi").write_bytes(b"")
        os.utime(folder / f"old{k}.nbi", (k + 1, k + 1))
    for k in range(4):
        (tmp_path / f"plain-{k}").mkdir()
        os.utime(tmp_path / f"plain-{k}", (k + 1, k + 1))
    run(BG_ENV_CACHE_DIR=str(tmp_path))
    left = {path.name for path in folder.iterdir()}
    assert "old0.nbi" not in left
    assert f"old{_jit._MOST}.nbi" in left
    assert len([name for name in left if name.startswith("old")]) == _jit._MOST // 2 + 1
    assert sorted(path.name for path in tmp_path.glob("plain-*")) == ["plain-2", "plain-3"]


@compiled
def test_progress_counts_to_the_end(tmp_path):
    err = run(BG_ENV_CACHE_DIR=str(tmp_path))[3]
    assert "bg_env: compiling kernels, once on this machine: 0 of " in err
    assert run(BG_ENV_CACHE_DIR=str(tmp_path))[3] == ""


@compiled
def test_progress_ends_with_all_of_them(tmp_path):
    err = run("from bg_env import _jit\n_jit._Progress.every = 0.0\n" + WORD, BG_ENV_CACHE_DIR=str(tmp_path))[3]
    done, total = err.splitlines()[-1].rsplit(": ")[-1].split(" of ")
    assert done == total != "0"


def kernel(function, *, counted=False):
    return _numba.KernelDispatcher(function, {"nogil": True, "_nrt": counted}, None, "")


@compiled
def test_a_kernel_is_compiled_once_for_integers_of_all_sizes_and_for_constants():
    twice = kernel(lambda n: 2 * n)

    @kernel
    def sums(small, large, positive):
        return twice(small) + twice(large) + twice(3) + twice(Phase.OVER), twice(positive)

    values, large = sums(np.int8(100), np.int64(5), np.uint8(200))
    assert values == 200 + 10 + 6 + 2 * Phase.OVER
    assert large == 400
    assert {args[0].name for args in twice.inner.overloads} == {"int64", "uint64"}


@compiled
def test_a_kernel_with_closures_or_arrays_of_its_own_is_compiled_by_all_passes():
    @kernel
    def closed(n):
        def more(k):
            return k + n

        return more(1) + more(2)

    def whole(a):
        made = np.ones(3)
        return (a * made + [k + 1 for k in range(3)][2]).sum()

    assert closed(5) == 13
    assert kernel(whole, counted=True)(np.arange(3.0)) == 12


@compiled
@pytest.mark.parametrize("collecting", [True, False])
def test_collection_of_garbage_is_as_before_when_a_kernel_has_been_compiled(collecting):
    within = []

    @kernel
    def plain(n):
        return n + 1

    def compiles(*arguments):
        within.append(gc.isenabled())
        raise KeyboardInterrupt

    try:
        if not collecting:
            gc.disable()
        assert plain(1) == 2
        assert gc.isenabled() == collecting
        plain._compiler.compile = compiles
        with pytest.raises(KeyboardInterrupt):
            plain(1.0)
        assert gc.isenabled() == collecting
    finally:
        gc.enable()
    assert within == [False]


def test_a_kernel_is_pickled_by_name():
    content = pickle.dumps(dice.word)
    assert len(content) < 200
    assert pickle.loads(content) is dice.word  # noqa: S301 - our own


def test_this_numba_has_what_the_hooks_need():
    assert _numba.AVAILABLE
