"""``flask --app app purge PLATE``: leave no byte of a vehicle."""

import sys

import click

from portal.access import History
from portal.commands.telling import Telling
from portal.gateway import Ledger, Store, StoreDown
from portal.vehicle import InvalidPlate, Plate, parse_subject


def purge_command(store: Store, ledger: Ledger, history: History) -> click.Command:
    @click.command("purge", cls=Telling)
    @click.argument("plate")
    def purge(plate: str) -> None:
        """Delete what is stored of a plate, in both of its spellings, or of a Renavam."""
        try:
            subject = parse_subject(plate)
        except InvalidPlate:
            raise click.BadParameter(f"{plate!r} is neither a plate nor a Renavam") from None
        names = [subject.text]
        if isinstance(subject, Plate) and subject.twin is not None:
            names.append(subject.twin.text)
        gone = 0
        for name in names:
            try:
                gone += store.purge(name)
            except StoreDown:
                print("The store cannot be reached: nothing was purged there.", file=sys.stderr)
                sys.exit(1)
            ledger.forget(store.tag(name))
            history.forget(name)
        print(f"Purged {gone} stored answers.")

    return purge
