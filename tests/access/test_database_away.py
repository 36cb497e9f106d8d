"""With the database of tokens away nobody is let in by mistake, and pages still come."""

import sqlite3

import pytest

from portal.access import tokens as tokens_room
from tests.conftest import PortalFactory
from tests.web.page_client import PageClient

PLATE = "ABC1D23"


def test_a_lost_database_is_503_for_vehicles_and_nothing_at_all_for_open_pages(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = portal()
    issued = built.app.test_cli_runner().invoke(args=["token", "issue", "ana"])
    token = issued.output.split()[-1]
    pages = PageClient(built.client)
    form = pages.get("/entrar")
    pages.post("/entrar", data={"token": token, "csrf_token": form.csrf_token()})
    assert built.client.get(f"/placa/{PLATE}").status_code == 200

    with sqlite3.connect(built.settings.data_dir / "portal.sqlite") as database:
        database.execute("DROP TABLE tokens")
    database.close()
    monkeypatch.setattr(tokens_room, "REMEMBERED_S", 0.0)
    for path in ("/", "/glossario"):
        pages.get(path)
    pages.get("/nada", 404)
    lookup = built.get(f"/detran/v1/decode/{PLATE}", token=token)
    assert lookup.status_code == 503 and "message" in lookup.json
    assert lookup.headers["Retry-After"]
    page = pages.get(f"/placa/{PLATE}", 503)
    assert "Indisponível no momento" in page.text


def test_a_history_that_cannot_be_read_costs_no_page(portal: PortalFactory) -> None:
    built = portal({})
    pages = PageClient(built.client)
    with sqlite3.connect(built.settings.data_dir / "portal.sqlite") as database:
        database.execute("DROP TABLE history")
    database.close()
    pages.get(f"/placa/{PLATE}")
    pages.get("/")
    pages.get("/buscar?q=x", 400)


def test_what_is_kept_is_readable_by_its_owner_alone(portal: PortalFactory) -> None:
    built = portal({})
    built.client.get(f"/placa/{PLATE}?completo=1")
    kept = [path for path in built.settings.data_dir.iterdir() if path.is_file()]
    assert {"cache.sqlite", "portal.sqlite", "secret_key"} <= {path.name for path in kept}
    for path in kept:
        assert path.stat().st_mode & 0o077 == 0, path.name
