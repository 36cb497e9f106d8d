"""Steps of an operator: tokens, purges, the ledger."""

import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from tests.states.model import PURGE_REACHES_S, REVOCATION_REACHES_S, Ask, Caller, Reply, Violation
from tests.states.numbered import Answer
from tests.states.outage_steps import OutageSteps
from tests.states.owned import Dossier
from tests.states.world import ALICE, BOB, EACH_WORKER, SECOND, STAFF

ANOTHER_KEY = "another-secret-key-than-the-portals"
# Columns that lose values beside a purge, and hold no vehicle's data: a batch's random id, what it
# asks, its owner's credential, the process that has an item. A batch without vehicles is deleted
# later, by the process that runs it, and its bytes are erased within an hour.
OF_NO_VEHICLE = (
    *("batches.sealed_access", "batches.ask", "batches.id"),
    *("batch_items.holder", "batch_items.batch"),
)
BESIDE_A_PURGE = 4  # dossiers issued during a purge; 30 a minute are allowed


class OperatorSteps(OutageSteps):
    """A history with steps of an operator."""

    _tokens = 0  # how many were issued, so that no name is given twice

    # Tokens

    def issue(self, scopes: frozenset[str]) -> Caller:
        self._tokens += 1
        name = f"issued-{self._tokens}"
        code, printed = self.world.command("token", "issue", name, "--scopes", ",".join(scopes))
        if code != 0:
            raise Violation("a token can be issued", printed[-300:])
        text = printed.strip().splitlines()[-1]
        self.issued[name] = Caller(name, text, True, scopes, self.env.name)
        self.settle()
        return self.issued[name]

    def revoke(self, who: Caller) -> None:
        """Revoke a token and check that it is rejected everywhere after five seconds.

        The check covers stored answers and pages.
        """
        code, printed = self.world.command("token", "revoke", who.name)
        if code != 0:
            raise Violation("a token can be revoked", printed[-300:])
        revoked_at = self.model.revoked_at[who.text] = time.time()
        operation = sorted(who.scopes & {"decode", "renainf", "renajud"} or {"decode"})[0]
        ask = self.world.ask(operation, self.world.plates[2])  # type: ignore[arg-type]
        refused = 0
        while refused < EACH_WORKER:
            began = time.time()
            answered = self.look_up(who, ask, "only-if-cached").status not in (401, 403)
            if who.name in self.world.people:
                page = self.world.page(who.name, f"/placa/{self.world.plates[2]}")
                answered |= page.status == 200
            if answered and began > revoked_at + REVOCATION_REACHES_S:
                raise Violation("a revoked token gets nothing after 5 s", who.name)
            refused = 0 if answered else refused + 1

    # Purge

    def purge(
        self,
        plate: str,
        under_way: bool = False,
        another_key: bool = False,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> bool:
        """Purge a vehicle. After success, none of its answers may be left or served.

        ``meanwhile`` is called after the purge, and before the end of the lookups under way.
        Return whether the purge succeeded.
        """
        subjects = self._both_spellings(plate)
        before = self.world.cells()
        for batch in self.batches:
            batch.begin_purge(subjects)
        with ThreadPoolExecutor(1) as pool:
            held = []
            if under_way and self.env.mode != "demo":
                held = self._held(pool, self.callers()[0], plate)
            settings = {"PORTAL_SECRET_KEY": ANOTHER_KEY} if another_key else {}
            code, printed = self._purge(plate, settings)
            if code == 0:
                self._note_purge(subjects)
            meanwhile()
            for upstream in self.world.upstreams:
                upstream.gate.set()
            for who, ask, reply in held:
                self._check_reply(who, ask, "", reply.result(), alone=False)
        self.quiet()
        self.settle()
        # Under demo settings the command may leave an upstream's data unchanged.
        if code == 1 and (another_key or not self.model.store_is_well or self.env.mode == "demo"):
            self.model.forget_stored(subjects)  # some answers may be deleted
            for dossier in self._dossiers_of(subjects):
                dossier.is_doubtful = True
            return False
        if code != 0:
            raise Violation("a purge is done", printed[-300:])
        if not self.model.store_is_well:
            raise Violation("a purge that cannot reach Redis says so", printed[-300:])
        self._check_gone(subjects, before, printed)
        return True

    def _note_purge(self, subjects: set[str]) -> None:
        now = time.time()
        self.purges.append((now, subjects))
        under_way = {each.key for each in self.model.answers() if not each.has_ended}
        for batch in self.batches:
            batch.end_purge(subjects, now, under_way)
        for dossier in self._dossiers_of(subjects):
            dossier.ended = dossier.ended or "purged"

    def _dossiers_of(self, subjects: set[str]) -> list[Dossier]:
        return [each for each in self.dossiers if each.plate in subjects]

    def purge_within_a_batch(self, first: Caller, plate: str, second: Caller, other: str) -> None:
        """Purge the only vehicle of a batch, and start another owner's batch, within a lookup."""
        batch = self.new_batch(first, [plate])
        if batch is None:
            return

        def start_another() -> None:
            if another := self.new_batch(second, [other]):
                self.start_until_asked(another, most_s=1.0)

        with self.held():
            self.start_until_asked(batch)
            self.purge(plate, meanwhile=start_another)
        self.quiet()
        self.read_batches()

    def issue_beside_a_purge(self, person: str, plate: str) -> None:
        """Issue a vehicle's dossiers while it is purged. None of them may be left afterwards."""
        issue = (f"/placa/{plate}/dossie/emitir", *self.world.form_keys(person, "/"))
        visit = {"Cookie": issue[-1], "Sec-Purpose": "prefetch"}  # asks nothing
        before, ended = self.world.last_purge(), threading.Event()

        def issue_meanwhile(pool: ThreadPoolExecutor) -> list[Future[Reply]]:
            """Issue one dossier before the purge, and some at its begin.

            The visits before it keep the answers in the workers' memory.
            """
            issued = [pool.submit(self.world.post_form, *issue)]
            while self.world.last_purge() == before and not ended.wait(0.02):
                self.world.request("GET", f"/placa/{plate}?completo=1", visit)
            issued += [pool.submit(self.world.post_form, *issue) for _ in range(BESIDE_A_PURGE)]
            return issued

        with ThreadPoolExecutor(BESIDE_A_PURGE + 2) as pool:
            issuing = pool.submit(issue_meanwhile, pool)
            is_purged = self.purge(plate, meanwhile=ended.set)
            replies = [each.result() for each in issuing.result()]
        for reply in replies:
            if dossier := self._issued_by(person, plate, reply):
                dossier.ended = "purged" if is_purged else ""
                dossier.is_doubtful = not is_purged
                self.dossiers.append(dossier)
        self.open_dossiers()

    def purge_with_a_stalled_worker(self, plate: str) -> None:
        """Purge, and restart Redis empty, while one worker is suspended."""
        redis = self.world.redis
        assert redis is not None
        stalled = self.world.portal.worker_pids()[0]
        before = self.world.cells()
        subjects = self._both_spellings(plate)
        for batch in self.batches:
            batch.begin_purge(subjects)
        os.kill(stalled, signal.SIGSTOP)
        try:
            code, printed = self._purge(plate, {})
            redis.kill()
            redis.start()
        finally:
            os.kill(stalled, signal.SIGCONT)
        if "purge again" in printed:  # the worker was suspended within a transaction
            code, printed = self._purge(plate, {})
        self._of_batches.clear()
        self.model.forget_stored()
        if code == 1 and self.env.mode == "demo":
            return
        if code != 0:
            raise Violation("a purge is done", printed[-300:])
        self._note_purge(subjects)
        self._check_gone(subjects, before, printed)

    def _purge(self, plate: str, settings: dict[str, str]) -> tuple[int, str]:
        """Run ``purge``; repeat it while a database reader keeps old bytes in the WAL."""
        for _ in range(4):
            code, printed = self.world.command("purge", plate, **settings)
            if "purge again" not in printed:
                break
        return code, printed

    def _both_spellings(self, plate: str) -> set[str]:
        twins = set(self.world.plates[:2])
        return twins if plate in twins else {plate}

    def _check_gone(self, subjects: set[str], before: Mapping[bytes, str], printed: str) -> None:
        purged_at = time.time()
        if self.env.mode == "demo":
            self.model.forget_stored(subjects)
            return
        purged = [each for each in self.model.answers() if each.subject in subjects]
        for answer in purged:
            answer.forget_stored()
            answer.purged_at = answer.purged_at or purged_at
        after = self.world.cells()
        vanished = {
            cell: column
            for cell, column in before.items()
            if cell not in after and column not in OF_NO_VEHICLE
        }

        def still_gone() -> dict[bytes, str]:
            """Leave out the vehicle's tag if it is in the trail again: somebody has asked since."""
            live = self.world.cells()
            back = {cell for cell, column in live.items() if column == "trail.subject"}
            return {cell: column for cell, column in vanished.items() if cell not in back}

        needles = {each.needle: each for each in purged if each.needle}
        # Lookups that were under way have ended, and may have left rows, but no tag in them.
        while (left := self._left(needles, vanished)) and time.time() < purged_at + 1.0:
            time.sleep(0.05)
        if left:
            said = printed.strip().replace("\n", "; ")
            raise Violation("a purge leaves no byte", f"{left} ({said})")
        time.sleep(max(0.0, purged_at + PURGE_REACHES_S + 0.1 - time.time()))
        self._ask_everywhere(purged, subjects)
        # A row of the trail may be written between the two readings.
        if self._left(needles, still_gone()) and (left := self._left(needles, still_gone())):
            raise Violation("a purged answer is not stored again", left)

    def _left(self, needles: dict[bytes, Answer], vanished: Mapping[bytes, str]) -> str:
        """Return a description of the first purged bytes found on disk or in Redis, or ""."""
        places = {str(path.name): data for path, data in self.world.files().items()}
        if self.model.store_is_well:
            values = self.world.redis_values()
            places |= {f"Redis {key!r}": data for key, data in values.items()}
        for place, data in places.items():
            for needle, answer in needles.items():
                if needle in data:
                    return f"{place} holds {answer}"
            for cell, column in vanished.items():
                if cell in data:
                    return f"{place} holds a deleted {column}, {cell[:24]!r}…"
        return ""

    def _ask_everywhere(self, purged: Collection[Answer], subjects: set[str]) -> None:
        """Request the purged vehicles from each worker and on each person's pages.

        No request may cause an upstream call.
        """
        known = {who.text: who for who in (STAFF, SECOND, ALICE, BOB)}
        asked: set[tuple[str, Ask]] = set()
        for answer in purged:
            who = STAFF if self.env.mode == "managed" else known.get(answer.credential)
            if who is not None and answer.env == self.env.name and answer.body:
                body = answer.call.body or None
                asked.add((who.text, Ask(answer.operation, answer.subject, answer.key, body)))
        for text, ask in sorted(asked, key=str)[-4:]:
            for _ in range(EACH_WORKER):
                self.look_up(known[text], ask, "only-if-cached")
        for person, (_, _, env) in list(self.world.people.items()):
            if env != self.env.name:
                continue
            front = self.world.page(person, "/")
            for subject in subjects:
                if subject.encode() in front.body:
                    raise Violation("a purge covers the history", f"/ of {person}: {subject}")
                for _ in range(3):
                    headers = {"Sec-Purpose": "prefetch"}
                    reply = self.world.page(person, f"/placa/{subject}", **headers)
                    self._check_page(person, {subject}, reply)
                    self.settle()

    # Ledger

    def check_ledger(self) -> None:
        """Check that the ledger has a row for every call that the upstreams counted.

        If no connection was cut, the ledger must have no other rows. A restored ledger lacks the
        calls since its backup.
        """
        self.quiet()
        rows = self.world.ledger()
        if self.env.mode == "demo":
            if len(rows) > 2 * self.demo_lookups:
                raise Violation(
                    "the demonstration has a ledger of its own",
                    f"{len(rows)} rows after {self.demo_lookups} lookups",
                )
            return
        for word, upstream in self.env.upstreams.items():
            booked = sum(row["origin"] == word for row in rows)
            lost = self.lost_rows[upstream.name]
            counted = len(upstream.answers) - lost
            context = f"{booked} rows of the {word} of {self.env.name}, {counted} calls"
            if booked < counted:
                raise Violation("the ledger is never below the upstream's count", context)
            if self.exact[upstream.name] and booked > counted:
                raise Violation("the ledger equals the upstream's count", context)
