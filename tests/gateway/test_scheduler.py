"""Chores are done in turn, and a house that found no keeper seeks one again."""

import threading

from portal.gateway import PeriodicTask, Scheduler
from tests.conftest import PortalFactory
from tests.fakes import Clock, wait_until
from tests.fakes.answers import path_of
from tests.fakes.threads import no_thread_named


def test_a_chore_is_done_at_its_turn_and_a_failed_one_tried_again():
    clock, done = Clock(0.0), []

    def fail() -> None:
        done.append("failed")
        raise RuntimeError

    house = Scheduler(
        PeriodicTask(1, lambda: done.append("often")), PeriodicTask(5, fail), clock=clock
    )
    for _ in range(10):
        clock.advance(1)
        house.run_due()
    assert (done.count("often"), done.count("failed")) == (10, 2)


def test_a_housekeeper_that_found_no_thread_is_sought_again():
    came = threading.Event()
    house = Scheduler(PeriodicTask(0.0, came.set))
    with no_thread_named("scheduler") as refused:
        house.start()
        house.start()
    assert len(refused) == 2
    assert not came.is_set()
    house.start()
    wait_until(came.is_set, "the first task")


def test_a_stopped_housekeeper_is_in_the_midst_of_nothing():
    """What the tasks use is closed after it."""
    at_it, go_on, done = threading.Event(), threading.Event(), []

    def task() -> None:
        at_it.set()
        assert go_on.wait(20)
        done.append("task")

    house = Scheduler(PeriodicTask(0.0, task))
    house.start()
    assert at_it.wait(20)
    stopping = threading.Thread(target=lambda: (house.stop(), done.append("stopped")))
    stopping.start()
    go_on.set()
    stopping.join(20)
    assert done[-2:] == ["task", "stopped"]
    house.stop()
    house.start()
    assert done[-1] == "stopped"


def test_a_request_that_finds_no_thread_for_the_housekeeper_is_answered(portal: PortalFactory):
    here = portal()
    with no_thread_named("scheduler") as refused:
        assert here.get(path_of("decode")).status_code == 200
    assert refused
