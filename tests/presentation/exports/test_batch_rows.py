"""A batch keeps the results of its plates after the stored answers expire."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from portal.batch import Item
from portal.gateway import Served
from portal.presentation.exports.batches import (
    EXPIRED,
    NOTHING_TO_ASK,
    BatchRow,
    kept_result,
    row_of,
)
from portal.presentation.panels import Panel, Panels
from portal.presentation.render_context import RenderContext
from portal.vehicle import LOOKUPS, LookupName, Plate, Renavam
from tests import factories

PLATE = Plate.parse("ABC1D23")
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
RETENTION_S: dict[LookupName, float] = {
    "decode": 8 * 86400.0,
    "renainf": 30 * 3600.0,
    "renajud": 7 * 3600.0,
}
CONTEXT = RenderContext(NOW, "INFORMACAO OCULTADA", mask_names=True)


def served(body: bytes, *, stored: bool = True) -> Served:
    return Served(200, body, "miss", stored, NOW.timestamp(), 0, 3600, "primary")


def kept(
    bodies: Mapping[LookupName, bytes],
    *,
    stored: bool = True,
    ask: Sequence[LookupName] = LOOKUPS,
    subject: Plate | Renavam = PLATE,
) -> Item:
    found = {name: served(body, stored=stored) for name, body in bodies.items()}
    result = kept_result(subject, ask, found, RETENTION_S.__getitem__, CONTEXT)
    return Item(subject, "done", result=result)


def clean() -> dict[LookupName, bytes]:
    return {
        "decode": factories.decode_body("ABC1D23"),
        "renainf": factories.renainf_body(),
        "renajud": factories.renajud_body(),
    }


def no_answer(_: object) -> Panels:
    raise AssertionError("a kept result reads no answer")


def at(item: Item, hours: float) -> BatchRow:
    return row_of(item, no_answer, replace(CONTEXT, now=NOW + timedelta(hours=hours)))


def test_kept_row_is_the_row_of_its_answers() -> None:
    row = at(kept(clean()), 1)
    assert (row.verdict, row.missing, row.expired) == ("clear", None, None)
    assert (row.restrictions, row.fines_amount, row.fetched_at) == (0, Decimal(0), NOW)
    assert row.vehicle


def test_expired_answers_are_named_and_no_longer_say_that_nothing_is_there() -> None:
    item = kept(clean())
    row = at(item, 8)
    assert (row.expired, row.verdict, row.headline) == (
        "restrições judiciais",
        "incomplete",
        EXPIRED,
    )
    assert row.restrictions == 0  # the earlier result stays, with its time
    assert at(item, 31).expired == "multas, restrições judiciais"


def test_what_was_found_stays_after_its_answer_expired() -> None:
    bodies = clean() | {"renajud": factories.renajud_body(factories.restriction())}
    row = at(kept(bodies), 100)
    assert (row.verdict, row.restrictions) == ("blocked", 1)
    assert "restrições judiciais" in str(row.expired)


def test_unstored_answers_are_kept() -> None:
    assert at(kept(clean(), stored=False), 0).verdict == "clear"


def test_failed_plate_keeps_the_answers_that_it_has() -> None:
    bodies: dict[LookupName, bytes] = {"decode": clean()["decode"]}
    row = at(replace(kept(bodies), state="failed", cause="too_slow"), 0)
    assert (row.state, row.cause, row.verdict) == ("failed", "too_slow", "incomplete")
    assert row.missing == "multas, restrições judiciais"
    assert row.vehicle


def test_pending_plate_without_result_reads_nothing() -> None:
    row = at(Item(PLATE, "pending"), 0)
    assert (row.plate, row.state, row.verdict) == ("ABC1D23", "pending", None)


def test_pending_plate_that_is_asked_again_keeps_its_answers_without_a_verdict() -> None:
    row = at(replace(kept({"decode": clean()["decode"]}), state="pending"), 0)
    assert (row.state, row.verdict, row.headline, row.cause) == ("pending", None, None, None)
    assert row.vehicle


@pytest.mark.parametrize("result", [None, b"{}"])
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


def test_what_was_found_says_that_not_all_was_asked() -> None:
    item = kept({"renajud": factories.renajud_body(factories.restriction())}, ask=["renajud"])
    row = at(item, 1)
    assert (row.verdict, row.restrictions, row.missing) == ("blocked", 1, None)
    assert str(row.headline).endswith("; consulta só de restrições judiciais")


def test_renavam_of_a_batch_of_vehicle_data_was_not_asked() -> None:
    row = at(kept({}, ask=["decode"], subject=Renavam.parse("79831854647")), 1)
    assert (row.verdict, row.headline, row.missing) == ("limited", NOTHING_TO_ASK, None)
    assert row.not_asked == "multas, restrições judiciais"


def test_row_of_a_former_version_is_read() -> None:
    item = kept(clean())
    assert item.result is not None
    former = item.result.replace(b',"not_asked":null', b"")
    assert former != item.result
    assert at(replace(item, result=former), 1).verdict == "clear"
