"""What a vehicle's page says of records whose meaning the law decides, in the words of the page."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.factories import decode_body, fine, payment, renainf_body, renajud_body, restriction
from tests.presentation.rendering import PLATE, panels
from tests.presentation.test_every_field import shown_on

# A penalty long due, a notice of this autumn, and neither.
DUE = {"dataInfracao": "10/03/2026", "dataEmissaoNotificacao": "25/03/2026"}
DUE |= {"dataCadastroInfracao": "12/03/2026", "dataEmissaoPenalidade": "10/06/2026"}
RECENT = DUE | {"dataEmissaoPenalidade": "10/11/2026"}
NOTICE = DUE | {"dataInfracao": "12/10/2026", "dataEmissaoNotificacao": "20/10/2026"}
NOTICE |= {"dataCadastroInfracao": "12/10/2026", "dataEmissaoPenalidade": ""}


def of_fines(*each: Mapping[str, Any]) -> str:
    return shown_on("page", panels(renainf=renainf_body(*[fine(**one) for one in each])))


@pytest.mark.parametrize(
    ("fines", "said", "never"),
    [
        pytest.param([RECENT], "a lei manda todo órgão dar os 40% (§ 6º)", "", id="40 % anywhere"),
        pytest.param(
            [NOTICE | {"codigoInfracao": "5002", "valor": "260"}],
            "é só autuação",
            "dispensa a notificação",
            id="company without a named driver is notified",
        ),
        pytest.param(
            [NOTICE | {"codigoInfracao": "5002", "valor": "260"}],
            "R$ 260,32",
            "R$ 260,00",
            id="twice a fine whose cents were cut",
        ),
        pytest.param(
            [DUE | {"dataEmissaoPenalidade": "21/10/2026"}],
            "ao menos até 23/11/2026",
            "mais desconto",
            id="last day on a holiday before a weekend",
        ),
        pytest.param(
            [RECENT | {"valor": "104"}],
            "o cheio é R$ 130,16",
            "R$ 83,20",
            id="discounted amount is not discounted again",
        ),
        pytest.param(
            [DUE | {"tipo": "INSUBSISTENTE"}],
            "dada como cancelada",
            "Multa exigível",
            id="void record",
        ),
        pytest.param(
            [DUE | {"tipo": "LIMINAR"}], "não sabe o que a fonte quer dizer", "", id="unread word"
        ),
        pytest.param(
            [NOTICE | {"tipo": "PROTESTADA"}],
            "pode supor uma penalidade",
            "não impede nada",
            id="word that implies a penalty",
        ),
        pytest.param(
            [DUE | {"tipo": "CANCELADA"}],
            "Não é contada como dívida",
            "Há multa em aberto",
            id="cancelled fine is no debt",
        ),
        pytest.param(
            [NOTICE | {"autoInfracao": "T1"}, DUE | {"autoInfracao": "T1"}],
            "O mesmo auto de infração em 2 registros",
            "",
            id="notice and penalty of one infraction",
        ),
        pytest.param(
            [
                DUE | {"autoInfracao": "T1"},
                DUE
                | {
                    "autoInfracao": "T1",
                    "pagamento": payment(dataPagamento="05/07/2026", valorPago="130"),
                },
            ],
            "consta pago e também em aberto",
            "",
            id="one notice, paid and open",
        ),
        pytest.param([RECENT], "podem vir a contar", "", id="points only without appeal"),
        pytest.param(
            [DUE | {"dataEmissaoNotificacao": ""}],
            "Súmulas 127 e 312 do STJ",
            "",
            id="fine never notified",
        ),
        pytest.param(
            [DUE | {"dataEmissaoPenalidade": "04/04/2026"}],
            "em princípio, é nula",
            "dos 180 dias",
            id="penalty within the defence",
        ),
        pytest.param(
            [
                DUE
                | {
                    "dataInfracao": "10/03/2015",
                    "dataEmissaoNotificacao": "25/03/2015",
                    "dataCadastroInfracao": "12/03/2015",
                    "dataEmissaoPenalidade": "10/06/2015",
                    "valor": "85",
                }
            ],
            "pode ter prescrito",
            "",
            id="lapse is told in the reason",
        ),
        pytest.param(
            [DUE | {"codigoInfracao": "7730", "valor": "195"}],
            "A tarifa é outra dívida",
            "",
            id="free flow",
        ),
        pytest.param(
            [DUE],
            "Juros só correm depois do último recurso (art. 284, § 4º, do CTB)",
            "há juros",
            id="interest after the last appeal",
        ),
        pytest.param(
            [DUE],
            "Com multa exigível em aberto",
            "Multas exigíveis",
            id="one fine is not several",
        ),
        pytest.param(
            [NOTICE], "por escrito (art. 267 do CTB)", "", id="warning in place of a fine"
        ),
    ],
)
def test_page_says_what_the_law_says_of_a_fine(
    fines: list[dict[str, Any]], said: str, never: str
) -> None:
    text = of_fines(*fines).replace("\u00a0", " ")
    assert said in text
    assert not never or never not in text


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("BUSCA E APREENSAO", "Busca e apreensão"),
        ("ARRESTO", "Arresto"),
        ("SEQUESTRO", "Sequestro"),
        ("INDISPONIBILIDADE", "Indisponibilidade"),
        ("AVERBACAO PREMONITORIA", "a venda depois dela se presume fraude"),
    ],
)
def test_page_names_an_order_by_its_own_name(words: str, title: str) -> None:
    text = shown_on("page", panels(renajud=renajud_body(restriction(restricoes=words))))
    assert title in text
    assert "não foi informado ou reconhecido" not in text


@pytest.mark.parametrize("fuel", ["GASOLINA/ALCOOL/GNV", "Gasolina / Álcool / GNV"])
def test_page_spells_gas_as_the_document_does(fuel: str) -> None:
    text = shown_on("page", panels(decode=decode_body(str(PLATE), combustivel=fuel)))
    assert "GNV" in text and not re.search(r"\b[Gg]nv\b", text)
