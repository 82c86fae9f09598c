"""Exact play: tables of the bear-off, one side alone (`one_sided`) and two sides with the cube (`two_sided`), and solved games.

Tables are built on first use and kept beside the compiled kernels. They are looked up by a `Position`, a `Game` or an array of
STATE records; a position that a table does not cover is a `PositionError`. `solve` finds the values of all positions of games
with up to three checkers a side, such as Hypergammon.
"""

from bg_env.exact.measures import Errors
from bg_env.exact.one_side import OneSided, one_sided
from bg_env.exact.phases import CubeEquities
from bg_env.exact.player import ExactPlayer
from bg_env.exact.policy import Policy
from bg_env.exact.solution import Solution
from bg_env.exact.two_sides import TwoSided, two_sided
from bg_env.exact.value_iteration import Size, Sweep, size_of, solve

__all__ = [
    "CubeEquities",
    "Errors",
    "ExactPlayer",
    "OneSided",
    "Policy",
    "Size",
    "Solution",
    "Sweep",
    "TwoSided",
    "one_sided",
    "size_of",
    "solve",
    "two_sided",
]
