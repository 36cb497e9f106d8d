"""Panels with records link to their exports, and each linked export has records."""

import csv
import io
from typing import Any

import pytest

from portal.sandbox.example_plates import EXAMPLE_PLATES
from tests.conftest import PortalFactory
from tests.web.page_client import Page, PageClient


@pytest.fixture
def anyone(portal: PortalFactory) -> PageClient:
    return PageClient(portal({}).client)


def links(page: Page) -> dict[str, str]:
    """Return the accessible names of the links to exports, by path."""
    return {
        str(link.get("href")): " ".join("".join(link.itertext()).split())
        for link in page.all("a", download="")
    }


def test_exports_are_linked_by_clear_names(anyone: PageClient) -> None:
    found = links(anyone.get("/placa/ABC1D23?completo=1"))
    path = "/api/v1/vehicles/ABC1D23"
    assert found == {
        f"{path}/prices.csv": "CSV dos preços FIPE",
        f"{path}/prices.jsonl": "JSON Lines dos preços FIPE",
        f"{path}/fines.csv": "CSV das multas",
        f"{path}/fines.jsonl": "JSON Lines das multas",
        f"{path}/restrictions.csv": "CSV das restrições judiciais",
        f"{path}/restrictions.jsonl": "JSON Lines das restrições judiciais",
    }
    assert anyone.get("/placa/ABC1D23").all("a", href=path)


def test_every_linked_export_has_records(anyone: PageClient) -> None:
    for example in EXAMPLE_PLATES:
        for address in links(anyone.get(f"/placa/{example.plate}?completo=1")):
            response = anyone.client.get(address)
            assert response.status_code == 200, address
            text = response.get_data(as_text=True)
            rows: list[Any] = text.splitlines()
            if address.endswith(".csv"):
                rows = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff")), delimiter=";"))
            assert rows, address


def test_panels_without_records_have_no_export(anyone: PageClient) -> None:
    assert list(links(anyone.get("/placa/LMP0A01?completo=1"))) == [
        f"/api/v1/vehicles/LMP0A01/prices.{ending}" for ending in ("csv", "jsonl")
    ]
    assert links(anyone.get("/placa/FOR0A02?completo=1")) == {}
    assert links(anyone.get("/renavam/79831854647")) == {}
