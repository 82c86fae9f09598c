"""States to draw, set up by hand so that drawing is tested without the rules: one of every phase in every variant."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from bg_env.rules.settings import Settings
from bg_env.rules.state import (
    END_FINISHED,
    END_ILLEGAL,
    END_TRUNCATED,
    STAGE_BONUS,
    STAGE_DOUBLE,
    STAGE_EXTRA,
    STATE,
    Phase,
    States,
)
from bg_env.rules.variant import VARIANTS, Variant


def state(variant: str | Variant = "backgammon", sides: Any = None, **fields: Any) -> States:
    """One STATE record: the variant's start (or `sides`: two mappings from point to count, the rest borne off) and `fields`."""
    chosen = VARIANTS[variant] if isinstance(variant, str) else variant
    made = np.zeros(1, STATE)
    for player in (0, 1):
        if sides is None:
            made["points"][0, player] = chosen.start
        else:
            for point, n in sides[player].items():
                made["points"][0, player, point] = n
            made["points"][0, player, 0] += chosen.checkers - sum(sides[player].values())
    for name in ("turn", "decider", "owner", "winner"):
        made[name] = -1
    for name, value in fields.items():
        made[name][0] = value
    return made


def _middle(variant: Variant) -> tuple[dict[int, int], dict[int, int]]:
    """A middle game: both on the bar and on points, a high stack, some borne off."""
    n = variant.checkers
    if n < 8:
        return {20: 1, 6: 1}, {25: 1, 3: 1}
    return {25: 2, 20: 2, 13: 1, 8: 2, 6: n - 8}, {25: 1, 21: 2, 7: 2, 6: 1, 4: 2, 3: 3, 2: n - 13}


def _cases() -> dict[str, tuple[States, Settings]]:
    cases = {}
    for name, variant in VARIANTS.items():
        money = Settings(variant, cube=True, jacoby=True, beavers=1)
        match = Settings(variant, cube=True, match_length=7)
        sides, n = _middle(variant), variant.checkers
        won = ({}, {25: 1, 19: 1, 1: n - 2})
        cases |= {
            f"{name}-opening": (state(variant, phase=Phase.OPENING), money),
            f"{name}-roll": (state(variant, sides, phase=Phase.ROLL, turn=1, owner=0, cube=1, turns=9), money),
            f"{name}-roll_or_double": (
                state(variant, sides, phase=Phase.ROLL_OR_DOUBLE, turn=0, decider=0, owner=0, cube=2, score=(2, 5)),
                match,
            ),
            f"{name}-take_or_drop": (
                state(variant, sides, phase=Phase.TAKE_OR_DROP, turn=1, decider=0, chain=1, score=(6, 0)),
                match,
            ),
            f"{name}-checker": (
                state(variant, sides, phase=Phase.CHECKER, turn=0, decider=0, dice=(6, 4), left=(0, 1), owner=1, cube=3),
                money,
            ),
            f"{name}-over": (
                state(
                    variant, won, phase=Phase.OVER, turn=0, winner=0, level=3, won=6, cube=1, score=(8, 4), ending=END_FINISHED
                ),
                match,
            ),
        }
    acey = Settings("acey_deucey")
    entering = ({25: 9, 22: 2, 20: 4}, {25: 3, 24: 6, 19: 6})
    cases["acey_deucey-choose_double"] = (
        state("acey_deucey", entering, phase=Phase.CHOOSE_DOUBLE, turn=1, decider=1, stage=STAGE_BONUS),
        acey,
    )
    return cases


CASES = _cases()
"""By name, a state and its settings: every variant in every phase it knows."""


def _specials() -> dict[str, tuple[States, Settings]]:
    acey, money = Settings("acey_deucey"), Settings(beavers=3, cube_cap=None)
    entering = ({25: 9, 22: 2, 20: 4}, {25: 3, 24: 6, 19: 6})
    checker = {"phase": Phase.CHECKER, "turn": 0, "decider": 0}
    return {
        "double": (state(dice=(3, 3), left=(3, 0), **checker), money),
        "bonus": (state("acey_deucey", entering, dice=(2, 1), left=(1, 0), stage=STAGE_BONUS, **checker), acey),
        "named": (state("acey_deucey", entering, dice=(5, 5), left=(4, 0), stage=STAGE_DOUBLE, **checker), acey),
        "extra": (state("acey_deucey", entering, dice=(6, 5), left=(1, 1), stage=STAGE_EXTRA, **checker), acey),
        "again": (state("acey_deucey", entering, phase=Phase.ROLL, turn=1, stage=STAGE_EXTRA), acey),
        "beaver": (state(phase=Phase.TAKE_OR_DROP, turn=0, decider=0, chain=2, cube=1, owner=0), money),
        "raccoon": (state(phase=Phase.TAKE_OR_DROP, turn=0, decider=1, chain=3, cube=9, owner=0), money),
        "crawford": (state(phase=Phase.ROLL, turn=1, crawford=1, score=(4, 6)), Settings(match_length=7)),
        "next": (state(phase=Phase.OPENING, winner=1, level=2, won=2, score=(0, 2)), Settings(match_length=7)),
        "illegal": (
            state(phase=Phase.OVER, turn=1, winner=0, level=3, won=12, cube=2, chain=1, owner=1, ending=END_ILLEGAL),
            money,
        ),
        "truncated": (state(phase=Phase.OVER, turn=1, turns=200, ending=END_TRUNCATED), Settings(max_turns=200)),
        "largest": (state(phase=Phase.ROLL, turn=0, cube=15, owner=1), money),
    }


SPECIALS = _specials()
"""By name, a state and its settings: what the cases leave out."""

ALL = CASES | SPECIALS


@st.composite
def boards(draw: Any, checkers: int = 15) -> tuple[list[int], list[int]]:
    """Two sides of 26 counts on their own numbering that share no point; anything else may stand anywhere."""
    owner = draw(st.lists(st.sampled_from((0, 1)), min_size=25, max_size=25))
    sides = []
    for player in (0, 1):
        free = [0, 25] + [p for p in range(1, 25) if owner[p if player == 0 else 25 - p] == player]
        side = [0] * 26
        for point in draw(st.lists(st.sampled_from(free), min_size=checkers, max_size=checkers)):
            side[point] += 1
        sides.append(side)
    return sides[0], sides[1]
