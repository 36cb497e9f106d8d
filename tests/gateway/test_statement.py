"""A provider's statement against the ledger."""

import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from portal.gateway.ledger import LedgerEntry, UpstreamCall
from portal.gateway.statement import Billed, Sent, compare
from portal.gateway.statement_file import WrongStatement, check_statement, read_statement
from portal.storage.database import Database
from portal.system.local_time import sao_paulo
from tests.effort import long
from tests.fakes import Clock
from tests.fakes.one_tenant import ledger_of
from tests.gateway.gateways import CALLER

START = datetime(2026, 11, 1, 12, tzinfo=UTC)
PRICES = {"decode": Decimal("0.30"), "renainf": Decimal("0.95"), "renajud": Decimal("0.10")}


def sent(at: datetime, operation: str = "decode", tag: str = "t", **changes: Any) -> Sent:
    call = UpstreamCall(
        at, operation, "primary", "ana", PRICES[operation], "answered", 200, "upstream"
    )
    return Sent(call._replace(**changes), tag)


def rows(calls: list[Sent], shift_s: float = 0.0) -> list[Billed]:
    return [
        Billed(
            line,
            each.call.sent_at + timedelta(seconds=shift_s),
            each.call.operation,
            each.call.price or Decimal(0),
            each.tag,
        )
        for line, each in enumerate(calls, start=2)
    ]


@pytest.mark.parametrize(
    ("has_plates", "shift_s", "jitter_s"),
    [
        (True, 0.0, 0.0),
        *long((True, 10_800.0 - 41.0, 2.0), (False, -7.5, 0.0)),
        (False, 10_759.0, 2.0),
    ],
)
def test_planted_differences_are_named_and_none_is_invented(
    shift_s: float, jitter_s: float, has_plates: bool
) -> None:
    """Of 10,000 rows 50 differ, ten of each kind."""
    chance = random.Random(52)
    calls, at = [], START
    for number in range(10_000):
        at += timedelta(seconds=chance.uniform(8, 240))
        tag = f"t{number % 700}" if has_plates else ""
        calls.append(sent(at, chance.choice([*PRICES]), tag))
    planted = chance.sample(range(50, 9_950, 5), 50)
    empty, twice, dearer, foreign, unbilled = (planted[part::5] for part in range(5))
    for number in empty:
        calls[number] = Sent(
            calls[number].call._replace(outcome="too_slow", status=None), calls[number].tag
        )
    billed = rows(calls, shift_s)
    billed = [
        Billed(
            each.line,
            each.at + timedelta(seconds=chance.uniform(-jitter_s, jitter_s)),
            each.operation,
            each.price + (Decimal("0.05") if index in dearer else 0),
            each.tag,
        )
        for index, each in enumerate(billed)
        if index not in unbilled
    ]
    by_line = {each.line: each for each in billed}
    billed += [by_line[number + 2] for number in twice]
    billed += [
        Billed(
            99_000 + number, START + timedelta(days=1, seconds=number), "renainf", Decimal(9), "x"
        )
        if has_plates
        else Billed(
            99_000 + number,
            START - timedelta(hours=40) + timedelta(seconds=number),
            "renainf",
            Decimal(9),
        )
        for number in foreign
    ]
    chance.shuffle(billed)
    found = compare(billed, calls)
    kinds = Counter(each.kind for each in found.differences)
    assert kinds == dict.fromkeys(("empty", "twice", "price", "not_ours", "not_billed"), 10)
    lines = {
        kind: {
            each.billed.line - 2 for each in found.differences if each.kind == kind and each.billed
        }
        for kind in ("empty", "twice", "price")
    }
    assert lines == {"empty": set(empty), "twice": set(twice), "price": set(dearer)}
    unsent = [each.sent for each in found.differences if each.kind == "not_billed"]
    assert unsent == [calls[number] for number in sorted(unbilled)]
    assert abs(found.shift.total_seconds() - shift_s) <= 1


def test_statement_without_a_fitting_row_is_all_differences() -> None:
    calls = [sent(START + timedelta(minutes=number)) for number in range(3)]
    billed = [Billed(2, START + timedelta(minutes=90), "renajud", Decimal("0.10"))]
    kinds = Counter(each.kind for each in compare(billed, calls).differences)
    assert kinds == {"not_ours": 1, "not_billed": 3}


def test_only_days_of_the_statement_are_missed_by_the_ledgers_clock() -> None:
    night = START.replace(hour=1)  # 22:00 in São Paulo
    calls = [sent(night + timedelta(minutes=7 * number)) for number in range(3)]
    calls += [sent(night - timedelta(days=1)), sent(night + timedelta(days=1))]
    # Three hours ahead, the rows stand on the next day.
    found = compare(rows(calls[:2], 3 * 3600.0), calls)
    assert found.shift == timedelta(hours=3)
    assert [(each.kind, each.sent) for each in found.differences] == [("not_billed", calls[2])]


@pytest.mark.parametrize(
    ("late_s", "kinds"),
    [(3.0, []), (-3.0, []), (3.1, ["not_billed", "not_ours"]), (-3.1, ["not_billed", "not_ours"])],
)
def test_row_of_an_exact_statement_is_within_three_seconds_of_its_call(
    late_s: float, kinds: list[str]
) -> None:
    calls = [sent(START + timedelta(minutes=number)) for number in range(11)]
    billed = rows(calls)
    billed[5] = replace(billed[5], at=billed[5].at + timedelta(seconds=late_s))
    assert sorted(each.kind for each in compare(billed, calls).differences) == kinds


def test_free_call_is_not_missed() -> None:
    calls = [sent(START, price=Decimal(0)), sent(START + timedelta(minutes=9))]
    assert compare(rows(calls[1:]), calls).differences == []


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("time,operation,price,plate\n2026-11-28T14:02:03-03:00,decode,0.30,ABC1D23\n", {}),
        ("Data;Serviço;Valor;Placa\n28/11/2026 14:02:03;Dados do veículo;R$ 0,30;abc-1d23\n", {}),
        (
            "created_at\tendpoint\tamount\n2026-11-28T17:02:03Z\t/detran/v1/decode/ABC1D23\t0.3\n",
            {},
        ),
        (
            "quando,o que,total\n1795885323,decode,0.30\n",
            {"time": "quando", "operation": "o que", "price": "total"},
        ),
    ],
)
def test_statements_of_several_forms_are_read(text: str, columns: dict[str, str]) -> None:
    (row,) = read_statement(text.encode(), lambda plate: plate.upper().replace("-", ""), columns)
    assert (row.line, row.at, row.operation, row.price) == (
        2,
        datetime(2026, 11, 28, 17, 2, 3, tzinfo=UTC),
        "decode",
        Decimal("0.30"),
    )
    assert row.tag in ("ABC1D23", "")


AT = datetime(2026, 11, 28, 17, 2, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        *("2026-11-28T14:02:03-03:00", "2026-11-28T17:02:03.000Z", "2026-11-28 17:02:03 UTC"),
        *("2026-11-28 14:02:03 -0300", "2026/11/28 14:02:03", "28/11/2026 14:02:03,000"),
        *("28/11/2026, 14:02:03", "28/11/2026 às 14:02:03", "28.11.2026 14:02:03 (GMT-3)"),
        *("28-11-26 14:02:03", "28/11/2026 18:02:03 UTC+1", "28/11/2026 14:02:03 BRT"),
        *("1795885323", "1795885323000"),
    ],
)
def test_time_is_read_in_many_forms(text: str) -> None:
    assert read_time(text) == AT


def read_time(text: str) -> datetime:
    content = f"quando;operação;preço\n{text};decode;0,30\n".encode()
    (row,) = read_statement(content, str, {"time": "Quando"})
    return row.at


@pytest.mark.parametrize(
    ("fraction", "microsecond"),
    [(".5", 500_000), (",25", 250_000), (".000001", 1), (".123456789", 123_456)],
)
def test_fraction_of_a_second_is_read(fraction: str, microsecond: int) -> None:
    assert read_time(f"2026-11-28T17:02:03{fraction}Z") == AT.replace(microsecond=microsecond)


@pytest.mark.parametrize(
    "text",
    [
        *("2026-13-28 14:02:03", "28/11/2026", "2026-11-28", "28/11/2026 25:00", "14:02:03", ""),
        *("28/11/2026 14:02:03 -99:00", "28/11/2026 14:02:03 PM", "٢٨/11/2026 14:02:03"),
    ],
)
def test_time_that_is_none_is_named(text: str) -> None:
    with pytest.raises(WrongStatement) as caught:
        read_statement(f"time;operation;price\n{text};decode;1\n".encode(), str)
    assert (caught.value.problem, [*caught.value.names]) == ("cell", ["time"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("0,30", "0.30"), ("R$ 1.234,56", "1234.56"), ("1,234.56", "1234.56"), ("0.3", "0.3")),
        *(("BRL 17", "17"), ("-0,30", "-0.30")),
    ],
)
def test_price_is_read_in_many_forms(text: str, expected: str) -> None:
    content = f'time;operation;price\n2026-11-28 14:02:03;decode;"{text}"\n'.encode()
    assert [row.price for row in read_statement(content, str)] == [Decimal(expected)]


SHEET = "Data{0}Hora{0}Produto{0}Valor\n28/11/2026{0}14:02:03{0}Dados{0}0.30\n"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        *((SHEET.format(delimiter).encode(), 2) for delimiter in ";,\t|"),
        (SHEET.format("\t").encode("utf-16"), 2),
        (SHEET.format(";").encode("cp1252"), 2),
        (("Fornecedor S.A.;;;\nFatura de novembro, 2026;;;\n\n" + SHEET.format(";")).encode(), 5),
    ],
)
def test_sheet_with_day_and_hour_apart_is_read(content: bytes, line: int) -> None:
    (row,) = read_statement(content, str)
    assert (row.line, row.at, row.operation, row.price) == (line, AT, "decode", Decimal("0.30"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ("empty", (), "", 0)),
        ("time,operation,price\n", ("no_rows", (), "", 0)),
        ("time,operation,price\n" + "9" * 200_000, ("no_rows", (), "", 0)),
        ("a,b,c\n1,2,3\n", ("unrecognised", ("time", "operation", "price"), "", 0)),
        ("time,operation,price\nyesterday,decode,1\n", ("cell", ("time",), "yesterday", 2)),
        ("time,operation,price\n0001-01-01,decode,1\n", ("cell", ("time",), "0001-01-01", 2)),
        ("time,operation,price\n2026-11-28 14:02,decode,free\n", ("cell", ("price",), "free", 2)),
        ("time,operation,price\n2026-11-28 14:02,what,1\n", ("cell", ("operation",), "what", 2)),
    ],
)
def test_unreadable_statement_says_why(text: str, problem: tuple[object, ...]) -> None:
    with pytest.raises(WrongStatement) as caught:
        read_statement(text.encode(), str)
    error = caught.value
    assert (error.problem, tuple(error.names), error.text, error.line) == problem


@pytest.mark.parametrize(
    ("called", "ahead"),
    [
        (["2026-10-28 23:59", "2026-10-29 12:00"], timedelta(minutes=3)),
        (["2026-10-29 12:00", "2026-10-30 00:01"], timedelta(minutes=-3)),
    ],
)
def test_statement_is_compared_with_calls_a_day_around_its_own(
    database: Database, clock: Clock, called: list[str], ahead: timedelta
) -> None:
    """All rows are of the 29th. A clock that is wrong by minutes moves a call to another day."""
    ledger, content = ledger_of(database, clock=clock), "time,operation,price,plate\n"
    times = [datetime.fromisoformat(text).replace(tzinfo=sao_paulo()) for text in called]
    for plate, typed, at in zip(("ABC1D23", "DEF4G56"), ("abc-1d23", "?"), times, strict=True):
        clock.advance(at.timestamp() - clock())
        entry = LedgerEntry(ledger, "decode", f"tag of {plate}", Decimal("0.30"), CALLER)
        entry.begin("primary").finish("answered", 200)
        content += f"{at + ahead},decode,0.30,{typed}\n"
    found = check_statement(ledger, "tag of {}".format, content.encode())
    assert (found.differences, found.shift) == ([], ahead)
    content = content.replace("abc-1d23", "ABC1D24")
    kinds = [
        each.kind
        for each in check_statement(ledger, "tag of {}".format, content.encode()).differences
    ]
    assert sorted(kinds) == ["not_billed", "not_ours"]
