"""The benchmarks: every figure is a ratio against a peer in the same run, never a promise alone.

``python -m bench`` (or ``make bench``) runs all; ``python -m bench hits store`` some of them.
BENCH_SECONDS (3) is how long one turn lasts, BENCH_ROUNDS (3) how many turns each server has.
"""
