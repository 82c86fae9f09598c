"""The learning curve as event files of TensorBoard, where it is installed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bg_env.errors import needs

__all__ = ["Events", "writer_class"]

Point = tuple[int, dict[str, float]]
"""A step, and the values of some curves at this step by their names."""


def writer_class(wanted: bool | None) -> Any:
    """The class that writes event files; None where it is not installed or not wanted.

    Args:
        wanted: True to insist on it, False for no event files, None for event files where TensorBoard is installed.

    Raises:
        MissingDependencyError: it is wanted and not installed.
    """
    if wanted is False:
        return None
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        if wanted:
            msg = "event files for TensorBoard need it"
            raise needs(msg, "train") from error
        return None
    return SummaryWriter


class Events:
    """The event files of a run: a context, which closes them.

    The curve in the checkpoint of a run decides what is in them: the first call of `write` deletes those in the folder and
    writes all points anew, and later calls add points.

    Args:
        folder: of the run; nothing is written before the first call of `write`.
        writer: of `writer_class`.
    """

    def __init__(self, folder: Path, writer: Any) -> None:
        self._folder, self._class = folder, writer
        self._writer: Any = None
        self._written = 0

    def __enter__(self) -> Events:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def write(self, points: Iterable[Point]) -> None:
        """Write the points that are not written yet.

        Args:
            points: all points of the curve, in order.
        """
        if self._class is None:
            return
        if self._writer is None:
            for file in self._folder.glob("events.out.tfevents.*"):
                file.unlink()
            self._writer = self._class(str(self._folder))
        for step, values in [*points][self._written :]:
            for name, value in values.items():
                self._writer.add_scalar(name, value, step)
            self._written += 1
        self._writer.flush()
