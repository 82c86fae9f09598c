"""Every state of a folder in which a kill can leave it, recorded during one undisturbed run.

A kill leaves on the disk what was there at that moment. So the folder is copied before each call that changes it, instead of
killing one process for each of them. What is in a file that is not complete yet does not matter: each copy has one.
"""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path

import pytest

from bg_env.files import is_leftover, temporary_name

_CHANGING = ("fchmod", "fsync", "link", "mkdir", "remove", "rename", "replace", "rmdir", "symlink", "truncate", "unlink")


class DiskStates:
    """A context that records the states of `folder`, those of the same content once.

    Args:
        folder: to watch; it may not be there yet.
        kept: a folder for the copies.

    Attributes:
        states: the copies, in order; the last one is of the end.
    """

    def __init__(self, folder: Path, kept: Path) -> None:
        self.states: list[Path] = []
        self._folder, self._kept = folder, kept
        self._seen: set[tuple[tuple[str, bytes], ...]] = set()
        self._patches = pytest.MonkeyPatch()

    def __enter__(self):
        for name in _CHANGING:
            self._patches.setattr(os, name, self._recorded(getattr(os, name)))
        opened = io.open

        def record_and_open(file, mode="r", *arguments, **options):
            if not set(mode) & set("wax+"):
                return opened(file, mode, *arguments, **options)
            self._record()
            found = opened(file, mode, *arguments, **options)
            self._record()  # a file that was there may be empty now
            return found

        self._patches.setattr(io, "open", record_and_open)  # pathlib's
        self._patches.setattr("builtins.open", record_and_open)
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.undo()
        self._record()

    def _recorded(self, call):
        def record_and_call(*arguments, **options):
            self._record()
            return call(*arguments, **options)

        return record_and_call

    def _record(self) -> None:
        if not self._folder.is_dir():
            return
        files = [path for path in self._folder.iterdir() if path.is_file() and not is_leftover(path)]
        content = tuple(sorted((path.name, path.read_bytes()) for path in files))
        if content in self._seen:
            return
        self._seen.add(content)
        copy = self._kept / f"{len(self.states):03}"
        with pytest.MonkeyPatch.context() as patches:
            patches.setattr(self, "_record", lambda: None)
            copy.mkdir()
            for path in files:
                shutil.copy(path, copy)
            (copy / temporary_name()).write_bytes(b"not comp")
        self.states.append(copy)
