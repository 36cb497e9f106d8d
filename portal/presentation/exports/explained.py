"""A JSON document with a vehicle's records and their explanations.

``explained`` builds the answer of ``GET /api/v1/vehicles/{plate}``. The other public functions
build the rows of exported tables. ``portal/web/json_api/openapi.yaml`` describes every member, and
a test compares that file with the answers. A value that the upstream does not send is null, never
zero or "".
"""

from collections.abc import Sequence
from typing import Any, Final

from portal.law import (
    ACTS,
    UNVERIFIED,
    Answer,
    Clock,
    Effect,
    FineAssessment,
    Missing,
    Row,
    Verdict,
    court_body_name,
    court_name,
)
from portal.presentation.operation_names import LOOKUP_WORDS
from portal.presentation.panels import Panel, Panels
from portal.presentation.render_context import RenderContext
from portal.presentation.vehicle.contents import VehicleContents
from portal.presentation.vehicle.facts import VehicleFacts
from portal.presentation.vehicle.fines import FineList
from portal.presentation.vehicle.panel_frame import missing_of
from portal.presentation.vehicle.prices import PriceTab
from portal.presentation.vehicle.restrictions import RestrictionList, title_of
from portal.system.local_time import local_time
from portal.vehicle import LOOKUPS, Field, LookupName, Plate, Restriction

VERSION: Final = 1
NOT_ASKED: Final = "Não pedida."
Record = dict[str, Any]


def explained(
    plate: Plate,
    panels: Panels,
    context: RenderContext,
    ask: Sequence[LookupName] = LOOKUPS,
) -> Record:
    """Build the document of a plate.

    A member such as ``fines`` is null if its lookup has no readable answer. ``ask`` are the lookups
    that the request asks for. The verdict's list "not_asked" names the lookups outside ``ask``. The
    list "missing" does not name them.
    """
    contents = VehicleContents.of(plate, panels, context, ask=ask)
    reasons = {each.what: each.reason for each in missing_of(panels, plate)}
    reasons |= {words: NOT_ASKED for name, words in LOOKUP_WORDS.items() if name not in ask}
    facts, fines, restrictions = contents.facts, contents.fines, contents.restrictions
    return {
        "version": VERSION,
        "plate": plate.text,
        "assessed_on": context.today,
        "verdict": _verdict(contents.summary.verdict, contents.not_asked),
        "acts": [_act(row) for row in contents.summary.verdict.matrix],
        "vehicle": _vehicle(facts) if facts else None,
        "prices": price_records(facts) if facts else None,
        "fines": _fines(fines) if fines else None,
        "restrictions": _restrictions(restrictions) if restrictions else None,
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
            name: _lookup(panels.of(name), reasons.get(words), context)
            for name, words in LOOKUP_WORDS.items()
        },
    }


def price_records(facts: VehicleFacts) -> list[Record]:
    """Return the entries of FIPE that may describe this vehicle.

    FIPE is the Brazilian price table for vehicles. In an entry, the members whose names begin with
    ``change_`` are price changes in per cent.
    """
    prices = facts.prices
    return [
        *(_price(tab, _confidence(tab)) for tab in prices.all),
        *(_price(tab, "other_vehicle") for tab in prices.foreign),
    ]


def fine_records(fines: FineList) -> list[Record]:
    # ``fines.assessments`` has all fines, but ``fines.rows`` has at most MOST_ROWS fines.
    return [_fine(number, law) for number, law in enumerate(fines.assessments, start=1)]


def restriction_records(restrictions: RestrictionList) -> list[Record]:
    return [
        _restriction(number, record, effect)
        for number, (record, effect) in enumerate(
            zip(restrictions.records, restrictions.effects, strict=True), start=1
        )
    ]


def _lookup(panel: Panel, reason: str | None, context: RenderContext) -> Record:
    """Return how a lookup ended.

    The state "unavailable" means that the lookup failed or that its answer is unreadable.
    ``reason`` says why there is no readable answer, or is None. The member ``price`` is what one
    upstream call costs, in R$.
    """
    failed = reason is not None and panel.state != "unasked"
    fetched_at = panel.fetched_at
    age = None if fetched_at is None else max(0, int((context.now - fetched_at).total_seconds()))
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


def _vehicle(facts: VehicleFacts) -> Record:
    """Return the vehicle's name and attributes.

    The ``value`` of an attribute is null if the upstream sends no value or hides it. For a hidden
    value, the upstream sends the text "INFORMACAO OCULTADA", and ``hidden`` is true.
    """
    return {
        "name": str(facts.name) or None,
        "make": facts.name.make or None,
        "model": facts.name.model or None,
        "summary": facts.line or None,
        "attributes": [
            {"label": fact.label, "value": _text(fact.field), "hidden": fact.field.is_hidden}
            for fact in facts.facts
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


def _fines(fines: FineList) -> Record:
    totals = fines.totals
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


def _fine(number: int, law: FineAssessment) -> Record:
    fine = law.record
    return {
        "number": number,
        "record": f"multa-{number}",
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
        "standing_words": law.standing_word,
        "standing_note": law.standing_note,
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


def _restrictions(restrictions: RestrictionList) -> Record:
    return {
        "in_force": restrictions.in_force,
        "who_lifts": restrictions.who_lifts,
        "records": restriction_records(restrictions),
    }


def _restriction(number: int, record: Restriction, effect: Effect) -> Record:
    return {
        "number": number,
        "record": f"restricao-{number}",
        "title": title_of(effect, record),
        "in_force": effect.in_force,
        "kinds": effect.kinds,
        "doubt": effect.doubt or None,
        "court": court_name(str(record.court), str(record.case)) or None,
        "court_body": court_body_name(str(record.court_body)) or None,
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
