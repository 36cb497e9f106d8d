"""``flask --app app doctor [--ask PLATE]``: says what is wrong with this portal, and what to do."""

import json
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import click

from portal.amounts import total
from portal.commands.batch import command_caller
from portal.commands.failures import Command, fail
from portal.commands.parts import Parts
from portal.desk.caller import Caller
from portal.gateway.lookup import Failure, Lookup, Spend
from portal.gateway.operations import LOOKUP_OPERATIONS, Operation
from portal.system.checkup import Line, is_well
from portal.vehicle.drift import unexpected, unexpected_members
from portal.vehicle.plate import InvalidSubject, Plate

_MARKS: Final = {"ok": "ok   ", "note": "note ", "wrong": "WRONG"}
# Without these, a lookup could not be recorded, or its answer not be kept.
_NEEDED: Final = ("database", "key")
_MOST_NAMED: Final = 8  # differing fields in a line


def doctor_command(portal: Parts) -> Command:
    @click.command("doctor", cls=Command)
    @click.option("--ask", callback=_plate, help="look this plate up once by each lookup, paid")
    @click.option("--yes", is_flag=True, help="do not ask before lookups that cost money")
    @click.option("--json", "as_json", is_flag=True, help="one JSON array")
    def doctor(ask: Plate | None, yes: bool, as_json: bool) -> None:
        """Check settings, database, Redis, disk, PDF, proxies, mail and addresses without paying.

        Exits 1 if something is wrong. With --ask, one lookup of each operation follows, after its
        price was confirmed: how long it took, and what differs from the contract. The written
        report is not asked for.
        """
        lines = portal.measuring.lines()
        if not as_json:
            _print(lines)
        if ask is not None:
            if any(line.name in _NEEDED and line.level != "ok" for line in lines):
                fail("Nothing was asked: the ledger and the key are needed first.")
            caller = command_caller(portal)
            _confirm(portal, ask, yes=yes)
            for line in _asked(portal, ask, caller):
                lines.append(line)
                if not as_json:
                    _print([line])
            portal.finish()
        if as_json:
            print(json.dumps([line._asdict() for line in lines]))
        sys.exit(0 if is_well(lines) else 1)

    return doctor


def _print(lines: list[Line]) -> None:
    for name, level, text, mend in lines:
        print(f"{_MARKS[level]} {name}: {text}." + (f" Mend: {mend}." if mend else ""))


def _plate(_: click.Context, __: click.Parameter, value: str | None) -> Plate | None:
    try:
        return None if value is None else Plate.parse(value)
    except InvalidSubject:
        raise click.BadParameter(f"{value!r} is no plate") from None


def _confirm(portal: Parts, plate: Plate, *, yes: bool) -> None:
    """Name the price of the lookups, and go on only with the user's consent."""
    price = total(portal.gateway.terms[operation.name].price for operation in LOOKUP_OPERATIONS)
    cost = "an unknown price" if price is None else f"at most R$ {price:.2f}"
    names = ", ".join(operation.name for operation in LOOKUP_OPERATIONS)
    print(f"Asking {names} of {plate.text} costs {cost}.", file=sys.stderr)
    if price != Decimal(0) and not yes and not click.confirm("Go on?", err=True):
        fail("Nothing was asked.")


def _asked(portal: Parts, plate: Plate, caller: Caller) -> Iterator[Line]:
    for operation in LOOKUP_OPERATIONS:
        started = time.monotonic()
        lookup = Lookup(operation, plate)
        try:
            served = portal.gateway.fetch(lookup, caller.identity, Spend.AGAIN)
        except Failure as failure:
            seconds = time.monotonic() - started
            yield _failed(operation, failure, seconds)
            continue
        portal.desk(caller).witness.got(plate, [served])
        yield _answered(operation, served.status, served.body, time.monotonic() - started)


def _failed(operation: Operation, failure: Failure, seconds: float) -> Line:
    text = f"no answer after {seconds:.1f} s ({failure.kind})"
    if failure.kind == "not_found":
        return Line(operation.name, "note", f"{text}: the source has no such vehicle")
    mend = "check the credential with the provider"
    if not failure.kind.startswith(("refused", "operator_refused", "no_credit")):
        mend = "see the log, and the provider's state"
    return Line(operation.name, "wrong", text, mend)


def _answered(operation: Operation, status: int, body: bytes, seconds: float) -> Line:
    text = f"answered {status} in {seconds:.1f} s"
    if status != 200:
        return Line(operation.name, "note", f"{text}: the source does not take this plate")
    document: Any = json.loads(body)
    differing = sorted(unexpected(operation.name, document["result"]))
    differing += sorted(unexpected_members(document))
    if not differing:
        return Line(operation.name, "ok", f"{text}, as the contract says")
    named = ", ".join(differing[:_MOST_NAMED])
    more = f" and {len(differing) - _MOST_NAMED} more" if len(differing) > _MOST_NAMED else ""
    return Line(
        operation.name,
        "note",
        f"{text}; differs from the contract: {named}{more}",
        "compare docs/contract.md with the provider's documents",
    )
