"""The day that invented records hang on: the portal's own, wherever the machine stands."""

import time
from collections.abc import Callable
from datetime import date, datetime
from zoneinfo import ZoneInfo


def today(clock: Callable[[], float] = time.time) -> date:
    """The calendar day in America/Sao_Paulo, by which pages and limits count too.

    ``clock`` gives epoch seconds. On a machine that keeps UTC the next day begins there at nine in
    the evening: a price or a fine of tomorrow would be none that a page knows what to do with.
    """
    return datetime.fromtimestamp(clock(), ZoneInfo("America/Sao_Paulo")).date()
