"""A batch keeps the results of its plates after the stored answers expire."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from portal.batch.model import Item
from portal.dossier.answers import Panel, Panels
from portal.dossier.row import EXPIRED, NOTHING_TO_ASK, STALE, VehicleRow, is_selected
from portal.gateway.lookup import Served
from portal.presentation.exports.vehicle_tables import why_missing
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate, Renavam
from tests import factories
from tests.presentation.pages import Context, kept_result, row_of

PLATE = Plate.parse("ABC1D23")
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
FRESH_HOURS: dict[LookupName, float] = {"decode": 24, "renainf": 6, "renajud": 1}
STORED_HOURS: dict[LookupName, float] = {"decode": 8 * 24, "renainf": 30, "renajud": 7}
CONTEXT = Context(NOW, "INFORMACAO OCULTADA", mask_names=True)


def served(
    name: LookupName, body: bytes, *, stored: bool = True, fresh_h: float | None = None
) -> Served:
    """An answer that is stored as long as a non-empty one, or deleted after ``fresh_h`` hours."""
    fetched_at = NOW.timestamp()
    ttl_s = int(3600 * (FRESH_HOURS[name] if fresh_h is None else fresh_h))
    kept_s = 3600 * (STORED_HOURS[name] if fresh_h is None else fresh_h)
    return Served(200, body, "miss", stored, fetched_at, 0, ttl_s, "primary", fetched_at + kept_s)


def kept(
    bodies: Mapping[LookupName, bytes],
    *,
    stored: bool = True,
    ask: Sequence[LookupName] = LOOKUPS,
    subject: Plate | Renavam = PLATE,
) -> Item:
    found = {name: served(name, body, stored=stored) for name, body in bodies.items()}
    return item_of(found, ask, subject)


def item_of(
    found: Mapping[LookupName, Served],
    ask: Sequence[LookupName] = LOOKUPS,
    subject: Plate | Renavam = PLATE,
) -> Item:
    return Item(subject, "done", result=kept_result(subject, ask, found, CONTEXT))


def clean() -> dict[LookupName, bytes]:
    return {
        "decode": factories.decode_body("ABC1D23"),
        "renainf": factories.renainf_body(),
        "renajud": factories.renajud_body(),
    }


def no_answer(_: object) -> Panels:
    raise AssertionError("a kept result reads no answer")


def at(item: Item, hours: float) -> VehicleRow:
    return row_of(item, no_answer, replace(CONTEXT, now=NOW + timedelta(hours=hours)))


def test_kept_row_is_the_row_of_its_answers() -> None:
    row = at(kept(clean()), 1)
    assert (row.verdict, row.missing, row.expired) == ("clear", None, None)
    assert (row.restrictions, row.fines_amount, row.fetched_at) == (0, Decimal(0), NOW)
    assert row.vehicle


def test_stale_answers_no_longer_say_that_nothing_is_there() -> None:
    item = kept(clean())
    row = at(item, 1.1)
    assert (row.verdict, row.headline, row.expired) == ("caution", STALE, None)
    assert (row.restrictions, row.fines_open, row.fetched_at) == (0, 0, NOW)
    row = at(kept({"decode": clean()["decode"]}, ask=["decode"]), 25)
    assert (row.verdict, row.headline, row.expired) == ("limited", STALE, None)
    assert row.vehicle


def test_expired_answers_are_named_and_leave_no_facts() -> None:
    item = kept(clean() | {"renainf": factories.renainf_body(factories.fine())})
    assert at(item, 6.9).fines_open == 1
    row = at(item, 7.1)
    assert (row.expired, row.verdict, row.headline) == (
        "restrições judiciais",
        "incomplete",
        EXPIRED,
    )
    assert (row.restrictions, row.fines_open, row.fetched_at) == (None, 1, NOW)
    row = at(item, 31)
    assert row.expired == "multas, restrições judiciais"
    assert row.expired_lookups == "renainf,renajud"
    assert (row.fines_open, row.fines_amount, row.fines_enforceable) == (None, None, None)
    assert row.vehicle
    row = at(item, 200)
    facts = (row.vehicle, row.year, row.fipe_code, row.fipe_low, row.fipe_high, row.fetched_at)
    assert facts == (None,) * 6


def test_empty_answers_vouch_no_longer_than_they_are_stored() -> None:
    """An outage at the upstream may cause an empty answer, so the store deletes it early."""
    bodies = clean()
    found = {
        "decode": served("decode", bodies["decode"]),
        "renainf": served("renainf", bodies["renainf"], fresh_h=1.5),
        "renajud": served("renajud", bodies["renajud"], fresh_h=0.25),
    }
    item = item_of(found)  # type: ignore[arg-type]
    assert at(item, 0.2).verdict == "clear"
    row = at(item, 0.3)
    assert (row.verdict, row.expired, row.restrictions) == (
        "incomplete",
        "restrições judiciais",
        None,
    )
    row = at(item, 1.6)
    assert (row.fines_open, row.expired) == (None, "multas, restrições judiciais")
    pending = at(replace(item, state="pending"), 1.6)
    assert (pending.fines_open, pending.verdict) == (None, None)
    assert pending.vehicle


def test_item_is_selected_by_the_times_of_its_answers() -> None:
    """Its answers are all of NOW, and the first one is fresh for an hour."""
    item, now_s, hour_s = kept(clean()), NOW.timestamp(), 3600
    assert is_selected(item, None, None)
    assert is_selected(item, now_s - 1, None)
    assert not is_selected(item, now_s, None)
    assert not is_selected(item, None, now_s + hour_s - 1)
    assert is_selected(item, None, now_s + hour_s)
    assert not is_selected(item, now_s, now_s + hour_s)


@pytest.mark.parametrize("changes", [{"state": "failed"}, {"state": "pending"}, {"result": None}])
def test_item_that_may_lack_an_answer_is_always_selected(changes: dict[str, Any]) -> None:
    assert is_selected(replace(kept(clean()), **changes), NOW.timestamp(), NOW.timestamp())


def test_expired_answer_is_missing_from_the_records_without_a_failure() -> None:
    """Another lookup of the item has failed."""
    item = replace(kept(clean()), state="failed", cause="too_slow")
    unasked = Panel("unasked")
    assert why_missing(item, "renainf", unasked) == (f"multas: {EXPIRED}", None)
    late = replace(kept({"decode": clean()["decode"]}), state="failed", cause="too_slow")
    assert why_missing(late, "renainf", unasked) == (
        "multas: A fonte de dados demorou demais para responder.",
        "too_slow",
    )


def test_known_court_order_blocks_whatever_the_expired_answers_were() -> None:
    bodies = clean() | {"renajud": factories.renajud_body(factories.restriction())}
    found = {
        name: served(name, body, fresh_h=1.5 if name == "renainf" else None)
        for name, body in bodies.items()
    }
    row = at(item_of(found), 2)
    assert (row.verdict, row.restrictions, row.expired) == ("blocked", 1, "multas")
    row = at(item_of(found), 8)
    assert (row.verdict, row.restrictions) == ("incomplete", None)


def test_unstored_answers_are_kept() -> None:
    assert at(kept(clean(), stored=False), 0).verdict == "clear"


def test_failed_plate_keeps_the_answers_that_it_has() -> None:
    bodies: dict[LookupName, bytes] = {"decode": clean()["decode"]}
    row = at(replace(kept(bodies), state="failed", cause="too_slow"), 0)
    assert (row.state, row.cause, row.verdict) == ("failed", "too_slow", "incomplete")
    assert row.missing == "multas, restrições judiciais"
    assert row.missing_lookups == "renainf,renajud"
    assert row.vehicle


def test_pending_plate_without_result_reads_nothing() -> None:
    row = at(Item(PLATE, "pending"), 0)
    assert (row.plate, row.state, row.verdict) == ("ABC1D23", "pending", None)


def test_pending_plate_that_is_asked_again_keeps_its_answers_without_a_verdict() -> None:
    row = at(replace(kept({"decode": clean()["decode"]}), state="pending"), 0)
    assert (row.state, row.verdict, row.headline, row.cause) == ("pending", None, None, None)
    assert row.vehicle


def test_row_that_is_stored_before_an_update_is_read_afterwards() -> None:
    stored = """
    {"row": {"plate": "ABC1D23", "state": "done", "verdict": "caution", "headline": "Há multa",
      "vehicle": "Audi A3", "year": "2014/2015", "fines_open": 1, "fines_amount": "130.16",
      "fines_enforceable": 0, "restrictions": 0, "fipe_code": "008190-6", "fipe_low": "89325.00",
      "fipe_high": "89325.00", "fipe_note": null, "fetched_at": "2026-11-23T12:00:00Z",
      "missing": null, "expired": null, "cause": null, "not_asked": null},
     "answers": {"renainf":
      {"fetched_at": 1795435200.0, "fresh_until": 1795456800.0, "delete_at": 1795543200.0}}}
    """
    row = at(Item(PLATE, "done", result=stored.encode()), 1)
    assert (row.vehicle, row.headline, row.restrictions) == ("Audi A3", "Há multa", 0)
    assert (row.fines_amount, row.fetched_at) == (Decimal("130.16"), NOW)


@pytest.mark.parametrize("result", [None, b"{}", b'{"row":{},"expires":{}}'])
def test_item_of_another_version_reads_the_stored_answers(result: bytes | None) -> None:
    unasked = Panels(Panel("unasked"), Panel("unasked"), Panel("unasked"))
    row = row_of(Item(PLATE, "done", result=result), lambda _: unasked, CONTEXT)
    assert row.verdict == "incomplete"


@pytest.mark.parametrize(
    ("ask", "headline", "not_asked"),
    [
        (["decode"], "Consulta só de dados do veículo", "multas, restrições judiciais"),
        (
            ["renainf"],
            "Nenhuma multa em aberto encontrada; consulta só de multas",
            "dados do veículo, restrições judiciais",
        ),
        (
            ["decode", "renajud"],
            "Nenhuma restrição judicial encontrada; "
            "consulta só de dados do veículo e restrições judiciais",
            "multas",
        ),
    ],
)
def test_lookup_that_was_not_chosen_is_neither_missing_nor_clear(
    ask: Sequence[LookupName], headline: str, not_asked: str
) -> None:
    row = at(kept({name: clean()[name] for name in ask}, ask=ask), 1)
    assert (row.verdict, row.headline) == ("limited", headline)
    assert (row.missing, row.not_asked, row.cause) == (None, not_asked, None)
    if "renainf" not in ask:
        assert (row.fines_open, row.fines_amount) == (None, None)
    if "renajud" not in ask:
        assert row.restrictions is None
    later = at(kept({name: clean()[name] for name in ask}, ask=ask), 200)
    assert (later.verdict, later.headline) == ("incomplete", EXPIRED)


def test_vehicle_data_that_were_not_chosen_leave_the_verdict_on_the_records() -> None:
    ask: list[LookupName] = ["renainf", "renajud"]
    row = at(kept({name: clean()[name] for name in ask}, ask=ask), 1)
    assert (row.verdict, row.missing, row.not_asked) == ("clear", None, "dados do veículo")


def test_chosen_lookup_without_answer_is_missing() -> None:
    row = at(replace(kept({}, ask=["renainf"]), state="failed", cause="too_slow"), 1)
    assert (row.verdict, row.missing) == ("incomplete", "multas")
    assert row.not_asked == "dados do veículo, restrições judiciais"
    assert (row.missing_lookups, row.not_asked_lookups) == ("renainf", "decode,renajud")


def test_what_was_found_says_that_not_all_was_asked() -> None:
    item = kept({"renajud": factories.renajud_body(factories.restriction())}, ask=["renajud"])
    row = at(item, 1)
    assert (row.verdict, row.restrictions, row.missing) == ("blocked", 1, None)
    assert str(row.headline).endswith("; consulta só de restrições judiciais")


def test_renavam_of_a_batch_of_vehicle_data_was_not_asked() -> None:
    row = at(kept({}, ask=["decode"], subject=Renavam.parse("79831854647")), 1)
    assert (row.verdict, row.headline, row.missing) == ("limited", NOTHING_TO_ASK, None)
    assert row.not_asked == "multas, restrições judiciais"
    assert row.not_asked_lookups == "renainf,renajud"
