"""The current day in São Paulo, on which fictitious records are based."""

import time
from collections.abc import Callable
from datetime import date

from portal.system.local_time import from_epoch


def today(clock: Callable[[], float] = time.time) -> date:
    """Return the day in America/Sao_Paulo, as pages and limits do, in any system time zone.

    ``clock`` returns epoch seconds. A day in UTC begins at nine in the evening in São Paulo, so
    records based on it would seem to be from tomorrow.
    """
    return from_epoch(clock()).date()
