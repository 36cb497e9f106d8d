"""Options that several commands have."""

import re
from collections.abc import Sequence

import click

from portal.vehicle.plate import InvalidSubject, Plate
from portal.vehicle.typed import parse_typed


def month_option(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Check a month, as in 2026-11."""
    if value is not None and not re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])", value, re.ASCII):
        raise click.BadParameter("year and month, as in 2026-11")
    return value


def subjects_option(
    _: click.Context, __: click.Parameter, value: str | None
) -> Sequence[str] | None:
    """Return both forms of a plate, or a Renavam."""
    if value is None:
        return None
    try:
        subject = parse_typed(value)
    except InvalidSubject:
        raise click.BadParameter(f"{value!r} is neither a plate nor a Renavam") from None
    twin = subject.twin if isinstance(subject, Plate) else None
    return [subject.text] if twin is None else [subject.text, twin.text]
