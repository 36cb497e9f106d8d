"""Builders of fines and restrictions; every field is empty unless a test sets it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

from msgspec import structs

from portal.law import effects, verdict
from portal.law.assessment import AssessedFine
from portal.law.courts import Court, find_court
from portal.law.infractions import Infraction, find
from portal.law.orders import AssessedOrder
from portal.law.verdict import Verdict
from portal.vehicle.field import EMPTY, Field
from portal.vehicle.fines import Fine, Licence
from portal.vehicle.further import NOTHING
from portal.vehicle.judicial import Restriction

LICENCE = Licence(points=0, number=EMPTY, impediment=EMPTY, ordinance=EMPTY)

# The law on the day of reading.
TODAY = date(2026, 11, 21)
# The fields of a fine of whose penalty the owner was notified.
CHARGED: dict[str, Any] = {
    "code": "7455",
    "amount": Decimal(130),
    "committed_on": date(2026, 3, 10),
    "notified_on": date(2026, 3, 25),
    "notified_on_text": "25/03/2026",
    "penalty_on": date(2026, 6, 10),
    "penalty_on_text": "10/06/2026",
}
# The contract's members by the fields of the form that checks a notice.
NOTICE_MEMBERS = {
    "orgao": "codigoOrgaoAutuador",
    "auto": "autoInfracao",
    "codigo": "codigoInfracao",
    "valor": "valor",
    "infracao": "dataInfracao",
    "autuacao": "dataEmissaoNotificacao",
    "penalidade": "dataEmissaoPenalidade",
}
effect_of = partial(effects.effect_of, today=TODAY)

UNREAD = ["committed_on", "committed_at", "registered_on", "notified_on", "penalty_on"]
UNREAD += ["amount", "paid_on", "paid_amount"]


def known(text: str) -> Field:
    return Field(text, "known")


def fine(**given: Any) -> Fine:
    values: dict[str, Any] = {field.name: EMPTY for field in structs.fields(Fine)}
    values["further"] = NOTHING
    values |= dict.fromkeys(UNREAD)
    values |= {"driver": LICENCE, "offender": LICENCE}
    return Fine(**values | _as_fields(given))


def restriction(kinds: str = "", **given: Any) -> Restriction:
    values: dict[str, Any] = {field.name: EMPTY for field in structs.fields(Restriction)}
    values |= {
        "included_at": None,
        "recorded": True,
        "further": NOTHING,
        "kinds_text": known(kinds) if kinds else EMPTY,
    }
    return Restriction(**values | _as_fields(given))


def infraction_of(code: str) -> Infraction:
    """Return the infraction of a code that the table has."""
    found = find(code)
    assert found is not None, code
    return found


def court_of(text: str, case: str = "") -> Court:
    """Return the court that a record names."""
    found = find_court(text, case)
    assert found is not None, (text, case)
    return found


def _as_fields(given: dict[str, Any]) -> dict[str, Any]:
    return {
        name: known(value) if isinstance(value, str) else value for name, value in given.items()
    }


def judge(
    decode_known: bool,
    fines: Sequence[AssessedFine] | None,
    restrictions: Sequence[Restriction] | None,
    **given: Any,
) -> Verdict:
    """Return the verdict on fines and on court orders, numbered in their order."""
    numbered = [replace(fine, number=n) for n, fine in enumerate(fines or (), start=1)]
    orders = [
        AssessedOrder(record, TODAY, n) for n, record in enumerate(restrictions or (), start=1)
    ]
    return verdict.judge(
        decode_known,
        None if fines is None else numbered,
        None if restrictions is None else orders,
        **given,
    )
