"""Checks of batches: their state, their cost and their results."""

import json
import math
import time
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from tests.states.model import Caller, Env, Model, Reply, Violation
from tests.states.numbered import MARK
from tests.states.owned import Batch, Dossier
from tests.states.world import World

# The verdicts that say that nothing was found.
_FOUND_NOTHING = ("clear", "limited")
_RESULTS = ("results.csv", "fines.jsonl", "fines.csv", "restrictions.jsonl")


class BatchChecks:
    """The batches and dossiers of a history, and the checks of the batches."""

    world: World
    model: Model
    batches: list[Batch]
    dossiers: list[Dossier]

    @property
    def env(self) -> Env:
        return self.world.env

    def live_batches(self) -> list[Batch]:
        """Return the batches of this configuration that may be running."""
        here = [batch for batch in self.batches if batch.env == self.env.name]
        return [batch for batch in here if batch.asks_until > time.time()]

    def read_batch(self, batch: Batch) -> Mapping[str, Any] | None:
        """Read a batch and check its cost. Return None if the portal does not show the batch."""
        reply = self._batch_request(batch.owner, "GET", f"/{batch.id}")
        if reply.status == 404 and batch.subjects:
            raise Violation("a batch stays until it expires", str(batch))
        if reply.status == 404:
            batch.note_state("deleted", False, time.time())
        if reply.status in (401, 403) and not self._may_refuse(batch.owner):
            raise Violation("an owner may read a batch", f"{batch}: {reply.status}")
        if reply.status != 200:
            return None
        shown: Mapping[str, Any] = json.loads(reply.body, parse_float=Decimal)
        self._note(batch, shown)
        return shown

    def _note(self, batch: Batch, shown: Mapping[str, Any]) -> None:
        spent = Decimal(shown["cost"]["spent"])
        context = f"{batch}: {shown['state']} {shown['reason'] or ''}, {shown['cost']}"
        if spent > batch.confirmed:
            context += f", {batch.confirmed} confirmed"
            raise Violation("a batch spends no more than confirmed", context)
        if spent < batch.charged:
            raise Violation("a batch names what it spent", f"{context}, {batch.charged} charged")
        batch.note_state(shown["state"], shown["resumes_at"] is not None, time.time())

    def check_results(self, batch: Batch) -> None:
        """Read the results of a batch, which hold its own vehicles and true verdicts only."""
        reply = self._batch_request(batch.owner, "GET", f"/{batch.id}/results.jsonl")
        if reply.status == 200:
            rows = [json.loads(line) for line in reply.body.splitlines()]
            self._check_rows(batch, [row["plate"] for row in rows])
            for row in rows:
                self._check_verdict(batch, row, reply)
            self._check_text(batch, reply)
            for name in _RESULTS:
                path = f"/{batch.id}/{name}"
                self._check_text(batch, self._batch_request(batch.owner, "GET", path))

    def _check_rows(self, batch: Batch, plates: Sequence[str]) -> None:
        if not set(plates) <= {*batch.subjects, *batch.maybe}:
            raise Violation("a batch shows its own vehicles alone", f"{batch}: {plates}")
        if [each for each in plates if each in batch.subjects] != batch.subjects:
            raise Violation("a batch keeps each of its vehicles", f"{batch}: {plates}")

    def _check_text(self, batch: Batch, reply: Reply) -> None:
        own = {*batch.subjects, *batch.maybe}
        foreign = {*self.world.plates} - own
        for plate in foreign:
            if reply.status == 200 and plate.encode() in reply.body:
                raise Violation("a batch shows its own vehicles alone", f"{batch}: {plate}")
        by_needle = {each.needle: each for each in self.model.answers() if each.needle}
        for match in MARK.finditer(reply.body):
            answer = by_needle[match[0]]
            if answer.subject not in own:
                raise Violation("a batch shows its own vehicles alone", f"{batch}: {answer}")
            self.model.check_knowledge(self.env, batch.owner, answer, reply.asked_at)

    def _check_verdict(self, batch: Batch, row: Mapping[str, Any], reply: Reply) -> None:
        """Check that a verdict which found nothing relies on answers that may be fresh."""
        if row["verdict"] not in _FOUND_NOTHING:
            return
        for operation in set(batch.ask) & {"renainf", "renajud"}:
            key = self.world.ask(operation, row["plate"]).key
            last = self.model.latest(self.env, batch.owner, key)
            context = f"{batch}: {row}, {last}"
            if last is None:
                raise Violation("a clear verdict has an answer behind it", context)
            if self.model.surely_past(last, reply.asked_at, self.model.lifetime(last).fresh_s):
                late = reply.asked_at - (last.known_by or math.inf)
                raise Violation("no clear verdict past freshness", f"{context}, {late:.1f} s old")

    def _may_refuse(self, owner: Caller) -> bool:
        return self.model.may_refuse(self.env, owner)

    def _batch_request(self, owner: Caller, method: str, path: str, document: Any = None) -> Reply:
        headers = {"Authorization": owner.text}
        body = None
        if document is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(document).encode()
        return self.world.request(method, f"/api/v1/batches{path}", headers, body)
