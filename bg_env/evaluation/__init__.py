"""Evaluation of positions, rolls and decisions by players with a value net."""
