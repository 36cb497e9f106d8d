"""What the answers say about the vehicle itself: tampered marks, another vehicle, or scrap.

A fine under art. 230, I or IV, or art. 234 of the CTB (the traffic code) says that the chassis
number, a seal, a plate or the vehicle's document was tampered with or missing. A record that names
another plate, make or model may be an error of the register, or the plate may be cloned. No payment
removes either doubt. The vehicle's own data may say that it is scrap, stolen or a loan's security.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final, Literal, get_args

from portal.fragments import any_of
from portal.law.adverse import Adverse, Subject, adverse_in, may_warn
from portal.law.assessment import AssessedFine
from portal.law.findings import (
    AdverseData,
    DataConflict,
    OfVehicle,
    OtherRenavam,
    OtherVehicle,
    RecordBeforeVehicle,
    Source,
    Tampered,
    TamperedWith,
    UnreadData,
)
from portal.law.further_findings import further_findings
from portal.law.orders import AssessedOrder
from portal.law.restriction_kinds import says_lifted
from portal.vehicle.decode import Decoded
from portal.vehicle.fines import Fine
from portal.vehicle.identity import differing_fields, identity_of_name
from portal.wording import bare

# Infractions by code and split (variant), in the annex of Res. Contran 985/2022.
_SPLITS: Final[Mapping[str, Tampered]] = {
    "1": Tampered.SEAL,
    "2": Tampered.CHASSIS,
    "3": Tampered.LABEL,
    "4": Tampered.PLATE,
}
_CODE: Final = re.compile(r"\D*(\d{3})-?(\d)-?(\d?)\D*")
_DONE: Final = r"\b(ADULT|ALTERAD|CLON|FALS[AOI]|LIXAD|RASPAD|RASURAD|REMARC|SUPRIMID|VIOLAD)"
_DESCRIBED: Final = (
    (re.compile(rf"(CHASSI|\bNIV\b).*{_DONE}"), Tampered.CHASSIS),
    (re.compile(rf"MOTOR\b.*{_DONE}"), Tampered.ENGINE),
    (
        re.compile(rf"PLACA.*({_DONE}|\bFRIA|OUTRO VEIC|NAO (CONFERE|CORRESPOND|PERTENC))"),
        Tampered.PLATE,
    ),
    (re.compile(r"\bVEIC.*\b(ROUB|FURT)(AD)?O\b"), Tampered.THEFT),
    (re.compile(r"NUMERACAO.*\b(ADULT|FALS[AOI]|RASPAD|RASURAD|REMARC|SUPRIMID)"), Tampered.MARKS),
    (re.compile(rf"IDENTIFICAD?OR.*{_DONE}|{_DONE}.*IDENTIFICAD?OR"), Tampered.MARKS),
    (re.compile(r"(ADULTER|FALSIFIC).*DOC\w*.*VEIC"), Tampered.DOCUMENT),
    (re.compile(rf"IDENTIFICA.*{_DONE}|VEIC\w* (DUBLE|CLONAD)"), Tampered.MARKS),
    (re.compile(r"SEM (QUALQUER UMA DAS )?PLACAS?\b"), Tampered.NO_PLATE),
)
# Most descriptions have none of these, and each match of the patterns above has one.
_FRAGMENTS: Final = any_of(
    "ADULT|ALTERAD|CLON|DUBLE|FALS|LIXAD|RASPAD|RASURAD|REMARC|SUPRIMID|VIOLAD|FRIA|OUTRO VEIC|NAO "
    "|ROUB|FURT|SEM "
)
# The patterns above take quadratic time. Official descriptions have at most 180 characters.
_LONGEST_DESCRIPTION: Final = 400
_RENAVAM: Final = re.compile(r"(?!0+$)[0-9]{9,11}", re.ASCII)
_RENAVAM_DIGITS: Final = 11
# Codes of fines, paid or not, that say something of the vehicle: it was altered, bought and not
# transferred in time, driven unregistered or with odd plates, or owned by a company that named no
# driver.
HintCode = Literal["6610", "6920", "6599", "5002", "6408"]
# What a fine's text names of the fine itself.
_OF_ANY_FINE: Final = frozenset({Subject.FINES, Subject.DEBTS})
# What a text may say of the vehicle and not of its order, which speaks of debts and auctions too.
_BEYOND_ORDERS: Final = frozenset(
    {Subject.THEFT, Subject.SCRAP, Subject.CHASSIS, Subject.DAMAGE, Subject.MILEAGE}
)
_IMPORTED: Final = re.compile(r"(?:I|IMP\.?) ?/", re.IGNORECASE | re.ASCII)


def identification_findings(
    fines: Sequence[AssessedFine], orders: Sequence[AssessedOrder]
) -> tuple[OfVehicle, ...]:
    """Return a finding for each doubt about the vehicle's identification.

    Without the vehicle's data, records that name a vehicle are compared with the first of them.
    """
    return (
        *_tampering(fines),
        *_other_vehicle([*fines, *orders]),
        *_before_vehicle([*fines, *orders]),
        *_other_renavam(orders),
        *_further(fines, orders),
    )


def _further(
    fines: Sequence[AssessedFine], orders: Sequence[AssessedOrder]
) -> Iterator[AdverseData | UnreadData]:
    """Yield what members beyond the contract warn of, beside what the record itself states."""
    for fine in fines:
        for finding in further_findings(fine.record.further, fine.today, "renainf", fine.anchor):
            if not (isinstance(finding, AdverseData) and finding.subject in _OF_ANY_FINE):
                yield finding
    for order in orders:
        for finding in further_findings(order.record.further, order.today, "renajud", order.anchor):
            if isinstance(finding, UnreadData) or _is_beyond_order(finding):
                yield finding


def _is_beyond_order(finding: AdverseData) -> bool:
    """Return whether a member warns of more than an order can. ``effect_of`` judges the rest.

    A "BAIXADO" of an order says nothing of the vehicle.
    """
    return finding.subject in _BEYOND_ORDERS and not (
        finding.subject is Subject.SCRAP and says_lifted(finding.words)
    )


def condition_findings(decoded: Decoded, today: date) -> tuple[OfVehicle, ...]:
    """Return a finding for each text of the vehicle's own data that speaks ill of it.

    Data that contradict each other give a finding, too.
    """
    texts = [field.value[:_LONGEST_DESCRIPTION] for field in decoded.texts]
    warned = map(_first_adverse, texts) if may_warn("\n".join(texts)) else ()
    adverse = (AdverseData(one.subject, one.words) for one in warned if one)
    further = further_findings(decoded.further, today)
    return (*dict.fromkeys((*adverse, *further)), *_unread(decoded), *_conflicts(decoded, today))


def _unread(decoded: Decoded) -> Iterator[UnreadData]:
    """Yield a part that the source could not read, and that may speak ill of the vehicle."""
    if decoded.unread and not decoded.is_unread_in_prices:
        yield UnreadData(told=decoded.unread)


def _first_adverse(text: str) -> Adverse | None:
    return next(adverse_in(text), None)


def _conflicts(decoded: Decoded, today: date) -> Iterator[DataConflict]:
    """Yield what cannot be: a model year is that of the manufacture or the next one."""
    built, model = decoded.built_year, decoded.model_year
    if (built and built > today.year) or (model and model > today.year + 1):
        yield DataConflict("year_in_future", (max(built or 0, model or 0),))
    elif built and model and not built <= model <= built + 1:
        yield DataConflict("years_conflict", (built, model))
    names = decoded.make.value, decoded.description.value
    if decoded.is_national and any(map(_IMPORTED.match, names)):
        yield DataConflict("origin_conflict")


def tampering_of(fine: Fine) -> Tampered | None:
    """Return what a fine says was tampered with or is missing, or None."""
    if code := _CODE.fullmatch(fine.code.value):
        number, split = code[1] + code[2], code[3]
        if number == "6556":
            return _SPLITS.get(split, Tampered.MARKS)
        if number == "6580":
            return Tampered.NO_PLATE
        if number == "6939" and split in ("2", "3", "4"):
            return Tampered.DOCUMENT
    description = bare(fine.description.value[:_LONGEST_DESCRIPTION])
    if not _FRAGMENTS.search(description):
        return None
    return next((what for pattern, what in _DESCRIBED if pattern.search(description)), None)


def hints_of(fines: Iterable[AssessedFine]) -> Mapping[HintCode, AssessedFine]:
    """Return what fines, paid or not, say of the vehicle, each with the first fine that does."""
    first: dict[HintCode, AssessedFine] = {}
    for fine in fines:
        for code in get_args(HintCode):
            if fine.infraction and fine.infraction.code == code:
                first.setdefault(code, fine)
    return first


def _tampering(fines: Sequence[AssessedFine]) -> Iterator[TamperedWith]:
    first: dict[tuple[Tampered, bool], str] = {}
    for fine in fines:
        if what := tampering_of(fine.record):
            first.setdefault((what, bool(fine.wording.conflict)), fine.anchor)
    for (what, diverges), anchor in first.items():
        yield TamperedWith(what, diverges, anchor)


def _other_vehicle(records: Sequence[AssessedFine | AssessedOrder]) -> Iterator[OtherVehicle]:
    identities = (identity_of_name(one.record.make_model) for one in records)
    first = next((identity for identity in identities if identity.make), None)
    named: dict[str, str] = {}
    source: Source = "renajud"
    for one in records:
        fields = one.differing
        if first and one.vehicle is None:
            fields = differing_fields(first, one.record)
        if fields:
            if isinstance(one, AssessedFine):
                source = "renainf"
            named[one.anchor] = " ".join(map(str, fields))
    if named:
        shown = tuple(dict.fromkeys(named.values()))
        yield OtherVehicle(shown, len(named), source, next(iter(named)))


def is_before_vehicle(record: AssessedFine | AssessedOrder) -> bool:
    """Return whether a record is of a day before the vehicle can have been built.

    A vehicle may be sold in the year before that of its manufacture, as the register counts it.
    """
    on, built = _day_of(record), _built(record)
    return on is not None and built is not None and on.year < built - 1


def _day_of(record: AssessedFine | AssessedOrder) -> date | None:
    if isinstance(record, AssessedFine):
        return record.record.committed_on
    included_at = record.record.included_at
    return included_at.date() if included_at else None


def _built(record: AssessedFine | AssessedOrder) -> int | None:
    vehicle = record.vehicle
    if vehicle is None:
        return None
    return vehicle.built_year or (vehicle.model_year - 1 if vehicle.model_year else None)


def _before_vehicle(
    records: Sequence[AssessedFine | AssessedOrder],
) -> Iterator[RecordBeforeVehicle]:
    older = [one for one in records if is_before_vehicle(one)]
    if not older:
        return
    first = older[0]
    on, built = _day_of(first), _built(first)
    assert on is not None and built is not None
    source: Source = "renainf" if isinstance(first, AssessedFine) else "renajud"
    yield RecordBeforeVehicle(on, built, len(older), source, first.anchor)


def _other_renavam(orders: Sequence[AssessedOrder]) -> Iterator[OtherRenavam]:
    first = ""
    for order in orders:
        renavam = re.sub(r"[\s.-]", "", order.record.renavam.value)
        if not _RENAVAM.fullmatch(renavam):
            continue
        first = first or renavam.zfill(_RENAVAM_DIGITS)
        if renavam.zfill(_RENAVAM_DIGITS) != first:
            yield OtherRenavam(order.anchor)
            return
