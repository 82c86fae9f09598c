"""How kernels are compiled: `@kernel` is `numba.njit(cache=True, nogil=True)` with a cache folder of our own.

Kernels that make no array are compiled without Numba's counting of references: for a helper that takes arrays, the atomic
counting costs far more than what it does (a step of a batch took 15 times as long with it). They borrow what they are given,
and the caller holds it.

Numba notices an edit of a kernel's own file but not of the helpers it calls from other files, so the folder is keyed by
a hash of all of bg_env's kernel sources. Where no folder can be written, the kernels are compiled anew in each process.

Set `BG_ENV_CACHE_DIR` to choose the folder. With `NUMBA_DISABLE_JIT=1` a kernel is the plain Python function.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import importlib
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config, event
from numba.core.options import DefaultOptions

__all__ = ["CACHE_DIR", "found", "inlined", "kernel", "picklable"]

_PACKAGE = Path(__file__).resolve().parent
_WITHOUT_KERNELS = ("adapters", "cli", "render", "testing")
"""Rooms in which no kernel may live, so that an edit there leaves the compiled ones valid."""


def _sources_hash() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]}".encode())
    for file in sorted(_PACKAGE.rglob("*.py")):
        if file.relative_to(_PACKAGE).parts[0] not in _WITHOUT_KERNELS:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _remove(folder: str, pid: int) -> None:
    """Remove the temporary folder at the end of the process that made it; its forked children leave it alone."""
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)


def _cache_dir() -> str:
    """The first writable folder of: the one asked for, the package's own, the user's, a temporary one (warned of)."""
    name = f"bg_env-{_sources_hash()}"
    asked = os.environ.get("BG_ENV_CACHE_DIR") or config.CACHE_DIR
    if asked:
        folders = [Path(asked)]
    else:
        folders = [_PACKAGE / "__pycache__"]
        try:
            base = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
            folders.append(Path(base) / "bg_env")
        except RuntimeError:  # no home folder
            pass
    for folder in folders:
        if _writable(folder / name):
            return str(folder / name)
    said = " or ".join(str(folder) for folder in folders)
    warnings.warn(
        f"bg_env cannot write compiled kernels to {said}: they are compiled anew in each process; "
        "set BG_ENV_CACHE_DIR to a folder that can be written",
        RuntimeWarning,
        stacklevel=2,
    )
    made = tempfile.mkdtemp(prefix="bg_env-")
    atexit.register(_remove, made, os.getpid())
    return made


CACHE_DIR = "" if config.DISABLE_JIT else _cache_dir()

F = TypeVar("F", bound=Callable[..., Any])


_MAKERS = frozenset(("arange", "array", "concatenate", "copy", "empty", "empty_like", "full", "ones", "zeros", "zeros_like"))
"""Names in a kernel's code that make an array, which only counted references can free."""


def _compiled(function: F, **options: bool) -> F:
    if config.DISABLE_JIT:
        return function
    options["_nrt"] = bool(_MAKERS.intersection(function.__code__.co_names))
    known = {name: value for name, value in options.items() if hasattr(DefaultOptions, name)}  # some are not public
    before = config.CACHE_DIR
    config.CACHE_DIR = CACHE_DIR
    try:
        compiled: F = numba.njit(cache=True, nogil=True, **known)(function)
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
    """What to pickle in the place of `function`, for `found`: the module and name of a compiled one that can be imported.

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


class _FirstCompile(event.Listener):  # type: ignore[misc]
    """Says once, in one line, that a cold cache is being filled."""

    said = False

    def on_start(self, event: Any) -> None:
        """Numba begins to compile something: say so if it is ours and the first."""
        module = getattr(event.data["dispatcher"].py_func, "__module__", "") or ""
        if not self.said and module.startswith("bg_env."):
            self.said = True
            if sys.stderr is not None:
                sys.stderr.write(
                    "bg_env: compiling kernels that are not in its cache yet (half a minute for all of them) ...\n"
                )

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


if not config.DISABLE_JIT:
    event.register("numba:compile", _FirstCompile())
