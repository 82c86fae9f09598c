"""GNU Backgammon's records in the Smart Game Format: one game tree a game, `;W[65xrrm]` a roll and its play.

White is `player_0`. Points are letters: `a` to `x` are White's own points 1 to 24, `y` the bar, `z` off. `double` answers a
double by a beaver. `CV` at the root is the cube that automatic doubles began the game with, `RU` names the rules in force
(nothing: no Jacoby, no Crawford), `RE` the result, with `R` after it for a resignation. `PL` and `DI` are dice that are thrown
and not played, or not yet; with `AW`, `AB`, `CV` and `CP` before the first move a saved position. Variations and comments are
skipped, and a file may hold several matches.

(FF[4] of the format, and GNU Backgammon's own files for what it makes of it.)
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from bg_env.errors import NotationError, SettingsError, quoted
from bg_env.records.record import MOST_GAMES, Entry, GameRecord, Kind, Note, Record, checked_text, from_points, text_of_moves
from bg_env.records.sgf_setup import KEPT, LETTERS, SETS_UP, Position
from bg_env.records.sgf_write import write_sgf
from bg_env.rules import BAR, OFF, VARIANTS, Variant

__all__ = ["read_sgf", "write_sgf"]

_TOKEN = re.compile(r"([();])|([A-Za-z]+)|\[([^\]\\]*)|\S")
_UNESCAPED = re.compile(r"[^\]\\]*")
_LONGEST_VALUE: Final = 100_000
"""The most characters of a property's value: a comment or an analysis has a few thousand."""
_MOST_EDITS: Final = 100
"""The most positions that are set up within a game."""
_MATCH_INFO = re.compile(r"\s*(\w+)\s*:\s*(\d{1,9})\s*")
_COUNTS: Final = ("length", "ws", "bs")
"""Names in the match information that need a number."""
_ROLL = re.compile(r"[1-6]{2}(?:[a-z]{2}){0,4}", re.ASCII)
_RESULT = re.compile(r"\s*([WB])\s*\+\s*(\d{1,9})\s*(R?)(?:esign)?\s*", re.IGNORECASE)
_VARIANTS: Final = {"nackgammon": "nackgammon_ballard", "hypergammon3": "hypergammon"}
_CUBE: Final[dict[str, Kind]] = {"double": "double", "take": "take", "drop": "drop", "beaver": "beaver"}


class _Node(dict[str, list[str]]):
    """The properties of a node, by name; values in order."""

    __slots__ = ()

    def first(self, name: str, default: str = "") -> str:
        """The first value of a property."""
        return (self.get(name) or [default])[0]


def _plain(value: str) -> str:
    """A property's value without its escapes: a backslash keeps the next character, and joins lines."""
    return re.sub(r"\\(\r\n|\n\r|.)", lambda found: "" if found[1][0] in "\r\n" else found[1], value, flags=re.DOTALL)


def _no_sgf(what: str) -> NotationError:
    return NotationError(f"this is not an .sgf record: {what}")


def _no_sgf_at(text: str, at: int, what: str) -> NotationError:
    line = text.count("\n", 0, at) + 1
    return _no_sgf(f"line {line}: {what}")


def _tokens(text: str) -> Iterator[tuple[str, str, str | None, int]]:
    """The text as marks `(`, `)`, `;`, names and values of properties, one of which is not empty or None, and their places.

    Raises:
        NotationError: there is something else, or a value without an end or of more than _LONGEST_VALUE characters.
    """
    at = 0
    while token := _TOKEN.search(text, at):
        mark, name, value = token.groups()
        at = token.end()
        if value is not None:
            while text[at : at + 1] == "\\":
                at = _UNESCAPED.match(text, min(at + 2, len(text))).end()  # type: ignore[union-attr] # it matches anywhere
            if at - token.start() > _LONGEST_VALUE:
                what = f"the value {text[token.start() + 1 :][:20]!r}... has more than {_LONGEST_VALUE:,} characters"
                raise _no_sgf_at(text, token.start(), what)
            value = text[token.start() + 1 : at]
            at += 1
        if at > len(text) or not (mark or name or value is not None):
            found = text[token.start() :][:20]
            what = f"{found!r} stands where '(', ')', ';', a property or its value in '[' and ']' is due"
            raise _no_sgf_at(text, token.start(), what)
        yield mark, name, value, token.start()


def _name(name: str) -> str:
    """The name of a property: its capitals (FF[3] wrote small letters between them), or all letters where none is one."""
    return "".join(filter(str.isupper, name)) or name.upper()


def _trees(text: str) -> list[list[_Node]]:
    """The game trees as lists of nodes, each along its first variations."""
    trees: list[list[_Node]] = []
    values: list[str] | None = None  # of the property that has just been named
    branched: list[bool] = []  # for each open tree, whether a variation of it has been closed
    skipped = 0  # open trees that are later variations
    for mark, name, value, at in _tokens(text):
        if value is not None:
            if values is None:
                what = f"the value {value[:20]!r} belongs to no property"
                raise _no_sgf_at(text, at, what)
            values.append(_plain(value) if "\\" in value else value)
        elif name:
            if not branched or not trees[-1]:
                what = f"{name[:20]!r} stands outside of '(;'"
                raise _no_sgf_at(text, at, what)
            values = [] if skipped else trees[-1][-1].setdefault(_name(name), [])
        elif mark == "(":
            if len(trees) == MOST_GAMES and not branched:
                what = f"it holds more than {MOST_GAMES:,} games"
                raise _no_sgf(what)
            if skipped or (branched and branched[-1]):
                skipped += 1
            elif not branched:
                trees.append([])
            branched.append(False)
            values = None
        elif not branched:
            what = f"{mark!r} stands outside of '('"
            raise _no_sgf_at(text, at, what)
        elif mark == ")":
            branched.pop()
            skipped = max(skipped - 1, 0)
            if branched:
                branched[-1] = True
            values = None
        else:
            if not skipped:
                trees[-1].append(_Node())
            values = None
    if branched:
        what = "')' is missing at the end"
        raise _no_sgf(what)
    return [tree for tree in trees if tree]


def read_sgf(text: str) -> Record:
    """The record written in `text`; nodes that cannot be read become entries of kind "unreadable".

    Raises:
        NotationError: this is not SGF or not backgammon (GM[6]), the variant is unknown, it holds several matches, or the text
            has more than 2**26 characters, 100,000 games, or 100,000 characters in a value.
    """
    records = read_sgfs(text)
    if len(records) > 1:
        msg = f"this text holds {len(records)} matches: read_sgf reads one, parse_records reads them all"
        raise NotationError(msg)
    return records[0]


def read_sgfs(text: str) -> list[Record]:
    """The records written in `text`; the rest as in `read_sgf`.

    A game of other players, length or variant than the one before begins a record, and so does the first game of a match.
    """
    trees = _trees(checked_text(text))
    others = {k: tree[0].first("GM", "6").strip() for k, tree in enumerate(trees, 1)}
    others = {k: game for k, game in others.items() if game != "6"}
    trees, found = [tree for k, tree in enumerate(trees, 1) if k not in others], len(trees)
    if not trees:
        what = "it does not begin with '(;', or its GM is not 6, backgammon"
        raise _no_sgf(what)
    left_out = tuple(
        Note(0, 0, f"tree {k} of {found} in the file is left out: its GM is {quoted(game)}, not 6")
        for k, game in others.items()
    )
    matches: list[list[list[_Node]]] = []
    for tree in trees:
        if matches and _goes_on(matches[-1][-1][0], tree[0]):
            matches[-1].append(tree)
        else:
            matches.append([tree])
    records = [_record(match) for match in matches]
    if len(records) > 1:
        note = Note(0, 0, f"the file holds {len(records)} matches")
        records = [replace(record, notes=(note, *record.notes)) for record in records]
    return [replace(records[0], notes=(*left_out, *records[0].notes)), *records[1:]]


def _goes_on(before: _Node, root: _Node) -> bool:
    """Whether a game belongs to the record of the game before it."""
    one, other = _info(before), _info(root)
    if [node.first(name) for node in (before, root) for name in ("PW", "PB")][:2] != [root.first("PW"), root.first("PB")]:
        return False
    if before.first("LOOSE") != root.first("LOOSE"):
        return False
    if one.get("length", 0) != other.get("length", 0) or _variant(before, _rules(before)) != _variant(root, _rules(root)):
        return False
    began = not other.get("game", 0) and not other.get("ws", 0) and not other.get("bs", 0)
    return not (began and (one.get("game", 0) or one.get("ws", 0) or one.get("bs", 0) or before.first("RE")))


def _record(trees: Sequence[list[_Node]]) -> Record:
    root = trees[0][0]
    rules = _rules(root)
    record = Record(
        players=(root.first("PW"), root.first("PB")),
        variant=_variant(root, rules),
        length=_info(root).get("length", 0),
        games=(),
        jacoby="jacoby" in rules,
        crawford="crawford" in rules,
        cube="nocube" not in rules,
        loose=bool(root.first("LOOSE")) and not _info(root).get("length", 0),
        headers={name: values[0] for name, values in root.items() if name in KEPT and values},
    )
    notes: list[Note] = []
    games = tuple(_game(tree, k, record, notes) for k, tree in enumerate(trees, 1))
    return replace(record, games=games, notes=tuple(notes))


def _rules(node: _Node) -> set[str]:
    return {word.strip().lower() for value in node.get("RU", []) for word in value.split(":")}


def _info(node: _Node) -> dict[str, int]:
    """The match information, MI[length:7][game:0][ws:0][bs:0]."""
    found = [match for value in node.get("MI", []) if (match := _MATCH_INFO.fullmatch(value))]
    return {match[1]: int(match[2]) for match in found}


def _unclear_info(node: _Node) -> Iterator[Entry]:
    """The match information that is needed and is not a number from 0 on, as entries."""
    for value in node.get("MI", []):
        if value.split(":")[0].strip() in _COUNTS and not _MATCH_INFO.fullmatch(value):
            yield Entry("unreadable", None, text=f"MI[{value}], a number of points from 0 on")


def _variant(node: _Node, rules: set[str]) -> Variant:
    """The variant of our own property VARIANT, or of the rules."""
    said = node.first("VARIANT")
    try:
        if said:
            return Variant.parse(said)
    except SettingsError as error:
        msg = f"the record's VARIANT {said[:60]!r} is unknown: {error}"
        raise NotationError(msg) from error
    for rule in sorted(rules):
        if rule in _VARIANTS:
            return VARIANTS[_VARIANTS[rule]]
        if rule.startswith("hypergammon"):
            layout = {24 - k: 1 for k in range(int(rule[11:]))} if rule[11:] in ("1", "2") else None
            if layout is None:
                msg = f"the record's rule {rule[:30]!r} is unknown: Hypergammon1, 2 or 3"
                raise NotationError(msg)
            return Variant(rule, layout)
    return VARIANTS["backgammon"]


def _game(tree: list[_Node], number: int, record: Record, notes: list[Note]) -> GameRecord:
    root, rules, info = tree[0], _rules(tree[0]), _info(tree[0])
    score, crawford = (info.get("ws", 0), info.get("bs", 0)), "crawfordgame" in rules
    start, cube, entries = None, 1, list(_unclear_info(root))
    value = root.first("CV", "1").strip()
    if value.isascii() and value.isdigit() and len(value) < 6 and int(value) > 0 and not int(value) & (int(value) - 1):
        cube = int(value)
    else:
        entries.append(Entry("unreadable", None, text=f"CV[{value}], the cube's value at the start"))
    game = GameRecord(number, score, (), crawford, cube)
    try:
        played, start = _entries(tree, record, game, notes)
        entries += played
        cube = cube if start is None else 1
    except NotationError as error:
        entries.append(Entry("unreadable", None, text=str(error)))
    award = _RESULT.fullmatch(root.first("RE"))
    if award:
        player = "WB".index(award[1].upper())
        if award[3]:
            entries.append(Entry("resign", 1 - player, number=len(tree) - 1))
        entries.append(Entry("win", player, value=int(award[2]), number=len(tree) - 1, alone=True))
    elif root.first("RE").strip() not in ("", "?", "0", "Void"):
        entries.append(Entry("unreadable", None, text=f"RE[{root.first('RE')}]", number=len(tree) - 1))
    return GameRecord(
        number=number,
        score=score,
        entries=tuple(entries),
        crawford=crawford,
        cube=cube,
        start=start,
    )


def _entries(tree: Sequence[_Node], record: Record, game: GameRecord, notes: list[Note]) -> tuple[list[Entry], str | None]:
    """The moves of a game, and the id of the position that it starts from, if one is set up.

    Dice that are only set (`DI`) are a roll that is not played where a resignation or the end follows; a later roll takes
    their place. What stands before a position that is set up within a game is left out.
    """
    entries: list[Entry] = []
    edits = 0
    position, start = Position(cube=game.cube.bit_length() - 1), tree[0].first("XGID") or None
    for k, node in enumerate(tree[1:], 1):
        moves = [_move(value.strip(), player, k) for player, name in enumerate("WB") for value in node.get(name, ())]
        sets = [name for name in SETS_UP if name in node]
        if sets and entries and not set(sets) <= {"PL", "DI"}:
            cube = 1 if start else game.cube
            edits += 1
            reached = None
            if edits <= _MOST_EDITS:
                reached = Position.after(record, replace(game, entries=tuple(entries), start=start, cube=cube))
            if reached is None:
                text = f"{sets[0]}[{node.first(sets[0])}]: a position set up within a game"
                entries.append(Entry("unreadable", None, text=text, number=k))
                continue
            notes.append(Note(game.number, k, "a position is set up here; the moves before it are left out"))
            entries, position, start = [], reached, None
        if sets:
            position.set_up(node)
        if moves:
            if not entries and position.changed and not start:
                position.go_on(moves[0])
                start = position.as_id(record, game.score or (0, 0), crawford=bool(game.crawford))
            entries += moves
            position.dice = None
    if position.changed and not entries:
        start = start or position.as_id(record, game.score or (0, 0), crawford=bool(game.crawford))
    elif position.dice:
        dice = max(position.dice), min(position.dice)
        notes.append(Note(game.number, len(tree) - 1, f"{dice[0]}{dice[1]} is thrown and not played (DI)"))
        entries.append(Entry("roll", position.turn, dice, number=len(tree) - 1, alone=position.turn is None, played=False))
    if start and not tree[0].first("XGID"):
        notes.append(Note(game.number, 0, "the game begins with a saved position"))
    return entries, start


def _move(value: str, player: int, number: int) -> Entry:
    word = value.lower()
    if word in _CUBE:
        return Entry(_CUBE[word], player, number=number)
    roll = _ROLL.fullmatch(value)
    if roll:
        dice, text = _read_roll(value, player)
        if text is not None:
            return Entry("roll", player, dice, text, number=number, played=bool(text))
    return Entry("unreadable", player, text=f"{'WB'[player]}[{value}]", number=number)


@functools.lru_cache(maxsize=16_384)
def _read_roll(value: str, player: int) -> tuple[tuple[int, int], str | None]:
    """The dice and the play, None without a play; cached, because few different ones occur."""
    first, second = int(value[0]), int(value[1])
    points = [_own(letter, player) for letter in value[2:]]
    try:
        moves = tuple(from_points(points[k], points[k + 1]) for k in range(0, len(points), 2))
    except NotationError:
        return (0, 0), None
    return (max(first, second), min(first, second)), text_of_moves(moves)


def _own(letter: str, player: int) -> int:
    """The point on the player's own numbering."""
    point = LETTERS.index(letter)
    return 25 - point if player and OFF < point < BAR else point
