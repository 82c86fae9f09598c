"""Evaluation of positions, rolls and decisions by players with a value net."""

from bg_env.evaluation.hints import Evaluation, Hint, Outcomes

__all__ = ["Evaluation", "Hint", "Outcomes"]
