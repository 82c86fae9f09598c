"""Words in prose: cube decisions, doubles that are named, and "no move"."""

from __future__ import annotations

import re
from typing import Final

from bg_env.actions import BEAVER, DOUBLE, DROP, FIRST_NAMED, ROLL, TAKE
from bg_env.rules import Phase

__all__ = ["passes", "words"]

_NEGATION: Final = (
    r"(?:no|not|non|never|do not|don't|dont|will not|won't|would not|wouldn't|cannot|can't|should not|shouldn't|without)"
)
_NOT: Final = rf"{_NEGATION}(?:[ -](?:yet|want to|going to|to|a|the|now|be|my|good enough to))*[ -]?"
_SPOKEN: Final = {
    Phase.ROLL_OR_DOUBLE: (
        (rf"\b{_NOT}(?:re)?doubl(?:e|ing)\b", ROLL),
        (rf"\b{_NOT}(?:roll(?:ing)?|offer(?:ing)?)\b", -1),
        (r"\broll(?: the dice)?\b", ROLL),
        (r"\b(?:re)?double\b(?!-?(?:roll|dice|[1-6]|sixes|fives|fours|threes|twos|ones))", DOUBLE),
    ),
    Phase.TAKE_OR_DROP: (
        (rf"\b{_NOT}(?:take|accept)\b", DROP),
        (rf"\b{_NOT}(?:drop|pass|decline|refuse|reject|fold|beaver|raccoon|give up)\b", -1),
        (r"\b(?:take|accept)s?\b(?! (?:back|into account|a look|time|risks?|the (?:risk|lead|following|view)))", TAKE),
        (r"\b(?:drop|pass|decline|refuse|reject|fold)\b", DROP),
        (r"\b(?:beaver|raccoon)\b", BEAVER),
    ),
}
_OTHERS: Final = (
    (r"\broll\b", ROLL),
    (r"\b(?:re)?double\b", DOUBLE),
    (r"\b(?:take|accept)\b", TAKE),
    (r"\b(?:drop|decline|refuse|reject|fold)\b", DROP),
    (r"\b(?:beaver|raccoon)\b", BEAVER),
)
_NUMBERS: Final = ("one", "two", "three", "four", "five", "six")
_PLURALS: Final = ("ones", "twos", "threes", "fours", "fives", "sixes")
_NAMED: Final = re.compile(
    r"(?<![\w/.-])(?:double[ -]?([1-6])(?:s|'s)?|([1-6]) ?[-/x,]? ?\2|([1-6])'?s)(?![\w/-])"
    rf"|\b(?:double |two |pair of )?({'|'.join(_PLURALS)})\b|\bdouble[ -]({'|'.join(_NUMBERS)})\b"
)
_PASSES: Final = re.compile(
    r"\b(?:pass|skip|no (?:legal )?(?:move|moves|play|plays)(?: (?:possible|available))?|(?:cannot|can't) (?:move|play)|"
    r"dance|dances|i am dancing|stay on the bar)\b|\(no play\)"
)
_WHOLE: Final = {phase: [(re.compile(pattern), action) for pattern, action in table] for phase, table in _SPOKEN.items()}
_ANY: Final = [(re.compile(pattern), action) for pattern, action in _OTHERS]


def passes(text: str) -> bool:
    """Whether a text says that no checker is moved."""
    return _PASSES.search(text.lower()) is not None


def words(text: str, phase: Phase) -> set[int]:
    """The actions that the words of a text name; -1 stands for one that is ruled out without naming another.

    Args:
        text: from `answers.normalized`, or a part of it.
        phase: the phase; where it asks for something else than checkers, the words for its own actions come first, and those
            of other phases count where no word of its own is found.
    """
    low = re.sub(r"\bdoubling cube\b|\bdouble (?:shot|hit|jeopardy)\b", " ", text.lower())
    found: set[int] = set()
    if phase == Phase.CHOOSE_DOUBLE:
        for match in _NAMED.finditer(low):
            digit = match[1] or match[2] or match[3]
            number = int(digit) if digit else 1 + (_PLURALS.index(match[4]) if match[4] else _NUMBERS.index(match[5]))
            found.add(FIRST_NAMED + number - 1)
    rest = low
    for pattern, action in _WHOLE.get(phase, ()):
        if pattern.search(rest):
            found.add(action)
            rest = pattern.sub(" ; ", rest)
    if not found:
        found = {action for pattern, action in _ANY if pattern.search(rest)}
    return found
