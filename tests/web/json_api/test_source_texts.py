"""A text beside an empty list: clean, an outage, or not confirmed. Odd answers open no circuit."""

import pytest

from tests import factories
from tests.conftest import PortalFactory
from tests.factories import encode
from tests.fakes import FaultUpstream, faults, odd_bodies
from tests.fakes.answers import Operation, path_of
from tests.fakes.in_process import managed, pass_through
from tests.fakes.wire import Fault
from tests.web.json_paths import INVALID_PLATE, PLATE, expect_message
from tests.web.signed_in import visitor

RENAINF, RENAJUD = path_of("renainf", PLATE), path_of("renajud", PLATE)
PAGE = f"/placa/{PLATE}?completo=1"
EXPLAINED = f"/api/v1/vehicles/{PLATE}"
WORDS = "Veja o edital <b>7</b>"


def empty(text: str | None = None, **members: object) -> Fault:
    """An empty list with ``text`` beside it."""
    document = {"status": "SUCCESS", "result": [], **members}
    return faults.answer("empty", encode(document | ({"message": text} if text else {})))


@pytest.mark.parametrize(
    "text", ["Consulta processada com sucesso.", "Nenhum registro encontrado", "Sem restrições"]
)
def test_success_text_is_a_clean_answer(
    portal: PortalFactory, upstream: FaultUpstream, secondary: FaultUpstream, text: str
) -> None:
    for path in (RENAINF, RENAJUD):
        upstream.script(path, empty(text))
    here = portal(managed(upstream.url, secondary.url))
    assert here.get(RENAINF).get_json()["message"] == text
    verdict = here.get(EXPLAINED).get_json()["verdict"]
    assert (verdict["level"], verdict["missing"]) == ("clear", [])
    assert upstream.count() == 3
    assert secondary.count() == 0


def test_failure_text_is_an_outage_and_fails_over(
    portal: PortalFactory, upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    upstream.script(RENAINF, empty("Limite de consultas atingido"))
    here = portal(managed(upstream.url, secondary.url))
    assert here.get(RENAINF).data == factories.renainf_body(factories.fine())
    assert (upstream.count(), secondary.count()) == (1, 1)


def test_unknown_text_is_relayed_and_confirms_nothing(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    for path in (RENAINF, RENAJUD):
        upstream.script(path, empty(WORDS))
    here = portal()
    relayed = here.get(RENAINF)
    assert relayed.get_json() == {"status": "SUCCESS", "result": [], "message": WORDS}
    ttl_s = int(here.get(RENAINF).headers["Cache-Status"].partition("ttl=")[2])
    assert ttl_s <= 21_600 / 4  # as for any empty list
    said = here.get(EXPLAINED).get_json()
    assert said["verdict"]["level"] == "incomplete"
    assert set(said["verdict"]["missing"]) == {"fines", "restrictions"}
    assert said["fines"] is None
    lookup = said["lookups"]["renainf"]
    assert (lookup["state"], lookup["cause"]) == ("unavailable", "unconfirmed")
    assert WORDS in lookup["reason"]
    assert lookup["fetched_at"]
    expect_message(here.get(f"{EXPLAINED}/fines.csv"), 502)
    person = visitor(here)
    for page in (person.get(PAGE), person.get(f"/placa/{PLATE}/dossie")):
        assert "não confirmado" in page.text
        assert WORDS in page.text  # as text, not as HTML
        assert "Nenhuma multa" not in page.text
    assert person.get(PAGE).by_id("multas").get("data-panel") == "unavailable"
    assert upstream.count() == 3


def test_unknown_text_is_no_change_since_the_last_answer(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    no_cache = {"Cache-Control": "no-cache"}
    assert here.get(RENAINF).status_code == 200
    upstream.script(RENAINF, empty(WORDS))
    assert here.get(RENAINF, headers=no_cache).get_json()["result"] == []
    upstream.clear()
    assert here.get(RENAINF, headers=no_cache).get_json()["result"]
    assert "O que mudou" not in visitor(here).get(PAGE).text


def test_text_in_place_of_a_record_is_no_record(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    for text, level in (("Nada consta", "clear"), (WORDS, "incomplete")):
        for path in (RENAINF, RENAJUD):
            upstream.script(path, empty(result=[{"mensagem": text}]))
        said = here.get(EXPLAINED, headers={"Cache-Control": "no-cache"}).get_json()
        assert said["verdict"]["level"] == level
    other = path_of("renainf", "ABC1D24")
    upstream.script(other, empty(result=[{"erro": "Base indisponível"}]))
    expect_message(here.get(other), 502)


ODD = {
    "failure text": (empty("Base indisponível"), 2),
    "result null": (odd_bodies.result_null(), 1),
    "result missing": (odd_bodies.result_missing(), 1),
    "result as text": (odd_bodies.result_as_text(), 1),
    "result of a wrong type": (odd_bodies.result_of_wrong_type(), 1),
    "elements not objects": (odd_bodies.elements_not_objects(), 1),
    "another plate": (odd_bodies.other_plate(), 2),
}


@pytest.mark.parametrize("settings", [managed, pass_through])
@pytest.mark.parametrize("name", ODD)
def test_well_formed_answer_opens_no_circuit(
    portal: PortalFactory,
    upstream: FaultUpstream,
    secondary: FaultUpstream,
    name: str,
    settings: object,
) -> None:
    fault, calls = ODD[name]
    operation: Operation = "renajud" if name == "another plate" else "renainf"
    for each in (upstream, secondary):
        each.default(fault)
    assert callable(settings)
    here = portal(settings(upstream.url, secondary.url))
    for number in range(8):
        expect_message(here.get(path_of(operation, f"ABC1D{number:02}")), 502)
    assert upstream.count() + secondary.count() == 8 * calls
    upstream.clear()
    upstream.default(faults.good())
    assert here.get(path_of(operation, PLATE)).status_code == 200


def test_words_of_a_400_are_shown(portal: PortalFactory, upstream: FaultUpstream) -> None:
    words = "Placa <i>baixada</i>\u202e em 2019."
    upstream.script(RENAINF, faults.status(400, words))
    upstream.script(RENAJUD, faults.status(400))
    here = portal()
    expect_message(here.get(RENAINF), 400, words)
    person = visitor(here)
    for page in (person.get(PAGE), person.get(f"/placa/{PLATE}/dossie")):
        assert "não aceitou esta placa: “Placa <i>baixada</i> em 2019.”" in page.text
        assert INVALID_PLATE not in page.text  # the contract's own words add nothing
    reason = here.get(EXPLAINED).get_json()["lookups"]["renainf"]["reason"]
    assert "“Placa <i>baixada</i> em 2019.”" in reason
