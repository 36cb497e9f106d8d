"""One caller's declarations of the checklist's lines, and what the caller saw at the vehicle.

One store keeps both, under the keys of the lines and of the rows.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from portal.access.declarations import Declarations
from portal.desk.caller import Caller
from portal.law.at_the_car import CAR_ROWS, Seen
from portal.law.checklist import LINE_OF
from portal.law.declared import Declaration, Declared, Record
from portal.storage.database import Also, nothing_else
from portal.vehicle.plate import Plate, Renavam

log = logging.getLogger(__name__)

_encoder: Final = msgspec.json.Encoder(decimal_format="string")
_decoder: Final = msgspec.json.Decoder(Declaration)
_seen_decoder: Final = msgspec.json.Decoder(Seen)
# What was seen of a row of the vehicle stands beside the lines, under its own key.
_SEEN: Final = "visto-"


class ContradictsRecord(Exception):
    """A record says otherwise than what a person would declare, and wins."""

    def __init__(self, declaration: Declaration, record: Record) -> None:
        super().__init__(declaration.line)
        self.declaration = declaration
        self.record = record


class DeclaredLines:
    """What one caller has declared. Reads a vehicle's declarations at most once."""

    def __init__(self, store: Declarations, caller: Caller) -> None:
        self._store = store
        self._caller = caller
        self._read: dict[str, tuple[Declared, ...] | None] = {}

    def read(self, subjects: Sequence[Plate | Renavam]) -> None:
        """Read the declarations of many vehicles with few queries."""
        plates = dict.fromkeys(subject.text for subject in subjects if isinstance(subject, Plate))
        unread = [plate for plate in plates if plate not in self._read]
        owner = self._caller.known_owner if unread else ""
        contents = self._store.of(owner, unread) if owner else {}
        for plate in unread:
            self._read[plate] = None if contents is None else _declarations(contents.get(plate, {}))

    def of(self, subject: Plate | Renavam) -> tuple[Declared, ...] | None:
        """Return the declarations of a vehicle, or None if the database fails.

        Lines are declared of plates alone.
        """
        self.read([subject])
        return self._read[subject.text] if isinstance(subject, Plate) else ()

    def replace(
        self,
        plate: Plate,
        changes: Mapping[str, Declared | None],
        also: Also = nothing_else,
    ) -> None:
        """Replace the named lines. None removes a line's declaration. Raises SQLAlchemyError.

        ``also`` is done in the same transaction.
        """
        contents = {
            key: None if declaration is None else _encoder.encode(declaration)
            for key, declaration in changes.items()
        }
        self._store.put(self._caller.owner, plate.text, contents, also)
        self._read.pop(plate.text, None)


def seen_key(row: str) -> str:
    """Return the key under which the store keeps what was seen of a row."""
    return f"{_SEEN}{row}"


def _declarations(lines: Mapping[str, bytes]) -> tuple[Declared, ...]:
    declared: list[Declared] = []
    for key, content in lines.items():
        is_seen = key.removeprefix(_SEEN) in CAR_ROWS and key.startswith(_SEEN)
        if key not in LINE_OF and not is_seen:  # a line of another version of the portal
            continue
        try:
            declared.append((_seen_decoder if is_seen else _decoder).decode(content))
        except msgspec.ValidationError:
            log.warning("a declaration of the line %s is not of this version", key)
    return tuple(declared)
