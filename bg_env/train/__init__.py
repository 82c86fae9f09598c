"""Learners, and what the examples share; torch and Stable-Baselines3 are imported where they are used."""
