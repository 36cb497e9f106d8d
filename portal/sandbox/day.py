"""The current day in São Paulo, on which fictitious records are based."""

import time
from collections.abc import Callable
from datetime import date

from portal.system.local_time import from_epoch


def today(clock: Callable[[], float] = time.time) -> date:
    """Return the current day in America/Sao_Paulo. ``clock`` returns epoch seconds.

    Pages and daily limits use the same day. A UTC day begins at nine in the evening in São Paulo,
    so records of the UTC day would seem to be from tomorrow.
    """
    return from_epoch(clock()).date()
