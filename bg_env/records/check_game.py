"""Plays one game of a record over with the engine, entry by entry, up to the first thing that is wrong."""

from __future__ import annotations

from typing import Final

import numpy as np

from bg_env.actions import BEAVER as TURN_AGAIN
from bg_env.actions import DOUBLE, DROP, FIRST_NAMED, ROLL, TAKE, why_illegal_text
from bg_env.errors import BgEnvError, NotationError
from bg_env.notation import read_position
from bg_env.notation.moves import Move, first_steps, format_actions, match_play, parse_moves
from bg_env.notation.state_of_id import fill_state
from bg_env.records.fast_roll import NOT_DUE, PLAYED, as_steps, play_written
from bg_env.records.record import Entry, GameRecord, Record
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
    plays,
    ties_double,
)
from bg_env.rules.actions import die_of, source_of

__all__ = ["GameReplayer"]


class _WrongError(Exception):
    """What is wrong with an entry; never leaves this module."""


# plain ints: a member of an enum takes its time
_CHECKER: Final = int(Phase.CHECKER)
_CHOOSE_DOUBLE: Final = int(Phase.CHOOSE_DOUBLE)
_OPENING: Final = int(Phase.OPENING)
_OVER: Final = int(Phase.OVER)
_ROLL: Final = int(Phase.ROLL)
_ROLL_OR_DOUBLE: Final = int(Phase.ROLL_OR_DOUBLE)
_TAKE_OR_DROP: Final = int(Phase.TAKE_OR_DROP)


class GameReplayer:
    """One game of a record on its way: `states` is the state now, an array of one record."""

    def __init__(
        self,
        record: Record,
        settings: Settings,
        game: GameRecord,
        kept: Kept,
        *,
        number: int,
        crawford: bool,
        last: bool,
    ) -> None:
        self.record, self.settings, self.game, self.last = record, settings, game, last
        self.rules = settings.record()
        self.kept = kept
        self.number = number
        self.crawford = crawford
        self.moments: list[Moment] = []
        self.states = np.zeros(1, STATE)
        self.award: tuple[int, int] | None = None
        self.resigned: Entry | None = None
        self.thrown = False
        self.failed = False
        self.made = np.zeros(4, np.int64)

    def run(self, expected: set[tuple[int, int]]) -> GameReplay:
        """Play the game; `expected` are the scores that it may begin with, none if that is not known."""
        faults = []
        try:
            self._begin()
            self._keep(None, None, f"Game {self.game.number}")
            score = self.game.score
            if expected and score is not None and score not in expected:
                wanted = " or ".join(sorted(f"{a}-{b}" for a, b in expected))
                faults.append(self._fault(0, f"the score is said to be {score[0]}-{score[1]}, but it is {wanted}"))
        except _WrongError as wrong:
            self.failed = True
            faults.append(self._fault(0, str(wrong)))
        entry: Entry | None = None
        try:
            entries = () if self.failed else self.game.entries
            for k, entry in enumerate(entries):
                self._do(entry, entries[k + 1] if k + 1 < len(entries) else None)
        except _WrongError as wrong:
            self.failed = True
            faults.append(self._fault(entry.number if entry else 0, str(wrong)))
        if not self.failed and self.award is None and not self.last and not self._ended_without_award():
            what = "the game ends, but no award is written" if self.over else "the game stops here without a result"
            faults.append(self._fault(entry.number if entry else 0, what))
        if self.failed and self.award is None and self.game.award and self.game.award.player is not None:
            self.award = self.game.award.player, self.game.award.value
        winner, points = self.award or (None, 0)
        return GameReplay(self.game.number, tuple(self.moments), tuple(faults), winner, points)

    def _fault(self, move: int, what: str) -> Fault:
        """A fault in one printable line, whatever text of the record it quotes."""
        line = "".join(c if c.isprintable() else "?" for c in " ".join(what.split()))
        return Fault(self.game.number, move, line)

    def _ended_without_award(self) -> bool:
        """Whether an illegal action or the cap on turns has ended it, which no award follows."""
        return bool(self.states[0]["ending"] > 1)

    def next_scores(self) -> set[tuple[int, int]]:
        """What the next game's score may be; empty if that cannot be told."""
        if self.game.score is None or self.award is None or self.failed:
            return set()
        winner, points = self.award
        # GNU Backgammon leaves automatic doubles out of the running score
        return {self._plus(winner, points), self._plus(winner, max(points // self.game.cube, 1))}

    def _plus(self, winner: int, points: int) -> tuple[int, int]:
        a, b = self.game.score or (0, 0)
        return (a + points, b) if winner == 0 else (a, b + points)

    def _begin(self) -> None:
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
            check_state(states, 0, self.settings)
        except (BgEnvError, ValueError, TypeError, OverflowError) as error:
            raise _WrongError(str(error)) from error
        for _ in range(game.cube.bit_length() - 1):
            if states[0]["phase"] != _OPENING or not ties_double(states, 0, self.rules):
                msg = f"the game begins with the cube at {game.cube}, but automatic doubles are not in force (R2.2)"
                raise _WrongError(msg)
            apply_roll(states, 0, self.rules, 1, 1)

    def _keep(self, entry: Entry | None, player: int | None, words: str, actions: tuple[int, ...] = ()) -> None:
        if self.states[0]["winner"] >= 0 and self.states[0]["phase"] != _OVER:
            self._stay(player, actions)
        self.moments.append(Moment(self.kept.n, entry, player, words, actions))
        self.kept.add(self.states)

    def _stay(self, player: int | None, actions: tuple[int, ...]) -> None:
        """Show the game that has just ended, where the engine has gone on to the match's next game."""
        end = self.kept.states[self.kept.n - 1 : self.kept.n].copy()
        if player is not None:
            for action in actions:
                play_step(end, 0, player, source_of(action), die_of(action))
        for name in ("winner", "level", "won", "score"):
            end[name] = self.states[name]
        self._finish(end)

    def _finish(self, end: States) -> None:
        """Be at the end of the game as it stands."""
        end["cube"] = at_stake(end, 0)
        for name in ("dice", "left", "stage", "chain"):
            end[name] = 0
        end["phase"], end["decider"], end["ending"] = _OVER, -1, END_FINISHED
        self.states[:] = end

    @property
    def phase(self) -> int:
        """What the state waits for."""
        return int(self.states[0]["phase"])

    @property
    def over(self) -> bool:
        """Whether this game is over."""
        s = self.states[0]
        return bool(s["winner"] >= 0 or s["phase"] == _OVER)

    def _player(self, entry: Entry, due: int) -> int:
        """The player whose entry it is: `due`, whose turn it is, also where a lone cell stands in the other column."""
        if entry.player != due and not entry.alone:
            msg = f"player_{entry.player} is out of turn: player_{due} is due"
            raise _WrongError(msg)
        return due

    # What the entries do

    def _do(self, entry: Entry, following: Entry | None) -> None:
        if entry.kind == "unreadable":
            msg = f"this cannot be read: {entry.text[:80]}"
            raise _WrongError(msg)
        if self.award is not None:
            msg = "the record goes on after the award"
            raise _WrongError(msg)
        if entry.kind == "win":
            self._win(entry)
            return
        if self.over or self.resigned:
            msg = "the record goes on after the end of the game"
            raise _WrongError(msg)
        if entry.kind == "roll":
            self._roll(entry, following)
        elif entry.kind in ("tie", "throw"):
            self._throw(entry)
        elif entry.kind == "resign":
            self.resigned = entry
            self._keep(entry, entry.player, "resigns")
        elif entry.kind == "illegal":
            self._illegal(entry)
        else:
            self._turn_cube(entry)

    def _throw(self, entry: Entry) -> None:
        d1, d2 = entry.dice or (0, 0)
        if self.phase != _OPENING or self.thrown or (d1 == d2) != (entry.kind == "tie"):
            msg = f"no {entry.kind} can stand here: the opening throw comes first and once"
            raise _WrongError(msg)
        if d1 == d2 and not ties_double(self.states, 0, self.rules):
            msg = f"the tie {d1}-{d2} doubles the cube, but automatic doubles are not in force or spent (R2.2)"
            raise _WrongError(msg)
        apply_roll(self.states, 0, self.rules, d1, d2)
        self.thrown = d1 != d2
        self._keep(entry, entry.player, f"the opening throw is {d1}-{d2}")

    def _roll(self, entry: Entry, following: Entry | None) -> None:
        d1, d2 = entry.dice or (0, 0)
        steps = as_steps(entry.text)
        if steps is not None and entry.player is not None:
            done = play_written(self.states, 0, self.rules, entry.player, d1, d2, steps, self.made)
            if done == PLAYED:
                self._keep(entry, entry.player, f"{d1}{d2}:", tuple(self.made[: len(steps)].tolist()))
                return
            self._play(entry, following, self._rolled(entry) if done == NOT_DUE else entry.player)
        else:
            self._play(entry, following, self._rolled(entry))

    def _play(self, entry: Entry, following: Entry | None, player: int) -> None:
        """Play the roll that `player` has thrown, or see that it cannot be played."""
        d1, d2 = entry.dice or (0, 0)
        try:
            moves = parse_moves(entry.text)
        except NotationError as error:
            msg = f"the play of {d1}{d2} cannot be read: {error}"
            raise _WrongError(msg) from error
        s = self.states[0]
        if s["phase"] != _CHECKER or s["turn"] != player or self.over:
            if moves:
                msg = f"{d1}{d2} cannot be played, but {entry.text} is written"
                raise _WrongError(msg)
            self._keep(entry, player, f"{d1}{d2}: cannot move")
            return
        self._keep(entry, player, f"{d1}{d2}:", self._find(entry, moves, following))

    def _find(self, entry: Entry, moves: tuple[Move, ...], following: Entry | None) -> tuple[int, ...]:
        """Find the play among the legal ones and make it."""
        d1, d2 = entry.dice or (0, 0)
        _, numbers, after = plays(self.states, self.rules)
        given_up = following.kind in ("resign", "win", "illegal") if following else self.last
        if not moves:
            if given_up and not entry.played:
                return ()
            msg = f"no play of {d1}{d2} is written, but {format_actions(numbers[0].tolist(), self.states, 0)} is possible"
            raise _WrongError(msg)
        found = match_play(moves, self.states, 0, numbers, strict=True)
        if not isinstance(found, int):
            part = first_steps(moves, self.states, 0, self.rules) if given_up else []
            for action in part:
                apply(self.states, 0, self.rules, action)
            if part:
                return tuple(part)
            msg = f"{entry.text} with {d1}{d2}: {found}"
            raise _WrongError(msg)
        self.states[0] = after[found]
        return tuple(action for action in numbers[found].tolist() if action >= 0)

    def _rolled(self, entry: Entry) -> int:
        """Give the state the dice of `entry`; who rolled them."""
        states, rules = self.states, self.rules
        d1, d2 = entry.dice or (0, 0)
        phase = self.phase
        if phase == _OPENING:
            return self._first_roll(entry, d1, d2)
        if phase == _TAKE_OR_DROP:
            if states[0]["chain"] < 2:
                msg = f"player_{int(states[0]['decider'])} has not answered the double"
                raise _WrongError(msg)
            apply(states, 0, rules, TAKE)  # a beaver's acceptance is often not written
            phase = self.phase
        player = self._player(entry, int(states[0]["turn"]))
        if phase == _CHECKER and len(self.moments) == 1 and sorted(states[0]["dice"].tolist()) == sorted((d1, d2)):
            return player  # the game starts from a roll
        if phase == _CHECKER:
            msg = f"player_{player} rolls again, but has not played its roll"
            raise _WrongError(msg)
        if phase == _CHOOSE_DOUBLE:
            if d1 != d2:
                msg = f"{d1}{d2} is rolled, but the double that the 1-2 earns is not named (R10.6)"
                raise _WrongError(msg)
            apply(states, 0, rules, FIRST_NAMED + d1 - 1)
            return player
        if phase == _ROLL_OR_DOUBLE:
            apply(states, 0, rules, ROLL)
        apply_roll(states, 0, rules, d1, d2)
        return player

    def _first_roll(self, entry: Entry, d1: int, d2: int) -> int:
        player = entry.player or 0
        if self.settings.variant.fresh_first_roll:
            apply_roll(self.states, 0, self.rules, 1 - player, player)  # any throw that this player wins
        elif d1 == d2:
            msg = f"the first roll of a game is {d1}{d2}, but it is never a double (R2.1)"
            raise _WrongError(msg)
        high, low = max(d1, d2), min(d1, d2)
        first = (high, low) if self.settings.variant.fresh_first_roll or player == 0 else (low, high)
        apply_roll(self.states, 0, self.rules, *first)
        return player

    def _turn_cube(self, entry: Entry) -> None:
        states = self.states
        s = states[0]
        answering = s["phase"] == _TAKE_OR_DROP
        due = int(s["decider"]) if answering else int(s["turn"])
        player = self._player(entry, due) if due >= 0 else entry.player
        action = {"double": TURN_AGAIN if answering else DOUBLE, "beaver": TURN_AGAIN, "take": TAKE, "drop": DROP}[entry.kind]
        reason = self._why_not(action) or why_illegal_text(states, 0, self.settings, action, self.rules)
        if reason:
            raise _WrongError(reason)
        apply(states, 0, self.rules, action)
        text = {"take": "takes", "drop": "drops"}.get(entry.kind, "")
        if not text:
            value = 1 << int(s["cube"]) + int(s["chain"])
            if entry.value not in (0, value):
                msg = f"the cube is said to be turned to {entry.value}, but it is turned to {value}"
                raise _WrongError(msg)
            text = f"{('doubles', 'beavers', 'raccoons')[min(int(s['chain']), 3) - 1]} to {value}"
        self._keep(entry, player, text)

    def _why_not(self, action: int) -> str | None:
        """Why the player on roll may not double where it can only roll (the engine does not ask it then)."""
        s = self.states[0]
        if action != DOUBLE or s["phase"] not in (_ROLL, _OPENING):
            return None
        if s["phase"] == _OPENING:
            return "a double before the first roll (R8.2)"
        if not self.settings.cube:
            return "a double, but no cube is in play"
        if s["crawford"]:
            return "a double in the Crawford game (R9.2)"
        if s["owner"] == 1 - s["turn"]:
            return f"player_{int(s['turn'])} doubles, but the cube is player_{int(s['owner'])}'s (R8.1)"
        return "a double that is not allowed here (R8.2, R8.4, R9.3)"

    def _illegal(self, entry: Entry) -> None:
        decider = int(self.states[0]["decider"])
        if decider < 0 or why_illegal_text(self.states, 0, self.settings, entry.value, self.rules) is None:
            msg = f"action {entry.value} is said to be illegal, but it is legal here"
            raise _WrongError(msg)
        forfeit(self.states, 0, self.rules, decider)
        self._keep(entry, decider, f"loses by an illegal action ({entry.value})")

    # The end

    def _win(self, entry: Entry) -> None:
        s = self.states[0]
        player = entry.player or 0
        if s["phase"] == _OPENING and not self.over and s["turn"] < 0:
            stake, loser_off = 1 << int(s["cube"]), False
        else:
            stake, loser_off = 1 << int(at_stake(self.states, 0)), int(s["points"][1 - player, OFF]) > 0
        if self.over:
            if s["winner"] != player:
                msg = f"player_{player} is said to win, but player_{int(s['winner'])} has won"
                raise _WrongError(msg)
            right = {int(s["won"])}
            if self.record.jacoby is None and not self.record.length and not self.record.settings and self._uncubed():
                right.add(int(s["won"]) // int(s["level"]))  # Jacoby or not is not said
            how = "has won"
        else:
            if self.resigned and self.resigned.player == player:
                msg = f"player_{player} has resigned and is said to win"
                raise _WrongError(msg)
            own = self.record.settings is not None  # here a player may give up more than the board says
            levels = (1,) if (loser_off and not own) or (self.settings.jacoby and self._uncubed()) else (1, 2, 3)
            right = {level * stake for level in levels}
            how = "can win by a resignation"
        needed = self.settings.match_length - (self.game.score or (0, 0))[player]
        cut = {needed for points in right if self.record.length and points > needed}
        if entry.value not in right | cut:
            said = " or ".join(str(points) for points in sorted(right | cut))
            msg = f"the award is {entry.value} point{'s' * (entry.value != 1)}, but player_{player} {how} {said}"
            raise _WrongError(msg)
        if not self.over:
            s["winner"], s["level"], s["won"] = player, max(entry.value // stake, 1), entry.value
            s["score"][player] += entry.value if self.record.length else 0
            self._finish(self.states.copy())
        self.award = player, entry.value
        self._keep(entry, player, f"wins {entry.value} point{'s' * (entry.value != 1)}")

    def _uncubed(self) -> bool:
        """Whether the cube is centred."""
        return bool(self.states[0]["owner"] == -1)
