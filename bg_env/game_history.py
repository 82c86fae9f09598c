"""The past of a game: a linked list of actions, rolls and resignations with the states before them, which copies share.

Only events from outside are kept: actions, given rolls, resignations. The rolls that a game threw itself
follow from its random stream; they are thrown again when its history is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bg_env.actions import STEPS, Event, step_of
from bg_env.game_state import SIZE, Bytes, as_states
from bg_env.rules import Phase, Rules, States, apply, apply_roll, draw_roll, resign

__all__ = ["Known", "Past", "flattened", "history_of", "last_move", "linked", "roll_event"]


class Past(NamedTuple):
    """An event, and the past before it.

    Attributes:
        earlier: the past before it; None at the beginning.
        state: the state before it.
        done: an action, or the event of a roll that was given or of a resignation; None where the game only threw the dice
            that were due.
        part: whether it goes on with the play of the action before it, so that both are taken back at once.
    """

    earlier: Past | None
    state: Bytes
    done: int | Event | None
    part: bool = False


Known = tuple[Past | None, tuple[Event, ...]]
"""A past, and its events, rolls among them."""


def roll_event(states: States, d1: int, d2: int) -> Event:
    """The event of a roll that is due in `states[0]`."""
    if states[0]["phase"] != Phase.OPENING:
        return Event(int(states[0]["turn"]), roll=(d1, d2))
    return Event(None if d1 == d2 else int(d2 > d1), roll=(d1, d2))


def history_of(past: Past | None, state: Bytes, rules: Rules, known: Known) -> Known:
    """All events of a past that ends in `state`; `known` are the events of this or of another past, which may be a part."""
    steps: list[Past] = []
    here = past
    while here is not None and here is not known[0]:
        steps.append(here)
        here = here.earlier
    events = list(known[1]) if here is known[0] else []
    for k in reversed(range(len(steps))):
        _add_events(events, steps[k], steps[k - 1].state if k else state, rules)
    return past, tuple(events)


def _add_events(events: list[Event], step: Past, after: Bytes, rules: Rules) -> None:
    """Add the event of a step and the rolls that were thrown after it; `after` is the state after them."""
    states, rolls = as_states(step.state.copy()), as_states(after)[0]["rolls"]
    done = step.done
    if isinstance(done, int):
        events.append(Event(int(states[0]["decider"]), action=done))
        apply(states, 0, rules, done)
    elif done is not None:
        events.append(done)
        if done.roll is not None:
            apply_roll(states, 0, rules, *done.roll)
        else:
            resign(states, 0, rules, done.player or 0, done.level)
    while states[0]["rolls"] != rolls:
        d1, d2 = draw_roll(states, 0, rules)
        events.append(roll_event(states, int(d1), int(d2)))
        apply_roll(states, 0, rules, d1, d2)


def flattened(past: Past | None) -> tuple[Bytes, list[tuple[int | Event | None, bool]]]:
    """A past as its states, int8 (n, SIZE), and `done` and `part` of each, oldest first (for pickles, which limit nesting)."""
    steps: list[Past] = []
    while past is not None:
        steps.append(past)
        past = past.earlier
    states = np.array([step.state for step in reversed(steps)], np.int8).reshape(-1, SIZE)
    return states, [(step.done, step.part) for step in reversed(steps)]


def linked(states: Bytes, done: list[tuple[int | Event | None, bool]]) -> list[Past]:
    """The past of `flattened`, each of its steps, oldest first."""
    steps: list[Past] = []
    for state, what in zip(states, done, strict=True):
        steps.append(Past(steps[-1] if steps else None, state.copy(), *what))
    return steps


def last_move(history: Sequence[Event]) -> tuple[tuple[int, int, int], ...]:
    """The checker steps of the turn that was played last: (player, from, to), 25 the bar, 0 off, for arrows in pictures."""
    arrows: list[tuple[int, int, int]] = []
    for event in reversed(history):
        if event.action is not None and event.action < STEPS and event.player is not None:
            if arrows and arrows[0][0] != event.player:
                break
            source, die = step_of(event.action)
            arrows.insert(0, (event.player, source, max(source - die, 0)))
        elif arrows and event.roll is not None:
            break
    return tuple(arrows)
