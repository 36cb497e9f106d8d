"""Benchmarks. Figures are ratios against a peer that is measured in the same run.

``python -m bench`` (or ``make bench``) runs all of them, ``python -m bench hits miss`` only those.
BENCH_SECONDS is the length of one turn, BENCH_ROUNDS the number of turns of each server. Both
default to 3.
"""
