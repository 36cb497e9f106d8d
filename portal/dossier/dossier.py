"""The dossier of one vehicle: its answers, its assessed records, and what follows from them."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from portal.dossier.answers import Panels, decoded_of, is_readable
from portal.dossier.attributes import attributes_of, line_of
from portal.dossier.changes import MOST_FINES, MOST_ORDERS, Changes, changes_of
from portal.dossier.checklist import Checklist, alerts_by_line, checklist
from portal.dossier.details import Detail
from portal.dossier.gaps import Unavailable, missing_of
from portal.dossier.lookups import PARTS
from portal.dossier.prices import Prices, prices_of
from portal.dossier.records_by_line import records_by_line
from portal.gateway.operations import lookups_of
from portal.law.act_matrix import Stale, VerdictPart
from portal.law.assessment import AssessedFine, Totals, notice_key, totals
from portal.law.at_the_car import Seen, seen_findings
from portal.law.declared import (
    Declared,
    Record,
    SettledLine,
    declared_findings,
    seen_of,
    settle,
    stock_obstacles,
)
from portal.law.findings import (
    DeclaredSomething,
    OfVehicle,
    ReportAlert,
    SeenDifference,
    UnreadData,
)
from portal.law.further_findings import beside_findings
from portal.law.identification import condition_findings
from portal.law.orders import AssessedOrder
from portal.law.report_check import alerts_of
from portal.law.verdict import Verdict, judge
from portal.system.local_time import local_time
from portal.vehicle.decode import Decoded
from portal.vehicle.fines import read_fines
from portal.vehicle.further import NO_CONTRACT, further_of
from portal.vehicle.identity import VehicleIdentity, identity_of
from portal.vehicle.judicial import read_restrictions
from portal.vehicle.makes import VehicleName, vehicle_name
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate, Renavam
from portal.vehicle.report import Report, read_report

_MOST_TWINS = 10  # records of one notice that each of them names


@dataclass(frozen=True)
class Dossier:
    """What is known of one vehicle on the day ``today``.

    Nothing is computed before it is read, so a list of vehicles that shows verdicts computes
    nothing else. A part is None if its lookup has no readable answer: missing is never clean.
    ``marker`` is the text that the source sends in place of a hidden value. ``ask`` are the lookups
    that the user chose. ``mask_names`` is true if a written report must not show people's names.
    ``declarations`` are the caller's own, of lines and of what was seen at the vehicle, or None if
    they could not be read.
    """

    subject: Plate | Renavam
    answers: Panels
    today: date
    marker: str
    ask: Collection[LookupName] = LOOKUPS
    mask_names: bool = True
    declarations: tuple[Declared, ...] | None = ()

    @cached_property
    def asked(self) -> tuple[LookupName, ...]:
        """The lookups that the user chose and that the source offers for the subject."""
        return lookups_of(self.subject, self.ask)

    @property
    def not_asked(self) -> tuple[VerdictPart, ...]:
        """The parts of the verdict whose lookup is not made."""
        return tuple(part for name, part in PARTS.items() if name not in self.asked)

    @cached_property
    def decoded(self) -> Decoded | None:
        panel = self.answers.vehicle
        return decoded_of(panel, self.marker) if is_readable(panel.result, "decode") else None

    @cached_property
    def vehicle(self) -> VehicleIdentity | None:
        return identity_of(self.decoded) if self.decoded else None

    @cached_property
    def name(self) -> VehicleName:
        """The vehicle's make and model, each "" if unknown."""
        return vehicle_name(self.decoded) if self.decoded else VehicleName("", "")

    @cached_property
    def line(self) -> str:
        """A line with years, fuel, power and origin, or ""."""
        return line_of(self.decoded) if self.decoded else ""

    @cached_property
    def attributes(self) -> tuple[Detail, ...]:
        """All attributes, blank ones too, or () without a readable answer."""
        return attributes_of(self.decoded) if self.decoded else ()

    @property
    def is_described(self) -> bool:
        """Whether the answer of the lookup "decode", if any, identifies a vehicle."""
        if self.decoded is None:
            return True
        return bool(self.name) or any(e.model or e.version for e in self.decoded.fipe)

    @cached_property
    def prices(self) -> Prices | None:
        return prices_of(self.decoded, self.today) if self.decoded else None

    @cached_property
    def fines(self) -> tuple[AssessedFine, ...] | None:
        """All fines in the source's order."""
        result = self.answers.fines.result
        if not is_readable(result, "renainf"):
            return None
        records = read_fines(result, self.marker)
        notices: defaultdict[object, list[int]] = defaultdict(list)
        keyed = [(number, notice_key(record)) for number, record in enumerate(records, start=1)]
        for number, key in keyed:
            notices[key or number].append(number)
        return tuple(
            AssessedFine(
                record,
                self.today,
                number,
                self.vehicle,
                tuple(twin for twin in notices[key or number][:_MOST_TWINS] if twin != number),
            )
            for record, (number, key) in zip(records, keyed, strict=True)
        )

    @property
    def listed_fines(self) -> tuple[AssessedFine, ...]:
        """The fines that a page lists."""
        return (self.fines or ())[:MOST_FINES]

    @cached_property
    def totals(self) -> Totals | None:
        return None if self.fines is None else totals(self.fines)

    @cached_property
    def orders(self) -> tuple[AssessedOrder, ...] | None:
        """All court orders in the source's order."""
        result = self.answers.orders.result
        if not is_readable(result, "renajud"):
            return None
        return tuple(
            AssessedOrder(record, self.today, number, self.vehicle)
            for number, record in enumerate(read_restrictions(result, self.marker), start=1)
        )

    @property
    def listed_orders(self) -> tuple[AssessedOrder, ...]:
        """The court orders that a page lists."""
        return (self.orders or ())[:MOST_ORDERS]

    @cached_property
    def orders_in_force(self) -> int | None:
        return None if self.orders is None else sum(order.in_force for order in self.orders)

    @cached_property
    def unconfirmed(self) -> tuple[VerdictPart, ...]:
        """The parts of the verdict whose answer leaves open whether there are (more) records."""
        return tuple(
            part for name, part in PARTS.items() if self.answers.of(name).cause == "unconfirmed"
        )

    @property
    def stale(self) -> Stale:
        """The local time at which each stale (old) answer was fetched."""
        return {
            PARTS[name]: local_time(panel.fetched_at)
            for name in LOOKUPS
            if (panel := self.answers.of(name)).state == "stale"
            and panel.fetched_at is not None
            and (name != "decode" or name in self.asked)
        }

    @property
    def vehicle_is_known(self) -> bool:
        """Whether the lookup "decode" has a readable answer, or was not to be made."""
        return self.decoded is not None or "decode" not in self.asked

    @cached_property
    def missing(self) -> tuple[Unavailable, ...]:
        """The lookups that were made but have no readable answer."""
        return missing_of(self.answers, self.subject)

    @cached_property
    def verdict(self) -> Verdict:
        return judge(
            self.vehicle_is_known,
            self.fines,
            self.orders,
            is_described=self.is_described,
            check_digit_holds=isinstance(self.subject, Plate) or self.subject.check_digit_holds,
            stale=self.stale,
            not_asked=self.not_asked,
            unconfirmed=self.unconfirmed,
            condition=self._of_answers,
            alerts=self.alerts,
            declared=self._declared,
        )

    @property
    def _declared(self) -> tuple[DeclaredSomething | SeenDifference, ...] | None:
        """What the caller has declared or seen, or None if that could not be read."""
        if not self.declarations:
            return None if self.declarations is None else ()
        return (*declared_findings(self.lines), *seen_findings(self.seen))

    @property
    def seen(self) -> tuple[Seen, ...]:
        """What the caller has seen at the vehicle."""
        return seen_of(self.declarations or ())

    @cached_property
    def records(self) -> Mapping[str, Record]:
        """What the answers say of the checklist's lines, by the line's key."""
        unconfirmed = self.unconfirmed
        return records_by_line(
            self.answers,
            None if "fines" in unconfirmed else self.fines,
            None if "restrictions" in unconfirmed else self.orders,
            self._of_answers,
        )

    @cached_property
    def lines(self) -> tuple[SettledLine, ...]:
        """The checklist's lines, each settled by a record or a declaration, or open."""
        return settle(self.records, self.declarations or (), alerts_by_line(self.alerts))

    @cached_property
    def open_lines(self) -> int:
        """The number of lines that neither a record nor a declaration settles."""
        return sum(one.is_open for one in self.lines)

    @property
    def stock_obstacles(self) -> tuple[SettledLine, ...]:
        """The lines that stop, or may stop, a stock entry in Renave."""
        return stock_obstacles(self.lines, self.totals.enforceable_count if self.totals else None)

    @cached_property
    def _of_answers(self) -> tuple[OfVehicle, ...]:
        """What the answers say of the vehicle outside of the records of fines and orders."""
        condition = condition_findings(self.decoded, self.today) if self.decoded else ()
        return (*condition, *self._beside)

    @property
    def _beside(self) -> Iterator[OfVehicle]:
        """Yield what stands beside the results and speaks ill of the vehicle."""
        in_force = [order for order in self.orders or () if order.in_force]
        for lookup in LOOKUPS:
            panel = self.answers.of(lookup)
            if panel.beside:
                further = further_of(panel.beside, NO_CONTRACT, self.marker)
                for finding in beside_findings(further, lookup, in_force, self.today):
                    # Without an answer, the lookup as a whole is not read.
                    if panel.has_answer or not isinstance(finding, UnreadData):
                        yield finding
        if self.report is not None and self.report.is_cut:
            yield UnreadData("report", "laudo")

    @cached_property
    def report(self) -> Report | None:
        """The written report, or None if there is none with a text."""
        return self._read_report(mask_names=self.mask_names)

    @cached_property
    def alerts(self) -> tuple[ReportAlert, ...]:
        """What the written report warns of and the records do not show."""
        # A mask may take a word in capitals for a name.
        report = self._read_report(mask_names=False)
        return tuple(alerts_of(report, self.orders, self.totals, self.today)) if report else ()

    def _read_report(self, *, mask_names: bool) -> Report | None:
        panel = self.answers.report
        if panel.body is None:
            return None
        return read_report(panel.result, self.marker, mask_names=mask_names) or None

    @cached_property
    def changes(self) -> tuple[Changes, ...]:
        """What has changed since the answers that the present answers replaced."""
        return changes_of(self.answers, self.today, self.marker)

    @cached_property
    def checklist(self) -> Checklist:
        return checklist(
            self.fines,
            self.orders,
            self.totals,
            lines=self.lines,
            vehicle_is_known=self.vehicle_is_known,
            alerts=self.alerts,
        )
