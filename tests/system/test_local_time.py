"""The portal's days and times are those of São Paulo."""

from datetime import UTC, date, datetime

from portal.system.local_time import from_epoch, local_date, local_time


def test_day_changes_at_midnight_in_sao_paulo() -> None:
    assert local_date(datetime(2026, 1, 1, 2, 59, tzinfo=UTC)) == date(2025, 12, 31)
    assert local_date(datetime(2026, 1, 1, 3, 0, tzinfo=UTC)) == date(2026, 1, 1)


def test_epoch_and_moment_agree() -> None:
    moment = datetime(2026, 1, 1, 2, 59, tzinfo=UTC)
    assert from_epoch(moment.timestamp()) == local_time(moment)
    assert local_time(moment).hour == 23
