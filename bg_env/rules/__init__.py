"""The game: every clause of the rules, as kernels over arrays of STATE records; it knows no RL library and does no I/O.

Each kernel takes the array of states, an index and the RULES record (`settings.record()`), so that the same code serves
one game and a million.
"""

from bg_env.rules.actions import (
    ACTIONS,
    BEAVER,
    DOUBLE,
    DROP,
    FIRST_NAMED,
    LAST_NAMED,
    ROLL,
    STEPS,
    TAKE,
)
from bg_env.rules.cube import at_stake, may_double, may_turn_again
from bg_env.rules.dice import CHOICE, DICE, EPISODE, SEAT, below, draw, episode_key, word
from bg_env.rules.game import (
    apply,
    apply_roll,
    forfeit,
    new_episode,
    play_on,
    resign,
    set_up,
    settle,
    ties_double,
)
from bg_env.rules.legal import is_legal, legal_mask, legal_sets, pick_action
from bg_env.rules.moves import play_step, step_sets
from bg_env.rules.plays import MAX_PLAYS, plays, plays_into, plays_scratch
from bg_env.rules.reasons import Reason, illegal_reason
from bg_env.rules.scoring import board_level, counted_level
from bg_env.rules.state import (
    END_FINISHED,
    END_ILLEGAL,
    END_NONE,
    END_TRUNCATED,
    STAGE_BONUS,
    STAGE_DOUBLE,
    STAGE_EXTRA,
    STAGE_NONE,
    STATE,
    Phase,
    States,
    check_board,
    check_state,
)
from bg_env.rules.variant import BAR, LIFTED_CAP, OFF, RULES, VARIANTS, Rules, Settings, Variant, variant_of

__all__ = [
    "ACTIONS",
    "BAR",
    "BEAVER",
    "CHOICE",
    "DICE",
    "DOUBLE",
    "DROP",
    "END_FINISHED",
    "END_ILLEGAL",
    "END_NONE",
    "END_TRUNCATED",
    "EPISODE",
    "FIRST_NAMED",
    "LAST_NAMED",
    "LIFTED_CAP",
    "MAX_PLAYS",
    "OFF",
    "ROLL",
    "RULES",
    "SEAT",
    "STAGE_BONUS",
    "STAGE_DOUBLE",
    "STAGE_EXTRA",
    "STAGE_NONE",
    "STATE",
    "STEPS",
    "TAKE",
    "VARIANTS",
    "Phase",
    "Reason",
    "Rules",
    "Settings",
    "States",
    "Variant",
    "apply",
    "apply_roll",
    "at_stake",
    "below",
    "board_level",
    "check_board",
    "check_state",
    "counted_level",
    "draw",
    "episode_key",
    "forfeit",
    "illegal_reason",
    "is_legal",
    "legal_mask",
    "legal_sets",
    "may_double",
    "may_turn_again",
    "new_episode",
    "pick_action",
    "play_on",
    "play_step",
    "plays",
    "plays_into",
    "plays_scratch",
    "resign",
    "set_up",
    "settle",
    "step_sets",
    "ties_double",
    "variant_of",
    "word",
]
