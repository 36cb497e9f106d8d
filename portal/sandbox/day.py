"""The day from which fictitious records are dated, whatever the system time zone."""

import time
from collections.abc import Callable
from datetime import date

from portal.system.local_time import from_epoch


def today(clock: Callable[[], float] = time.time) -> date:
    """Return the calendar day in America/Sao_Paulo, which pages and limits use too.

    ``clock`` returns epoch seconds. On a machine set to UTC, the system's next day begins at nine
    in the evening in São Paulo, and records dated by it would be from tomorrow.
    """
    return from_epoch(clock()).date()
