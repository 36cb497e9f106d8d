"""Steps of an operator (tokens, purge, ledger), and lookups around an expiry."""

import os
import signal
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

from tests.states.model import PURGE_REACHES_S, REVOCATION_REACHES_S, Ask, Caller, Violation
from tests.states.numbered import EMPTY, GOOD, KINDS, Answer
from tests.states.outage_steps import OutageSteps
from tests.states.world import ALICE, BOB, EACH_WORKER, STAFF

ANOTHER_KEY = "another-secret-key-than-the-portals"
POLL_S = 0.03


class History(OutageSteps):
    """All steps of a history. A Violation ends the history."""

    # Tokens

    def issue(self, scopes: frozenset[str]) -> Caller:
        name = f"issued-{len(self.issued) + 1}"
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

    def purge(self, plate: str, under_way: bool = False, another_key: bool = False) -> None:
        """Purge a vehicle. After success, none of its answers may be left or served."""
        subjects = self._both_spellings(plate)
        before = self.world.cells()
        with ThreadPoolExecutor(1) as pool:
            held = []
            if under_way and self.env.mode != "demo":
                held = self._held(pool, self.callers()[0], plate)
            settings = {"PORTAL_SECRET_KEY": ANOTHER_KEY} if another_key else {}
            code, printed = self._purge(plate, settings)
            for upstream in self.world.upstreams:
                upstream.gate.set()
            for who, ask, reply in held:
                self._check_reply(who, ask, "", reply.result(), alone=False)
        self.settle(together=True)
        # Under demo settings the command may leave an upstream's data unchanged.
        if code == 1 and (another_key or not self.model.store_is_well or self.env.mode == "demo"):
            self.model.forget_stored(subjects)  # some answers may be deleted
            return
        if code != 0:
            raise Violation("a purge is done", printed[-300:])
        if not self.model.store_is_well:
            raise Violation("a purge that cannot reach Redis says so", printed[-300:])
        self._check_gone(subjects, before, printed)

    def purge_with_a_stalled_worker(self, plate: str) -> None:
        """Purge, and restart Redis empty, while one worker is suspended."""
        redis = self.world.redis
        assert redis is not None
        stalled = self.world.portal.worker_pids()[0]
        before = self.world.cells()
        os.kill(stalled, signal.SIGSTOP)
        try:
            code, printed = self._purge(plate, {})
            redis.kill()
            redis.start()
        finally:
            os.kill(stalled, signal.SIGCONT)
        self.model.forget_stored()
        if code == 1 and self.env.mode == "demo":
            return
        if code != 0:
            raise Violation("a purge is done", printed[-300:])
        self._check_gone(self._both_spellings(plate), before, printed)

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

    def _check_gone(self, subjects: set[str], before: set[bytes], printed: str) -> None:
        purged_at = time.time()
        if self.env.mode == "demo":
            self.model.forget_stored(subjects)
            return
        purged = [each for each in self.model.answers() if each.subject in subjects]
        for answer in purged:
            answer.stored = False
            answer.purged_at = answer.purged_at or purged_at
        vanished = before - self.world.cells()
        needles = {each.needle: each for each in purged if each.needle}
        while (left := self._left(needles, vanished)) and time.time() < purged_at + 1.0:
            time.sleep(0.05)
        if left:
            said = printed.strip().replace("\n", "; ")
            raise Violation("a purge leaves no byte", f"{left} ({said})")
        time.sleep(max(0.0, purged_at + PURGE_REACHES_S + 0.1 - time.time()))
        self._ask_everywhere(purged, subjects)
        if left := self._left(needles, vanished):
            raise Violation("a purged answer is not stored again", left)

    def _left(self, needles: dict[bytes, Answer], vanished: Collection[bytes]) -> str:
        """Return a description of the first purged bytes found on disk or in Redis, or ""."""
        places = {str(path.name): data for path, data in self.world.files().items()}
        if self.model.store_is_well:
            values = self.world.redis_values()
            places |= {f"Redis {key!r}": data for key, data in values.items()}
        for place, data in places.items():
            for needle, answer in needles.items():
                if needle in data:
                    return f"{place} holds {answer}"
            for cell in vanished:
                if cell in data:
                    return f"{place} holds a deleted cell of the database, {cell[:24]!r}…"
        return ""

    def _ask_everywhere(self, purged: Collection[Answer], subjects: set[str]) -> None:
        """Request the purged vehicles from each worker and on each person's pages.

        No request may cause an upstream call.
        """
        known = {who.text: who for who in (STAFF, ALICE, BOB)}
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

    def redis_outage(self, pause: bool) -> None:
        """Check that lookups are answered and a purge fails while Redis is unreachable."""
        who, ask = self.callers()[0], self.world.ask
        self.heal()
        for plate in self.world.plates[:2]:
            self.look_up(who, ask("decode", plate))
        self.redis_away(pause)
        for plate in self.world.plates:
            self.look_up(who, ask("decode", plate))
        self.purge(self.world.plates[0])
        self.redis_back()
        for plate in self.world.plates:
            self.look_up(who, ask("decode", plate))

    # Ledger

    def check_ledger(self) -> None:
        """Check that the ledger has a row for every call that the upstreams counted.

        If no connection was cut, the ledger must have no other rows.
        """
        rows = self.world.ledger()
        if self.env.mode == "demo":
            if len(rows) > 2 * self.demo_lookups:
                raise Violation(
                    "the demonstration has a ledger of its own",
                    f"{len(rows)} rows after {self.demo_lookups} lookups",
                )
            return
        for word, upstream in self.env.upstreams.items():
            booked, counted = sum(row["origin"] == word for row in rows), len(upstream.answers)
            context = f"{booked} rows of the {word} of {self.env.name}, {counted} calls"
            if booked < counted:
                raise Violation("the ledger is never below the upstream's count", context)
            if self.exact[upstream.name] and booked > counted:
                raise Violation("the ledger equals the upstream's count", context)

    # Expiry

    def look_up_around_expiry(self, cut: bool) -> None:
        """Look up empty lists and reports around the end of their freshness.

        The upstreams fail meanwhile, but the portal may not serve these answers stale.
        """
        who, world = self.callers()[0], self.world
        upstreams = list(self.env.upstreams.values())
        for upstream in upstreams:
            upstream.standing = EMPTY
        states = self.chance.sample(["AC", "AL", "AM", "BA", "CE", "GO", "MA", "MT", "PA"], 2)
        asks = [world.ask("renainf", plate, uf) for plate in world.plates for uf in states]
        asks += [
            world.ask("report", plate, data=self.chance.randrange(10**9)) for plate in world.plates
        ]
        for ask in asks:
            self.look_up(who, ask)
        for upstream in upstreams:
            upstream.standing = KINDS["status 500"]
            if cut:
                self.stop_upstream(upstream)
        due = [
            (ask, answer) for ask in asks if (answer := self.model.latest(self.env, who, ask.key))
        ]
        while due:
            now = time.time()
            near = []
            for ask, answer in due:
                age, fresh_s = now - answer.sent_at, self.model.lifetime(answer).fresh_s
                if age < fresh_s + 0.2:
                    near.append((ask, answer))
                if fresh_s * 0.88 < age and answer.outcome == "good":
                    self.look_up(who, ask)
            due = near
            time.sleep(POLL_S)
        for upstream in upstreams:
            upstream.standing = GOOD
        self.heal()
