"""Issues the dossiers of one caller, from stored answers."""

import hashlib
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from portal.desk.caller import Caller
from portal.desk.core import Core
from portal.desk.declared_lines import DeclaredLines
from portal.desk.reading import Reading
from portal.desk.witness import Witness
from portal.dossier.answers import Panel, Panels
from portal.dossier.dossier import Dossier
from portal.dossier.gaps import has_readable
from portal.gateway.lookup import Spend
from portal.issued.identifiers import Identifiers, new_identifiers
from portal.issued.model import IssuedDossier, IssuedSnapshot, KeptAnswer, NumberTaken, Purged
from portal.pdf.signing import SignedPdf
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate, Renavam

# The most dossiers that one request issues. A PDF takes about a second.
MOST_AT_ONCE: Final = 12
NOT_STORED_AT_ISSUE: Final = (
    "Não havia resposta guardada desta consulta quando o dossiê foi emitido."
)
NOT_STORED_IN_BATCH: Final = "Não havia resposta guardada desta consulta quando o dossiê foi feito."
NOT_ASKED_IN_BATCH: Final = (
    "Esta consulta não foi pedida no lote, e não havia resposta guardada dela quando o dossiê foi "
    "feito."
)


class NothingToIssue(Exception):
    """A dossier cannot be issued: no answer is stored, or the vehicle was purged meanwhile."""

    def __init__(self, why: Literal["not_stored", "purged"]) -> None:
        super().__init__(why)
        self.why = why


class Paper(NamedTuple):
    """A rendered dossier. ``pdf`` is None if no PDF can be rendered."""

    html: str
    pdf: SignedPdf | None


@dataclass(frozen=True, slots=True)
class Issuable:
    """A dossier with masked names. ``last_purge`` is the purge before which it was read."""

    dossier: Dossier
    last_purge: int


class Issuing:
    """The issued dossiers of one caller."""

    def __init__(self, core: Core, caller: Caller, declared: DeclaredLines) -> None:
        self._core = core
        self._caller = caller
        self._declared = declared
        self._witness = Witness(core.trail, caller)

    def issuable(self, subject: Plate | Renavam) -> Issuable:
        """Return a vehicle's dossier from stored answers, to be issued. Raises NothingToIssue.

        For a lookup without a stored answer, the dossier states that the answer is missing.
        """
        last_purge = self._core.gateway.last_purge()
        if not isinstance(subject, Plate):
            raise NothingToIssue("not_stored")
        reasons = [NOT_STORED_AT_ISSUE] * len(LOOKUPS)
        dossier = self._stored(self._core.reading.masked, subject, reasons)
        if not has_readable(dossier.answers):
            raise NothingToIssue("not_stored")
        return Issuable(dossier, last_purge)

    def of_batch(self, plate: Plate, ask: Collection[LookupName]) -> Dossier:
        """Return the dossier of a plate in a batch from stored answers, which is not issued.

        ``ask`` contains the lookups that the batch makes. For a lookup without a stored answer, the
        dossier states that the answer is missing, and whether the batch makes this lookup.
        """
        reasons = [NOT_STORED_IN_BATCH if name in ask else NOT_ASKED_IN_BATCH for name in LOOKUPS]
        return self._stored(self._core.reading, plate, reasons)

    def issue(
        self,
        issuable: Issuable,
        render: Callable[[Identifiers], Paper],
        summary: str,
        *,
        follow: bool = False,
        key: str | None = None,
    ) -> str:
        """Issue a dossier and return its number.

        ``render`` returns the paper with its number and link. ``follow`` lets the link show what
        has changed since. An earlier request with the idempotency key ``key`` may have issued the
        dossier. Raises NothingToIssue or KeyReused.
        """
        owner, identifiers = self._caller.owner, new_identifiers()
        subject = issuable.dossier.subject
        if key is not None:
            claim = self._core.idempotency.claim
            number = claim("dossier", owner, key, subject.text.encode(), identifiers.number)
            if self.owned(number):  # issued by the first click of two
                return number
            identifiers = identifiers._replace(number=number)
        try:
            return self.issue_as(issuable, identifiers, render(identifiers), summary, follow=follow)
        except NumberTaken:
            if key is None:
                raise
            # The other of two clicks has issued it meanwhile.
            return identifiers.number

    def issue_as(
        self,
        issuable: Issuable,
        identifiers: Identifiers,
        paper: Paper,
        summary: str,
        *,
        follow: bool = False,
        supersedes: str | None = None,
    ) -> str:
        """Issue a dossier under ``identifiers``, in place of the caller's dossier ``supersedes``.

        Raises NothingToIssue, or NumberTaken if a dossier has the number.
        """
        identity, subject = self._caller.identity, issuable.dossier.subject
        html, pdf = paper
        snapshot = IssuedSnapshot(
            plate=subject.text,
            caller=identity.name,
            summary=summary,
            follows=identity.owner if follow and not self._caller.pays_alone else "",
            owner=self._caller.owner,
            answers=kept_answers(issuable.dossier.answers),
            basis=_basis(issuable.dossier, follow=follow),
        )
        also = self._witness.doing("issued", subject.text, identifiers.number)
        try:
            self._core.archive.issue(
                *(self._caller.owner, identifiers, snapshot, html, pdf),
                last_purge=issuable.last_purge,
                supersedes=supersedes,
                also=also,
            )
        except Purged:
            raise NothingToIssue("purged") from None
        return identifiers.number

    def issued_before(self, subject: Plate | Renavam, key: str | None) -> str | None:
        """Return the number of the dossier that an earlier request with the key has issued.

        None if there is none. Raises KeyReused.
        """
        if key is None:
            return None
        made = self._core.idempotency.made
        number = made("dossier", self._caller.owner, key, subject.text.encode())
        return number if number and self.owned(number) else None

    def standing(self, issuable: Issuable, *, follow: bool = False) -> IssuedDossier | None:
        """Return the caller's latest valid dossier of the vehicle if another would say the same.

        None if an answer, a declared line or the day differs.
        """
        newest = self._core.archive.newest_owned(self._caller.owner, issuable.dossier.subject.text)
        if newest is None or newest.snapshot is None or newest.superseded_by:
            return None
        return newest if newest.snapshot.basis == _basis(issuable.dossier, follow=follow) else None

    def standing_among(self, subjects: Sequence[Plate | Renavam]) -> list[Plate | Renavam]:
        """Return the vehicles whose latest dossier says what another would say."""
        gone = []
        for subject in subjects:
            with suppress(NothingToIssue):
                if self.standing(self.issuable(subject)):
                    gone.append(subject)
        return gone

    def owned(self, number: str) -> IssuedDossier | None:
        return self._core.archive.owned(number, self._caller.owner)

    def all(self, most: int, after: IssuedDossier | None = None) -> Sequence[IssuedDossier]:
        """Return the caller's dossiers, the latest first, those after ``after``."""
        return self._core.archive.all_owned(self._caller.owner, most, after)

    def revoke(self, number: str) -> bool:
        issued = self.owned(number)
        plate = issued.snapshot.plate if issued and issued.snapshot else ""
        also = self._witness.doing("revoked", plate, number)
        return self._core.archive.revoke(number, self._caller.owner, also)

    def of(self, plate: Plate, answers: Panels) -> Dossier:
        """Return the dossier to issue of answers, with masked names and what was declared."""
        settled = _all_settled(answers, [NOT_STORED_AT_ISSUE] * len(LOOKUPS))
        declarations = self._declared.of(plate)
        return self._core.reading.masked.dossier(
            plate, settled, datetime.now(UTC), declarations=declarations
        )

    def _stored(self, reading: Reading, plate: Plate, reasons: Sequence[str]) -> Dossier:
        """Return stored answers. A lookup without one is "unavailable", for its reason."""
        identity = self._caller.identity
        answers = self._core.lookups.panels(plate, identity, Spend.NEVER)
        settled, declarations = _all_settled(answers, reasons), self._declared.of(plate)
        return reading.dossier(plate, settled, datetime.now(UTC), declarations=declarations)


def kept_answers(answers: Panels) -> dict[str, KeptAnswer]:
    """Return the answers of a dossier, with which a later one is compared."""
    panels = ((name, answers.of(name)) for name in LOOKUPS)
    return {
        name: KeptAnswer(panel.fetched_at.timestamp(), zlib.compress(panel.body))
        for name, panel in panels
        if panel.body is not None and panel.fetched_at is not None
    }


def _basis(dossier: Dossier, *, follow: bool) -> str:
    """Return a hash of what a dossier is made of. Its deadlines depend on the day."""
    answers = [
        (name, panel.state, panel.fetched_at, panel.body and hashlib.sha256(panel.body).hexdigest())
        for name in LOOKUPS
        for panel in (dossier.answers.of(name),)
    ]
    report = dossier.answers.report
    made_of = (dossier.today, answers, report and report.body, dossier.declarations, follow)
    return hashlib.sha256(repr(made_of).encode()).hexdigest()


def _all_settled(answers: Panels, reasons: Sequence[str]) -> Panels:
    settled = dict(zip(LOOKUPS, map(_settled, answers.all, reasons), strict=True))
    return answers.with_answers(settled)


def _settled(panel: Panel, reason: str) -> Panel:
    if panel.state != "unasked":
        return panel
    return replace(panel, state="unavailable", reason=reason)
