"""A JSON document with a vehicle's records and their explanations.

``explained`` builds the answer of ``GET /api/v1/vehicles/{plate}``. The other public functions
build the rows of exported tables. ``portal/web/json_api/openapi.yaml`` describes every member, and
a test compares that file with the answers. A value that the upstream does not send is null, never
zero or "".
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from portal.dossier.answers import Panel
from portal.dossier.dossier import Dossier
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.prices import Prices, PriceTab
from portal.law import (
    ACTS,
    UNVERIFIED,
    WHO_LIFTS,
    Answer,
    AssessedFine,
    AssessedOrder,
    Clock,
    Missing,
    Row,
    Totals,
    Verdict,
)
from portal.presentation.vehicle.panel_frame import missing_of
from portal.system.local_time import local_time
from portal.vehicle import Field

VERSION: Final = 1
NOT_ASKED: Final = "Não pedida."
Record = dict[str, Any]


def explained(dossier: Dossier, now: datetime) -> Record:
    """Build the document of a plate.

    A member such as ``fines`` is null if its lookup has no readable answer. The verdict's list
    "not_asked" names the lookups that the request does not ask for. The list "missing" does not
    name them.
    """
    answers = dossier.answers
    reasons = {each.what: each.reason for each in missing_of(answers, dossier.subject)}
    reasons |= {words: NOT_ASKED for name, words in LOOKUP_WORDS.items() if name not in dossier.ask}
    return {
        "version": VERSION,
        "plate": dossier.subject.text,
        "assessed_on": dossier.today,
        "verdict": _verdict(dossier.verdict, dossier.not_asked),
        "acts": [_act(row) for row in dossier.verdict.matrix],
        "vehicle": _vehicle(dossier) if dossier.decoded else None,
        "prices": price_records(dossier.prices) if dossier.prices else None,
        "fines": _fines(dossier.fines, dossier.totals)
        if dossier.fines is not None and dossier.totals is not None
        else None,
        "restrictions": _restrictions(dossier.orders) if dossier.orders is not None else None,
        "not_verified": [
            {
                "key": each.key,
                "title": each.title,
                "why": each.why,
                "where": each.where,
                "link": each.link,
            }
            for each in UNVERIFIED
        ],
        "lookups": {
            name: _lookup(answers.of(name), reasons.get(words), now)
            for name, words in LOOKUP_WORDS.items()
        },
    }


def price_records(prices: Prices) -> list[Record]:
    """Return the entries of FIPE that may describe this vehicle.

    FIPE is the Brazilian price table for vehicles. In an entry, the members whose names begin with
    ``change_`` are price changes in per cent.
    """
    return [
        *(_price(tab, _confidence(tab)) for tab in prices.all),
        *(_price(tab, "other_vehicle") for tab in prices.foreign),
    ]


def fine_records(fines: Sequence[AssessedFine]) -> list[Record]:
    return [_fine(fine) for fine in fines]


def restriction_records(orders: Sequence[AssessedOrder]) -> list[Record]:
    return [_restriction(order) for order in orders]


def _lookup(panel: Panel, reason: str | None, now: datetime) -> Record:
    """Return how a lookup ended.

    The state "unavailable" means that the lookup failed or that its answer is unreadable.
    ``reason`` says why there is no readable answer, or is None. The member ``price`` is what one
    upstream call costs, in R$.
    """
    failed = reason is not None and panel.state != "unasked"
    fetched_at = panel.fetched_at
    age = None if fetched_at is None else max(0, int((now - fetched_at).total_seconds()))
    return {
        "state": "unavailable" if failed else panel.state,
        "fetched_at": None if fetched_at is None else local_time(fetched_at),
        "age_s": age,
        "source": panel.origin or None,
        "price": panel.price,
        "cause": (panel.cause or "unreadable") if failed else None,
        "reason": reason,
    }


def _verdict(verdict: Verdict, not_asked: Sequence[Missing]) -> Record:
    return {
        "level": verdict.level,
        "headline": verdict.headline,
        "notices": verdict.notices,
        "reasons": [
            {
                "sentence": each.sentence,
                "about": each.about,
                "record": each.anchor,
                "mark": each.mark,
            }
            for each in verdict.reasons
        ],
        "missing": [part for part in verdict.missing if part not in not_asked],
        "not_asked": list(not_asked),
    }


def _act(row: Row) -> Record:
    return {
        "act": row.act,
        "mark": row.mark,
        "answer": row.short,
        "explanation": row.why,
        "records": row.records,
    }


def _vehicle(dossier: Dossier) -> Record:
    """Return the vehicle's name and attributes.

    The ``value`` of an attribute is null if the upstream sends no value or hides it. For a hidden
    value, the upstream sends the text "INFORMACAO OCULTADA", and ``hidden`` is true.
    """
    name = dossier.name
    return {
        "name": str(name) or None,
        "make": name.make or None,
        "model": name.model or None,
        "summary": dossier.line or None,
        "attributes": [
            {"label": fact.label, "value": _text(fact.field), "hidden": fact.field.is_hidden}
            for fact in dossier.attributes
        ],
    }


def _confidence(tab: PriceTab) -> str:
    return "tied" if tab.is_tied else "likeliest" if tab.number == 1 else "possible"


def _price(tab: PriceTab, confidence: str) -> Record:
    series, entry = tab.series, tab.entry
    return {
        "number": tab.number,
        "code": tab.code.text if tab.code else None,
        "code_is_verified": tab.code.is_verified if tab.code else None,
        "description": tab.described or None,
        "version": _text(entry.version),
        "model_year": entry.year,
        "fuel": _text(entry.fuel),
        "price": tab.current,
        "confidence": confidence,
        "reason": tab.reason or None,
        "change_12_months": series.twelve_month_change,
        "change_yearly": series.yearly_change,
        "change_since_peak": series.change_since_peak,
        "change_predicted": series.predicted_change,
        "doubt": " ".join(filter(None, (tab.year_note, tab.doubt, tab.contradiction))) or None,
        "history": [
            {"month": f"{each.month:%Y-%m}", "value": each.value, "predicted": each.predicted}
            for each in series.points
        ],
    }


def _fines(fines: Sequence[AssessedFine], totals: Totals) -> Record:
    return {
        "totals": {
            "open": totals.open_count,
            "paid": totals.paid_count,
            "enforceable": totals.enforceable_count,
            "amount": totals.known_amount,
            "enforceable_amount": totals.enforceable_amount,
            "without_amount": totals.without_amount,
            "points": totals.points,
            "points_unknown": totals.points_unknown,
        },
        "records": fine_records(fines),
    }


def _fine(law: AssessedFine) -> Record:
    fine = law.record
    return {
        "number": law.number,
        "record": law.anchor,
        "code": _text(fine.code),
        "description": law.description or None,
        "article": law.article or None,
        "gravity": law.gravity_word,
        "points": law.points.by_gravity,
        "points_counted": law.points.counted,
        "amount": law.amount.value,
        "amount_origin": law.amount.origin,
        "amount_at_80": law.amount.at_80 if law.has_discount else None,
        "amount_at_60": law.amount.at_60 if law.has_discount else None,
        "has_discount": law.has_discount,
        "standing": law.standing,
        "standing_words": law.status.word,
        "standing_note": law.status.note,
        "open": law.is_open,
        "committed_on": fine.committed_on,
        "committed_at": f"{fine.committed_at:%H:%M}" if fine.committed_at else None,
        "notified_on": fine.notified_on,
        "penalty_on": fine.penalty_on,
        "paid_on": fine.paid_on,
        "authority": _text(fine.authority),
        "authority_state": _text(fine.authority_state),
        "place": _text(fine.place),
        "deadlines": [_deadline(clock) for clock in law.clocks],
    }


def _deadline(clock: Clock) -> Record:
    return {
        "name": clock.name,
        "state": clock.verdict,
        "days_used": clock.days_used,
        "limit_days": clock.limit_days,
        "ends_on": clock.ends_on,
        "article": clock.article,
        "sentence": clock.sentence,
    }


def _restrictions(orders: Sequence[AssessedOrder]) -> Record:
    return {
        "in_force": sum(order.in_force for order in orders),
        "who_lifts": WHO_LIFTS,
        "records": restriction_records(orders),
    }


def _restriction(order: AssessedOrder) -> Record:
    record, effect = order.record, order.effect
    return {
        "number": order.number,
        "record": order.anchor,
        "title": order.title,
        "in_force": effect.in_force,
        "kinds": effect.kinds,
        "doubt": effect.doubt or None,
        "court": order.court or None,
        "court_body": order.court_body or None,
        "case": _text(record.case),
        "included_at": record.included_at,
        **{act: _effect(effect.answers[act]) for act in ACTS},
    }


def _effect(answer: Answer) -> Record:
    return {
        "mark": answer.mark,
        "phrase": answer.phrase,
        "reason": answer.reason,
        "source": answer.source,
        "confidence": answer.confidence,
    }


def _text(field: Field) -> str | None:
    return str(field) if field else None
