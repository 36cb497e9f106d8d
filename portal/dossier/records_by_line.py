"""What the answers of lookups say of the lines of the checklist."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from portal.dossier.answers import Panels
from portal.law.adverse import Subject
from portal.law.assessment import AssessedFine, known_sum, one_per_notice, sum_of
from portal.law.declared import Record
from portal.law.findings import AdverseData, Finding
from portal.law.orders import AssessedOrder
from portal.law.record_findings import paid_short_findings
from portal.law.standing import Standing
from portal.system.local_time import local_time
from portal.vehicle.operation_name import LOOKUPS, LookupName

COURT, FINES = "justica", "multas"
# The line that settles what a written report warns of, or that an answer's own words settle.
LINE_OF_SUBJECT: Final[Mapping[Subject, str]] = {
    Subject.THEFT: "roubo-e-furto",
    Subject.SEIZURE: "bloqueios-administrativos",
    Subject.SCRAP: "sinistro",
    Subject.CHASSIS: "identificacao",
    Subject.COURT: "bloqueios-administrativos",
    Subject.LIEN: "gravame",
    Subject.BLOCK: "bloqueios-administrativos",
    Subject.SALE_NOTICE: "bloqueios-administrativos",
    Subject.DAMAGE: "sinistro",
    Subject.AUCTION: "leilao",
    Subject.DEBTS: "debitos",
    Subject.FINES: "multas-do-estado",
    Subject.MILEAGE: "hodometro",
    Subject.RECALL: "recall",
}


def records_by_line(
    answers: Panels,
    fines: Sequence[AssessedFine] | None,
    orders: Sequence[AssessedOrder] | None,
    findings: Iterable[Finding],
) -> Mapping[str, Record]:
    """Return what records say of lines, by the line's key.

    ``fines`` or ``orders`` is None if the answer is missing or leaves open whether there are
    records. ``findings`` are those of the answers, without the written report's. An answer settles
    the line of the court orders or of the fines, and any other line that its words speak ill of.
    """
    records = {}
    if orders is not None:
        in_force = sum(order.in_force for order in orders)
        records[COURT] = Record(
            "renajud",
            "something" if in_force else "nothing",
            in_force,
            at=_time_of(answers, "renajud"),
        )
    if fines is not None:
        of_notices = one_per_notice(fines)
        open_fines = [fine for fine in of_notices if fine.is_open]
        owed = [fine.amount.value for fine in open_fines]
        short = sum_of(one.missing for one in paid_short_findings(of_notices))
        records[FINES] = Record(
            "renainf",
            "something" if owed or short else "nothing",
            len(owed),
            known_sum(owed) if owed else short or None,
            at=_time_of(answers, "renainf"),
            notices=sum(fine.standing is Standing.NOTICE for fine in open_fines),
        )
    for one in findings:
        if not isinstance(one, AdverseData):
            continue
        lookup = next(name for name in LOOKUPS if name == one.source)
        if key := LINE_OF_SUBJECT.get(one.subject):
            at = _time_of(answers, lookup)
            records.setdefault(key, Record(lookup, "something", 1, words=one.words, at=at))
    return records


def _time_of(answers: Panels, lookup: LookupName) -> datetime | None:
    fetched_at = answers.of(lookup).fetched_at
    return None if fetched_at is None else local_time(fetched_at)
