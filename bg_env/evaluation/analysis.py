"""Analysis of games and matches: the loss of every decision, the luck of every roll, error rates and the result less luck."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from bg_env.errors import NotationError, SettingsError, quoted
from bg_env.evaluation.candidates import Judge
from bg_env.evaluation.hints import Hint, hints_of, judge_for
from bg_env.evaluation.luck import LuckMeter
from bg_env.game import Game
from bg_env.records import Record, Replay, replay, stated_settings
from bg_env.records.course import Made, Thrown, course
from bg_env.records.frames import frames_of
from bg_env.records.report import Fault
from bg_env.render.html import Candidate, Frame, replay_html
from bg_env.rules import BEAVER, ROLL, Phase, Settings, apply, may_double, play_step
from bg_env.rules.actions import die_of, source_of

__all__ = ["BLUNDER", "DOUBTFUL", "ERROR_RATE", "Analysis", "Choice", "Roll", "Side", "analyse"]

ERROR_RATE: Final = 500.0
"""An error rate is this many times the mean loss, in points at the cube of the moment, of a decision that had a choice."""
DOUBTFUL: Final = 0.02
"""The least loss of a decision that is marked ? ("doubtful"): in points at the cube of the moment."""
BLUNDER: Final = 0.08
"""The least loss of a decision that is marked ?? ("a blunder")."""
_SHOWN: Final = 8
"""Candidates of a decision that the page shows."""
_KINDS: Final = ("checker", "cube")
"""The kinds of decisions: plays (and doubles that are named, R10.6), and decisions about the cube."""


@dataclass(frozen=True, eq=False)
class Choice:
    """A decision of a game, evaluated.

    Attributes:
        game: the number of the game in the record.
        move: the number of the move in the record.
        index: index of the game in `Replay.games`.
        moment: index of the event in `GameReplay.moments`.
        player: 0 or 1, who decided.
        kind: "checker" or "cube".
        text: the choice ("8/5 6/5", "roll", "double", "take").
        loss: equity of the best choice less that of this one, at least 0: points at the cube of the moment, in a match as if
            a point won or lost now at this cube were 1 (normalised equity).
        equity: of the choice, likewise.
        hints: all choices, best first.
        forced: whether there was only one choice, which counts in no error rate.
    """

    game: int
    move: int
    index: int
    moment: int
    player: int
    kind: str
    text: str
    loss: float
    equity: float
    hints: tuple[Hint, ...] = field(repr=False)
    forced: bool

    @property
    def best(self) -> str:
        """The best choice as text."""
        return self.hints[0].text

    @property
    def mark(self) -> str:
        """The sign of a blunder, "??", of a doubtful choice, "?", else nothing."""
        return "??" if self.loss >= BLUNDER else "?" if self.loss >= DOUBTFUL else ""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and text, for JSON."""
        names = ("game", "move", "player", "kind", "text", "equity", "loss", "best", "forced")
        found = {name: getattr(self, name) for name in names}
        return found | {"candidates": [{"text": hint.text, "equity": hint.equity, "loss": hint.loss} for hint in self.hints]}


@dataclass(frozen=True)
class Roll:
    """A roll of a game, with its luck.

    Attributes:
        game: the number of the game in the record.
        move: the number of the move in the record.
        index: index of the game in `Replay.games`.
        moment: index of the event in `GameReplay.moments`.
        player: 0 or 1, who rolled; None for the opening throw.
        dice: both dice; of an opening throw, player 0's first.
        luck: to `player`, of an opening throw to player 0: points in money play, match winning chances in a match.
    """

    game: int
    move: int
    index: int
    moment: int
    player: int | None
    dice: tuple[int, int]
    luck: float

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and text, for JSON."""
        return {"game": self.game, "move": self.move, "player": self.player, "dice": list(self.dice), "luck": self.luck}


@dataclass(frozen=True)
class Side:
    """The figures of one player.

    Attributes:
        name: of the player.
        error_rate: 500 times the mean loss of a decision that had a choice; None without one.
        checker: the same of plays.
        cube: the same of decisions about the cube.
        decisions: number of decisions that had a choice, by kind.
        loss: the sum of the losses, by kind.
        doubtful: number of choices that lost at least 0.02 and less than 0.08.
        blunders: number of choices that lost at least 0.08.
        luck: the sum of the luck of its rolls, half of that of opening throws included: points, match winning chances in a
            match.
    """

    name: str
    error_rate: float | None
    checker: float | None
    cube: float | None
    decisions: Mapping[str, int]
    loss: Mapping[str, float]
    doubtful: int
    blunders: int
    luck: float

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and text, for JSON."""
        return {**self.__dict__, "decisions": dict(self.decisions), "loss": dict(self.loss)}


@dataclass(frozen=True, eq=False)
class Analysis:
    """A game, match or session, analysed.

    Attributes:
        players: the names of player 0 and player 1.
        evaluator: the name of the player that evaluated.
        settings: the settings that it evaluated under.
        choices: the decisions in order.
        rolls: the rolls in order; empty where no value net measured their luck.
        sides: the figures of both players.
        result: player 0's points in the games played to the end; in a match 1 if it won, 0 if it lost; None without a result.
        adjusted: `result` less the luck of all rolls, an unbiased estimate of what player 0's play against this opponent is
            worth; None without a result, or without luck.
        faults: where the record is wrong; games are analysed up to their first fault.
        replay: the record as it was played.
    """

    players: tuple[str, str]
    evaluator: str
    settings: Settings
    choices: tuple[Choice, ...]
    rolls: tuple[Roll, ...]
    sides: tuple[Side, Side]
    result: float | None
    adjusted: float | None
    faults: tuple[Fault, ...]
    replay: Replay = field(repr=False)

    @property
    def blunders(self) -> tuple[Choice, ...]:
        """The choices that lost at least 0.08, the worst first."""
        return tuple(sorted((one for one in self.choices if one.mark == "??"), key=lambda one: -one.loss))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and text, for JSON: "players" is a list of both sides, each with its "error_rate"."""
        return {
            "evaluator": self.evaluator,
            "settings": str(self.settings),
            "players": [side.to_dict() for side in self.sides],
            "result": self.result,
            "adjusted": self.adjusted,
            "decisions": [one.to_dict() for one in self.choices],
            "rolls": [one.to_dict() for one in self.rolls],
            "faults": [str(fault) for fault in self.faults],
        }

    def text(self) -> str:
        """A table of both players, and the blunders."""
        lines = [
            f"evaluated by {self.evaluator}: {self.settings}",
            "",
            f"{'':<24}{self.players[0]:>18.18}{self.players[1]:>18.18}",
        ]
        rows = [
            ("error rate", [_number(side.error_rate, ".2f") for side in self.sides]),
            ("  checker play", [_number(side.checker, ".2f") for side in self.sides]),
            ("  cube", [_number(side.cube, ".2f") for side in self.sides]),
            ("decisions", [str(sum(side.decisions.values())) for side in self.sides]),
            ("doubtful, blunders", [f"{side.doubtful}, {side.blunders}" for side in self.sides]),
            ("loss", [_number(sum(side.loss.values()), ".3f") for side in self.sides]),
            ("luck", [_number(side.luck if self.rolls else None, "+.3f") for side in self.sides]),
        ]
        lines += [f"{name:<24}{a:>18}{b:>18}" for name, (a, b) in rows]
        if self.result is not None:
            less = "" if self.adjusted is None else f"; less luck {self.adjusted:+.3f}"
            lines += ["", f"result of {self.players[0]}: {self.result:+g}{less}"]
        if self.blunders:
            lines += ["", "blunders"]
            lines += [
                f"  game {one.game} move {one.move}, {self.players[one.player]}: {one.text} ({one.loss:.3f}), best {one.best}"
                for one in self.blunders
            ]
        return "\n".join(lines)

    def html(self) -> str:
        """A page that steps through the games: the choices of every decision, marks in the list of moves, the equity's curve.

        Returns:
            An HTML document that needs no other files; write it as UTF-8.
        """
        by_moment: dict[tuple[int, int], list[Choice]] = {}
        for one in self.choices:
            by_moment.setdefault((one.index, one.moment), []).append(one)
        lucky = {(one.index, one.moment): one for one in self.rolls}
        frames = iter(frames_of(self.replay))
        shown = [
            _marked(next(frames), by_moment.get((g, m), []), lucky.get((g, m)))
            for g, game in enumerate(self.replay.games)
            for m in range(len(game.moments))
        ]
        return replay_html(shown, stated_settings(self.replay.record), names=self.players)


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"


def _marked(frame: Frame, made: list[Choice], roll: Roll | None) -> Frame:
    """The frame of an event with the decisions in it."""
    if not made and roll is None:
        return frame
    words = [f"{one.text} loses {one.loss:.3f}; best is {one.best}" for one in made if one.mark]
    if roll is not None:
        words.append(f"luck of the roll {roll.luck:+.3f}")
    if not made:
        return replace(frame, comment="\n".join(words))
    worst = max(made, key=lambda one: one.loss)
    shown = worst if worst.mark else made[-1]
    candidates = [Candidate(hint.text, hint.equity, played=hint.text == shown.text) for hint in shown.hints[:_SHOWN]]
    if not any(one.played for one in candidates):
        candidates.append(Candidate(shown.text, shown.equity, played=True))
    last = made[-1]
    return replace(
        frame,
        candidates=candidates,
        comment="\n".join(words),
        mark=worst.mark,
        equity=last.equity if last.player == 0 else -last.equity,
    )


def analyse(record: Record | Game, player: Any = "td:1") -> Analysis:
    """Analyse a game, match or session: the loss of every decision, the luck of every roll, and what follows from them.

    Args:
        record: a record, such as those of `bg_env.records.read_records`, or a game.
        player: who evaluates: a name ("td", "td:1", "greedy:FILE", "gnubg"), or a player with values, see `Game.evaluate`. Luck
            is measured by its value net without look-ahead.

    Returns:
        The analysis. A record with faults is analysed up to the first fault of each game; `Analysis.faults` names them.

    Raises:
        SettingsError: the player has no values, or knows not the variant, cube or match.
        NotationError: it is not a record.
    """
    if isinstance(record, Game):
        record = record.record()
    if not isinstance(record, Record):
        msg = f"a record or a game is analysed, such as those of read_records(), not {quoted(record)}"
        raise NotationError(msg)
    played = replay(record)
    events = list(course(played))
    settings = _settings(played, events)
    judge = judge_for(player, settings)
    try:
        meter = LuckMeter(player, settings)
    except SettingsError:
        meter = None  # it has no value net: luck stays unmeasured
    made: list[Made] = []
    thrown: list[Thrown] = []
    for one in events:
        if isinstance(one, Thrown):
            thrown.append(one)
        elif _decides(one, settings):
            made.append(one)
    choices = _choices(made, played, judge)
    rolls = _rolls(thrown, played, meter)
    return _summary(played, judge.name, settings, choices, rolls)


def _settings(played: Replay, events: list[Thrown | Made]) -> Settings:
    """The settings of a record, less the beavers and automatic doubles that it allows and does not use."""
    settings = played.settings
    if played.record.settings is not None or not settings.money:
        return settings
    beavers = any(isinstance(one, Made) and one.actions == (BEAVER,) for one in events)
    ties = any(
        isinstance(one, Thrown) and one.dice[0] == one.dice[1] and one.states[0]["phase"] == Phase.OPENING for one in events
    )
    return settings.but(beavers=settings.beavers * beavers, auto_doubles=settings.auto_doubles * ties)


def _decides(one: Made, settings: Settings) -> bool:
    """Whether it is a decision: not a roll where a double could gain nothing, nor a play that was broken off."""
    states, rules = one.states, settings.record()
    if states[0]["phase"] == Phase.ROLL_OR_DOUBLE and one.actions == (ROLL,):
        dead = settings.but(allow_dead_cube=False).record() if settings.match_length else rules
        return bool(may_double(states, 0, dead, int(states[0]["turn"])))
    if states[0]["phase"] != Phase.CHECKER:
        return True
    after = states.copy()
    for action in one.actions:
        apply(after, 0, rules, action)
    return not (after[0]["phase"] == Phase.CHECKER and after[0]["turn"] == states[0]["turn"] and after[0]["winner"] < 0)


def _choices(made: list[Made], played: Replay, judge: Judge) -> tuple[Choice, ...]:
    if not made:
        return ()
    states = np.concatenate([one.states for one in made])
    found = []
    for one, row in zip(made, hints_of(states, judge), strict=True):
        chosen = _chosen(one, row)
        game = played.games[one.game]
        entry = game.moments[one.moment].entry
        found.append(
            Choice(
                game=game.number,
                move=entry.number if entry is not None else 0,
                index=one.game,
                moment=one.moment,
                player=one.player,
                kind=_KINDS[int(one.states[0]["phase"] in (Phase.ROLL_OR_DOUBLE, Phase.TAKE_OR_DROP))],
                text=chosen.text,
                loss=chosen.loss,
                equity=chosen.equity,
                hints=tuple(row),
                forced=len(row) == 1,
            )
        )
    return tuple(found)


def _chosen(one: Made, row: list[Hint]) -> Hint:
    """The hint of the choice that was made."""
    if one.states[0]["phase"] != Phase.CHECKER:
        return next(hint for hint in row if hint.action == one.actions[0])
    after, side = one.states.copy(), int(one.states[0]["turn"])
    for action in one.actions:
        play_step(after, 0, side, source_of(action), die_of(action))
    mover, other = after[0]["points"][side].tolist(), after[0]["points"][1 - side].tolist()
    return next(
        h for h in row if h.play is not None and (list(h.play.result.opponent), list(h.play.result.mover)) == (mover, other)
    )


def _rolls(thrown: list[Thrown], played: Replay, meter: LuckMeter | None) -> tuple[Roll, ...]:
    if meter is None or not thrown:
        return ()
    states = np.concatenate([one.states for one in thrown])
    luck = meter.of_rolls(states, np.array([one.dice for one in thrown]))
    found = []
    for one, gain in zip(thrown, luck.tolist(), strict=True):
        game = played.games[one.game]
        entry = game.moments[one.moment].entry
        player = None if one.states[0]["phase"] == Phase.OPENING else int(one.states[0]["turn"])
        number = entry.number if entry is not None else 0
        found.append(Roll(game.number, number, one.game, one.moment, player, one.dice, -gain if player == 1 else gain))
    return tuple(found)


def _summary(
    played: Replay, evaluator: str, settings: Settings, choices: tuple[Choice, ...], rolls: tuple[Roll, ...]
) -> Analysis:
    players = played.record.players
    sides = []
    for player in (0, 1):
        own = [one for one in choices if one.player == player and not one.forced]
        opening = sum(one.luck for one in rolls if one.player is None) / 2
        sides.append(
            Side(
                players[player],
                error_rate=_rate(own),
                checker=_rate([one for one in own if one.kind == _KINDS[0]]),
                cube=_rate([one for one in own if one.kind == _KINDS[1]]),
                decisions={kind: sum(one.kind == kind for one in own) for kind in _KINDS},
                loss={kind: sum(one.loss for one in own if one.kind == kind) for kind in _KINDS},
                doubtful=sum(one.mark == "?" for one in own),
                blunders=sum(one.mark == "??" for one in own),
                luck=sum(one.luck for one in rolls if one.player == player) + (opening if player == 0 else -opening),
            )
        )
    result = _result(played)
    adjusted = None if result is None or not rolls else result - (sides[0].luck - sides[1].luck)
    return Analysis(players, evaluator, settings, choices, rolls, (sides[0], sides[1]), result, adjusted, played.faults, played)


def _rate(choices: list[Choice]) -> float | None:
    return ERROR_RATE * sum(one.loss for one in choices) / len(choices) if choices else None


def _result(played: Replay) -> float | None:
    """The result of player 0: points in money play, 1 or 0 in a match that was played to its end."""
    done = [game for game in played.games if game.winner is not None]
    if not done:
        return None
    length = played.settings.match_length
    if not length:
        return float(sum(game.points if game.winner == 0 else -game.points for game in done))
    score = list(played.record.games[0].score or (0, 0))
    for game in done:
        score[int(game.winner or 0)] += game.points
    return float(score[0] >= length) if max(score) >= length else None
