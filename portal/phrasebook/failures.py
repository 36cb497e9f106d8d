"""The texts about failed lookups and requests, for pages and for API answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Final

from portal.data_files import read_csv
from portal.gateway.lookup import BUDGETS, DAILY_LIMITS, FailureKind
from portal.phrasebook.api_errors import API_ERRORS
from portal.system.local_time import local_date
from portal.wording import NO_BREAK_SPACE


@dataclass(frozen=True, slots=True)
class Fault:
    """The texts for a failed lookup.

    ``code`` names the error of API answers in API_ERRORS. Pages show ``sentence``. Only a batch
    fails with the kind "price", and no API answer is about one of its lookups. ``own_status``
    replaces the status of the code, unless it is 0, and ``sentence`` then replaces its message.
    """

    kind: FailureKind
    code: str
    sentence: str
    own_status: int

    @property
    def status(self) -> int:
        return self.own_status or API_ERRORS[self.code].status


FAULTS: Final[Mapping[FailureKind, Fault]] = {
    fault.kind: fault for fault in read_csv(__package__, "faults.csv", Fault)
}
# Maps an HTTP status to the title and advice of the error page.
ERROR_PAGES: Final[Mapping[int, tuple[str, str]]] = {
    int(line["status"]): (line["title"], line["advice"])
    for line in read_csv(__package__, "error_pages.csv", dict[str, str])
}


def back_next_month(left_s: float) -> str:
    """Return ``Volta em 01/12/2026.`` after so many seconds, which end a month."""
    # Half a day later is still the first day of the month, whatever the rounding.
    first = local_date(datetime.now(UTC) + timedelta(seconds=left_s) + timedelta(hours=12))
    return f"Volta em {first:%d/%m/%Y}."


def back_at_midnight(left_s: float) -> str:
    """Return ``Volta à 0h (em 4 h).`` ("available again at midnight, in 4 hours").

    ``left_s`` is the number of seconds until midnight.
    """
    minutes = max(1, ceil(left_s / 60))
    span = f"{round(minutes / 60)}{NO_BREAK_SPACE}h"
    if minutes < 60:
        span = f"{minutes}{NO_BREAK_SPACE}min"
    return f"Volta à 0h (em {span})."


def sentence_about(kind: FailureKind, retry_after_s: float | None) -> str:
    """Return the sentence that a page shows about a failure.

    For a failure in DAILY_LIMITS or BUDGETS, a second sentence says when the limit is reset.
    ``retry_after_s`` is the number of seconds until then. If it is None, the second sentence is
    left out.
    """
    sentence = FAULTS[kind].sentence
    if kind in DAILY_LIMITS and retry_after_s is not None:
        return f"{sentence} {back_at_midnight(retry_after_s)}"
    if kind in BUDGETS and retry_after_s is not None:
        return f"{sentence} {back_next_month(retry_after_s)}"
    return sentence
