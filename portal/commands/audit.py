"""``flask --app app audit``, ``audit verify`` and ``subject PLATE``: who saw and did what."""

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

import click

from portal.access.trail import Trail, Verified, Written
from portal.access.trail_chain import Fault
from portal.commands.failures import Command, CommandGroup, fail
from portal.commands.options import month_option, subjects_option
from portal.commands.parts import Parts
from portal.commands.tables import (
    csv_lines,
    is_terminal,
    json_array_lines,
    print_lines,
    table_lines,
)
from portal.system.local_time import iso_day, iso_time, sao_paulo

COLUMNS: Final = ("at", "who", "act", "face", "plate", "purpose", "number")
_FAULTS: Final = {
    "missing": "Row {} is missing.",
    "changed": "Row {} was changed, or is not of this portal.",
    "foreign": "Row {} follows the last row that the portal has signed.",
}
_NO_TRAIL: Final = "PORTAL_AUDIT_DAYS is 0: no trail is kept."


def audit_commands(portal: Parts) -> CommandGroup:
    @click.group("audit", cls=CommandGroup, invoke_without_command=True)
    @click.pass_context
    @click.option("--month", callback=month_option, help="as in 2026-11; none = every month")
    @click.option("--person", help="only what this person or token did")
    @click.option("--plate", callback=subjects_option, help="only rows about a plate or Renavam")
    @click.option("--csv", "as_csv", is_flag=True, help="comma-separated, under one header line")
    @click.option("--json", "as_json", is_flag=True, help="one JSON array")
    def audit(
        context: click.Context,
        month: str | None,
        person: str | None,
        plate: Sequence[str] | None,
        as_csv: bool,
        as_json: bool,
    ) -> None:
        """List who saw and did what, a row each, the oldest first.

        A row whose vehicle was purged has no plate.
        """
        if context.invoked_subcommand is not None:
            return
        if as_csv and as_json:
            raise click.UsageError("either --csv or --json")
        since, until = _bounds(month)
        _warn_without_trail(portal.trail)
        rows = portal.trail.rows(since, until, person, plate)
        if not as_csv and not as_json:
            rows = _or_note(rows, portal.trail, plate, person, month)
        _print(rows, as_csv=as_csv, as_json=as_json)

    @audit.command("verify")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def verify(as_json: bool) -> None:
        """Check that no row is missing or changed. Exits 1 and names the first that is."""
        checked = portal.trail.verify()
        if as_json:
            print(json.dumps(_members(checked)))
        elif checked.fault is None:
            after = f" after row {checked.anchor.number}" if checked.anchor.number else ""
            print(
                f"{checked.rows} rows{after}: none is missing or changed. "
                f"The last is {checked.last.number}, {checked.last.mac or 'none'}."
            )
            _warn_without_trail(portal.trail)
        else:
            fail(fault_in_words(checked.fault))
        sys.exit(1 if checked.fault else 0)

    return audit


def subject_command(portal: Parts) -> Command:
    @click.command("subject", cls=Command)
    @click.argument("plates", metavar="PLATE", callback=subjects_option)
    @click.option("--csv", "as_csv", is_flag=True, help="comma-separated, under one header line")
    @click.option("--json", "as_json", is_flag=True, help="one JSON array")
    def subject(plates: Sequence[str], as_csv: bool, as_json: bool) -> None:
        """List who looked at a vehicle, when, how and for what purpose (LGPD, art. 18).

        Includes the plate's other form. A Renavam is listed by itself.
        """
        if as_csv and as_json:
            raise click.UsageError("either --csv or --json")
        _warn_without_trail(portal.trail)
        rows = portal.trail.rows(vehicles=plates)
        if not as_csv and not as_json:
            rows = _or_note(rows, portal.trail, plates)
        _print(rows, as_csv=as_csv, as_json=as_json)

    return subject


def fault_in_words(fault: Fault) -> str:
    return _FAULTS[fault.kind].format(fault.number)


def cells(row: Written) -> tuple[str, ...]:
    """Return the cells of COLUMNS."""
    return (
        iso_time(row.at),
        *(row.who, row.act, row.face, row.vehicle, row.purpose, row.number),
    )


def _print(rows: Iterable[Written], *, as_csv: bool, as_json: bool) -> None:
    shown = map(cells, rows)
    if as_json:
        lines = json_array_lines(dict(zip(COLUMNS, row, strict=True)) for row in shown)
    elif as_csv:
        lines = csv_lines(COLUMNS, shown)
    else:
        lines = table_lines(COLUMNS, shown, header=is_terminal())
    print_lines(lines)


def _or_note(
    rows: Iterator[Written],
    trail: Trail,
    plates: Sequence[str] | None,
    person: str | None = None,
    month: str | None = None,
) -> Iterator[Written]:
    """Yield the rows. Without any, name on stderr what was searched, and since when."""
    first = next(rows, None)
    if first is not None:
        yield first
        yield from rows
    elif trail.is_kept:
        words = f" of {month}" if month else ""
        words += f" by {person}" if person else ""
        words += f" about {' or '.join(plates)}" if plates else ""
        began_at = trail.began_at()
        since = "is empty" if began_at is None else f"begins on {iso_day(began_at)}"
        purged = "; the rows of a purged vehicle do not name it" if plates else ""
        print(f"No row{words}. The trail {since}{purged}.", file=sys.stderr)


def _members(checked: Verified) -> dict[str, object]:
    return {
        "rows": checked.rows,
        "first": checked.anchor.number + 1,
        "last": checked.last.number,
        "head": checked.last.mac,
        "fault": None if checked.fault is None else fault_in_words(checked.fault),
    }


def _warn_without_trail(trail: Trail) -> None:
    if not trail.is_kept:
        print(_NO_TRAIL, file=sys.stderr)


def _bounds(month: str | None) -> tuple[float, float]:
    """Return when a month of America/Sao_Paulo begins and ends, in epoch seconds."""
    if month is None:
        return -math.inf, math.inf
    year, number = map(int, month.split("-"))
    first = datetime(year, number, 1, tzinfo=sao_paulo())
    after = datetime(year + number // 12, number % 12 + 1, 1, tzinfo=sao_paulo())
    return first.timestamp(), after.timestamp()
