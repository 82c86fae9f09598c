"""Moves in prose: the checker moves that a text names, in groups of moves that belong together.

Beyond the notation of `bg_env.notation.moves`, points may be joined by dashes ("8-5") or words ("from 8 to 5"), and a step may
be given by its pips ("8 by 3", "the 3 from the 8 point").
"""

from __future__ import annotations

import itertools
import re
from typing import Final, NamedTuple

from bg_env.notation.moves import Move
from bg_env.rules import BAR, OFF

__all__ = ["Group", "groups"]

_PLACE: Final = r"(?:bar|off|home|[bo](?![a-z])|\d{1,2}(?![\d.]\d))"
_SAID: Final = r"(?:(?:the|my|your|point|pt|space) ){0,3}"
_POINT: Final = r"(?:[ -]?(?:points?|pt))?"
_GLUED: Final = r"[/\d]|[a-wyz_]|x(?! ?[1-4]\b)"
"""What cannot follow a move at once."""
_TIMES: Final = r"(?: ?\( ?x?([1-4]) ?x?\)| ?x ?([1-4])\b| (twice|two times|three times|four times))?"
_MOVE: Final = re.compile(
    rf"(?<![\w/.])(?:([1-4]) ?x )?(?P<way>{_PLACE}\*?(?: ?/ ?{_PLACE}\*?)+(?!{_GLUED}|-\d{{1,2}}(?![\d/]))"
    rf"|(?<![-]){_PLACE}\*?(?: ?[/-] ?{_PLACE}\*?)+(?!{_GLUED}|-)){_TIMES}\*?"
    rf"|(?<![\w/.-])(?P<from>bar|b|\d{{1,2}}){_POINT}(?P<rest>(?: to {_SAID}(?:off|home|\d{{1,2}}){_POINT}\b)+)"
    rf"|\bbear(?:s|ing)? (?:(?:a|one|the|my|checker|from|off|point) ){{1,6}}(?P<off>\d{{1,2}})\b{_POINT}"
    rf"|\benter(?:s|ing)? (?:(?:a|one|the|my|checker|from|bar|at|on|onto|to|point) ){{0,6}}(?P<enter>\d{{1,2}})\b{_POINT}"
    rf"|(?<![\w/.-])(?P<by>bar|\d{{1,2}}){_POINT},? (?:by|with|using) "
    rf"(?:(?:the|a|an|my|die) ){{0,2}}(?P<pips>\d{{1,2}})\b(?: pips?)?"
    rf"|(?<![\w/.-])(?P<pips2>\d{{1,2}})(?: pips?)? from {_SAID}(?P<by2>bar|\d{{1,2}})\b{_POINT}"
    rf"|(?<![\w/.-])(?P<by3>bar|\d{{1,2}}),? (?P<pips3>\d{{1,2}}) pips?\b",
    re.IGNORECASE,
)
_PART: Final = re.compile(r"([a-z]+|\d+)(\*?)", re.IGNORECASE)
_WORDS: Final = (
    "a an and the then also plus with using by for from to on my your checker checkers die dice number roll first second "
    "third fourth next finally last one two three four five six hit hits hitting move moves moving play plays playing of "
    "point points i it will blot both another"
)
_FILLER: Final = re.compile(rf"(?:[- ,;&+()*_'\"|\[\]]|\b(?:{'|'.join(_WORDS.split())}|[1-6])\b)*", re.IGNORECASE)
_LINE: Final = re.compile(r"\.? ?\n ?(?:[-*] ?)?(?:\d[.):] )?")
"""A new line, maybe of a numbered list."""
_SOFT: Final = re.compile(r"[\n,;|]|\b(?:and|then|plus|also)\b")
_NOT: Final = re.compile(
    r"(?<!why )\b(?:not|instead of|rather than|than|over)(?: (?:the|to|play|playing|move)){0,2} ?['\"(]?$", re.IGNORECASE
)
_DOUBT: Final = re.compile(
    r"\b(?:not|never|avoid|avoids|avoiding|instead|rather|against|unlike|without|cannot|illegal|dont|reject|rejected|unless|if)\b|n't\b",
    re.IGNORECASE,
)
_COUNTS: Final = {"twice": 2, "two times": 2, "three times": 3, "four times": 4}
_LONGEST_GAP: Final = 60
_MOST_GROUPS: Final = 40


class Group(NamedTuple):
    """Moves that stand together.

    Attributes:
        parts: the moves of each part, where commas, lines or words such as "and" stand between parts; all of them together may
            be one play, or each part another.
        text: the moves as they are written.
        loose: whether all of them are numbers joined by dashes, as dice and scores are too.
        roll_first: whether the first of them is.
        upward: whether a way goes up, or names a place that there is not.
        refused: whether the words just before say not to play them ("rather than 8/5").
        doubted: whether words of the same sentence before may say so.
    """

    parts: tuple[tuple[Move, ...], ...]
    text: str
    loose: bool
    roll_first: bool
    upward: bool
    refused: bool
    doubted: bool

    @property
    def moves(self) -> tuple[Move, ...]:
        """All of its moves."""
        return tuple(move for part in self.parts for move in part)


class _Found(NamedTuple):
    moves: list[Move]
    start: int
    end: int
    loose: bool
    upward: bool


def _place(word: str) -> int:
    word = word.lower()
    if word in ("bar", "b"):
        return BAR
    return OFF if word in ("off", "home", "o") else int(word)


def _found(match: re.Match[str], double: bool) -> _Found:
    """The moves of one match: one, or as many as it says.

    A "(3)" after a step of 3 is its die, unless the roll is a double.
    """
    loose, times, starred = False, 1, []
    if match["way"]:
        parts = _PART.findall(match["way"])
        places = tuple(_place(word) for word, _ in parts)
        starred = [place for place, (_, star) in zip(places, parts, strict=True) if star]
        loose = "/" not in match["way"] and all(word.isdigit() for word, _ in parts)
        if match[0].endswith("*") and not match["way"].endswith("*"):
            starred.append(places[-1])
        times = int(match[1] or match[3] or match[4] or _COUNTS.get(str(match[5]).lower(), 1))
        if not double and len(places) == 2 and places[1] != OFF and times == places[0] - places[1]:
            times = 1
    elif match["from"]:
        rest = [_place(word) for word, _ in _PART.findall(match["rest"]) if word.isdigit() or word.lower() in ("off", "home")]
        places = (_place(match["from"]), *rest)
    elif match["off"]:
        places = (int(match["off"]), OFF)
    elif match["enter"]:
        places = (BAR, int(match["enter"]))
    else:
        start = _place(match["by"] or match["by2"] or match["by3"])
        places = (start, max(start - int(match["pips"] or match["pips2"] or match["pips3"]), OFF))
    upward = max(places) > BAR or any(a <= b for a, b in itertools.pairwise(places))
    return _Found([Move(places, tuple(starred))] * times, match.start(), match.end(), loose, upward)


def groups(text: str, double: bool = True) -> list[Group] | None:
    """The groups of moves in a text, in order, equal ones once; None for more than a reply can mean.

    Args:
        text: from `answers.normalized`, or a part of it.
        double: whether the roll is a double, so that moves can be repeated.
    """
    made: dict[tuple[tuple[Move, ...], ...], Group] = {}
    parts: list[list[_Found]] = []
    before = since = 0
    for match in _MOVE.finditer(text):
        found = _found(match, double)
        gap = _LINE.sub("\n", text[before : found.start])
        hard = not parts or len(gap) > _LONGEST_GAP or not _FILLER.fullmatch(_SOFT.sub(" ", gap))
        if hard:
            _close(made, parts, text, since)
            parts, since = [[found]], before
        elif _SOFT.search(gap):
            parts.append([found])
        else:
            parts[-1].append(found)
        before = found.end
        if len(made) > _MOST_GROUPS:
            return None
    _close(made, parts, text, since)
    return list(made.values())


def _close(made: dict[tuple[tuple[Move, ...], ...], Group], parts: list[list[_Found]], text: str, since: int) -> None:
    """Add the group of these parts, if there are any; the group before it ends at `since`."""
    if not parts:
        return
    every = [found for part in parts for found in part]
    start, end = every[0].start, every[-1].end
    before = re.split(r"[.;!?\n]", text[max(start - _LONGEST_GAP, since) : start])[-1]
    moves = tuple(tuple(move for found in part for move in found.moves) for part in parts)
    group = Group(
        moves,
        text[start:end],
        all(found.loose for found in every),
        every[0].loose,
        any(found.upward for found in every),
        _NOT.search(before) is not None,
        _DOUBT.search(before) is not None,
    )
    if moves not in made:
        made[moves] = group
    else:
        old = made[moves]
        made[moves] = old._replace(refused=old.refused and group.refused, doubted=old.doubted and group.doubted)
