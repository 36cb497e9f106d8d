"""Checks of every reply, and of the portal's state after every step of a history."""

import math
import random
import time
from collections.abc import Collection, Mapping

from tests.fakes.answers import Operation, path_of
from tests.states.batch_checks import BatchChecks
from tests.states.model import (
    REVOCATION_REACHES_S,
    TROUBLE_S,
    Ask,
    Caller,
    Lifetime,
    Reply,
    Spend,
    Violation,
    credential,
)
from tests.states.numbered import Answer, Key
from tests.states.owned import PRICES, Batch, Dossier
from tests.states.run import Totals
from tests.states.world import ALICE, BOB, SECOND, STAFF, VISITOR, World

OF_A_PLATE: tuple[Operation, ...] = ("decode", "renainf", "renajud")
# A failure that took longer than this, in seconds, may be a time-out of a slow machine.
LATE_S = 2.5
WRITTEN_BY_A_PAGE: Key = ("POST", path_of("report"), "")


class CheckedHistory(BatchChecks):
    """A history with its checks; ``world`` is the deployment. Every step ends with ``settle``."""

    def __init__(
        self,
        chance: random.Random,
        lifetimes: Mapping[Operation, Lifetime],
        redis: bool = False,
        env: str = "A",
        totals: Totals | None = None,
    ) -> None:
        self.chance = chance
        self.totals = totals or Totals()
        self.totals.histories += 1
        self.world = World(chance, lifetimes, redis, env)
        self.model = self.world.model
        self.issued: dict[str, Caller] = {}
        self.exact = {upstream.name: True for upstream in self.world.upstreams}
        self.batches: list[Batch] = []
        self.dossiers: list[Dossier] = []
        self.purges: list[tuple[float, set[str]]] = []  # when they were done, and the vehicles
        # The rows that the ledger has lost by a restore, by the upstream's name.
        self.lost_rows = dict.fromkeys(self.exact, 0)
        self.demo_lookups = 0
        self.disturbed = False  # whether a breaker may be half-open and reject all but its probe
        self._seen = {upstream.name: 0 for upstream in self.world.upstreams}
        # The credentials that may be sent upstream in this step, by the lookup's key.
        self._expected: dict[Key, set[str]] = {}
        self._refreshed: set[Key] = set()
        self._killed = False
        self._settled_at = time.time()  # when the last step had ended
        # Answers that the portal may not have received yet.
        self._under_way: list[Answer] = []
        # Answers to batches. They are stored at the latest when their batch is done.
        self._of_batches: set[Answer] = set()

    def callers(self) -> list[Caller]:
        """Return the callers known in the current mode. The first is never revoked."""
        match self.env.mode:
            case "managed":
                return [STAFF, SECOND, *self.issued.values()]
            case "pass-through":
                return [ALICE, BOB, *self.issued.values()]
            case _:
                return [VISITOR, STAFF]

    def _expect(self, who: Caller, key: Key, directive: Spend) -> None:
        self.totals.lookups += 1
        self.demo_lookups += self.env.mode == "demo"
        if directive != "only-if-cached":
            self._expected.setdefault(key, set()).add(credential(self.env, who))
        if directive == "no-cache" and "refresh" in who.scopes:
            self._refreshed.add(key)

    def _expect_all(self, who: Caller | None, plate: str, directive: Spend = "") -> None:
        for operation in OF_A_PLATE:
            ask = self.world.ask(operation, plate)
            self._expect(who or VISITOR, ask.key, directive)

    def _reader(self, person: str) -> Caller | None:
        known = self.world.people.get(person)
        return known[0] if known else None

    def _check_reply(
        self, who: Caller, ask: Ask, directive: Spend, reply: Reply, alone: bool
    ) -> None:
        for answer in self._new_answers():
            answer.env = answer.env or self.env.name
        if self.live_batches():
            alone = False
            if any(each.outcome != "good" for each in self._new_answers()):
                self._trouble()
        if reply.status == 200:
            self.model.check_success(self.env, who, ask, directive, reply, alone)
        elif reply.status == 0:
            if not self._killed:
                raise Violation("every request is answered", str(ask))
        elif reply.status >= 502 and reply.ended_at - reply.asked_at > LATE_S:
            self.totals.late += 1
            self._trouble()
        elif not (reply.status == 503 and self.disturbed and not alone):
            self.model.check_failure(self.env, who, ask, directive, reply, alone)

    def _check_page(self, person: str, subjects: set[str], reply: Reply) -> None:
        self.totals.pages += 1
        # settle(), which calls _trouble() for failed calls, has not run in this step yet.
        excused = reply.asked_at < self.model.trouble_until or any(
            each.outcome != "good" for each in self._new_answers()
        )
        if reply.status >= 500 and not excused and self.env.mode != "demo":
            after_s, said = reply.ended_at - reply.asked_at, reply.body.partition(b"<main")[2]
            context = f"{reply.status} after {after_s:.1f} s: {said[:600]!r}"
            raise Violation("a page is answered", context)
        self.model.check_page(self.env, self._reader(person), subjects, reply)

    def _new_answers(self) -> list[Answer]:
        return [
            answer
            for upstream in self.world.upstreams
            for answer in upstream.answers[self._seen[upstream.name] :]
        ]

    def _trouble(self) -> None:
        self.disturbed = True
        self.model.trouble_until = time.time() + TROUBLE_S

    def settle(self) -> None:
        """Check the invariants that hold after every step."""
        now = time.time()
        new = self._new_answers()
        for answer in new:
            answer.env = answer.env or self.env.name
        for answer in new:
            if answer.upstream not in self.env.upstreams.values():
                raise Violation("the configured upstream is asked", str(answer))
            self._check_call(answer)
        self._under_way += new
        if any(answer.outcome in ("failed", "busy") for answer in self._under_way) or any(
            upstream.standing.outcome in ("failed", "busy") for upstream in self.world.upstreams
        ):
            self._trouble()
        down = [each for each in self.env.upstreams.values() if not each.fake.is_listening]
        if down:
            self._trouble()
        self.totals.calls += len(new)
        for upstream in self.world.upstreams:
            self._seen[upstream.name] = len(upstream.answers)
            self.exact[upstream.name] &= not upstream.cut
        self._expected.clear()
        self._refreshed.clear()
        self._killed = False
        live = self.live_batches()
        for answer in [each for each in self._under_way if each.has_ended or not live]:
            answer.known_by = now
            self._under_way.remove(answer)
        for batch in live:
            shown = self.read_batch(batch)
            if shown is not None and shown["state"] == "done":
                self._note_stored(batch)
        self._check_log()
        self._settled_at = time.time()

    def _check_call(self, answer: Answer) -> None:
        """Check that a call was requested, has the right credential, and is not a repeat."""
        key = answer.key
        if answer.operation == "report" and WRITTEN_BY_A_PAGE in self._expected:
            key = WRITTEN_BY_A_PAGE
        allowed = self._expected.get(key, set())
        batches = [each for each in self.batches if self._may_have_sent(each, answer)]
        if key not in self._expected and not batches:
            raise Violation("nothing is asked that no caller asked for", str(answer))
        owners = {credential(self.env, each.owner) for each in batches}
        if answer.credential not in allowed | owners:
            raise Violation("a call goes out for its caller", f"{answer.credential!r}: {answer}")
        if any(each.text == answer.credential for each in (STAFF, SECOND, *self.issued.values())):
            raise Violation("no portal token goes upstream", str(answer))
        if not allowed:
            self._of_batches.add(answer)
            if len(batches) == 1 and answer.outcome == "good":
                batches[0].charged += PRICES[answer.operation]
        self._check_paid_once(answer)

    def _may_have_sent(self, batch: Batch, answer: Answer) -> bool:
        revoked_at = self.model.revoked_at.get(batch.owner.text, math.inf)
        return batch.may_have_sent(answer, revoked_at + REVOCATION_REACHES_S)

    def _check_paid_once(self, answer: Answer) -> None:
        if answer.key not in self._refreshed and self.model.store_is_well:
            of_step = [] if self._killed else self._new_answers()
            self.model.check_paid_once(answer, of_step, self._settled_at)

    def _note_stored(self, batch: Batch) -> None:
        for answer in [each for each in self._of_batches if each.key in batch.lookups]:
            self._of_batches.remove(answer)
            # After a longer time, the portal may have closed the connection meanwhile.
            was_sent = 0 < answer.sent_at < answer.received_at + LATE_S / 2
            if was_sent and self.model.store_is_well:
                answer.note_stored(time.time())

    def _check_log(self) -> None:
        written = self.world.new_log()
        names = {*self.world.plates, self.world.renavam, *self._texts()}
        for name in names:
            for form in (name, name.lower()):
                if form.encode() in written:
                    line = next(each for each in written.split(b"\n") if form.encode() in each)
                    raise Violation("no plate or token in logs", f"{name!r} in {line[:300]!r}")

    def _texts(self) -> Collection[str]:
        known = [STAFF, SECOND, ALICE, BOB, *self.issued.values()]
        return [who.text for who in known] + ["operator-credential-of-the-states"]
