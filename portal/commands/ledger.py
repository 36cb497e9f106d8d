"""``flask --app app ledger``: one line an upstream call."""

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


def ledger_command(book: Ledger, tally: SavingsCounter) -> Command:
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
            table: Iterable[tuple[str, ...]] = _summary(book.rows(month), tally.month(month))
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
    """A line an operation and one for all: what was asked and paid, what the store answered.

    Saved are the hits alone, at the price of their day: a lookup that another's call carried
    along (collapsed) is counted and not valued.
    """
    calls: defaultdict[str, int] = defaultdict(int)
    spent: defaultdict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        calls[row.operation] += 1
        spent[row.operation] += row.price
    saved = {each.operation: each for each in savings}
    yield SUMMARY_COLUMNS
    names = sorted(calls.keys() | saved.keys())
    nothing = Savings("", 0, 0, Decimal(0))
    for name in names:
        each = saved.get(name, nothing)
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
    """Two decimals, more where a price has them."""
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
    """A spreadsheet takes such a cell for a formula, and what follows a line break for a cell of
    its own: csv puts no quotes around a lone carriage return."""
    shown = "'" + cell if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
    return shown.translate(_ONE_LINE)


def _month(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])", value, re.ASCII):
        raise click.BadParameter("year and month, as in 2026-11")
    return value
