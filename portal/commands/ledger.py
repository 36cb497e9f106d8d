"""``flask --app app ledger``: prints a line for each upstream call, or a summary."""

import csv
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

import click

from portal.commands.failures import Command
from portal.commands.tables import is_terminal, json_array_lines, table_lines
from portal.gateway import Ledger, UpstreamCall, Usage, UsageLog, merged
from portal.presentation.exports.tables import safe_text

SUMMARY_COLUMNS: Sequence[str] = ("operation", "calls", "spent", "hits", "collapsed", "saved")
COLUMNS: Sequence[str] = ("sent_at", "operation", "origin", "caller", "price", "outcome", "status")
NUMBERS = frozenset({"price", "status", "calls", "spent", "hits", "collapsed", "saved"})
Value = str | int | Decimal | None
Record = Mapping[str, Value]


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
            columns, records = SUMMARY_COLUMNS, _summary(book.rows(month), usage.unpaid(month))
        else:
            columns = (*COLUMNS, "namespace") if everywhere else COLUMNS
            records = map(_record, book.rows(month, everywhere))
        if as_csv:
            _write_csv(columns, (_cells(each, columns) for each in records))
            return
        if as_json:
            lines = json_array_lines(
                {name: _plain(each[name]) for name in columns} for each in records
            )
        else:
            rows = (_cells(each, columns) for each in records)
            lines = table_lines(columns, rows, NUMBERS, header=summary or is_terminal())
        for line in lines:
            print(line)

    return ledger


def _summary(rows: Iterable[UpstreamCall], unpaid: Mapping[str, Usage]) -> Iterator[Record]:
    """Yield a record for each operation, and a last record with the totals.

    "hits" counts answers from the cache. "saved" is the price in R$ of the upstream calls that
    these answers replaced. "collapsed" counts lookups that shared the upstream call of another
    lookup. These lookups are not included in "saved".
    """
    calls: defaultdict[str, int] = defaultdict(int)
    spent: defaultdict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        calls[row.operation] += 1
        spent[row.operation] += row.price
    for name in sorted(calls.keys() | unpaid.keys()):
        yield _summed(name, calls[name], spent[name], unpaid.get(name, Usage()))
    total = sum(spent.values(), Decimal(0))
    yield _summed("all", sum(calls.values()), total, merged(unpaid.values()))


def _summed(name: str, calls: int, spent: Decimal, unpaid: Usage) -> Record:
    values = (name, calls, spent, unpaid.hits + unpaid.stale, unpaid.collapsed, unpaid.saved)
    return dict(zip(SUMMARY_COLUMNS, values, strict=True))


def _record(row: UpstreamCall) -> Record:
    return {
        "sent_at": row.sent_at.isoformat(timespec="seconds"),
        "operation": row.operation,
        "origin": row.origin,
        "caller": row.caller,
        "price": row.price,
        "outcome": row.outcome,
        "status": row.status,
        "namespace": row.namespace,
    }


def _cells(record: Record, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(_text(record[name]) for name in columns)


def _text(value: Value) -> str:
    if value is None:
        return ""
    return _reais(value) if isinstance(value, Decimal) else str(value)


def _plain(value: Value) -> str | int | float | None:
    return float(value) if isinstance(value, Decimal) else value


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
