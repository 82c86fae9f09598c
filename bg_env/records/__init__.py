"""Match records: reading and writing `.mat`, `.sgf` and JSON lines, checking a record move by move, and reading analyses.

All public names can be imported from here; their modules are imported when they are first used.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from bg_env.records.analysis import Choice, Decision, Targets, parse_analysis, read_analysis, targets
    from bg_env.records.check import replay, replay_settings, stated_settings
    from bg_env.records.files import (
        FORMATS,
        WRITTEN,
        Format,
        iter_replays,
        parse_records,
        read_records,
        replay_files,
        write_records,
    )
    from bg_env.records.jsonl import read_jsonl, write_jsonl
    from bg_env.records.mat import read_mat, write_mat
    from bg_env.records.record import Entry, GameRecord, Note, Record
    from bg_env.records.report import Fault, FileReplay, GameReplay, Moment, Replay
    from bg_env.records.sgf import read_sgf, write_sgf
    from bg_env.records.write import record_of, retrace, session

__all__ = [
    "FORMATS",
    "WRITTEN",
    "Choice",
    "Decision",
    "Entry",
    "Fault",
    "FileReplay",
    "Format",
    "GameRecord",
    "GameReplay",
    "Moment",
    "Note",
    "Record",
    "Replay",
    "Targets",
    "iter_replays",
    "parse_analysis",
    "parse_records",
    "read_analysis",
    "read_jsonl",
    "read_mat",
    "read_records",
    "read_sgf",
    "record_of",
    "replay",
    "replay_files",
    "replay_settings",
    "retrace",
    "session",
    "stated_settings",
    "targets",
    "write_jsonl",
    "write_mat",
    "write_records",
    "write_sgf",
]

_HOMES: Final[Mapping[str, str]] = {
    name: module
    for module, names in {
        "analysis": ["Choice", "Decision", "Targets", "parse_analysis", "read_analysis", "targets"],
        "check": ["replay", "replay_settings", "stated_settings"],
        "files": [
            "FORMATS",
            "WRITTEN",
            "Format",
            "iter_replays",
            "parse_records",
            "read_records",
            "replay_files",
            "write_records",
        ],
        "jsonl": ["read_jsonl", "write_jsonl"],
        "mat": ["read_mat", "write_mat"],
        "record": ["Entry", "GameRecord", "Note", "Record"],
        "report": ["Fault", "FileReplay", "GameReplay", "Moment", "Replay"],
        "sgf": ["read_sgf", "write_sgf"],
        "write": ["record_of", "retrace", "session"],
    }.items()
    for name in names
}
"""The module of each name."""


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
