"""The day on which fictitious records are based, whatever the system time zone."""

import time
from collections.abc import Callable
from datetime import date

from portal.system.local_time import from_epoch


def today(clock: Callable[[], float] = time.time) -> date:
    """Return the calendar day in America/Sao_Paulo, which pages and limits use too.

    ``clock`` returns epoch seconds. In UTC, the next day begins at nine in the evening in São
    Paulo. In the evening, records based on the UTC day would seem to be from tomorrow.
    """
    return from_epoch(clock()).date()
