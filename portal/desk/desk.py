"""The desk of one caller, which hands out dossiers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property

from portal.access.history import Entry, Note
from portal.access.tokens import Identity
from portal.desk.calendar_address import CalendarAddress
from portal.desk.caller import Caller
from portal.desk.core import Core
from portal.desk.declared_lines import ContradictsRecord, DeclaredLines
from portal.desk.issuing import Issuing
from portal.desk.lists import Lists
from portal.desk.lookups import LookupCost, rejection_sentence
from portal.desk.moments import Moments
from portal.desk.sights import LastSeen
from portal.desk.witness import Witness
from portal.dossier.answers import Panels
from portal.dossier.changes import what_changed
from portal.dossier.dossier import Dossier
from portal.dossier.gaps import not_refreshed
from portal.dossier.row import Listed, VehicleRow, row_of
from portal.gateway.confirmed_sum import batch_limit
from portal.gateway.limits import Allowance, Limit, Use
from portal.gateway.lookup import Spend
from portal.gateway.usage import Usage
from portal.law.declared import Declaration, Declared, contradicted_by
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate, Renavam


class ReportRejected(Exception):
    """The source rejected the vehicle. The text of the exception says so in Portuguese."""


@dataclass(frozen=True, slots=True)
class Renewed:
    """A dossier with new answers, and the dossier of the answers before.

    ``is_stored`` is false if an answer that was paid could not be stored.
    """

    before: Dossier
    dossier: Dossier
    is_stored: bool

    @property
    def failures(self) -> str:
        """Say which lookups have no new answer, or return ""."""
        return not_refreshed(self.dossier.answers, self.dossier.subject)

    @property
    def changes(self) -> str:
        """Say what has changed, or return ""."""
        dossier = self.dossier
        return what_changed(self.before.answers, dossier.answers, dossier.today, dossier.marker)


class Desk:
    """Hands out what one caller may ask for: dossiers, lists, issued dossiers.

    ``lists`` are the caller's batches, ``issuing`` the dossiers that the caller has issued.
    """

    def __init__(self, core: Core, caller: Caller) -> None:
        self._core = core
        self._reading = core.reading
        self.caller = caller

    @property
    def identity(self) -> Identity:
        return self.caller.identity

    @cached_property
    def calendar_address(self) -> CalendarAddress:
        return CalendarAddress(self._core, self.caller)

    @cached_property
    def witness(self) -> Witness:
        """Notes in the trail what the caller sees and does."""
        return Witness(self._core.trail, self.caller)

    @cached_property
    def lists(self) -> Lists:
        return Lists(self._core, self.caller)

    @cached_property
    def issuing(self) -> Issuing:
        return Issuing(self._core, self.caller, self._declared)

    @cached_property
    def _declared(self) -> DeclaredLines:
        return DeclaredLines(self._core.declarations, self.caller)

    @cached_property
    def moments(self) -> Moments:
        return Moments(self._core, self.caller, self.issuing)

    # Dossiers

    def dossier(
        self,
        subject: Plate | Renavam,
        spend: Spend = Spend.ASKED,
        names: Collection[LookupName] = LOOKUPS,
        ask: Collection[LookupName] = LOOKUPS,
    ) -> Dossier:
        """Return the dossier of a vehicle, after the lookups in ``names``.

        The answer of a lookup that is not in ``names`` has the state "unasked". ``ask`` are the
        lookups that the user chose.
        """
        answers = self._core.lookups.panels(subject, self.identity, self._intent(spend), names)
        self.witness.saw(subject, answers)
        return self.of(subject, answers, ask)

    def dossiers(
        self, subjects: Sequence[Plate | Renavam], spend: Spend = Spend.ASKED
    ) -> list[Dossier]:
        """Return the dossier of each vehicle. Upstream calls run in parallel."""
        self.prepare(subjects)
        spend = self._intent(spend)
        answers = self._core.lookups.panels_of_all(subjects, self.identity, spend)
        return self._seen(subjects, answers)

    def stored(self, subjects: Sequence[Plate | Renavam]) -> list[Dossier]:
        """Return the dossier of each vehicle from stored answers, for a list of vehicles."""
        self.prepare(subjects)
        return self._seen(subjects, self._core.lookups.stored(subjects, self.identity))

    def _intent(self, spend: Spend) -> Spend:
        """Return what a request asks for. A caller that never spends has nothing to ask later."""
        return spend if self.identity.may_spend else Spend.ASKED

    def _seen(
        self, subjects: Sequence[Plate | Renavam], answers: Sequence[Panels]
    ) -> list[Dossier]:
        for subject, panels in zip(subjects, answers, strict=True):
            self.witness.saw(subject, panels)
        return list(map(self.of, subjects, answers))

    def prepare(self, subjects: Sequence[Plate | Renavam]) -> None:
        """Read at once what the caller has declared of the vehicles of a list."""
        self._declared.read(subjects)

    def reported(self, subject: Plate | Renavam) -> Dossier | None:
        """Return the dossier from stored answers if a written report is stored, else None."""
        if not self._core.lookups.has_report(subject, self.identity):
            return None
        return self.dossier(subject, Spend.NEVER)

    def row(self, listed: Listed, ask: Collection[LookupName] = LOOKUPS) -> VehicleRow:
        """Return the row of a vehicle of a batch that makes the lookups ``ask``."""
        if listed.result is not None:
            self.witness.saw_row(listed.subject)
        return row_of(
            listed,
            lambda: self.dossier(listed.subject, Spend.NEVER, ask, ask),
            lambda: self.reported(listed.subject),
            datetime.now(UTC),
            self._declared.of(listed.subject),
        )

    def declare(self, plate: Plate, changes: Mapping[str, Declared | None]) -> Dossier:
        """Declare lines of a vehicle's checklist, or what was seen at it. Nothing is asked.

        Returns the dossier. Replaces what ``changes`` names. None removes it. Raises
        ContradictsRecord, and stores nothing, if a record says otherwise. Raises SQLAlchemyError.
        """
        stored = self.dossier(plate, Spend.NEVER)
        for declaration in changes.values():
            if not isinstance(declaration, Declaration):
                continue
            if record := contradicted_by(declaration, stored.records):
                raise ContradictsRecord(declaration, record)
        self._declared.replace(plate, changes, self.witness.doing("declared", plate.text))
        return replace(stored, declarations=self._declared.of(plate))

    def of(
        self, subject: Plate | Renavam, answers: Panels, ask: Collection[LookupName] = LOOKUPS
    ) -> Dossier:
        """Return the dossier of answers that this caller got before."""
        declarations = self._declared.of(subject)
        return self._reading.dossier(subject, answers, datetime.now(UTC), ask, declarations)

    def renew(self, plate: Plate, ask: Collection[LookupName] = LOOKUPS) -> Renewed:
        """Make the lookups in ``ask`` that the caller may make again, and return both dossiers."""
        names = [name for name in LOOKUPS if name in ask and self.caller.may(name)]
        before = self.dossier(plate, Spend.NEVER, names)
        dossier = self.dossier(plate, Spend.AGAIN, names)
        served = [panel.served for panel in dossier.answers.all if panel.served]
        return Renewed(before, dossier, all(answer.stored for answer in served))

    def report(self, plate: Plate) -> Renewed:
        """Order a written report on the vehicle's records, and return the dossier with it.

        Raises NoRecords, Failure or ReportRejected.
        """
        last_purge = self._core.gateway.last_purge()
        before, reports = self.dossier(plate), self._core.lookups.reports
        served = reports.write(plate, before.answers, self.identity, last_purge)
        if served.status != 200:
            raise ReportRejected(rejection_sentence(served, plate))
        self.witness.got(plate, [served])
        written = reports.unstored_panel(served, before.answers)
        dossier = replace(before, answers=replace(before.answers, report=written))
        return Renewed(before, dossier, served.stored)

    def expect_lookups(self, dossier: Dossier) -> None:
        """Open connections for the lookups that a page's script will make in a moment."""
        self._core.expect_lookups(len(dossier.answers.in_state("unasked")))

    # Money

    @property
    def may_report(self) -> bool:
        """Whether the caller may order a written report. It needs records to be about."""
        has_scopes = self.caller.may("report") and any(map(self.caller.may, LOOKUPS))
        return self.identity.may_spend and has_scopes

    def cost(self) -> LookupCost:
        """Return the price of all permitted lookups of a plate, and today's limits."""
        return self._core.lookups.cost(self.identity)

    def prices(self) -> dict[LookupName, Decimal | None]:
        """Return the price, in R$, of each lookup that the caller may make.

        None is an unknown price. A caller that never spends reads stored answers, for 0.
        """
        terms = self._core.gateway.terms
        return {
            name: terms[name].price if self.identity.may_spend else Decimal(0)
            for name in LOOKUPS
            if self.caller.may(name)
        }

    def allowance(self) -> Allowance:
        """Return how many upstream calls the daily limits still allow."""
        return self._core.ledger.allowance(self.identity)

    def uses(self) -> Sequence[tuple[Use, date | None]]:
        """Return what is used of each limit that binds the caller.

        The day is that on which a budget of the month ends at its present rate, if it ends before
        the month.
        """
        uses = self._core.ledger.uses(self.identity)
        return [(use, self._core.usage.ends_on(use, self._callers(use.limit))) for use in uses]

    def batch_uses(self) -> Sequence[Use]:
        """Return what each batch of the caller under way has used of its confirmed sum."""
        return [
            Use(batch_limit(batch.id, batch.cost.at_most), batch.cost.spent, None)
            for batch in self._core.batches.under_way(self.caller.owner)
            if batch.cost.spent is not None and batch.cost.at_most is not None
        ]

    def _callers(self, limit: Limit) -> Collection[str] | None:
        """Return the names of the calls that a limit of this caller counts. None means all."""
        if limit.scope == "person" and self.identity.person is not None:
            return self._core.gatekeeper.callers(self.identity.person)
        return None if limit.scope == "portal" else [self.identity.name]

    def month(self) -> tuple[date, Usage]:
        """Return a day of the present month, and what the caller's token has used in it."""
        usage = self._core.usage
        return usage.today(), usage.of_caller(self.identity.name)

    def paid(self, subjects: Sequence[str]) -> Mapping[str, Decimal | None]:
        """Return the R$ that the caller has paid for plates and Renavams of the history.

        All visitors of the demo mode share a name, so this is what all of them have paid.
        """
        keys, since_s = self._core.keys, datetime.now(UTC).timestamp() - self.history_kept_s
        tags = {keys.tag(subject): subject for subject in subjects}
        paid = self._core.ledger.paid(self.identity.name, [*tags], since_s)
        return {tags[tag]: price for tag, price in paid.items()}

    # The caller's own history of lookups

    @property
    def history_kept_s(self) -> int:
        """For how long this caller's history is kept."""
        return self._core.history.kept_days(self.caller.owner) * 24 * 3600

    def keep_history(self, days: int) -> None:
        """Keep this caller's history for 30 or 90 days. Raises SQLAlchemyError."""
        self._core.history.keep_for(self.caller.owner, days)

    @cached_property
    def last_seen(self) -> LastSeen:
        return LastSeen(self._core.history, self.caller.owner)

    def remember(self, *subjects: Plate | Renavam) -> None:
        """Add vehicles to the history."""
        for subject in subjects:
            self.last_seen.visit(subject.text)

    def recent(self, most: int | None = None, skip: int = 0) -> Sequence[Entry]:
        """Return the latest entries of the history, by default as many as the front page shows."""
        history = self._core.history
        if most is None:
            return history.recent(self.caller.owner)
        return history.recent(self.caller.owner, most, skip)

    def notes(self, subjects: Sequence[str]) -> Mapping[str, Note]:
        """Return the caller's notes of vehicles."""
        return self._core.history.notes(self.caller.owner, subjects)

    def annotate(self, subject: Plate | Renavam, note: Note) -> None:
        self._core.history.annotate(self.caller.owner, subject.text, note)
