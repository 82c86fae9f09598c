"""Saved positions in `.sgf`: the nodes before the first move that set up a board, a cube and dice, as an id and back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from bg_env.errors import NotationError
from bg_env.notation.state_of_id import Setup, stand
from bg_env.notation.xgid import write_xgid
from bg_env.records.check import replay, replay_settings
from bg_env.records.record import Entry, GameRecord, Record
from bg_env.rules import BAR, OFF, Phase, States

__all__ = ["KEPT", "LETTERS", "RULE_NAMES", "SETS_UP", "Position", "position_nodes"]

LETTERS: Final = "zabcdefghijklmnopqrstuvwxy"
"""Letter of White's point 0 (off) to 25 (the bar)."""
RULE_NAMES: Final = {"nackgammon_ballard": "Nackgammon", "hypergammon": "Hypergammon3"}
"""GNU Backgammon's rule of a variant."""
KEPT: Final = ("DT", "EV", "RO", "PC", "AN")
"""Properties that become headers."""
SETS_UP: Final = ("AE", "AW", "AB", "PL", "DI", "CP", "CV")
"""Properties of nodes that set something up."""
_DICE = re.compile(r"[1-6]{2}", re.ASCII)
_POINT = re.compile(r"[a-z](?::[a-z])?", re.ASCII)
_CUBE = re.compile(r"\d{1,5}", re.ASCII)
_OWNERS: Final = {"w": 0, "b": 1, "c": -1}


@dataclass
class Position:
    """A position that is being set up.

    Attributes:
        points: 26 counts of White and of Black on their own numberings; None for the start of the variant.
        cube: log2 of the cube's value.
        owner: -1, 0 or 1.
        turn: the player on roll; None if it is not known.
        dice: the roll; None before it.
        changed: whether more than the turn and the dice was set.
    """

    points: list[list[int]] | None = None
    cube: int = 0
    owner: int = -1
    turn: int | None = None
    dice: tuple[int, int] | None = None
    changed: bool = field(default=False)

    @classmethod
    def after(cls, record: Record, game: GameRecord) -> Position | None:
        """The position that the entries of a game lead to; None if they are faulty or end the game."""
        found = replay(replace(record, games=(game,)))
        s = found.states[-1]
        if found.faults or s["turn"] < 0 or s["phase"] == Phase.OVER:
            return None
        dice = (int(s["dice"][0]), int(s["dice"][1])) if s["left"].any() else None
        return cls(s["points"].tolist(), int(s["cube"]), int(s["owner"]), int(s["turn"]), dice, changed=True)

    def set_up(self, node: Mapping[str, Sequence[str]]) -> None:
        """Do what a node says.

        Raises:
            NotationError: it cannot be understood.
        """
        self._turn(node)
        for name in ("AE", "AW", "AB"):
            for value in node.get(name, ()):
                self._place(name, value.strip())
        for value in node.get("CV", ())[:1]:
            if not _CUBE.fullmatch(value.strip()) or not int(value) or int(value) & (int(value) - 1):
                raise _unclear(value, "CV")
            self.cube, self.changed = int(value).bit_length() - 1, True
        for value in node.get("CP", ())[:1]:
            if value.strip().lower()[:1] not in _OWNERS:
                raise _unclear(value, "CP")
            self.owner, self.changed = _OWNERS[value.strip().lower()[:1]], True

    def _turn(self, node: Mapping[str, Sequence[str]]) -> None:
        for value in node.get("PL", ())[:1]:
            turn = "wb".find(value.strip().lower()[:1] or "?")
            if turn < 0:
                raise _unclear(value, "PL")
            self.turn = turn
        for value in node.get("DI", ())[:1]:
            if not _DICE.fullmatch(value.strip()):
                raise _unclear(value, "DI")
            self.dice = int(value.strip()[0]), int(value.strip()[1])

    def _place(self, name: str, value: str) -> None:
        """Put checkers of a colour on the points `value` names, `a` or `a:y`, or take all away from them."""
        if not _POINT.fullmatch(value) or value[0] > value[-1]:
            raise _unclear(value, name)
        if self.points is None:
            self.points = [[0] * 26, [0] * 26]
        self.changed = True
        if name == "AE":
            self.dice = None
        for k in range(ord(value[0]), ord(value[-1]) + 1):
            letter = LETTERS.index(chr(k))
            for player in (0, 1):
                own = 25 - letter if player and OFF < letter < BAR else letter
                if name == "AE":
                    self.points[player][own] = 0
                elif "AWAB"[2 * player : 2 * player + 2] == name:
                    self.points[player][own] += 1

    def go_on(self, entry: Entry) -> None:
        """Let a game go on from here with an entry: its player is on roll, and the dice are those that it plays."""
        self.turn = self.turn if entry.player is None else entry.player
        if entry.kind != "roll" or sorted(self.dice or ()) != sorted(entry.dice or ()):
            self.dice = None

    def as_id(self, record: Record, score: tuple[int, int], *, crawford: bool) -> str:
        """The position as an XGID.

        Raises:
            NotationError: it is impossible, or nobody is on roll.
        """
        settings = replay_settings(record)
        points = self.points or [list(settings.variant.start) for _ in range(2)]
        for colour, side in zip(("White", "Black"), points, strict=True):
            if sum(side[1:]) > settings.variant.checkers:
                msg = f"{colour} has {sum(side[1:])} checkers, and there are {settings.variant.checkers} a side"
                raise NotationError(msg)
            side[OFF] = settings.variant.checkers - sum(side[1:])
        if self.turn is None:
            msg = "a saved position does not say who is on roll (PL)"
            raise NotationError(msg)
        setup = Setup(
            points=points,
            turn=self.turn,
            dice=self.dice or (0, 0),
            cube=self.cube,
            owner=self.owner,
            crawford=crawford,
            score=score if record.length else (0, 0),
            what="a saved position",
        )
        return write_xgid(stand(setup, settings), 0, settings)


def _unclear(value: str, name: str) -> NotationError:
    return NotationError(f"{name}[{value[:40]}] sets up nothing that is known")


def position_nodes(states: States, i: int) -> Iterator[str]:
    """The nodes that set up state `i`, as GNU Backgammon saves a position; none if a turn of the cube waits for an answer."""
    s = states[i]
    if s["chain"] or s["turn"] < 0:
        return
    colours = []
    for player, name in enumerate(("AW", "AB")):
        letters = [
            LETTERS[25 - point if player and point < BAR else point] * int(s["points"][player, point])
            for point in range(1, BAR + 1)
        ]
        found = "".join(f"[{letter}]" for letter in "".join(letters))
        colours.append(f"{name}{found}" if found else "")
    turn = "WB"[int(s["turn"])]
    yield f";PL[{turn}]AE[a:y]{''.join(colours)}"
    yield f";CV[{1 << int(s['cube'])}]"
    yield f";CP[{'wbc'[int(s['owner'])]}]"
    if s["left"].any():
        yield f";PL[{turn}]DI[{s['dice'][0]}{s['dice'][1]}]"
