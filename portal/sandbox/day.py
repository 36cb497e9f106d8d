"""The day from which fictitious records are dated, in any system time zone."""

import time
from collections.abc import Callable
from datetime import date

from portal.system.local_time import from_epoch


def today(clock: Callable[[], float] = time.time) -> date:
    """Return the calendar day in America/Sao_Paulo, which pages and limits use too.

    ``clock`` returns epoch seconds. On a machine set to UTC the next day begins at nine in the
    evening in São Paulo, and pages do not handle a price or a fine of tomorrow.
    """
    return from_epoch(clock()).date()
