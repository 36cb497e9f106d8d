"""Benchmarks. Most results are ratios of the portal's figure to a peer's figure in the same run.

A peer is another server that answers the same requests. ``python -m bench`` (or ``make bench``)
runs all benchmarks, and ``python -m bench hits miss`` only the benchmarks "hits" and "miss". The
servers are measured in turn. BENCH_SECONDS is the length of one turn, and BENCH_ROUNDS the number
of turns of each server. Both default to 3. "faces" compares with a former commit, of which
BENCH_FORMER names a folder with the files.
"""
