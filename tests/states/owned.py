"""What callers own in the portal beside their lookups: batches and issued dossiers."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal

from tests.fakes.answers import Operation
from tests.states.model import Caller
from tests.states.numbered import Answer, Key

# R$ a call. No two sets of lookups of a vehicle have the same price.
PRICES: dict[Operation, Decimal] = {
    "decode": Decimal(1),
    "renainf": Decimal(2),
    "renajud": Decimal(4),
    "report": Decimal(8),
}
# The setting DEADLINE, in which a lookup asks both base addresses.
DEADLINE_S = 7.0
# A batch that is no longer running may send calls for this many seconds. After a pause, the
# lookups of the vehicles in progress go on. After a cancellation, only calls under way do.
ENDING_S = {"paused": 25.0, "cancelled": 2.0}


@dataclass(eq=False)
class Batch:
    """A batch of lookups.

    ``lookups`` maps each lookup to the time until which a call for it may arrive, which is the end
    of a purge of its vehicle. ``asks_until`` is infinite while the batch may be running.
    ``confirmed`` is the most in R$ that the owner agreed to spend. ``charged`` is the price of the
    calls that no other batch or caller can have caused. A vehicle in ``maybe`` is being purged, or
    its purge has failed.
    """

    id: str
    owner: Caller
    env: str
    ask: tuple[Operation, ...]
    subjects: list[str]
    lookups: dict[Key, float]
    asks_until: float = -math.inf
    confirmed: Decimal = Decimal(0)
    charged: Decimal = Decimal(0)
    maybe: set[str] = field(default_factory=set)

    def may_have_sent(self, answer: Answer, revoked_at: float) -> bool:
        until = min(self.lookups.get(answer.key, -math.inf), self.asks_until, revoked_at)
        return answer.env == self.env and answer.received_at <= until

    def note_state(self, state: str, resumes: bool, now: float) -> None:
        """Take the state over that the portal shows."""
        if state == "running" or (state == "paused" and resumes):
            self.asks_until = math.inf
        elif self.asks_until == math.inf:
            self.asks_until = now + ENDING_S.get(state, 0.0)

    def begin_purge(self, subjects: Collection[str]) -> None:
        self.maybe |= {each for each in self.subjects if each in subjects}
        self.subjects = [each for each in self.subjects if each not in subjects]

    def end_purge(self, subjects: Collection[str], now: float, under_way: Collection[Key]) -> None:
        """Allow no further lookup. A lookup under way may still ask the other base address."""
        self.maybe -= set(subjects)
        for key, until in self.lookups.items():
            if key[1].rpartition("/")[2] in subjects:
                self.lookups[key] = min(until, now + (DEADLINE_S if key in under_way else 0.0))

    def __str__(self) -> str:
        return f"batch {self.id[:6]} of {self.owner.name} ({','.join(self.ask)}) in {self.env}"


@dataclass(eq=False)
class Dossier:
    """An issued dossier; ``ended`` says why its link must no longer open, or is ""."""

    number: str
    link: str
    person: str
    plate: str
    env: str
    pdf: bytes = b""
    ended: str = ""
    is_doubtful: bool = False  # a purge of its vehicle has failed

    def __str__(self) -> str:
        return f"dossier {self.number} of {self.plate}, issued by {self.person} in {self.env}"
