"""Replies of language models as plays and actions: `parse_reply`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from bg_env.errors import NotationError, SettingsError, quoted
from bg_env.game import Game
from bg_env.notation.moves import Move
from bg_env.position import Play
from bg_env.rules import Phase
from bg_env.text.answers import LONGEST_REPLY, Answer, answers, is_bare, normalized, without_thoughts
from bg_env.text.choices import Choice, Chooser, Fault, Unit, listed
from bg_env.text.moves import Group, groups
from bg_env.text.words import passes, words

__all__ = ["Reply", "checked_unit", "parse_reply"]

_QUOTED: Final = 60
_BARE: Final = ("brackets", "fence", "end")
"""Kinds of answers that count only where they hold nothing else."""
_DOUBT: Final = re.compile(r"\b(?:if|whether|or|could|might|may|maybe|perhaps|unless|question)\b|\?", re.IGNORECASE)
_ROLL: Final = re.compile(r"^[ '\"*(]{0,4}([1-6]) ?-? ?([1-6])\)?:(?= |\d|b)")


@dataclass(frozen=True)
class Reply:
    """The meaning of a reply.

    Attributes:
        text: the choice as `Game.play` reads it, such as "8/5 6/5" or "double"; of a refused reply the moves that it names,
            "" where it names none.
        actions: the action numbers of the choice, in order; empty for a refused reply.
        play: the whole play; None for another action and for a refused reply.
        fault: None, or the kind of fault: "unclear" (no answer was found), "several" (answers that differ), "illegal", or
            "partial" (a part of a roll that must be played whole).
        reason: None, or the reason in one line, with some of the choices that are legal.
    """

    text: str
    actions: tuple[int, ...] = ()
    play: Play | None = None
    fault: Fault | None = None
    reason: str | None = None

    @property
    def legal(self) -> bool:
        """Whether the reply is a legal choice."""
        return self.fault is None

    def __bool__(self) -> bool:
        return self.legal


def checked_unit(unit: object) -> Unit:
    """The unit of replies: "play" or "step".

    Raises:
        SettingsError: it is something else.
    """
    if isinstance(unit, str) and unit in get_args(Unit):
        return unit  # type: ignore[return-value] # it is one of them
    msg = f"unit is 'play' (a whole play for each roll) or 'step' (one checker step), not {quoted(unit)}"
    raise SettingsError(msg)


def parse_reply(game: Game, text: str | None, *, unit: Unit = "play") -> Reply:
    r"""The play or action that a reply means, or the reason why it means none that is legal.

    The reply may be long. Its answer is the last line "Move: ..." (or "Play:", "Answer:" and the like), a tag such as
    `<answer>`, `\boxed{...}`, a JSON key such as "play", or an unmarked play if it is the only one; text between `<think>` and
    `</think>` is left out. Moves may stand in any order, with points joined by slashes, dashes, arrows or words, or with the
    pips of a step ("8 by 3"); a missing or wrong `*` does not matter, nor does case. A reply that could mean two different
    plays is refused.

    Args:
        game: the game, not changed; the player who must act replies.
        text: the reply; None (no reply) is refused like an empty one.
        unit: "play" for whole plays, "step" for one checker step at a time; of no account for other decisions.

    Returns:
        The reply's meaning. Any text has one, in a time that grows with its length only.

    Raises:
        NotationError: the reply is not text.
        SettingsError: `unit` is something else.
    """
    checked_unit(unit)
    if text is None:
        text = ""
    if not isinstance(text, str):
        msg = f"a reply is text, not {type(text).__name__}"
        raise NotationError(msg)
    if not game.legal_actions():
        due = "the game is over" if game.over else "the dice are due"
        return Reply("", (), None, "illegal", f"nobody may act: {due}")
    chooser = Chooser(game, unit)
    choice = _choice(chooser, text)
    if choice.fault is None:
        return Reply(choice.text, choice.actions, choice.play)
    return Reply(choice.text, (), None, choice.fault, f"{choice.reason}; {listed(chooser.texts(choice.ways))}")


def _choice(chooser: Chooser, text: str) -> Choice:
    """The choice of a reply."""
    plain, open_thought = without_thoughts(normalized(text))
    if not plain.strip():
        what = "the reply ends within its reasoning" if open_thought else "the reply is empty"
        return _unclear(chooser, what)
    for rank in answers(plain):
        if rank and rank[0].rank == 4 and len(text) > LONGEST_REPLY:
            return _unclear(chooser, f"a reply of {len(text):,} characters needs a marked answer at its end")
        read = [(answer, _read(chooser, answer)) for answer in rank]
        found = [(answer, choice) for answer, choice in read if choice is not None]
        if found:
            return _one_of(found)
        if rank and rank[0].rank <= 2:
            part = rank[-1].text.strip()[:_QUOTED]
            return _unclear(chooser, f"the answer {quoted(part)} names no {'move' if chooser.moving else 'choice'}")
    return _unclear(chooser, f"the reply names no {'move' if chooser.moving else 'choice'}")


def _unclear(chooser: Chooser, what: str) -> Choice:
    example = chooser.texts()[0]
    return Choice((), "", None, "unclear", f'{what}: end with one line such as "Move: {example}"')


def _one_of(found: list[tuple[Answer, Choice]]) -> Choice:
    """The one choice of answers of the same rank."""
    choices = [choice for _, choice in found]
    first = choices[0]
    if all(choice.actions == first.actions and choice.text == first.text for choice in choices):
        return first
    names = list(dict.fromkeys(choice.text or "(unclear)" for choice in choices))
    return _several(names)


def _several(names: Iterable[str]) -> Choice:
    names = list(names)
    shown = " | ".join(name[:_QUOTED] for name in names[:4]) + (" ..." if len(names) > 4 else "")
    msg = f'the reply names {len(names)} answers that differ ({shown}): end with one line "Move: ..." with the one you mean'
    return Choice((), "", None, "several", msg)


def _read(chooser: Chooser, answer: Answer) -> Choice | None:
    """The choice of a part of a reply; None where it names none."""
    text = answer.text
    if answer.kind in _BARE and not is_bare(text):
        return None
    if chooser.phase == Phase.CHOOSE_DOUBLE:
        return _read_words(chooser, answer) or _read_moves(chooser, answer)
    if chooser.moving:
        roll = _ROLL.match(text)
        if roll and sorted(map(int, roll.groups())) == sorted(_roll(chooser)):
            answer = answer._replace(text=text[roll.end() :])
        return _read_moves(chooser, answer) or _read_words(chooser, answer)
    return _read_words(chooser, answer) or _read_moves(chooser, answer)


def _roll(chooser: Chooser) -> list[int]:
    return [int(die) for die in chooser.states[0]["dice"]]


def _read_words(chooser: Chooser, answer: Answer) -> Choice | None:
    """The choice of the words of an answer; None without any."""
    if chooser.moving and passes(answer.text):
        return chooser.no_move()
    found = words(answer.text, chooser.phase)
    if not found:
        return chooser.no_move() if passes(answer.text) else None
    named = sorted(found - {-1})
    if not named:
        return Choice((), "", None, "unclear", "the reply rules one choice out without naming another")
    if len(named) > 1:
        return _several([chooser.of_action(action).text for action in named])
    if answer.rank > 2 and _DOUBT.search(answer.text):
        text = chooser.of_action(named[0]).text
        return Choice(
            (),
            text,
            None,
            "unclear",
            f'the reply speaks of "{text}" with an if or an or: end with one line "Move: {text}" if you mean it',
        )
    return chooser.of_action(named[0])


def _read_moves(chooser: Chooser, answer: Answer) -> Choice | None:
    """The choice of the moves of an answer; None without any."""
    dice = sorted(_roll(chooser))
    found = groups(answer.text, dice[0] == dice[1])
    if found is None:
        return _several(["dozens of moves"] * 2)
    if any(not group.refused for group in found):
        found = [group for group in found if not group.refused]
    elif found:
        return Choice((), "", None, "unclear", f"the reply says what not to play ({found[0].text[:_QUOTED]})")
    if len(found) > 1:
        found = [group for group in found if not _is_noise(group, dice)] or found[:1]
    if not found:
        return None
    if answer.rank == 4 and any(group.doubted for group in found):
        text = found[0].text[:_QUOTED]
        return Choice(
            (), text, None, "unclear", f'the reply speaks of {text} with a "not" or an "if": end with one line "Move: ..."'
        )
    read = [part for group in found for part in _of_group(chooser, group, dice)]
    whole = {choice.actions: choice for _, choice in read if choice.fault is None}
    if len(whole) > 1:
        return _several([choice.text for choice in whole.values()])
    if whole:
        (one,) = whole.values()
        ways = [_ways(moves) for moves, choice in read if choice.fault is None]
        if one.play is not None:
            ways.append(Counter((step.source, step.target) for step in one.play.steps))
        others = [choice.text for moves, choice in read if not any(_ways(moves) <= way for way in ways)]
        return _several([one.text, *others]) if others else one
    texts = list(dict.fromkeys(choice.text for _, choice in read))
    return _several(texts) if len(texts) > 1 else read[0][1]


def _ways(moves: Sequence[Move]) -> Counter[tuple[int, int]]:
    """The moves as they are written, from the first point to the last, in any order."""
    return Counter((move.places[0], move.places[-1]) for move in moves)


def _is_noise(group: Group, dice: list[int]) -> bool:
    """Whether a group beside others is no move: the roll, a score or a share, such as "3-1" or "1/2"."""
    numbers = [place for move in group.moves for place in move.places]
    if len(numbers) != 2:
        return False
    return (group.loose and (sorted(numbers) == dice or group.upward)) or (group.upward and max(numbers) <= 6)


def _of_group(chooser: Chooser, group: Group, dice: list[int]) -> list[tuple[tuple[Move, ...], Choice]]:
    """The readings of a group: of all its moves together, or of each part where parts are whole by themselves."""
    moves = group.moves
    together = moves, chooser.of_moves(moves)
    if len(group.parts) > 1:
        each = [(part, chooser.of_moves(part)) for part in group.parts]
        whole = [choice for _, choice in each if choice.fault is None]
        if len(whole) == len(each) or (whole and together[1].fault):
            return each
    if group.roll_first and len(moves) > 1 and sorted(moves[0].places) == dice:  # the roll may stand before the moves
        rest = moves[1:], chooser.of_moves(moves[1:])
        if rest[1].fault is None:
            return [rest] if together[1].fault else [together, rest]
    return [together]
