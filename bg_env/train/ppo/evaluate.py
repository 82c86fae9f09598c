"""Evaluation games: games that no training sees, the same for every net."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import gymnasium

from bg_env import arena
from bg_env._renamed import old_names
from bg_env.players import ModelPlayer
from bg_env.train.ppo.options import PpoOptions, settings_of

__all__ = ["EVALUATION", "evaluate", "score_table"]

EVALUATION: Final = 2**63
"""Added to the seed for evaluation games: a training, whose seeds are below it, never sees them."""

__getattr__ = old_names(__name__, FRESH="EVALUATION")


def evaluate(
    model: Any,
    options: PpoOptions,
    name: str,
    progress: Callable[[int], object] | None = None,
    *,
    against: str | None = None,
) -> arena.Result:
    """Play evaluation games with a model, half of them from each seat, on the same dice.

    The model plays greedily: always its most probable action. The games are the same for every model.

    Args:
        model: a model of sb3-contrib.
        options: of its training.
        name: of the model, for the result.
        progress: see `bg_env.arena.play`.
        against: name of the other player; None for `options.evaluated_against`.
    """
    observation = gymnasium.spec(options.id).kwargs.get("observation", "tesauro")
    other = against or options.evaluated_against
    return arena.play(
        ModelPlayer(model, observation, name=name),
        other,
        games=options.games,
        seed=EVALUATION + options.seed,
        names=(name, other),
        settings=settings_of(options.id),
        progress=progress,
    )


def score_table(scores: dict[str, arena.Result], options: PpoOptions) -> str:
    """The results of evaluation games as a table."""
    result = next(iter(scores.values()))
    many, form = ("games", ".1%") if result.settings.money else ("matches", ".2f")
    seats = f"{options.games // 2:,} from each seat"
    title = f"{options.games:,} evaluation {many} against {options.evaluated_against}, {seats}, played greedily"
    lines = [
        f"{title}; in brackets 95 % intervals:",
        f"{'':10} {'wins':>21} {'gammons':>21} {'backgammons':>21} {'points per ' + result.unit:>25}",
    ]
    for name, found in scores.items():
        side = found.sides[0]
        cells = side.wins.text(".1%"), side.gammons.text(form), side.backgammons.text(form)
        lines.append(f"{name:10} {' '.join(f'{cell:>21}' for cell in cells)} {found.points.text():>25}")
    return "\n".join(lines)
