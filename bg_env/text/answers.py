r"""Answers in the replies of language models: the part of a text that states the choice, apart from the reasoning before it.

A reply may mark its answer in several ways, here from the strongest to the weakest:

1. a tag such as `<answer>...</answer>`, `\boxed{...}`, a JSON key such as `"play"`, or a line "Final answer: ...";
2. a line "Move: ...", also "Play:", "Answer:", "Action:" and the like;
3. words such as "I play ...", brackets, a code fence, or a last line with nothing else;
4. no mark: the whole text.

The last mark of a kind counts, since models correct themselves. Text between tags such as `<think>` and `</think>` is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

__all__ = ["LONGEST_REPLY", "Answer", "answers", "is_bare", "normalized", "without_thoughts"]

LONGEST_REPLY: Final = 100_000
"""Characters of a reply that are read at most: the last ones."""
_LONGEST_ANSWER: Final = 400
"""Characters of a marked answer that are read at most."""
_MOST_MARKS: Final = 200
"""Marks of a kind that are looked at: the last ones."""

_SIGNS: Final = str.maketrans(
    dict.fromkeys("‐‑‒–—―−⁃﹘﹣－", "-")  # noqa: RUF001 - the signs that models write
    | dict.fromkeys("→⇒⟶➔➜➝➞➡⟹↦⇨►▸▶", "/")
    | dict.fromkeys("∕⁄／⧸", "/")  # noqa: RUF001
    | dict.fromkeys("∗＊✱✲⁎﹡★☆", "*")  # noqa: RUF001
    | dict.fromkeys("×✕✖", "x")  # noqa: RUF001
    | dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\t\v\f", " ")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f\u00ad", "")
    | dict.fromkeys("\u2028\u2029\u0085\r", "\n")
    | dict.fromkeys("“”„‟«»＂", '"')  # noqa: RUF001
    | dict.fromkeys("‘’‚‛`´＇", "'")  # noqa: RUF001
    | {chr(0xFF10 + digit): str(digit) for digit in range(10)}
    | {"，": ",", "；": ";", "：": ":", "（": "(", "）": ")", "、": ",", "。": "."}  # noqa: RUF001
    | {"¹": "1", "²": "2", "³": "3", "⁴": "4"}
)
_FENCE: Final = "'''"
"""A code fence, after quotation marks were made plain."""
_THOUGHT: Final = re.compile(
    r"<(/?)(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis)(?:\s[^<>\n]{0,80})?>", re.IGNORECASE
)
_TAG: Final = re.compile(
    r"<(?:final[_ -]?)?(?:answer|move|moves|play|action|decision|choice|final|output)(?:\s[^<>\n]{0,80})?>", re.IGNORECASE
)
_BOXED: Final = re.compile(r"\\(?:boxed|fbox)\s{0,3}\{")
_KEY: Final = re.compile(
    r"[\"'](?:(?:final|best|my|chosen|selected)[_ ]?)?(?:answer|moves?|plays?|action|decision|choice)[\"']\s{0,3}:\s{0,9}",
    re.IGNORECASE,
)
_NOUN: Final = r"(?:answer|move|moves|play|action|decision|choice|response)"
_FINAL: Final = re.compile(rf"\bfinal {_NOUN}\b[*_' ]{{0,6}}(?:\bis\b|[:=])", re.IGNORECASE)
_LINE: Final = re.compile(
    rf"^[ >*_#'\"+.-]{{0,12}}(?:(?:my|the|best|chosen|selected|recommended|so|therefore,?|thus,?) ){{0,3}}"
    rf"(?:(?P<step>(?:move|step|die|checker|play) ?[1-4])|{_NOUN})[*_'\" ]{{0,6}}(?:\bis\b|[:=])",
    re.IGNORECASE | re.MULTILINE,
)
_SAID: Final = re.compile(
    r"(?<!if )(?<!when )(?<!should )(?<!can )(?<!would )\b"
    r"(?:i(?:'ll| will| would| shall|'d| am going to| choose to| decide to| want to)? (?:now )?"
    r"(?:(?:play|move|choose|pick|select|go with|answer|make the (?:play|move))\b|"
    r"(?=(?:re)?double|roll|take|drop|pass|accept|decline|beaver))|(?:my|the) (?:answer|move|play|decision|choice) is\b)",
    re.IGNORECASE,
)
_BRACKETS: Final = re.compile(r"\[([^][\n]{1,120})\]")
_EXAMPLE: Final = re.compile(r"<[^<>\d]{1,40}>|\[[^][\d]{1,40}\]|\.\.\.|\u2026")
"""A place for a move that is left open, as in "Move: <your move>"."""
_PLACES: Final = re.compile(r"\d{1,2}|\b(?:bar|off|to|from|home|b|o|x)\b")
_LETTERS: Final = re.compile(r"[a-z0-9]+")
_SMALL_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        "i play move plays moves the a my will ll and then with is answer final action it s text no not don t "
        "roll double redouble take drop pass accept decline refuse reject fold beaver raccoon",
    )
)
_LATEX: Final = re.compile(r"\\(?:text|mathrm|textbf|mathbf|texttt|mathtt|operatorname)\s{0,3}\{|[{}$]|\\[,;:! ]|~")
_LATEX_ARROW: Final = re.compile(r"\\(?:longrightarrow|rightarrow|Rightarrow|to)\b")
_ARROW: Final = re.compile(r" ?[-=]{1,3}> ?")


class Answer(NamedTuple):
    """A part of a reply that may state the choice.

    Attributes:
        text: the part.
        rank: of its mark, 1 to 4; see this module.
        kind: of its mark: "tag", "boxed", "json", "final", "line", "said", "brackets", "fence", "end" or "" (the whole text).
        place: the index of the character at which its mark ends.
    """

    text: str
    rank: int
    kind: str
    place: int = 0


def normalized(text: str) -> str:
    """The last `LONGEST_REPLY` characters of a text, with plain signs for dashes, arrows, slashes, spaces and digits."""
    plain = text[-LONGEST_REPLY:].translate(_SIGNS)
    return re.sub(r" {2,}", " ", _ARROW.sub("/", _LATEX_ARROW.sub("/", plain)))


def without_thoughts(text: str) -> tuple[str, bool]:
    """A text without what stands between tags of reasoning, and whether such a tag is left open at its end.

    What stands before a closing tag without an opening one is reasoning as well.
    """
    kept: list[str] = []
    depth = start = 0
    for tag in _THOUGHT.finditer(text):
        if tag[1]:
            if depth == 0:
                kept = []
            depth = max(depth - 1, 0)
            start = tag.end()
        else:
            if depth == 0:
                kept.append(text[start : tag.start()])
            depth += 1
    if depth == 0:
        kept.append(text[start:])
    return "\n".join(kept), depth > 0


def answers(text: str) -> Iterator[list[Answer]]:
    """The possible answers of a reply, those of one rank at a time; of every kind in ranks 1 and 2 the last.

    A line "Move: ..." after the last answer of rank 1 comes with those, since it may contradict them.

    Args:
        text: from `without_thoughts`.
    """
    first = [
        *_last(_tagged(text), 1, "tag"),
        *_last(_boxed(text), 1, "boxed"),
        *_last(_from_json(text), 1, "json"),
        *_last(_rest(text, _FINAL), 1, "final"),
    ]
    lines = _last(_lines(text), 2, "line")
    yield first + [line for line in lines if first and line.place > max(answer.place for answer in first)]
    yield lines
    said = [Answer(part, 3, "said") for part, _ in _rest(text, _SAID)]
    said += [Answer(part[1], 3, "brackets") for part in list(_BRACKETS.finditer(text))[-_MOST_MARKS:]]
    said += [Answer(part[:_LONGEST_ANSWER], 3, "fence") for part in text.split(_FENCE)[1::2][-_MOST_MARKS:]]
    yield [*said, Answer(_end(text), 3, "end")]
    yield [Answer(text, 4, "")]


def is_bare(text: str) -> bool:
    """Whether a text holds moves and words of choices, and nothing else."""
    left = _PLACES.sub(" ", text.lower())
    return all(word in _SMALL_WORDS for word in _LETTERS.findall(left))


def _end(text: str) -> str:
    """The last lines of a text that hold nothing but an answer."""
    lines: list[str] = []
    for line in reversed(text[-_LONGEST_ANSWER:].split("\n")[-12:]):
        if not is_bare(line):
            break
        lines.append(line)
    return "\n".join(reversed(lines))


def _last(parts: list[tuple[str, int]], rank: int, kind: str) -> list[Answer]:
    for part, place in reversed(parts):
        if _EXAMPLE.sub("", part).strip(" \n.*_'\"-:"):
            return [Answer(part, rank, kind, place)]
    return []


def _tagged(text: str) -> list[tuple[str, int]]:
    return [
        (text[tag.end() : tag.end() + _LONGEST_ANSWER].split("</", 1)[0], tag.end())
        for tag in list(_TAG.finditer(text))[-_MOST_MARKS:]
    ]


def _boxed(text: str) -> list[tuple[str, int]]:
    found = []
    for box in list(_BOXED.finditer(text))[-_MOST_MARKS:]:
        part = text[box.end() : box.end() + _LONGEST_ANSWER]
        depth = 1
        for k, sign in enumerate(part):
            depth += (sign == "{") - (sign == "}")
            if depth == 0:
                part = part[:k]
                break
        found.append((_LATEX.sub(" ", part), box.end()))
    return found


def _from_json(text: str) -> list[tuple[str, int]]:
    found = []
    for key in list(_KEY.finditer(text))[-_MOST_MARKS:]:
        part = text[key.end() : key.end() + _LONGEST_ANSWER]
        if part.startswith("'"):
            value = part[1:].split("'", 1)[0].split("\n", 1)[0]
        else:
            try:
                value = _flat(json.JSONDecoder().raw_decode(part)[0])
            except (ValueError, RecursionError):
                value = part.split("\n", 1)[0].split("}", 1)[0]
        found.append((value, key.end()))
    return found


def _flat(value: Any) -> str:
    """A value of JSON as move text: lists of moves line by line, a pair of points or `{"from": ..., "to": ...}` as a move."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        places = {str(name).lower(): place for name, place in value.items()}
        if {"from", "to"} <= places.keys():
            return f"{places['from']}/{places['to']}"
        return "\n".join(_flat(part) for part in value.values() if isinstance(part, (str, list, dict)))
    if isinstance(value, list):
        if len(value) == 2 and all(_is_place(part) for part in value):
            return f"{value[0]}/{value[1]}"
        return "\n".join(_flat(part) for part in value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _is_place(value: Any) -> bool:
    if isinstance(value, str):
        return bool(re.fullmatch(r"bar|off|\d{1,2}", value.strip().lower()))
    return isinstance(value, int) and not isinstance(value, bool)


def _rest(text: str, mark: re.Pattern[str]) -> list[tuple[str, int]]:
    """The text after each mark, and the place where the mark ends."""
    return [(_line(text, match), match.end()) for match in list(mark.finditer(text))[-_MOST_MARKS:]]


def _line(text: str, match: re.Match[str]) -> str:
    """The rest of the line after a mark, or the next line where it is empty."""
    return text[match.end() : match.end() + _LONGEST_ANSWER].lstrip(" \n*_:'\"").split("\n", 1)[0]


def _lines(text: str) -> list[tuple[str, int]]:
    """The texts of the lines "Move: ..."; those of "Move 1: ...", "Move 2: ..." together."""
    steps: list[str] = []
    found: list[tuple[str, int]] = []
    for match in list(_LINE.finditer(text))[-_MOST_MARKS:]:
        part = _line(text, match)
        if match["step"] and match["step"][-1] != "1" and steps:
            steps.append(part)
            found[-1] = "\n".join(steps), match.end()
        else:
            steps = [part] if match["step"] else []
            found.append((part, match.end()))
    return found
