"""``flask --app app ledger``: prints a line for each upstream call, or a summary."""

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache

import click

from portal.commands.failures import Command
from portal.commands.tables import is_terminal, json_array_lines, table_lines
from portal.gateway import Ledger, UpstreamCall, Usage, UsageLog, merged
from portal.presentation.exports.tables import safe_text

SUMMARY_COLUMNS: Sequence[str] = ("operation", "calls", "spent", "hits", "collapsed", "saved")
COLUMNS: Sequence[str] = ("sent_at", "operation", "origin", "caller", "price", "outcome", "status")
NUMBERS = frozenset({"price", "status", "calls", "spent", "hits", "collapsed", "saved"})
Value = str | int | Decimal | None
Record = Sequence[Value]


def ledger_command(book: Ledger, usage: UsageLog) -> Command:
    @click.command("ledger", cls=Command)
    @click.option("--month", callback=_month, help="as in 2026-11; none = every month")
    @click.option("--csv", "as_csv", is_flag=True, help="comma-separated, under one header line")
    @click.option("--json", "as_json", is_flag=True, help="one JSON array")
    @click.option("--summary", is_flag=True, help="calls, hits and R$ by operation")
    @click.option(
        "--all", "everywhere", is_flag=True, help="calls of every upstream, named in a last column"
    )
    def ledger(
        month: str | None, as_csv: bool, as_json: bool, summary: bool, everywhere: bool
    ) -> None:
        """List the calls of this upstream, what each cost and how it ended.

        Each line is one call. On a terminal the first line names the columns.
        """
        if as_csv and as_json:
            raise click.UsageError("either --csv or --json")
        if summary and everywhere:
            raise click.UsageError("--summary is of one upstream, --all of every one")
        if summary:
            columns, records = SUMMARY_COLUMNS, _summary(usage.by_operation(month))
        else:
            columns = (*COLUMNS, "namespace") if everywhere else COLUMNS
            records = (_record(row)[: len(columns)] for row in book.rows(month, everywhere))
        if as_csv:
            _write_csv(columns, map(_cells, records))
            return
        if as_json:
            lines = json_array_lines(dict(zip(columns, each, strict=True)) for each in records)
        else:
            header = summary or is_terminal()
            lines = table_lines(columns, map(_cells, records), NUMBERS, header=header)
        for line in lines:
            print(line)

    return ledger


def _summary(operations: Mapping[str, Usage]) -> Iterator[Record]:
    """Yield a record for each operation, and a last record with the totals.

    "hits" counts answers from the cache. "saved" is the price in R$ of the upstream calls that
    these answers replaced. "collapsed" counts lookups that shared the upstream call of another
    lookup. These lookups are not included in "saved".
    """
    for name, usage in [*sorted(operations.items()), ("all", merged(operations.values()))]:
        served = usage.hits + usage.stale
        yield name, usage.calls, usage.spent, served, usage.collapsed, usage.saved


def _record(row: UpstreamCall) -> Record:
    """Return the values of COLUMNS, and the namespace."""
    return (
        row.sent_at.isoformat(timespec="seconds"),
        row.operation,
        row.origin,
        row.caller,
        row.price,
        row.outcome,
        row.status,
        row.namespace,
    )


def _cells(record: Record) -> tuple[str, ...]:
    return tuple(map(_text, record))


def _text(value: Value) -> str:
    match value:
        case str():
            return value
        case None:
            return ""
        case Decimal():
            return _reais(value)
    return str(value)


@lru_cache(1024)  # a ledger has few prices
def _reais(amount: Decimal) -> str:
    """Format an amount with two decimal places, or with all its places if it has more than two."""
    cents = amount.quantize(Decimal("0.01"))
    return f"{cents}" if cents == amount else f"{amount.normalize():f}"


def _write_csv(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(map(safe_text, row))


def _month(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])", value, re.ASCII):
        raise click.BadParameter("year and month, as in 2026-11")
    return value
