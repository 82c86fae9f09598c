"""GNU Backgammon's records in the Smart Game Format: one game tree a game, `;W[65xrrm]` a roll and its play.

White is `player_0`. Points are letters: `a` to `x` are White's own points 1 to 24, `y` the bar, `z` off. `double` answers a
double by a beaver. `CV` is the cube that automatic doubles began the game with, `RU` names the rules in force (nothing: no
Jacoby, no Crawford), `RE` the result, with `R` after it for a resignation. Variations and comments are skipped.

(FF[4] of the format, and GNU Backgammon's own files for what it makes of it.)
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Final

from bg_env.errors import NotationError, SettingsError
from bg_env.notation import read_position
from bg_env.notation.xgid import write_xgid
from bg_env.records.record import (
    MOST_GAMES,
    Entry,
    GameRecord,
    Kind,
    Record,
    checked_text,
    from_points,
    plain_moves,
    text_of_moves,
)
from bg_env.rules import BAR, OFF, VARIANTS, Variant

__all__ = ["read_sgf", "write_sgf"]

_LETTERS: Final = "zabcdefghijklmnopqrstuvwxy"
"""Letter of White's point 0 (off) to 25 (the bar)."""
_TOKEN = re.compile(r"([();])|([A-Za-z]+)|\[([^\]\\]*)|\S")
_UNESCAPED = re.compile(r"[^\]\\]*")
_LONGEST_VALUE: Final = 100_000
"""The most characters of a property's value: a comment or an analysis has a few thousand."""
_MATCH_INFO = re.compile(r"\s*(\w+)\s*:\s*(-?\d{1,9})\s*")
_ROLL = re.compile(r"[1-6]{2}(?:[a-z]{2}){0,4}", re.ASCII)
_RESULT = re.compile(r"\s*([WB])\s*\+\s*(\d{1,9})\s*(R?)(?:esign)?\s*", re.IGNORECASE)
_VARIANTS: Final = {"nackgammon": "nackgammon_ballard", "hypergammon3": "hypergammon"}
_RULE_NAMES: Final = {"nackgammon_ballard": "Nackgammon", "hypergammon": "Hypergammon3"}
_KEPT: Final = ("DT", "EV", "RO", "PC", "AN")
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


def _tokens(text: str) -> Iterator[tuple[str, str, str | None]]:
    """The text as marks `(`, `)`, `;`, names and values of properties: in each triple one that is not empty or None.

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
                raise _no_sgf(what)
            value = text[token.start() + 1 : at]
            at += 1
        if at > len(text) or not (mark or name or value is not None):
            found = text[token.start() :][:20]
            what = f"{found!r} stands where '(', ')', ';', a property or its value in '[' and ']' is due"
            raise _no_sgf(what)
        yield mark, name, value


def _trees(text: str) -> list[list[_Node]]:
    """The game trees as lists of nodes, each along its first variations."""
    trees: list[list[_Node]] = []
    values: list[str] | None = None  # of the property that has just been named
    branched: list[bool] = []  # for each open tree, whether a variation of it has been closed
    skipped = 0  # open trees that are later variations
    for mark, name, value in _tokens(text):
        if value is not None:
            if values is None:
                what = f"the value {value[:20]!r} belongs to no property"
                raise _no_sgf(what)
            values.append(_plain(value) if "\\" in value else value)
        elif name:
            if not branched or not trees[-1]:
                what = f"{name[:20]!r} stands outside of '(;'"
                raise _no_sgf(what)
            values = [] if skipped else trees[-1][-1].setdefault("".join(filter(str.isupper, name)), [])
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
            raise _no_sgf(what)
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
        NotationError: this is not SGF or not backgammon (GM[6]), the variant is unknown, or the text has more than 2**26
            characters, 100,000 games, or 100,000 characters in a value.
    """
    trees = _trees(checked_text(text))
    if not trees or trees[0][0].first("GM", "6").strip() != "6":
        what = "it does not begin with '(;', or its GM is not 6, backgammon"
        raise _no_sgf(what)
    root = trees[0][0]
    rules = _rules(root)
    variant = _variant(root, rules)
    games = tuple(_game(tree, k) for k, tree in enumerate(trees, 1))
    return Record(
        players=(root.first("PW"), root.first("PB")),
        variant=variant,
        length=_info(root).get("length", 0),
        games=games,
        jacoby="jacoby" in rules,
        crawford="crawford" in rules,
        cube="nocube" not in rules,
        headers={name: values[0] for name, values in root.items() if name in _KEPT},
    )


def _rules(node: _Node) -> set[str]:
    return {word.strip().lower() for value in node.get("RU", []) for word in value.split(":")}


def _info(node: _Node) -> dict[str, int]:
    """The match information, MI[length:7][game:0][ws:0][bs:0]."""
    found = [match for value in node.get("MI", []) if (match := _MATCH_INFO.fullmatch(value))]
    return {match[1]: max(int(match[2]), 0) for match in found}


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


def _game(tree: list[_Node], number: int) -> GameRecord:
    root, rules, info = tree[0], _rules(tree[0]), _info(tree[0])
    start, cube, entries = None, 1, []
    value = root.first("CV", "1").strip()
    if value.isascii() and value.isdigit() and len(value) < 6 and int(value) > 0 and not int(value) & (int(value) - 1):
        cube = int(value)
    else:
        entries.append(Entry("unreadable", None, text=f"CV[{value}], the cube's value at the start"))
    if root.first("XGID"):
        start = root.first("XGID")
    for k, node in enumerate(tree[1:], 1):
        entries += _moves(node, k)
    award = _RESULT.fullmatch(root.first("RE"))
    if award:
        player = "WB".index(award[1].upper())
        if award[3]:
            entries.append(Entry("resign", 1 - player, number=len(tree) - 1))
        entries.append(Entry("win", player, value=int(award[2]), number=len(tree) - 1))
    elif root.first("RE").strip() not in ("", "?", "0", "Void"):
        entries.append(Entry("unreadable", None, text=f"RE[{root.first('RE')}]", number=len(tree) - 1))
    return GameRecord(
        number=number,
        score=(info.get("ws", 0), info.get("bs", 0)),
        entries=tuple(entries),
        crawford="crawfordgame" in rules,
        cube=cube,
        start=start,
    )


def _moves(node: _Node, number: int) -> Iterator[Entry]:
    for player, name in enumerate(("W", "B")):
        for value in node.get(name, []):
            yield _move(value.strip(), player, number)
    for name in ("AE", "AW", "AB", "PL", "DI", "CP", "CV"):
        if name in node:
            yield Entry("unreadable", None, text=f"{name}[{node.first(name)}]: a position set up within a game", number=number)


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
    point = _LETTERS.index(letter)
    return 25 - point if player and OFF < point < BAR else point


# Writing


def write_sgf(record: Record) -> str:
    """The record as GNU Backgammon writes it, a game tree for each game.

    A variant that GNU Backgammon has no rule for stands in a property of our own, VARIANT, and the state that a game starts
    from in XGID. The dice of an opening throw that only decides who starts are not kept.

    Raises:
        NotationError: a game starts from a state that no id can hold, or was ended by an illegal action.
    """
    return "\n".join(_tree(record, game, k) for k, game in enumerate(record.games)) + "\n"


def _escaped(text: str) -> str:
    r"""A simple text: one line, with `]`, `\` and `:` escaped."""
    return re.sub(r"([\\\]:])", r"\\\1", " ".join(text.split()))


def _tree(record: Record, game: GameRecord, k: int) -> str:
    if game.state is not None:
        msg = f".sgf cannot hold the state that game {game.number} starts from: write JSON lines"
        raise NotationError(msg)
    score = game.score or (0, 0)
    rules = []
    if record.jacoby:
        rules.append("Jacoby")
    if record.length and record.crawford is not False:
        rules += ["Crawford", "CrawfordGame"] if game.crawford else ["Crawford"]
    name = record.variant.name
    known = VARIANTS.get(name) == record.variant
    if known and name in _RULE_NAMES:
        rules.append(_RULE_NAMES[name])
    if record.cube is False:
        rules.append("NoCube")
    words = ["FF[4]GM[6]CA[UTF-8]AP[bg_env]", f"MI[length:{record.length}][game:{k}][ws:{score[0]}][bs:{score[1]}]"]
    words.append(f"PW[{_escaped(record.players[0])}]PB[{_escaped(record.players[1])}]")
    words += [f"{key}[{_escaped(value)}]" for key, value in record.headers.items() if key in _KEPT]
    if rules:
        words.append(f"RU[{':'.join(rules)}]")
    if not known or (name != "backgammon" and name not in _RULE_NAMES):
        words.append(f"VARIANT[{_escaped(name if known else str(record.variant))}]")
    cube = game.cube << sum(entry.kind == "tie" for entry in game.entries)
    if cube > 1:
        words.append(f"CV[{cube}]")
    if game.start is not None:
        words.append(f"XGID[{_escaped(_as_xgid(game.start, record))}]")
    award = game.award
    if award:
        resigned = any(entry.kind == "resign" for entry in game.entries)
        words.append(f"RE[{'WB'[award.player or 0]}+{award.value}{'R' * resigned}]")
    nodes = [_node(entry, game) for entry in game.entries if entry.kind not in ("tie", "throw", "resign", "win")]
    return "(;" + "".join(words) + "".join("\n" + node for node in nodes) + ")"


def _as_xgid(start: str, record: Record) -> str:
    """The start as an XGID, whichever id it is."""
    states, settings = read_position(start, record.variant, record.settings)
    return write_xgid(states, 0, settings).removeprefix("XGID=")


def _node(entry: Entry, game: GameRecord) -> str:
    colour = "WB"[entry.player or 0]
    if entry.kind == "roll" and entry.dice:
        points = [place for move in plain_moves(entry.text) for place in move.places]
        letters = "".join(_LETTERS[25 - place if entry.player and OFF < place < BAR else place] for place in points)
        return f";{colour}[{entry.dice[0]}{entry.dice[1]}{letters}]"
    if entry.kind in ("double", "beaver"):
        return f";{colour}[double]"
    if entry.kind in ("take", "drop"):
        return f";{colour}[{entry.kind}]"
    if entry.kind == "illegal":
        msg = f".sgf cannot hold that an illegal action ended game {game.number}: write JSON lines"
    else:
        msg = f"this cannot be written: {entry.text[:60]!r} was not understood when it was read"
    raise NotationError(msg)
