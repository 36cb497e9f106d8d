"""``flask --app app ledger``: prints one line for each upstream call."""

import csv
import itertools
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from decimal import Decimal

import click

from portal.commands.failures import Command
from portal.gateway import Ledger, Row, Savings, SavingsCounter

SUMMARY_COLUMNS = ("operation", "calls", "spent", "hits", "collapsed", "saved")
COLUMNS = ("sent_at", "operation", "origin", "caller", "price", "outcome", "status")
_ONE_LINE = str.maketrans("\r\n", "  ")


def ledger_command(book: Ledger, counter: SavingsCounter) -> Command:
    @click.command("ledger", cls=Command)
    @click.option("--month", callback=_month, help="as in 2026-11; none = every month")
    @click.option("--csv", "as_csv", is_flag=True, help="comma-separated, under one header line")
    @click.option("--summary", is_flag=True, help="calls, hits and R$ by operation")
    @click.option(
        "--all", "everywhere", is_flag=True, help="calls of every upstream, named in a last column"
    )
    def ledger(month: str | None, as_csv: bool, summary: bool, everywhere: bool) -> None:
        """List the calls of this upstream, what each cost and how it ended."""
        if summary and everywhere:
            raise click.UsageError("--summary is of one upstream, --all of every one")
        if summary:
            table: Iterable[tuple[str, ...]] = _summary(book.rows(month), counter.month(month))
        elif everywhere:
            rows = ((*_cells(row), row.namespace) for row in book.rows(month, everywhere=True))
            table = itertools.chain([(*COLUMNS, "namespace")], rows) if as_csv else rows
        else:
            own = map(_cells, book.rows(month))
            table = itertools.chain([COLUMNS], own) if as_csv else own
        if as_csv:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            for line in table:
                writer.writerow(_safe(cell) for cell in line)
            return
        for line in table:
            print(*line, sep="\t")

    return ledger


def _summary(rows: Iterable[Row], savings: Iterable[Savings]) -> Iterator[tuple[str, ...]]:
    """Yield a header, a line for each operation, and a total.

    Only hits count as savings, at the price of their day. A lookup that shared another lookup's
    call (collapsed) is counted, but adds no savings.
    """
    calls: defaultdict[str, int] = defaultdict(int)
    spent: defaultdict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        calls[row.operation] += 1
        spent[row.operation] += row.price
    saved = {each.operation: each for each in savings}
    yield SUMMARY_COLUMNS
    names = sorted(calls.keys() | saved.keys())
    no_savings = Savings("", 0, 0, Decimal(0))
    for name in names:
        each = saved.get(name, no_savings)
        yield _line(name, calls[name], spent[name], each.hits, each.collapsed, each.amount)
    yield _line(
        "all",
        sum(calls.values()),
        sum(spent.values(), Decimal(0)),
        sum(each.hits for each in saved.values()),
        sum(each.collapsed for each in saved.values()),
        sum((each.amount for each in saved.values()), Decimal(0)),
    )


def _line(
    name: str, calls: int, spent: Decimal, hits: int, collapsed: int, amount: Decimal
) -> tuple[str, ...]:
    return (name, str(calls), _reais(spent), str(hits), str(collapsed), _reais(amount))


def _reais(amount: Decimal) -> str:
    """Format with two decimals, or more if the amount has more."""
    cents = amount.quantize(Decimal("0.01"))
    return f"{cents}" if cents == amount else f"{amount.normalize():f}"


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.sent_at.isoformat(timespec="seconds"),
        row.operation,
        row.origin,
        row.caller,
        _reais(row.price),
        row.outcome,
        "" if row.status is None else str(row.status),
    )


def _safe(cell: str) -> str:
    """Escape a cell that a spreadsheet would read as a formula, and replace line breaks.

    A spreadsheet reads the text after a lone carriage return as a new cell, because csv does not
    quote that character.
    """
    shown = "'" + cell if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
    return shown.translate(_ONE_LINE)


def _month(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])", value, re.ASCII):
        raise click.BadParameter("year and month, as in 2026-11")
    return value
