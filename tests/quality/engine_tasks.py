"""The tasks that Firefox and WebKit do as people do, and their layout, on the pages of the demo."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from tests.browser.test_overlaps import BROKEN, OVERLAPS
from tests.quality.engines import ENTER, Engine, EngineFault

PLATES: Final = ("ABC1D23", "LMP0A01", "MUL0A45")
# What an engine's window is made as wide as, as far as it lets.
WIDTHS: Final = (390, 820, 1280)
PATHS: Final = (
    "/",
    "/placa/ABC1D23?completo=1",
    "/placa/MUL0A45/negociacao?pedido=158000&transferencia=350",
    "/comparar?placas=ABC1D23,LMP0A01,FIP0A03&completo=1",
    "/historico",
    "/historico/mesa",
    "/conferir-multa",
)


def find_a_car(engine: Engine, base: str) -> None:
    engine.go(f"{base}/")
    engine.type("#placa", f"abc1d23{ENTER}")
    engine.until(lambda: engine.address.endswith("/placa/ABC1D23"), "the vehicle's address")
    engine.until_text("Audi A3")


def decide_whether_to_buy(engine: Engine, base: str) -> None:
    engine.go(f"{base}/placa/ABC1D23")
    engine.until_text("Não pode ser transferido agora", "#resumo")
    for words in ("Transfere?", "R$ 325,39", "R$ 89.325"):
        engine.until_text(words, "#resumo")


def send_the_paper(engine: Engine, base: str) -> None:
    engine.go(f"{base}/placa/ABC1D23?completo=1")
    engine.click(".dock__main, .section-bar__documents button, #enviar button")
    engine.until(lambda: "/dossie/" in engine.address, "the issued dossier")
    engine.until(lambda: "/d/" in str(engine.evaluate(_VALUE, "#link")), "its link")


def price_in_a_negotiation(engine: Engine, base: str) -> None:
    engine.go(f"{base}/placa/MUL0A45?completo=1")
    engine.go(f"{base}/placa/MUL0A45/negociacao")
    before = engine.text(".offer-number")
    engine.click("[data-choice=chip-transferencia]")
    engine.until(lambda: engine.text(".offer-number") not in ("", before), "another ceiling")
    count = engine.evaluate("() => document.querySelectorAll('.offer__bar').length")
    if count != 4:
        raise EngineFault(f"{count} bars of the price, not 4")


def decide_a_list(engine: Engine, base: str) -> None:
    engine.go(f"{base}/lote")
    engine.type("#placas", " ".join(PLATES))
    engine.click(".batch-form [type=submit]")
    engine.until(lambda: engine.evaluate(_EXISTS, ".price-card"), "the price")
    engine.click(".price-card button")
    engine.until(lambda: engine.evaluate(_EXISTS, ".batch-done"), "the batch's end")
    engine.click(".list-tools__decide a")
    for place, tag in enumerate(("fora", "negociar", "comprar"), 1):
        engine.until_text(f"{place} de 3", ".deciding__head")
        engine.click(f".deciding__bar [value={tag}]")
    engine.until_text("1 fora · 1 negociar · 1 comprar", "#fim")


TASKS: Final[Mapping[str, Callable[[Engine, str], None]]] = {
    "find a car": find_a_car,
    "decide whether to buy": decide_whether_to_buy,
    "send the paper": send_the_paper,
    "price in a negotiation": price_in_a_negotiation,
    "decide a list": decide_a_list,
}
_EXISTS: Final = "(one) => Boolean(document.querySelector(one))"
_VALUE: Final = "(one) => document.querySelector(one)?.value ?? ''"
_WIDER: Final = "() => document.documentElement.scrollWidth - innerWidth"


def layout_faults(engine: Engine, base: str) -> Iterator[str]:
    """Yield what overlaps, breaks or overflows on the pages of PATHS."""
    for path in PATHS:
        for width in WIDTHS:
            engine.resize(width, 900)
            engine.go(base + path)
            at = f"{path} at {engine.evaluate('() => innerWidth')} px"
            if engine.evaluate(_WIDER) > 0:
                yield f"{at}: wider than the window"
            for probe in (OVERLAPS, BROKEN):
                for fault in engine.evaluate(probe):
                    yield f"{at}: {fault}"
