"""Check of one game of a record: it is played with the engine, entry by entry, up to the first fault."""

from __future__ import annotations

import functools
from typing import Final

import numpy as np
import numpy.typing as npt

from bg_env.actions import BEAVER, DOUBLE, DROP, TAKE, why_illegal_text
from bg_env.errors import BgEnvError
from bg_env.notation import read_position
from bg_env.notation.state_of_id import fill_state
from bg_env.records.check_roll import Board, FaultError, play_roll, player_of
from bg_env.records.fast_roll import MOST_STEPS, play_rolls, rows_of
from bg_env.records.record import Entry, GameRecord, Note, Record
from bg_env.records.report import Fault, GameReplay, Kept, Moment
from bg_env.rules import (
    END_FINISHED,
    OFF,
    STATE,
    Phase,
    Settings,
    States,
    apply,
    apply_roll,
    at_stake,
    check_state,
    forfeit,
    new_episode,
    play_step,
    ties_double,
)
from bg_env.rules.actions import die_of, source_of

__all__ = ["GameCheck"]


_LOOSE_LENGTH: Final = 16
"""The points that a server gives money play which it writes as a match."""


@functools.lru_cache(maxsize=1024)
def _why_no_start(settings: Settings, score0: int, score1: int, crawford: bool) -> str | None:
    """The reason why no game can begin at a score; None if one can."""
    states = np.zeros(1, STATE)
    new_episode(states, 0, settings.record(), np.uint64(0))
    states["score"] = score0, score1
    states["crawford"] = crawford
    try:
        check_state(states, 0, settings)
    except BgEnvError as error:
        return str(error)
    return None


class GameCheck:
    """The check of one game.

    Args:
        record: the record that the game belongs to.
        settings: the settings that it is checked under.
        game: the game.
        kept: the states met so far, to which those of this game are added.
        number: the number of the game in the record, from 1.
        crawford: whether it is the Crawford game.
        last: whether it is the record's last game, which may be unfinished.
    """

    def __init__(
        self, record: Record, settings: Settings, game: GameRecord, kept: Kept, *, number: int, crawford: bool, last: bool
    ) -> None:
        self.record, self.settings, self.game, self.kept = record, settings, game, kept
        self.number, self.crawford, self.last = number, crawford, last
        self.rules = settings.record()
        self.states = np.zeros(1, STATE)
        self.board = Board(self.states, settings, self.rules)
        self.moments: list[Moment] = []
        self.notes: list[Note] = []
        self.award: tuple[int, int] | None = None
        self.resigned: Entry | None = None
        self.thrown = False
        self.failed = False

    def run(self, expected: set[tuple[int, int]]) -> GameReplay:
        """Play the game.

        Args:
            expected: the scores that the game may begin with; empty if they are not known.
        """
        faults = []
        entries = self.game.entries
        entry: Entry | None = None
        try:
            self._begin()
            self._keep(None, None, f"Game {self.game.number}")
            score = self.game.score
            if expected and score is not None and score not in expected:
                wanted = " or ".join(sorted(f"{a}-{b}" for a, b in expected))
                faults.append(self._fault(0, f"the score is said to be {score[0]}-{score[1]}, but it is {wanted}"))
            k, rows = 0, rows_of(entries)
            made = np.full((len(rows), MOST_STEPS), -1, np.int64)
            while k < len(entries):
                entry = entries[k]
                usual = (
                    self._play_rolls(rows, k, made) if entry.kind == "roll" and self.award is None and not self.resigned else 0
                )
                if not usual:
                    self._do(entry, entries[k + 1] if k + 1 < len(entries) else None)
                k += usual or 1
        except FaultError as fault:
            self.failed = True
            faults.append(self._fault(entry.number if entry else 0, str(fault)))
        if not self.failed and self.award is None and not self.last and not self._ended_without_award():
            what = "the game ends, but no award is written" if self.board.over else "the game stops here without a result"
            faults.append(self._fault(entry.number if entry else 0, what))
        if self.failed and self.award is None and self.game.award and self.game.award.player is not None:
            self.award = self.game.award.player, self.game.award.value
        winner, points = self.award or (None, 0)
        return GameReplay(self.game.number, tuple(self.moments), tuple(faults), winner, points)

    def next_scores(self) -> set[tuple[int, int]]:
        """The scores that the next game may begin with; empty if they are not known."""
        if self.game.score is None or self.award is None or self.failed:
            return set()
        winner, points = self.award
        # GNU Backgammon leaves automatic doubles out of the running score
        return {self._plus(winner, points), self._plus(winner, max(points // self.game.cube, 1))}

    def _plus(self, winner: int, points: int) -> tuple[int, int]:
        a, b = self.game.score or (0, 0)
        return (a + points, b) if winner == 0 else (a, b + points)

    def _note(self, entry: Entry, what: str) -> None:
        self.notes.append(Note(self.game.number, entry.number, what))

    def _fault(self, move: int, what: str) -> Fault:
        """A fault in one printable line, whatever text of the record it quotes."""
        line = "".join(c if c.isprintable() else "?" for c in " ".join(what.split()))
        return Fault(self.game.number, move, line)

    def _ended_without_award(self) -> bool:
        """Whether an illegal action or the cap on turns has ended the game, which no award follows."""
        return bool(self.states[0]["ending"] > END_FINISHED)

    # The beginning, and the states that are kept

    def _begin(self) -> None:
        """Set up the state that the game begins with."""
        game, states = self.game, self.states
        try:
            if game.start:
                states[:] = read_position(game.start, self.settings.variant, self.settings)[0]
            elif game.state is not None:
                fill_state(states, game.state, self.settings.variant)
            else:
                new_episode(states, 0, self.rules, np.uint64(0))
                states["score"] = (game.score or (0, 0)) if self.record.length else (0, 0)
                states["crawford"] = self.crawford
            states["games"] = self.number
            if game.start or game.state is not None:
                check_state(states, 0, self.settings)
            else:
                self._check_start()
        except (BgEnvError, ValueError, TypeError, OverflowError) as error:
            raise FaultError(str(error)) from error
        for _ in range(game.cube.bit_length() - 1):
            if self.board.phase != Phase.OPENING or not ties_double(states, 0, self.rules):
                msg = f"the game begins with the cube at {game.cube}, but automatic doubles are not in force (R2.2)"
                raise FaultError(msg)
            apply_roll(states, 0, self.rules, 1, 1)

    def _check_start(self) -> None:
        """Check the score and the Crawford game with the start of the variant.

        Raises:
            FaultError: they are impossible.
        """
        score = self.states[0]["score"].tolist()
        reason = _why_no_start(self.settings, score[0], score[1], self.crawford)
        if reason:
            raise FaultError(reason)

    def _keep(self, entry: Entry | None, player: int | None, words: str, actions: tuple[int, ...] = ()) -> None:
        """Keep the state after an entry, with words for it."""
        if self.states[0]["winner"] >= 0 and self.board.phase != Phase.OVER:
            self._show_end(player, actions)
        self.moments.append(Moment(self.kept.n, entry, player, words, actions))
        self.kept.add(self.states)
        self.board.untouched = entry is None

    def _show_end(self, player: int | None, actions: tuple[int, ...]) -> None:
        """Go back to the end of the game, where the engine has gone on to the next game of the match."""
        end = self.kept.states[self.kept.n - 1 : self.kept.n].copy()
        if player is not None:
            for action in actions:
                play_step(end, 0, player, source_of(action), die_of(action))
        for name in ("winner", "level", "won", "score"):
            end[name] = self.states[name]
        self._finish(end)

    def _finish(self, end: States) -> None:
        """Make `end`, in which the result is set already, the state: a game that is over."""
        end["cube"] = at_stake(end, 0)
        for name in ("dice", "left", "stage", "chain"):
            end[name] = 0
        end["phase"], end["decider"], end["ending"] = Phase.OVER, -1, END_FINISHED
        self.states[:] = end

    # Entries

    def _play_rolls(self, rows: npt.NDArray[np.int8], first: int, made: npt.NDArray[np.int64]) -> int:
        """Play the usual rolls from entry `first` on in one call; returns how many there are."""
        kept = self.kept
        kept.reserve(len(rows) - first)
        n = play_rolls(self.states, self.rules, rows, first, kept.states, kept.n, made)
        moments, at = self.moments, kept.n
        for entry, actions in zip(self.game.entries[first : first + n], made[first : first + n].tolist(), strict=True):
            d1, d2 = entry.dice or (0, 0)
            steps = tuple(actions[: actions.index(-1)] if -1 in actions else actions)
            moments.append(Moment(at, entry, entry.player, f"{d1}{d2}:" if steps else f"{d1}{d2}: cannot move", steps))
            at += 1
        kept.n = at
        self.board.untouched = self.board.untouched and not n
        return n

    def _do(self, entry: Entry, following: Entry | None) -> None:
        """Play an entry; `following` is the one after it."""
        if entry.kind == "unreadable":
            msg = f"this cannot be read: {entry.text[:80]}"
            raise FaultError(msg)
        if self.award is not None:
            msg = "the record goes on after the award"
            raise FaultError(msg)
        if entry.kind == "win":
            self._win(entry)
            return
        if self.board.over or self.resigned:
            msg = "the record goes on after the end of the game"
            raise FaultError(msg)
        if entry.kind == "roll":
            breaks_off = following.kind in ("resign", "win", "illegal") if following else self.last
            played = play_roll(self.board, entry, breaks_off=breaks_off)
            self._keep(entry, played.player, played.words, played.actions)
        elif entry.kind in ("tie", "throw"):
            self._throw(entry)
        elif entry.kind == "resign":
            self.resigned = entry
            self._keep(entry, entry.player, "resigns" if entry.player is not None else "a player resigns")
        elif entry.kind == "illegal":
            self._illegal(entry)
        else:
            self._turn_cube(entry)

    def _throw(self, entry: Entry) -> None:
        """An opening throw."""
        d1, d2 = entry.dice or (0, 0)
        if self.board.phase != Phase.OPENING or self.thrown or (d1 == d2) != (entry.kind == "tie"):
            msg = f"no {entry.kind} can stand here: the opening throw comes first and once"
            raise FaultError(msg)
        if d1 == d2 and not ties_double(self.states, 0, self.rules):
            msg = f"the tie {d1}-{d2} doubles the cube, but automatic doubles are not in force or spent (R2.2)"
            raise FaultError(msg)
        apply_roll(self.states, 0, self.rules, d1, d2)
        self.thrown = d1 != d2
        self._keep(entry, entry.player, f"the opening throw is {d1}-{d2}")

    def _turn_cube(self, entry: Entry) -> None:
        """A double, a beaver, a take or a drop."""
        s = self.states[0]
        answering = self.board.phase == Phase.TAKE_OR_DROP
        due = int(s["decider"]) if answering else self.board.turn
        player = player_of(entry, due) if due >= 0 else entry.player
        action = {"double": BEAVER if answering else DOUBLE, "beaver": BEAVER, "take": TAKE, "drop": DROP}[entry.kind]
        reason = self._why_no_double() if action == DOUBLE else None
        reason = reason or why_illegal_text(self.states, 0, self.settings, action, self.rules)
        if reason:
            raise FaultError(reason)
        apply(self.states, 0, self.rules, action)
        words = {"take": "takes", "drop": "drops"}.get(entry.kind)
        if words is None:
            value = 1 << int(s["cube"]) + int(s["chain"])
            if entry.value not in (0, value):
                msg = f"the cube is said to be turned to {entry.value}, but it is turned to {value}"
                raise FaultError(msg)
            words = f"{('doubles', 'beavers', 'raccoons')[min(int(s['chain']), 3) - 1]} to {value}"
        self._keep(entry, player, words)

    def _why_no_double(self) -> str | None:
        """The reason why the player on roll may not double, in phases in which the engine only lets it roll; else None."""
        s = self.states[0]
        if self.board.phase == Phase.OPENING:
            return "a double before the first roll (R8.2)"
        if self.board.phase != Phase.ROLL:
            return None
        if not self.settings.cube:
            return "a double, but no cube is in play"
        if s["crawford"]:
            return "a double in the Crawford game (R9.2)"
        if s["owner"] == 1 - s["turn"]:
            return f"player_{int(s['turn'])} doubles, but the cube is player_{int(s['owner'])}'s (R8.1)"
        return "a double that is not allowed here (R8.2, R8.4, R9.3)"

    def _illegal(self, entry: Entry) -> None:
        """An illegal action, which has ended the game."""
        decider = int(self.states[0]["decider"])
        if decider < 0 or why_illegal_text(self.states, 0, self.settings, entry.value, self.rules) is None:
            msg = f"action {entry.value} is said to be illegal, but it is legal here"
            raise FaultError(msg)
        forfeit(self.states, 0, self.rules, decider)
        self._keep(entry, decider, f"loses by an illegal action ({entry.value})")

    # The award

    def _win(self, entry: Entry) -> None:
        """The award, which must be one that the game allows."""
        s, player = self.states[0], entry.player or 0
        if self.board.over:
            if s["winner"] != player and not entry.alone and self.record.settings is None and s["winner"] >= 0:
                player = int(s["winner"])  # beside another entry, it is in whichever column is free
                self._note(entry, f"the award stands in the other column, but player_{player} has won")
            if s["winner"] != player:
                msg = f"player_{player} is said to win, but player_{int(s['winner'])} has won"
                raise FaultError(msg)
            right, how = self._points_won(), "has won"
        else:
            if self.resigned and self.resigned.player == player:
                msg = f"player_{player} has resigned and is said to win"
                raise FaultError(msg)
            right, how = self._points_of_resignation(player), "can win by a resignation"
        if entry.value not in right and not (self._in_a_match(entry, player, right) or self._is_gammon_given_up(entry)):
            said = " or ".join(str(points) for points in sorted(right))
            msg = f"the award is {entry.value} point{'s' * (entry.value != 1)}, but player_{player} {how} {said}"
            raise FaultError(msg)
        if not self.board.over:
            s["winner"], s["level"], s["won"] = player, max(min(entry.value // self._stake(), 3), 1), entry.value
            s["score"][player] += entry.value if self.record.length else 0
            self._finish(self.states.copy())
        self.award = player, entry.value
        self._keep(entry, player, f"wins {entry.value} point{'s' * (entry.value != 1)}")

    def _in_a_match(self, entry: Entry, player: int, right: set[int]) -> bool:
        """Whether an award is right in a match: cut to the points needed or to the length, or for a match given up.

        Args:
            entry: the award.
            player: the winner.
            right: the points in full.
        """
        length = self.record.length or _LOOSE_LENGTH * self.record.loose
        if not length:
            return False
        needed = length - (self.game.score or (0, 0))[player]
        if entry.value in {limit for limit in (needed, length) for points in right if points > limit}:
            self._note(entry, f"the award is cut to the {'points needed' if entry.value == needed else 'length'}")
            return True
        if not self.board.over and entry.value > 0 and (entry.value == needed or entry.value > max(length, *right)):
            self._note(entry, "the match is given up")
            return True
        return False

    def _is_gammon_given_up(self, entry: Entry) -> bool:
        """Whether a gammon or more is given up with the centred cube, which GNU Backgammon awards in full under Jacoby too."""
        jacoby = self.settings.jacoby and self.settings.cube and self._centred()
        given_up = not self.board.over and jacoby and self.record.settings is None and not self._loser_off(entry.player or 0)
        if not given_up or entry.value not in (2 * self._stake(), 3 * self._stake()):
            return False
        self._note(
            entry, "a gammon or backgammon is given up with the centred cube, and counts in full although Jacoby is played"
        )
        return True

    def _loser_off(self, winner: int) -> bool:
        """Whether the other player has borne off a checker."""
        waits_for_opening = self.board.phase == Phase.OPENING and self.board.turn < 0
        return bool(not waits_for_opening and self.states[0]["points"][1 - winner, OFF] > 0)

    def _points_won(self) -> set[int]:
        """The points that may be awarded for the game, which is over."""
        s, record = self.states[0], self.record
        won = {int(s["won"])}
        if record.jacoby is None and not record.length and not record.settings and self._centred():
            won.add(int(s["won"]) // max(int(s["level"]), 1))  # whether Jacoby is played is not in the record
        return won

    def _points_of_resignation(self, winner: int) -> set[int]:
        """The points that the other player may give up in the game, which is not over."""
        loser_off = self._loser_off(winner)
        ours = self.record.settings is not None  # here a player may resign more than it can still lose
        single_only = (loser_off and not ours) or (self.settings.jacoby and self.settings.cube and self._centred())
        return {level * self._stake() for level in ((1,) if single_only else (1, 2, 3))}

    def _stake(self) -> int:
        """The points of a single game now."""
        return 1 << int(at_stake(self.states, 0))

    def _centred(self) -> bool:
        """Whether the cube is centred."""
        return bool(self.states[0]["owner"] == -1)
