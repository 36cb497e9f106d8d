"""``flask --app app ledger``: one line an upstream call."""

import csv
import re
import sys
from decimal import Decimal

import click

from portal.gateway import Ledger, Row

COLUMNS = ("sent_at", "operation", "origin", "caller", "price", "outcome", "status")


def ledger_command(book: Ledger) -> click.Command:
    @click.command("ledger")
    @click.option("--month", callback=_month, help="as in 2026-11; none = every month")
    @click.option("--csv", "as_csv", is_flag=True, help="comma-separated, under one header line")
    def ledger(month: str | None, as_csv: bool) -> None:
        """List the upstream calls, what each cost and how it ended."""
        if as_csv:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(COLUMNS)
            for row in book.rows(month):
                writer.writerow(_safe(cell) for cell in _cells(row))
            return
        for row in book.rows(month):
            print(*_cells(row), sep="\t")

    return ledger


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.sent_at.isoformat(timespec="seconds"),
        row.operation,
        row.origin,
        row.caller,
        f"{row.price:.2f}" if row.price == row.price.quantize(Decimal("0.01")) else str(row.price),
        row.outcome,
        "" if row.status is None else str(row.status),
    )


def _safe(cell: str) -> str:
    """A spreadsheet takes such a cell for a formula."""
    return "'" + cell if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def _month(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])", value, re.ASCII):
        raise click.BadParameter("year and month, as in 2026-11")
    return value
