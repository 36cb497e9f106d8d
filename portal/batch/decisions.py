"""Decides whether a failed lookup pauses its batch, and which actions a batch's state allows."""

from dataclasses import dataclass
from typing import Final, Literal

from portal.batch.model import Reason, State
from portal.gateway import FailureKind

Action = Literal["start", "pause", "cancel", "discard"]

SHORTEST_PAUSE_S: Final = 15.0
LONGEST_PAUSE_S: Final = 300.0
# Longer than the pause for an outage, because the ledger counts each 402 as a paid call.
NO_CREDIT_PAUSE_S: Final = 3600.0
MOST_ATTEMPTS: Final = 3

# Failures that pause a batch, because the batch's other items would fail for the same reason.
_PAUSES: Final[dict[FailureKind, Reason]] = {
    "day_limit": "day_limit",
    "token_limit": "token_limit",
    "unreachable": "unreachable",
    "busy": "busy",
    "no_credit": "no_credit",
    "no_ledger": "portal",
    "operator_refused": "operator_refused",
    "refused_401": "access",
    "refused_403": "access",
}
# A pause for these reasons lasts until midnight. ``Failure.retry_after_s`` is its length.
_UNTIL_MIDNIGHT: Final[frozenset[Reason]] = frozenset({"day_limit", "token_limit"})
_UNTIL_RESUMED: Final[frozenset[Reason]] = frozenset({"access", "operator_refused"})
_OUTAGES: Final[frozenset[Reason]] = frozenset({"unreachable", "busy"})
_ALLOWED: Final[dict[Action, frozenset[State]]] = {
    "start": frozenset({"draft", "paused", "done", "running"}),
    "pause": frozenset({"running", "paused"}),
    "cancel": frozenset({"draft", "running", "paused", "cancelled"}),
    "discard": frozenset({"draft"}),
}


class NotAllowed(Exception):
    """The batch's state does not allow the action."""

    def __init__(self, action: Action, state: State) -> None:
        super().__init__(f"{action} in {state}")
        self.action = action
        self.state = state


@dataclass(frozen=True, slots=True)
class Pause:
    """Why a batch pauses, and after how many seconds it resumes by itself.

    ``resume_after_s`` is None if only the owner can resume the batch.
    """

    reason: Reason
    resume_after_s: float | None


def pause_after(
    kind: FailureKind, retry_after_s: float | None, tries: int, attempts: int = 0
) -> Pause | None:
    """Return the pause that an item's failed lookup causes, or None if the batch goes on.

    ``tries`` counts the batch's pauses since a lookup last succeeded. ``attempts`` counts the
    pauses that this item has caused.

    The failures "unreachable" and "busy" may concern a single item. After the item's first pause,
    they therefore cause another only if no lookup has succeeded in the meantime. An item causes
    fewer than MOST_ATTEMPTS of these pauses.
    """
    reason = _PAUSES.get(kind)
    if reason is None:
        return None
    if reason in _OUTAGES and attempts and (not tries or attempts + 1 >= MOST_ATTEMPTS):
        return None
    if reason in _UNTIL_RESUMED:
        return Pause(reason, None)
    if reason == "no_credit":
        return Pause(reason, NO_CREDIT_PAUSE_S)
    if reason in _UNTIL_MIDNIGHT:
        return Pause(reason, max(retry_after_s or 0.0, 1.0))
    wait_s = min(SHORTEST_PAUSE_S * 2**tries, LONGEST_PAUSE_S)
    return Pause(reason, max(retry_after_s or 0.0, wait_s))


def check_allowed(action: Action, state: State) -> None:
    """Raise NotAllowed unless the state allows the action."""
    if state not in _ALLOWED[action]:
        raise NotAllowed(action, state)
