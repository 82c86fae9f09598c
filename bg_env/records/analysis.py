"""Analyses by other programs, read as decisions: GNU Backgammon's text export, and the text that eXtreme Gammon copies.

A `Decision` is a position with the candidates that the program weighed, their equities and probabilities. Equities are in units
of the cube's value before the decision and belong to the player who decides. `targets` gives the positions after the candidates
of many decisions as arrays, to test or to fit an evaluator by.

Both programs print an id above each board, and the numbers under it; boards, statistics and comments are passed over. Decimal
commas and labels of XG's translations are read as well; of GNU Backgammon the English text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from bg_env.errors import BgEnvError, NotationError, quoted
from bg_env.files import read_text
from bg_env.notation.gnubg_ids import decode_match_id, encode_match_id, read_ids, read_position_id
from bg_env.notation.moves import find_play
from bg_env.notation.pasted import find_id, xgid_in
from bg_env.notation.xgid import read_xgid
from bg_env.rules import STATE, Phase, Settings, States, Variant, apply

__all__ = ["Choice", "Decision", "Probabilities", "Targets", "parse_analysis", "read_analysis", "targets"]

Probabilities = tuple[float, float, float, float, float, float]
"""Chances of the player who decides: to win, to win a gammon or more, a backgammon; to lose, a gammon or more, a backgammon."""

_MOST: Final = 1 << 28
_NUMBER: Final = r"[+-]?\d+[.,]\d+"
_MOVE: Final = r"(?:\d{1,2}|[A-Za-z]+)\*?/\S.*?"
_LABEL: Final = re.compile(r"XGID\s*[=:]|Position[ -]ID\s*:", re.IGNORECASE)
_MATCH: Final = re.compile(r"Match[ -]ID\s*:", re.IGNORECASE)
_CANDIDATE: Final = re.compile(
    rf"(?P<mark>\*?)\s*\d+\.\s+(?P<level>\S.*?)\s+(?P<move>{_MOVE})\s+(?P<unit>Eq\.?|eq|MWC)\s*:\s*(?P<value>{_NUMBER})"
)
_SIX: Final = re.compile(rf"\s+({_NUMBER})\s+({_NUMBER})\s+({_NUMBER})\s+-\s+({_NUMBER})\s+({_NUMBER})\s+({_NUMBER})")
_SIDE: Final = re.compile(rf"\s*[^:]*[:\uff1a]\s*({_NUMBER})%\s*\(G:\s*({_NUMBER})%\s+B:\s*({_NUMBER})%\)")
_CUBELESS: Final = re.compile(r"(?P<level>\S.*?)\s+cubeless equity", re.IGNORECASE)
_CUBE_GNUBG: Final = re.compile(
    rf"\s*\d\.\s+(?P<name>(?:No )?(?:re)?double\b.*?)\s+(?P<value>{_NUMBER})(?P<mwc>%?)", re.IGNORECASE
)
_CUBE_XG: Final = re.compile(r"\s+(?P<name>[^\W\d][^:\uff1a=]*?)\s*[:\uff1a]\s*(?P<value>[+-]\d+[.,]\d+)(?:\s*\([^)]*\))?\s*")
_LEVEL_XG: Final = re.compile(r"Analy[sz]\S*\s+\S+\s+(?P<level>\S.*?)\s*")
_VERDICT: Final = re.compile(r"(?:Proper|Best) cube action\s*:\s*(?P<verdict>.*?)\s*(?:\(.*)?", re.IGNORECASE)
_VERDICT_XG: Final = re.compile(r".*[:\uff1a]\s*(?P<verdict>[^:\uff1a/]+ / [^:\uff1a/]+?)\s*")
_DONE: Final = re.compile(r"\* .*?\s(?P<verb>moves|doubles|accepts|rejects|cannot move)\b\s*(?P<move>.*?)\s*(?:\([+-].*)?")
_NAMES: Final = ("no double", "double, take", "double, pass")


@dataclass(frozen=True)
class Choice:
    """A candidate of a decision.

    Attributes:
        text: the play ("8/5 6/5"); of the cube "no double", "double, take", "double, beaver" or "double, pass".
        equity: in units of the cube's value before the decision; None where the text has match winning chances instead.
        mwc: the chance to win the match, 0 to 1; None where the text has an equity.
        probabilities: of the game's results after it; None where the text has none.
        level: how it was evaluated ("Cubeful 2-ply", "XG Roller++").
        line: its line in the text, from 1.
    """

    text: str
    equity: float | None = None
    mwc: float | None = None
    probabilities: Probabilities | None = None
    level: str = ""
    line: int = field(default=0, compare=False)

    @property
    def value(self) -> float:
        """The equity, or the chance to win the match, by which candidates are compared."""
        return self.equity if self.equity is not None else self.mwc if self.mwc is not None else float("nan")


@dataclass(frozen=True, eq=False)
class Decision:
    """A decision with its analysis.

    Attributes:
        kind: `play` of a roll; `double`, whether to double before it; `answer` to a double.
        id: the id of the position as it stands in the text, an XGID or GNU Backgammon's ids.
        states: the state that waits for the decision, an array of one STATE.
        settings: the settings that the id gives.
        candidates: in the order of the text.
        played: the choice of the player: a play, or "no double", "double", "take" or "pass"; "" where the text does not say.
        verdict: the proper cube action in the program's words; "" for plays, and where the text has none.
        probabilities: of the game's results before a decision about the cube; None for plays.
        line: the line of the id in the text, from 1.
    """

    kind: Literal["play", "double", "answer"]
    id: str
    states: States
    settings: Settings
    candidates: tuple[Choice, ...]
    played: str = ""
    verdict: str = ""
    probabilities: Probabilities | None = None
    line: int = 0

    @property
    def best(self) -> int:
        """The index of the best candidate; of doubles, the answer is that which is better for the opponent."""
        values = {k: one.value for k, one in enumerate(self.candidates)}
        if self.kind == "double":
            doubled = {k: value for k, value in values.items() if self.candidates[k].text != _NAMES[0]}
            values = {k: value for k, value in values.items() if k not in doubled}
            if doubled:
                answer = min(doubled, key=doubled.__getitem__)
                values[answer] = doubled[answer]
        elif self.kind == "answer":
            values = {k: value for k, value in values.items() if self.candidates[k].text != _NAMES[0]}
        return max(values, key=values.__getitem__)

    def after(self, k: int) -> States:
        """The state after candidate `k` of a play, before any dice that are due then: an array of one STATE.

        Raises:
            NotationError: the decision is not a play of a roll.
        """
        if self.kind != "play":
            msg = f"a state follows the candidates of a play, not those of a decision of kind {self.kind!r}"
            raise NotationError(msg)
        rules = self.settings.record()
        states: States = self.states.copy()
        for action in find_play(self.candidates[k].text, states, 0, rules, whole=True):
            apply(states, 0, rules, action)
        return states


@dataclass(frozen=True, eq=False)
class Targets:
    """The positions after the candidates of many plays, as arrays.

    Attributes:
        offsets: int64 of shape (plays + 1): play `i` has the candidates `offsets[i]` to `offsets[i + 1] - 1`.
        states: STATE records of shape (candidates), the states after them.
        seats: int8 of shape (candidates), the player who chooses.
        equities: float64 of shape (candidates), to that player; NaN where the text has none.
        probabilities: float64 of shape (candidates, 6), of that player, as `Probabilities`; NaN where the text has none.
    """

    offsets: npt.NDArray[np.int64]
    states: States
    seats: npt.NDArray[np.int8]
    equities: npt.NDArray[np.float64]
    probabilities: npt.NDArray[np.float64]


def targets(decisions: Iterable[Decision]) -> Targets:
    """The positions after the candidates of plays, with their equities and probabilities; other decisions are left out.

    Raises:
        NotationError: `decisions` is not a sequence of Decision.
    """
    offsets, states, seats, equities, chances = [0], [], [], [], []
    if isinstance(decisions, (str, bytes)) or not isinstance(decisions, Iterable):
        msg = f"decisions are a sequence of Decision, not {quoted(decisions)}"
        raise NotationError(msg)
    for one in decisions:
        if not isinstance(one, Decision):
            msg = f"decisions are a sequence of Decision, but {quoted(one)} is not a Decision"
            raise NotationError(msg)
        if one.kind != "play":
            continue
        for k, choice in enumerate(one.candidates):
            states.append(one.after(k))
            seats.append(int(one.states[0]["turn"]))
            equities.append(np.nan if choice.equity is None else choice.equity)
            chances.append(choice.probabilities or (np.nan,) * 6)
        offsets.append(len(states))
    return Targets(
        np.array(offsets, np.int64),
        np.concatenate(states) if states else np.zeros(0, STATE),
        np.array(seats, np.int8),
        np.array(equities, np.float64),
        np.array(chances, np.float64).reshape(-1, 6),
    )


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _six(numbers: Sequence[str]) -> Probabilities:
    values = [_number(number) for number in numbers]
    if max(values) > 1:  # in per cent
        values = [value / 100 for value in values]
    a, b, c, d, e, f = (round(value, 6) for value in values)
    return a, b, c, d, e, f


def _of_sides(lines: Sequence[str]) -> Probabilities | None:
    """XG's two lines of chances, of the player and of the opponent, each `55.00% (G:16.00% B:0.90%)`."""
    sides = [found.groups() for line in lines if (found := _SIDE.match(line))]
    if len(sides) < 2:
        return None
    a, b, c, d, e, f = (round(_number(number) / 100, 6) for number in (*sides[0], *sides[1]))
    return a, b, c, d, e, f


def _probabilities(lines: Sequence[str]) -> Probabilities | None:
    """The first probabilities in some lines."""
    for line in lines:
        found = _SIX.match(line)
        if found:
            return _six(found.groups())
    return _of_sides(lines)


def _choice(text: str, value: str, unit: str) -> Choice:
    number = _number(value)
    return Choice(text, mwc=number / 100) if unit else Choice(text, equity=number)


@dataclass
class _Block:
    """The lines under one id: the line of the id, its text, and whether it is an XGID."""

    line: int
    id: str
    lines: list[str]

    def candidates(self) -> tuple[list[Choice], str]:
        """The plays, and the one that is marked as played."""
        found = [(k, match) for k, line in enumerate(self.lines) if (match := _CANDIDATE.match(line.strip()))]
        ends = [k for k, _ in found[1:]] + [len(self.lines)]
        choices, played = [], ""
        for (k, match), end in zip(found, ends, strict=False):
            one = _choice(" ".join(match["move"].split()), match["value"], match["unit"] if match["unit"] == "MWC" else "")
            after = self.lines[k + 1 : min(end, k + 4)]
            choices.append(replace(one, probabilities=_probabilities(after), level=match["level"], line=self.line + k))
            played = one.text if match["mark"] else played
        return choices, played

    def done(self) -> tuple[str, str]:
        """The choice that the player made, by GNU Backgammon's text: a verb and a play."""
        for line in self.lines:
            match = _DONE.fullmatch(line.strip())
            if match:
                return match["verb"], match["move"]
        return "", ""

    def cube(self) -> tuple[list[Choice], Probabilities | None, str]:
        """The choices about the cube, the probabilities before it, and the program's words."""
        xg = xgid_in(self.id) is not None and not any(_CUBELESS.match(line.strip()) for line in self.lines)
        pattern = _CUBE_XG if xg else _CUBE_GNUBG
        level, verdict, at = "", "", 0
        choices: list[Choice] = []
        for k, line in enumerate(self.lines):
            match = (_LEVEL_XG.fullmatch if xg else _CUBELESS.match)(line.strip())
            if match and not level:
                level, at = match["level"], k
            said = (_VERDICT_XG if xg and choices else _VERDICT).fullmatch(line.strip())
            verdict = verdict or (said["verdict"] if said else "")
            match = (pattern.fullmatch if xg else pattern.match)(line)
            if match and len(choices) < len(_NAMES):
                name = self._name(match["name"].lower(), len(choices) if xg else None)
                one = _choice(name, match["value"], "" if xg else match["mwc"])
                choices.append(replace(one, level=level, line=self.line + k))
        if len(choices) < len(_NAMES):
            return [], None, ""
        return choices, _probabilities(self.lines[at + 1 : at + 4]), verdict

    @staticmethod
    def _name(words: str, order: int | None) -> str:
        """The name of a choice; XG prints them in one order, whatever its language."""
        at = order
        if at is None:
            at = 0 if words.startswith("no") else 2 if "pass" in words or "drop" in words else 1
        return "double, beaver" if at == 1 and "beaver" in words else _NAMES[at]


def _blocks(text: str) -> list[_Block]:
    """The lines of a text by the ids above them."""
    blocks: list[_Block] = []
    for k, line in enumerate(text.splitlines(), 1):
        if blocks and not blocks[-1].lines[1:] and _MATCH.search(line) and not _MATCH.search(blocks[-1].id):
            blocks[-1].id += f" {line.strip()}"
            blocks[-1].lines.append("")
        elif _LABEL.search(line):
            blocks.append(_Block(k, line.strip(), [""]))
        elif blocks:
            blocks[-1].lines.append(line)
    return blocks


def _read_id(text: str, variant: str | Variant, *, before_roll: bool) -> tuple[str, States, Settings]:
    """The state of an id, if asked for as it was before the roll (a roll that cannot be played passes at once)."""
    xgid = xgid_in(text)
    if xgid:
        fields = xgid.split(":")
        if before_roll and fields[4:5] and fields[4].isdigit():
            fields[4] = "00"
        return f"XGID={xgid}", *read_xgid(":".join(fields), variant)
    found = find_id(text)
    if found.kind == "position":
        return found.words[0], *read_position_id(found.words[0], variant)
    position, match = found.words
    if before_roll:  # GNU Backgammon also leaves the dice of the turn before in the id of a double
        match = encode_match_id(replace(decode_match_id(match), die1=0, die2=0))
    return ":".join(found.words), *read_ids(position, match, variant)


def _play(block: _Block, variant: str | Variant) -> Decision | None:
    candidates, marked = block.candidates()
    if not candidates:
        return None
    name, states, settings = _read_id(block.id, variant, before_roll=False)
    _, moved = block.done()
    one = Decision("play", name, states, settings, tuple(candidates), marked or moved, line=block.line)
    for k, choice in enumerate(candidates):
        try:
            one.after(k)
        except BgEnvError as error:
            msg = f"line {choice.line}: {error}"
            raise NotationError(msg) from error
    return one


def _cube(block: _Block, variant: str | Variant) -> Decision | None:
    choices, chances, verdict = block.cube()
    if not choices:
        return None
    name, states, settings = _read_id(block.id, variant, before_roll=True)
    if states[0]["phase"] not in (Phase.ROLL_OR_DOUBLE, Phase.TAKE_OR_DROP):
        return None  # a cube that is not available: the program shows what it would be worth
    verb, _ = block.done()
    answers = states[0]["phase"] == Phase.TAKE_OR_DROP
    if answers:
        played = {"accepts": "take", "rejects": "pass", "doubles": "double"}.get(verb, "")
        dropped = next((one for one in choices if one.text == _NAMES[2]), None)
        if dropped is not None and dropped.equity is not None and dropped.equity > 0:  # printed for the doubler
            choices = [replace(one, equity=None if one.equity is None else -one.equity) for one in choices]
            chances = None if chances is None else (*chances[3:], *chances[:3])
    else:
        played = {"doubles": "double", "moves": "no double", "cannot move": "no double"}.get(verb, "")
    kind: Literal["answer", "double"] = "answer" if answers else "double"
    return Decision(kind, name, states, settings, tuple(choices), played, verdict, chances, block.line)


def parse_analysis(text: str, variant: str | Variant = "backgammon") -> list[Decision]:
    """The analysed decisions in a text, in order; see `read_analysis`.

    Raises:
        NotationError: it is not text, has no analysed decision, or a wrong one; the message names its line.
    """
    if not isinstance(text, str):
        msg = f"an analysis is read from text, not from {quoted(text)}"
        raise NotationError(msg)
    decisions = []
    blocks = _blocks(text)
    for block in blocks:
        try:
            found = [_cube(block, variant), _play(block, variant)]
        except NotationError as error:
            msg = str(error) if str(error).startswith("line ") else f"line {block.line}: {error}"
            raise NotationError(msg) from error
        decisions += [one for one in found if one is not None]
    if not decisions:
        why = "no candidates with equities under its ids" if blocks else "no XGID and no 'Position ID:' in it"
        msg = f"this is not an analysis: it has {why}; give GNU Backgammon's text export, or the text that XG copies"
        raise NotationError(msg)
    return decisions


def read_analysis(path: str | Path, variant: str | Variant = "backgammon") -> list[Decision]:
    """The analysed decisions in a file, in order: plays with their candidates, doubles and answers.

    Args:
        path: a text that GNU Backgammon exported (`export match text`, `export game text`, `export position text`), or that
            eXtreme Gammon copied; several of them may stand in one file.
        variant: the variant played, which no id holds.

    Raises:
        NotationError: the file has no analysed decision, or a wrong one; the message names the file and the line.
        OSError: it cannot be read.
        SettingsError: `path` is not a path.
    """
    try:
        return parse_analysis(read_text(path, _MOST), variant)
    except NotationError as error:
        msg = f"{path}: {error}"
        raise NotationError(msg) from error
