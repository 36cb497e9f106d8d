"""Example vehicles. The sandbox answers for them, and no visitor's lookup is counted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from portal.dossier.answers import Panel, Panels
from portal.gateway.lookup import Lookup
from portal.gateway.operations import LOOKUP_OPERATIONS, Operation
from portal.vehicle.plate import Plate
from portal.vehicle.wire import result_of

# Returns the status and the body of the sandbox's answer to a method, a path and a body.
AskSandbox = Callable[[str, str, bytes], tuple[int, bytes]]
# A plate for which the sandbox, a simulated upstream, has a documented answer: the plate, a title,
# the sandbox's own answer, and that of a portal that has the sandbox as its upstream.
SamplePlate = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Examples:
    """The examples of the pages.

    ``shown`` are the plates of the front page in demo mode, each with a caption. ``samples``
    returns the documented plates.
    """

    ask_sandbox: AskSandbox
    samples: Callable[[], Sequence[SamplePlate]]
    shown: Sequence[tuple[str, str]] = ()

    def body(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Return the body of the sandbox's answer."""
        return self.ask_sandbox(method, path, body)[1]

    def showcases(self) -> Sequence[tuple[Plate, str, Panels]]:
        """Return the plates of the front page, each with its caption and the sandbox's answers."""
        return [(Plate.parse(text), caption, self._panels(text)) for text, caption in self.shown]

    def _panels(self, text: str) -> Panels:
        plate = Plate.parse(text)
        return Panels(*(self._panel(operation, plate) for operation in LOOKUP_OPERATIONS))

    def _panel(self, operation: Operation, plate: Plate) -> Panel:
        status, body = self.ask_sandbox("GET", Lookup(operation, plate).path, b"")
        if status != 200:
            return Panel("unavailable", cause="unreachable")
        return Panel("fresh", body, result_of(body), datetime.now(UTC))
