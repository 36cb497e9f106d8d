"""The state machine: Hypothesis chooses the steps of a history and their parameters.

A violation ends its history and is recorded, so that a long run can find several violations.
Histories are not shrunk, because each takes seconds of real time. The report shows the steps and
the seed, which repeats them.
"""

import random
import shutil
import traceback
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.fakes.answers import Operation
from tests.states.declaring_steps import LINES
from tests.states.history import History
from tests.states.model import Ask, Caller, Lifetime, Spend, Violation
from tests.states.numbered import BAD_KINDS, GOOD_KINDS, HARMLESS_REFUSALS, NumberedUpstream
from tests.states.owned import Batch
from tests.states.run import Run

Lifetimes = Mapping[Operation, Lifetime]
# An empty list stays fresh for a quarter of its operation's time.
SHORT: Lifetimes = {
    "decode": Lifetime(3, 4),
    "renainf": Lifetime(12, 6),
    "renajud": Lifetime(4, 0),
    "report": Lifetime(3, 0),
}
LONG: Lifetimes = {
    "decode": Lifetime(3600, 3600),
    "renainf": Lifetime(3600, 3600),
    "renajud": Lifetime(3600, 3600),
    "report": Lifetime(3600, 0),
}
HAS_REDIS = shutil.which("redis-server") is not None

GETS: tuple[Operation, ...] = ("decode", "renainf", "renajud")
operations = st.sampled_from((*GETS, "report"))
kinds = st.sampled_from([kind.name for kind in (*GOOD_KINDS, *HARMLESS_REFUSALS, *BAD_KINDS)])
standing_kinds = st.sampled_from(
    ["empty", "slow", "interim late", "truncated JSON", "status 500", "status 429", "stopped"]
)
numbers = st.integers(0, 999)
directives: st.SearchStrategy[Spend] = st.sampled_from(["", "", "", "no-cache", "only-if-cached"])
# Caller, operation, vehicle and variant, from which ``Portal.lookup`` makes a lookup.
asks = st.tuples(numbers, operations, numbers, st.integers(0, 2))
chosen_plates = st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True)
names = st.lists(st.integers(2, 3), max_size=1)
declared_states = st.dictionaries(
    st.sampled_from(LINES),
    st.sampled_from(["nothing", "something", "something", "unchecked"]),
    min_size=1,
    max_size=3,
)
lookup_sets: st.SearchStrategy[list[Operation]] = st.sampled_from(
    [[], ["renainf", "renajud"], ["decode"], ["decode", "renajud"]]
)
scope_sets = st.sampled_from(
    [
        frozenset({"decode", "renainf", "renajud", "report", "refresh"}),
        frozenset({"decode", "renainf", "renajud", "report"}),
        frozenset({"report"}),
        frozenset({"renainf"}),
    ]
)


def step(name: str) -> Callable[..., Any]:
    """Decorate a rule, so that it is counted, and skipped once the history has ended."""

    def decorated(method: Callable[..., None]) -> Callable[..., None]:
        @wraps(method)
        def played(self: "Portal", **drawn: Any) -> None:
            if self.history is None or self.is_over or self.run.is_over:
                return
            self.story.append(f"{name}({', '.join(f'{k}={v!r}' for k, v in drawn.items())})")
            self.run.totals.rules[name] += 1
            self.play(lambda: method(self, **drawn))

        return played

    return decorated


class Portal(RuleBasedStateMachine):
    """The state machine; ``run`` and ``seed_used`` are set on a subclass per seed."""

    run: Run
    seed_used = 0

    def __init__(self) -> None:
        super().__init__()
        self.history: History | None = None
        self.story: list[str] = []
        # Histories that begin after the end of the run do nothing. Hypothesis would treat an
        # exception or missing draws as an error.
        self.is_over = self.run.is_over

    def play(self, act: Callable[[], None]) -> None:
        """Run a step; record a violation together with the steps so far."""
        if self.is_over:
            return
        try:
            act()
        except Violation as violation:
            self.is_over = True
            self.run.keep(violation.promise, self._describe(str(violation)))
        except Exception as error:
            self.is_over = True
            self.run.keep(
                f"unexpected {type(error).__name__}", self._describe(traceback.format_exc())
            )

    def _describe(self, what: str) -> str:
        steps = "\n    ".join(self.story)
        return f"{what}\n  seed {self.seed_used}, history:\n    {steps}"

    @initialize(number=st.integers(0, 2**32), short=st.booleans(), redis=st.sampled_from([0, 0, 1]))
    def begin(self, number: int, short: bool, redis: int) -> None:
        self.story.append(f"begin({number=}, {short=}, {redis=})")
        lifetimes = SHORT if short else LONG

        def start() -> None:
            chance = random.Random(number)
            totals = self.run.totals
            self.history = History(chance, lifetimes, self.has_redis, totals=totals)

        self.short, self.has_redis = short, bool(redis) and HAS_REDIS
        self.env, self.redis_here, self.tokens = "A", True, 0
        self.was_slow = False
        # Hypothesis begins with the simplest history, which only repeats one rule. Skip it.
        self.is_over |= number == 0
        self.play(start)

    def teardown(self) -> None:
        if self.history is None:
            return
        if not self.is_over:
            self.play(self.history.check_ledger)
        self.history.world.close()

    # Objects by number

    @property
    def current(self) -> History:
        """The running history. ``step`` skips rules until the history has begun."""
        assert self.history is not None
        return self.history

    def upstream(self, number: int) -> NumberedUpstream:
        configured = list(self.current.env.upstreams.values())
        return configured[number % len(configured)] if configured else self.current.world.other

    def lookup(
        self, number: int, operation: Operation, plate: int, variant: int
    ) -> tuple[Caller, Ask]:
        world = self.current.world
        subjects = world.plates + ([world.renavam] if operation in ("renainf", "renajud") else [])
        uf = (None, "MG", "SP")[variant] if operation == "renainf" else None
        ask = world.ask(operation, subjects[plate % len(subjects)], uf, variant)
        return self.caller(number), ask

    def caller(self, number: int) -> Caller:
        callers = self.current.callers()
        return callers[number % len(callers)]

    def vehicles(self, plates: list[int]) -> list[str]:
        return [self.current.world.plates[plate] for plate in plates]

    def batch(self, number: int) -> Batch | None:
        here = [each for each in self.current.batches if each.env == self.current.env.name]
        return here[number % len(here)] if here else None

    def person(self, number: int) -> str:
        """Return the name of a person: a caller, signed in if possible, or a stranger."""
        callers, people = self.current.callers(), self.current.world.people
        names = [*(who.name for who in callers), *people, "stranger"]
        person = names[number % len(names)]
        for who in callers:
            if who.name == person and person not in people:
                self.current.sign_in(who)
        return person

    # Callers

    @rule(several=st.lists(asks, min_size=1, max_size=6), directive=directives)
    @step("look_up")
    def look_up(self, several: list[Any], directive: Spend) -> None:
        for each in several:
            self.current.look_up(*self.lookup(*each), directive)

    @rule(several=st.lists(asks, min_size=3, max_size=10))
    @step("look_up_again")
    def look_up_again(self, several: list[Any]) -> None:
        for each in (*several, *several):
            self.current.look_up(*self.lookup(*each))

    @rule(first=asks, kind=kinds, at=numbers, several=st.lists(asks, min_size=2, max_size=5))
    @step("look_up_under")
    def look_up_under(self, first: Any, kind: str, at: int, several: list[Any]) -> None:
        # After the first lookup, a client that reuses connections has an open connection.
        chosen = [self.lookup(*each) for each in (first, *several)]
        self.current.look_up(*chosen[0])
        self.current.look_up_under(kind, self.upstream(at), chosen[1:])

    @rule(several=st.lists(asks, min_size=1, max_size=3), times=st.integers(3, 8))
    @step("look_up_together")
    def look_up_together(self, several: list[Any], times: int) -> None:
        self.current.look_up_together([self.lookup(*each) for each in several] * times)

    @rule(number=numbers, plate=numbers, whole=st.booleans())
    @step("page")
    def page(self, number: int, plate: int, whole: bool) -> None:
        self.current.page(self.person(number), self.current.world.plates[plate % 4], whole)

    @rule(number=numbers, plate=numbers, action=st.sampled_from(["atualizar", "laudo"]))
    @step("act")
    def act(self, number: int, plate: int, action: str) -> None:
        self.current.act(self.person(number), self.current.world.plates[plate % 4], action)

    @rule(number=numbers, plate=numbers)
    @step("dossier")
    def dossier(self, number: int, plate: int) -> None:
        self.current.dossier(self.person(number), self.current.world.plates[plate % 4])

    # Owners of batches and issued dossiers

    @precondition(lambda self: self.env != "demo")
    @rule(number=numbers, plates=chosen_plates, ask=lookup_sets, start=st.booleans())
    @step("new_batch")
    def new_batch(self, number: int, plates: list[int], ask: list[Operation], start: bool) -> None:
        batch = self.current.new_batch(self.caller(number), self.vehicles(plates), ask)
        if batch is not None and start:
            self.current.start_batch(batch)

    @rule(number=numbers, max_cost=st.sampled_from([None, None, 3, 10]))
    @step("start_batch")
    def start_batch(self, number: int, max_cost: int | None) -> None:
        if batch := self.batch(number):
            self.current.start_batch(batch, max_cost)

    @rule(number=numbers)
    @step("retry_batch")
    def retry_batch(self, number: int) -> None:
        if batch := self.batch(number):
            self.current.retry_batch(batch)

    @rule(number=numbers, action=st.sampled_from(["pause", "cancel"]))
    @step("change_batch")
    def change_batch(self, number: int, action: str) -> None:
        if batch := self.batch(number):
            self.current.change_batch(batch, action)

    @rule(quiet=st.booleans())
    @step("read_batches")
    def read_batches(self, quiet: bool) -> None:
        if quiet:
            self.current.quiet()
        self.current.read_batches()

    @precondition(lambda self: self.env != "demo")
    @rule(number=numbers, plate=numbers)
    @step("purge_within_a_batch")
    def purge_within_a_batch(self, number: int, plate: int) -> None:
        plates, owners = self.current.world.plates, (self.caller(number), self.caller(number + 1))
        first, other = plates[plate % 4], plates[(plate + 2) % 4]
        self.current.purge_within_a_batch(owners[0], first, owners[1], other)

    @rule(number=numbers, plate=numbers)
    @step("issue_dossier")
    def issue_dossier(self, number: int, plate: int) -> None:
        self.current.issue_dossier(self.person(number), self.current.world.plates[plate % 4])

    @rule(number=numbers)
    @step("revoke_dossier")
    def revoke_dossier(self, number: int) -> None:
        if valid := [each for each in self.current.dossiers if not each.ended]:
            self.current.revoke_dossier(valid[number % len(valid)])

    @rule()
    @step("open_dossiers")
    def open_dossiers(self) -> None:
        self.current.open_dossiers()

    @precondition(lambda self: self.env != "demo")
    @rule(number=numbers, plate=numbers)
    @step("issue_beside_a_purge")
    def issue_beside_a_purge(self, number: int, plate: int) -> None:
        plates = self.current.world.plates
        self.current.issue_beside_a_purge(self.person(number), plates[plate % 4])

    # Owners of declarations

    @precondition(lambda self: self.env != "demo")
    @rule(number=numbers, plate=numbers, states=declared_states, named=names, by_page=st.booleans())
    @step("declare")
    def declare(
        self,
        number: int,
        plate: int,
        states: dict[str, str],
        named: list[int],
        by_page: bool,
    ) -> None:
        who = self.caller(number)
        is_signed_in = by_page and self.current.sign_in(who)
        person = who.name if is_signed_in else ""
        vehicle = self.current.world.plates[plate % 4]
        self.current.declare(who, vehicle, states, self.vehicles(named), person)

    @precondition(lambda self: self.env != "demo")
    @rule(number=numbers, plate=numbers, key=st.sampled_from(LINES))
    @step("declare_together")
    def declare_together(self, number: int, plate: int, key: str) -> None:
        self.current.declare_together(
            self.caller(number), self.current.world.plates[plate % 4], key
        )

    @precondition(lambda self: self.env != "demo")
    @rule(number=numbers, plate=numbers)
    @step("declare_beside_a_purge")
    def declare_beside_a_purge(self, number: int, plate: int) -> None:
        plates = self.current.world.plates
        self.current.declare_beside_a_purge(self.caller(number), plates[plate % 4])

    @rule()
    @step("read_declared")
    def read_declared(self) -> None:
        self.current.read_declared(pages=True)

    @precondition(lambda self: self.tokens > 0 and self.env in "AB")
    @rule(number=numbers)
    @step("rotate_token")
    def rotate_token(self, number: int) -> None:
        if valid := self.valid_tokens():
            self.current.rotate_token(valid[number % len(valid)])

    @rule()
    @step("rotate_key")
    def rotate_key(self) -> None:
        self.current.rotate_key()

    # Operator

    @precondition(lambda self: self.tokens < 3)
    @rule(scopes=scope_sets, revoked=st.booleans())
    def issue_(self, scopes: frozenset[str], revoked: bool) -> None:
        self.tokens += 1
        self.issue(scopes=scopes, revoked=revoked)

    @step("issue")
    def issue(self, scopes: frozenset[str], revoked: bool) -> None:
        who = self.current.issue(scopes)
        if self.current.env.mode == "managed":
            self.current.sign_in(who)
            if revoked:
                for operation in (each for each in GETS if each in scopes):
                    plate = self.current.world.plates[2]
                    self.current.look_up(who, self.current.world.ask(operation, plate))
                self.current.revoke(who)

    @precondition(lambda self: self.tokens > 0 and self.env in "AB")
    @rule(number=numbers)
    @step("revoke")
    def revoke(self, number: int) -> None:
        if valid := self.valid_tokens():
            self.current.revoke(valid[number % len(valid)])

    def valid_tokens(self) -> list[Caller]:
        return [
            who
            for who in self.current.issued.values()
            if who.text not in self.current.model.revoked_at
            and who.issued_in == self.current.env.name
        ]

    @rule(plate=numbers, under_way=st.booleans(), another_key=st.sampled_from([0, 0, 0, 1]))
    @step("purge")
    def purge(self, plate: int, under_way: bool, another_key: int) -> None:
        plates = self.current.world.plates
        self.current.purge(plates[plate % 4], under_way, bool(another_key))

    @rule()
    @step("check_ledger")
    def check_ledger(self) -> None:
        self.current.check_ledger()

    @rule(env=st.sampled_from(["A", "A", "B", "A passed through", "demo"]))
    def switch_(self, env: str) -> None:
        self.env = env
        self.switch(env=env)

    @step("switch")
    def switch(self, env: str) -> None:
        self.current.switch(env)
        self.current.sign_in(self.current.callers()[0])

    @precondition(lambda self: self.env != "demo")
    @rule(number=numbers, plates=chosen_plates, under_way=st.booleans())
    @step("back_up")
    def back_up(self, number: int, plates: list[int], under_way: bool) -> None:
        if under_way:
            owner = self.caller(number)
            self.current.back_up_within_a_batch(owner, self.vehicles(plates))
        else:
            self.current.back_up()

    @precondition(lambda self: self.env != "demo" and self.redis_here)
    @rule(number=numbers, plates=chosen_plates, purges_of=st.booleans())
    @step("restore")
    def restore(self, number: int, plates: list[int], purges_of: bool) -> None:
        if self.current.kept is None:
            self.current.back_up_within_a_batch(self.caller(number), self.vehicles(plates))
        self.current.restore(purges_of)

    # Outages and processes

    @rule(end=st.sampled_from(["kill a worker", "kill the batches", "restart"]), held=st.booleans())
    @step("end_processes")
    def end_processes(self, end: str, held: bool) -> None:
        match end:
            case "kill a worker":
                self.current.kill_worker(held)
            case "kill the batches":
                self.current.kill_batches()
            case _:
                self.current.restart(held)

    @rule(at=numbers, kind=standing_kinds)
    @step("outage")
    def outage(self, at: int, kind: str) -> None:
        if kind == "stopped":
            self.current.stop_upstream(self.upstream(at))
        else:
            self.current.set_answer(kind, self.upstream(at))

    @rule(plate=numbers)
    @step("kill_plate")
    def kill_plate(self, plate: int) -> None:
        self.current.kill_plate(self.current.world.plates[plate % 4])

    # Its lookups wait for time-outs, so that only few histories have the step.
    @precondition(lambda self: self.env.startswith("A") and not self.was_slow)
    @rule(lookups=st.integers(2, 4), chosen=st.sampled_from([False, False, False, True]))
    def slow_primary_(self, lookups: int, chosen: bool) -> None:
        if chosen:
            self.was_slow = True
            self.slow_primary(lookups=lookups)

    @step("slow_primary")
    def slow_primary(self, lookups: int) -> None:
        self.current.slow_primary(lookups)

    @rule()
    @step("heal")
    def heal(self) -> None:
        self.current.heal()

    @rule(seconds=st.sampled_from([0.4, 1.0, 2.5, 4.0]))
    @step("wait")
    def wait(self, seconds: float) -> None:
        self.current.wait(seconds)

    @precondition(lambda self: self.short and self.env != "demo")
    @rule(cut=st.booleans())
    @step("look_up_around_expiry")
    def look_up_around_expiry(self, cut: bool) -> None:
        self.current.heal()
        self.current.look_up_around_expiry(cut)

    @rule()
    @step("remove_leases")
    def remove_leases(self) -> None:
        self.current.remove_leases()

    @precondition(lambda self: self.has_redis and self.redis_here)
    @rule(pause=st.booleans())
    @step("redis_outage")
    def redis_outage(self, pause: bool) -> None:
        self.current.redis_outage(pause)

    @precondition(lambda self: self.has_redis and self.redis_here)
    @rule(pause=st.booleans())
    def redis_away_(self, pause: bool) -> None:
        self.redis_here = False
        self.redis_away(pause=pause)

    @step("redis_away")
    def redis_away(self, pause: bool) -> None:
        self.current.redis_away(pause)

    @precondition(lambda self: self.has_redis and not self.redis_here)
    @rule()
    def redis_back_(self) -> None:
        self.redis_here = True
        self.redis_back()

    @step("redis_back")
    def redis_back(self) -> None:
        self.current.redis_back()

    @precondition(lambda self: self.has_redis and self.redis_here)
    @rule(plate=numbers)
    @step("purge_with_a_stalled_worker")
    def purge_with_a_stalled_worker(self, plate: int) -> None:
        plates = self.current.world.plates
        self.current.purge_with_a_stalled_worker(plates[plate % 4])
