"""The pictures of README and docs, drawn by the package itself, and the traps of movement with their positions.

`make golden` rewrites the pictures; `test_golden_pictures` compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bg_env import VARIANTS, Game, Position, Settings, Variant
from bg_env.render.svg import board_svg, position_svg
from bg_env.rules import STATE, Phase, set_up

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
FILM = IMAGES / "game.gif"
"""The film at the top of README and docs, made by the command that `docs/records.md` names."""
SHOWN = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:6"
"""The position of the README: Black to play 3-1 from the start."""
OFFERED = "XGID=-b--BBCBC---dB---c-dAb----:0:0:1:D:2:3:0:7:6"
"""The position of the page on the cube: Black has doubled in a match to 7, White answers."""


class Trap(NamedTuple):
    """A position that programs get wrong; points on the mover's numbering, 25 its bar, all other checkers borne off."""

    key: str
    clause: str
    title: str
    mover: Mapping[int, int]
    opponent: Mapping[int, int]
    roll: tuple[int, int]
    says: str


TRAPS = (
    Trap(
        "blocked",
        "R4.1",
        "Two opposing checkers block a point, one's own do not",
        {10: 4, 3: 11},
        {22: 1, 4: 2, 19: 12},
        (3, 3),
        "Two opposing checkers hold 4, so every checker must stop on 7. The mover's own stack there is no obstacle.",
    ),
    Trap(
        "hit-or-pass",
        "R4.2",
        "The order of the dice decides whether a checker is hit",
        {10: 1, 3: 7, 2: 7},
        {6: 1, 24: 7, 23: 7},
        (4, 2),
        "The same checker covers the same distance, but hits only if it plays the 4 first. These are two plays (R11.2).",
    ),
    Trap(
        "both-dice",
        "R5.1",
        "A step that makes the other die impossible is illegal",
        {24: 1, 8: 1, 6: 5, 3: 4, 2: 4},
        {20: 4, 19: 3, 18: 4, 16: 2, 4: 2},
        (6, 2),
        "The only 6 is 8/2, so the 2 may not be played with that checker, although 6 is open.",
    ),
    Trap(
        "small-first",
        "R5.1",
        "The smaller die first, so that the larger can bear off",
        {9: 1, 5: 3, 3: 2, 2: 9},
        {24: 10, 23: 3, 1: 2},
        (6, 4),
        "No 6 can be played until 9/5 has brought the last checker home. Both dice can be played this way, so they must be.",
    ),
    Trap(
        "larger",
        "R5.2",
        "Either die, but not both: the larger",
        {13: 1, 2: 7, 1: 7},
        {6: 2, 24: 7, 23: 6},
        (5, 2),
        "After 13/8 or 13/11 the other die is blocked on 6, so the larger die must be played: 13/11 is illegal.",
    ),
    Trap(
        "smaller",
        "R5.2",
        "The larger die is blocked: the smaller",
        {24: 1, 2: 7, 1: 7},
        {18: 2, 13: 2, 23: 6, 22: 5},
        (6, 5),
        "No 6 can be played, not even after 24/19.",
    ),
    Trap(
        "part-of-a-double",
        "R5.3",
        "As many of the four steps as possible",
        {25: 1, 15: 1, 10: 1, 4: 1, 3: 6, 1: 5},
        {22: 2, 20: 2, 17: 3, 11: 2, 6: 1, 2: 2, 24: 3},
        (4, 4),
        "The checker enters, another 4 hits, and then every 4 is blocked: only two of the four steps can be played.",
    ),
    Trap(
        "last-checker",
        "R5.4",
        "The last checker may be borne off with either die that makes it",
        {4: 1},
        {24: 2},
        (6, 2),
        "R5.1 would require both dice and R5.2 the larger, but the step that ends the game is exempt: 4/off with the 6 and "
        "4/2/off with both dice lead to the same end.",
    ),
    Trap(
        "bar-first",
        "R6.1",
        "With a checker on the bar no other checker moves",
        {25: 2, 10: 2, 6: 5, 3: 6},
        {22: 2, 19: 5, 17: 4, 13: 4},
        (5, 3),
        "One checker enters with the 5. The other cannot enter with the 3, so no checker may play the 3.",
    ),
    Trap(
        "dance",
        "R6.2",
        "Neither die enters: the turn is lost",
        {25: 1, 13: 4, 6: 5, 4: 5},
        {22: 2, 20: 2, 19: 5, 17: 3, 12: 3},
        (5, 3),
        "The engine passes automatically: no agent acts, and there is no action for passing.",
    ),
    Trap(
        "home-in-mid-roll",
        "R7.1",
        "Bearing off can begin in the middle of a roll",
        {8: 1, 4: 3, 2: 11},
        {1: 2, 24: 13},
        (4, 3),
        "8/5 brings the last checker home, and then the 4 bears off. 8/4 would leave a 3 that cannot be played (R5.1).",
    ),
    Trap(
        "higher-must-step",
        "R7.2",
        "Nothing on the die's point: a higher checker must move",
        {6: 1, 4: 2, 1: 12},
        {24: 2, 23: 13},
        (5, 5),
        "The first 5 must be 6/1. Only then do the other 5s bear off from 4, the highest point.",
    ),
    Trap(
        "higher-is-blocked",
        "R7.2",
        "A higher checker cannot move: the die is unplayable",
        {6: 1, 4: 2, 3: 12},
        {1: 2, 24: 13},
        (5, 5),
        "6/1 is blocked, and while there is a checker on 6 no lower one bears off with a 5.",
    ),
    Trap(
        "never-forced",
        "R7.3",
        "Bearing off is not compulsory",
        {5: 2, 4: 3, 3: 1, 1: 9},
        {20: 1, 24: 14},
        (4, 3),
        "The dice may move checkers instead, here to safety.",
    ),
)


def board_of(trap: Trap) -> tuple[list[int], list[int]]:
    """The trap's position as `Position` takes it; both sides on their own numbering."""
    mover, opponent = [0] * 26, [0] * 26
    for point, n in trap.mover.items():
        mover[point] = n
    for point, n in trap.opponent.items():
        opponent[25 - point] = n
    checkers = VARIANTS["backgammon"].checkers
    mover[0], opponent[0] = checkers - sum(mover), checkers - sum(opponent)
    return mover, opponent


def plays_of(trap: Trap) -> list[str]:
    """The legal plays as text; empty for a dance."""
    return [str(play) for play in Position(*board_of(trap)).legal_plays(*trap.roll) if play.steps]


def trap_picture(trap: Trap) -> str:
    """The board of a trap, with dice unless the roll is a dance."""
    mover, opponent = board_of(trap)
    settings = Settings(cube=False)
    states = np.zeros(1, STATE)
    states["points"][0, 1], states["points"][0, 0] = mover, opponent
    states["turn"], states["owner"] = 1, -1
    set_up(states, 0, settings.record(), *trap.roll)
    if states[0]["phase"] != Phase.CHECKER:
        return position_svg(mover, opponent)
    return board_svg(states, 0, settings)


def traps() -> str:
    """The page's part: a heading, a picture and the legal plays of each trap."""
    parts = []
    for trap in TRAPS:
        plays = plays_of(trap)
        legal = ", ".join(f"`{play}`" for play in plays) if plays else "none"
        d1, d2 = trap.roll
        alt = f"{trap.title}: Black to play {d1}-{d2}"
        parts.append(
            f"## {trap.clause} {trap.title}\n\n![{alt}](images/traps/{trap.key}.svg)\n\n"
            f"Black rolls {d1}-{d2}. {trap.says}\n\nLegal: {legal}.\n"
        )
    return "\n" + "\n".join(parts) + "\n"


def _of_id(xgid: str) -> str:
    game = Game.from_xgid(xgid)
    return board_svg(game.states, 0, game.settings)


def _start(name: str) -> str:
    start = Position.start(name)
    return position_svg(start.mover, start.opponent, name)


def _yours() -> str:
    """The start of the variant that docs/extending.md makes."""
    start = Position.start(Variant("short_game", {24: 2, 13: 3, 6: 3}))
    return position_svg(start.mover, start.opponent, start.variant)


def _play() -> str:
    """The play that docs/plays.md finds, with its arrows, still seen by who has made it."""
    game = Game.from_xgid(SHOWN)
    game.play("8/5 6/5")
    return board_svg(game.states, 0, game.settings, seat=1, arrows=((1, 8, 5), (1, 6, 5)))


def _pictures() -> dict[str, Callable[[], str]]:
    made: dict[str, Callable[[], Any]] = {"board.svg": lambda: _of_id(SHOWN), "offered.svg": lambda: _of_id(OFFERED)}
    made |= {"play.svg": _play, "yours.svg": _yours}
    made |= {f"variants/{name}.svg": (lambda name=name: _start(name)) for name in VARIANTS}
    made |= {f"traps/{trap.key}.svg": (lambda trap=trap: trap_picture(trap)) for trap in TRAPS}
    return made


PICTURES = _pictures()
"""The function that makes each picture under docs/images."""
