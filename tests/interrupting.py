"""Interrupts at every place of a call, one place at a time.

The places are those at which Python looks for signals: after calls, at the start of functions and of rounds of loops. With
`BG_ENV_EVERY_PLACE=1` they are all byte codes.
"""

from __future__ import annotations

import dis
import os
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

Place = tuple[Any, int, int]
"""The code of a function, the byte code in it, and how often it has run before."""

EVERY = bool(os.environ.get("BG_ENV_EVERY_PLACE"))
LOOKS = ("CALL", "RESUME", "JUMP_BACKWARD", "JUMP_ABSOLUTE", "FOR_ITER")
"""The beginnings of the names of byte codes after which Python looks for signals."""
PACKAGES = ("/bg_env/", "/pettingzoo/", "\\bg_env\\", "\\pettingzoo\\")


def _traced(call: Callable[[], Any], at: Callable[[Place], None], every: bool) -> Any:
    seen: Counter[tuple[Any, int]] = Counter()
    names: dict[Any, bool] = {}

    def trace(frame: Any, event: str, _: Any) -> Any:
        code = frame.f_code
        if not any(part in code.co_filename for part in PACKAGES):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            place = code, frame.f_lasti
            if every or names.get(frame, True):
                seen[place] += 1
                at((*place, seen[place]))
            names[frame] = dis.opname[code.co_code[frame.f_lasti]].startswith(LOOKS)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return call()
    finally:
        sys.settrace(before)


def places(call: Callable[[], Any], *, every: bool = False) -> list[Place]:
    """The places that a call comes by, in order: of one that it comes by several times the first and the last.

    Args:
        call: the call.
        every: whether all byte codes are places.
    """
    passed: list[Place] = []
    _traced(call, passed.append, every or EVERY)
    last = {place[:2]: place[2] for place in passed}
    return [place for place in passed if place[2] in (1, last[place[:2]])]


def interrupted(call: Callable[[], Any], place: Place, again: int = 0, *, every: bool = False) -> bool:
    """Make a call that is interrupted at a place; whether it came by there.

    Args:
        call: the call.
        place: where.
        again: also interrupt it at so many-th event (call or return of a function) after that; 0 for never.
        every: as of `places`.
    """
    fired = False
    events = 0

    def second(frame: Any, event: str, _: Any) -> None:
        nonlocal events
        if fired and event != "c_call" and frame.f_code is not stop.__code__:
            events += 1
            if events == again:
                sys.setprofile(None)
                raise KeyboardInterrupt

    def stop(now: Place) -> None:
        nonlocal fired
        if now == place:
            fired = True
            if again:
                sys.setprofile(second)
            raise KeyboardInterrupt

    try:
        _traced(call, stop, every or EVERY)
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(None)
    return fired
