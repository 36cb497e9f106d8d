"""Answer validation: the contract's format and the requested vehicle."""

import json
import tracemalloc

import pytest

from portal.gateway import answer_check
from portal.gateway.answer_check import (
    LONGEST_MESSAGE,
    check,
    message_body,
)
from portal.gateway.lookup import Lookup, report_lookup
from portal.gateway.operations import DECODE, RENAINF, RENAJUD, Operation
from portal.upstream.errors import Unfit, Unusable
from portal.vehicle.plate import Plate, parse_subject
from portal.vehicle.wire import MOST_VALUES
from tests import factories
from tests.effort import long

MARKER = factories.HIDDEN


def judged(operation: Operation, subject: str, body: bytes) -> bool:
    """Check the answer, and check that an answer with too many values is judged alike."""
    lookup = Lookup(operation, parse_subject(subject))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answer_check, "has_too_many_values", lambda _: True)
        large = refusal(lookup, body)
    assert large == refusal(lookup, body)
    return check(lookup, body, MARKER)


def refusal(lookup: Lookup, body: bytes) -> tuple[type[Unusable], str] | None:
    try:
        check(lookup, body, MARKER)
    except Unfit as error:
        return Unfit, str(error)
    except Unusable:
        return Unusable, ""
    return None


@pytest.mark.parametrize("named", ["ABC1D23", "abc1d23", "ABC-1D23", "ABC1323", "", "  ", MARKER])
def test_requested_plate_passes_in_any_spelling_blank_or_hidden(named: str) -> None:
    judged(DECODE, "ABC1D23", factories.decode_body(named))


@pytest.mark.parametrize(
    "named", ["N/A", "-", "informação ocultada", f" {MARKER.lower()} ", "NADA CONSTA", "\u200b"]
)
def test_text_that_is_not_a_plate_passes(named: str) -> None:
    judged(DECODE, "ABC1D23", factories.decode_body(named))


@pytest.mark.parametrize("named", ["ABC1D24", "ZZZ9Z99", "zzz 9z99", "PLACA ZZZ9Z99"])
def test_record_of_another_plate_is_rejected(named: str) -> None:
    with pytest.raises(Unusable):
        judged(DECODE, "ABC1D23", factories.decode_body(named))


def test_one_record_of_another_plate_among_many_is_rejected() -> None:
    mine, other = factories.restriction(placa="ABC1D23"), factories.restriction(placa="ZZZ9Z99")
    judged(RENAJUD, "ABC1D23", factories.renajud_body(mine, mine))
    with pytest.raises(Unusable):
        judged(RENAJUD, "ABC1D23", factories.renajud_body(mine, other))


def test_renavam_is_compared_with_renavam() -> None:
    named = factories.restriction(renavam="12345678910", placa="ZZZ9Z99")
    judged(RENAJUD, "12345678910", factories.renajud_body(named))
    with pytest.raises(Unusable):
        other = factories.restriction(renavam="00000000001")
        judged(RENAJUD, "12345678910", factories.renajud_body(other))


@pytest.mark.parametrize(
    "odd", [None, True, 7, 1.5, [], {}, [""], {"texto": None}, ["ABC", "1D23"], ["ABC1D23"]]
)
def test_plate_of_odd_type_passes(odd: object) -> None:
    body = json.dumps({"status": "DONE", "result": {"placa": odd}}).encode()
    judged(DECODE, "ABC1D23", body)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"status": "DONE"},
        {"status": "SUCCESS", "result": {}},
        {"status": "DONE", "result": []},
        {"status": "DONE", "result": None},
        {"status": "done", "result": {}},
        {"message": "Saldo insuficiente."},
    ],
)
def test_wrong_outer_format_is_rejected(document: object) -> None:
    with pytest.raises(Unusable):
        judged(DECODE, "ABC1D23", json.dumps(document).encode())


def test_only_a_list_without_records_is_empty() -> None:
    assert judged(RENAINF, "ABC1D23", factories.renainf_body())
    assert not judged(RENAINF, "ABC1D23", factories.renainf_body(factories.fine()))
    assert not judged(DECODE, "ABC1D23", b'{"status": "DONE", "result": {}}')


@pytest.mark.parametrize(
    "result",
    [
        {"resumo": "Texto.", "topicos": {}, "laudoFinal": ""},
        {"topicos": {"leilao": "✅ Nada consta"}},
        {"alertas": ["CONSTA REGISTRO DE ROUBO"]},
        {"alertas": [{"tipo": "ROUBO", "descricao": "BO 123/2024"}]},
        {"parecer": {"texto": "Não adquirir."}},
        {"indicios": {"leilao": True}},
    ],
)
def test_report_with_a_text_in_any_member_reports_something(result: object) -> None:
    body = json.dumps({"status": "DONE", "result": result}).encode()
    assert not check(report_lookup(Plate("ABC1D23"), {}), body, "")


def test_report_with_a_remark_alone_reports_nothing() -> None:
    document = {"status": "DONE", "result": {"placa": "ABC1D23"}, "aviso": "Resposta em branco 7"}
    assert check(report_lookup(Plate("ABC1D23"), {}), json.dumps(document).encode(), "")


def test_fines_without_plate_pass() -> None:
    judged(RENAINF, "ABC1D23", factories.renainf_body(factories.fine()))


@pytest.mark.parametrize(
    "odd",
    [["ZZZ9Z99"], [["ZZZ9Z99"]], {"valor": "zzz-9z99"}, ["ABC1D23", "ZZZ9Z99"], ["ZZZ", "9Z99"]],
    ids=str,
)
def test_other_plate_inside_list_or_object_is_rejected(
    odd: dict[str, str] | list[list[str]] | list[str],
) -> None:
    with pytest.raises(Unusable):
        judged(DECODE, "ABC1D23", factories.encode({"status": "DONE", "result": {"placa": odd}}))


@pytest.mark.parametrize("name", ["Placa", "PLACA", "pLaCa", "plate"])
def test_other_plate_under_another_field_name_is_rejected(name: str) -> None:
    record = {"placa": "ABC1D23", name: "ZZZ9Z99"}
    with pytest.raises(Unusable):
        judged(DECODE, "ABC1D23", factories.encode({"status": "DONE", "result": record}))


def test_other_plate_beside_empty_list_is_rejected() -> None:
    document = {"status": "SUCCESS", "result": [], "placa": "ABC1D23"}
    judged(RENAJUD, "ABC1D23", factories.encode(document))
    with pytest.raises(Unusable):
        judged(RENAJUD, "ABC1D24", factories.encode(document))


@pytest.mark.parametrize("number", [1234567891, 1234567891.0, "1234567891", [1234567891], 0])
def test_renavam_as_number_is_compared_by_its_digits(number: object) -> None:
    body = factories.renajud_body(factories.restriction(placa="", renavam=number))
    judged(RENAJUD, "01234567891", body)


@pytest.mark.parametrize("number", [98765432100, 98765432100.0, [98765432100], {"n": 9876543210}])
def test_other_renavam_as_number_is_rejected(number: object) -> None:
    body = factories.renajud_body(factories.restriction(placa="", renavam=number))
    with pytest.raises(Unusable):
        judged(RENAJUD, "01234567891", body)


NOTICES = [
    {"message": "Base estadual indisponivel"},
    {"mensagem": "Tente mais tarde"},
    {"erro": True},
    {"errors": [{"code": 7}]},
    {"error": {"descricao": "timeout"}},
    {"avisos": ["consulta parcial"]},
    {"errorCode": 503},
    {"success": False},
    {"ok": "nao"},
    {"code": 503},
    {"meta": {"status": 500}},
    {"meta": {"message": "fonte fora do ar"}},
    {"observacao": "base do DETRAN sem retorno"},
    {"info": "tente mais tarde"},
    {"situacao": "INDISPONÍVEL"},
    {"fonte": "Serviço temporariamente indisponível"},
    {"fontes": [{"nome": "RENAINF", "estado": "falha"}]},
]


@pytest.mark.parametrize("notice", NOTICES, ids=str)
@pytest.mark.parametrize(
    ("operation", "result"),
    [
        (RENAINF, []),
        (RENAJUD, []),
        (RENAJUD, [{"constaRenajud": False, "placa": "ABC1D23"}]),
        (DECODE, {}),
    ],
    ids=["renainf", "renajud", "renajud denied", "decode"],
)
def test_notice_beside_empty_result_is_rejected(
    operation: Operation, result: object, notice: dict[str, object]
) -> None:
    document = {"status": operation.status_word, "result": result, **notice}
    with pytest.raises(Unusable):
        judged(operation, "ABC1D23", factories.encode(document))


@pytest.mark.parametrize("notice", NOTICES, ids=str)
def test_notice_beside_a_record_passes(notice: dict[str, object]) -> None:
    for operation, result in (
        (RENAINF, [factories.fine()]),
        (DECODE, factories.decoded("ABC1D23")),
    ):
        document = {"status": operation.status_word, "result": result, **notice}
        judged(operation, "ABC1D23", factories.encode(document))


@pytest.mark.parametrize(
    "member",
    [
        {"message": ""},
        {"message": " \u200b"},
        {"message": None},
        {"erro": False},
        {"erro": "0"},
        {"errors": []},
        {"error": {"code": 0, "text": ""}},
        {"messageId": "6f0c"},
        {"success": True},
        {"success": None},
        {"code": 200, "ok": "sim"},
        {"meta": {"status": "OK", "page": 1, "requestId": "6f0c"}},
        {"fonte": "DETRAN São Paulo", "data": "Sun, 22 Nov 2026 10:00:00 GMT"},
        {"info": {"version": "2.1"}},
        {"total": 0, "consultadoEm": "20/11/2026"},
    ],
    ids=str,
)
def test_harmless_member_beside_empty_list_passes(member: dict[str, object]) -> None:
    document = {"status": "SUCCESS", "result": [], **member}
    judged(RENAINF, "ABC1D23", factories.encode(document))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"<html>",
        b"{}",
        b'{"message": 1}',
        b'{"message": null}',
        b'{"message": ""}',
        b'{"message": " "}',
        b'{"message": "a", "message": "b"}',
        b'{"mensagem": "a"}',
        '{"message": "inv\u00e1lida"}'.encode("latin-1"),
    ],
)
def test_error_without_contract_message_is_rejected(body: bytes) -> None:
    with pytest.raises(Unusable):
        message_body(body)


@pytest.mark.parametrize(
    "text",
    [
        "Serviço indisponível",
        "Erro interno: timeout ao consultar a base",
        "Nenhum registro encontrado. Base em manutenção",
    ],
)
def test_outage_is_no_absence(text: str) -> None:
    """Regression: a 404 with an outage read "the source has no record", and asked no other."""
    body = json.dumps({"message": text}).encode()
    with pytest.raises(Unfit) as raised:
        message_body(body, is_absence=True)
    assert raised.value.may_differ
    assert json.loads(message_body(body)) == {"message": text}


@pytest.mark.parametrize(
    "text",
    [
        "Por favor, informe uma placa válida.",
        "Placa não encontrada",
        "Nenhum registro encontrado",
        "Erro de validação: placa inválida",
        "Rota não encontrada",
        "Erro 404",
    ],
)
def test_absence_is_relayed(text: str) -> None:
    body = json.dumps({"message": text}).encode()
    assert json.loads(message_body(body, is_absence=True)) == {"message": text}


WORKING = [
    {"message": "Consulta em andamento"},
    {"status": "Aguarde"},
    {"status": "SUCCESS", "result": "Em processamento"},
    {"status": "SUCCESS", "mensagem": "Processando"},
    {"status": "DONE", "result": None, "meta": [{"retorno": {"texto": "Resultado pendente"}}]},
]


@pytest.mark.parametrize("document", WORKING, ids=str)
@pytest.mark.parametrize("operation", [RENAINF, DECODE], ids=lambda each: each.name)
def test_answer_yet_to_come_opens_no_circuit(operation: Operation, document: object) -> None:
    """A source at work on five vehicles is no reason to ask it no more for others."""
    with pytest.raises(Unfit) as raised:
        judged(operation, "ABC1D23", json.dumps(document).encode())
    assert raised.value.may_differ


@pytest.mark.parametrize("text", ["Consulta em processamento", "Aguarde.", "Processing"])
def test_answer_yet_to_come_rejects_no_plate(text: str) -> None:
    with pytest.raises(Unfit):
        message_body(factories.message_body(text))


def test_error_is_reduced_to_its_unchanged_message() -> None:
    text = " Placa “inválida” \u200b\n<b> "
    body = factories.encode({"trace": "at=operator", "message": text, "code": 7})
    assert json.loads(message_body(body)) == {"message": text}


def test_error_message_is_bounded_in_length() -> None:
    long = message_body(factories.message_body("é" * 100_000))
    assert json.loads(long) == {"message": "é" * LONGEST_MESSAGE}


def test_list_with_too_many_records_to_show_is_empty_but_valid() -> None:
    """The answer reports nothing that the portal can show, and may be an outage."""
    body = factories.renainf_body(*[{"valor": "1"}] * (MOST_VALUES // 2))
    assert judged(RENAINF, "ABC1D23", body)


# Above MOST_VALUES values the check skips the records, so the smaller body takes more memory.
@pytest.mark.parametrize("size", [250_000, *long(1_000_000)])
@pytest.mark.parametrize(
    ("operation", "item", "start", "end"),
    [
        (RENAINF, b'{"":0}', b"[", b"]"),
        (DECODE, b"[" * 50 + b"]" * 50, b'{"placa":[', b"]}"),
        (DECODE, b'{"":' * 50 + b"0" + b"}" * 50, b'{"a":[', b"]}"),
        *long(
            (RENAINF, b"{}", b"[", b"]"),
            (RENAINF, b'{"a":[]}', b"[", b"]"),
            (RENAINF, b"[]", b"[", b"]"),
            (DECODE, b"{}", b'{"a":[', b"]}"),
            (DECODE, b"[" * 50 + b"]" * 50, b'{"a":[', b"]}"),
        ),
    ],
    ids=['{"":0}', "plates", "deep {}", "{}", '{"a":[]}', "[]", "inner {}", "deep []"],
)
def test_check_takes_24_mib(
    operation: Operation, item: bytes, start: bytes, end: bytes, size: int
) -> None:
    items = b",".join([item] * (size // (len(item) + 1)))
    body = b'{"status":"DONE","result":' + start + items + end + b"}"
    body = body.replace(b"DONE", operation.status_word.encode())
    lookup = Lookup(operation, parse_subject("ABC1D23"))
    tracemalloc.start()
    try:
        refused = refusal(lookup, body)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert refused in (None, (Unfit, "a record is no object"))
    assert peak < 24 * 2**20


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (b'{"placa":"ZZZ9Z99"}', "the record of another vehicle"),
        (
            b'{"mensagem":"Sistema indispon\xc3\xadvel"}',
            "nothing on record, and a failure beside it",
        ),
        *long(
            (b'{"placa":["ZZZ","9Z99"]}', "the record of another vehicle"),
            (b'{"placa":["ZZZ9Z99"%s]}' % (b",0" * 2_000), "the record of another vehicle"),
            (b'{"a":{"b":1,"b":1}}', "not strict JSON"),
            (rb'{"a":["\ud800"]}', "lone surrogate"),
            (b"7", "a record is no object"),
        ),
    ],
)
def test_last_of_many_records_is_checked_like_the_first(last: bytes, reason: str) -> None:
    many = b"{}," * MOST_VALUES
    for body in (b'{"status":"SUCCESS","result":[%s]}' % each for each in (last, many + last)):
        with pytest.raises(Unusable, match=reason):
            judged(RENAINF, "ABC1D23", body)


def test_error_with_too_many_values_is_rejected() -> None:
    values = b",".join([b"{}"] * MOST_VALUES)
    with pytest.raises(Unusable):
        message_body(b'{"message":"Placa","a":[%s]}' % values)
