"""Settings of a run of the TD learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bg_env.equity import LONGEST
from bg_env.rules import Settings
from bg_env.train.setting import check_fields, described, setting

__all__ = ["MOST_TURNS", "TDSettings"]

MOST_TURNS: Final = 400
"""Turns after which a game of self-play is cut off; only untrained nets play so long."""


@described
@dataclass(frozen=True)
class TDSettings:
    """Everything that decides what a run learns; it is saved with the run.

    Raises:
        SettingsError: a value has the wrong type, is out of range, or contradicts another.
    """

    total: int = setting(
        800_000,
        "Games of self-play in the whole run; over them the learning rate falls to its last value.",
        low=1,
        option="selfplay-games",
    )
    hidden: tuple[int, int] = setting((512, 128), "Units of the first two hidden layers.", low=1)
    third: int = setting(0, "Units of a third hidden layer, between the second and the outputs; 0 for none.", low=0)
    tactics: bool = setting(
        True, "Inputs for shots, freedom to move and the race (bg_env.players.valuenet.features) in addition to the 198."
    )
    batch: int = setting(64, "Games played side by side.", low=1)
    turns: int = setting(8, "Turns of each game between two rounds of fitting.", low=1)
    minibatch: int = setting(512, "Positions in an update.", low=1)
    optimizer: str = setting(
        "muon",
        "Optimizer: muon fits the matrices of the hidden layers by Muon (Jordan et al. 2024) and the rest by Adam at a third "
        "of the learning rate; adam fits everything by Adam, learns less from as many games, and leaves most units of the "
        "second layer dead.",
        choices=("muon", "adam"),
    )
    lr: float = setting(2e-3, "Learning rate at the start; it falls linearly.", low=0, high=1)
    lr_end: float = setting(5e-6, "Learning rate at the end.", low=0, high=1)
    lam: float = setting(
        0.7,
        "Lambda of TD(lambda). With 0 a net learns from its own next output alone, and plays worse in the end.",
        low=0,
        high=1,
    )
    average: float = setting(0.9998, "Decay of the running average of the weights, per round.", low=0, high=1)
    seed: int = setting(0, "Seed of weights, dice and the order of updates.", low=0, high=2**32 - 1)
    variant: str = setting("backgammon", "Variant: a name, or a variant as bg_env.Variant prints it.", metavar="NAME")
    cube: bool = setting(
        False,
        "Play with the doubling cube. Doubling, taking and dropping are then learnt as plays are, and the net outputs the "
        "equity in units of the cube.",
    )
    match_length: int = setting(
        0,
        f"Points of a match, at most the {LONGEST} of the match equity table; 0 for money play. Games start at random scores, "
        "and the net learns the probability of winning the match.",
        low=0,
        high=LONGEST,
        metavar="N",
    )
    explore: float = setting(
        0.05,
        "Share of the plays (with the cube: of the cube decisions) that are chosen at random, so that the net also learns "
        "positions that its own play does not reach. They do not count as what followed a position.",
        low=0,
        high=1,
    )
    targets: str = setting(
        "td",
        "Targets: td fits a position to what followed it; rolls fits it to the exact mean over the 21 rolls, each played as "
        "the net likes best, and corrected by what followed as far as that surprised the net: some twenty times the work, "
        "without the luck of the dice.",
        choices=("td", "rolls"),
    )
    exact_from: float = setting(0.5, "Share of the games after which the targets are those of rolls.", low=0, high=1)
    replay: int = setting(
        1,
        "Times that a position is fitted to: with 1, when it is met; with more, drawn from a replay buffer of the newest "
        "262,144 positions, which helps with exact targets (others are soon out of date).",
        low=1,
    )
    start: str = setting(
        "", "File of a net to start from; its layers are used as far as they have the same sizes.", metavar="FILE"
    )

    def __post_init__(self) -> None:
        check_fields(self)
        self.played()

    def played(self) -> Settings:
        """The settings of the games of self-play.

        Raises:
            SettingsError: no game can be played under these settings.
        """
        return Settings(self.variant, cube=self.cube, max_turns=MOST_TURNS, match_length=self.match_length)

    @property
    def widths(self) -> tuple[int, ...]:
        """Units of each hidden layer."""
        return (*self.hidden, self.third) if self.third else self.hidden

    @property
    def kind(self) -> str:
        """The kind of net that is learnt; see `bg_env.players.valuenet.net`."""
        return "match" if self.match_length else "cube" if self.cube else "odds"
