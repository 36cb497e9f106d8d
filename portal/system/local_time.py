"""Converts times to São Paulo's time zone, for pages, legal deadlines and daily limits."""

from datetime import UTC, date, datetime
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

DAY_S: Final = 86_400


@cache
def sao_paulo() -> ZoneInfo:
    """Return the time zone America/Sao_Paulo. Only the first call reads the zone's file."""
    return ZoneInfo("America/Sao_Paulo")


def local_time(moment: datetime) -> datetime:
    """Convert a timezone-aware datetime to the time zone America/Sao_Paulo."""
    return moment.astimezone(sao_paulo())


def local_date(moment: datetime) -> date:
    """Return the date of a timezone-aware datetime in America/Sao_Paulo."""
    return local_time(moment).date()


def utc_time(seconds: float) -> datetime:
    """Convert epoch seconds to a datetime in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


def from_epoch(seconds: float) -> datetime:
    """Convert epoch seconds to a datetime in America/Sao_Paulo."""
    return datetime.fromtimestamp(seconds, sao_paulo())


def iso_time(seconds: float) -> str:
    """Return epoch seconds as ISO 8601 text in America/Sao_Paulo, for scripts."""
    return from_epoch(seconds).isoformat(timespec="seconds")


def iso_day(seconds: float) -> str:
    """Return the day of epoch seconds in America/Sao_Paulo, as the database's tables have it."""
    return from_epoch(seconds).date().isoformat()
