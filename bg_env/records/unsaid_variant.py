"""The variant of a record that names none, as `.mat` without headers: the one whose start its moves can be made from."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bg_env.errors import NotationError
from bg_env.notation.moves import parse_moves
from bg_env.records.check import replay
from bg_env.records.record import GameRecord, Note, Record
from bg_env.rules import BAR, OFF, VARIANTS, Variant

__all__ = ["with_found_variant"]

_OTHERS: Final = ("nackgammon_ballard", "hypergammon", "nackgammon", "longgammon")


def with_found_variant(record: Record) -> Record:
    """The record; with another variant and a note, if its games are impossible in its own and all sound in the other."""
    if all(_can_be(game, record.variant) for game in record.games):
        return record
    for name in _OTHERS:
        other = replace(record, variant=VARIANTS[name])
        try:
            sound = not replay(other).faults
        except NotationError:
            continue
        if sound:
            note = Note(0, 0, f"the variation is not named: the moves are of {name}")
            return replace(other, notes=(*record.notes, note))
    return record


def _can_be(game: GameRecord, variant: Variant) -> bool:
    """Whether each checker that a game moves is where it is moved from, if the game is of a variant."""
    points = [list(variant.start), list(variant.start)]
    for entry in game.entries:
        if entry.kind != "roll" or entry.player is None:
            continue
        try:
            moves = parse_moves(entry.text)
        except NotationError:
            return True
        own, other = points[entry.player], points[1 - entry.player]
        for move in sorted(moves, key=lambda move: -move.places[0]):
            if own[move.places[0]] <= 0:
                return False
            own[move.places[0]] -= 1
            own[move.places[-1]] += 1
            for place in move.places[1:]:
                if OFF < place < BAR and other[25 - place] == 1:
                    other[25 - place] = 0
                    other[BAR] += 1
    return True
