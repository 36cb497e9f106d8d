"""``flask --app app dossier list | revoke``: lists and revokes issued dossiers.

An issued dossier is a vehicle report that is stored unchanged and shared by a link.
"""

import json

import click

from portal.commands.acts import by_command
from portal.commands.failures import CommandGroup, fail
from portal.commands.parts import Parts
from portal.commands.tables import json_array_lines, print_lines, table_lines
from portal.issued.identifiers import display_number, parse_number
from portal.issued.model import IssuedDossier
from portal.system.erasure import BytesKept
from portal.system.local_time import iso_time

_COLUMNS = ("number", "state", "issued_at", "ends_at", "plate", "issued_by")


def dossier_commands(portal: Parts) -> CommandGroup:
    @click.group("dossier", cls=CommandGroup, help="List and revoke issued dossiers.")
    def dossier() -> None:
        pass

    @dossier.command("list")
    @click.option("--json", "as_json", is_flag=True, help="one JSON array")
    def listed(as_json: bool) -> None:
        """List this upstream's dossiers, the latest first, without their links.

        The plate and the issuer's token are deleted when a dossier ends.
        """
        rows = [_row(issued) for issued in portal.dossiers.all()]
        if as_json:
            lines = json_array_lines(rows)
        else:
            lines = table_lines(_COLUMNS, ([row[name] or "" for name in _COLUMNS] for row in rows))
        print_lines(lines)

    @dossier.command("revoke")
    @click.argument("number", callback=_number)
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def revoke(number: str, as_json: bool) -> None:
        """Revoke a dossier now. The dossier's link and number then show that it was revoked."""
        issued = portal.dossiers.by_number(number)
        plate = issued.snapshot.plate if issued and issued.snapshot else ""
        also = portal.trail.writing(by_command("revoked", number, plate))
        try:
            is_revoked = portal.dossiers.revoke(number, also=also)
        except BytesKept:
            fail("The dossier is revoked, but a reader kept bytes of it in the database's log.")
        if not is_revoked:
            fail(f"No valid dossier has the number {display_number(number)}.")
        shown = display_number(number)
        print(json.dumps({"revoked": shown}) if as_json else f"Revoked {shown}.")

    return dossier


def _row(dossier: IssuedDossier) -> dict[str, str | None]:
    snapshot = dossier.snapshot
    return {
        "number": display_number(dossier.number),
        "state": dossier.state,
        "issued_at": iso_time(dossier.issued_at),
        "ends_at": iso_time(dossier.ended_at),
        "plate": snapshot.plate if snapshot else None,
        "issued_by": snapshot.caller if snapshot else None,
    }


def _number(_: click.Context, __: click.Parameter, value: str) -> str:
    number = parse_number(value)
    if number is None:
        raise click.BadParameter("a dossier's number, as in 7F3K-9QMD-2XHA")
    return number
