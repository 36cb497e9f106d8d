"""The readers return typed values for every answer, and never raise."""

import json
from datetime import date, datetime, time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.presentation.exports.tables import safe_text
from portal.presentation.query import kept_query
from portal.vehicle.decode import read_decode
from portal.vehicle.drift import CONTRACT, unexpected
from portal.vehicle.field import EMPTY, FIELD_LIMIT, HIDDEN, HIDDEN_MARKER, Field, clean, read_field
from portal.vehicle.fines import read_fines
from portal.vehicle.fipe import PriceSeries
from portal.vehicle.judicial import read_restrictions
from portal.vehicle.makes import vehicle_name
from portal.vehicle.ranking import rank
from portal.vehicle.report import read_report
from portal.vehicle.typed import read_typed, visible
from portal.vehicle.wire import read_decimal, read_moment, result_of
from portal.wording import sanitise_echo
from tests.vehicle.observed import (
    OBSERVED,
    OBSERVED_FINE,
    OBSERVED_REPORT,
    OBSERVED_RESTRICTION,
    OBSERVED_VEHICLE,
    body,
)


def test_observed_fine_is_read_completely() -> None:
    (fine,) = read_fines(result_of(body([OBSERVED_FINE])), HIDDEN_MARKER)
    assert fine.notice is HIDDEN
    assert fine.amount == Decimal(130)
    assert (fine.committed_on, fine.committed_at) == (date(2025, 5, 14), time(9, 30))
    assert (fine.penalty_on, fine.penalty_on_text) == (None, EMPTY)
    assert (fine.driver.points, fine.offender.points) == (0, 4)
    assert fine.offender.number.is_hidden


def test_unreadable_payment_date_keeps_its_text() -> None:
    sent = OBSERVED_FINE | {"pagamento": {"dataPagamento": "32/13/2025"}}
    (fine,) = read_fines(result_of(body([sent])), HIDDEN_MARKER)
    assert fine.paid_on is None
    assert str(fine.paid_on_text) == "32/13/2025"


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("TRANSFERENCIA", "TRANSFERENCIA"),
        (["TRANSFERENCIA", "CIRCULACAO"], "TRANSFERENCIA; CIRCULACAO"),
        ([["TRANSFERENCIA"], "", None, 7], "TRANSFERENCIA; 7"),
        ({"tipo": "CIRCULACAO", "ativa": True}, "tipo: CIRCULACAO; ativa: sim"),
        (["TRANSFERENCIA", HIDDEN_MARKER], "TRANSFERENCIA; oculto pela fonte"),
        ([[[[[[["CIRCULACAO"]]]]]]], "…"),
    ],
)
def test_kinds_of_any_shape_are_read_completely(sent: object, read: str) -> None:
    for name in ("restricoes", "tipoBloqueio"):
        (found,) = read_restrictions(result_of(body([{name: sent}])), HIDDEN_MARKER)
        field = found.kinds_text if name == "restricoes" else found.block_type
        assert (str(field), field.state) == (read, "known")


@pytest.mark.parametrize("sent", [[HIDDEN_MARKER], [HIDDEN_MARKER, ""], HIDDEN_MARKER])
def test_kinds_that_are_all_hidden_are_hidden(sent: object) -> None:
    (found,) = read_restrictions(result_of(body([{"restricoes": sent}])), HIDDEN_MARKER)
    assert found.kinds_text.is_hidden


def test_long_list_of_kinds_ends_with_ellipsis() -> None:
    (found,) = read_restrictions(result_of(body([{"restricoes": ["PENHORA"] * 50}])), HIDDEN_MARKER)
    assert str(found.kinds_text).endswith("PENHORA; …")


@pytest.mark.parametrize("sent", [[], {}, [""], [None], "", None, True])
def test_kinds_without_text_are_empty(sent: object) -> None:
    (found,) = read_restrictions(result_of(body([{"x": 1, "restricoes": sent}])), HIDDEN_MARKER)
    assert found.kinds_text.state == "empty"


def test_observed_restriction_is_read_completely() -> None:
    (found,) = read_restrictions(result_of(body([OBSERVED_RESTRICTION])), HIDDEN_MARKER)
    assert found.included_at == datetime(2025, 10, 23, 14, 5, 9)  # noqa: DTZ001 source's own time
    assert str(found.kinds_text) == "TRANSFERENCIA"
    assert found.case.is_hidden
    assert found.recorded is True
    assert found.plate == EMPTY


def test_record_that_is_no_object_counts() -> None:
    """A list with an unreadable element must not look like a clean record."""
    assert len(read_fines(result_of(body(["?", OBSERVED_FINE, None])), HIDDEN_MARKER)) == 3
    assert len(read_restrictions(result_of(body([7])), HIDDEN_MARKER)) == 1
    assert read_restrictions(result_of(body([])), HIDDEN_MARKER) == ()


def test_observed_vehicle_is_read_completely() -> None:
    car = read_decode(result_of(body(OBSERVED_VEHICLE)), HIDDEN_MARKER)
    assert (car.model_year, car.built_year) == (2015, 2014)
    assert (car.power_cv, car.displacement_cc, car.passengers) == (180, 1798, 5)
    assert car.chassis.is_hidden
    assert car.is_national is False
    (entry,) = car.fipe
    assert entry.current == Decimal("89325.00")
    assert [(m.month.month, m.predicted) for m in entry.history] == [(1, False), (2, True)]


@pytest.mark.parametrize("price", ["0", "0.00", "", "R$ 0,00", None, "-5", "abc", []])
def test_missing_price_is_none_not_zero(price: object) -> None:
    months = [{"mes": "1", "ano": "2025", "valor": price}, {"mes": 2, "ano": 2025, "valor": 9}]
    entry = OBSERVED_VEHICLE["informacoesFipe"][0]
    entry = entry | {"valorAtual": price, "historicoPreco": months}
    sent = body(OBSERVED_VEHICLE | {"informacoesFipe": [entry]})
    car = read_decode(result_of(sent), HIDDEN_MARKER)
    assert car.fipe[0].current is None
    assert [point.month.month for point in car.fipe[0].history] == [2]


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        ("130", "130"),
        ("89325.00", "89325.00"),
        ("1.234,56", "1234.56"),
        ("R$ 1.234,56", "1234.56"),
        ("R$\u00a01.234.567,00", "1234567.00"),
        ("1,234.56", "1234.56"),
        ("1.234", "1234"),
        ("0.123", "0.123"),
        (89325.5, "89325.5"),
        (1.234, "1.234"),
        (7, "7"),
    ],
)
def test_decimal_is_read_from_both_notations(sent: object, value: str) -> None:
    assert read_decimal(sent) == Decimal(value)


@pytest.mark.parametrize("sent", ["", "1e5", "NaN", "١٢٣", "1,2,3", "9" * 19, True, {}, "12a"])
def test_text_without_a_number_reads_as_none(sent: object) -> None:
    assert read_decimal(sent) is None


@pytest.mark.parametrize(
    "sent", ["31/02/2025", "00/00/0000", "1/1/25", "2025", "٠١/٠١/٢٠٢٥", "", 7]
)
def test_impossible_date_reads_as_none(sent: object) -> None:
    assert read_moment(sent) is None


def test_text_with_the_marker_is_hidden() -> None:
    for text in (HIDDEN_MARKER, " informação  ocultada ", f"NR {HIDDEN_MARKER}"):
        assert read_field(text, HIDDEN_MARKER) == HIDDEN
    assert read_field("X", "") == Field("X")


def test_clean_removes_controls_and_bidi_overrides() -> None:
    assert clean("a\u202eb\x00c\x85\u2066d\ud800 \t e\u200b") == "abcd e"
    assert clean("a\r\n\n\nb", lines=True) == "a\nb"
    assert clean("a\nb") == "a b"


@pytest.mark.parametrize(
    "hidden", ["\ufe00", "\ufe0f", "\U000e0100", "\U000e01ef", "\U000e0041", "\u3164", "\u034f"]
)
def test_no_reader_drops_less_than_another_of_what_nothing_shows(hidden: str) -> None:
    text = f"a{hidden}b"
    assert [clean(text), visible(text), safe_text(text)] == ["ab"] * 3
    assert sanitise_echo(text, 9) == "ab"
    assert read_typed(f"ABC{hidden}1D23").is_certain
    assert kept_query([("x", text)]) == (("x", "ab"),)


def test_oversized_text_is_clipped_with_an_ellipsis() -> None:
    field = read_field("x" * 1_000_000, HIDDEN_MARKER)
    assert len(field.value) == FIELD_LIMIT
    assert field.value.endswith("x…")


def test_json_only_the_standard_library_accepts_is_read() -> None:
    assert result_of(b'{"result": "\\ud800a"}') == "\ud800a"
    digits = b"9" * 5_000
    assert result_of(b'{"result": {"a": ' + digits + b"}}") is not None
    assert result_of(b"[" * 100_000) is None
    assert result_of(b"<html>") is None


# --- drift detection


@pytest.mark.parametrize("operation", sorted(CONTRACT))
def test_observed_answers_match_the_contract(operation: str) -> None:
    assert unexpected(operation, OBSERVED[operation]) == frozenset()


def test_new_missing_and_mistyped_fields_are_reported_by_path() -> None:
    entry = dict(OBSERVED_VEHICLE["informacoesFipe"][0], valorAtual=89325)
    sent = OBSERVED_VEHICLE | {"informacoesFipe": [entry], "cor": "PRATA", "JOSE DA SILVA": 1}
    del sent["placa"]
    assert unexpected("decode", sent) == {"informacoesFipe[].valorAtual", "cor", "placa", "?"}
    assert unexpected("renainf", {}) == {"result"}
    assert unexpected("renajud", [3]) == {"[]"}
    assert unexpected("another", 3) == frozenset()


# --- no reader raises

ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(
        ["31/12/2024", " 09:30", "130", "1.234,56", HIDDEN_MARKER, "0", "2017", "81906", "⚠️"]
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(sorted({*OBSERVED_FINE, *OBSERVED_VEHICLE, *OBSERVED_REPORT}))
            | st.sampled_from(["historicoPreco", "fipeId", "valorAtual", "mes", "ano", "valor"])
            | st.text(max_size=5),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(ANY_JSON)
def test_readers_never_raise_for_any_result(result: object) -> None:
    sent = json.dumps({"result": result}).encode()
    car = read_decode(result_of(sent), HIDDEN_MARKER)
    str(vehicle_name(car))
    for ranked in rank(car.fipe, car):
        series = PriceSeries.of(ranked.entry, date(2026, 11, 21))
        assert all(
            a.month < b.month for a, b in zip(series.points, series.points[1:], strict=False)
        )
        _ = (series.gaps, series.peak, series.twelve_month_change, series.yearly_change)
        _ = (series.change_since_peak, series.predicted_change)
    read_fines(result_of(sent), HIDDEN_MARKER)
    read_restrictions(result_of(sent), HIDDEN_MARKER)
    read_report(result_of(sent), HIDDEN_MARKER)
    for operation in CONTRACT:
        unexpected(operation, result)


@given(st.sampled_from(sorted(OBSERVED)), st.data())
def test_readers_never_raise_for_one_odd_field(operation: str, data: st.DataObject) -> None:
    sent = json.loads(json.dumps(OBSERVED[operation]))
    record = sent[0] if isinstance(sent, list) else sent
    record[data.draw(st.sampled_from(sorted(record)))] = data.draw(ANY_JSON)
    read = {
        "decode": read_decode,
        "renainf": read_fines,
        "renajud": read_restrictions,
        "report": read_report,
    }
    read[operation](body(sent), HIDDEN_MARKER)
    unexpected(operation, sent)


@given(st.binary(max_size=60))
def test_readers_never_raise_for_any_bytes(sent: bytes) -> None:
    assert read_fines(result_of(sent), HIDDEN_MARKER) == ()
    read_decode(result_of(sent), HIDDEN_MARKER)
    read_report(result_of(sent), HIDDEN_MARKER)


@pytest.mark.parametrize(
    "text",
    [
        *("00/00/0000", "0000-00-00", "0", "--", "", "NULL", "null", "NaT", "N/A"),
        *("01/01/1900", "30/12/1899", "31/12/1969", "01/01/1970", "1970-01-01T00:00:00Z"),
        *("01/01/0001", "9999-12-31", "31/12/9999 23:59:59", "0001-01-01 00:00:00"),
    ],
)
def test_dates_that_stand_for_none_are_empty(text: str) -> None:
    members = ("dataInfracao", "dataEmissaoNotificacao", "dataEmissaoPenalidade")
    payment = {"dataPagamento": text, "dataRegistro": text}
    (fine,) = read_fines([{**dict.fromkeys(members, text), "pagamento": payment}], "HIDDEN")
    for day in (fine.committed_on, fine.notified_on, fine.penalty_on, fine.paid_on):
        assert day is None
    texts = (fine.committed_on_text, fine.penalty_on_text, fine.paid_on_text)
    assert {*texts, fine.payment_registered_on_text} == {EMPTY}
    (order,) = read_restrictions([{"dataInclusao": text}], "HIDDEN")
    assert (order.included_at, order.included_at_text) == (None, EMPTY)


def test_date_before_its_register_proves_nothing_but_stays_readable() -> None:
    (fine,) = read_fines([{"dataInfracao": "05/03/1997"}], "HIDDEN")
    assert (fine.committed_on, str(fine.committed_on_text)) == (None, "05/03/1997")
    (order,) = read_restrictions([{"dataInclusao": "05/03/2001"}], "HIDDEN")
    assert (order.included_at, str(order.included_at_text)) == (None, "05/03/2001")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("23/10/2025, 11:13:38", "2025-10-23T11:13:38"),
        ("23/10/2025 11:13", "2025-10-23T11:13:00"),
        ("23-10-2025", "2025-10-23T00:00:00"),
        ("23.10.2025", "2025-10-23T00:00:00"),
        ("2025/10/23", "2025-10-23T00:00:00"),
        ("20251023", "2025-10-23T00:00:00"),
        ("2025-10-23T02:13:38Z", "2025-10-22T23:13:38"),
        ("2025-10-23T02:13:38.123Z", "2025-10-22T23:13:38"),
        ("2025-10-23T02:13:38+00:00", "2025-10-22T23:13:38"),
        ("2025-10-23T02:13:38-03:00", "2025-10-23T02:13:38"),
        ("2025-10-23T02:13:38-0300", "2025-10-23T02:13:38"),
        ("2025-10-23T02:13:38+99:99", "2025-10-23T02:13:38"),
        ("23/10-2025", None),
        ("2025-1023", None),
    ],
)
def test_moments_are_read_as_programs_print_them(text: str, moment: str | None) -> None:
    read = read_moment(text)
    assert (read.isoformat() if read else None) == moment


@pytest.mark.parametrize("zero", ["0", "00", "0000", "0.0", "-"])
def test_zeros_of_attributes_are_blank(zero: str) -> None:
    names = ("anoModelo", "capacidadePassageiro", "caixaCambio", "potencia", "capacidadeCarga")
    car = read_decode(dict.fromkeys(names, zero), "HIDDEN")
    fields = (car.model_year_text, car.passengers_text, car.gearbox, car.power_text, car.load)
    assert set(fields) == {EMPTY}
    assert str(read_decode({"caixaCambio": "05"}, "HIDDEN").gearbox) == "05"


def test_comma_before_three_digits_separates_thousands_of_money() -> None:
    entry = {"valorAtual": "45,123", "ano": "2015"}
    (read,) = read_decode({"informacoesFipe": [entry]}, "HIDDEN").fipe
    assert read.current == Decimal(45123)
