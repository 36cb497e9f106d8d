"""Icons, the web app manifest and the cards of shared links."""

import json
import re
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from tests.conftest import PortalFactory
from tests.fakes.in_process import InProcessPortal
from tests.quality.icons import CARD, FAVICON_SIZES, ICONS, mark
from tests.web.page_client import Page, PageClient

FOLDER = Path(__file__).parents[3] / "static" / "icons"


@pytest.fixture
def portal_of_today(portal: PortalFactory) -> InProcessPortal:
    return portal()


def size_of(picture: bytes) -> tuple[int, int]:
    return Image.open(BytesIO(picture)).size


def card_of(page: Page) -> dict[str, str]:
    return {
        str(meta.get("property")): str(meta.get("content"))
        for meta in page.all("meta")
        if str(meta.get("property")).startswith("og:")
    }


def test_favicon_has_every_size(portal_of_today: InProcessPortal) -> None:
    response = portal_of_today.client.get("/favicon.ico")
    assert response.status_code == 200
    assert response.content_type == "image/x-icon"
    assert response.headers["Cache-Control"] == "public, max-age=86400"
    picture: object = Image.open(BytesIO(response.data))
    assert picture.ico.sizes() == {(size, size) for size in FAVICON_SIZES}  # type: ignore[attr-defined]


def test_manifest_names_icons_that_exist_in_their_sizes(portal_of_today: InProcessPortal) -> None:
    client = portal_of_today.client
    response = client.get("/manifest.webmanifest")
    assert response.status_code == 200
    assert response.content_type == "application/manifest+json"
    manifest = json.loads(response.data)
    assert {"name", "short_name", "start_url", "theme_color", "background_color"} <= set(manifest)
    assert manifest["lang"] == "pt-BR"
    assert manifest["display"] == "minimal-ui"
    assert {icon.get("purpose") for icon in manifest["icons"]} >= {"any", "maskable"}
    for icon in manifest["icons"]:
        found = client.get(icon["src"])
        assert found.status_code == 200 and found.content_type == icon["type"], icon
        if icon["type"] == "image/png":
            width, height = size_of(found.data)
            assert icon["sizes"] == f"{width}x{height}"
    for shortcut in manifest["shortcuts"]:
        assert client.get(shortcut["url"]).status_code != 404, shortcut


def test_icon_files_have_their_sizes() -> None:
    for name, (size, _) in ICONS.items():
        assert size_of((FOLDER / f"{name}.png").read_bytes()) == (size, size), name
    assert size_of((FOLDER / "card.png").read_bytes()) == CARD


def test_tab_icon_is_drawn_from_the_current_glyphs() -> None:
    assert (FOLDER / "mark.svg").read_text("utf-8") == mark()


def test_page_links_icons_manifest_and_card(portal_of_today: InProcessPortal) -> None:
    page = PageClient(portal_of_today.client).get("/glossario")
    for rel in ("icon", "apple-touch-icon", "manifest"):
        address = str(page.all("link", rel=rel)[0].get("href"))
        assert portal_of_today.client.get(address).status_code == 200, rel
    card = card_of(page)
    assert re.fullmatch(r"http://localhost/static/icons/card\.[0-9a-f]{8}\.png", card["og:image"])
    assert portal_of_today.client.get(card["og:image"]).status_code == 200
    assert card["og:title"] == page.title.partition(" – ")[0]
    assert card["og:url"] == "http://localhost/glossario"


def test_card_address_has_the_host_that_a_trusted_proxy_names(portal: PortalFactory) -> None:
    client = portal(TRUSTED_PROXIES="1").client
    forwarded = {"X-Forwarded-Host": "dossie.example", "X-Forwarded-Proto": "https"}
    card = card_of(PageClient(client).get("/", headers=forwarded))
    assert card["og:image"].startswith("https://dossie.example/static/")


def test_card_of_a_vehicle_names_no_vehicle(buyer: PageClient) -> None:
    for path in ("/placa/ABC1D23", "/placa/ABC1D23/negociacao", "/comparar?placas=ABC1D23"):
        card = card_of(buyer.get(path))
        assert card["og:title"] == "Dossiê Veicular"
        assert "og:url" not in card
        assert not [value for value in card.values() if "1D23" in value]
