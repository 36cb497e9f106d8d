"""``flask --app app ledger``: prints a line for each upstream call, or a summary."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache

import click

from portal.commands.failures import CommandGroup
from portal.commands.ledger_check import check_command
from portal.commands.options import month_option, subjects_option
from portal.commands.parts import Parts
from portal.commands.tables import (
    csv_lines,
    is_terminal,
    json_array_lines,
    print_lines,
    table_lines,
)
from portal.gateway.ledger import UpstreamCall
from portal.gateway.usage import Usage, merged

SUMMARY_COLUMNS: Sequence[str] = (
    *("operation", "calls", "spent", "hits", "collapsed", "saved"),
    *("known_spent", "unpriced_calls", "known_saved", "unpriced_hits"),
)
COLUMNS: Sequence[str] = UpstreamCall._fields[:-1]  # without the namespace
NUMBERS = frozenset({"price", "status", *SUMMARY_COLUMNS[1:]})
Record = Sequence[object]


def ledger_command(portal: Parts) -> CommandGroup:
    @click.group("ledger", cls=CommandGroup, invoke_without_command=True)
    @click.pass_context
    @click.option("--month", callback=month_option, help="as in 2026-11; none = every month")
    @click.option("--csv", "as_csv", is_flag=True, help="comma-separated, under one header line")
    @click.option("--json", "as_json", is_flag=True, help="one JSON array")
    @click.option("--summary", is_flag=True, help="calls, hits and R$ by operation")
    @click.option(
        "--all", "everywhere", is_flag=True, help="calls of every upstream, named in a last column"
    )
    @click.option(
        "--plate", callback=subjects_option, help="only the calls about a plate or Renavam"
    )
    def ledger(
        context: click.Context,
        month: str | None,
        as_csv: bool,
        as_json: bool,
        summary: bool,
        everywhere: bool,
        plate: Sequence[str] | None,
    ) -> None:
        """List the calls of this upstream, what each cost and how it ended.

        Each line is one call. On a terminal the first line names the columns.
        """
        if context.invoked_subcommand is not None:
            return
        if as_csv and as_json:
            raise click.UsageError("either --csv or --json")
        if summary and everywhere:
            raise click.UsageError("--summary is of one upstream, --all of every one")
        if summary and plate is not None:
            raise click.UsageError("--summary is of all vehicles")
        if summary:
            columns, records = SUMMARY_COLUMNS, _summary(portal.usage.by_operation(month))
        else:
            columns = UpstreamCall._fields if everywhere else COLUMNS
            width = len(columns)
            records = (
                (call.sent_at.isoformat(timespec="seconds"), *call[1:width])
                for call in portal.ledger.rows(month, everywhere, _tags(portal, plate))
            )
        if as_csv:
            lines = csv_lines(columns, map(_cells, records))
        elif as_json:
            lines = json_array_lines(dict(zip(columns, record, strict=True)) for record in records)
        else:
            header = summary or is_terminal()
            lines = table_lines(columns, map(_cells, records), NUMBERS, header=header)
        print_lines(lines)

    ledger.add_command(check_command(portal))
    return ledger


def _tags(portal: Parts, subjects: Sequence[str] | None) -> Sequence[str] | None:
    return None if subjects is None else [portal.store.tag(subject) for subject in subjects]


def _summary(operations: Mapping[str, Usage]) -> Iterator[Record]:
    """Yield a record for each operation, and a last record with the totals.

    "hits" counts answers from the cache. "saved" is the price in R$ of the upstream calls that
    these answers replaced. "collapsed" counts lookups that shared the upstream call of another
    lookup. These lookups are not included in "saved". An amount is empty if the price of one of
    its calls is unknown. The last columns then have the amount of the others, and how many calls
    and hits have no price.
    """
    for name, usage in [*sorted(operations.items()), ("all", merged(operations.values()))]:
        served = usage.hits + usage.stale
        whole = usage.calls, usage.spent, served, usage.collapsed, usage.saved
        known = usage.known_spent, usage.unpriced_calls, usage.known_saved, usage.unpriced_hits
        yield name, *whole, *known


def _cells(record: Record) -> list[str]:
    return [value if isinstance(value, str) else _text(value) for value in record]


@lru_cache(1024, typed=True)  # a ledger has few prices and statuses
def _text(value: object) -> str:
    """Format an amount with two decimal places, or with all its places if it has more than two."""
    if not isinstance(value, Decimal):
        return "" if value is None else str(value)
    cents = value.quantize(Decimal("0.01"))
    return f"{cents}" if cents == value else f"{value.normalize():f}"
