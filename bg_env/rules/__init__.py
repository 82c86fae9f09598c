"""The game: every clause of the rules, as kernels over arrays of STATE records; it knows no RL library and does no I/O."""
