"""Infos: their keys, and the kernels that write them, the same for every environment."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined
from bg_env.rules import END_ILLEGAL, States, at_stake

__all__ = ["INFO", "INFO_KEYS", "Info", "clear_info", "info_dict", "write_ended", "write_info"]

INFO_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "player": "who acts next: 0 or 1; -1 when the episode is over",
        "points": "points won in the game that the last step ended; 0 if it ended none",
        "level": "level of that game: 1 single, 2 gammon, 3 backgammon; 0 if the step ended none",
        "cube": "present value of the cube: the points of a single game",
        "winner": "winner of the game that the last step ended: 0 or 1; -1 if it ended none",
        "illegal": "1 if an illegal action ended the episode",
        "turns": "turns begun in the episode, dances included",
    }
)
"""The numeric keys of every info and their meaning, in order.

Another key is a line here, one in a kernel below, and one in `info_dict`.
"""
INFO: Final = len(INFO_KEYS)
"""Rows of an info array."""
Info: TypeAlias = npt.NDArray[np.int32]
"""(INFO, n): a row for each of INFO_KEYS."""

_PLAYER, _POINTS, _LEVEL, _CUBE, _WINNER, _ILLEGAL, _TURNS = range(INFO)


@inlined
def clear_info(info: Info, i: int) -> None:
    """Write that no game has ended in this step so far."""
    info[_POINTS, i] = 0
    info[_LEVEL, i] = 0
    info[_WINNER, i] = -1


@inlined
def write_ended(states: States, i: int, info: Info) -> None:
    """Write points, level and winner of the last game that ended in state `i`."""
    info[_POINTS, i] = states[i]["won"]
    info[_LEVEL, i] = states[i]["level"]
    info[_WINNER, i] = states[i]["winner"]


@inlined
def write_info(states: States, i: int, over: bool, info: Info) -> None:
    """Write the rest of the info, as the state is now."""
    info[_PLAYER, i] = -1 if over else states[i]["decider"]
    info[_CUBE, i] = np.int64(1) << at_stake(states, i)
    info[_ILLEGAL, i] = states[i]["ending"] == END_ILLEGAL
    info[_TURNS, i] = states[i]["turns"]


def info_dict(values: list[int]) -> dict[str, int]:
    """The info of one game; written out, because it costs half of a `zip` and is done in every step of an environment."""
    player, points, level, cube, winner, illegal, turns = values
    return {
        "player": player,
        "points": points,
        "level": level,
        "cube": cube,
        "winner": winner,
        "illegal": illegal,
        "turns": turns,
    }
