"""One game of the engine, driven by its kernels and read in the oracle's terms."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from oracle import Board, Dice

from bg_env import rules as engine
from bg_env._jit import kernel
from bg_env.rules import STATE, Phase, Settings

ACTIONS = 161


def board_of(mover: dict[int, int], opponent: dict[int, int], checkers: int = 15) -> Board:
    """A board by points on the mover's numbering (25 its bar, 0 the opponent's bar); checkers not named are borne off."""
    sides = [0] * 26, [0] * 26
    for point, n in mover.items():
        sides[0][point] = n
    for point, n in opponent.items():
        sides[1][25 - point] = n
    for side in sides:
        side[0] = checkers - sum(side)
    return tuple(sides[0]), tuple(sides[1])


@kernel
def _reasons(states: Any, rules: Any, out: Any) -> None:
    for action in range(out.shape[0]):
        out[action] = engine.illegal_reason(states, 0, rules, action)


class EngineGame:
    """`states` and `rules` are the arrays of one record that the kernels take; a new one waits for the opening throw."""

    def __init__(self, settings: Settings, seed: int = 0) -> None:
        self.settings = settings
        self.rules = settings.record()
        self.states = np.zeros(1, STATE)
        engine.new_episode(self.states, 0, self.rules, np.uint64(engine.episode_key(np.uint64(seed), np.uint64(0))))

    def place(self, board: Board, dice: Dice = (), *, turn: int = 0, **fields: Any) -> EngineGame:
        """Set up: `board` as the player `turn` sees it, dice rolled or none; other fields of the record by name."""
        self.states[0]["turn"] = turn
        self.states[0]["points"][turn] = board[0]
        self.states[0]["points"][1 - turn] = board[1]
        for name, value in fields.items():
            self.states[0][name] = value
        engine.set_up(self.states, 0, self.rules, *(dice or (0, 0)))
        return self

    def roll(self, first: int, second: int) -> None:
        engine.apply_roll(self.states, 0, self.rules, first, second)

    def apply(self, action: int) -> None:
        engine.apply(self.states, 0, self.rules, action)

    def settle(self) -> None:
        engine.settle(self.states, 0, self.rules)

    def mask(self) -> np.ndarray:
        """The mask over all 161 numbers, whatever part of them the settings need."""
        out = np.full((2, ACTIONS), 7, np.int8)
        engine.legal_mask(self.states, 0, self.rules, out, 1)
        assert (out[0] == 7).all()
        return out[1]

    def legal(self) -> set[int]:
        return set(np.flatnonzero(self.mask()).tolist())

    def reasons(self) -> list[int]:
        """`illegal_reason` of all 161 numbers."""
        out = np.full(ACTIONS, -1, np.int64)
        _reasons(self.states, self.rules, out)
        return out.tolist()

    def copy(self) -> EngineGame:
        twin = EngineGame.__new__(EngineGame)
        twin.settings, twin.rules, twin.states = self.settings, self.rules, self.states.copy()
        return twin

    @property
    def phase(self) -> str:
        return Phase(int(self.states[0]["phase"])).name

    @property
    def decider(self) -> int:
        return int(self.states[0]["decider"])

    def dice(self) -> Dice:
        s = self.states[0]
        return tuple(sorted([int(s["dice"][0])] * int(s["left"][0]) + [int(s["dice"][1])] * int(s["left"][1])))

    def board(self) -> Board:
        """As the player whose turn it is sees it."""
        turn = int(self.states[0]["turn"])
        points = self.states[0]["points"].tolist()
        return tuple(points[turn]), tuple(points[1 - turn])

    def view(self) -> dict[str, Any]:
        """See `OracleGame.view`."""
        s = self.states[0]
        view: dict[str, Any] = {
            name: int(s[name]) for name in ("turn", "decider", "owner", "chain", "winner", "level", "won", "turns")
        }
        view["phase"] = self.phase
        view["crawford"] = bool(s["crawford"])
        view["truncated"] = int(s["ending"]) == engine.END_TRUNCATED
        view["points"] = s["points"].tolist()
        view["score"] = s["score"].tolist()
        view["dice"] = list(self.dice())
        view["cube"] = 1 << int(s["cube"]) if self.phase != "OVER" else None
        return view


def begin(settings: Settings, seeds: Sequence[int]) -> np.ndarray:
    """One state a seed: the first episode of that seed, waiting for its opening throw."""
    rules, states = settings.record(), np.zeros(len(seeds), STATE)
    for i, seed in enumerate(seeds):
        engine.new_episode(states, i, rules, np.uint64(engine.episode_key(np.uint64(seed), np.uint64(0))))
    return states


def play_out(settings: Settings, states: np.ndarray, turning: int = 0) -> list[str]:
    """Play all states by turns to their ends with legal actions out of their own streams; returns a digest of each way there.

    The cube is turned, turned again or dropped `turning` times in 256.
    """
    rules, n = settings.record(), len(states)
    digests = [hashlib.sha256() for _ in range(n)]
    mask = np.zeros((1, ACTIONS), np.int8)
    going = list(range(n))
    while going:
        for i in list(going):
            engine.settle(states, i, rules)
            if states[i]["phase"] == Phase.OVER:
                going.remove(i)
            else:
                bits = engine.word(states[i]["key"], engine.CHOICE, np.uint64(states[i]["choices"]))
                states[i]["choices"] += 1
                action = int(engine.pick_action(states, i, np.uint64(bits)))
                engine.legal_mask(states, i, rules, mask, 0)
                bold = [a for a in (154, 153, 151) if mask[0, a]]
                if bold and int(bits) % 256 < turning:
                    action = bold[0]
                assert mask[0, action]
                engine.apply(states, i, rules, action)
                digests[i].update(mask.tobytes())
            digests[i].update(states[i].tobytes())
    return [digest.hexdigest() for digest in digests]
