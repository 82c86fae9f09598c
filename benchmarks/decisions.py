"""The reference decisions of `bg_env.measure_errors`: collected from play, and rolled out.

    python benchmarks/decisions.py collect runs/decisions --set standard
    python benchmarks/decisions.py roll runs/decisions --set standard --minutes 60
    python benchmarks/decisions.py pack runs/decisions bg_env/data/decisions/standard.npz --set standard

`collect` plays games between unlike players and draws decisions of each kind from them, in an order of which every beginning is
as well mixed. `roll` evaluates decisions, one after the other, until the time is over; run again, it continues. `pack` writes
those that are done; with `--old` it adds them to a set, whose own folder is not needed. For Hypergammon,
`roll --solution hypergammon.sol` takes the exact values of a file of `bg-env solve`.

A candidate's value is the mean of a net's values over all first rolls and all second ones, exactly, each played best, and what
these means change from roll to roll along games: at each position the mean of the net's values over all rolls, less its value
before. That is a luck-adjusted rollout truncated after `--rolls` rolls, summed in another order. All candidates of a decision
meet the same dice, and the first two rolls are spread evenly. Candidates beyond `--margin`, or too many, that no strong player
chooses have the mean after one roll, shifted by the mean difference of the rollouts of the same decision from it.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from bg_env import Settings, ValueNet, ValuePlayer
from bg_env._jit import kernel
from bg_env.evaluation.decisions import (
    ESTIMATED,
    EXACT,
    POSITION_KINDS,
    ROLLED_OUT,
    Decisions,
    decision_kinds,
    do_steps,
    position_kinds,
)
from bg_env.evaluation.luck import LuckMeter, _equity, _value_ahead, tools_of
from bg_env.exact import Solution
from bg_env.players import player, player_for
from bg_env.players.janowski import write_payoffs
from bg_env.players.protocol import ask
from bg_env.players.valuenet.evaluate import evaluate_as, evaluate_plays
from bg_env.players.valuenet.net import OUTCOMES
from bg_env.players.valuenet.search import best_name
from bg_env.rules import (
    DOUBLE,
    DROP,
    FIRST_NAMED,
    ROLL,
    STATE,
    TAKE,
    Phase,
    States,
    apply,
    apply_roll,
    episode_key,
    new_episode,
    settle,
)
from bg_env.rules.candidates import candidates

SETS = {
    "standard": Settings(cube=False),
    "standard-cube": Settings(),
    "hypergammon": Settings("hypergammon", cube=False),
}
_FIRST = np.int64(0)
Arrays = tuple[Any, ...]
Floats = npt.NDArray[np.float64]
ROLLS = [(a, b) for a in range(1, 7) for b in range(1, a + 1)]
WEIGHTS = np.array([1 if a == b else 2 for a, b in ROLLS]) / 36


@kernel
def _values(states: States, arrays: Arrays, out: Any) -> None:
    """The net's values, to seat 0, of states before a roll or after the game."""
    tools = tools_of(arrays)
    for k in range(states.shape[0]):
        tools.work[0] = states[k]
        if states[k]["winner"] >= 0:
            out[k] = states[k]["won"] if states[k]["winner"] == 0 else -states[k]["won"]
            continue
        turn = np.int64(states[k]["turn"])
        write_payoffs(tools.work, tools.rules, tools.evaluator.payoffs)
        evaluate_as(tools.work, _FIRST, turn, tools.evaluator, tools.scratch.layers)
        for o in range(OUTCOMES):
            tools.probabilities[0, o] = tools.scratch.layers.outputs[o]
        out[k] = _equity(tools, turn, False, states[k]["phase"] == Phase.ROLL_OR_DOUBLE)


@kernel
def _means(states: States, arrays: Arrays, out: Any) -> None:
    """The means of the values, to seat 0, over the rolls that are due; of a game that is over its result."""
    tools = tools_of(arrays)
    for k in range(states.shape[0]):
        tools.work[0] = states[k]
        if states[k]["winner"] >= 0:
            out[k] = states[k]["won"] if states[k]["winner"] == 0 else -states[k]["won"]
            continue
        write_payoffs(tools.work, tools.rules, tools.evaluator.payoffs)
        total = 0.0
        for a in range(1, 7):
            for b in range(1, a + 1):
                tools.scratch.step[0] = tools.work[0]
                apply_roll(tools.scratch.step, _FIRST, tools.evaluator.rules, a, b)
                total += (1.0 if a == b else 2.0) * _value_ahead(tools, np.int64(states[k]["turn"]))
        out[k] = total / 36


@kernel
def _play_on(states: States, dice: Any, arrays: Arrays) -> None:
    """Each state after its roll and the net's best play of it: before the next roll, or over."""
    tools = tools_of(arrays)
    work, scratch = tools.work, tools.scratch
    for k in range(states.shape[0]):
        if states[k]["winner"] >= 0:
            continue
        work[0] = states[k]
        apply_roll(work, _FIRST, tools.rules, dice[k, 0], dice[k, 1])
        while work[0]["phase"] == Phase.CHECKER or work[0]["phase"] == Phase.CHOOSE_DOUBLE:
            write_payoffs(work, tools.rules, tools.evaluator.payoffs)
            if work[0]["phase"] == Phase.CHECKER:
                best = evaluate_plays(work, _FIRST, tools.evaluator, _FIRST, scratch)[0]
                for m in range(4):
                    if scratch.plays.actions[best, m] >= 0:
                        apply(work, _FIRST, tools.rules, np.int64(scratch.plays.actions[best, m]))
            else:
                tools.turned[0] = work[0]
                name = best_name(tools.turned, _FIRST, tools.evaluator, _FIRST, scratch)[0]
                apply(work, _FIRST, tools.rules, FIRST_NAMED + name - 1)
        states[k] = work[0]


class Roller:
    """Rollouts by a value net under some settings."""

    def __init__(self, settings: Settings, rolls: int) -> None:
        self.settings, self.rolls = settings, rolls
        self.rules = settings.record()
        self.player: Any = player("td", settings)
        self.meter = LuckMeter(self.player, settings)
        self.arrays = self.meter.arrays

    def values(self, states: States) -> Floats:
        """The net's values to seat 0."""
        out = np.empty(len(states))
        _values(states, self.arrays, out)
        return out

    def means(self, states: States) -> Floats:
        """The means over rolls to seat 0."""
        out = np.empty(len(states))
        _means(states, self.arrays, out)
        return out

    def decide(self, states: States) -> States:
        """The states after the player's decisions about the cube."""
        states = states.copy()
        while True:
            waiting = np.flatnonzero((states["phase"] == Phase.ROLL_OR_DOUBLE) | (states["phase"] == Phase.TAKE_OR_DROP))
            if not len(waiting):
                return states
            part = states[waiting]
            chosen = self.player.choose(part, np.zeros(len(part), np.uint64))
            do_steps(part, self.rules, chosen.reshape(-1, 1))
            states[waiting] = part

    def play(self, states: States, dice: Any) -> States:
        """The states after these rolls."""
        states = states.copy()
        _play_on(states, np.ascontiguousarray(dice, np.int64), self.arrays)
        return states

    def one_roll(self, after: States) -> Floats:
        """The values after one roll, exactly over all rolls, to seat 0."""
        return self.means(self.decide(after))

    def rollout(self, after: States, seed: int, error: float, most: int, stakes: float = 1.0) -> tuple[Floats, Floats, Any]:
        """Values to seat 0 of states after candidates, and their standard errors.

        Args:
            after: STATE (c,).
            seed: of the dice, the same for all.
            error: the standard error from which on a value is good enough.
            most: trials of each at most, a multiple of 36.
            stakes: points of a single game.
        """
        rng = np.random.default_rng(seed)
        c, r = len(after), len(ROLLS)
        start = self.decide(after)
        base = self.means(start)
        over = start["winner"] >= 0
        second = self.play(np.repeat(start, r), np.tile(ROLLS, (c, 1)))  # before the second roll
        decided = self.decide(second)
        known = (self.means(decided) - self.values(second)).reshape(c, r) @ WEIGHTS
        first = np.repeat(np.arange(r), np.where([a == b for a, b in ROLLS], 1, 2))  # 36 first rolls
        games: list[list[float]] = [[] for _ in range(c)]
        done = over.copy()
        while not done.all():
            # 36 games more: the second rolls are as well spread over all 36.
            dice = rng.integers(1, 7, (self.rolls - 2, 36, 2))
            dice[0] = [(1 + k // 6, 1 + k % 6) for k in rng.permutation(36)]
            going = np.flatnonzero(~done)
            total = self._followed(decided.reshape(c, r)[going][:, first].ravel(), np.tile(dice, (1, len(going), 1)))
            for k, found in zip(going.tolist(), total.reshape(len(going), 36), strict=True):
                games[k] += found.tolist()
                n = len(games[k])
                done[k] = n >= most or (n >= 72 and np.std(games[k], ddof=1) / np.sqrt(n) / stakes < error)
        means = np.array([np.mean(one) if one else 0.0 for one in games])
        errors = np.array([np.std(one, ddof=1) / np.sqrt(len(one)) if one else 0.0 for one in games])
        return np.where(over, base, base + known + means), errors, np.array([len(one) for one in games])

    def _followed(self, now: States, dice: Any) -> Floats:
        """The changes of the net's values along games from before the second roll on: one for each game."""
        total = np.zeros(len(now))
        for roll in dice:
            now = self.play(now, roll)
            before = self.values(now)
            now = self.decide(now)
            live = np.flatnonzero(now["winner"] < 0)
            ahead = self._ended(now)  # a drop ends a game, too
            ahead[live] = self.means(now[live])
            total += ahead - before
        return total

    def _ended(self, states: States) -> Floats:
        won = states["won"].astype(float)
        return np.where(states["winner"] == 0, won, -won)


class Careless:
    """A player that makes a share of its plays at random."""

    def __init__(self, name: str, share: float, asked: str = "td") -> None:
        self.name, self.share, self.asked = name, share, asked
        self.players: Any = ()
        self.rng: Any = None

    def bind(self, settings: Settings) -> Careless:
        """The player under these settings."""
        bound = Careless(self.name, self.share, self.asked)
        bound.players = (player(self.asked, settings), player("random", settings))
        bound.rng = np.random.default_rng(1)
        return bound

    def choose(self, states: States, words: Any) -> Any:
        """One action for each state."""
        good = self.players[0].choose(states, words)
        poor = self.players[1].choose(states, words)
        return np.where((self.rng.random(len(states)) < self.share) & (states["phase"] == Phase.CHECKER), poor, good)


def _perturbed(name: str, noise: float, seed: int) -> ValuePlayer:
    """A player by td's net with noise on its weights: weak in a way of its own."""
    rng = np.random.default_rng(seed)
    shipped: Any = player("td", SETS["standard"])
    net = shipped.net
    weights = [w * (1 + noise * rng.standard_normal(w.shape)).astype(w.dtype) for w in net.weights]
    return ValuePlayer(ValueNet(*weights, about=dict(net.about)), name=name)


def _pairs(settings: Settings, ppo: str | None) -> list[tuple[Any, Any]]:
    weak, weaker = _perturbed("td, weights with noise", 0.5, 1), _perturbed("td, weights with much noise", 1.0, 2)
    careless = Careless("td, every fifth step at random", 0.2)
    found = [
        ("td", "td"),
        ("td", "pubeval"),
        ("pubeval", "pubeval"),
        ("random", "pubeval"),
        ("td", careless),
        (careless, weak),
        (weaker, weak),
        (weaker, "td"),
    ]
    if settings.variant.checkers == 15:
        found += [("gnubg", "td"), ("gnubg", "pubeval")]
    if ppo:
        found += [(ppo, "td"), (ppo, ppo)]
    return [(player_for(one, settings), player_for(other, settings)) for one, other in found]


def _played(settings: Settings, pair: tuple[Any, Any], games: int, seed: int) -> tuple[Any, Any]:
    """The decisions with a choice in games of a pair: states and names of the deciders."""
    rules = settings.record()
    states = np.zeros(games, STATE)
    for i in range(games):
        new_episode(states, i, rules, np.uint64(episode_key(np.uint64(seed), np.uint64(i))))
        settle(states, i, rules)
    rng = np.random.default_rng(seed)
    kept: list[States] = []
    names: list[str] = []
    while (states["phase"] != Phase.OVER).any():
        for seat in (0, 1):
            who = np.flatnonzero(states["decider"] == seat)
            if not len(who):
                continue
            part = states[who]
            # a roll partly played is none of the decisions
            whole = (part["phase"] != Phase.CHECKER) | (
                part["left"].sum(axis=1) == np.where(part["dice"][:, 0] == part["dice"][:, 1], 4, 2)
            )
            kept.append(part[whole])
            asked = pair[seat]
            names += [str(asked.name)] * int(whole.sum())
            chosen = ask(asked, part.copy(), rng.integers(0, 2**64, len(part), np.uint64, endpoint=False))
            steps = np.full((len(part), 4), -1)
            steps[chosen.moving] = chosen.plays
            steps[chosen.acting, 0] = chosen.actions
            do_steps(part, rules, steps)
            for i in range(len(part)):
                settle(part, i, rules)
            states[who] = part
    found, deciders = np.concatenate(kept), np.array(names)
    counts = np.diff(candidates(found, rules)[0])
    return found[counts > 1], deciders[counts > 1]


QUOTAS = {
    "opening": 3,
    "contact": 5,
    "prime": 3,
    "back game": 3,
    "bear-off against contact": 2,
    "race": 2,
    "bear-off": 1,
}


def _arranged(kinds: Any, seed: int) -> Any:
    """An order in which the kinds take turns by their quotas, so that any beginning of it is as well mixed."""
    rng = np.random.default_rng(seed)
    place = np.empty(len(kinds))
    for kind, name in enumerate(POSITION_KINDS):
        which = rng.permutation(np.flatnonzero(kinds == kind))
        place[which] = (np.arange(len(which)) + rng.random()) / QUOTAS[name]
    return np.argsort(place, kind="stable")


def _blank(states: States) -> States:
    """The states without a random stream and counters."""
    clean = np.zeros(len(states), STATE)
    for name in STATE.names or ():
        if name not in ("key", "rolls", "choices", "turns", "games", "filler", "ending", "won", "level", "was_crawford"):
            clean[name] = states[name]
    clean["winner"] = -1
    return clean


@click.group(help=__doc__)
def main() -> None:
    """The commands."""


_set = click.option("--set", "name", type=click.Choice(list(SETS)), default="standard", show_default=True)


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@_set
@click.option("--number", default=2000, show_default=True, help="Decisions at most.")
@click.option("--games", default=12, show_default=True, help="Games of each pair.")
@click.option("--seed", default=1, show_default=True)
@click.option("--ppo", help="A player more: sb3:PATH.")
def collect(folder: Path, name: str, number: int, games: int, seed: int, ppo: str | None) -> None:
    """Draw decisions from games."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = SETS[name]
    parts = [_played(settings, pair, games, seed + k) for k, pair in enumerate(_pairs(settings, ppo))]
    states = _blank(np.concatenate([part[0] for part in parts]))
    names = np.concatenate([part[1] for part in parts])
    _, first = np.unique(
        np.stack([one.tobytes() for one in states.view(np.dtype((np.void, STATE.itemsize)))]), return_index=True
    )
    states, names = states[first], names[first]
    if settings.cube:
        near = _cube_decisions(settings, states, seed)
        states, names = states[near], names[near]
    order = _arranged(position_kinds(states, settings), seed)[:number]
    states, names = states[order], names[order]
    offsets, actions, _ = candidates(states, settings.record())
    np.savez_compressed(
        folder / f"{name}-pool.npz", states=states, sources=names, offsets=offsets, actions=actions.astype(np.int64)
    )
    kinds = np.bincount(position_kinds(states, settings), minlength=len(POSITION_KINDS))
    print(len(states), dict(zip(POSITION_KINDS, kinds.tolist(), strict=True)), np.bincount(decision_kinds(states)).tolist())
    print({str(one): int((names == one).sum()) for one in np.unique(names)})


def _cube_decisions(settings: Settings, states: States, seed: int) -> Any:
    """Half the cube decisions, those near a change of the action first, and as many checker plays: their indices."""
    rng = np.random.default_rng(seed)
    roller = Roller(settings, 2)
    phase = states["phase"]
    may = np.flatnonzero(phase == Phase.ROLL_OR_DOUBLE)
    rolled, taken = states[may], states[may]
    do_steps(rolled, roller.rules, np.full((len(may), 1), ROLL))
    do_steps(taken, roller.rules, np.tile([DOUBLE, TAKE], (len(may), 1)))
    sign = np.where(states[may]["turn"] == 0, 1.0, -1.0)
    stake = 2.0 ** states[may]["cube"]
    stands, doubled = sign * roller.values(rolled) / stake, sign * roller.values(taken) / stake
    gap = np.minimum(np.abs(np.minimum(doubled, 1) - stands), np.abs(doubled - 1))
    close = may[gap < 0.15]
    takes = np.flatnonzero(phase == Phase.TAKE_OR_DROP)
    others = rng.choice(
        np.flatnonzero(phase == Phase.CHECKER), min(len(close) + len(takes), (phase == Phase.CHECKER).sum()), replace=False
    )
    return np.sort(np.concatenate([close, takes, others]))


def _within(values: Any, choices: set[int], margin: float, most: int) -> list[int]:
    """The candidates to roll out: the best by their values, and those that players choose."""
    order = np.argsort(-values, kind="stable")
    best = [int(k) for k in order[:most] if values[order[0]] - values[k] <= margin]
    return sorted({*best, *choices})


def _choices(settings: Settings, states: States, offsets: Any, actions: Any) -> list[set[int]]:
    """The candidates that players choose in each checker play."""
    rules = settings.record()
    found: list[set[int]] = [set() for _ in states]
    moving = np.flatnonzero(states["phase"] == Phase.CHECKER)
    owners = np.repeat(np.arange(len(states)), np.diff(offsets))
    after = states[owners]
    do_steps(after, rules, actions)
    for name in ("td", "gnubg"):
        if name == "gnubg" and settings.variant.checkers != 15:
            continue
        asked = player_for(name, settings)
        plays = ask(asked, states[moving].copy(), np.zeros(len(moving), np.uint64)).plays
        results = states[moving]
        do_steps(results, rules, plays)
        for k, i in enumerate(moving.tolist()):
            lo, hi = offsets[i], offsets[i + 1]
            same = (after["points"][lo:hi] == results["points"][k]).all(axis=(1, 2))
            found[i].add(int(np.argmax(same)))
    return found


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@_set
@click.option("--minutes", default=10.0, show_default=True)
@click.option("--rolls", default=8, show_default=True, help="Rolls after which games are truncated.")
@click.option("--error", default=0.006, show_default=True, help="Standard error from which on a value is good enough.")
@click.option("--most", default=1296, show_default=True, help="Trials at most.")
@click.option("--margin", default=0.06, show_default=True, help="How far below the best after one roll.")
@click.option("--candidates", "number", default=4, show_default=True, help="Candidates within the margin at most.")
@click.option("--solution", type=click.Path(path_type=Path), help="Instead of rollouts: a file of bg-env solve.")
def roll(
    folder: Path,
    name: str,
    minutes: float,
    rolls: int,
    error: float,
    most: int,
    margin: float,
    number: int,
    solution: Path | None,
) -> None:
    """Evaluate the candidates of decisions."""
    settings = SETS[name]
    with np.load(folder / f"{name}-pool.npz") as pool:
        states, offsets, actions = (pool[key] for key in ("states", "offsets", "actions"))
    states = states.view(STATE)  # a file does not keep that a dtype is aligned
    done = folder / f"{name}-done.npz"
    m = offsets[-1]
    arrays = {
        "values": np.full(m, np.nan),
        "errors": np.full(m, np.nan),
        "methods": np.full(m, -1),
        "trials": np.zeros(m, np.int64),
    }
    if done.is_file():
        with np.load(done) as file:
            for key, array in arrays.items():  # a larger pool begins with the same decisions
                array[: len(file[key])] = file[key]
    end = time.monotonic() + 60 * minutes
    if solution is not None:
        _solve(Solution.load(solution), settings, states, offsets, actions, arrays)
        _keep(done, arrays)
        return
    roller = Roller(settings, rolls)
    kept = time.monotonic()
    for lo in range(0, len(states), 50):
        block = range(lo, min(lo + 50, len(states)))
        if all(arrays["methods"][offsets[i]] >= 0 for i in block):
            continue
        chosen = _choices(
            settings, states[lo : lo + 50], offsets[lo : lo + 51] - offsets[lo], actions[offsets[lo] : offsets[block[-1] + 1]]
        )
        for i in block:
            if arrays["methods"][offsets[i]] >= 0:
                continue
            where = slice(offsets[i], offsets[i + 1])
            seed = i
            found = _evaluated(roller, states[i : i + 1], actions[where], chosen[i - lo], (seed, error, most, margin, number))
            for key, value in zip(arrays, found, strict=True):
                arrays[key][where] = value
            if time.monotonic() > kept + 30 or time.monotonic() > end:
                _keep(done, arrays)
                kept = time.monotonic()
                print(i + 1, "decisions,", round(time.process_time()), "s of CPU", flush=True)
            if time.monotonic() > end:
                return
    _keep(done, arrays)


def _keep(path: Path, arrays: dict[str, Any]) -> None:
    part = path.with_suffix(".part.npz")
    np.savez_compressed(part, **arrays)
    part.replace(path)


def _evaluated(roller: Roller, state: States, actions: Any, chosen: set[int], options: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values, standard errors, methods and trials of the candidates of a decision, to the player who decides."""
    seed, error, most, margin, number = options
    c = len(actions)
    sign = 1.0 if state[0]["decider"] == 0 else -1.0
    stake = 2.0 ** int(state[0]["cube"])
    if state[0]["phase"] != Phase.CHECKER:
        return _cube(roller, state, actions, sign, stake, options)
    after = np.repeat(state, c)
    do_steps(after, roller.rules, actions)
    base = sign * roller.one_roll(after) / stake
    rolled = _within(base, chosen, margin, number)
    values, errors, trials = roller.rollout(after[rolled], seed, error, most, stake)
    methods = np.where(after["winner"] >= 0, EXACT, ESTIMATED)
    out, shown, counts = base.copy(), np.full(c, np.nan), np.zeros(c, np.int64)
    out[rolled], shown[rolled], counts[rolled] = sign * values / stake, errors / stake, trials
    methods[rolled] = np.where(after["winner"][rolled] >= 0, EXACT, ROLLED_OUT)
    rest = methods == ESTIMATED
    part = np.array(rolled)[methods[rolled] == ROLLED_OUT]
    if len(part):
        out[rest] += (out[part] - base[part]).mean()
    return out, shown, methods, counts


def _cube(roller: Roller, state: States, actions: Any, sign: float, stake: float, options: tuple[Any, ...]) -> tuple[Any, ...]:
    """As `_evaluated`, of a decision about the cube: a double has the value of the better answer to it."""
    seed, error, most, _, _ = options
    answered = state[0]["phase"] == Phase.TAKE_OR_DROP
    after = np.repeat(state, 2)
    paths = [[TAKE, -1], [DROP, -1]] if answered else [[ROLL, -1], [DOUBLE, TAKE]]
    do_steps(after, roller.rules, np.array(paths))
    part = after[:1] if answered else after
    values, errors, trials = roller.rollout(part, seed, error, most, stake)
    values, errors = sign * values / stake, errors / stake
    if answered:
        found = {TAKE: (values[0], errors[0], ROLLED_OUT, trials[0]), DROP: (-1.0, 0.0, EXACT, 0)}
    else:
        dropped = values[1] >= 1
        found = {ROLL: (values[0], errors[0], ROLLED_OUT, trials[0])}
        found[DOUBLE] = (1.0, errors[1], EXACT, trials[1]) if dropped else (values[1], errors[1], ROLLED_OUT, trials[1])
    return tuple(np.array(column) for column in zip(*(found[int(a)] for a in actions[:, 0]), strict=True))


def _solve(solution: Solution, settings: Settings, states: States, offsets: Any, actions: Any, arrays: dict[str, Any]) -> None:
    """Exact values of all candidates."""
    owners = np.repeat(np.arange(len(states)), np.diff(offsets))
    after = states[owners]
    do_steps(after, settings.record(), actions)
    over = after["winner"] >= 0
    decider = states["decider"][owners]
    values = np.where(after["winner"] == decider, 1.0, -1.0) * after["won"]
    values[~over] = solution.value(after[~over], settings) * np.where(after["turn"][~over] == decider[~over], 1, -1)
    arrays["values"][:], arrays["errors"][:], arrays["methods"][:] = values, 0, EXACT


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@_set
@click.option("--solved", is_flag=True, help="The values are those of a solution.")
@click.option("--old", type=click.Path(path_type=Path), help="A set whose decisions come first; it may be the one to write.")
def pack(folder: Path, out: Path, name: str, solved: bool, old: Path | None) -> None:
    """Write the decisions that are done as a set, after those of an older one."""
    settings = SETS[name]
    with np.load(folder / f"{name}-pool.npz") as pool, np.load(folder / f"{name}-done.npz") as file:
        states, sources, offsets, actions = (pool[key] for key in ("states", "sources", "offsets", "actions"))
        states = states.view(STATE)
        values, errors, methods, trials = (file[key] for key in ("values", "errors", "methods", "trials"))
    ready = np.flatnonzero(methods[offsets[:-1]] >= 0)
    where = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in ready])
    counts = np.diff(offsets)[ready]
    evaluator = "exact values" if solved else "rollouts by td"
    made = Decisions(
        settings=settings,
        states=states[ready],
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        actions=actions[where],
        values=values[where],
        errors=errors[where],
        methods=methods[where],
        sources=sources[ready].astype(str),
        about={"name": name, "evaluator": evaluator, "trials": int(trials[where].sum())},
    )
    if old is not None:
        made = _joined(Decisions.load(old), made)
    out.parent.mkdir(parents=True, exist_ok=True)
    made.save(out)
    kinds = np.bincount(position_kinds(made.states, settings), minlength=len(POSITION_KINDS))
    print(f"{len(made.states)} decisions, {len(made.values)} candidates, {(made.methods == ROLLED_OUT).sum()} rolled out")
    print(json.dumps(dict(zip(POSITION_KINDS, kinds.tolist(), strict=True))))


def _joined(old: Decisions, new: Decisions) -> Decisions:
    """The decisions of both sets, those of the second one that the first has not."""
    known = {state.tobytes() for state in old.states}
    fresh = np.array([state.tobytes() not in known for state in new.states])
    kept = fresh[new.owners]
    counts = np.concatenate([np.diff(old.offsets), np.diff(new.offsets)[fresh]])
    more = {
        name: np.concatenate([getattr(old, name), getattr(new, name)[kept]])
        for name in ("actions", "values", "errors", "methods")
    }
    return Decisions(
        settings=old.settings,
        states=np.concatenate([old.states, new.states[fresh]]),
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        sources=np.concatenate([old.sources, new.sources[fresh]]),
        about={**new.about, "trials": int(old.about.get("trials", 0)) + int(new.about.get("trials", 0))},
        **more,
    )


if __name__ == "__main__":
    main()
