"""Games that were played here as records: from a game's history, or from an environment's start and actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bg_env.actions import BEAVER, DOUBLE, DROP, FIRST_NAMED, ROLL, STEPS, TAKE, Event, step_of
from bg_env.errors import NotationError
from bg_env.notation import read_position
from bg_env.notation.moves import Move
from bg_env.notation.xgid import write_xgid
from bg_env.records.record import Entry, GameRecord, Kind, Record, text_of_moves
from bg_env.rules import (
    OFF,
    Phase,
    Rules,
    Settings,
    States,
    apply,
    apply_roll,
    draw_roll,
    forfeit,
    illegal_reason,
    resign,
    ties_double,
)
from bg_env.rules.actions import ACTIONS

__all__ = ["record_of", "retrace", "session"]


_CUBE: Mapping[int, Kind] = {DOUBLE: "double", BEAVER: "beaver", TAKE: "take", DROP: "drop"}


def retrace(
    start: States,
    settings: Settings,
    actions: Iterable[int],
    dice: Sequence[tuple[int, int]] = (),
    starter: int | None = None,
) -> list[Event]:
    """The events of an episode that threw its own dice: the rolls are thrown again from the state's stream.

    Args:
        start: an array of one STATE: the beginning of the episode, before the first throw.
        settings: the settings in force.
        actions: all actions in order; one that is not legal ends the episode (and is its last event).
        dice: rolls that were given in advance and came before those of the stream.
        starter: the player who starts by the reset option of the environments; None if the throw decides.
    """
    states, rules = start.copy(), settings.record()
    given, todo = list(dice)[::-1], list(actions)[::-1]
    events: list[Event] = []
    while True:
        s = states[0]
        phase = int(s["phase"])
        if phase in (Phase.OPENING, Phase.ROLL):
            opening = phase == Phase.OPENING
            d1, d2 = _next_roll(states, rules, given, starter)
            if d1 != d2:
                starter = None
            player = (None if d1 == d2 else int(d2 > d1)) if opening else int(s["turn"])
            events.append(Event(player, roll=(d1, d2)))
            apply_roll(states, 0, rules, d1, d2)
        elif phase == Phase.OVER or not todo:
            return events
        else:
            action = int(todo.pop())
            events.append(Event(int(s["decider"]), action=action))
            if illegal_reason(states, 0, rules, action):
                return events
            apply(states, 0, rules, action)


def _next_roll(states: States, rules: Rules, given: list[tuple[int, int]], starter: int | None) -> tuple[int, int]:
    """The dice of a chance phase: the next of `given`, from its end, less opening ties that do not count (R2.1); else drawn."""
    opening = states[0]["phase"] == Phase.OPENING
    while given:
        d1, d2 = given.pop()
        if d1 != d2 or not opening or ties_double(states, 0, rules):
            return d1, d2
    d1, d2 = map(int, draw_roll(states, 0, rules))
    turned = opening and starter is not None and d1 != d2 and (d2 > d1) != starter
    return (d2, d1) if turned else (d1, d2)


def record_of(
    start: States,
    settings: Settings,
    events: Iterable[Event],
    players: tuple[str, str] = ("player_0", "player_1"),
    headers: Mapping[str, str] | None = None,
) -> Record:
    """The record of a game or match.

    Args:
        start: an array of one STATE: where it began (before the opening throw, or any state set up).
        settings: the settings in force.
        events: the rolls and actions since then, in order (`Game.history`, or `retrace`).
        players: names of player 0 and player 1.
        headers: other information, by name.
    """
    writer = _Writer(start.copy(), settings)
    for event in events:
        writer.add(event)
    money = not settings.match_length
    return Record(
        players=players,
        variant=settings.variant,
        length=settings.match_length,
        games=writer.finish(),
        jacoby=settings.jacoby if money else False,
        crawford=None if money else settings.crawford,
        cube=settings.cube,
        headers=dict(headers or {}),
        settings=settings,
    )


def session(records: Sequence[Record]) -> Record:
    """Records of single money games as one money session with its running score.

    Raises:
        NotationError: a match, different players or settings, or an unfinished game before the last.
    """
    if not records:
        msg = "a session has at least one game"
        raise NotationError(msg)
    games: list[GameRecord] = []
    score = (0, 0)
    for record in records:
        if record.length or (record.players, record.settings, record.variant) != (
            records[0].players,
            records[0].settings,
            records[0].variant,
        ):
            msg = "a session is of money games between the same players under the same settings"
            raise NotationError(msg)
        for game in record.games:
            if games and games[-1].award is None:
                msg = f"game {len(games)} of the session is unfinished: only the last may be"
                raise NotationError(msg)
            games.append(replace(game, number=len(games) + 1, score=score))
            award = game.award
            if award:
                score = (score[0] + award.value, score[1]) if award.player == 0 else (score[0], score[1] + award.value)
    return replace(records[0], games=tuple(games))


class _Writer:
    """Plays the events over and writes them down, game by game."""

    def __init__(self, states: States, settings: Settings) -> None:
        self.states, self.settings, self.rules = states, settings, settings.record()
        self.games: list[GameRecord] = []
        self._open()
        self._start()

    def _open(self) -> None:
        """Begin a game."""
        s = self.states[0]
        self.score = int(s["score"][0]), int(s["score"][1])
        self.crawford = bool(s["crawford"])
        self.entries: list[Entry] = []
        self.roll: tuple[int, tuple[int, int]] | None = None
        self.moves: list[Move] = []

    def _start(self) -> None:
        """Write the start of the first game, where it is not the variant's start."""
        s = self.states[0]
        self.start: str | None = None
        self.state: dict[str, Any] | None = None
        if s["phase"] == Phase.OPENING and s["points"].tolist() == [list(self.settings.variant.start)] * 2 and not s["ties"]:
            return
        names = ("points", "dice", "left", "turn", "decider", "phase", "stage", "cube", "owner", "chain", "ties", "crawford")
        try:
            text = write_xgid(self.states, 0, self.settings)
            read = read_position(text, self.settings.variant, self.settings)[0]
            if all((read[0][name] == s[name]).all() for name in (*names, "score") if name != "ties"):
                self.start = text
        except NotationError:
            pass
        if self.start is None:
            self.state = {name: s[name].tolist() for name in (*names, "score")}
        if s["phase"] == Phase.CHECKER:
            self.roll = int(s["turn"]), (int(s["dice"][0]), int(s["dice"][1]))

    def add(self, event: Event) -> None:
        """One event."""
        if event.roll is not None:
            self._roll(*event.roll)
        elif event.level:
            self._flush()
            loser = int(event.player or 0)
            resign(self.states, 0, self.rules, loser, event.level)
            self.entries.append(Entry("resign", loser, value=int(self.states[0]["won"])))
        else:
            self._act(int(event.action or 0))
        s = self.states[0]
        if s["winner"] >= 0:
            self._flush()
            self.entries.append(Entry("win", int(s["winner"]), value=int(s["won"])))
            self._close()
            self.start = self.state = None
            self._open()

    def _roll(self, d1: int, d2: int) -> None:
        self._flush()
        s = self.states[0]
        opening = s["phase"] == Phase.OPENING
        player = int(d2 > d1) if opening else int(s["turn"])
        apply_roll(self.states, 0, self.rules, d1, d2)
        s["winner"] = -1  # of the game before, which the engine leaves to be read until somebody acts
        if opening and d1 == d2:
            self.entries.append(Entry("tie", None, (d1, d2)))
        elif opening and self.settings.variant.fresh_first_roll:
            self.entries.append(Entry("throw", player, (d1, d2)))
        else:
            self.roll = player, (max(d1, d2), min(d1, d2))

    def _act(self, action: int) -> None:
        states, rules = self.states, self.rules
        s = states[0]
        player = int(s["decider"])
        if illegal_reason(states, 0, rules, max(-1, min(action, ACTIONS))):
            self._flush()
            forfeit(states, 0, rules, player)
            self.entries.append(Entry("illegal", player, value=action))
            return
        if action < STEPS:
            source, die = step_of(action)
            target = max(source - die, OFF)
            hit = target > OFF and s["points"][1 - player, 25 - target] == 1
            self.moves.append(Move((source, target), (target,) if hit else ()))
        else:
            self._flush()
        apply(states, 0, rules, action)
        if action >= FIRST_NAMED:
            self.roll = player, (action - FIRST_NAMED + 1,) * 2
        elif action >= STEPS and action != ROLL:
            value = 1 << int(s["cube"]) + int(s["chain"]) if action in (DOUBLE, BEAVER) else 0
            self.entries.append(Entry(_CUBE[action], player, value=value))

    def _flush(self) -> None:
        """Write the roll down that has been played as far as it will be."""
        if self.roll:
            player, dice = self.roll
            self.entries.append(Entry("roll", player, dice, text_of_moves(tuple(self.moves)), played=bool(self.moves)))
        self.roll = None
        self.moves = []

    def _close(self) -> None:
        numbered = tuple(replace(entry, number=k) for k, entry in enumerate(self.entries, 1))
        crawford = self.crawford if self.settings.match_length else False
        self.games.append(GameRecord(len(self.games) + 1, self.score, numbered, crawford, start=self.start, state=self.state))

    def finish(self) -> tuple[GameRecord, ...]:
        """The games, an unfinished last one among them if anything has happened in it."""
        self._flush()
        if self.entries or not self.games:
            self._close()
        return tuple(self.games)
