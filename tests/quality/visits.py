"""The pages to measure, in the states that matter."""

from dataclasses import dataclass
from typing import Any, Final

# Panel requests never complete, so the panels stay in their waiting state.
_NO_ANSWER: Final = "window.fetch = () => new Promise(() => {})"


@dataclass(frozen=True, slots=True)
class Visit:
    """A page to open.

    ``waits``: keep its panels in the waiting state. ``follows``: wait until all panels have loaded.
    ``first``: a path to open first, so that the answers are already stored.
    """

    name: str
    path: str
    status: int = 200
    waits: bool = False
    follows: bool = False
    first: str = ""


VISITS: Final = (
    Visit("search", "/", first="/placa/ABC1D23?completo=1"),
    Visit("search, refused", "/buscar?q=%3Cb%3E", status=400),
    Visit("vehicle", "/placa/ABC1D23", first="/placa/ABC1D23?completo=1"),
    Visit("vehicle, arriving", "/placa/TRA0A01", follows=True),
    Visit("vehicle, waiting", "/placa/CIR0A01", waits=True),
    Visit("vehicle, unavailable", "/placa/FOR0A02?completo=1"),
    Visit("vehicle, 45 fines", "/placa/MUL0A45?completo=1"),
    Visit("vehicle, 6 versions", "/placa/FIP0A06?completo=1"),
    Visit("renavam", "/renavam/79831854647"),
    Visit("negotiation", "/placa/ABC1D23/negociacao"),
    Visit("search, suggestion", "/buscar?q=AB01D23", status=400),
    Visit("comparison", "/comparar?placas=ABC1D23,LMP0A01&completo=1"),
    Visit("comparison, three", "/comparar?placas=ABC1D23,FIP0A03,FOR0A02&completo=1"),
    Visit("comparison, empty", "/comparar"),
    Visit("sign-in for a plate", "/entrar?next=/placa/ABC1D23"),
    Visit("dossier", "/placa/ABC1D23/dossie"),
    Visit("dossier, 45 fines", "/placa/MUL0A45/dossie"),
    Visit("dossier, unavailable", "/placa/FOR0A02/dossie"),
    Visit("glossary", "/glossario"),
    Visit("api", "/api"),
    Visit("privacy", "/privacidade"),
    Visit("sign-in", "/entrar"),
    Visit("verify", "/verificar"),
    Visit("verify, forged", "/verificar?codigo=abc"),
    Visit("error", "/nada", status=404),
)

DESKTOP: Final = {"width": 1280, "height": 900}
SMALL: Final = {"width": 320, "height": 640}


def dress(page: Any, medium: str) -> None:
    """Switch an open page to ``light``, ``dark``, ``320px`` or ``print``."""
    page.set_viewport_size(SMALL if medium == "320px" else DESKTOP)
    page.emulate_media(
        media="print" if medium == "print" else "screen",
        color_scheme="dark" if medium == "dark" else "light",
    )


MEDIA: Final = ("light", "dark", "320px", "print")


def open_page(page: Any, base: str, visit: Visit) -> None:
    """Open the page and wait until it is complete."""
    if visit.first:
        page.goto(base + visit.first)
    if visit.waits:
        page.add_init_script(_NO_ANSWER)
    answer = page.goto(base + visit.path, wait_until="load")
    assert answer.status == visit.status, (visit.path, answer.status)
    if visit.follows:
        page.wait_for_selector("main")
        page.wait_for_function("!document.querySelector('[data-panel=waiting]')")
