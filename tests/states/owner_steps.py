"""Steps of owners: batches of lookups, and issued dossiers."""

import json
import math
import re
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from urllib.parse import urlsplit

from tests.fakes.answers import Operation
from tests.states.caller_steps import CallerSteps
from tests.states.model import Caller, Reply, Violation
from tests.states.owned import Batch, Dossier

_LINK = re.compile(rb'value="https?://[^/"]+(/d/[^"]+)"')
# A batch of four vehicles ends or pauses within so many seconds, even if each call times out.
BATCH_ENDS_S = 90.0


class OwnerSteps(CallerSteps):
    """A history with steps of the owners of batches and dossiers."""

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)
        self.settle()

    # Batches

    def new_batch(
        self, owner: Caller, plates: Sequence[str], ask: Collection[Operation] = ()
    ) -> Batch | None:
        """Create a batch, which asks nothing yet. Return None if its owner may not."""
        names = tuple(each for each in ("decode", "renainf", "renajud") if each in owner.scopes)
        chosen = tuple(each for each in names if each in ask) or names
        document = {"plates": list(plates), "ask": chosen}
        reply = self._batch_request(owner, "POST", "", document)
        self.settle()
        if reply.status != 201:
            if not self._may_refuse(owner) and chosen:
                raise Violation("a batch can be created", f"{reply.status} {reply.body[:200]!r}")
            return None
        made = json.loads(reply.body)
        left_out = [each["value"] for each in made["wrong"]]
        twins = set(self.world.plates[:2])  # a batch buys the two spellings of a plate once
        if len(left_out) != (twins <= set(plates)) or not twins.issuperset(left_out):
            raise Violation("a batch leaves out a second spelling alone", f"{plates}: {made}")
        subjects = [plate for plate in plates if plate not in left_out]
        batch = Batch(
            id=made["id"],
            owner=owner,
            env=self.env.name,
            ask=chosen,
            subjects=subjects,
            lookups={
                self.world.ask(operation, plate).key: math.inf
                for operation in chosen
                for plate in subjects
            },
        )
        self.batches.append(batch)
        return batch

    def start_batch(self, batch: Batch, max_cost: int | None = None) -> None:
        """Start or resume a batch.

        The owner confirms ``max_cost``, or what the portal shows as the most. Without ``max_cost``,
        the start of a running batch changes nothing.
        """
        shown = self.read_batch(batch)
        until, batch.asks_until = batch.asks_until, math.inf
        document = {} if max_cost is None else {"max_cost": max_cost}
        reply = self._batch_request(batch.owner, "POST", f"/{batch.id}/start", document)
        if reply.status == 200:
            started = json.loads(reply.body, parse_float=Decimal)
            if max_cost is not None:
                # What was spent before the start may be more.
                batch.confirmed = max(Decimal(max_cost), Decimal(started["cost"]["spent"]))
            else:
                goes_on = shown is not None and shown["state"] in ("running", "done")
                offers = [Decimal(each["cost"]["at_most"]) for each in (shown, started) if each]
                batch.confirmed = max(*offers, batch.confirmed if goes_on else Decimal(0))
            self._note(batch, started)
        else:
            batch.asks_until = until
            if reply.status not in (404, 409) and not self._may_refuse(batch.owner):
                raise Violation("a batch can be started", f"{reply.status} {reply.body[:200]!r}")
        self.settle()

    def retry_batch(self, batch: Batch) -> None:
        """Look up again what has failed, which adds its price to what the owner confirmed."""
        self.read_batch(batch)
        reply = self._batch_request(batch.owner, "GET", f"/{batch.id}/results.jsonl")
        rows = map(json.loads, reply.body.splitlines()) if reply.status == 200 else ()
        failed = [row["plate"] for row in rows if row["state"] == "failed"]
        if not failed:
            return
        until, batch.asks_until = batch.asks_until, math.inf
        reply = self._batch_request(batch.owner, "POST", f"/{batch.id}/start", {"retry": failed})
        if reply.status == 200:
            started = json.loads(reply.body, parse_float=Decimal)
            batch.confirmed = max(batch.confirmed, Decimal(started["cost"]["at_most"]))
            self._note(batch, started)
        else:
            batch.asks_until = until
            # A purge may have deleted an item since.
            if reply.status not in (400, 404, 409) and not self._may_refuse(batch.owner):
                raise Violation("a batch can be retried", f"{reply.status} {reply.body[:200]!r}")
        self.settle()

    def change_batch(self, batch: Batch, action: str) -> None:
        """Post ``pause`` or ``cancel``."""
        reply = self._batch_request(batch.owner, "POST", f"/{batch.id}/{action}")
        if reply.status == 200:
            self._note(batch, json.loads(reply.body, parse_float=Decimal))
        elif reply.status not in (404, 409) and not self._may_refuse(batch.owner):
            raise Violation(f"a batch can be {action}d", f"{reply.status} {reply.body[:200]!r}")
        self.settle()

    def read_batches(self) -> None:
        """Read the results of every batch of the current configuration."""
        for batch in self.batches:
            if batch.env == self.env.name:
                self.read_batch(batch)
                self.check_results(batch)
        self.settle()

    def quiet(self) -> None:
        """Wait until no batch is running."""
        ends_at = time.monotonic() + BATCH_ENDS_S
        for batch in self.live_batches():
            while (shown := self.read_batch(batch)) and shown["state"] == "running":
                if time.monotonic() > ends_at:
                    raise Violation("a batch ends or pauses", f"{batch}: {shown}")
                self.wait(0.1)
        self.settle()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let no upstream answer within the block."""
        self._trouble()  # a lookup may time out
        for upstream in self.world.upstreams:
            upstream.gate.clear()
        try:
            yield
        finally:
            for upstream in self.world.upstreams:
                upstream.gate.set()

    def start_until_asked(self, batch: Batch, most_s: float = 5.0) -> None:
        """Start a batch, and wait until its first call has arrived at an upstream."""
        self.start_batch(batch)
        ends_at = time.monotonic() + most_s
        while not self._is_being_asked(batch) and time.monotonic() < ends_at:
            if (shown := self.read_batch(batch)) is None or shown["state"] != "running":
                break
            time.sleep(0.02)

    def _is_being_asked(self, batch: Batch) -> bool:
        keys = batch.lookups
        return any(each.key in keys and not each.has_ended for each in self.model.answers())

    # Issued dossiers

    def issue_dossier(self, person: str, plate: str) -> Dossier | None:
        """Issue the dossier of what is stored about a vehicle; None if nothing is stored."""
        reply = self.world.form(person, "/", f"/placa/{plate}/dossie/emitir")
        dossier = self._issued_by(person, plate, reply)
        if dossier is not None:
            paper = self.world.page(person, dossier.link + "/papel")
            shown = replace(paper, asked_at=reply.asked_at)
            self.model.check_page(self.env, self._reader(person), {plate}, shown)
            self.dossiers.append(dossier)
            self.open_dossier(dossier)
        self.settle()
        return dossier

    def _issued_by(self, person: str, plate: str, reply: Reply) -> Dossier | None:
        """Return the dossier whose issue ``reply`` confirms; None if it was refused or deleted."""
        path = urlsplit(reply.headers.get("location", "")).path
        if reply.status != 303 or not path.startswith("/dossie/"):
            return None
        shown = self.world.page(person, path)
        link = _LINK.search(shown.body)
        if link is None:
            return None
        number = path.rpartition("/")[2]
        return Dossier(number, link[1].decode(), person, plate, self.env.name)

    def revoke_dossier(self, dossier: Dossier) -> None:
        path = f"/dossie/{dossier.number}"
        done = self.world.form(dossier.person, path, f"{path}/revogar").status == 303
        if done and self.world.request("GET", dossier.link).status == 410:
            dossier.ended = dossier.ended or "revoked"
        self.settle()

    def open_dossiers(self) -> None:
        """Open the public link of every dossier."""
        for dossier in self.dossiers:
            self.open_dossier(dossier)
        self.settle()

    def open_dossier(self, dossier: Dossier) -> None:
        is_here = dossier.env == self.env.name and not dossier.is_doubtful
        for ending in ("", ".pdf", "/papel"):
            reply = self.world.request("GET", dossier.link + ending)
            if reply.status == 200 and dossier.ended:
                what = f"{dossier}, {dossier.ended}: {len(reply.body)} bytes by its link{ending}"
                raise Violation("an ended dossier stays ended", what)
            if reply.status not in (200, 501) and is_here and not dossier.ended:
                raise Violation("an issued dossier opens", f"{dossier}: {reply.status}")
            if ending == ".pdf" and reply.status == 200:
                if reply.body != (dossier.pdf or reply.body):
                    raise Violation("an issued dossier never changes", str(dossier))
                dossier.pdf = reply.body
