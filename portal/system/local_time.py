"""The portal's time zone: deadlines, daily limits and printed times are those of São Paulo."""

from datetime import date, datetime
from functools import cache
from zoneinfo import ZoneInfo


@cache
def sao_paulo() -> ZoneInfo:
    """Return America/Sao_Paulo; the first call reads the zone's file."""
    return ZoneInfo("America/Sao_Paulo")


def local_time(moment: datetime) -> datetime:
    """Convert an aware moment to America/Sao_Paulo."""
    return moment.astimezone(sao_paulo())


def local_date(moment: datetime) -> date:
    """Return the calendar day of an aware moment in America/Sao_Paulo."""
    return local_time(moment).date()


def from_epoch(seconds: float) -> datetime:
    """Return epoch seconds as an aware moment in America/Sao_Paulo."""
    return datetime.fromtimestamp(seconds, sao_paulo())
