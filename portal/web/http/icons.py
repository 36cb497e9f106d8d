"""The files that browsers request at fixed URLs: the icon and the web app manifest."""

import json
from collections.abc import Callable
from typing import Any, Final

from flask import Blueprint, Response

from portal.web.http.assets import Assets

# A changed icon or manifest keeps its URL, so a browser may cache these files for only a day.
_CACHE_CONTROL: Final = "public, max-age=86400"


def web_manifest(asset: Callable[[str], str]) -> dict[str, Any]:
    """Return the web app manifest. ``asset(name)`` returns the URL of a file below static/."""
    icons = [(f"icon-{size}", size, "any") for size in (192, 512)]
    icons += [(f"maskable-{size}", size, "maskable") for size in (192, 512)]
    return {
        "name": "Dossiê Veicular",
        "short_name": "Dossiê",
        "description": (
            "Consulta de veículos por placa: dados, preço FIPE, multas e restrições judiciais."
        ),
        "lang": "pt-BR",
        "dir": "ltr",
        "id": "/",
        "start_url": "/",
        "scope": "/",
        "display": "minimal-ui",
        "background_color": "#ffffff",
        "theme_color": "#ffffff",
        "icons": [
            {"src": asset("icons/mark.svg"), "sizes": "any", "type": "image/svg+xml"},
            *(
                {
                    "src": asset(f"icons/{name}.png"),
                    "sizes": f"{size}x{size}",
                    "type": "image/png",
                    "purpose": purpose,
                }
                for name, size, purpose in icons
            ),
        ],
        "shortcuts": [
            {"name": "Comparar veículos", "url": "/comparar"},
            {"name": "Verificar dossiê", "url": "/verificar"},
        ],
    }


def icons_blueprint(assets: Assets) -> Blueprint:
    blueprint = Blueprint("icons", __name__)
    icon = assets.read("icons/favicon.ico")
    manifest = json.dumps(web_manifest(assets.url), ensure_ascii=False).encode()

    @blueprint.get("/favicon.ico")
    def favicon() -> Response:
        return _file(icon.body, icon.content_type)

    @blueprint.get("/manifest.webmanifest")
    def web_app_manifest() -> Response:
        return _file(manifest, "application/manifest+json")

    return blueprint


def _file(body: bytes, content_type: str) -> Response:
    response = Response(body, content_type=content_type)
    response.headers["Cache-Control"] = _CACHE_CONTROL
    return response
