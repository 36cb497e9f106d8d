"""``make pictures``: the README's screenshots of the demo portal, in 256 colours."""

import sys
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.fakes.processes import PortalProcess
from tests.quality import tools

FOLDER: Final = tools.CHECKOUT / "docs" / "images"
MOST_BYTES: Final = 250_000
SHOWCASE: Final = "/placa/ABC1D23?completo=1"
_DESKTOP: Final[dict[str, Any]] = {"viewport": {"width": 1280, "height": 1000}}
_PHONE: Final[dict[str, Any]] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
# A4 at 96 pixels an inch, so that the screenshot shows the first page.
_SHEET: Final[dict[str, Any]] = {"viewport": {"width": 794, "height": 1123}}
SHOTS: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("vehicle-desktop", SHOWCASE, _DESKTOP),
    ("vehicle-dark", SHOWCASE, {**_DESKTOP, "color_scheme": "dark"}),
    ("vehicle-phone", SHOWCASE, _PHONE),
    ("search-phone", "/", _PHONE),
    ("dossier-print", "/placa/ABC1D23/dossie", _SHEET),
)


def save(png: bytes, path: Path) -> int:
    """Save the picture with at most 256 colours; return its size in bytes."""
    picture = Image.open(BytesIO(png)).convert("RGB")
    few = picture.quantize(colors=256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    return path.stat().st_size


def shoot(page: Any, name: str) -> bytes:
    if name == "dossier-print":
        page.emulate_media(media="print")
        page.add_style_tag(content=".paper { padding: 17mm 15mm !important; }")
    png: bytes = page.screenshot()
    return png


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with PortalProcess(workers=1) as portal, sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=tools.chromium(), args=list(tools.CHROMIUM_FLAGS)
        )
        for name, path, look in SHOTS:
            # The portal's Content-Security-Policy would block the style that shoot() adds.
            context = browser.new_context(locale="pt-BR", bypass_csp=True, **look)
            page = context.new_page()
            page.goto(portal.url + path)
            size = save(shoot(page, name), FOLDER / f"{name}.png")
            sys.stdout.write(f"{name}.png {size} bytes\n")
            assert size < MOST_BYTES, name
            context.close()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
