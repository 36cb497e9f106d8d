"""Only the frame is judged: what was paid for and answers the question passes."""

import json

import pytest

from portal.gateway import DECODE, RENAINF, RENAJUD, Lookup
from portal.gateway.validity import NoAnswer, check, is_empty, is_message
from portal.vehicle import parse_subject
from tests import factories

MARKER = factories.HIDDEN


def judged(operation, subject: str, body: bytes):
    return check(Lookup(operation, parse_subject(subject)), body, MARKER)


@pytest.mark.parametrize("named", ["ABC1D23", "abc1d23", "ABC-1D23", "ABC1323", "", "  ", MARKER])
def test_the_plate_asked_for_in_any_spelling_blank_or_hidden_passes(named):
    judged(DECODE, "ABC1D23", factories.decode_body(named))


@pytest.mark.parametrize(
    "named", ["N/A", "-", "informação ocultada", f" {MARKER.lower()} ", "NADA CONSTA", "\u200b"]
)
def test_a_text_that_is_no_plate_was_paid_for_and_passes(named):
    judged(DECODE, "ABC1D23", factories.decode_body(named))


@pytest.mark.parametrize("named", ["ABC1D24", "ZZZ9Z99", "zzz 9z99", "PLACA ZZZ9Z99"])
def test_another_plates_record_is_no_answer(named):
    with pytest.raises(NoAnswer):
        judged(DECODE, "ABC1D23", factories.decode_body(named))


def test_one_foreign_record_among_many_spoils_the_answer():
    mine, other = factories.restriction(placa="ABC1D23"), factories.restriction(placa="ZZZ9Z99")
    judged(RENAJUD, "ABC1D23", factories.renajud_body(mine, mine))
    with pytest.raises(NoAnswer):
        judged(RENAJUD, "ABC1D23", factories.renajud_body(mine, other))


def test_a_renavam_is_compared_with_a_renavam():
    named = factories.restriction(renavam="12345678910", placa="ZZZ9Z99")
    judged(RENAJUD, "12345678910", factories.renajud_body(named))
    with pytest.raises(NoAnswer):
        other = factories.restriction(renavam="00000000001")
        judged(RENAJUD, "12345678910", factories.renajud_body(other))


@pytest.mark.parametrize("odd", [None, 7, ["ABC1D23"], {}])
def test_a_plate_of_an_odd_type_was_paid_for_and_passes(odd):
    body = json.dumps({"status": "DONE", "result": {"placa": odd}}).encode()
    assert judged(DECODE, "ABC1D23", body) == {"placa": odd}


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
def test_a_wrong_frame_is_no_answer(document):
    with pytest.raises(NoAnswer):
        judged(DECODE, "ABC1D23", json.dumps(document).encode())


def test_empty_means_an_empty_list_and_nothing_else():
    assert is_empty(factories.renainf_body())
    assert not is_empty(factories.renainf_body(factories.fine()))
    assert not is_empty(b'{"status": "DONE", "result": {}}')


def test_fines_name_no_plate_and_pass():
    judged(RENAINF, "ABC1D23", factories.renainf_body(factories.fine()))


@pytest.mark.parametrize(
    ("body", "sound"),
    [(b'{"message": "a"}', True), (b'{"message": 1}', False), (b"[]", False), (b"<html>", False)],
)
def test_the_contracts_message_is_known(body, sound):
    assert is_message(body) == sound
