"""Never clean where something failed or is stated elsewhere, never blocked where all is denied.

``ANSWERS_SEED`` is the seed, to repeat a run, and ``ANSWERS_COUNT`` the number of answers of a run
with FUZZ=full.
"""

import os
from collections import Counter
from datetime import UTC, date, datetime
from itertools import islice
from typing import Final

import pytest

from portal.dossier.answers import Panel, Panels, answer_panel
from portal.dossier.dossier import Dossier
from portal.dossier.prices import NO_PRICE
from portal.gateway.answer_check import check
from portal.gateway.lookup import Lookup, Served
from portal.gateway.operations import DECODE, RENAINF, RENAJUD
from portal.upstream.errors import Unfit, Unusable
from portal.vehicle.denials import Asked
from portal.vehicle.plate import Plate
from tests import factories
from tests.effort import cases
from tests.hostile.source_answers import CONTENT, PLATE, TEXTS, Answer, answers

TODAY: Final = date(2026, 11, 28)
SEED: Final = int(os.environ.get("ANSWERS_SEED") or 46)
COUNT: Final = cases(short=3_000, full=int(os.environ.get("ANSWERS_COUNT") or 200_000))
FAILED: Final = {"plain", "odd", "working"}
OPERATIONS: Final = {"decode": DECODE, "renainf": RENAINF, "renajud": RENAJUD}
SUBJECT: Final = Plate.parse(PLATE)


def panel_of(body: bytes, asked: Asked | None = None) -> Panel:
    now = datetime(2026, 11, 28, 12, tzinfo=UTC).timestamp()
    served = Served(
        status=200,
        body=body,
        cache_status="miss",
        stored=True,
        fetched_at=now,
        age_s=0,
        ttl_s=3_600,
        origin="primary",
        delete_at=now + 7_200,
    )
    return answer_panel(served, asked=asked)


CLEAN: Final = {
    "decode": panel_of(factories.decode_body(PLATE)),
    "renainf": panel_of(factories.renainf_body()),
    "renajud": panel_of(factories.renajud_body()),
}


def dossier_with(answer: Answer) -> Dossier | str:
    """Return the dossier with this answer beside clean ones, or how it was refused."""
    lookup = Lookup(OPERATIONS[answer.lookup], SUBJECT)
    try:
        check(lookup, answer.body, factories.HIDDEN)
    except Unfit as error:
        return "outage" if error.may_differ else "unfit"
    except Unusable:
        return "unusable"
    panels = Panels(*CLEAN.values()).with_answers(
        {answer.lookup: panel_of(answer.body, lookup.asked)}
    )
    return Dossier(SUBJECT, panels, TODAY, factories.HIDDEN)


def level_of(answer: Answer) -> str:
    """Return the verdict's level with this answer beside clean ones, or how it was refused."""
    found = dossier_with(answer)
    return found if isinstance(found, str) else found.verdict.level


def violations(answer: Answer) -> list[str]:
    """Return the rules that the portal breaks for an answer."""
    found, truths, holds = dossier_with(answer), answer.truths, answer.holds
    level = found if isinstance(found, str) else found.verdict.level
    prices = None if isinstance(found, str) else found.prices
    is_record = bool({"vehicle", "paid", "open", "order"} & {*holds})
    may_be_record = is_record or CONTENT in answer.places
    understood = {"plain", "working"} if is_record else FAILED
    open_ended = FAILED | {"positive", "strange", "aside"}
    broken = {
        "an outage is clean": level == "clear" and (truths & understood or "unread" in holds),
        "an unread price is missing": (
            "unpriced" in holds and (prices is None or prices.no_price == NO_PRICE)
        ),
        "an outage is relayed": (
            not may_be_record and truths & {"plain", "working"} and level != "outage"
        ),
        "a doubt is clean": level == "clear" and truths & open_ended and not is_record,
        "a record is refused": is_record and level in ("outage", "unfit", "unusable"),
        "an order is not blocked": "order" in holds and level != "blocked",
        "an answer opens a circuit": level == "unusable",
        "a car without an order is blocked": (
            level == "blocked" and "order" not in holds and CONTENT not in answer.places
        ),
        "a denial is not clean": (
            "denial" in truths
            and truths <= {"denial", "success", "blank"}
            and answer.lookup != "decode"
            and not {"open", "order", "unflagged"} & {*holds}
            and level != "clear"
        ),
        "a denial without the flag is clean": "unflagged" in holds and level == "clear",
    }
    return [rule for rule, is_broken in broken.items() if is_broken]


def test_answers_of_sources_are_read_for_what_they_say() -> None:
    found: Counter[str] = Counter()
    examples: dict[str, bytes] = {}
    for answer in islice(answers(SEED), COUNT):
        for rule in violations(answer):
            found[rule] += 1
            examples.setdefault(rule, answer.body)
    assert not found, (SEED, dict(found), examples)


@pytest.mark.parametrize("truth", [*TEXTS, "aside"])
def test_generator_makes_each_truth_in_each_lookup(truth: str) -> None:
    made = {each.lookup for each in islice(answers(1), 2_000) if truth in each.truths}
    assert {"renainf", "renajud", "decode"} == made
