"""Hands what one owner has stored to another, such as a colleague of a person who has left."""

from dataclasses import dataclass
from typing import NamedTuple

from portal.access.calendar_addresses import CalendarAddresses
from portal.access.declarations import Declarations
from portal.access.history import History
from portal.access.people import People
from portal.access.tokens import Tokens
from portal.batch.batches import Batches
from portal.issued.archive import DossierArchive
from portal.storage.database import Also


class Handed(NamedTuple):
    """How many of each kind have another owner now."""

    batches: int
    dossiers: int
    vehicles: int  # of the history, with their notes
    declarations: int


class UnknownOwner(LookupError):
    """No person and no token has this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """What is stored under an owner's key, in every part of the portal.

    Tokens, limits and the ledger stay with the former owner. The former owner's calendar address
    ends, because only the former owner knows it.
    """

    archive: DossierArchive
    batches: Batches
    calendar_addresses: CalendarAddresses
    declarations: Declarations
    history: History
    people: People | None
    tokens: Tokens

    def owners(self) -> dict[str, str]:
        """Return the owner's key of every person and token, by name. Raises SQLAlchemyError."""
        owners = {
            token.caller: token.owner for token in self.tokens.listed() if token.person is None
        }
        if self.people is not None:
            owners |= {person.caller: person.id for person in self.people.listed()}
        return owners

    def between(self, former: str, new: str, also: Also) -> Handed:
        """Hand everything of the owner named ``former`` to the one named ``new``.

        ``also`` writes the act to the trail in the same transaction. What both have stays as the
        new owner has it. Raises UnknownOwner or SQLAlchemyError.
        """
        owners = self.owners()
        try:
            before, after = owners[former], owners[new]
        except KeyError:
            raise UnknownOwner from None
        if before == after:
            return Handed(0, 0, 0, 0)
        with self.batches.writing() as db:
            handed = Handed(
                self.batches.hand_over(db, before, after),
                self.archive.hand_over(db, before, after),
                self.history.hand_over(db, before, after),
                self.declarations.hand_over(db, before, after),
            )
            self.calendar_addresses.end(db, before)
            also(db)
        return handed
