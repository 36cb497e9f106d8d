"""``flask --app app ledger check FILE.csv``: a provider's statement against the ledger."""

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from portal.commands.failures import Command
from portal.commands.parts import Parts
from portal.commands.tables import json_array_lines, print_lines, table_lines
from portal.gateway.statement import Comparison, Difference, Kind
from portal.gateway.statement_file import COLUMNS, WrongStatement, check_statement
from portal.system.local_time import local_time

KINDS: Final[Mapping[Kind, str]] = {
    "empty": "billed, and no answer came",
    "twice": "billed twice",
    "price": "billed at another price",
    "not_ours": "billed, and not in the ledger",
    "not_billed": "in the ledger, and not billed",
}
_COLUMNS: Final = "time=NAME,operation=NAME,price=NAME[,plate=NAME]"
_SHOWN: Final = ("what", "line", "time", "operation", "billed", "price", "outcome")


def check_command(portal: Parts) -> Command:
    @click.command("check", cls=Command)
    @click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @click.option(
        "--columns",
        callback=_columns,
        help="time=NAME,operation=NAME,price=NAME[,plate=NAME], as the header",
    )
    @click.option("--json", "as_json", is_flag=True, help="one JSON array of the differences")
    def check(file: Path, columns: Mapping[str, str], as_json: bool) -> None:
        """Compare a provider's statement FILE with the ledger, by time, operation and price.

        Exits 0 if nothing differs, else 1. The days from the first to the last row are compared.
        """
        try:
            content = file.read_bytes()
            comparison = check_statement(portal.ledger, portal.store.tag, content, columns)
        except WrongStatement as error:
            raise click.UsageError(f"{file}: {_problem(error)}") from None
        if as_json:
            print_lines(json_array_lines(map(_members, comparison.differences)))
        else:
            _print(comparison)
        sys.exit(1 if comparison.differences else 0)

    return check


def _problem(error: WrongStatement) -> str:
    match error.problem:
        case "empty":
            return "the file is empty"
        case "no_rows":
            return "the file has no rows"
        case "no_column":
            return f"the header has no column {error.text!r}"
        case "unrecognised":
            names = ",".join(f"{name}=NAME" for name in error.names)
            return f"no column was recognised as {' or '.join(error.names)}: --columns {names}"
        case "cell":
            return f"line {error.line}: {error.text!r} is no {error.names[0]}"


def _print(comparison: Comparison) -> None:
    seconds = round(comparison.shift.total_seconds())
    clock = (
        f"; the statement's clock is {seconds:+} s from the ledger's" if abs(seconds) > 1 else ""
    )
    print(f"{comparison.rows} rows, {comparison.matched} of them in the ledger{clock}.")
    for kind, count in Counter(difference.kind for difference in comparison.differences).items():
        print(f"{count}: {KINDS[kind]}.")
    if comparison.differences:
        rows = (
            [str("" if value is None else value) for value in _members(difference).values()]
            for difference in comparison.differences
        )
        print_lines(table_lines(_SHOWN, rows, {"line", "billed", "price"}))


def _members(difference: Difference) -> dict[str, Any]:
    billed, call = difference.billed, difference.sent.call if difference.sent else None
    at = billed.at if billed else call.sent_at if call else None
    return {
        "what": difference.kind,
        "line": billed.line if billed else None,
        "time": local_time(at).isoformat(timespec="seconds") if at else None,
        "operation": billed.operation if billed else call.operation if call else None,
        "billed": billed.price if billed else None,
        "price": call.price if call else None,
        "outcome": call.outcome if call else None,
    }


def _columns(_: click.Context, __: click.Parameter, value: str | None) -> Mapping[str, str]:
    if value is None:
        return {}
    pairs = dict(part.split("=", 1) for part in value.split(",") if "=" in part)
    if set(pairs) - set(COLUMNS) or not pairs or value.count("=") != len(pairs):
        raise click.BadParameter(_COLUMNS)
    return pairs
