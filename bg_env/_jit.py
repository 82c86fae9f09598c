"""Compilation of kernels, and the folder in which compiled ones are kept.

`@kernel` is `numba.njit(nogil=True)` with a cache of our own. Kernels that make no array are compiled without Numba's counting
of references: for a function that takes arrays, the atomic counting costs far more than what it does (a step of a batch took
15 times as long with it). They borrow their arguments, which the caller holds.

Files of the cache are named by a hash of the module and of all that it imports from bg_env, because Numba does not notice an
edit of a function that a kernel calls from another file. So all installations on a machine share what they have in common.

`BG_ENV_CACHE_DIR` chooses the folder. With `NUMBA_DISABLE_JIT=1` a kernel is the plain Python function; with
`BG_ENV_PLAIN_NUMBA=1` it is what `numba.njit(cache=True)` makes, as where `bg_env._numba` does not fit the version of Numba.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import importlib
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
from numba.core import config, event
from numba.core.options import DefaultOptions

from bg_env import _numba
from bg_env._numba import AVAILABLE

if AVAILABLE:
    from bg_env._numba import KernelDispatcher
__all__ = ["CACHE_DIR", "found", "inlined", "kernel", "part_of", "picklable"]

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE: Final = Path(__file__).resolve().parent
_IMPORT: Final = re.compile(r"^from bg_env((?:\.\w+)*) import (\([^)]*\)|[^\n]*)$", re.MULTILINE)
_MOST: Final = 600
"""Files of a cache from which on the oldest half of them is removed."""
_MAKERS: Final = frozenset(
    ("arange", "array", "concatenate", "copy", "empty", "empty_like", "full", "ones", "zeros", "zeros_like")
)
"""Names in a kernel's code that make an array, which only counted references can free."""
_PLAIN: Final = not AVAILABLE or bool(os.environ.get("BG_ENV_PLAIN_NUMBA"))


def _sources() -> dict[str, bytes]:
    """The package's sources and the tables that kernels hold as constants, by their path in it."""
    paths = [path for pattern in ("*.py", "*.xml", "*.json") for path in _PACKAGE.rglob(pattern)]
    return {path.relative_to(_PACKAGE).as_posix(): path.read_bytes() for path in sorted(paths)}


class _Stamps:
    """A hash for each module of kernels: of its source and of all that it imports from bg_env, directly or not."""

    def __init__(self) -> None:
        self._sources = _sources()
        self._digests = {path: hashlib.sha256(content).digest() for path, content in self._sources.items()}
        self._imports: dict[str, set[str]] = {}
        self._stamps: dict[str, str] = {}
        tables = [digest for path, digest in self._digests.items() if not path.endswith(".py")]
        about = f"{numba.__version__} {sys.version_info[:2]}".encode()
        self._base = hashlib.sha256(b"\0".join([about, *tables])).digest()

    def _imported(self, path: str) -> set[str]:
        """The paths of the modules that one imports at its top level, in which a package is its `__init__.py`."""
        if path not in self._imports:
            found: set[str] = set()
            for package, names in _IMPORT.findall(self._sources[path].decode()):
                place = package.replace(".", "/").lstrip("/")
                inside = [f"{place}/{name}".lstrip("/") for name in re.findall(r"\w+", names)]
                for name in (place, *inside):
                    found |= {f"{name}.py", f"{name}/__init__.py"} & self._sources.keys()
            self._imports[path] = found
        return self._imports[path]

    def of(self, module: str) -> str:
        """The stamp of the module called so."""
        if module not in self._stamps:
            place = module.removeprefix("bg_env.").replace(".", "/")
            waiting = [path for path in (f"{place}.py", f"{place}/__init__.py") if path in self._sources]
            reached: set[str] = set()
            while waiting:
                path = waiting.pop()
                if path not in reached:
                    reached.add(path)
                    waiting += self._imported(path)
            digest = hashlib.sha256(self._base)
            for path in sorted(reached):
                digest.update(path.encode() + b"\0" + self._digests[path])
            self._stamps[module] = digest.hexdigest()[:16]
        return self._stamps[module]

    def all(self) -> str:
        """The stamp of the whole package."""
        digest = hashlib.sha256(self._base)
        for path, content in self._digests.items():
            digest.update(path.encode() + b"\0" + content)
        return digest.hexdigest()[:16]


def _ours(folder: Path) -> bool:
    """Whether nobody but the user and the administrator may put files there: compiled kernels are code."""
    if os.name != "posix":
        return True
    found, around = folder.stat(), folder.parent.stat()
    replaceable = around.st_mode & stat.S_IWOTH and not around.st_mode & stat.S_ISVTX
    return found.st_uid in (0, os.getuid()) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not replaceable


def _usable(folder: Path) -> bool:
    """Whether kernels can be read from the folder, which is made if need be, and written to it unless it is filled already."""
    try:
        filled = folder.is_dir() and any(folder.glob("*.nbi"))
        if not filled:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o755, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        return _ours(folder)
    except OSError:
        return False


def _remove(folder: str, pid: int) -> None:
    """Remove the temporary folder at the end of the process that made it; its forked children leave it alone."""
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_old(folder: Path) -> None:
    """Remove the older half of the files in `folder`, and the folders of other versions beside it, where they are many."""
    try:
        for pattern, parent in (("*", folder), ("plain-*", folder.parent), ("bg_env-*", folder.parent)):
            paths = sorted(parent.glob(pattern), key=lambda path: path.stat().st_mtime)
            most = _MOST if parent is folder else 2
            for path in paths[: len(paths) // 2] if len(paths) > most else []:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    except OSError:
        pass


def _cache_dir(name: str) -> str:
    """The folder asked for; else the user's or the package's, whichever can be used; else a temporary one, with a warning."""
    asked = os.environ.get("BG_ENV_CACHE_DIR") or config.CACHE_DIR
    if asked:
        folders = [Path(asked)]
    else:
        folders = [_PACKAGE / "__pycache__"]
        try:
            base = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
            folders.insert(0, Path(base) / "bg_env")
        except RuntimeError:  # no home folder
            pass
    for folder in sorted(folders, key=lambda folder: not (folder / name).is_dir()):  # one that was used before goes first
        if _usable(folder / name):
            _remove_old(folder / name)
            return str(folder / name)
    listed = " or ".join(str(folder) for folder in folders)
    warnings.warn(
        f"bg_env cannot keep compiled kernels in {listed}, because it cannot be written or others may write it: they are "
        "compiled anew in each process; set BG_ENV_CACHE_DIR to a folder of your own",
        RuntimeWarning,
        stacklevel=2,
    )
    made = tempfile.mkdtemp(prefix="bg_env-")
    atexit.register(_remove, made, os.getpid())
    return made


_STAMPS: Final = _Stamps()
CACHE_DIR: Final = "" if config.DISABLE_JIT else _cache_dir(f"plain-{_STAMPS.all()}" if _PLAIN else "kernels")
"""The folder of compiled kernels; empty where kernels are not compiled."""


def _compiled(function: F, **options: bool) -> F:
    if config.DISABLE_JIT:
        return function
    options |= {"nogil": True, "_nrt": bool(_MAKERS.intersection(function.__code__.co_names))}
    known = {name: value for name, value in options.items() if hasattr(DefaultOptions, name)}  # some are not public
    compiled: F
    if not _PLAIN and function.__module__.startswith("bg_env."):
        compiled = KernelDispatcher(function, known, Path(CACHE_DIR), _STAMPS.of(function.__module__))
        return compiled
    before = config.CACHE_DIR
    config.CACHE_DIR = CACHE_DIR
    try:
        compiled = numba.njit(cache=True, **known)(function)
    finally:
        config.CACHE_DIR = before
    return compiled


def kernel(function: F) -> F:
    """Compile `function` on its first call (cached on disk, GIL released, no thread of its own)."""
    return _compiled(function)


def inlined(function: F) -> F:
    """As `kernel`, for a helper of many arguments that is compiled into each of its callers."""
    return _compiled(function, forceinline=True)


def picklable(function: Callable[..., Any]) -> Any:
    """The value to pickle instead of `function`, for `found`: module and name of a compiled function that can be imported.

    Numba pickles a compiled function by value, and whoever loads it compiles it anew. A function of `__main__` is left as it
    is, because the `__main__` of a worker is another module.
    """
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if not hasattr(function, "py_func") or module in (None, "__main__"):
        return function
    try:
        importable = found((module, name)) is function
    except (AttributeError, KeyError):
        return function
    return (module, name) if importable else function


def found(pickled: Any) -> Callable[..., Any]:
    """The function of which `picklable` made `pickled`."""
    if not isinstance(pickled, tuple):
        return cast("Callable[..., Any]", pickled)
    module, name = pickled
    importlib.import_module(module)
    return cast("Callable[..., Any]", functools.reduce(getattr, name.split("."), sys.modules[module]))


def _called(function: Any, reached: dict[Any, Any]) -> dict[Any, Any]:
    """The dispatchers of bg_env that `function` calls, directly or not, by their functions."""
    for name in function.__code__.co_names:
        other = function.__globals__.get(name)
        inner = getattr(other, "py_func", None)
        if inner is not None and inner.__module__.startswith("bg_env.") and inner not in reached:
            reached[inner] = other
            _called(inner, reached)
    return reached


class _Progress(event.Listener):  # type: ignore[misc]
    """Says how far the compilation of kernels has come, on stderr."""

    every: Final = 5.0
    """Seconds between two lines where stderr is no terminal."""

    def __init__(self) -> None:
        self.total = self.depth = 0
        self.waiting: set[Any] = set()
        self.last = 0.0

    def on_start(self, event: Any) -> None:
        """Numba begins to compile a function."""
        function = event.data["dispatcher"].py_func
        if self.depth == 0:
            if not (getattr(function, "__module__", "") or "").startswith("bg_env."):
                return
            done = self.total - len(self.waiting)
            self.waiting = {function, *(inner for inner, one in _called(function, {}).items() if not self._known(one))}
            self.total = done + len(self.waiting)
        self.depth += 1
        self._show()

    def on_end(self, event: Any) -> None:
        """Numba has compiled a function."""
        if self.depth == 0:
            return
        self.depth -= 1
        self.waiting.discard(event.data["dispatcher"].py_func)
        self._show()
        if self.depth == 0 and sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    @staticmethod
    def _known(dispatcher: Any) -> bool:
        """Whether it has been compiled as a part of another kernel."""
        inner = getattr(dispatcher, "inner", dispatcher)
        return inner is not None and bool(inner.overloads)

    def _show(self) -> None:
        if sys.stderr is None:
            return
        text = f"bg_env: compiling kernels, once on this machine: {self.total - len(self.waiting)} of {self.total}"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{text} ")
            sys.stderr.flush()
        elif not self.last or time.monotonic() - self.last > self.every:
            self.last = time.monotonic()
            sys.stderr.write(f"{text}\n")


part_of: Final = _numba.part_of if AVAILABLE or config.DISABLE_JIT else kernel(_numba.part_of)

if not config.DISABLE_JIT:
    event.register("numba:compile", _Progress())
