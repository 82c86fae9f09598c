"""Records as `.sgf` text, as GNU Backgammon writes it, from the game that a replay finds."""

from __future__ import annotations

import re

from bg_env.errors import NotationError
from bg_env.notation import read_position
from bg_env.notation.xgid import write_xgid
from bg_env.records.as_played import as_played
from bg_env.records.record import Entry, GameRecord, Record, checked_record, plain_moves, unwritable
from bg_env.records.sgf_setup import KEPT, LETTERS, RULE_NAMES, position_nodes
from bg_env.rules import BAR, OFF, VARIANTS

__all__ = ["write_sgf"]


def write_sgf(record: Record) -> str:
    """The record as GNU Backgammon writes it, a game tree for each game.

    What a record leaves open is written as a replay finds it: the Crawford game, a beaver that is accepted, an award after
    a resignation, and the Jacoby rule where an award shows whether it was played. A variant that GNU Backgammon has no rule
    for stands in a property of our own, VARIANT, the state that a game starts from in XGID beside its nodes for it, and LOOSE
    where a server scores money play as a match. The dice of an opening throw that only decides who starts are not kept.

    Raises:
        NotationError: a game starts from a state that no id can hold, or was ended by an illegal action.
    """
    found = as_played(checked_record(record))
    return "\n".join(_tree(found, game, k) for k, game in enumerate(found.games)) + "\n"


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
    if known and name in RULE_NAMES:
        rules.append(RULE_NAMES[name])
    if record.cube is False:
        rules.append("NoCube")
    words = ["FF[4]GM[6]CA[UTF-8]AP[bg_env]", f"MI[length:{record.length}][game:{k}][ws:{score[0]}][bs:{score[1]}]"]
    words.append(f"PW[{_escaped(record.players[0])}]PB[{_escaped(record.players[1])}]")
    words += [f"{key}[{_escaped(value)}]" for key, value in record.headers.items() if key in KEPT]
    if rules:
        words.append(f"RU[{':'.join(rules)}]")
    if not known or (name != "backgammon" and name not in RULE_NAMES):
        words.append(f"VARIANT[{_escaped(name if known else str(record.variant))}]")
    if record.loose:
        words.append("LOOSE[yes]")
    cube = game.cube << sum(entry.kind == "tie" for entry in game.entries)
    if cube > 1:
        words.append(f"CV[{cube}]")
    set_up: list[str] = []
    if game.start is not None:
        states, settings = read_position(game.start, record.variant, record.settings)
        words.append(f"XGID[{_escaped(write_xgid(states, 0, settings).removeprefix('XGID='))}]")
        set_up = list(position_nodes(states, 0))
    award = game.award
    if award:
        resigned = any(entry.kind == "resign" for entry in game.entries)
        words.append(f"RE[{'WB'[award.player or 0]}+{award.value}{'R' * resigned}]")
    nodes = [_node(entry, game) for entry in game.entries if entry.kind not in ("tie", "throw", "resign", "win")]
    return "(;" + "".join(words) + "".join("\n" + node for node in [*set_up, *nodes]) + ")"


def _node(entry: Entry, game: GameRecord) -> str:
    colour = "WB"[entry.player or 0]
    if entry.kind == "roll" and entry.dice:
        points = [place for move in plain_moves(entry.text) for place in move.places]
        letters = "".join(LETTERS[25 - place if entry.player and OFF < place < BAR else place] for place in points)
        return f";{colour}[{entry.dice[0]}{entry.dice[1]}{letters}]"
    if entry.kind in ("double", "beaver"):
        return f";{colour}[double]"
    if entry.kind in ("take", "drop"):
        return f";{colour}[{entry.kind}]"
    if entry.kind == "illegal":
        msg = f".sgf cannot hold that an illegal action ended game {game.number}: write JSON lines"
        raise NotationError(msg)
    raise unwritable(entry, game)
