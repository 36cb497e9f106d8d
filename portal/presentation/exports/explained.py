"""A JSON document with a vehicle's records and their explanations.

It is the answer of ``GET /api/v1/vehicles/{plate}``. ``portal/web/json_api/openapi.yaml`` describes
every member, and a test compares that file with the answers. A value that the upstream does not
send is null, never zero or "".
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from portal.dossier.answers import Panel
from portal.dossier.checklist import alerts_by_line
from portal.dossier.dossier import Dossier
from portal.dossier.fined_places import fined_places, whom_to_ask
from portal.dossier.lookups import LOOKUP_WORDS, PARTS
from portal.dossier.prices import PriceCandidate
from portal.law.act_answers import ACTS, Answer
from portal.law.act_matrix import Row, VerdictPart
from portal.law.assessment import AssessedFine, Totals
from portal.law.checklist import UNVERIFIED
from portal.law.deadlines import Deadline
from portal.law.last_seen import SinceLastSeen
from portal.law.orders import AssessedOrder
from portal.law.verdict import Verdict
from portal.phrasebook import acts, deadlines, effects, sight
from portal.phrasebook.checklist import WORDS as LINE_WORDS
from portal.phrasebook.findings import sentence
from portal.phrasebook.orders import who_lifts
from portal.phrasebook.verdict import headline, no_ceiling, notices
from portal.presentation.exports.declared import declared_object
from portal.presentation.exports.vehicle_tables import (
    FINE_COLUMNS,
    MONTH_COLUMNS,
    ORDER_COLUMNS,
    PRICE_COLUMNS,
    priced,
    text_of,
)
from portal.system.local_time import local_time

VERSION: Final = 1
NOT_ASKED: Final = "Não pedida."
Record = dict[str, Any]


_encoder: Final = msgspec.json.Encoder(decimal_format="number")


def explained_json(dossier: Dossier, now: datetime) -> bytes:
    """Return the document as JSON, as a PDF contains it."""
    return _encoder.encode(explained(dossier, now))


def explained(dossier: Dossier, now: datetime, since: SinceLastSeen | None = None) -> Record:
    """Build the document of a plate.

    A member such as ``fines`` is null if its lookup has no readable answer. The verdict's list
    "not_asked" names the lookups that the request does not ask for. The list "missing" does not
    name them.
    """
    answers = dossier.answers
    alerts = alerts_by_line(dossier.verdict.alerts)
    reasons = {part.what: part.reason for part in dossier.missing}
    reasons |= {words: NOT_ASKED for name, words in LOOKUP_WORDS.items() if name not in dossier.ask}
    return {
        "version": VERSION,
        "plate": dossier.subject.text,
        "assessed_on": dossier.today,
        "verdict": _verdict(dossier.verdict, dossier.not_asked),
        "acts": [_act(row) for row in dossier.verdict.matrix],
        "vehicle": _vehicle(dossier) if dossier.decoded else None,
        "prices": [_price(tab) for tab in priced(dossier.prices)] if dossier.prices else None,
        "price_summary": _price_summary(dossier) if dossier.prices else None,
        "fines": _fines(dossier.fines, dossier.totals)
        if dossier.fines is not None and dossier.totals is not None
        else None,
        "restrictions": _restrictions(dossier.orders) if dossier.orders is not None else None,
        "not_verified": [
            {
                "key": line.key,
                **_copied(LINE_WORDS[line.key], "title", "why", "where", "link"),
                "alert": alerts.get(line.key),
            }
            for line in UNVERIFIED
        ],
        "declared": declared_object(dossier),
        "since_last_seen": _since(since) if since else None,
        "report": {
            "state": answers.report.state,
            "alerts": [
                {
                    "topic": alert.topic or None,
                    "subject": alert.subject,
                    "sentence": sentence(alert),
                }
                for alert in dossier.verdict.alerts
            ],
        },
        "lookups": {
            name: _lookup(answers.of(name), reasons.get(words), now)
            for name, words in LOOKUP_WORDS.items()
        },
    }


def _since(since: SinceLastSeen) -> Record:
    return {
        "seen_at": since.at,
        "changes": [
            {
                "code": change.code,
                "count": change.count or None,
                "amount": change.amount,
                "before": sight.value_before(change) or None,
                "after": sight.value_now(change) or None if change.after is not None else None,
                "sentence": sight.sentence(change),
            }
            for change in since.changes
        ],
        "same": list(since.same),
        "not_compared": list(since.unknown),
        "nothing_changed": not since.changes and not since.unknown,
    }


def _columns(source: Any, columns: Mapping[str, Callable[[Any], object]]) -> Record:
    return {name: read(source) for name, read in columns.items()}


def _order(order: AssessedOrder) -> Record:
    return _columns(order, ORDER_COLUMNS) | {
        act: _answer(order.effect.answers[act]) for act in ACTS
    }


def _answer(answer: Answer) -> Record:
    return {
        "mark": answer.mark,
        "phrase": effects.phrase(answer),
        "reason": effects.reason(answer),
        **_copied(answer, "source", "confidence"),
    }


def _price(tab: PriceCandidate) -> Record:
    months = [_columns(point, MONTH_COLUMNS) for point in tab.series.points]
    return _columns(tab, PRICE_COLUMNS) | {"history": months}


def _price_summary(dossier: Dossier) -> Record:
    """Return the likely prices, and the one that a ceiling may start from, or why none may."""
    prices = dossier.prices
    assert prices is not None
    known = [tab.current for tab in prices.likeliest if tab.current is not None]
    why_none = no_ceiling(dossier.verdict) or prices.no_ceiling
    base = None if why_none else prices.ceiling_base
    return {
        "lowest": min(known, default=None),
        "highest": max(known, default=None),
        "versions": len(prices.likeliest),
        "ceiling_base": base.current if base else None,
        "why_none": None if base else why_none or prices.why_none,
    }


def _lookup(panel: Panel, reason: str | None, now: datetime) -> Record:
    """Return how a lookup ended.

    The state "unavailable" means that the lookup failed or that its answer is unreadable.
    ``reason`` says why there is no readable answer, or what of a vehicle's data could not be read,
    or is None. The member ``price`` is what one upstream call costs, in R$.
    """
    has_cause = reason is not None and panel.state != "unasked"
    failed = has_cause and panel.gap is None
    fetched_at = panel.fetched_at
    age = None if fetched_at is None else max(0, int((now - fetched_at).total_seconds()))
    return {
        "state": "unavailable" if failed else panel.state,
        "fetched_at": None if fetched_at is None else local_time(fetched_at),
        "age_s": age,
        "source": panel.origin or None,
        "price": panel.price,
        "cause": (panel.cause or "unreadable") if has_cause else None,
        "reason": reason,
    }


def _verdict(verdict: Verdict, not_asked: Sequence[VerdictPart]) -> Record:
    missing = [part for part in verdict.missing if part not in not_asked]
    return {
        "level": verdict.level,
        "headline": headline(verdict),
        "notices": notices(verdict),
        "reasons": [
            {
                "sentence": sentence(reason),
                **_copied(reason, "code", "source", "about"),
                "record": reason.anchor,
                "mark": reason.mark,
            }
            for reason in verdict.reasons
        ],
        "missing": missing,
        "not_asked": list(not_asked),
        "missing_lookups": [name for name, part in PARTS.items() if part in missing],
        "not_asked_lookups": [name for name, part in PARTS.items() if part in not_asked],
    }


def _act(row: Row) -> Record:
    return {
        "act": row.act,
        "mark": row.mark,
        "answer": acts.short(row),
        "explanation": acts.why(row),
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
            {"label": fact.label, "value": text_of(fact.field), "hidden": fact.field.is_hidden}
            for fact in dossier.attributes
        ],
    }


def _fines(fines: Sequence[AssessedFine], totals: Totals) -> Record:
    return {
        "totals": {
            "open": totals.open_count,
            "paid": totals.paid_count,
            "called_off": totals.called_off_count,
            "called_off_amount": totals.called_off_amount,
            "enforceable": totals.enforceable_count,
            "amount": totals.known_amount,
            **_copied(totals, "enforceable_amount", "without_amount", "points"),
            **_copied(totals, "points_to_come", "points_unknown"),
        },
        "places": [_copied(one, "year", "state", "town", "count") for one in fined_places(fines)],
        "whom_to_ask": whom_to_ask(fines) or None,
        "records": [
            _columns(fine, FINE_COLUMNS) | {"deadlines": list(map(_deadline, fine.deadlines))}
            for fine in fines
        ],
    }


def _deadline(deadline: Deadline) -> Record:
    return {
        "name": deadlines.name(deadline),
        "state": deadline.verdict,
        **_copied(deadline, "days_used", "limit_days", "ends_on", "article"),
        "sentence": deadlines.sentence(deadline),
    }


def _restrictions(orders: Sequence[AssessedOrder]) -> Record:
    return {
        "in_force": sum(order.in_force for order in orders),
        "who_lifts": who_lifts(orders),
        "records": list(map(_order, orders)),
    }


def _copied(source: object, *names: str) -> Record:
    return {name: getattr(source, name) for name in names}
