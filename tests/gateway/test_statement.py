"""A provider's statement against the ledger."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from portal.gateway.ledger import UpstreamCall
from portal.gateway.statement import Billed, Sent, compare
from portal.gateway.statement_file import WrongStatement, read_statement
from tests.effort import long

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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ("empty", (), "", 0)),
        ("time,operation,price\n", ("no_rows", (), "", 0)),
        ("time,operation,price\n" + "9" * 200_000, ("no_rows", (), "", 0)),
        ("a,b,c\n1,2,3\n", ("unrecognised", ("time", "operation", "price"), "", 0)),
        ("time,operation,price\nyesterday,decode,1\n", ("cell", ("time",), "yesterday", 2)),
        ("time,operation,price\n0001-01-01,decode,1\n", ("cell", ("time",), "0001-01-01", 2)),
        ("time,operation,price\n2026-11-28,decode,free\n", ("cell", ("price",), "free", 2)),
        ("time,operation,price\n2026-11-28,what,1\n", ("cell", ("operation",), "what", 2)),
    ],
)
def test_unreadable_statement_says_why(text: str, problem: tuple[object, ...]) -> None:
    with pytest.raises(WrongStatement) as caught:
        read_statement(text.encode(), str)
    error = caught.value
    assert (error.problem, tuple(error.names), error.text, error.line) == problem
