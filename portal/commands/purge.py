"""``flask --app app purge PLATE``: leave no byte of a vehicle."""

import sys
from collections.abc import Iterable

import click

from portal.access import History
from portal.commands.telling import Telling
from portal.gateway import BytesRemain, Ledger, Store, StoreDown
from portal.vehicle import InvalidPlate, Plate, parse_subject

_BYTES_REMAIN = (
    "None of them can be read any more, but a reader kept their bytes in the store's log: "
    "purge again to remove those."
)
_STORE_DOWN = "The store cannot be reached: what it holds was not purged, or not all of it."


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
        gone, troubles = _purge_store(store, names)
        print(f"Purged {gone} stored answers.")
        for trouble in troubles:
            print(trouble, file=sys.stderr)
        # Whatever the store says: the database is another place, and names the vehicle too.
        for name in names:
            ledger.forget(store.tag(name))
            history.forget(name)
        if troubles:
            sys.exit(1)

    return purge


def _purge_store(store: Store, names: Iterable[str]) -> tuple[int, Iterable[str]]:
    """How many answers are gone, and what went wrong: each spelling is tried, each trouble told
    once."""
    gone, troubles = 0, dict[str, None]()
    for name in names:
        try:
            gone += store.purge(name)
        except BytesRemain as remain:
            gone += remain.gone
            troubles[_BYTES_REMAIN] = None
        except StoreDown:
            troubles[_STORE_DOWN] = None
    return gone, troubles
