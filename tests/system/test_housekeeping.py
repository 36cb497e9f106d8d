"""Housekeeping: tasks that one of several processes runs."""

import multiprocessing
import threading
from pathlib import Path

import pytest

from portal.system.housekeeping import Housekeeping
from portal.system.scheduler import PeriodicTask
from tests.fakes import Clock


def test_task_runs_once_a_period_for_all_processes(tmp_path: Path, clock: Clock) -> None:
    ran: list[str] = []
    here, there = (
        Housekeeping(
            tmp_path / "housekeeping",
            PeriodicTask(60, lambda name=name: ran.append(name)),  # type: ignore[misc]
            clock=clock,
        )
        for name in ("here", "there")
    )
    for passed, expected in ((0, []), (59, []), (1, ["here"]), (59, []), (1, ["here"])):
        clock.advance(passed)
        here.run_due()
        there.run_due()
        assert ran == expected
        ran.clear()


def test_no_process_runs_tasks_while_another_runs_them(tmp_path: Path, clock: Clock) -> None:
    """A task may take longer than its period."""
    begun, go_on, ran = threading.Event(), threading.Event(), []

    def long_task() -> None:
        begun.set()
        assert go_on.wait(20)

    here = Housekeeping(tmp_path / "lock", PeriodicTask(60, long_task), clock=clock)
    there = Housekeeping(tmp_path / "lock", PeriodicTask(60, lambda: ran.append(1)), clock=clock)
    here.run_due()
    clock.advance(60)
    running = threading.Thread(target=here.run_due)
    running.start()
    assert begun.wait(20)
    clock.advance(60)
    there.run_due()
    assert ran == []
    go_on.set()
    running.join()
    there.run_due()
    assert ran == [1]


def test_killed_process_does_not_stop_housekeeping(tmp_path: Path, clock: Clock) -> None:
    def killed() -> None:
        Housekeeping(tmp_path / "lock", PeriodicTask(60, _hang), clock=later).run_due()

    ran: list[int] = []
    here = Housekeeping(tmp_path / "lock", PeriodicTask(60, lambda: ran.append(1)), clock=clock)
    here.run_due()
    later = Clock(clock() + 60)
    process = multiprocessing.get_context("fork").Process(target=killed)
    process.start()
    process.kill()
    process.join()
    clock.advance(120)
    here.run_due()
    assert ran == [1]


@pytest.mark.parametrize("content", ["", "no list", "[1, 2, 3]", '["a"]', "{}"])
def test_unreadable_times_start_new_periods(tmp_path: Path, clock: Clock, content: str) -> None:
    file, ran = tmp_path / "lock", []
    file.write_text(content)
    made = Housekeeping(file, PeriodicTask(60, lambda: ran.append(1)), clock=clock)
    made.run_due()
    assert ran == []
    clock.advance(60)
    made.run_due()
    assert ran == [1]


def test_failed_task_does_not_stop_the_others(tmp_path: Path, clock: Clock) -> None:
    ran: list[int] = []
    tasks = PeriodicTask(60, lambda: 1 / 0), PeriodicTask(60, lambda: ran.append(1))
    made = Housekeeping(tmp_path / "lock", *tasks, clock=clock)
    made.run_due()
    clock.advance(60)
    made.run_due()
    assert ran == [1]


def _hang() -> None:
    threading.Event().wait(20)
