"""Returns the current day in São Paulo. The dates in fictitious records are relative to it."""

import time
from collections.abc import Callable
from datetime import date

from portal.system.local_time import from_epoch


def today(clock: Callable[[], float] = time.time) -> date:
    """Return the current day in America/Sao_Paulo. ``clock`` returns epoch seconds.

    Pages and daily limits use the same day. A UTC day begins at 21:00 in São Paulo. In the evening,
    records with the UTC date would therefore seem to be from tomorrow.
    """
    return from_epoch(clock()).date()
