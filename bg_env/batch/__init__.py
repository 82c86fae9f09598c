"""A batch of games, played by compiled kernels: stepping, opponents, observations and whole plays, without any RL library."""
