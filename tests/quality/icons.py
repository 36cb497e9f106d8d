"""Make the icons and the social card in static/icons (`make icons`, needs Chromium).

All pictures are drawn from the glyphs of the licence plate. The SVG file is the icon of a browser's
tab; the PNG files are the icons of a home screen and the picture of a shared link.
"""

import base64
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader
from PIL import Image
from playwright.sync_api import sync_playwright

from portal.presentation import filters
from portal.presentation.icons import icon
from portal.presentation.plate_glyphs import glyph_path
from portal.vehicle.plate import Plate
from tests.quality import tools

FOLDER: Final = tools.CHECKOUT / "static" / "icons"
FONT: Final = tools.CHECKOUT / "static" / "fonts" / "inter.woff2"
CARD: Final = (1200, 630)
BLUE: Final = "#1f3a9e"
INK: Final = "#17181c"
# Width and height of each icon, and whether its blue ground has round corners.
ICONS: Final = {
    "icon-192": (192, True),
    "icon-512": (512, True),
    "maskable-192": (192, False),
    "maskable-512": (512, False),
    "touch-180": (180, False),
}
FAVICON_SIZES: Final = (16, 32, 48)


def mark() -> str:
    """The icon of a browser's tab: a small plate with the initials, on a square."""
    letters = (
        f'<path transform="translate(7.1 12.9)scale(.2)" d="{glyph_path("DV")}" fill="none"'
        f' stroke="{INK}" stroke-width="12" stroke-miterlimit="3"/>'
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        f'<rect x="1" y="4" width="30" height="24" rx="4" fill="#fff"/>'
        f'<path d="M1 11V8a4 4 0 0 1 4-4h22a4 4 0 0 1 4 4v3z" fill="{BLUE}"/>'
        f'{letters}<rect x="1" y="4" width="30" height="24" rx="4" fill="none" stroke="{INK}"'
        ' stroke-width="2"/></svg>\n'
    )


def app_icon(rounded: bool) -> str:
    """The icon of a home screen. If not rounded, its plate fits the mask's safe zone."""
    scale, corner = (1.0, 112) if rounded else (0.84, 0)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512">'
        f'<rect width="512" height="512" rx="{corner}" fill="{BLUE}"/>'
        f'<g transform="translate(256 256)scale({scale})">'
        '<rect x="-192" y="-108" width="384" height="216" rx="36" fill="#fff"/>'
        f'<path transform="translate(-96.8 -72.6)scale(2.2)" d="{glyph_path("DV")}" fill="none"'
        f' stroke="{INK}" stroke-width="11" stroke-miterlimit="3"/></g></svg>'
    )


def card() -> str:
    """The HTML of the social card: an example plate and the portal's question."""
    environment = Environment(loader=FileSystemLoader(tools.CHECKOUT / "templates"))
    filters.register(environment)
    drawings: Any = environment.get_template("components/plate.html").module
    font = base64.b64encode(FONT.read_bytes()).decode()
    return f"""<!doctype html><html lang="pt-BR"><style>
      @font-face {{ font-family: Inter; font-weight: 400 700;
        src: url(data:font/woff2;base64,{font}) }}
      body {{ margin: 0; width: 1200px; height: 630px; box-sizing: border-box; padding: 56px 80px;
        border-top: 20px solid {BLUE}; background: #fff; color: {INK}; font: 400 34px/1.35 Inter }}
      .brand {{ display: flex; align-items: center; gap: 18px; font-weight: 650; font-size: 34px }}
      .brand svg {{ width: 70px; height: auto }}
      .plate svg {{ display: block; width: 590px; height: auto; margin: 44px 0 34px }}
      .plate__text {{ display: none }}
      h1 {{ margin: 0; font-weight: 700; font-size: 74px; line-height: 1.1;
        letter-spacing: -0.02em }}
      p {{ margin: 14px 0 0; color: #565b66 }}
    </style><body>
      <div class="brand">{drawings.logo()}Dossiê Veicular</div>
      {drawings.plate_image(Plate.parse("ABC1D23"))}
      <h1>Posso comprar este carro?</h1>
      <p>Multas, restrições judiciais e preço FIPE, pela placa.</p>"""


# The picture of a shared dossier's link: colour, soft ground, shape and words, by the verdict.
DOSSIER_CARDS: Final = {
    "no": ("#a11d17", "#fdeeeb", "cross", "Há impedimento"),
    "warn": ("#7d4a00", "#fdf4de", "alert", "Atenção antes de fechar"),
    "ok": ("#12603a", "#ebf6ef", "check", "Nada encontrado nos registros"),
    "unk": ("#475162", "#eff2f6", "question", "Falta consultar"),
}


def dossier_card(colour: str, ground: str, shape: str, words: str) -> str:
    """The HTML of a shared dossier's card. It names no vehicle."""
    environment = Environment(loader=FileSystemLoader(tools.CHECKOUT / "templates"))
    filters.register(environment)
    plates: Any = environment.get_template("components/plate.html").module
    font = base64.b64encode(FONT.read_bytes()).decode()
    return f"""<!doctype html><html lang="pt-BR"><style>
      @font-face {{ font-family: Inter; font-weight: 400 700;
        src: url(data:font/woff2;base64,{font}) }}
      body {{ margin: 0; width: 1200px; height: 630px; box-sizing: border-box; padding: 56px 80px;
        border-top: 20px solid {colour}; background: {ground}; color: {INK};
        font: 400 36px/1.35 Inter; display: flex; flex-direction: column }}
      .brand {{ display: flex; align-items: center; gap: 18px; font-weight: 650 }}
      .brand svg {{ width: 70px; height: auto }}
      .finding {{ display: flex; align-items: center; gap: 44px; flex: 1; color: {colour};
        font-weight: 700; font-size: 84px; line-height: 1.08; letter-spacing: -0.02em }}
      .finding svg {{ flex: none; width: 190px; height: 190px; stroke-width: 1.75 }}
      p {{ margin: 0; color: #565b66 }}
    </style><body>
      <div class="brand">{plates.logo()}Dossiê Veicular</div>
      <div class="finding">{icon(shape, colour)}<span>{words}</span></div>
      <p>Um retrato com data e número. Abra para ler os registros.</p>"""


def pictures() -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Each picture's name, its HTML and its size."""
    for name, (size, rounded) in ICONS.items():
        yield name, _alone(app_icon(rounded)), (size, size)
    for size in FAVICON_SIZES:
        yield f"favicon-{size}", _alone(mark()), (size, size)
    yield "card", card(), CARD
    for name, look in DOSSIER_CARDS.items():
        yield f"card-{name}", dossier_card(*look), CARD


def _alone(drawing: str) -> str:
    """Return a page that the drawing fills."""
    style = "body { margin: 0 } svg { display: block; width: 100vw; height: 100vh }"
    return f"<!doctype html><style>{style}</style>{drawing}"


def save(pictures: dict[str, Image.Image], folder: Path) -> None:
    """Write the PNG files in 128 colours, and one .ico file with all favicon sizes."""
    for name in (*ICONS, "card", *(f"card-{name}" for name in DOSSIER_CARDS)):
        # Transparent corners need RGBA, and FASTOCTREE can quantise RGBA.
        few = pictures[name].quantize(colors=128, method=Image.Quantize.FASTOCTREE)
        few.save(folder / f"{name}.png", optimize=True)
    *smaller, largest = (pictures[f"favicon-{size}"] for size in FAVICON_SIZES)
    sizes = [(size, size) for size in FAVICON_SIZES]
    largest.save(folder / "favicon.ico", append_images=smaller, sizes=sizes)


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "mark.svg").write_text(mark(), "utf-8")
    drawn: dict[str, Image.Image] = {}
    with sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=tools.chromium(), args=list(tools.CHROMIUM_FLAGS)
        )
        for name, html, (width, height) in pictures():
            page = browser.new_page(viewport={"width": width, "height": height})
            page.set_content(html)
            page.evaluate("document.fonts.ready")
            drawn[name] = Image.open(BytesIO(page.screenshot(omit_background=True))).convert("RGBA")
            page.close()
        browser.close()
    save(drawn, FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
