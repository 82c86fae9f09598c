"""Matches between players, measured honestly: duplicate dice, both seats, intervals that know of the pairing.

Each dice stream is played twice with the seats swapped, so that the luck of the dice cancels in part. The two games of a pair
are not independent; what is averaged are therefore the pairs, and the 95 % intervals are made from their spread. (Two players
that are the same function of state and words play the same game twice, and their result is 0 exactly.)

The same seed gives the same games, however many are played at once, for players that draw from their words alone; nets may
differ in ties with the size of the batch.

Any part of the games can be played alone, on another machine if need be: `play_part`; `joined` makes the same result of the
parts as `play` of the whole. `bg_env.arena.on_ray` does so on Ray.
"""

from bg_env.arena.estimates import Estimate, mean_of, share_of
from bg_env.arena.play import play, play_part
from bg_env.arena.ratings import Rating, ratings, ratings_text, round_robin
from bg_env.arena.result import Part, Result, Side, joined

__all__ = [
    "Estimate",
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
