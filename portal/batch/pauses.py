"""Decides whether a failed lookup pauses its batch, and for how long."""

from dataclasses import dataclass
from typing import Final

from portal.batch.model import Reason
from portal.gateway.lookup import FailureKind

SHORTEST_PAUSE_S: Final = 15.0
# The shortest pause after a call that the portal itself has refused. An open circuit admits the
# next call after 5 s.
SHORTEST_HELD_BACK_S: Final = 5.0
LONGEST_PAUSE_S: Final = 300.0
MOST_ATTEMPTS: Final = 3
# A batch pauses if the upstream demands payment (402) for so many items one after another. Fewer
# may concern only these items.
MOST_UNPAID: Final = 3

# Failures that pause a batch, because the batch's other items would fail for the same reason.
_PAUSES: Final[dict[FailureKind, Reason]] = {
    "day_limit": "day_limit",
    "token_limit": "token_limit",
    "portal_budget": "budget",
    "token_budget": "budget",
    "price": "price",
    "unreachable": "unreachable",
    "busy": "busy",
    "no_ledger": "portal",
    "no_store": "portal",
    "operator_refused": "operator_refused",
    "refused_401": "access",
    "refused_403": "access",
}
# A pause for one of these limits lasts until its day or month ends. For these limits,
# ``Failure.retry_after_s`` is the number of seconds until then.
_UNTIL_RESET: Final[frozenset[Reason]] = frozenset({"day_limit", "token_limit", "budget"})
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
    kind: FailureKind,
    retry_after_s: float | None,
    tries: int,
    attempts: int = 0,
    *,
    held_back: bool = False,
) -> Pause | None:
    """Return the pause after an item's failed lookup, or None if the batch goes on.

    ``tries`` counts the batch's pauses since a lookup last succeeded. ``attempts`` counts how often
    this item was put back.

    The failures "unreachable" and "busy" may concern only this item. If the item was already put
    back, it fails without another pause in two cases:

    - A lookup has succeeded since the batch's last pause (``tries`` is 0).
    - The item was put back MOST_ATTEMPTS - 1 times.

    An item never fails because the portal itself has held its lookup back, for example because of
    the failures of other vehicles.
    """
    reason = _PAUSES.get(kind)
    if reason is None:
        return None
    is_repeated = attempts > 0 and (not tries or attempts + 1 >= MOST_ATTEMPTS)
    if reason in _OUTAGES and is_repeated and not held_back:
        return None
    if reason in _UNTIL_RESUMED:
        return Pause(reason, None)
    if reason in _UNTIL_RESET:
        return Pause(reason, max(retry_after_s or 0.0, 1.0))
    shortest_s = SHORTEST_HELD_BACK_S if held_back else SHORTEST_PAUSE_S
    wait_s = min(shortest_s * 2**tries, LONGEST_PAUSE_S)
    return Pause(reason, max(retry_after_s or 0.0, wait_s))
