"""Decides whether a failed lookup pauses its batch, and for how long."""

from dataclasses import dataclass
from typing import Final

from portal.batch.model import Reason
from portal.gateway.lookup import FailureKind

SHORTEST_PAUSE_S: Final = 15.0
LONGEST_PAUSE_S: Final = 300.0
MOST_ATTEMPTS: Final = 3
# A batch pauses if the upstream demands payment (402) for so many items one after another. Fewer
# may concern only these items.
MOST_UNPAID: Final = 3

# Failures that pause a batch, because the batch's other items would fail for the same reason.
_PAUSES: Final[dict[FailureKind, Reason]] = {
    "day_limit": "day_limit",
    "token_limit": "token_limit",
    "price": "price",
    "unreachable": "unreachable",
    "busy": "busy",
    "no_ledger": "portal",
    "no_store": "portal",
    "operator_refused": "operator_refused",
    "refused_401": "access",
    "refused_403": "access",
}
# A pause for one of these daily limits lasts until midnight. For these limits,
# ``Failure.retry_after_s`` is the number of seconds until midnight.
_UNTIL_MIDNIGHT: Final[frozenset[Reason]] = frozenset({"day_limit", "token_limit"})
_UNTIL_RESUMED: Final[frozenset[Reason]] = frozenset({"access", "operator_refused", "price"})
_OUTAGES: Final[frozenset[Reason]] = frozenset({"unreachable", "busy"})


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
    """Return the pause after an item's failed lookup, or None if the batch goes on.

    ``tries`` counts the batch's pauses since a lookup last succeeded. ``attempts`` counts the
    pauses that this item has caused.

    The failures "unreachable" and "busy" may concern only this item. If the item has already caused
    a pause, the item fails without another pause in two cases:

    - A lookup has succeeded since the batch's last pause (``tries`` is 0).
    - The item has caused MOST_ATTEMPTS - 1 pauses.
    """
    reason = _PAUSES.get(kind)
    if reason is None:
        return None
    if reason in _OUTAGES and attempts and (not tries or attempts + 1 >= MOST_ATTEMPTS):
        return None
    if reason in _UNTIL_RESUMED:
        return Pause(reason, None)
    if reason in _UNTIL_MIDNIGHT:
        return Pause(reason, max(retry_after_s or 0.0, 1.0))
    wait_s = min(SHORTEST_PAUSE_S * 2**tries, LONGEST_PAUSE_S)
    return Pause(reason, max(retry_after_s or 0.0, wait_s))
