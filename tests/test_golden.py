"""A golden playthrough per Gymnasium id and per PettingZoo module: `make golden` rewrites them, a person reads the difference.

Each file tells one episode, its choices being drawn by a rule that is written here: what the state is, what is legal, a
checksum of the observation, and what the step returned. Long episodes are thinned out, but the last number of a line is a
checksum of everything since the beginning, so that no step can change unseen.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from env_cases import IDS, INFO_KEYS, MODULES, make

from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE, action_text

FOLDER = Path(__file__).parent / "golden"
IN_FULL = 40
EVERY = 25


class Choices:
    """A linear congruential generator, so that the choices are the same with every version of every library."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n

    def __call__(self, mask):
        """Doubles once in six, drops one double in four, beavers every other time; else uniform."""
        legal = np.flatnonzero(mask).tolist()
        if ROLL in legal:
            return DOUBLE if self.below(6) == 0 else ROLL
        if TAKE in legal:
            if BEAVER in legal and self.below(2):
                return BEAVER
            return DROP if self.below(4) == 0 else TAKE
        return legal[self.below(len(legal))]


def board(game):
    """Checkers by point, player 0's and player 1's, each on its own numbering."""
    sides = game.states[0]["points"].tolist()
    names = {25: "bar", 0: "off"}
    return " | ".join(" ".join(f"{names.get(p, p)}:{side[p]}" for p in range(25, -1, -1) if side[p]) for side in sides)


def shown(env, mask):
    """The state, and what is legal in it."""
    game = env.game
    dice = "-".join(map(str, game.dice))
    owner = {None: "centre", 0: "player_0", 1: "player_1"}[game.cube_owner]
    match = f"  score {game.score[0]}-{game.score[1]}{' crawford' if game.crawford else ''}" if game.match_length else ""
    legal = " ".join(action_text(a, game.states, 0) + f"={a}" for a in np.flatnonzero(mask)) if not mask.all() else "all"
    cube = f"  cube {game.cube} {owner}" if game.settings.cube else ""
    return f"{game.phase} {dice}  {board(game)}{cube}{match}\n      legal {legal}"


class Scribe:
    """Writes a playthrough down."""

    def __init__(self, *title):
        self.lines = [*title]
        self.crc = 0
        self.step = 0
        self.skipped = 0

    def checksum(self, *parts):
        for part in parts:
            self.crc = zlib.crc32(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode(), self.crc)
        return f"{self.crc:08x}"

    def write(self, text, always, *parts):
        total = self.checksum(text, *parts)
        if self.step < IN_FULL or self.step % EVERY == 0 or always:
            if self.skipped:
                self.lines.append(f"... {self.skipped} steps")
            self.skipped = 0
            self.lines.append(f"{text}  #{total}")
        else:
            self.skipped += 1
        self.step += 1

    def text(self):
        return "\n".join(self.lines) + "\n"


def told(info):
    return " ".join(f"{key}={info[key]}" for key in INFO_KEYS)


def observation_sum(observation):
    return f"{zlib.crc32(observation['observation'].tobytes()):08x}"


def aec_playthrough(name):
    env = MODULES[name].env()
    env.reset(seed=2024)
    scribe = Scribe(f"{name}.env(), seed 2024", str(env.settings), f"actions {env.action_space('player_0')}", "")
    choose = Choices(7)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        other = env.observe("player_1" if agent == "player_0" else "player_0")
        over = terminated or truncated
        action = None if over else choose(observation["action_mask"])
        text = (
            f"{scribe.step:>4}  {agent} {shown(env, observation['action_mask'])}\n"
            f"      sees {observation_sum(observation)}, the other {observation_sum(other)}; reward {reward:g}"
            f"{' terminated' * terminated}{' truncated' * truncated}; {told(info)}\n"
            f"      does {action if over else action_text(action)}"
        )
        scribe.write(text, reward != 0 or over, observation["observation"], observation["action_mask"], other["action_mask"])
        env.step(action)
    return scribe.text()


def single_playthrough(name):
    env = make(name)
    observation, info = env.reset(seed=2024)
    scribe = Scribe(f"{name} against random, seed 2024, seat {env.seat}", str(env.settings), f"actions {env.action_space}", "")
    choose = Choices(7)
    reward, over = 0.0, ""
    while True:
        action: Any = None if over else choose(observation["action_mask"])
        text = (
            f"{scribe.step:>4}  {shown(env, observation['action_mask'])}\n"
            f"      sees {observation_sum(observation)}; reward {reward:g}{over}; {told(info)}\n"
            f"      does {action_text(action) if action is not None else None}"
        )
        scribe.write(text, reward != 0 or over, observation["observation"], observation["action_mask"])
        if over:
            return scribe.text()
        observation, reward, terminated, truncated, info = env.step(action)
        over = " terminated" * terminated + " truncated" * truncated


CASES = {name: (aec_playthrough, name) for name in MODULES} | {
    name.removeprefix("bg_env/"): (single_playthrough, name) for name in IDS
}


@pytest.mark.parametrize("case", CASES)
def test_golden(case, request):
    written, name = CASES[case]
    text = written(name)
    file = FOLDER / f"{case}.txt"
    if request.config.getoption("--golden"):
        file.write_text(text, encoding="utf-8", newline="\n")
    want = file.read_text(encoding="utf-8").splitlines()
    for n, (line, golden) in enumerate(zip(text.splitlines(), want, strict=False), 1):
        assert line == golden, f"line {n} of {file.name} is different"
    assert len(text.splitlines()) == len(want)


def test_no_golden_without_a_case():
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(CASES)


def test_a_difference_is_seen_in_every_step_that_follows():
    one, other = Scribe(), Scribe()
    for n in range(200):
        one.write("same", always=False)
        other.write("same" if n != 41 else "Same", always=False)
    lines = list(zip(one.lines, other.lines, strict=True))
    assert [a == b for a, b in lines[:40]] == [True] * 40
    assert not any(a == b for a, b in lines if "#" in a and lines.index((a, b)) > 40)
