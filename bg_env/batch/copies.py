"""Copies of batches and environments, which have games of their own."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from typing_extensions import Self

__all__ = ["OwnGames"]

T = TypeVar("T", bound="OwnGames")


class OwnGames:
    """A batch or environment that `copy.copy` copies with its games; only the opponent is shared."""

    def __copy__(self) -> Self:
        found: Any = self
        while not hasattr(found, "opponent"):
            within = vars(found)
            found = within["_episode"] if "_episode" in within else within["env"]
        shared = found.opponent
        return copy.deepcopy(self, {id(shared): shared})
