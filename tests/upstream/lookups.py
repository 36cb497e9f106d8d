"""Helpers of the upstream's tests: a recording account, a resource, an origin."""

import time
from dataclasses import dataclass, field

from portal.gateway.answer_check import check, message_body
from portal.gateway.lookup import Lookup
from portal.gateway.operations import DECODE, RENAINF, RENAJUD, REPORT, Operation
from portal.upstream.origin import Origin
from portal.upstream.protocol import Resource, Response
from portal.upstream.spares import Spares
from portal.vehicle.plate import Plate
from tests import factories
from tests.fakes.closing import closed_later

OPERATION_OF: dict[str, Operation] = {
    each.name: each for each in (DECODE, RENAINF, RENAJUD, REPORT)
}


@dataclass
class RecordingAccount:
    """An account that accepts each call and records (origin, outcome, status)."""

    sends: list[tuple[str, str, int | None]] = field(default_factory=list)
    begun: int = 0

    def begin(self, origin: str) -> "RecordedAttempt":
        self.begun += 1
        return RecordedAttempt(self, origin)

    @property
    def outcomes(self) -> list[str]:
        return [outcome for _, outcome, _ in self.sends]


@dataclass
class RecordedAttempt:
    account: RecordingAccount
    origin: str

    def finish(self, outcome: str, status: int | None = None) -> None:
        self.account.sends.append((self.origin, outcome, status))


def resource(
    operation: str = "decode",
    plate: str = "ABC1D23",
    credential: str = "operator-token",
    payer: str | None = None,
) -> Resource:
    """Return a Resource: a request about a plate, with the gateway's answer check."""
    chosen = OPERATION_OF[operation]
    body = factories.report_request(plate) if chosen.method == "POST" else None
    lookup = Lookup(chosen, Plate.parse(plate), body=body)

    def judged(response: Response) -> Response:
        if response.status == 200:
            check(lookup, response.body, factories.HIDDEN)
        else:
            message_body(response.body)
        return response

    return Resource(
        method=chosen.method,
        path=lookup.path,
        subject=plate,
        credential=credential,
        body=body,
        check=judged,
        payer=payer,
    )


def origin(
    url: str,
    connect_s: float = 15.0,
    first_byte_s: float = 15.0,
    spares: Spares | None = None,
    name: str = "primary",
    **more: object,
) -> Origin:
    """Return an origin whose default time-outs suit a busy machine, with a spare connection."""
    used = spares or closed_later(Spares(1, connect_s), Spares.close)
    return Origin(name, url, connect_s, first_byte_s, used, **more)  # type: ignore[arg-type]


def deadline_in(seconds: float) -> float:
    """Return a deadline in monotonic seconds."""
    return time.monotonic() + seconds
