"""Lines of the checklist: what settles one, what is refused, and what follows from a finding."""

from datetime import date
from decimal import Decimal

import pytest
from msgspec.structs import replace

from portal.law.checklist import LINES, UNVERIFIED
from portal.law.declared import (
    Declaration,
    Record,
    contradicted_by,
    declared_findings,
    settle,
    stock_obstacles,
)
from portal.law.verdict import judge

TODAY = date(2026, 11, 28)
CLEAN = {"justica": Record("renajud", "nothing"), "multas": Record("renainf", "nothing")}
KEYS = [line.key for line in LINES]


def told(line: str, state: str = "nothing", amount: str | None = None) -> Declaration:
    assert state in ("nothing", "something")
    value = None if amount is None else Decimal(amount)
    return Declaration(line, state, "loja", TODAY, value)  # type: ignore[arg-type]


def test_lines_without_a_record_or_a_declaration_are_open() -> None:
    lines = settle(CLEAN, [])
    assert [one.key for one in lines] == KEYS
    assert [one.key for one in lines if one.is_open] == [line.key for line in UNVERIFIED]
    assert {one.state for one in lines if one.is_open} == {"unchecked"}
    assert all(one.is_open for one in settle({}, []))


@pytest.mark.parametrize("state", ["nothing", "something"])
@pytest.mark.parametrize("key", KEYS)
def test_declaration_settles_a_line(key: str, state: str) -> None:
    (one,) = [each for each in settle({}, [told(key, state)]) if not each.is_open]
    assert (one.key, one.state, one.by, one.settlement) == (key, state, "declared", "declared")


@pytest.mark.parametrize("recorded", ["nothing", "something"])
@pytest.mark.parametrize("declared", ["nothing", "something"])
@pytest.mark.parametrize("key", KEYS)
def test_record_wins_over_a_declaration(key: str, declared: str, recorded: str) -> None:
    record = Record("renajud", recorded)  # type: ignore[arg-type]
    declaration = told(key, declared)
    refused = contradicted_by(declaration, {key: record})
    assert refused == (record if declared != recorded else None)
    (one,) = [each for each in settle({key: record}, [declaration]) if not each.is_open]
    assert (one.by, one.state, one.is_contradicted) == ("record", recorded, declared != recorded)
    assert list(declared_findings([one])) == []


def test_report_warns_beside_a_line_until_it_is_declared() -> None:
    warned = {one.key for one in settle({}, [], ["gravame"]) if one.is_warned}
    assert warned == {"gravame"}
    assert not any(one.is_warned for one in settle({}, [told("gravame")], ["gravame"]))


@pytest.mark.parametrize("key", KEYS)
def test_something_makes_a_verdict_worse_and_nothing_betters_none(key: str) -> None:
    clean = judge(True, (), ())
    assert clean.level == "clear"
    lines = settle(CLEAN if key not in CLEAN else {}, [told(key, "something")])
    found = tuple(declared_findings(lines))
    worse = judge(True, (), (), declared=found)
    assert worse.level == "caution" and worse.reasons == found
    assert worse.cause in ("declared", "declared_note")
    lines = settle(CLEAN, [told(each) for each in KEYS])
    assert judge(True, (), (), declared=tuple(declared_findings(lines))) == clean


@pytest.mark.parametrize(
    ("key", "amount", "ends"),
    [
        *((key, None, True) for key in ("roubo-e-furto", "gravame", "bloqueios-administrativos")),
        ("justica", None, True),
        ("identificacao", None, True),
        ("certidoes-do-vendedor", None, True),
        # A debt is deducted if its amount is known.
        ("debitos", "1200.00", False),
        ("debitos", None, True),
        ("divida-ativa", None, True),
        ("multas-do-estado", "130.16", False),
        ("leilao", None, False),
        ("recall", None, False),
    ],
)
def test_something_ends_the_ceiling_as_the_reports_word_does(
    key: str, amount: str | None, ends: bool
) -> None:
    found = tuple(declared_findings(settle({}, [told(key, "something", amount)])))
    verdict = judge(True, (), (), declared=found)
    assert (verdict.ends_ceiling is not None) == ends


def test_declarations_that_cannot_be_read_are_no_clean_verdict() -> None:
    verdict = judge(True, (), (), declared=None)
    assert verdict.level == "caution" and verdict.ends_ceiling is not None


@pytest.mark.parametrize(
    ("record", "enforceable", "stops"),
    [
        (Record("renainf", "something", 1), 1, True),
        (Record("renainf", "something", 1), 0, False),
        (Record("renainf", "nothing"), 0, False),
    ],
)
def test_fines_stop_a_stock_entry_only_when_enforceable(
    record: Record, enforceable: int, stops: bool
) -> None:
    found = stock_obstacles(settle({"multas": record}, []), enforceable)
    assert [one.key for one in found] == (["multas"] if stops else [])


def test_stock_obstacles_are_records_declarations_and_warnings() -> None:
    records = {"justica": Record("renajud", "something", 1)}
    declared = [told("debitos", "something"), told("roubo-e-furto"), told("recall", "something")]
    lines = settle(records, declared, ["gravame", "roubo-e-furto"])
    found = [one.key for one in stock_obstacles(lines, None)]
    # A recall stops no entry, and the theft that the report warns of was declared not to be there.
    assert found == ["justica", "debitos", "gravame"]


def test_every_item_of_the_law_has_lines() -> None:
    by_law = {line.law for line in LINES} - {""}
    assert by_law == set("abcde")
    assert {line.key for line in LINES if line.law == "a"} == {"roubo-e-furto"}
    assert all(line.law for line in LINES if line.by_state)
    beside = {line.key for line in LINES if not line.law}
    assert {"recall", "leilao", "sinistro", "hodometro"} <= beside


def test_amount_of_a_line_is_that_of_its_record() -> None:
    record = Record("renainf", "something", 2, Decimal("325.39"))
    (fines,) = [one for one in settle({"multas": record}, []) if one.key == "multas"]
    assert fines.amount == Decimal("325.39")
    assert replace(fines, record=None).amount is None
