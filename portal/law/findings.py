"""What follows from a vehicle's records: a closed set of findings, each a code with its facts.

A finding has no words. ``portal.phrasebook`` says it, in the form that a page, a list or the paper
needs. Whatever weighs findings (the verdict, the ceiling, the checklist) reads their facts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar, Literal

from portal.law.act_answers import ACTS, Act, Mark, worst
from portal.law.adverse import ENDS_CEILING, REACH, Subject
from portal.law.assessment import AssessedFine, sum_of
from portal.law.checklist import LINE_OF
from portal.law.effects import acts_of
from portal.law.orders import AssessedOrder
from portal.law.restriction_kinds import Kind
from portal.law.standing import Standing

Source = Literal["decode", "renainf", "renajud", "report", "declared"]
# "vehicle" is a doubt about the vehicle itself, which no payment removes.
# The rows of what one compares with the vehicle itself.
CarRow = Literal[
    "placa",
    "modelo",
    "ano-modelo",
    "procedencia",
    "motor",
    "cambio",
    "lugares",
    "potencia",
]
About = Literal["vehicle", "order", "fine", "report", "declared"]
# The HTML anchors of the vehicle's own data and of the written report.
VEHICLE, REPORT = "veiculo", "laudo"


class Tampered(StrEnum):
    """What a fine says was tampered with or is missing."""

    SEAL = "seal"
    CHASSIS = "chassis"
    LABEL = "label"
    PLATE = "plate"
    ENGINE = "database"
    MARKS = "marks"
    NO_PLATE = "no_plate"
    DOCUMENT = "document"
    THEFT = "theft"


class _AboutVehicle:
    """A doubt about the vehicle itself, for which no price can be named."""

    __slots__ = ()
    about: ClassVar[About] = "vehicle"
    mark: ClassVar[Mark] = "careful"
    ends_ceiling: ClassVar[bool] = True

    @property
    def reach(self) -> frozenset[Act]:
        """The acts that the finding makes doubtful. The inspection for a transfer settles it."""
        return frozenset(("transfer",))


@dataclass(frozen=True, slots=True)
class TamperedWith(_AboutVehicle):
    """A fine says that a mark of identification was tampered with.

    ``diverges`` is true if the fine's code and its description name different infractions.
    ``anchor`` is the HTML anchor of the finding's first record ("multa-1", "restricao-2").
    """

    code: ClassVar[str] = "identification_tampered"
    source: ClassVar[Source] = "renainf"
    what: Tampered
    diverges: bool
    anchor: str


@dataclass(frozen=True, slots=True)
class OtherVehicle(_AboutVehicle):
    """Records describe another vehicle. ``named`` are its plates, makes and models, as sent."""

    code: ClassVar[str] = "other_vehicle"
    named: tuple[str, ...]
    records: int
    source: Source
    anchor: str


@dataclass(frozen=True, slots=True)
class OtherRenavam(_AboutVehicle):
    """Court orders name different Renavams."""

    code: ClassVar[str] = "renavam_differs"
    source: ClassVar[Source] = "renajud"
    anchor: str


@dataclass(frozen=True, slots=True)
class RecordBeforeVehicle(_AboutVehicle):
    """Records are older than the vehicle: they are another's, or its plate is cloned.

    ``on`` is the day of the first of them, and ``built_year`` when the vehicle was built.
    """

    code: ClassVar[str] = "record_before_vehicle"
    on: date
    built_year: int
    records: int
    source: Source
    anchor: str


@dataclass(frozen=True, slots=True)
class AdverseData(_AboutVehicle):
    """An answer speaks ill of the vehicle, in ``words`` as sent, outside of what its records say.

    ``source`` is the lookup of the answer. ``kinds`` are those of a court's restriction that the
    text states, too.
    """

    subject: Subject
    words: str
    source: Source = "decode"
    anchor: str = VEHICLE
    kinds: tuple[Kind, ...] = ()

    @property
    def code(self) -> str:
        return f"vehicle_{self.subject}"

    @property
    def reach(self) -> frozenset[Act]:
        return REACH[self.subject] | acts_of(self.kinds) | {"transfer"}


@dataclass(frozen=True, slots=True)
class UnreadData(_AboutVehicle):
    """What an answer has beside the members of the contract could not be read.

    ``withheld`` are the names of members whose value is hidden or unavailable and might warn.
    ``told`` are the source's words for a part that it could not read. Without both, the answer has
    more members, or longer texts, than the portal reads.
    """

    code: ClassVar[str] = "data_unread"
    source: Source = "decode"
    anchor: str = VEHICLE
    withheld: tuple[str, ...] = ()
    told: str = ""


@dataclass(frozen=True, slots=True)
class DataConflict(_AboutVehicle):
    """The vehicle's own data contradict each other, or say what cannot be.

    ``years`` are the years of manufacture and model that cannot stand together, or the one year
    that lies in the future.
    """

    source: ClassVar[Source] = "decode"
    anchor: ClassVar[str] = VEHICLE
    code: Literal["year_in_future", "years_conflict", "origin_conflict"]
    years: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CourtOrders:
    """Court orders in force, of the same kinds and effect."""

    about: ClassVar[About] = "order"
    code: ClassVar[str] = "court_order"
    source: ClassVar[Source] = "renajud"
    ends_ceiling: ClassVar[bool] = True
    orders: tuple[AssessedOrder, ...]

    @property
    def anchor(self) -> str:
        return self.orders[0].anchor

    @property
    def mark(self) -> Mark:
        return worst([self.orders[0].effect.answers[act] for act in ACTS])[0].mark


@dataclass(frozen=True, slots=True)
class FinesInStanding:
    """Fines of the same standing that are not paid."""

    about: ClassVar[About] = "fine"
    source: ClassVar[Source] = "renainf"
    mark: ClassVar[Mark] = "careful"
    ends_ceiling: ClassVar[bool] = False
    standing: Standing
    fines: tuple[AssessedFine, ...]

    @property
    def code(self) -> str:
        return f"fine_{self.standing}"

    @property
    def anchor(self) -> str:
        return self.fines[0].anchor

    @property
    def lapsed(self) -> int:
        """The number of fines that may be enforceable and may have lapsed."""
        if self.standing not in (Standing.ENFORCEABLE, Standing.UNKNOWN):
            return 0
        ends = [fine.prescription.ends_on for fine in self.fines]
        return sum(end is not None and end < self.fines[0].today for end in ends)


@dataclass(frozen=True, slots=True)
class PaidShort:
    """Fines that were paid with a discount which seems to have ended before."""

    about: ClassVar[About] = "fine"
    code: ClassVar[str] = "fine_paid_short"
    source: ClassVar[Source] = "renainf"
    mark: ClassVar[Mark] = "careful"
    ends_ceiling: ClassVar[bool] = False
    fines: tuple[AssessedFine, ...]

    @property
    def anchor(self) -> str:
        return self.fines[0].anchor

    @property
    def missing(self) -> Decimal:
        """What may be missing of all of them, in R$."""
        return sum_of(fine.shortfall for fine in self.fines)


@dataclass(frozen=True, slots=True)
class ReportAlert:
    """The written report warns of something that the records do not show.

    ``topic`` is the key of the report's topic, or "" for its summary and its conclusion, and
    ``label`` the topic's name. ``amount`` is the sum in R$ that the text states for debts or fines,
    or None. ``kinds`` are those of a court's restriction that the text states.
    """

    about: ClassVar[About] = "report"
    source: ClassVar[Source] = "report"
    mark: ClassVar[Mark] = "careful"
    anchor: ClassVar[str] = REPORT
    subject: Subject
    topic: str
    label: str
    amount: Decimal | None = None
    kinds: tuple[Kind, ...] = ()

    @property
    def code(self) -> str:
        return f"report_{self.subject}"

    @property
    def reach(self) -> frozenset[Act]:
        return REACH[self.subject] | acts_of(self.kinds)

    @property
    def ends_ceiling(self) -> bool:
        return self.subject in ENDS_CEILING


@dataclass(frozen=True, slots=True)
class DeclaredSomething:
    """A person has checked a line of the checklist and found something.

    ``line`` is the line's key. ``what`` is what the person wrote of it, or "", and ``amount`` the
    R$ that are owed, or None. ``by`` is the caller's name, and ``on`` the day of the check.
    """

    about: ClassVar[About] = "declared"
    source: ClassVar[Source] = "declared"
    mark: ClassVar[Mark] = "careful"
    line: str
    what: str
    amount: Decimal | None
    by: str
    on: date

    @property
    def code(self) -> str:
        return f"declared_{self.line.replace('-', '_')}"

    @property
    def anchor(self) -> str:
        return f"verificar-{self.line}"

    @property
    def subject(self) -> Subject:
        return LINE_OF[self.line].subject

    @property
    def reach(self) -> frozenset[Act]:
        return REACH[self.subject]

    @property
    def ends_ceiling(self) -> bool:
        """Whether no price may be suggested: a debt can be deducted only if its amount is known."""
        line = LINE_OF[self.line]
        is_unpriced = line.is_debt and self.amount is None
        return line.subject in ENDS_CEILING or line.ends_ceiling or is_unpriced


@dataclass(frozen=True, slots=True)
class SeenDifference:
    """A person has looked at the vehicle, and it is not as the record says.

    ``row`` is compared with the vehicle. ``what`` is what is there instead, or
    "". ``by`` is the caller's name, and ``on`` the day.
    """

    about: ClassVar[About] = "declared"
    source: ClassVar[Source] = "declared"
    mark: ClassVar[Mark] = "careful"
    subject: ClassVar[Subject] = Subject.CHASSIS
    reach: ClassVar[frozenset[Act]] = REACH[Subject.CHASSIS]
    ends_ceiling: ClassVar[bool] = True
    row: CarRow
    what: str
    by: str
    on: date

    @property
    def code(self) -> str:
        return f"seen_{self.row.replace('-', '_')}"

    @property
    def anchor(self) -> str:
        return f"carro-{self.row}"


@dataclass(frozen=True, slots=True)
class DeclarationsUnread:
    """The caller's declarations could not be read, so that a warning of theirs may be missing."""

    about: ClassVar[About] = "declared"
    code: ClassVar[str] = "declared_unread"
    source: ClassVar[Source] = "declared"
    mark: ClassVar[Mark] = "careful"
    anchor: ClassVar[str] = "nao-verificado"
    ends_ceiling: ClassVar[bool] = True


OfVehicle = (
    TamperedWith
    | OtherVehicle
    | OtherRenavam
    | RecordBeforeVehicle
    | AdverseData
    | UnreadData
    | DataConflict
)
# What a text or a person warns of, which this portal has not checked.
Warned = ReportAlert | DeclaredSomething | SeenDifference
Finding = OfVehicle | CourtOrders | FinesInStanding | PaidShort | Warned | DeclarationsUnread


def gravest_first(warnings: Sequence[Warned]) -> tuple[Warned, ...]:
    order = list(Subject)
    return tuple(sorted(warnings, key=lambda one: order.index(one.subject)))
