"""Text of actions, and the reasons in words why an action is illegal.

| number | meaning | text |
|---|---|---|
| 0-149 | checker step: `6 * (source - 1) + die - 1`, source 1-24 or 25 the bar | `13/8`, `bar/20*`, `6/off` |
| 150 | roll (decline to double) | `roll` |
| 151 | double | `double` |
| 152, 153 | take, drop | `take`, `drop` |
| 154 | beaver or raccoon: redouble at once and keep the cube | `beaver` |
| 155-160 | choose the double 1-1 ... 6-6 (Acey-Deucey) | `1-1` ... `6-6` |

The numbers, layout v0, are those of `bg_env.rules.actions`. The action space is the shortest prefix that the rules in force
need (`Settings.actions`).
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import numpy as np

from bg_env.checks import is_whole
from bg_env.errors import IllegalActionError, NotationError, quoted
from bg_env.rules import BAR, Phase, Reason, Rules, Settings, States, illegal_reason, legal_mask
from bg_env.rules.actions import (
    ACTIONS,
    BEAVER,
    DOUBLE,
    DROP,
    FIRST_NAMED,
    LAST_NAMED,
    ROLL,
    STEPS,
    TAKE,
    die_of,
    source_of,
    step_number,
)

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
    "Event",
    "Step",
    "action_text",
    "checked",
    "legal_actions",
    "name_action",
    "parse_action",
    "step_action",
    "step_of",
    "why_illegal_text",
]

_WORDS: Final = {"roll": ROLL, "double": DOUBLE, "take": TAKE, "drop": DROP, "beaver": BEAVER}
_ALSO: Final = {"redouble": DOUBLE, "accept": TAKE, "raccoon": BEAVER}
_NAMES: Final = {number: text for text, number in _WORDS.items()}


class Step(NamedTuple):
    """One checker step on the mover's own numbering: 25 is the bar, a target of 0 is borne off."""

    source: int
    target: int
    die: int
    hit: bool

    @property
    def action(self) -> int:
        """Its action number."""
        return step_action(self.source, self.die)

    def __str__(self) -> str:
        return f"{_place(self.source)}/{_place(self.target)}{'*' if self.hit else ''}"


class Event(NamedTuple):
    """One thing that happened in a game.

    Attributes:
        player: the player who rolled or acted; None for an opening tie (R2.2).
        roll: the dice of a roll, in the opening player 0's die first; None for an action.
        action: the action number; None for a roll, and for a resignation.
        level: the level of a resignation; 0 otherwise.
    """

    player: int | None
    roll: tuple[int, int] | None = None
    action: int | None = None
    level: int = 0


def step_action(source: int, die: int) -> int:
    """The action that moves a checker from `source` (1-24, 25 the bar) by `die` (1-6).

    Raises:
        IllegalActionError: the source or the die is out of range.
    """
    if not is_whole(source, 1, BAR) or not is_whole(die, 1, 6):
        msg = f"a step has a source from 1 to 25 and a die from 1 to 6, not source {quoted(source)} and die {quoted(die)}"
        raise IllegalActionError(msg)
    return step_number(int(source), int(die))


def step_of(action: int) -> tuple[int, int]:
    """The (source, die) of a checker step's action number.

    Raises:
        IllegalActionError: the number is not from 0 to 149.
    """
    if not is_whole(action, 0, STEPS - 1):
        msg = f"a checker step is an action from 0 to {STEPS - 1}, not {quoted(action)}"
        raise IllegalActionError(msg)
    return source_of(int(action)), die_of(int(action))


def name_action(die: int) -> int:
    """The action that names the double `die`-`die` (R10.6).

    Raises:
        IllegalActionError: `die` is not from 1 to 6.
    """
    if not is_whole(die, 1, 6):
        msg = f"a double is named by a die from 1 to 6, not {quoted(die)}"
        raise IllegalActionError(msg)
    return FIRST_NAMED + int(die) - 1


def _place(point: int) -> str:
    if point == BAR:
        return "bar"
    return "off" if point <= 0 else str(point)


def action_text(action: int, states: States | None = None, i: int = 0) -> str:
    """The action as text; given the state in which it is chosen, a step that hits ends with `*`.

    Raises:
        IllegalActionError: the number is not from 0 to 160.
    """
    if not is_whole(action, 0, LAST_NAMED):
        msg = f"an action is a number from 0 to {LAST_NAMED}, not {quoted(action)}"
        raise IllegalActionError(msg)
    if action in _NAMES:
        return _NAMES[action]
    if action >= FIRST_NAMED:
        return f"{action - FIRST_NAMED + 1}-{action - FIRST_NAMED + 1}"
    source, die = step_of(action)
    target = source - die
    hit = False
    if states is not None and target > 0:
        side = int(states[i]["turn"])
        hit = side >= 0 and states[i]["points"][1 - side, 25 - target] == 1
    return f"{_place(source)}/{_place(target)}{'*' if hit else ''}"


def parse_action(text: str, states: States | None = None, i: int = 0) -> int:
    """The action written as `text`; bar and off may be 25 and 0, a `*` is optional, case does not matter.

    The text of bearing off does not name the die. With a state it is the lowest die left that bears off, which is the exact
    one if it is left; without a state it is the exact one.

    Raises:
        NotationError: the text is not an action.
    """
    if not isinstance(text, str):
        msg = f"an action is written as text, not as {type(text).__name__}"
        raise NotationError(msg)
    word = text.strip().lower()
    if word in _WORDS or word in _ALSO:
        return _WORDS.get(word, _ALSO.get(word, 0))
    named = re.fullmatch(r"([1-6])-?\1", word)
    if named:
        return name_action(int(named[1]))
    step = re.fullmatch(r"(bar|\d{1,2})/(off|\d{1,2})\*?", word)
    if step:
        source = BAR if step[1] == "bar" else int(step[1])
        target = 0 if step[2] == "off" else int(step[2])
        if 1 <= source <= BAR and 1 <= source - target <= 6:
            die = source - target
            if target == 0 and states is not None:
                left = [int(d) for d, n in zip(states[i]["dice"], states[i]["left"], strict=True) if n and d >= source]
                die = min(left, default=die)
            return step_action(source, die)
    known = "roll, double, take, drop, beaver, or '6-6'"
    msg = f"{quoted(text)} is not an action: write a step like '13/8', 'bar/20' or '6/off', or {known}"
    raise NotationError(msg)


def legal_actions(states: States, i: int, rules: Rules) -> list[int]:
    """The numbers of the legal actions, ascending; empty in chance phases and at the end."""
    mask = np.empty((1, ACTIONS), np.int8)
    legal_mask(states, i, rules, mask, 0)
    return [int(a) for a in np.flatnonzero(mask[0])]


_TEXTS: Final = {
    Reason.GAME_OVER: "nobody may act: the game is over",
    Reason.DICE_DUE: "nobody may act: the dice are due",
    Reason.NO_CUBE: "{text} is illegal: no cube is in play",
    Reason.NO_BEAVERS: "{text} is illegal: beavers are not in force, take or drop (R8.6)",
    Reason.NO_BONUS: "naming {text} is illegal: this variant has no 1-2 bonus (R10.6)",
    Reason.ROLL_OR_DOUBLE_FIRST: "{text} is illegal: player_{decider} must roll or double first (R3.1)",
    Reason.ANSWER_FIRST: "{text} is illegal: player_{decider} must answer the double first, take or drop (R8.3)",
    Reason.NAME_FIRST: "{text} is illegal: player_{decider} must name a double first (R10.6)",
    Reason.ALREADY_ROLLED: "{text} is illegal: player_{decider} has rolled {roll} and must play it (R8.2)",
    Reason.NOTHING_TO_ANSWER: "{text} is illegal: no double waits for an answer (R8.3)",
    Reason.NOTHING_TO_NAME: "naming {text} is illegal: no 1-2 has just been played in full (R10.6)",
    Reason.CUBE_CAP: "{text} is illegal: it would take the cube past {cap} (R8.4)",
    Reason.BEAVERS_SPENT: "{text} is illegal: the cube may be turned again {beavers} times at most after a double (R8.6)",
    Reason.DIE_NOT_LEFT: "{text} is illegal: no {die} is left to play, only {left} (R3.2)",
    Reason.BAR_FIRST: "{text} is illegal: the checker on the bar must enter first (R6.1)",
    Reason.NO_CHECKER: "{text} is illegal: player_{decider} has no checker there",
    Reason.BLOCKED: "{text} is illegal: point {target} is held by {blockers} opposing checkers (R4.1)",
    Reason.NOT_ALL_HOME: "{text} is illegal: bearing off needs all checkers in the home board (R7.1)",
    Reason.HIGHER_CHECKER: "{text} with a {die} is illegal: a checker stands higher (R7.2)",
    Reason.BOTH_DICE: "{text} with a {die} is illegal: another first step lets both dice be played (R5.1)",
    Reason.LARGER_DIE: "{text} with a {die} is illegal: only one die can be played, so the larger must be (R5.2)",
}


def why_illegal_text(states: States, i: int, settings: Settings, action: int, rules: Rules | None = None) -> str | None:
    """The reason why `action` is illegal in state `i`, as one sentence that names the clause; None if it is legal.

    Args:
        states: STATE records.
        i: the index of the state.
        settings: the settings in force.
        action: any integer.
        rules: `settings.record()`; None makes it.
    """
    rules = settings.record() if rules is None else rules
    clamped = max(-1, min(int(action), ACTIONS))
    reason = Reason(int(illegal_reason(states, i, rules, clamped)))
    if reason == Reason.LEGAL:
        return None
    if reason == Reason.NO_ACTION:
        return f"{quoted(action)} is not an action: give a number from 0 to {settings.actions - 1}"
    s = states[i]
    source, die = step_of(action) if action < STEPS else (0, 0)
    target = source - die
    left = [str(int(d)) for d, n in zip(s["dice"], s["left"], strict=True) for _ in range(n)]
    blockers = int(s["points"][1 - s["turn"], 25 - target]) if 0 < target < BAR and s["turn"] >= 0 else 0
    return _TEXTS[reason].format(
        text=action_text(action),
        decider=int(s["decider"]),
        roll="a double to name" if s["phase"] == Phase.CHOOSE_DOUBLE else f"{s['dice'][0]}-{s['dice'][1]}",
        cap=1 << settings.cap_log2,
        beavers=settings.beavers,
        die=die,
        left=" ".join(left) or "none",
        target=target,
        blockers=blockers,
    )


def checked(action: Any, size: int, shown: int | None = None) -> int:
    """The action as an int, if it is an integer of the space `Discrete(size)`.

    Args:
        action: anything.
        size: one more than the highest action.
        shown: the size of the space in messages; None for `size`.

    Raises:
        IllegalActionError: it is None, not an integer, or out of range.
    """
    last = (shown or size) - 1
    if is_whole(action):
        if 0 <= action < size:
            return int(action)
        msg = f"action {quoted(action)} is out of range: the action space has the numbers 0 to {last}"
        raise IllegalActionError(msg)
    if isinstance(action, np.ndarray) and action.shape == () and np.issubdtype(action.dtype, np.integer):
        return checked(action[()], size, shown)
    what = "None" if action is None else f"{type(action).__name__} {quoted(action)}"
    msg = f"an action is an integer from 0 to {last}, not {what}"
    raise IllegalActionError(msg)
