"""Scheduler: due tasks, failed tasks, a missing thread, and stopping."""

import threading

import pytest

from portal.batch.batches import Batches
from portal.batch.runner import BatchRunner
from portal.gateway.ledger import Ledger
from portal.gateway.savings import SavingsCounter
from portal.gateway.store import Store
from portal.system.scheduler import PeriodicTask, Scheduler
from tests.conftest import PortalFactory
from tests.fakes import Clock, wait_until
from tests.fakes.answers import path_of
from tests.fakes.threads import no_thread_named


def test_task_runs_when_due_and_failed_task_runs_again() -> None:
    clock, done = Clock(0.0), []

    def fail() -> None:
        done.append("failed")
        raise RuntimeError

    scheduler = Scheduler(
        PeriodicTask(1, lambda: done.append("often")), PeriodicTask(5, fail), clock=clock
    )
    for _ in range(10):
        clock.advance(1)
        scheduler.run_due()
    assert (done.count("often"), done.count("failed")) == (10, 2)


def test_tasks_of_nested_periods_share_their_wakeups() -> None:
    clock = Clock(0.0)
    tasks = (PeriodicTask(every_s, lambda: clock.advance(0.001)) for every_s in (0.25, 0.5, 0.5, 1))
    scheduler, wakeups = Scheduler(*tasks, clock=clock), 0
    while clock.now() < 10:
        clock.advance(scheduler.run_due())
        wakeups += 1
    assert wakeups <= 42


def test_start_is_retried_after_missing_thread() -> None:
    ran = threading.Event()
    scheduler = Scheduler(PeriodicTask(0.0, ran.set))
    with no_thread_named("scheduler") as refused:
        scheduler.start()
        scheduler.start()
    assert len(refused) == 2
    assert not ran.is_set()
    scheduler.start()
    wait_until(ran.is_set, "the first task")


def test_stop_waits_for_running_task() -> None:
    """The resources that the tasks use are closed after stop."""
    running, may_finish = threading.Event(), threading.Event()
    done: list[str] = []

    def task() -> None:
        running.set()
        assert may_finish.wait(20)
        done.append("task")

    scheduler = Scheduler(PeriodicTask(0.0, task))

    def stop() -> None:
        scheduler.stop()
        done.append("stopped")

    scheduler.start()
    assert running.wait(20)
    stopping = threading.Thread(target=stop)
    stopping.start()
    may_finish.set()
    stopping.join(20)
    assert done[-2:] == ["task", "stopped"]
    scheduler.stop()
    scheduler.start()
    assert done[-1] == "stopped"


def test_request_is_answered_without_scheduler_thread(portal: PortalFactory) -> None:
    here = portal()
    with no_thread_named("scheduler") as refused:
        assert here.get(path_of("decode")).status_code == 200
    assert refused


def test_writes_that_wait_for_the_database_delay_neither_store_nor_batches(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write may wait 10 s for the database. A lease of a batch's item ends after 6 s."""
    waiting, may_go_on = threading.Event(), threading.Event()
    ticks: list[str] = []

    def wait_for_the_lock(*_: object) -> None:
        waiting.set()
        assert may_go_on.wait(60)

    monkeypatch.setattr(SavingsCounter, "flush", wait_for_the_lock)
    monkeypatch.setattr(Ledger, "settle", wait_for_the_lock)
    monkeypatch.setattr(Batches, "drop_expired", wait_for_the_lock)
    monkeypatch.setattr(Store, "tick", lambda _: ticks.append("store"))
    monkeypatch.setattr(BatchRunner, "tick", lambda _: ticks.append("batches"))
    here = portal()
    here.get(path_of("decode"))
    assert waiting.wait(60)
    ticks.clear()
    wait_until(lambda: min(map(ticks.count, ("store", "batches"))) >= 2, "the other tasks", 30)
    may_go_on.set()
