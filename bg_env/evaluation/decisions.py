"""Reference decisions: positions, all that can be chosen in them, and the value of each choice."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.errors import BgEnvError, SettingsError, printable, quoted
from bg_env.files import checked_path, read_arrays, replacing
from bg_env.rules import BAR, STATE, Phase, Rules, Settings, States, apply, is_legal, legal_sets
from bg_env.rules.sound import check_sound

__all__ = [
    "DECISION_KINDS",
    "ESTIMATED",
    "EXACT",
    "POSITION_KINDS",
    "ROLLED_OUT",
    "STANDARD",
    "Decisions",
    "decision_kinds",
    "do_steps",
    "position_kinds",
    "reference_decisions",
]

POSITION_KINDS: Final = ("opening", "contact", "prime", "back game", "bear-off against contact", "race", "bear-off")
"""Kinds of positions, see `position_kinds`."""
DECISION_KINDS: Final = ("checker play", "double", "take", "named double")
"""Kinds of decisions, by the phase: CHECKER, ROLL_OR_DOUBLE, TAKE_OR_DROP, CHOOSE_DOUBLE."""
STANDARD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "standard": "backgammon without the cube",
        "hypergammon": "Hypergammon without the cube, exact values",
    }
)
"""The sets of decisions that come with the package."""

EXACT: Final = 0
"""A value from a solved game or an exact table, or of a game that is over."""
ROLLED_OUT: Final = 1
"""A value from a rollout."""
ESTIMATED: Final = 2
"""A value from a cheaper evaluator, shifted by what the rollouts of the same decision differ from it: of poor choices."""

_PHASES: Final = (Phase.CHECKER, Phase.ROLL_OR_DOUBLE, Phase.TAKE_OR_DROP, Phase.CHOOSE_DOUBLE)
_HOME: Final = 6
_BACK: Final = 3
_PRIME: Final = 5
_VERSION: Final = 1
_WHAT: Final = "set of decisions"
_FIELDS: Final = ("points", "dice", "left", "turn", "decider", "phase", "stage", "cube", "owner", "chain", "crawford", "score")

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@kernel
def _do_steps(states: States, rules: Rules, actions: Integers, done: npt.NDArray[np.bool_]) -> None:
    for i in range(states.shape[0]):
        done[i] = True
        for k in range(actions.shape[1]):
            action = actions[i, k]
            if action < 0:
                break
            high, low = legal_sets(states, i)
            if action >= rules[0]["actions"] or not is_legal(states, i, rules, high, low, action):
                done[i] = False
                break
            apply(states, i, rules, action)


def do_steps(states: States, rules: Rules, actions: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Take several actions in each state, without throwing any dice.

    Args:
        states: STATE (n,), changed.
        rules: the RULES record in force.
        actions: integers (n, m), -1 after the last.

    Returns:
        bool (n,), whether all of them were legal; a state stays at the first that was not.
    """
    done = np.empty(len(states), np.bool_)
    _do_steps(states, rules, np.ascontiguousarray(actions, np.int64), done)
    return done


def decision_kinds(states: States) -> npt.NDArray[np.int64]:
    """The places of the decisions in `DECISION_KINDS`: int64 (n,), -1 where a state has no decision."""
    found = np.full(len(states), -1, np.int64)
    for kind, phase in enumerate(_PHASES):
        found[states["phase"] == phase] = kind
    return found


def _primes(points: npt.NDArray[Any], facing: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether a side has a prime of five points or more before a checker of the other, whose rear point is `facing`."""
    held = points[:, 1:25] >= 2
    found = np.zeros(len(points), np.bool_)
    for first in range(24 - _PRIME + 1):
        # The points first + 1 to first + 5 are the other side's points 24 - first down to 20 - first.
        found |= held[:, first : first + _PRIME].all(axis=1) & (facing > 24 - first)
    return found


def position_kinds(states: States, settings: Settings) -> npt.NDArray[np.int64]:
    """The kinds of the positions, as places in `POSITION_KINDS`.

    Without contact: "bear-off" where both sides have all checkers home, else "race". With contact, the first that holds of:
    "bear-off against contact", one side has all checkers home; "back game", a side has three or more checkers in the other's
    home board or on the bar; "prime", five points in a row before a checker of the other side; "opening", both sides have
    more than four fifths of their pips at the start; "contact".

    Args:
        states: STATE (n,).
        settings: which give the start.

    Returns:
        int64 (n,).
    """
    points = states["points"].astype(np.int64)
    numbers = np.arange(BAR + 1)
    rear = np.where(points > 0, numbers, 0).max(axis=2)
    contact = (rear.sum(axis=1) > 24) & (rear > 0).all(axis=1)
    home = rear <= _HOME
    pips = (points * numbers).sum(axis=2)
    fresh = 5 * pips > 4 * int(np.dot(settings.variant.start, numbers))
    primes = _primes(points[:, 0], rear[:, 1]) | _primes(points[:, 1], rear[:, 0])
    kinds = [
        ~contact & home.all(axis=1),
        ~contact,
        home.any(axis=1),
        (points[:, :, BAR - _HOME :].sum(axis=2) >= _BACK).any(axis=1),
        primes,
        fresh.all(axis=1),
    ]
    names = ["bear-off", "race", "bear-off against contact", "back game", "prime", "opening"]
    other = POSITION_KINDS.index("contact")
    found: npt.NDArray[np.int64] = np.select(kinds, [POSITION_KINDS.index(name) for name in names], other)
    return found


@dataclass(frozen=True, eq=False)
class Decisions:
    """Decisions under some settings, each with all its candidates and their values; n decisions, m candidates in all.

    Attributes:
        settings: the settings in force.
        states: STATE (n,), without a random stream.
        offsets: int64 (n + 1,): decision i has the candidates offsets[i] to offsets[i + 1] - 1, two or more.
        actions: int64 (m, 4): the actions that lead to a candidate, -1 after the last.
        values: float64 (m,), to the player who decides, in points at the present cube (a single game is 1).
        errors: float64 (m,), standard errors of the values; NaN where they are not known.
        methods: int64 (m,), `EXACT`, `ROLLED_OUT` or `ESTIMATED`.
        sources: str (n,), whose play the decisions come from.
        about: how they were made: "name", "evaluator" and others.

    Raises:
        SettingsError: the arrays do not fit one another.
        PositionError: a state is not one of the settings.
    """

    settings: Settings
    states: States
    offsets: Integers
    actions: Integers
    values: Floats
    errors: Floats
    methods: Integers
    sources: npt.NDArray[Any]
    about: Mapping[str, Any]

    def __post_init__(self) -> None:
        n, m = len(self.states), len(self.actions)
        if not n:
            msg = "a set of decisions has at least one"
            raise SettingsError(msg)
        if not self.settings.money:
            msg = f"decisions are those of money play, not of a match to {self.settings.match_length}"
            raise SettingsError(msg)
        rules = self.settings.record()
        check_sound(self.states, rules, playing=False)
        counts = np.diff(self.offsets)
        fits = self.offsets.shape == (n + 1,) and self.offsets[0] == 0 and self.offsets[-1] == m and bool((counts >= 2).all())
        lengths = [len(self.values), len(self.errors), len(self.methods)]
        if not fits or self.actions.shape != (m, 4) or lengths != [m] * 3 or len(self.sources) != n:
            msg = "the arrays of a set of decisions fit one another: two candidates or more for each decision, a value for each"
            raise SettingsError(msg)
        if (decision_kinds(self.states) < 0).any():
            msg = f"state {int(np.argmin(decision_kinds(self.states)))} is not a decision: nobody is to act"
            raise SettingsError(msg)
        if not np.isfinite(self.values).all():
            msg = f"values are finite numbers: that of candidate {int(np.argmin(np.isfinite(self.values)))} is not"
            raise SettingsError(msg)
        after = self.states[np.repeat(np.arange(n), counts)]
        done = do_steps(after, rules, self.actions)
        if not done.all():
            k = int(np.argmin(done))
            msg = f"candidate {k} has actions {self.actions[k].tolist()}, which are not legal in its decision"
            raise SettingsError(msg)
        object.__setattr__(self, "_after", after)

    @property
    def after(self) -> States:
        """STATE (m,): the states after the candidates, before any dice that are due then."""
        found: States = self._after  # type: ignore[attr-defined] # set above
        return found

    @property
    def owners(self) -> Integers:
        """int64 (m,): the decision of each candidate."""
        return np.repeat(np.arange(len(self.states)), np.diff(self.offsets))

    @property
    def losses(self) -> Floats:
        """float64 (m,): what each candidate loses against the best of its decision."""
        return losses_of(self.values, self.offsets)

    @property
    def name(self) -> str:
        """The name of the set."""
        return str(self.about.get("name", "decisions"))

    @property
    def evaluator(self) -> str:
        """What the values come from."""
        return str(self.about.get("evaluator", "unknown"))

    def find(self, decisions: Integers, states: States) -> Integers:
        """The candidates that lead to given states.

        Args:
            decisions: int64 (k,).
            states: STATE (k,), reached from these decisions, before any dice.

        Returns:
            int64 (k,): numbers of candidates; -1 where no candidate leads there.
        """
        counts = np.diff(self.offsets)[decisions]
        owner = np.repeat(np.arange(len(decisions)), counts)
        starts = np.repeat(self.offsets[decisions] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        place = starts + np.arange(len(owner))
        there, here = self.after[place], states[owner]
        same = (there["points"] == here["points"]).all(axis=(1, 2))
        for field in ("phase", "turn", "decider", "cube", "owner", "chain", "dice"):
            equal = there[field] == here[field]
            same &= equal if equal.ndim == 1 else equal.all(axis=1)
        found = np.full(len(decisions), -1, np.int64)
        found[owner[same]] = place[same]
        return found

    def save(self, path: str | Path) -> None:
        """Write the set to an .npz file, which loads without pickle.

        Raises:
            SettingsError: the path is no path.
            OSError: it cannot be written.
        """
        kept = np.zeros(len(self.states), [(name, STATE[name]) for name in _FIELDS])
        for name in _FIELDS:
            kept[name] = self.states[name]
        stream = io.BytesIO()
        np.savez_compressed(
            stream,
            version=np.array(_VERSION),
            settings=np.array(str(self.settings)),
            about=np.array(json.dumps(dict(self.about))),
            states=kept,
            offsets=self.offsets.astype(np.int32),
            actions=self.actions.astype(np.int16),
            values=self.values.astype(np.float32),
            errors=self.errors.astype(np.float16),
            methods=self.methods.astype(np.int8),
            sources=self.sources,
        )
        with replacing(checked_path(path)) as file:
            file.write(stream.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> Decisions:
        """Read a set that `save` wrote.

        Raises:
            SettingsError: it is not such a file, or is damaged.
            OSError: it cannot be read.
        """
        file = checked_path(path)
        return _read(read_arrays(file, _WHAT), printable(str(file)))


def losses_of(values: Floats, offsets: Integers) -> Floats:
    """What each candidate loses against the best of its decision: float64 (m,)."""
    best = np.maximum.reduceat(values, offsets[:-1])
    found: Floats = np.repeat(best, np.diff(offsets)) - values
    return found


def _read(arrays: Mapping[str, npt.NDArray[Any]], name: str) -> Decisions:
    try:
        version, text, about = (arrays[key].item() for key in ("version", "settings", "about"))
        if version != _VERSION:
            msg = f"{name} is a set of decisions of version {quoted(version)}: this is version {_VERSION}"
            raise SettingsError(msg)
        states = np.zeros(len(arrays["states"]), STATE)
        for field in _FIELDS:
            states[field] = arrays["states"][field]
        states["winner"] = -1
        return Decisions(
            settings=Settings.parse(text),
            states=states,
            offsets=arrays["offsets"].astype(np.int64),
            actions=np.ascontiguousarray(arrays["actions"], np.int64),
            values=arrays["values"].astype(np.float64),
            errors=arrays["errors"].astype(np.float64),
            methods=arrays["methods"].astype(np.int64),
            sources=arrays["sources"].astype(np.str_),
            about=MappingProxyType(dict(json.loads(about))),
        )
    except BgEnvError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        msg = f"{name} is not a set of decisions, or is damaged: give a file that Decisions.save wrote"
        raise SettingsError(msg) from error


@lru_cache
def _shipped(name: str) -> Decisions:
    file = resources.files("bg_env") / "data" / "decisions" / f"{name}.npz"
    if not file.is_file():
        msg = f"this installation lacks the decisions {name!r}: make them with benchmarks/decisions.py"
        raise SettingsError(msg)
    with file.open("rb") as opened:
        return _read(read_arrays(opened, _WHAT), name)


def reference_decisions(positions: Any = "standard") -> Decisions:
    """A set of decisions.

    Args:
        positions: a name (see `STANDARD`), the path of a file that `Decisions.save` wrote, or a `Decisions`.

    Raises:
        SettingsError: it is something else.
        OSError: the file cannot be read.
    """
    if isinstance(positions, Decisions):
        return positions
    if isinstance(positions, str) and positions in STANDARD:
        return _shipped(positions)
    if isinstance(positions, Path) or (isinstance(positions, str) and positions.endswith(".npz")):
        return Decisions.load(positions)
    known = ", ".join(map(repr, STANDARD))
    msg = f"positions are {known}, a file of Decisions.save (.npz) or a Decisions, not {quoted(positions)}"
    raise SettingsError(msg)
