"""Fixed and random histories (sequences of steps) of the production server.

``STATES_SEED`` is the first seed, to repeat a run. ``FUZZ_MINUTES`` sets the length of a run with
FUZZ=full.
"""

import os
import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import RULE_MARKER, run_state_machine_as_test

from tests.effort import long, seconds
from tests.fakes.answers import Operation
from tests.states.history import History
from tests.states.machine import HAS_REDIS, LONG, SHORT, Portal
from tests.states.run import Run
from tests.states.world import ALICE, BOB, SECOND, STAFF

pytestmark = pytest.mark.long

STEPS = 30
# Few histories for each seed, so that Hypothesis varies whole histories and not only details.
HISTORIES_A_SEED = 9


@pytest.fixture
def play() -> Iterator[Callable[..., History]]:
    opened: list[History] = []

    def begin(**options: object) -> History:
        chance = random.Random(f"{options}")
        lifetimes = SHORT if options.pop("short", False) else LONG
        opened.append(History(chance, lifetimes, **options))
        return opened[-1]

    yield begin
    for history in opened:
        history.world.close()


def test_upstreams_modes_and_demo_share_no_answer(play: Callable[..., History]) -> None:
    history = play(env="demo")
    plate = history.world.plates[2]
    for env in ("", "A", "B", "A passed through", "demo"):
        if env:
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


def test_purge_within_a_batch_reaches_no_other_owners_batch(play: Callable[..., History]) -> None:
    history = play()
    _, _, plate, other = history.world.plates
    for _ in range(2):
        history.purge_within_a_batch(STAFF, plate, SECOND, other)
    history.check_ledger()


@pytest.mark.parametrize("purges_of", [True, *long(False)])
def test_restore_starts_no_batch_and_revives_nothing(
    play: Callable[..., History], purges_of: bool
) -> None:
    history = play()
    first, second = history.world.plates[2:]
    who = history.issue(frozenset({"decode"}))
    history.sign_in(STAFF)
    history.page("staff", first)
    history.page("staff", second)
    kept, purged = history.issue_dossier("staff", first), history.issue_dossier("staff", second)
    assert kept and purged
    history.back_up_within_a_batch(STAFF, history.world.plates[:2])
    history.revoke(who)
    history.revoke_dossier(kept)
    history.purge(second)
    history.restore(purges_of)
    history.look_up(who, history.world.ask("decode", first))
    history.wait(2.0)
    history.check_ledger()


def test_empty_answers_of_a_batch_are_no_clear_record_after_their_time(
    play: Callable[..., History],
) -> None:
    history = play(short=True)
    history.set_answer("empty", history.world.primary)
    batch = history.new_batch(STAFF, history.world.plates[:2])
    assert batch
    history.start_batch(batch)
    for _ in range(5):
        history.quiet()
        history.read_batches()
        history.wait(0.7)


def test_batch_on_a_flapping_primary_spends_what_was_confirmed(
    play: Callable[..., History],
) -> None:
    history = play()
    history.set_answer("truncated JSON", history.world.primary)
    batch = history.new_batch(STAFF, history.world.plates[1:])
    assert batch
    for _ in range(3):
        history.start_batch(batch)
        history.quiet()
    history.check_ledger()


def test_batch_with_a_dead_plate_ends_and_is_retried(play: Callable[..., History]) -> None:
    history = play()
    history.set_answer("hang", history.world.primary)
    history.look_up(STAFF, history.world.ask("decode", history.world.plates[3]))
    history.heal()
    history.kill_plate(history.world.plates[2])
    batch = history.new_batch(STAFF, history.world.plates[1:], ["decode", "renainf"])
    assert batch
    history.start_batch(batch)
    history.quiet()
    asked = len(list(history.model.answers()))
    history.start_batch(batch)  # asks nothing
    history.quiet()
    assert len(list(history.model.answers())) == asked
    history.heal()
    history.wait(2.5)  # the gateway shares a failure for two seconds
    history.retry_batch(batch)
    history.quiet()
    shown = history.read_batch(batch)
    assert shown and (shown["state"], shown["counts"]["failed"]) == ("done", 0)
    history.check_ledger()


def test_hanging_primary_at_low_traffic_is_probed_rarely(play: Callable[..., History]) -> None:
    history = play()
    history.slow_primary(lookups=3)
    history.check_ledger()


def test_answers_that_expire_within_a_batch_are_asked_for_what_was_confirmed(
    play: Callable[..., History],
) -> None:
    history = play(short=True)
    history.look_up(STAFF, history.world.ask("decode", history.world.plates[3]))
    batch = history.new_batch(STAFF, history.world.plates[1:], ["decode"])
    assert batch
    history.wait(1.0)
    with history.held():
        history.start_until_asked(batch)
        history.wait(2.2)
    history.quiet()
    history.read_batches()
    history.check_ledger()


def test_no_dossier_is_left_of_a_vehicle_that_was_purged_meanwhile(
    play: Callable[..., History],
) -> None:
    history = play()
    history.sign_in(STAFF)
    history.page("staff", history.world.plates[2])
    history.issue_beside_a_purge("staff", history.world.plates[2])


def test_declarations_stay_with_their_owner_until_a_purge(play: Callable[..., History]) -> None:
    history = play()
    first, second = history.world.plates[2:]
    who = history.issue(frozenset({"renajud"}))
    for owner in (STAFF, SECOND, who):
        history.declare(owner, first, {"gravame": "something", "justica": "nothing"})
        history.declare(owner, second, {"debitos": "nothing"}, names=[first])
    history.sign_in(STAFF)
    history.look_up(STAFF, history.world.ask("renajud", first))
    history.declare(STAFF, first, {"justica": "nothing"})  # which the record contradicts
    history.declare(STAFF, first, {"gravame": "unchecked", "debitos": "something"}, person="staff")
    history.rotate_token(who)
    history.rotate_key()
    history.declare_together(SECOND, second, "gravame")
    history.back_up()
    history.declare(SECOND, second, {"roubo-e-furto": "something", "gravame": "nothing"})
    history.declare_beside_a_purge(SECOND, first)
    history.restore(purges_of=True)
    history.read_declared(pages=True)


# The steps of histories that are about declarations.
DECLARING = (
    *("declare", "declare_together", "declare_beside_a_purge", "read_declared"),
    *("rotate_key", "rotate_token", "issue_", "revoke", "purge", "back_up", "restore"),
    *("look_up", "page", "end_processes", "switch_", "heal"),
)


class Declaring(Portal):
    """The state machine without the other steps, so that histories have many declarations."""


for _name, _each in vars(Portal).items():
    if getattr(_each, RULE_MARKER, None) and _name not in DECLARING:
        setattr(Declaring, _name, None)


@pytest.mark.parametrize("machine", [Portal, Declaring])
def test_random_histories_break_no_invariant(
    machine: type[Portal], capsys: pytest.CaptureFixture[str]
) -> None:
    first = int(os.environ.get("STATES_SEED") or random.randrange(10**6))
    run = Run(seconds(short=20, full=60 * float(os.environ.get("FUZZ_MINUTES") or 30)))
    number = first
    while not run.is_over:
        _run_histories(machine, run, number)
        number += 1
    with capsys.disabled():
        print(f"\nstates: seeds {first} to {number - 1}; {run}")  # noqa: T201
    assert not run.found, "\n\n".join(
        f"{promise} ({len(stories)} times)\n{stories[0]}" for promise, stories in run.found.items()
    )


def _run_histories(machine: type[Portal], run: Run, number: int) -> None:
    seeded = type(machine.__name__, (machine,), {"run": run, "seed_used": number})
    run_state_machine_as_test(
        seed(number)(seeded),
        settings=settings(
            max_examples=HISTORIES_A_SEED,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
