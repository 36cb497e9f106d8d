"""The words of a court order agree with its title in gender."""

from datetime import UTC, datetime

import pytest

from portal.law.findings import CourtOrders
from portal.law.orders import AssessedOrder
from portal.phrasebook.findings import clause, included_on
from portal.phrasebook.orders import title
from tests.law.records import TODAY, restriction

INCLUDED = datetime(2025, 10, 23, 11, 13, tzinfo=UTC)
# What an order forbids, as sent, and what names it. Each kind of the register is here once.
ORDERS = [
    ("TRANSFERENCIA", "Restrição judicial de transferência (incluída em 23/10/2025)"),
    ("LICENCIAMENTO", "Restrição judicial de licenciamento (incluída em 23/10/2025)"),
    ("CIRCULACAO", "Restrição judicial de circulação (incluída em 23/10/2025)"),
    ("PENHORA", "Penhora registrada (incluída em 23/10/2025)"),
    ("BUSCA E APREENSAO", "Busca e apreensão (incluída em 23/10/2025)"),
    ("ARRESTO", "Arresto (incluído em 23/10/2025)"),
    ("SEQUESTRO", "Sequestro (incluído em 23/10/2025)"),
    ("INDISPONIBILIDADE", "Indisponibilidade (incluída em 23/10/2025)"),
    ("AVERBACAO PREMONITORIA", "Averbação premonitória (incluída em 23/10/2025)"),
    ("PERDIMENTO", "Perdimento (incluído em 23/10/2025)"),
    ("ADJUDICACAO", "Adjudicação (incluída em 23/10/2025)"),
    ("ARREMATACAO", "Arrematação (incluída em 23/10/2025)"),
    ("LEILAO JUDICIAL", "Leilão judicial (incluído em 23/10/2025)"),
    ("REINTEGRACAO DE POSSE", "Reintegração de posse (incluída em 23/10/2025)"),
    ("VEICULO APREENDIDO", "Veículo apreendido (incluído em 23/10/2025)"),
    ("ALIENACAO FIDUCIARIA", "Alienação fiduciária (incluída em 23/10/2025)"),
    ("BLOQUEIO DETRAN", "Bloqueio administrativo (incluído em 23/10/2025)"),
    ("ARRESTO, PENHORA", "Restrição judicial de penhora e arresto (incluída em 23/10/2025)"),
    ("XYZ", "Restrição judicial “XYZ” (incluída em 23/10/2025)"),
]


@pytest.mark.parametrize(("kinds", "words"), ORDERS)
def test_order_is_named_in_its_gender(kinds: str, words: str) -> None:
    order = AssessedOrder(restriction(kinds, included_at=INCLUDED), TODAY)
    assert clause(CourtOrders((order,))) == words


def test_record_without_restriction_is_named_in_its_gender() -> None:
    order = AssessedOrder(restriction(recorded=False, included_at=INCLUDED), TODAY)
    assert (title(order), included_on(order)) == (
        "Registro sem restrição em vigor",
        "incluído em 23/10/2025",
    )
