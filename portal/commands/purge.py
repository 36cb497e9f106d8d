"""``flask --app app purge PLATE``: deletes all data about a vehicle."""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from portal.access.sealing import cipher, decrypt
from portal.commands.acts import by_command, command_user
from portal.commands.failures import Command
from portal.commands.parts import Parts
from portal.gateway.backend import BytesRemain
from portal.gateway.local_cache import CONFIRMED_FOR_S
from portal.gateway.store import StoreDown
from portal.storage.backup import remove_copies
from portal.storage.database import Lock, hold
from portal.storage.ends import End, note_end
from portal.storage.purge_log import log_purges, purge_bucket
from portal.system.erasure import BytesKept
from portal.system.local_time import iso_time
from portal.vehicle.plate import InvalidSubject, Plate
from portal.vehicle.typed import parse_typed

T = TypeVar("T")

_FAILURES: Final[Mapping[type[Exception], str]] = {
    BytesRemain: (
        "None of them can be read any more, but their bytes remain ({}): purge again to remove "
        "those."
    ),
    StoreDown: "The store cannot be reached: what it holds was not purged, or not all of it.",
    BytesKept: (
        "The ledger, the histories, the declarations and the dossiers name the vehicle no more, "
        "but a reader kept bytes of it in the database's log: purge again to remove those."
    ),
    OSError: "A file that names the vehicle cannot be removed: purge again.",
}
_BY_RENAVAM = "Answers that were looked up by its Renavam are not included: purge the Renavam too."
_PROOFS = (
    "{} issued dossiers are deleted with their proofs, also those that have ended: their numbers, "
    "files and signatures cannot be verified any more."
)
_ENDED: Final = b"ended vehicles"  # the purpose of the key that encrypts their names
_COPY_IN_USE = "purge again when the backup or the restore that uses it has ended."


def purge_command(portal: Parts) -> Command:
    @click.command("purge", cls=Command)
    @click.argument("plate")
    @click.option("--json", "as_json", is_flag=True, help="what was deleted, as one JSON object")
    def purge(plate: str, as_json: bool) -> None:
        """Delete all data about a plate, in its old and its Mercosul form, or about a Renavam."""
        try:
            subject = parse_typed(plate)
        except InvalidSubject:
            raise click.BadParameter(f"{plate!r} is neither a plate nor a Renavam") from None
        names = [subject.text]
        if isinstance(subject, Plate) and subject.twin is not None:
            names.append(subject.twin.text)
        run = purge_vehicles(portal, names)
        run.report(as_json=as_json)
        run.end()
        if isinstance(subject, Plate):
            print(_BY_RENAVAM, file=sys.stderr)

    return purge


def purge_vehicles(portal: Parts, names: Sequence[str]) -> "Purge":
    """Delete all data about vehicles, of which ``names`` are all plates and Renavams."""
    store = portal.store
    tags = [store.tag(name) for name in names]
    run = Purge()
    if proofs := run.attempt(portal.dossiers.count_of, names):
        print(_PROOFS.format(proofs), file=sys.stderr)
    encrypted = cipher(portal.data_key or b"", _ENDED).encrypt(" ".join(names).encode())
    sealed = {"names": encrypted.decode()}

    def delete_rows(above: int) -> Sequence[int]:
        with portal.database.writing() as db:
            # Log the purge first. Other processes and portals learn of it from the log.
            numbers = log_purges(db, list(map(purge_bucket, tags)), above)
            deleted = sum(portal.dossiers.forget(db, name) for name in names)
            delete_traces(db)
            note_end(db, "purge", {"number": str(numbers[-1])}, run.began_at, sealed)
            portal.trail.write(db, by_command("purged", str(numbers[-1])))
        run.dossiers += deleted
        run.receipt = Receipt.of(numbers[-1])
        return numbers

    def delete_traces(db: Connection) -> None:
        portal.ledger.forget(db, tags)
        for name in names:
            portal.history.forget(db, name)
            portal.declarations.forget(db, name)
            portal.batches.forget(db, name)
        portal.trail.forget(db, names)  # last, because nothing is locked after the trail

    def delete_traces_again() -> None:
        with portal.database.writing() as db:
            hold(db, Lock.PURGES)
            delete_traces(db)

    # Count first: a running portal that learns of the purge from the log may delete the answers
    # before this command does.
    stored = run.attempt(store.count, tags) or 0
    # A running batch looks up a vehicle only while the vehicle is in the batch. Delete the rows
    # first, so that no batch stores an answer after the purge of the store.
    above = run.attempt(store.purged_to) or 0
    numbers = run.attempt(delete_rows, above) or [0] * len(tags)
    deleted = run.attempt(store.purge, dict(zip(tags, numbers, strict=True)))
    if deleted is not None:
        run.deleted = max(stored, deleted)
    # For CONFIRMED_FOR_S, a process may serve an answer without reading the store again, and
    # may note the visit or its use in a batch. Delete this too. The log needs no second number,
    # which would drop answers that were paid meanwhile: what is stored of answers (dossiers and
    # reports) is made after a reading of the log (``Store.last_purge``), which evicts purged
    # answers from memory.
    time.sleep(CONFIRMED_FOR_S)
    run.attempt(delete_traces_again)
    run.broken += run.attempt(store.erase_deleted) or []
    for folder in portal.files.folders:
        run.copies += run.attempt(remove_copies, folder) or []
    for tag in tags:
        run.attempt(portal.leases.forget, tag)
    run.attempt(portal.database.erase_deleted)
    return run


def ended_names(portal: Parts, end: End) -> list[str]:
    """Return the plates and Renavams of a noted purge, or [] if no key decrypts them."""
    sealed = str(end.values.get("names", ""))
    names = decrypt(portal.data_key or b"", _ENDED, sealed.encode())
    return names.decode().split() if names else []


class Receipt(NamedTuple):
    """What proves that a purge was made, without the vehicle. The trail has the same."""

    number: int
    at: str
    by: str

    @classmethod
    def of(cls, number: int) -> "Receipt":
        return cls(number, iso_time(datetime.now(UTC).timestamp()), command_user())


class Purge:
    """Runs every step of a purge, even if an earlier step fails, and collects the failures."""

    def __init__(self) -> None:
        self._database_error: SQLAlchemyError | None = None
        self._failures: dict[str, None] = {}
        self.deleted = 0
        self.dossiers = 0
        self.broken: list[str] = []
        self.copies: list[Path] = []
        self.receipt: Receipt | None = None
        self.began_at = datetime.now(UTC).timestamp()

    def attempt(self, step: Callable[..., T], *arguments: Any) -> T | None:
        try:
            return step(*arguments)
        except SQLAlchemyError as error:
            self._database_error = self._database_error or error
        except tuple(_FAILURES) as error:
            text = next(text for kind, text in _FAILURES.items() if isinstance(error, kind))
            self._failures[text.format(error)] = None
        return None

    @property
    def is_whole(self) -> bool:
        return not (self.copies or self._failures or self._database_error)

    def report(self, *, as_json: bool) -> None:
        if as_json:
            self._report_as_json()
            return
        print(f"Purged {self.deleted} stored answers.")
        for file in self.broken:
            print(f"Deleted {file}, which was set aside as corrupt and may have held it too.")
        if self.dossiers:
            print(f"Deleted {self.dossiers} issued dossiers.")

    def _report_as_json(self) -> None:
        counts = {"answers": self.deleted, "dossiers": self.dossiers, "files": self.broken}
        receipt = self.receipt._asdict() if self.receipt and self.is_whole else {}
        print(json.dumps(counts | receipt))

    def end(self) -> None:
        """Report the failures, or print the receipt of a purge that has left nothing."""
        for copy in self.copies:
            self._failures[f"{copy} has a copy of the data: {_COPY_IN_USE}"] = None
        for failure in self._failures:
            print(failure, file=sys.stderr)
        if self._database_error is not None:
            raise self._database_error  # ``Command`` prints the error and exits 1
        if self._failures:
            sys.exit(1)
        if self.receipt:
            number, at, by = self.receipt
            print(f"Receipt: purge {number}, {at}, by {by}.", file=sys.stderr)
