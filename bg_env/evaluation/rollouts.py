"""Rollouts: the equity of a game, or of the candidates of a decision, by playing on from it many times.

    bg_env.rollout(game, "td", games=1296, truncate=10, num_threads=2)     one game as it stands
    bg_env.rollout(game, "td", plays=["8/5 6/5", "24/23 13/10"])           candidates of its decision, on the same dice
    rollout_states(states, settings, "td", standard_error=0.006)           arrays of states, for sets of positions

The first two rolls are stratified, the luck of each roll is subtracted (`bg_env.evaluation.luck`), and games end where the
exact bear-off table covers the board: see `bg_env.evaluation.trials`. The same seed gives the same figures with any number of
threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env.actions import action_text, parse_action
from bg_env.errors import IllegalActionError, SettingsError, quoted
from bg_env.evaluation.rollout_work import Options, Progress, Row, Work, without_limit
from bg_env.game_view import GameView
from bg_env.notation.moves import find_play, format_actions
from bg_env.position import Play
from bg_env.rules import Phase, Settings, States
from bg_env.rules.candidates import candidates
from bg_env.rules.sound import check_sound

__all__ = ["RolledCandidate", "Rollout", "StateRollouts", "rollout", "rollout_states"]

_AT_ONCE: Final = 32
"""States that are rolled out side by side, at most."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RolledCandidate:
    """One candidate of a rollout; or the game as it stands, if no candidates were asked for.

    Equities and probabilities are those of `Rollout.player`.

    Attributes:
        text: the play or action as text; "" for the game as it stands.
        play: the play; None for an action, and for the game as it stands.
        equity: a single game won now at the cube of the moment is 1, one lost is -1.
        standard_error: of `equity`; 0 if it is exact.
        loss: equity of the best candidate less this one's, at least 0.
        loss_error: standard error of `loss`, far smaller than those of the equities, because the dice are the same; 0 of the
            best one.
        plain: the equity with the luck of the rolls in it.
        plain_error: its standard error.
        probabilities: of winning, winning at least a gammon, winning a backgammon, and the same of losing. A drop ends a game
            as a single one.
        probability_errors: their standard errors.
        games: number of trials.
        exact: whether no dice were rolled, because a table or the end of the game gave the value.
    """

    text: str
    play: Play | None
    equity: float
    standard_error: float
    loss: float
    loss_error: float
    plain: float
    plain_error: float
    probabilities: tuple[float, ...]
    probability_errors: tuple[float, ...]
    games: int
    exact: bool

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and text, for JSON."""
        names = ("text", "equity", "standard_error", "loss", "loss_error", "plain", "plain_error", "games", "exact")
        found = {name: getattr(self, name) for name in names}
        return found | {name: list(getattr(self, name)) for name in ("probabilities", "probability_errors")}


@dataclass(frozen=True)
class Rollout:
    """A rollout.

    Attributes:
        player: 0 or 1: who decides; where dice are due who is on roll; player 0 before the opening throw and after the end.
        by: name of the player that plays both sides.
        evaluator: name of the player whose net measured the luck; None where it was not measured.
        settings: the settings in force.
        truncate: rolls after which trials were cut short; None for none.
        seed: of the dice.
        candidates: what was rolled out, the best first; at least one.
        complete: as of `StateRollouts`.
        scale: the chances of `player` to win the match if it wins, and if it loses, a single game now at the cube of the
            moment; None in money play, and where the match equity table does not cover the score.
    """

    player: int
    by: str
    evaluator: str | None
    settings: Settings
    truncate: int | None
    seed: int
    candidates: tuple[RolledCandidate, ...]
    complete: bool
    scale: tuple[float, float] | None = field(default=None)

    @property
    def best(self) -> RolledCandidate:
        """The candidate with the highest equity."""
        return self.candidates[0]

    @property
    def equity(self) -> float:
        """The equity of the best candidate, or of the game as it stands."""
        return self.best.equity

    @property
    def standard_error(self) -> float:
        """The standard error of `equity`."""
        return self.best.standard_error

    @property
    def probabilities(self) -> tuple[float, ...]:
        """The probabilities of the best candidate."""
        return self.best.probabilities

    @property
    def probability_errors(self) -> tuple[float, ...]:
        """Their standard errors."""
        return self.best.probability_errors

    @property
    def games(self) -> int:
        """The number of trials of each candidate."""
        return self.best.games

    def match_chance(self, candidate: RolledCandidate | None = None) -> float | None:
        """The chance to win the match that belongs to the equity of a candidate, None for the best; None without `scale`."""
        if self.scale is None:
            return None
        won, lost = self.scale
        return (won + lost + (candidate or self.best).equity * (won - lost)) / 2

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and text, for JSON."""
        names = ("player", "by", "evaluator", "truncate", "seed", "complete")
        rows = [one.to_dict() | {"match_chance": self.match_chance(one)} for one in self.candidates]
        return {name: getattr(self, name) for name in names} | {"settings": str(self.settings), "candidates": rows}

    def text(self) -> str:
        """A table: each candidate with its equity, 95 % interval, loss and probabilities in per cent."""
        width = max(len(one.text) for one in self.candidates)
        lines = [self._title(), f"{'':{width}}   equity           loss             win    g   bg   lose    g   bg"]
        for one in self.candidates:
            value = f"{one.equity:+.4f} " + ("exact   " if one.exact else f"+-{1.96 * one.standard_error:.4f}")
            loss = f"{one.loss:.4f} +-{1.96 * one.loss_error:.4f}" if one is not self.best else " " * 16
            won, lost = one.probabilities[:3], one.probabilities[3:]
            shares = "  ".join(f"{100 * x[0]:5.1f} {100 * x[1]:4.1f} {100 * x[2]:4.1f}" for x in (won, lost))
            lines.append(f"{one.text:{width}}  {value}  {loss} {shares}".rstrip())
        return "\n".join(lines)

    def _title(self) -> str:
        if self.best.exact:
            return f"Exact equities, to player {self.player}:"
        cut = "to the end of the game" if self.truncate is None else f"{self.truncate} rolls deep"
        luck = "the luck of the dice in it" if self.evaluator is None else f"less luck as {self.evaluator} sees it"
        return f"Rollout by {self.by}, {self.games:,} trials {cut}, {luck}; equities to player {self.player}, 95 % intervals:"


def rollout(
    game: GameView,
    player: Any = "td",
    games: int = 1296,
    *,
    plays: Sequence[Play | str] | None = None,
    truncate: int | None = None,
    luck: Any = True,
    standard_error: float | None = None,
    seed: int = 1,
    num_threads: int = 1,
    progress: Progress | None = None,
) -> Rollout:
    """Play a game on many times, from where it stands or from each of several candidates of its decision.

    The cube is used where the settings of the game have one, by the player's own decisions. In a match the game is played, and
    its value is the chance to win the match by the match equity table. The game's own dice to come are not looked at, and its
    limit of turns (R11.1) is not counted.

    Args:
        game: the game; it does not change.
        player: who plays both sides, anything that `bg_env.players.player_for` takes.
        games: trials of each candidate, 1 to 10,000,000; multiples of 36 are stratified in the first two rolls, best in those
            of 1,296.
        plays: candidates: plays, or actions ("double", "roll", "take", "drop", "beaver", "3-3"), as of `Game.play`; each must
            finish the decision. None: the game as it stands is rolled out.
        truncate: a trial is cut short before a roll, once at least so many rolls have been made, and takes the value that the
            player's net gives it (without one, that of `luck`, or td's). None: to the end of the game.
        luck: whether to subtract the luck of the rolls, as the player's net sees it (without one, td's); or another player with
            a value net, or its name. Where that net sees the player's game badly, `plain_error` is below `standard_error`.
        standard_error: the trials end when the standard errors of all equities are at most this, looked at every 36 trials or
            more; None: all `games` are played.
        seed: of the dice, 0 to 2**63 - 1.
        num_threads: threads that work; the figures do not depend on it.
        progress: called from time to time with the number of trials done since the last call, of `games` for each candidate.

    Returns:
        The rollout. After Ctrl-C it has the trials that were finished, and its `complete` is False.

    Raises:
        SettingsError: an option or a player is refused.
        NotationError: a candidate is no play or action.
        IllegalActionError: a candidate is not legal, or the player chose something that is not.
        KeyboardInterrupt: before any trials were finished.
    """
    if not isinstance(game, GameView):
        msg = f"a rollout begins with a bg_env.Game, not with {quoted(game)}"
        raise SettingsError(msg)
    starts, texts, found = _candidates(game, plays)
    before, settings = game.states, game.settings
    if game.phase != Phase.OVER:
        before["winner"] = -1  # of an earlier game of the match
    options = Options(games, truncate, luck, standard_error, seed, num_threads, progress)
    work = Work(settings, player, options)
    seat = _seat(before)
    rows, complete = work.results(before, None) if plays is None else work.results(starts, before)
    sign = 1 if seat == 0 else -1
    values = [sign * row.values for row in rows]
    means = [float(x.mean()) for x in values]
    order = sorted(range(len(rows)), key=lambda k: -means[k])
    ranked = tuple(_candidate(rows[k], texts[k], found[k], sign, rows[order[0]], rows[k] is rows[order[0]]) for k in order)
    scale = work.match_scale(before, seat)
    return Rollout(seat, work.name, work.luck_name, settings, work.truncate, work.seed, ranked, complete, scale)


class StateRollouts(NamedTuple):
    """The rollouts of n states.

    Attributes:
        equities: float64 (n,), to seat 0, less luck where it was measured. A single game won now at the cube of the state is 1
            and one lost -1, so that equities of money play are points in units of the cube.
        errors: float64 (n,), their standard errors; 0 where the equity is exact.
        plain: float64 (n,), the equities with the luck of the rolls in them.
        plain_errors: float64 (n,).
        probabilities: float64 (n, 6), that seat 0 wins, wins at least a gammon, wins a backgammon, and the same of losing.
        probability_errors: float64 (n, 6).
        games: int64 (n,), trials of each.
        exact: bool (n,), whether no dice were rolled because a table or the end of the game gave the value.
        complete: whether all games were played, or as many as the wanted standard error takes; after Ctrl-C False.
    """

    equities: Floats
    errors: Floats
    plain: Floats
    plain_errors: Floats
    probabilities: Floats
    probability_errors: Floats
    games: npt.NDArray[np.int64]
    exact: npt.NDArray[np.bool_]
    complete: bool


def rollout_states(
    states: States,
    settings: Settings,
    player: Any = "td",
    games: int = 1296,
    *,
    truncate: int | None = None,
    luck: Any = True,
    standard_error: float | None = None,
    seed: int = 1,
    num_threads: int = 1,
    progress: Progress | None = None,
) -> StateRollouts:
    """Roll out states, each on the same dice; with a wanted standard error each has as many trials as that takes.

    Args:
        states: STATE records (n,) in any phase, such as those after the candidates of decisions
            (`bg_env.rules.candidates.candidates`); one with a `winner` counts as the end of that game, also in a match.
        settings: the settings in force.
        player: as of `rollout`.
        games: trials of each state, at most.
        truncate: as of `rollout`.
        luck: as of `rollout`.
        standard_error: as of `rollout`, of each state by itself.
        seed: as of `rollout`.
        num_threads: as of `rollout`.
        progress: as of `rollout`.

    Raises:
        SettingsError: an option or a player is refused.
        PositionError: a state has a field that the rules never give it.
        KeyboardInterrupt: before any state was finished. After that, Ctrl-C gives the states that were begun; others have 0
            games, and NaN.
    """
    work = Work(settings, player, Options(games, truncate, luck, standard_error, seed, num_threads, progress))
    check_sound(states, settings.record())
    n = len(states)
    equities, errors, plain, plain_errors = (np.full(n, math.nan) for _ in range(4))
    shares, share_errors = np.full((n, 6), math.nan), np.full((n, 6), math.nan)
    counts, known = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    found = StateRollouts(equities, errors, plain, plain_errors, shares, share_errors, counts, known, complete=True)
    for lo in range(0, n, _AT_ONCE):
        part = states[lo : lo + _AT_ONCE]
        try:
            rows, complete = work.results(part)
        except KeyboardInterrupt:
            if lo == 0:
                raise
            return found._replace(complete=False)
        for k, row in enumerate(rows, lo):
            found.equities[k], found.errors[k] = row.mean(row.values)
            found.plain[k], found.plain_errors[k] = row.mean(row.plain)
            found.probabilities[k], found.probability_errors[k] = row.probabilities()
            found.games[k], found.exact[k] = len(row.values), row.exact
        if not complete:
            return found._replace(complete=False)
    return found


def _seat(states: States) -> int:
    """The player to whom equities are: who decides, else who is on roll, else player 0."""
    state = states[0]
    if state["phase"] == Phase.OVER:
        return 0
    return int(state["decider"]) if state["decider"] >= 0 else max(int(state["turn"]), 0)


def _candidates(game: GameView, plays: Sequence[Play | str] | None) -> tuple[States, list[str], list[Play | None]]:
    """The states to roll out, their texts and plays.

    Raises:
        SettingsError: no candidates are given, or something else than a sequence of them.
        IllegalActionError: a candidate is not legal, is a part of a roll, or nobody decides.
    """
    states = game.states
    if plays is None:
        return states, [""], [None]
    if isinstance(plays, str) or not isinstance(plays, Sequence) or not plays:
        msg = f"plays are a list of one or more candidates, such as ['8/5 6/5', '24/23 13/10'], not {quoted(plays)}"
        raise SettingsError(msg)
    if states[0]["decider"] < 0:
        msg = f"there are no candidates to roll out: nobody decides in phase {game.phase}"
        raise IllegalActionError(msg)
    rules = without_limit(game.settings).record()
    _, actions, after = candidates(states, rules)
    keys = [tuple(int(a) for a in row if a >= 0) for row in actions]
    if game.phase != Phase.CHECKER:
        wanted = [parse_action(str(one), states, 0) for one in plays]
        found = [next((k for k, key in enumerate(keys) if key == (number,)), -1) for number in wanted]
        if -1 in found:
            msg = f"{quoted(str(plays[found.index(-1)]))} is not a candidate here: {', '.join(action_text(k[0]) for k in keys)}"
            raise IllegalActionError(msg)
        return after[found], [action_text(number) for number in wanted], [None] * len(found)
    legal = game.legal_plays()
    chosen = [_place_of(one, game, legal, keys) for one in plays]
    return after[chosen], [format_actions(keys[k], states, 0) for k in chosen], [legal[k] for k in chosen]


def _place_of(one: Play | str, game: GameView, legal: Sequence[Play], keys: list[tuple[int, ...]]) -> int:
    """The place of a play among the legal ones."""
    if isinstance(one, Play):
        if one in legal:
            return legal.index(one)
        same = [k for k, other in enumerate(legal) if other.result == one.result]
        if same:
            return same[0]
        msg = f"{quoted(str(one))} is not a play of this roll: take some of legal_plays()"
        raise IllegalActionError(msg)
    numbers = tuple(find_play(one, game.states, 0, game.settings.record(), whole=True))
    return keys.index(numbers)


def _candidate(row: Row, text: str, play: Play | None, sign: int, best: Row, first: bool) -> RolledCandidate:
    """The figures of a candidate, to the player that they are for."""
    equity, error = row.mean(row.values)
    plain, plain_error = row.mean(row.plain)
    shares, share_errors = row.probabilities(0 if sign > 0 else 1)
    top = best.mean(best.values)[0]
    loss_error = 0.0
    if not first:
        one, other = best.values, row.values
        if len(one) != len(other):  # one of them is exact
            loss_error = max(error, best.mean(best.values)[1])
        else:
            loss_error = Row(one, other, row.shares, row.strata, row.exact and best.exact).mean(one - other)[1]
    return RolledCandidate(
        text=text,
        play=play,
        equity=sign * equity,
        standard_error=error,
        loss=sign * (top - equity),
        loss_error=loss_error,
        plain=sign * plain,
        plain_error=plain_error,
        probabilities=tuple(shares.tolist()),
        probability_errors=tuple(share_errors.tolist()),
        games=len(row.values),
        exact=row.exact,
    )
