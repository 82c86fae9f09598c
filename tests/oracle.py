"""The rules written a second time, slowly and plainly, to hold the engine to: nothing here is taken from `bg_env.rules`.

The first half is R3-R7's movement by brute force over all orders; the second half, `OracleGame`, is everything around it
(R2, R3, R7-R11). Numbers stand as in the rule book: a side is 26 counts on its own numbering, index 0 borne off, 1-24 the
points, 25 the bar; dice left are a tuple; an action is its number; a cube is its value.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

Side = tuple[int, ...]
Board = tuple[Side, Side]
"""(mover, opponent)"""
Dice = tuple[int, ...]
Step = tuple[int, int]
"""(source, die)"""

ROLL, DOUBLE, TAKE, DROP, BEAVER, NAME = 150, 151, 152, 153, 154, 155
ROLLS = [(a, b) for a in range(1, 7) for b in range(1, a + 1)]
"""The 21 rolls, the higher number first."""


def roll_of(first: int, second: int) -> Dice:
    """The steps that a roll gives (R3.2)."""
    return (first,) * 4 if first == second else (first, second)


def without(dice: Dice, die: int) -> Dice:
    """Dice left after one `die` is played."""
    left = list(dice)
    left.remove(die)
    return tuple(left)


def turned(board: Board) -> Board:
    """The same board seen by the other player."""
    return board[1], board[0]


def won(board: Board) -> bool:
    """Whether the mover has borne off all its checkers."""
    return not any(board[0][1:])


def step(board: Board, source: int, die: int) -> Board | None:
    """The board after one checker step, or None where R4, R6.1 or R7 forbid it."""
    mover, opponent = board
    if mover[source] == 0:
        return None
    if mover[25] > 0 and source != 25:  # R6.1
        return None
    target = source - die
    if target >= 1:
        if opponent[25 - target] >= 2:  # R4.1
            return None
    else:
        if any(mover[7:]):  # R7.1
            return None
        if source < die and any(mover[source + 1 :]):  # R7.2
            return None
        target = 0
    mine, theirs = list(mover), list(opponent)
    mine[source] -= 1
    mine[target] += 1
    if target >= 1 and theirs[25 - target] == 1:  # R4.2
        theirs[25 - target] = 0
        theirs[25] += 1
    return tuple(mine), tuple(theirs)


def single_steps(board: Board, dice: Dice) -> Iterator[tuple[Step, Board, Dice]]:
    """Every step that one of the dice can make, whatever becomes of the rest of the roll; none after the last checker."""
    if won(board):  # R3.4
        return
    for die in sorted(set(dice)):
        for source in range(1, 26):
            after = step(board, source, die)
            if after is not None:
                yield (source, die), after, without(dice, die)


def sequences(board: Board, dice: Dice) -> list[tuple[tuple[Step, ...], Board]]:
    """All legal ways to play the dice, as sequences of steps with the boards they end in: R5 word for word.

    Every order of every steps is tried, so this is for small numbers of positions; `legal_steps` and `results` below
    say the same with the number of playable steps remembered by board.
    """
    tried: list[tuple[tuple[Step, ...], Board]] = []

    def go_on(steps: tuple[Step, ...], here: Board, left: Dice) -> None:
        stuck = True
        for one, after, rest in single_steps(here, left):
            stuck = False
            go_on((*steps, one), after, rest)
        if stuck:
            tried.append((steps, here))

    go_on((), board, dice)
    most = max(len(steps) for steps, _ in tried)
    legal = [(steps, end) for steps, end in tried if len(steps) == most]  # R5.1, R5.3
    if most == 1 and len(set(dice)) == 2:  # R5.2
        larger = [(steps, end) for steps, end in legal if steps[0][1] == max(dice)]
        legal = larger or legal
    legal += [(steps, end) for steps, end in tried if won(end) and (steps, end) not in legal]  # R5.4
    return legal


@lru_cache(maxsize=50_000)
def longest(board: Board, dice: Dice) -> int:
    """The largest number of the dice that some order of some steps can play."""
    return max((1 + longest(after, left) for _, after, left in single_steps(board, dice)), default=0)


def legal_steps(board: Board, dice: Dice) -> list[tuple[Step, Board, Dice]]:
    """The steps that may be played now, with what they lead to (R3-R7)."""
    most = longest(board, dice)
    found = list(single_steps(board, dice))
    legal = [(one, after, left) for one, after, left in found if 1 + longest(after, left) == most]
    if most == 1 and len(set(dice)) == 2:
        larger = [item for item in legal if item[0][1] == max(dice)]
        legal = larger or legal
    legal += [item for item in found if won(item[1]) and item not in legal]
    return legal


def results(board: Board, dice: Dice) -> set[Board]:
    """The distinct boards that legal plays of the dice end in (R11.2), not turned: one, the same board, for a dance."""
    ends: set[Board] = set()
    waiting = {(board, tuple(sorted(dice)))}
    seen = set(waiting)
    while waiting:
        here, left = waiting.pop()
        steps = legal_steps(here, left)
        if not steps:
            ends.add(here)
        for _, after, rest in steps:
            if (after, rest) not in seen:
                seen.add((after, rest))
                waiting.add((after, rest))
    return ends


def decisions(board: Board, dice: Dice) -> dict[tuple[Board, Dice], set[Step]]:
    """The steps allowed at every board and dice left that legal play of the roll can come to, ends included (no steps)."""
    allowed: dict[tuple[Board, Dice], set[Step]] = {}
    waiting = [(board, tuple(sorted(dice)))]
    while waiting:
        here = waiting.pop()
        if here not in allowed:
            steps = legal_steps(*here)
            allowed[here] = {one for one, _, _ in steps}
            waiting += [(after, rest) for _, after, rest in steps]
    return allowed


def perft(board: Board, depth: int) -> int:
    """Distinct plays of `depth` turns in a row, over all 21 rolls of each turn; a won game has one play, no more."""
    total = 0
    for roll in ROLLS:
        ends = results(board, roll_of(*roll))
        total += len(ends) if depth == 1 else sum(1 if won(end) else perft(turned(end), depth - 1) for end in ends)
    return total


def level(winner: Side, loser: Side) -> int:
    """1, 2 or 3 as in R7.4, before R8.5."""
    assert not any(winner[1:])
    if loser[0] > 0:
        return 1
    return 3 if loser[25] > 0 or any(loser[19:25]) else 2


class OracleGame:
    """A game, or a match, by the rule book, in plain Python. `settings` is anything with the fields of `Settings`.

    Attributes: `phase` (its name), `decider` and `turn` (0, 1, or -1), `points` [two lists of 26], `dice` (left to play),
    `cube` (accepted value), `owner`, `chain` (turns of the cube that wait for an answer), `score`, `crawford`, `turns`,
    `games`; of the game that the last action ended `winner`, `level`, `won` (-1, 0, 0 if it ended none); `truncated`
    (R11.1).
    """

    def __init__(self, settings: Any, score: tuple[int, int] = (0, 0)) -> None:
        self.rules = settings
        self.start = list(settings.variant.start)
        self.cap = 32768 if settings.cube_cap is None else settings.cube_cap
        self.length = settings.match_length
        self.score = list(score)
        self.turns = self.games = 0
        self.truncated = False
        self.winner, self.level, self.won = -1, 0, 0
        at_the_edge = [n == self.length - 1 for n in score]
        self.had_crawford = all(at_the_edge)  # R9.2: with both it never is
        self.begin_game()

    # --- a game begins -----------------------------------------------------------------------------------------------

    def begin_game(self) -> None:
        self.points = [list(self.start), list(self.start)]
        self.games += 1
        self.cube, self.owner, self.chain, self.ties = 1, -1, 0, 0
        self.turn = self.decider = -1
        self.dice: Dice = ()
        self.bonus = ""  # of R10.6: "", "1-2", "double" (being played), "extra" (due or being played)
        self.first_turn = True
        self.phase = "OPENING"
        self.crawford = False
        if self.length > 1 and self.rules.crawford and self.rules.cube and not self.had_crawford:  # R9.2
            self.crawford = self.length - 1 in self.score
            self.had_crawford = self.crawford

    def automatic(self) -> bool:
        """Whether a tie at the opening would double the cube now (R2.2)."""
        return bool(self.rules.cube and self.length == 0 and self.ties < self.rules.auto_doubles and self.cube * 2 <= self.cap)

    def roll(self, first: int, second: int) -> None:
        """The dice fall: in OPENING the die of player 0, then of player 1."""
        if self.phase == "OPENING":
            if first == second:
                if self.automatic():
                    self.cube *= 2
                    self.ties += 1
                return
            if self.begin_turn(0 if first > second else 1) and not self.rules.variant.fresh_first_roll:
                self.take_roll(first, second)
        else:
            assert self.phase == "ROLL"
            self.take_roll(first, second)

    def throws(self) -> set[tuple[int, int]]:
        """The ordered pairs that change something when thrown now (a tie that is only thrown again does not)."""
        pairs = {(a, b) for a in range(1, 7) for b in range(1, 7)}
        if self.phase == "OPENING" and not self.automatic():
            return {(a, b) for a, b in pairs if a != b}
        return pairs if self.phase in ("OPENING", "ROLL") else set()

    # --- a turn ------------------------------------------------------------------------------------------------------

    def begin_turn(self, player: int) -> bool:
        """Whether the turn begins at all (R11.1)."""
        if self.rules.max_turns and self.turns == self.rules.max_turns:
            self.phase, self.decider, self.truncated = "OVER", -1, True
            return False
        self.turns += 1
        self.turn = player
        self.bonus = ""
        self.dice = ()
        double = self.may_double()
        self.phase, self.decider = ("ROLL_OR_DOUBLE", player) if double else ("ROLL", -1)
        self.first_turn = False
        return True

    def may_double(self) -> bool:
        if not self.rules.cube or self.first_turn or self.crawford:  # R8.2, R9.2
            return False
        if self.owner not in (-1, self.turn):  # R8.1
            return False
        if self.cube * 2 > self.cap:  # R8.4
            return False
        dead = self.length > 0 and self.score[self.turn] + self.cube >= self.length  # R9.3
        return not dead or self.rules.allow_dead_cube

    def take_roll(self, first: int, second: int) -> None:
        self.dice = roll_of(first, second)
        if self.rules.variant.acey_deucey and {first, second} == {1, 2}:
            self.bonus = "1-2"
        self.go_on()

    def board(self) -> Board:
        return tuple(self.points[self.turn]), tuple(self.points[1 - self.turn])

    def go_on(self) -> None:
        """The mover has dice: it plays, or what follows the roll happens (R3.3, R10.6)."""
        if self.dice and legal_steps(self.board(), self.dice):
            self.phase, self.decider = "CHECKER", self.turn
            return
        in_full = not self.dice
        self.dice = ()
        if in_full and self.bonus == "1-2":
            self.phase, self.decider = "CHOOSE_DOUBLE", self.turn
        elif in_full and self.bonus == "double":
            self.bonus = "extra"
            self.phase, self.decider = "ROLL", -1
        else:
            self.begin_turn(1 - self.turn)

    # --- decisions ---------------------------------------------------------------------------------------------------

    def legal(self) -> set[int]:
        """The numbers of the legal actions."""
        if self.phase == "ROLL_OR_DOUBLE":
            return {ROLL, DOUBLE}
        if self.phase == "TAKE_OR_DROP":
            again = self.chain <= self.rules.beavers and self.length == 0 and self.cube * 2 ** (self.chain + 1) <= self.cap
            return {TAKE, DROP, BEAVER} if again else {TAKE, DROP}  # R8.6, R8.4
        if self.phase == "CHECKER":
            return {(source - 1) * 6 + die - 1 for (source, die), _, _ in legal_steps(self.board(), self.dice)}
        if self.phase == "CHOOSE_DOUBLE":
            return set(range(NAME, NAME + 6))
        return set()

    def apply(self, action: int) -> None:
        """A legal action happens."""
        assert action in self.legal()
        self.winner, self.level, self.won = -1, 0, 0
        if action == ROLL:
            self.phase, self.decider = "ROLL", -1
        elif action in (DOUBLE, BEAVER):
            self.chain += 1
            self.phase = "TAKE_OR_DROP"
            self.decider = 1 - self.decider
        elif action == TAKE:
            self.cube *= 2**self.chain
            self.chain = 0
            self.owner = 1 - self.turn
            self.phase, self.decider = "ROLL", -1
        elif action == DROP:
            self.end_game(1 - self.decider, 1, self.cube * 2 ** (self.chain - 1))
        elif action >= NAME:
            self.dice = (action - NAME + 1,) * 4
            self.bonus = "double"
            self.go_on()
        else:
            self.play(action // 6 + 1, action % 6 + 1)

    def play(self, source: int, die: int) -> None:
        after = step(self.board(), source, die)
        assert after is not None
        self.points[self.turn], self.points[1 - self.turn] = list(after[0]), list(after[1])
        self.dice = without(self.dice, die)
        if won(after):
            how = level(*after)
            if self.rules.jacoby and self.rules.cube and self.length == 0 and self.owner == -1:  # R8.5
                how = 1
            self.end_game(self.turn, how, how * self.cube)
        else:
            self.go_on()

    def end_game(self, winner: int, how: int, points: int) -> None:
        self.winner, self.level, self.won = winner, how, points
        self.dice = ()
        if self.length:
            self.score[winner] += points
        if self.length == 0 or self.score[winner] >= self.length:
            self.phase, self.decider, self.chain = "OVER", -1, 0
        else:
            self.begin_game()
            if self.rules.max_turns and self.turns == self.rules.max_turns:
                self.phase, self.truncated = "OVER", True

    def view(self) -> dict[str, Any]:
        """The state of the game in plain values; the accepted cube is left out once nothing can be won."""
        names = ["phase", "turn", "decider", "owner", "chain", "crawford", "winner", "level", "won", "turns", "truncated"]
        view = {name: getattr(self, name) for name in names}
        view["points"] = [list(side) for side in self.points]
        view["score"] = list(self.score)
        view["dice"] = sorted(self.dice)
        view["cube"] = self.cube if self.phase != "OVER" else None
        return view
