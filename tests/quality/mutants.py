"""``python -m tests.quality.mutants PATH…``: which mutations do the fast tests not notice?

First the fast tests of the folders run once, to learn which of them run which line. A mutant has
one mutation, in memory alone. The tests that run its line run on it, the fastest first. In the end
all tests run on the mutants that have passed, and those that pass again survive: as equivalent, as
needless code, for want of a test, or because slower tests or those of other folders check the line.
"""

import argparse
import ast
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.quality.mutant_runs import Mutant, Reach, parsed, passes, trace
from tests.quality.mutations import mutate, shown, sites

SELECTED_S: Final = 20.0  # of the processor, for the tests that run a mutant's line
TIMEOUT_S: Final = 120.0  # of tests that take no time
SLOWER: Final = 30  # how much longer tests may take than they need of the processor


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.quality.mutants", description=__doc__)
    parser.add_argument("paths", nargs="+", help="modules or folders, such as portal/gateway")
    parser.add_argument(
        "--tests", nargs="+", help="folders, by default those that mirror the paths"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    given = parser.parse_args(arguments)
    files = sorted(str(file) for path in given.paths for file in _modules(Path(path)))
    every = [Mutant(file, site) for file in files for site in range(len(sites(parsed(file))))]
    picked = random.Random(given.seed).sample(every, min(given.count, len(every)))
    reach = trace(files, given.tests or sorted({_mirror(file) for file in files}))
    tests = [*reach.seconds]
    seconds = sum(reach.seconds.values())
    say(f"{len(picked)} of {len(every)} mutants, {len(tests)} tests of {seconds:.0f} s")
    if not passes([], tests, _timeout_s(tests, reach)):
        say("the tests do not pass without a mutant")
        return 1
    left = [mutant for mutant in picked if _passes_selected(mutant, reach)]
    survivors = list(_survivors(left, reach))
    for mutant in survivors:
        say(f"survives: {_described(mutant)}")
    say(f"{len(survivors)} of {len(picked)} survive")
    return 0


def _modules(path: Path) -> list[Path]:
    return sorted(path.rglob("[!_]*.py")) if path.is_dir() else [path]


def _mirror(file: str) -> str:
    return str(Path("tests", *Path(file).parts[1:-1]))


def _timeout_s(tests: Sequence[str], reach: Reach) -> float:
    return TIMEOUT_S + SLOWER * sum(reach.seconds[test] for test in tests)


def _passes_selected(mutant: Mutant, reach: Reach) -> bool:
    tests = reach.fastest(mutant.file, _lines(mutant), SELECTED_S)
    passed = passes([mutant], tests, _timeout_s(tests, reach))
    verdict = {True: "passes", False: "fails", None: "has no end"}[passed]
    say(f"{verdict}: {_described(mutant)} ({len(tests)} tests)")
    return passed is True


def _survivors(mutants: Sequence[Mutant], reach: Reach) -> Iterator[Mutant]:
    """Yield those on which all tests pass, by halves, as most of them survive."""
    if not mutants:
        return
    tests = [*reach.seconds]
    if passes(mutants, tests, _timeout_s(tests, reach)):
        yield from mutants
    elif len(mutants) > 1:
        half = len(mutants) // 2
        yield from _survivors(mutants[:half], reach)
        yield from _survivors(mutants[half:], reach)


def _lines(mutant: Mutant) -> range:
    node = shown(sites(parsed(mutant.file))[mutant.site])
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _described(mutant: Mutant) -> str:
    node = sites(parsed(mutant.file))[mutant.site]
    before = ast.unparse(shown(node))
    mutate(node)
    return f"{mutant.file}:{shown(node).lineno} {before} -> {ast.unparse(shown(node))}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
