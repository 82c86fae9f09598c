"""A player's checker plays in all positions of a solved game, and in some of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env.errors import IllegalActionError, SettingsError
from bg_env.exact.boards import Boards, Plays, board_numbers, boards_of, in_hand, plays_of, rolled
from bg_env.exact.numbering import ROLLS
from bg_env.exact.policy_sweeps import Choices, find_choices, list_decisions, play_on
from bg_env.exact.sweeps import Sweeper, ended
from bg_env.rules import OFF, Phase, Settings, States, Variant

__all__ = ["Asking", "Decisions", "Policy", "evaluated"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_CHECKED: Final = 2000
"""Decisions that a player is asked twice, to see whether it is deterministic."""
_ASKED: Final = 100_000
"""Decisions that a player is asked at once."""
_STEPS: Final = 4


class Policy(NamedTuple):
    """A player's plays in all positions, cubeless, as `Solution.policy` finds them.

    Attributes:
        name: of the player.
        sampled: whether the player draws its plays, and these are one draw for each position and roll.
        choices: uint8 (m, m, 21), read only; see `bg_env.exact.policy_sweeps`.
    """

    name: str
    sampled: bool
    choices: Choices


class Decisions(NamedTuple):
    """Decisions about a roll: int64 (n,) each, the boards on roll, the other boards, and the numbers of the rolls."""

    own: Integers
    other: Integers
    rolls: Integers

    @property
    def plain(self) -> tuple[Integers, Integers, Integers]:
        """The fields as a plain tuple, for kernels."""
        return self.own, self.other, self.rolls

    def part(self, chosen: Any) -> Decisions:
        """Some of them."""
        return Decisions(*(field[chosen] for field in self))


class Asking:
    """A player that is asked for its plays; the player on roll has seat 0.

    Args:
        player: a player, or its name.
        variant: the variant that is played, without the cube.
        seed: of the random words that it gets.

    Raises:
        SettingsError: it does not play this variant.
    """

    def __init__(self, player: Any, variant: Variant, seed: int) -> None:
        # Players know the exact tables. A solution meets players only here, after both are there.
        from bg_env.players import player_for
        from bg_env.players.protocol import ask, name_of

        self.settings = Settings(variant, cube=False)
        self.player = player_for(player, self.settings)
        self.name = name_of(self.player)
        self._ask = ask
        self._rules = self.settings.record()
        self._template = rolled(variant)
        self.boards: Boards = boards_of(variant.checkers)
        self.plays: Plays = plays_of(variant.checkers)
        self._rng = np.random.default_rng(seed)

    def choices(self, asked: Decisions) -> Integers:
        """The places of the player's plays in the lists of plays: int64 (n,).

        Raises:
            IllegalActionError: the player chose what is not legal.
        """
        states = in_hand(self._template, self.boards, *asked)
        states["key"] = self._rng.integers(0, 2**63, len(states), np.uint64)
        waiting = np.arange(len(states))
        for _ in range(_STEPS):
            part = states[waiting]
            words = self._rng.integers(0, 2**64, len(part), np.uint64, endpoint=False)
            chosen = self._ask(self.player, part.copy(), words)
            steps = np.full((len(part), _STEPS), -1)
            steps[chosen.moving] = chosen.plays
            steps[chosen.acting, 0] = chosen.actions
            wrong = play_on(part, self._rules, steps)
            states[waiting] = part
            waiting = waiting[(part["phase"] == Phase.CHECKER) & (part["turn"] == 0)]
            if wrong >= 0 or (len(waiting) and hasattr(self.player, "choose_plays")):
                msg = f"{self.name} chose what is not a legal play of a roll"
                raise IllegalActionError(msg)
            if not len(waiting):
                break
        return self._found(asked, states)

    def _found(self, asked: Decisions, states: States) -> Integers:
        results = board_numbers(states["points"][:, 0]), board_numbers(states["points"][:, 1])
        out = np.empty(len(states), np.int64)
        find_choices(self.boards, self.plays, len(ROLLS), asked.plain, results, out)
        if (out < 0).any():
            msg = f"{self.name} played what is not a whole play of its roll"
            raise IllegalActionError(msg)
        return out

    def evaluation(self) -> Callable[[States], Floats] | None:
        """The values by which a greedy value player chooses, of states before a roll; None of another player."""
        from bg_env.players import ValuePlayer

        player = self.player
        if type(player) is not ValuePlayer or player.plies or player.net.kind != "odds":
            return None
        net_alone = ValuePlayer(player.net, settings=self.settings)
        points = np.array([1.0, 2, 3, -1, -2, -3])
        return lambda states: net_alone.probabilities(states) @ points

    def decided_by_table(self, boards: Boards) -> tuple[Integers, Integers]:
        """The pairs, by the other board and the one on roll, in which a value player decides by the tables of the bear-off."""
        home = ~boards.counts[:, 7:].any(axis=1) & (boards.counts[:, OFF] > 0) & (np.arange(len(boards.counts)) > 0)
        chosen = np.flatnonzero(home & bool(getattr(self.player, "bearoff", False)))
        other, own = np.meshgrid(chosen, chosen, indexing="ij")
        return other.ravel(), own.ravel()

    def check_deterministic(self) -> None:
        """Refuse a player that plays otherwise when it is asked again.

        Raises:
            SettingsError: it does.
        """
        rng = np.random.default_rng(0)
        m = len(self.boards.counts)
        found = [self.decisions(int(j)) for j in rng.integers(1, m, 8)]
        asked = Decisions(*(np.concatenate(fields) for fields in zip(*found, strict=True)))
        if len(asked.own) > _CHECKED:
            asked = asked.part(rng.choice(len(asked.own), _CHECKED, replace=False))
        if (self.choices(asked) != self.choices(asked)).any():
            msg = f"{self.name} draws its plays: give a deterministic player, or sampled=True for one draw of them"
            raise SettingsError(msg)

    def decisions(self, j: int) -> Decisions:
        """All decisions between two results or more against board `j`."""
        m = len(self.boards.counts)
        own, rolls = np.empty(m * len(ROLLS), np.int64), np.empty(m * len(ROLLS), np.int64)
        n = list_decisions(self.boards, self.plays, len(ROLLS), j, own, rolls)
        return Decisions(own[:n], np.full(n, j), rolls[:n])

    def everywhere(self, progress: Any = None) -> Choices:
        """The choices in all positions.

        Args:
            progress: called with the share that is done, 0 to 1, or None.
        """
        m = len(self.boards.counts)
        choices = np.zeros((m, m, len(ROLLS)), np.uint8)
        waiting: list[Decisions] = []
        for j in range(1, m):
            waiting.append(self.decisions(j))
            if sum(len(some.own) for some in waiting) < _ASKED and j < m - 1:
                continue
            asked = Decisions(*(np.concatenate(fields) for fields in zip(*waiting, strict=True)))
            choices[asked.other, asked.own, asked.rolls] = self.choices(asked)
            waiting = []
            if progress is not None:
                progress(j / (m - 1))
        return choices


def evaluated(sweeper: Sweeper, variant: Variant, evaluate: Callable[[States], Any], progress: Any) -> Floats:
    """The values of all pairs by a function of STATE records; see `Solution.greedy_policy`.

    Raises:
        SettingsError: it returned something else than a number for each state.
    """
    boards = sweeper.boards
    m = len(boards.counts)
    values = ended(boards, cube=False)
    template = rolled(variant, rolled=False)[:1]
    done = [0] * sweeper.threads

    def evaluate_part(thread: int, threads: int) -> None:
        for i in range(1 + thread, m, threads):
            others = np.flatnonzero((boards.held[i] & boards.turned == 0) & (np.arange(m) > 0))
            states = in_hand(template, boards, np.full(len(others), i), others, np.zeros(len(others), np.int64))
            found = np.asarray(evaluate(states))
            if found.shape != others.shape or found.dtype.kind not in "iuf" or not np.isfinite(found).all():
                msg = f"evaluate must return a finite number for each state, not {found.dtype} of shape {found.shape}"
                raise SettingsError(msg)
            values[i, others] = found
            done[thread] += 1
            if progress is not None and thread == 0:
                progress(min(1.0, sum(done) / (m - 1)))

    sweeper.parts(evaluate_part)
    if progress is not None:
        progress(1.0)
    return values
