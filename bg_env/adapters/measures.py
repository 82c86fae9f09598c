"""Error rates and luck-adjusted points as learning curves, for any loop.

    from torch.utils.tensorboard import SummaryWriter
    from bg_env.adapters.measures import log_measures

    writer = SummaryWriter("runs/mine")
    for step in range(0, 1_000_000, 50_000):
        ...                                        # learn
        log_measures(writer, step, act)            # act: observations and masks to actions

TensorBoard is used, not imported: a writer is any object with `add_scalar(name, value, step)`.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

from bg_env import arena
from bg_env.checks import checked_even, checked_whole
from bg_env.errors import SettingsError, quoted, unexpected
from bg_env.evaluation.decisions import reference_decisions
from bg_env.evaluation.error_rates import measure_errors
from bg_env.observations import Encoder
from bg_env.players import ModelPlayer, player_for
from bg_env.rules import Settings

__all__ = ["PREFIX", "check_options", "log_measures", "measures_of"]

PREFIX: Final = "bg_env"
"""The names of values in event files begin with it, and a slash."""


def measures_of(
    player: Any,
    *,
    positions: Any = "standard",
    against: Any = "pubeval",
    games: int = 200,
    luck: Any = "td",
    seed: int = 1,
    observation: str | Encoder | None = None,
    mask: str = "both",
) -> dict[str, float]:
    """The error rate of a player, and its points a game less the luck of the dice.

    Args:
        player: anything that `bg_env.players.player_for` takes: a model, a callable, an object with `choose`, a name.
        positions: the decisions, as of `bg_env.measure_errors`; their settings are those of the games, too. None for none.
        against: the opponent of the games; None for no games.
        games: number of games, even; the same dice at every call, so that differences between calls are more certain than the
            intervals suggest. Without `positions` they are games of backgammon without a cube.
        luck: by whose values luck is subtracted; None for plain points.
        seed: of the dice and of the random words that players get.
        observation: the encoder of what callables and models are shown; None for "tesauro", of a model for the one that fits.
        mask: how callables are shown the action mask.

    Returns:
        Values by name: `error_rate`, `error_rate/` and the kind of position; `points` with `points_low` and `points_high`, the
        95 % interval.

    Raises:
        SettingsError: an argument is refused.
    """
    checked_even("games", games, 2)
    if positions is None and against is None:
        msg = "there is nothing to measure: give positions, or an opponent as against"
        raise SettingsError(msg)
    if hasattr(player, "predict") and not hasattr(player, "choose"):
        player = ModelPlayer(player, observation)
    shown: dict[str, Any] = {"observation": observation or "tesauro", "mask": mask}
    found: dict[str, float] = {}
    settings = Settings(cube=False)
    if positions is not None:
        decisions = reference_decisions(positions)
        settings = decisions.settings
        report = measure_errors(player, decisions, seed=seed, **shown)
        found["error_rate"] = report.error_rate
        found |= {f"error_rate/{row.name}": row.error_rate for row in report.by_position}
    if against is not None:
        result = arena.play(player, against, games=games, seed=seed, luck=luck, settings=settings, **shown)
        points = result.adjusted or result.points
        found |= {"points": points.value, "points_low": points.low, "points_high": points.high}
    return found


def log_measures(writer: Any, step: int, player: Any, **options: Any) -> dict[str, float]:
    """Measure a player and add the values to the event files of TensorBoard.

    Args:
        writer: a `torch.utils.tensorboard.SummaryWriter`, or another object with `add_scalar(name, value, step)`.
        step: of the learner.
        player: as of `measures_of`.
        **options: as of `measures_of`.

    Returns:
        What `measures_of` returns; the names in the files begin with "bg_env/".

    Raises:
        SettingsError: an argument is refused; then nothing is written.
    """
    if not callable(getattr(writer, "add_scalar", None)):
        msg = f"a writer is a SummaryWriter, or has add_scalar(name, value, step), not {quoted(writer)}"
        raise SettingsError(msg)
    checked_whole("step", step, 0)
    found = measures_of(player, **options)
    for name, value in found.items():
        writer.add_scalar(f"{PREFIX}/{name}", value, step)
    return found


def check_options(options: dict[str, Any]) -> None:
    """Refuse options of `measures_of` before a training begins, not at its first measurement.

    Raises:
        SettingsError: one of them is refused.
    """
    known = [name for name in inspect.signature(measures_of).parameters if name != "player"]
    if options.keys() - set(known):
        raise unexpected(measures_of.__name__, options.keys() - set(known), known)
    checked_even("games", options.get("games", 200), 2)
    positions, settings = options.get("positions", "standard"), Settings(cube=False)
    if positions is not None:
        settings = reference_decisions(positions).settings
    for name, default in (("against", "pubeval"), ("luck", "td")):
        one = options.get(name, default)
        if one is not None:
            player_for(one, settings)
