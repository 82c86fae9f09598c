"""Exact play: tables of the bear-off, one side alone (`one_sided`) and two sides with the cube (`two_sided`).

Tables are built on first use and kept beside the compiled kernels. They are looked up by a `Position`, a `Game` or an array of
STATE records; a position that a table does not cover is a `PositionError`.
"""

from bg_env.exact.one_side import OneSided, one_sided
from bg_env.exact.two_sides import CubeEquities, TwoSided, two_sided

__all__ = ["CubeEquities", "OneSided", "TwoSided", "one_sided", "two_sided"]
