"""Speed of this engine and of other libraries, measured side by side.

`python -m benchmarks` (`make bench`) runs the loops that are compared in turns, so that whatever slows the machine slows both.
The loops of other libraries (peers) are in `benchmarks/peers`, each in a process of its own; those that are not installed are
named and left out. Rates are per second of processor time, so that other work on the machine matters little; only the
comparison of threads is by wall clock. Every figure is a median over rounds, and a ratio the median of the rounds' ratios.
"""
