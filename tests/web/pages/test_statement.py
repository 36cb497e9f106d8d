"""The operator's page that compares a provider's invoice with the ledger."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from portal.access.tokens import OPERATION_SCOPES
from portal.web.pages.statement import LARGEST_FILE
from tests.conftest import PortalFactory
from tests.fakes.answers import path_of
from tests.fakes.in_process import PRICED, InProcessPortal
from tests.web.json_paths import issue
from tests.web.person import Person

PRICES = {name.removeprefix("PORTAL_"): price for name, price in PRICED.items()}


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    found = portal(**PRICES)
    for plate in ("ABC1D23", "LMP0A01", "XYZ1A23"):
        assert found.get(path_of("decode", plate)).status_code == 200
    return found


@pytest.fixture
def operator(here: InProcessPortal) -> Person:
    return Person.at(here).signed_in()


def billed(here: InProcessPortal, shift: timedelta = timedelta()) -> list[str]:
    calls = list(here.parts.ledger.rows())
    return [
        f"{(each.sent_at + shift).isoformat()};Dados;{each.price};{plate}"
        for each, plate in zip(calls, ("ABC1D23", "LMP0A01", "XYZ1A23"), strict=True)
    ]


def sent(operator: Person, content: str | bytes, **fields: str) -> Any:
    file = content.encode() if isinstance(content, str) else content
    parts = {f'name="{name}"': text.encode() for name, text in fields.items()}
    parts['name="arquivo"; filename="fatura.csv"'] = file
    body = b"".join(
        f"--x\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + part + b"\r\n"
        for head, part in parts.items()
    )
    return operator.client.post(
        "/operacao/fatura",
        data=body + b"--x--\r\n",
        content_type="multipart/form-data; boundary=x",
    )


def page(operator: Person, lines: list[str], header: str = "data;servico;valor;placa") -> str:
    response = sent(operator, "\n".join([header, *lines]))
    assert response.status_code == 200, response.get_data(as_text=True)
    return str(response.get_data(as_text=True))


def test_equal_invoice_has_no_difference(here: InProcessPortal, operator: Person) -> None:
    html = page(operator, billed(here))
    assert "Nenhuma diferença" in html
    assert "3 linhas no extrato, 3 no livro-caixa" in html
    assert "relógio" not in html


def test_differences_stand_in_a_table(here: InProcessPortal, operator: Person) -> None:
    first, second, third = billed(here, timedelta(hours=3, seconds=20))
    price = here.parts.gateway.terms["decode"].price
    assert price is not None
    dearer = third.replace(str(price), str(price + Decimal("0.15")))
    html = page(operator, [first, first, dearer])
    for words in (
        "3 diferenças",
        "Cobrada duas vezes: <strong>1</strong>",
        "Cobrada por outro preço: <strong>1</strong>",
        "No livro-caixa, e não cobrada: <strong>1</strong>",
        "O relógio do fornecedor está adiantado 3 h",
    ):
        assert words in html, html[html.find("resultado") :][:3000]
    assert second.split(";")[3] not in html  # no plate


@pytest.mark.parametrize(
    ("content", "fields", "why"),
    [
        (b"", {}, "Escolha o arquivo CSV da fatura."),
        ("a;b\n1;2\n", {}, "O cabeçalho não diz qual coluna é: hora, operação, preço."),
        ("a;b\n1;2\n", {"time": "Quando"}, "O cabeçalho não tem a coluna “Quando”."),
        ("data;servico;valor\n", {}, "O arquivo não tem linhas além do cabeçalho."),
        ("data;servico;valor\n<b>;dados;1\n", {}, "Linha 2: “&lt;b&gt;” não serve como hora."),
        (b"\x00\xff\n\x00", {}, "O cabeçalho não diz qual coluna é"),
    ],
)
def test_unreadable_file_says_why(
    operator: Person, content: str | bytes, fields: dict[str, str], why: str
) -> None:
    response = sent(operator, content, **fields)
    assert response.status_code == 400
    assert why in response.get_data(as_text=True)


def test_too_large_file_says_so(operator: Person) -> None:
    response = sent(operator, b"a" * (LARGEST_FILE + 1))
    assert response.status_code == 413
    assert "passa de 2 MiB" in response.get_data(as_text=True)


def test_invoice_is_for_operators_alone(here: InProcessPortal) -> None:
    visitor = Person.at(here)
    assert visitor.client.get("/operacao/fatura").status_code == 303
    assert sent(visitor, "a").status_code == 303
    buyer = Person.at(here).signed_in(issue(here, "ana", OPERATION_SCOPES))
    assert buyer.client.get("/operacao/fatura").status_code == 403
    assert sent(buyer, "a").status_code == 403
