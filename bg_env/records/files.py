"""Files of records: the formats as one table, and reading and writing files in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from bg_env.errors import NotationError, SettingsError, printable, quoted
from bg_env.files import checked_path, write_whole
from bg_env.records.check import replay
from bg_env.records.decode import decoded
from bg_env.records.gnubg_text import OPENING, read_gnubg_texts
from bg_env.records.jsonl import read_jsonl, write_jsonl
from bg_env.records.mat import has_variation, read_mats, write_mat
from bg_env.records.record import MOST_BYTES, Record, checked_records, checked_text
from bg_env.records.report import FileReplay
from bg_env.records.sgf import read_sgfs, write_sgf
from bg_env.records.unsaid_variant import with_found_variant
from bg_env.rules import Variant, variant_of

__all__ = ["FORMATS", "WRITTEN", "Format", "iter_replays", "parse_records", "read_records", "replay_files", "write_records"]


@dataclass(frozen=True)
class Format:
    """A format of records.

    Attributes:
        read: from the text of a file to its records.
        write: from records to the text of a file; of one record, unless `several`. None: the format is only read.
        opening: what every text of it begins with; "" for any other.
        several: whether more than one record may be written into a file.
    """

    read: Callable[[str], list[Record]]
    write: Callable[[Sequence[Record]], str] | None
    opening: str = ""
    several: bool = False


def _read_mats(text: str) -> list[Record]:
    records = read_mats(text)
    return [record if has_variation(record.headers) else with_found_variant(record) for record in records]


FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        ".mat": Format(_read_mats, lambda records: write_mat(records[0])),
        ".sgf": Format(read_sgfs, lambda records: write_sgf(records[0]), opening="("),
        ".jsonl": Format(read_jsonl, write_jsonl, opening="{", several=True),
        ".txt": Format(read_gnubg_texts, None, opening=OPENING),
    }
)
"""The formats by the ending of a file's name. `.mat`, which begins with nothing of its own, reads what no other one does.

`.txt` is GNU Backgammon's text export; its export for Snowie is `.mat` without headers.
"""

WRITTEN: Final = tuple(ending for ending, kind in FORMATS.items() if kind.write)
"""The endings of the formats that are written."""


def parse_records(text: str) -> list[Record]:
    """The records in `text`, whichever format they are in: JSON lines, `.sgf`, GNU Backgammon's text or `.mat`.

    Raises:
        NotationError: it is not text, is not a record in any of them, or is longer than any record is.
    """
    longest = max(len(kind.opening) for kind in FORMATS.values())
    begin = checked_text(text, MOST_BYTES).lstrip("\ufeff \t\r\n")[:longest]
    kinds = sorted(FORMATS.values(), key=lambda kind: -len(kind.opening))
    return next(kind for kind in kinds if begin.startswith(kind.opening)).read(text)


def read_records(path: str | Path) -> list[Record]:
    """The records in a file, whatever its name, as UTF-8, UTF-16 or Latin-1 (see `bg_env.records.decode`).

    Raises:
        NotationError: it is not a record, or has more than 2**30 bytes.
        OSError: it cannot be read.
        SettingsError: `path` is not a path.
    """
    with checked_path(path).open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        msg = f"this is not a record: it has more than {MOST_BYTES:,} bytes"
        raise NotationError(msg)
    return parse_records(decoded(data))


def write_records(path: str | Path, records: Sequence[Record]) -> None:
    """Write records into a file, in the format that its name ends with: `.mat`, `.sgf` (one record each) or `.jsonl`.

    Raises:
        NotationError: `records` is not a sequence of Record, another ending, several records for a format that holds one, or
            something that the format cannot hold.
        OSError: it cannot be written.
        SettingsError: `path` is not a path.
    """
    ending = checked_path(path).suffix.lower()
    written = {name: kind for name, kind in FORMATS.items() if kind.write}
    if ending not in written:
        *some, last = written
        msg = f"records are written as {', '.join(some)} or {last}, not as {ending or 'a file without an ending'!r}"
        raise NotationError(msg)
    kind = written[ending]
    records = checked_records(records)
    if not kind.several and len(records) != 1:
        msg = f"a {ending} file holds one record, not {len(records)}: write .jsonl, or make a session of money games"
        raise NotationError(msg)
    write_whole(path, kind.write(records) if kind.write else "")


def replay_files(paths: Iterable[str | Path], variant: str | Variant | None = None) -> list[FileReplay]:
    """Read and replay files; their faults are in the results, and raise nothing. See `iter_replays`, which keeps none."""
    return list(iter_replays(paths, variant))


def iter_replays(paths: Iterable[str | Path], variant: str | Variant | None = None) -> Iterator[FileReplay]:
    """Read and replay files one after the other; their faults are in the results, and raise nothing.

    Args:
        paths: the files.
        variant: the variant played, whatever a file says; None for that of each file.

    Raises:
        SettingsError: `paths` is not a sequence of paths; a single one that is not a path is a fault like any other.

    Yields:
        The replay of each file as soon as it is made: keep none of them, and thousands of files take no more memory than one.
    """
    if isinstance(paths, (str, bytes, Path)) or not isinstance(paths, Iterable):
        msg = f"paths are a sequence of paths of files, not {quoted(paths)}"
        raise SettingsError(msg)
    chosen = None if variant is None else variant_of(variant)
    return (_replay_file(path, chosen) for path in paths)


def _replay_file(path: str | Path, variant: Variant | None) -> FileReplay:
    try:
        return FileReplay(str(path), tuple(replay(_of_variant(record, variant)) for record in read_records(path)))
    except OSError as error:
        return FileReplay(str(path), error=f"it cannot be read: {error.strerror or error}")
    except NotationError as error:
        return FileReplay(str(path), error=str(error))
    except SettingsError as error:  # the path is none that a file can have
        return FileReplay(printable(str(path)), error=str(error))


def _of_variant(record: Record, variant: Variant | None) -> Record:
    if variant is None or record.variant == variant:
        return record
    if record.settings is not None:
        msg = f"the record holds all its settings, {record.settings}: it cannot be checked as {variant.name}"
        raise NotationError(msg)
    return replace(record, variant=variant)
