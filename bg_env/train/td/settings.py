"""What a run of the TD learner is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bg_env.checks import checked_number, checked_seed, checked_whole, is_whole
from bg_env.equity import LONGEST
from bg_env.errors import SettingsError, quoted
from bg_env.rules import Settings

__all__ = ["MOST_TURNS", "TDSettings"]

MOST_TURNS: Final = 400
"""Turns after which a game of self-play is cut off; only the first nets play so long."""


@dataclass(frozen=True)
class TDSettings:
    """What a run is made of.

    Attributes:
        total: games of self-play after which the learning rate has fallen to `lr_end`, and learning ends.
        hidden: units of the two hidden layers.
        tactics: whether the net has the inputs of `bg_env.players.valuenet.features` beside the 198.
        batch: games played side by side.
        turns: turns of each game between two rounds of fitting.
        minibatch: positions an update.
        optimizer: "muon": the matrices of the hidden layers by `Muon` (Jordan et al. 2024), everything else by Adam
            at a third of the learning rate; or "adam": all by Adam, which learns less from as many games, and leaves
            most units of the second layer dead (docs/strength.md).
        lr, lr_end: learning rate at the start and at the end; it falls linearly.
        lam: lambda, 0 to 1. With 0 a net learns from its own next answer alone, and plays worse in the end (docs/strength.md).
        average: decay of the running average of the weights, a round.
        seed: of weights, dice and order of updates.
        variant: what is played.
        cube: whether with a cube; turning, taking and dropping it are then learnt like plays, and the net (of kind "cube")
            answers with points a game in units of the cube.
        match_length: 0 for money play, else the points that a match goes to: every game begins at a score that chance
            chooses, and the net (of kind "match") learns the chance to win the match, as the match equity table has it at
            the end of a game.
        explore: share of the plays (with `cube`: of the cube's turns) that go by chance, so that the net learns of positions
            that its own play does not come to; none of it counts as what followed.
        targets: "td", or "rolls": later targets are the exact mean over the 21 rolls that may come, each played as the net
            likes best, instead of what one of them led to; lambda then weighs how far what followed surprised the net
            (`td_targets`). That is some twenty times the work, without the luck of dice.
        exact_from: share of the games after which it is so.
        replay: how many times a position is fitted to. 1: once, when it is met; with more, what is fitted to in each round is
            drawn from the newest 262,144 positions. Exact targets are worth that; others are soon out of date.
        start: path of a net to begin with, "" for a random one: layers are taken over as far as they have the same sizes.
    """

    total: int = 800_000
    hidden: tuple[int, int] = (512, 128)
    tactics: bool = True
    batch: int = 64
    turns: int = 8
    minibatch: int = 512
    optimizer: str = "muon"
    lr: float = 2e-3
    lr_end: float = 5e-6
    lam: float = 0.7
    average: float = 0.9998
    seed: int = 0
    variant: str = "backgammon"
    cube: bool = False
    match_length: int = 0
    explore: float = 0.05
    targets: str = "td"
    exact_from: float = 0.5
    replay: int = 1
    start: str = ""

    def __post_init__(self) -> None:
        for name in ("total", "batch", "turns", "minibatch", "replay"):
            checked_whole(name, getattr(self, name), 1)
        checked_seed(self.seed, 2**32 - 1)
        hidden = self.hidden
        if not isinstance(hidden, (tuple, list)) or len(hidden) != 2 or not all(is_whole(n, 1) for n in hidden):
            msg = f"hidden is the number of units of two layers, at least 1 each, not {quoted(hidden)}"
            raise SettingsError(msg)
        object.__setattr__(self, "hidden", (int(hidden[0]), int(hidden[1])))
        for name in ("lr", "lr_end", "lam", "average", "explore", "exact_from"):
            checked_number(name, getattr(self, name))
        for name, words in (("targets", ("td", "rolls")), ("optimizer", ("muon", "adam"))):
            if getattr(self, name) not in words:
                msg = f"{name} is {words[0]!r} or {words[1]!r}, not {quoted(getattr(self, name))}"
                raise SettingsError(msg)
        if not is_whole(self.match_length, 0, LONGEST):
            msg = f"match_length is from 0 to {LONGEST}, which the match equity table covers, not {quoted(self.match_length)}"
            raise SettingsError(msg)
        self.played()

    def played(self) -> Settings:
        """The settings of the games of self-play.

        Raises:
            SettingsError: there are no such games.
        """
        return Settings(self.variant, cube=self.cube, max_turns=MOST_TURNS, match_length=self.match_length)

    @property
    def kind(self) -> str:
        """The kind of net that is learnt; see `bg_env.players.valuenet.net`."""
        return "match" if self.match_length else "cube" if self.cube else "odds"
