"""Action numbers, layout v0, and the step of a checker as a number.

| number | meaning |
|---|---|
| 0-149 | checker step: `6 * (source - 1) + die - 1`, source 1-24 a point of the mover's own numbering, 25 the bar |
| 150 | roll (decline to double) |
| 151 | double |
| 152, 153 | take, drop |
| 154 | turn the cube again: beaver, raccoon ... (R8.6) |
| 155-160 | name the double 1-1 ... 6-6 (R10.6) |

A layout never changes under its version. The functions here serve kernels and Python alike and check nothing;
`bg_env.actions` has those that do, and the text of actions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from numba.extending import register_jitable

__all__ = [
    "ACTIONS",
    "BEAVER",
    "DOUBLE",
    "DROP",
    "FIRST_NAMED",
    "LAST_NAMED",
    "ROLL",
    "STEPS",
    "TAKE",
    "die_of",
    "source_of",
    "step_number",
]

STEPS: Final = 150
"""Number of checker steps: actions below this are steps."""
ROLL: Final = 150
DOUBLE: Final = 151
TAKE: Final = 152
DROP: Final = 153
BEAVER: Final = 154
FIRST_NAMED: Final = 155
"""The action that names 1-1; d-d is `FIRST_NAMED + d - 1`."""
LAST_NAMED: Final = 160
"""The action that names 6-6."""
ACTIONS: Final = 161
"""Size of the whole layout; `Settings.actions` is the prefix of it that the rules in force need."""

F = TypeVar("F", bound=Callable[..., Any])


def _shared(function: F) -> F:
    """Let kernels call a function that stays plain Python for everybody else."""
    registered: F = register_jitable(function)
    return registered


@_shared
def step_number(source: int, die: int) -> int:
    """The action that moves a checker from `source` (1-24, 25 the bar) by `die` (1-6)."""
    return 6 * (source - 1) + die - 1


@_shared
def source_of(action: int) -> int:
    """The source (1-24, 25 the bar) of a checker step's action number."""
    return action // 6 + 1


@_shared
def die_of(action: int) -> int:
    """The die (1-6) of a checker step's action number."""
    return action % 6 + 1
