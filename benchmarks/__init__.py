"""Measures this engine beside its peers, in pairs that take turns, so that what slows the machine slows both.

`python -m benchmarks` (`make bench`) runs it. Peers are other programs' loops in `benchmarks/` of the repository, each in a
process of its own; those that are not installed are named, not guessed. Rates are per second of processor time, so that other
work on the machine counts little, but for the comparison of threads, which is by the clock on the wall. Every figure is a
median over rounds; a ratio is the median of the rounds' ratios.
"""
