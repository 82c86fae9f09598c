"""Matches between players on duplicate dice, from both seats, with intervals that heed the pairing.

Each dice stream is played twice with the seats swapped, so that the luck of the dice cancels in part. The two games of a pair
are not independent; so pairs are averaged, and the 95 % intervals come from the spread of the pairs. (Two players that are the
same function of state and words play the same game twice, and their result is exactly 0.)

The same seed gives the same games, however many are played at once, for players that use no randomness but their words; nets
may break ties differently for different batch sizes.

With `luck="td"`, or another player with a value net, the luck of the rolls is measured and subtracted as well: between good
players a result has then the interval of tens of times as many games. See `Adjustment`.

`play_part` plays any part of the games, on another machine if need be, and `joined` combines the parts into the result that
`play` returns for the whole. `bg_env.arena.on_ray` does this on Ray.
"""

from bg_env.arena.adjustment import Adjustment
from bg_env.arena.estimates import Estimate, mean_of, share_of
from bg_env.arena.match_up import MatchUp
from bg_env.arena.play import play, play_part
from bg_env.arena.ratings import Rating, ratings, ratings_text, round_robin
from bg_env.arena.result import Part, Result, Side, joined

__all__ = [
    "Adjustment",
    "Estimate",
    "MatchUp",
    "Part",
    "Rating",
    "Result",
    "Side",
    "joined",
    "mean_of",
    "play",
    "play_part",
    "ratings",
    "ratings_text",
    "round_robin",
    "share_of",
]
