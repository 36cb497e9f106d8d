"""Fixed and random histories (sequences of steps) of the production server.

``STATES_SEED`` is the first seed, to repeat a run. ``FUZZ_MINUTES`` sets the length of a run with
FUZZ=full.
"""

import os
import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.effort import seconds
from tests.fakes.answers import Operation
from tests.states.history import History
from tests.states.machine import HAS_REDIS, LONG, SHORT, Portal
from tests.states.run import Run
from tests.states.world import ALICE, BOB, STAFF

STEPS = 30
# Few histories for each seed, so that Hypothesis varies whole histories and not only details.
HISTORIES_A_SEED = 9


@pytest.fixture
def play() -> Iterator[Callable[..., History]]:
    opened: list[History] = []

    def begin(**options: object) -> History:
        chance = random.Random(f"{options}")
        lifetimes = SHORT if options.pop("short", False) else LONG
        opened.append(History(chance, lifetimes, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield begin
    for history in opened:
        history.world.close()


def test_upstreams_modes_and_demo_share_no_answer(play: Callable[..., History]) -> None:
    history = play(env="demo")
    plate = history.world.plates[2]
    for env in ("demo", "A", "B", "A passed through", "demo"):
        if env != history.env.name or history.codes:
            history.switch(env)
        who = history.callers()[0]
        history.sign_in(who)
        for operation in ("decode", "renainf", "renajud"):
            history.look_up(who, history.world.ask(operation, plate))
        history.dossier(who.name, plate)
    history.check_ledger()


def test_expired_empty_list_is_not_served_stale(play: Callable[..., History]) -> None:
    play(short=True).look_up_around_expiry(cut=True)


def test_purge_leaves_no_byte_of_a_viewed_page(play: Callable[..., History]) -> None:
    history = play()
    history.sign_in(STAFF)
    for plate in history.world.plates:
        history.page("staff", plate)
    history.look_up(STAFF, history.world.ask("report", history.world.plates[2]))
    history.purge(history.world.plates[2])
    history.purge(history.world.plates[0], under_way=True)


def test_purge_under_another_key_does_not_report_success(play: Callable[..., History]) -> None:
    history = play()
    history.look_up(STAFF, history.world.ask("decode", history.world.plates[2]))
    history.purge(history.world.plates[2], another_key=True)


@pytest.mark.skipif(not HAS_REDIS, reason="redis-server is not installed")
def test_redis_outage_during_lookups_and_purges(play: Callable[..., History]) -> None:
    history = play(redis=True)
    for pause in (True, False):
        history.redis_outage(pause)
    history.purge_with_a_stalled_worker(history.world.plates[2])


@pytest.mark.parametrize("kinds", [("interim late", "interim"), ("unasked", "trailing")])
def test_extra_bytes_reach_no_other_vehicle(
    play: Callable[..., History], kinds: tuple[str, str]
) -> None:
    history = play(env="A passed through")
    ask, (_, _, first, second) = history.world.ask, history.world.plates
    for state, kind in zip(("AC", "AL", "AM", "BA", "CE", "GO"), kinds * 3, strict=True):
        lookups = [
            (who, ask("renainf", plate, state)) for plate in (first, second) for who in (ALICE, BOB)
        ]
        history.look_up_under(kind, history.world.primary, lookups)
    history.check_ledger()


def test_reset_answer_has_a_ledger_row_for_each_call(play: Callable[..., History]) -> None:
    history = play()
    ask = history.world.ask
    for plate in history.world.plates:
        resets: tuple[tuple[Operation, str, str], ...] = (
            ("decode", "MG", "started, then reset"),
            ("renajud", "SP", "reset before a byte"),
        )
        for operation, state, kind in resets:
            history.look_up(STAFF, ask(operation, plate))
            under = [(STAFF, ask("renainf", plate, state))]
            history.look_up_under(kind, history.world.primary, under)
    history.check_ledger()


def test_random_histories_break_no_invariant(capsys: pytest.CaptureFixture[str]) -> None:
    first = int(os.environ.get("STATES_SEED") or random.randrange(10**6))
    run = Run(seconds(short=12, full=60 * float(os.environ.get("FUZZ_MINUTES") or 30)))
    number = first
    while not run.is_over:
        _run_histories(run, number)
        number += 1
    with capsys.disabled():
        print(f"\nstates: seeds {first} to {number - 1}; {run}")  # noqa: T201
    assert not run.found, "\n\n".join(
        f"{promise} ({len(stories)} times)\n{stories[0]}" for promise, stories in run.found.items()
    )


def _run_histories(run: Run, number: int) -> None:
    machine = type("Portal", (Portal,), {"run": run, "seed_used": number})
    run_state_machine_as_test(
        seed(number)(machine),
        settings=settings(
            max_examples=HISTORIES_A_SEED,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
