"""A denial confirms only the records that were asked for: of this vehicle, in every state."""

import pytest

from portal.vehicle.content import Contents
from portal.vehicle.denials import Asked
from portal.vehicle.doubts import doubt_of
from portal.vehicle.operation_name import LookupName
from portal.vehicle.plate import Plate, Renavam, parse_subject
from tests.factories import restriction

ASKED = "ABC1D23"
OF_ANYTHING = (
    "Nada consta",
    "Nenhum registro encontrado",
    "Nenhum registro encontrado para a placa ABC1D23",
    "Nenhum registro encontrado para a placa ABC-1D23.",
    "Placa ABC 1D23: nada consta",
    "Nenhum registro para o veículo ABC1323",  # the same plate in the other format
    "abc1d23 - nenhum registro localizado",
    "Nenhuma ocorrência em nenhum estado",
    "Nada consta na base nacional",
    "Nenhum registro em nenhum Detran",
    "Nenhuma multa nem restrição encontrada",
    "Multas: 0; restrições: 0",
    "Se encontra sem pendências",
    "Nenhuma restrição",
    "Sem restrições",
    "No restrictions found",
    "Não há registros a exibir",
    "Nada a exibir",
    "Nada consta na Base de Índice Nacional (BIN)",
    "Quantidade de registros: 0",
)
OF_FINES = (
    "Não há multas",
    "Nenhuma multa RENAINF para a placa ABC1D23",
    "Não foram localizados débitos",
    "Sem infrações de trânsito",
    "Nada consta no RENAINF",
    "Multas: nada consta",
    "Nenhuma multa interestadual, em nenhum Detran",
    "No fines found",
    "Quantidade de multas: 0",
    "Não há multas pendentes de pagamento",
)
OF_ORDERS = (
    "Nenhuma restrição judicial para a placa ABC1D23",
    "Nada consta no RENAJUD",
    "Não constam ordens judiciais ativas",
    "Veículo sem bloqueios",
    "Restrição judicial: nada consta",
    "Sem restrições judiciais ou administrativas",
    "RENAJUD: não possui",
)
OF_NEITHER = (
    "Nenhum registro encontrado para a placa ZZZ9Z99",
    "Placa ZZZ-9Z99: nada consta",
    "ZZZ9999: nenhuma multa, nenhuma restrição",
    "Nada consta em SP",
    "SP: nada consta",
    "Nenhum registro em SP e RJ",
    "Nenhum registro no Pará",
    "Nada consta no DETRAN/SP",
    "Nada consta no Detran",
    "Sem registros na base estadual",
    "UF SE: nenhum registro",
    "Nenhuma multa em SP",
    "Sem débitos no DETRAN/SP",
    "Nenhuma restrição no DETRAN-MG",
    "Sem gravames",
    "Nenhum gravame encontrado",
    "Nenhuma restrição administrativa",
    "Sem restrição de roubo ou furto",
    "Nenhuma restrição financeira",
    "Nenhum roubo ou furto",
    "Sem restrições na Justiça Federal",
    "Sem comunicação de venda",
)


def confirms(name: LookupName, text: str, *, uf: str | None = None, asked: str = ASKED) -> bool:
    """Return whether an empty list beside a text, and the text in place of it, are clean."""
    question = Asked(name, parse_subject(asked), uf)
    doubts = set()
    for result, beside in (([], {"mensagem": text}), ([], {"retorno": [{"message": text}]})):
        doubts.add(doubt_of(Contents.of(result), {"result": result, **beside}, question) is None)
    if name == "renainf":  # in place of a record
        element = {"mensagemRetorno": text, "codigoRetorno": 0}
        doubts.add(doubt_of(Contents.of([element]), {"result": [element]}, question) is None)
    (found,) = doubts
    return found


@pytest.mark.parametrize("text", OF_ANYTHING)
def test_denial_of_any_record_confirms_each_lookup(text: str) -> None:
    assert (confirms("renainf", text), confirms("renajud", text)) == (True, True)


@pytest.mark.parametrize("text", OF_FINES)
def test_denial_of_fines_confirms_no_more(text: str) -> None:
    assert (confirms("renainf", text), confirms("renajud", text)) == (True, False)


@pytest.mark.parametrize("text", OF_ORDERS)
def test_denial_of_orders_confirms_no_more(text: str) -> None:
    assert (confirms("renainf", text), confirms("renajud", text)) == (False, True)


@pytest.mark.parametrize("text", OF_NEITHER)
def test_denial_of_another_vehicle_place_or_thing_confirms_nothing(text: str) -> None:
    assert (confirms("renainf", text), confirms("renajud", text)) == (False, False)


@pytest.mark.parametrize(
    ("text", "is_confirmed"),
    [
        ("Nenhuma outra restrição", False),
        ("Não há mais restrições", False),
        ("Não foram encontradas novas restrições", False),
        ("Nenhuma restrição ou outro registro", True),
    ],
)
def test_denial_of_more_confirms_no_empty_list(text: str, is_confirmed: bool) -> None:
    question = Asked("renajud", Plate(ASKED))
    assert (
        doubt_of(Contents.of([]), {"result": [], "mensagem": text}, question) is None
    ) is is_confirmed
    listed = [restriction(), {"mensagem": text}]  # the order before it is all there is
    assert doubt_of(Contents.of(listed), {"result": listed}, question) is None


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("Nenhuma multa em SP", {"SP"}),
        ("Nenhuma multa em SE", {"SE"}),  # also a word, and found by the word before it
        ("DETRAN SE: nada consta", {"SE"}),
        ("Nenhuma multa em SP e RJ", set()),
        ("Nenhuma multa em nenhum estado", {"SP", "SE", "RJ"}),
    ],
)
def test_lookup_in_one_state_is_confirmed_by_a_denial_of_this_state(
    text: str, states: set[str]
) -> None:
    assert {uf for uf in ("SP", "SE", "RJ") if confirms("renainf", text, uf=uf)} == states


def test_renavam_that_was_asked_for_confirms_and_another_does_not() -> None:
    asked = "79831854647"
    assert isinstance(parse_subject(asked), Renavam)
    assert confirms("renainf", f"Nenhuma multa para o Renavam {asked}", asked=asked)
    assert not confirms("renainf", "Nenhuma multa para o Renavam 86769597308", asked=asked)


@pytest.mark.parametrize("name", ["detalheRenajud", "restricoes", "tipoBloqueio"])
@pytest.mark.parametrize("text", ["Não há multas", "VEICULO ZZZ9Z99 SEM RESTRICAO"])
def test_order_that_denies_something_else_is_no_confirmation(name: str, text: str) -> None:
    question = Asked("renajud", Plate(ASKED))
    blank = dict.fromkeys(restriction(), "")
    element = {**blank, "constaRenajud": False, name: text}
    found = doubt_of(Contents.of([element]), {"result": [element]}, question)
    assert found is not None
    assert found.kind == "unknown"
    own = element | {name: f"VEICULO {ASKED} SEM RESTRICAO"}
    assert doubt_of(Contents.of([own]), {"result": [own]}, question) is None


@pytest.mark.parametrize(
    ("name", "members", "is_confirmed"),
    [
        ("renajud", {"qtdMultas": 0}, False),
        ("renajud", {"multas": "Nada consta"}, False),
        ("renainf", {"possuiRestricao": False}, True),
        ("renainf", {"qtdMultas": 0}, True),
        ("renainf", {"multas": "Nada consta"}, True),
    ],
)
def test_name_of_another_thing_confirms_nothing_in_place_of_a_record(
    name: LookupName, members: dict[str, object], is_confirmed: bool
) -> None:
    question = Asked(name, Plate(ASKED))
    assert (
        doubt_of(Contents.of([members]), {"result": [members]}, question) is None
    ) is is_confirmed
    # Beside an empty list it denies nothing, and casts no doubt.
    assert doubt_of(Contents.of([]), {"result": [], **members}, question) is None
