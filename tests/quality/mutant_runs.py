"""Runs the fast tests in child processes: all of them traced, or some of them on mutants."""

import ast
import importlib
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, Final, NamedTuple, TypeVar, cast

import pytest

from tests.quality.mutations import mutate, sites

_OPTIONS: Final = (
    *("-n", "0", "--tb", "no", "--hypothesis-seed", "0"),
    *("-p", "no:cacheprovider", "-o", "tmp_path_retention_policy=none"),
)
_FAST: Final = ("-m", "not slow and not upstream and not long and not over_5_s")
_fork = multiprocessing.get_context("fork")
_TRACED_EVENTS: Final = 1_000  # of a function in a test, because some tests run it a million times
_Result = TypeVar("_Result")


class Mutant(NamedTuple):
    file: str
    site: int


class Reach(NamedTuple):
    """What the fast tests reach, without what only an import runs."""

    by_line: Mapping[str, Mapping[int, set[str]]]  # the tests that run a line, by its file
    seconds: Mapping[str, float]  # of the processor, for each test that passes

    def fastest(self, file: str, lines: Sequence[int], most_s: float) -> list[str]:
        """Return the tests that run one of a file's lines, the fastest first, up to ``most_s``.

        What only an import runs may concern all tests that reach the file.
        """
        found = self._tests(file, lines) or self._tests(file, [*self.by_line.get(file, ())])
        chosen: list[str] = []
        for test in sorted(found, key=self.seconds.__getitem__):
            chosen.append(test)
            most_s -= self.seconds[test]
            if most_s < 0:
                break
        return chosen

    def _tests(self, file: str, lines: Sequence[int]) -> set[str]:
        by_line = self.by_line.get(file, {})
        return {test for line in lines for test in by_line.get(line, ())} & self.seconds.keys()


class _Tracer:
    """A pytest plugin. A thread counts for the test that runs meanwhile."""

    def __init__(self, files: Sequence[str]) -> None:
        self._names = {str(Path(file).resolve()): file for file in files}
        self._by_line: dict[str, dict[int, set[str]]] = {file: {} for file in files}
        self._events: dict[CodeType, int] = {}
        self._seconds: dict[str, float] = {}
        self._failed: set[str] = set()
        self._running = ""
        self._began = 0.0

    def pytest_collection_finish(self) -> None:
        # A test that is the first to import a module does not run the lines of the import.
        for file in self._names.values():
            importlib.import_module(file.removesuffix(".py").replace("/", "."))
        threading.settrace(self._enter)
        sys.settrace(self._enter)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running, self._began = nodeid, time.process_time()
        self._events.clear()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._seconds[nodeid] = time.process_time() - self._began

    def pytest_sessionfinish(self) -> None:
        threading.settrace(None)
        sys.settrace(None)

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        is_traced = code.co_filename in self._names and self._events.get(code, 0) < _TRACED_EVENTS
        return self._note if is_traced else None

    def _note(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        lines = self._by_line[self._names[code.co_filename]]
        lines.setdefault(frame.f_lineno, set()).add(self._running)
        self._events[code] = events = self._events.get(code, 0) + 1
        return self._note if events < _TRACED_EVENTS else None

    def reach(self) -> Reach:
        passed = {test: s for test, s in self._seconds.items() if test not in self._failed}
        return Reach(self._by_line, passed)


class _Selection:
    """A pytest plugin that runs these tests alone, in this order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._order = {test: number for number, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self._order]
        items.sort(key=lambda item: self._order[item.nodeid])


class _Mutated(MetaPathFinder):
    """Imports the modules of mutants with their mutations."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self._trees = {file: parsed(file) for file, _ in mutants}
        nodes = {file: sites(tree) for file, tree in self._trees.items()}
        for file, site in mutants:
            mutate(nodes[file][site])

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        file = name.replace(".", "/") + ".py"
        if file not in self._trees:
            return None
        loader = _Loader(name, str(Path(file).resolve()), self._trees[file])
        return spec_from_file_location(name, loader.path, loader=loader)


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def get_code(self, _name: str) -> CodeType:
        return compile(self._tree, self.path, "exec", dont_inherit=True)


def parsed(file: str) -> ast.Module:
    return ast.parse(Path(file).read_bytes(), file)


def trace(files: Sequence[str], folders: Sequence[str]) -> Reach:
    """Run the fast tests of the folders, and note what they reach of the files."""

    def run() -> Reach:
        tracer = _Tracer(files)
        pytest.main([*_OPTIONS, *_FAST, *folders], [tracer])
        return tracer.reach()

    reach = _in_a_child(run, None)
    assert reach is not None
    return reach


def passes(mutants: Sequence[Mutant], tests: Sequence[str], timeout_s: float) -> bool | None:
    """Return whether the tests pass on the mutants, or None if they do not end."""

    def run() -> bool:
        sys.meta_path.insert(0, _Mutated(mutants))
        paths = sorted({test.partition("::")[0] for test in tests})
        return pytest.main(["-x", *_OPTIONS, *_FAST, *paths], [_Selection(tests)]) == 0

    return _in_a_child(run, timeout_s) if tests else True


def _in_a_child(run: Callable[[], _Result], timeout_s: float | None) -> _Result | None:
    """Run a function in a fork without output. Return None after the timeout, or if it dies."""
    receiver, sender = _fork.Pipe(duplex=False)

    def send() -> None:
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        sender.send(run())
        os._exit(0)  # without the threads that a mutant may have left waiting

    child = _fork.Process(target=send)
    child.start()
    sender.close()
    try:
        return cast(_Result, receiver.recv()) if receiver.poll(timeout_s) else None
    except EOFError:
        return None
    finally:
        child.kill()
        child.join()
