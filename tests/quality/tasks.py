"""What people come for, done by a counting hand: the taps, keys and seconds of each task.

``python -m tests.quality.tasks`` prints the table, ``tests/browser/test_tasks.py`` keeps the taps
and keys. A click on a desk is a tap. A letter, a digit, Enter and a paste are one key each. What a
password manager fills in is none.
"""

import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from playwright.sync_api import sync_playwright

from tests.fakes.processes import PortalProcess
from tests.quality import tools
from tests.quality.visits import OPERATOR, SETTINGS

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PHONE: Final[Mapping[str, Any]] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
DESK: Final[Mapping[str, Any]] = {"viewport": {"width": 1440, "height": 900}}
# Whether an element's middle is in the window, with nothing above it.
_IN_VIEW: Final = """(one) => {
  const box = one.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  return y > 0 && y < innerHeight && one.contains(document.elementFromPoint(x, y));
}"""
# A paste as the browser does it: the page is asked first, and the text inserted if it lets that.
_PASTE: Final = """(text) => {
  const data = new DataTransfer();
  data.setData("text", text);
  const asked = { clipboardData: data, bubbles: true, cancelable: true };
  const isTaken = !document.activeElement.dispatchEvent(new ClipboardEvent("paste", asked));
  if (!isTaken) document.execCommand("insertText", false, text);
}"""
_WORST: Final = ["JUD0A04", "CIR0A01", "LIC0A01"]
_FORTY: Final = [*(f"QTZ{n // 10}F{n % 10}1" for n in range(36)), "LMP0A01", *reversed(_WORST)]
_CHAT: Final = "\n".join(
    f"[25/11/2026, 20:{at:02}] Zé: {each} 🚗" for at, each in enumerate(_FORTY)
)
_NOTICE: Final = {"orgao": "000100", "auto": "T123456789", "codigo": "7455", "valor": "250"}
_BATCH_MS: Final = 120_000


@dataclass(slots=True)
class Hand:
    """A person's hand on a page. ``is_thumb``: on a phone."""

    page: "Page"
    base: str
    is_thumb: bool
    taps: int = 0
    keys: int = 0

    def go(self, path: str) -> None:
        """Open a page that one has open already."""
        self.page.goto(self.base + path)

    def tap(self, one: "Locator") -> None:
        if self.is_thumb:
            one.tap()
        else:
            one.click()
        self.taps += 1

    def enter_plate_field(self) -> None:
        """The field of the first page has the focus, but a phone shows its keyboard after a tap."""
        self.page.wait_for_selector("#placa:focus")
        if self.is_thumb:
            self.tap(self.page.locator("#placa"))

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.keys += len(text)

    def press_enter(self) -> None:
        self.page.keyboard.press("Enter")
        self.keys += 1

    def paste(self, text: str) -> None:
        self.page.evaluate(_PASTE, text)
        self.keys += 1

    def sees(self, selector: str) -> None:
        """Wait for an element. Raises AssertionError if one would have to scroll to it."""
        one = self.page.locator(selector).first
        one.wait_for()
        assert one.evaluate(_IN_VIEW), f"{selector} is not in the window"

    def reads(self, selector: str) -> None:
        """Wait for an element that one may scroll to, but that nothing hides."""
        one = self.page.locator(selector).first
        one.wait_for()
        one.scroll_into_view_if_needed()
        assert one.evaluate(_IN_VIEW), f"{selector} is covered"


def find_a_car(hand: Hand) -> None:
    hand.go("/")
    hand.enter_plate_field()
    hand.type("abc1d23")
    hand.press_enter()
    hand.page.wait_for_url("**/placa/ABC1D23")
    hand.sees(".hero__name:has-text('Audi A3')")


def decide_whether_to_buy(hand: Hand) -> None:
    hand.go("/placa/ABC1D23")
    hand.sees("#resumo[data-panel=ready] .hero__finding:has-text('Não pode ser transferido')")


def learn_what_is_owed(hand: Hand) -> None:
    hand.go("/placa/ABC1D23")
    hand.sees(".hero__numbers dd:has-text('325,39')")


def learn_by_when(hand: Hand) -> None:
    hand.go("/placa/MUL0A45")
    hand.reads("#multas .next-date time")


def send_the_paper(hand: Hand) -> None:
    hand.go("/placa/ABC1D23?completo=1")
    hand.tap(hand.page.locator("[form=enviar]:visible, #enviar button:visible").first)
    hand.page.wait_for_url("**/dossie/*-*-*")
    hand.sees("a[href^='https://wa.me/']")
    hand.tap(hand.page.locator("[data-copy]").first)


def find_the_worst_of_forty(hand: Hand) -> None:
    hand.go("/")
    hand.enter_plate_field()
    hand.paste(_CHAT)
    hand.tap(hand.page.get_by_role("button", name=re.compile("Conferir 40 placas")))
    hand.page.wait_for_url("**/lote/*")
    hand.tap(hand.page.get_by_role("button", name=re.compile("Consultar 40 placas")))
    hand.page.locator(".batch-done").wait_for(timeout=_BATCH_MS)
    worst = hand.page.locator(".vehicles__plate a").all_inner_texts()[: len(_WORST)]
    assert worst == _WORST, worst


def price_in_a_negotiation(hand: Hand) -> None:
    hand.go("/placa/MUL0A45?completo=1")
    hand.tap(hand.page.locator("a[href$='/negociacao']:visible").first)
    hand.page.wait_for_url("**/negociacao")
    hand.sees(".offer-number b")
    hand.tap(hand.page.locator("#pedido"))
    hand.type("158000")
    hand.sees("#pedido-resposta:has-text('acima')")


def check_a_notice(hand: Hand) -> None:
    hand.go("/")
    hand.tap(hand.page.get_by_role("link", name="Confira a notificação"))
    hand.page.wait_for_url("**/conferir-multa")
    for name, text in _NOTICE.items():
        hand.tap(hand.page.locator(f"#{name}"))
        hand.type(text)
    hand.press_enter()
    hand.page.wait_for_url("**/conferir-multa?**")
    hand.sees(".notice__title:has-text('não bate')")


def operate(hand: Hand) -> None:
    """Learn what the month cost, and give a shop a token."""
    hand.go("/entrar?next=/operacao")
    hand.page.fill("#token", OPERATOR)
    hand.page.keyboard.press("Enter")
    hand.page.wait_for_url("**/operacao")
    hand.sees("dt:has-text('Gasto no mês')")
    hand.tap(hand.page.get_by_role("link", name="Emitir um token"))
    hand.page.wait_for_url("**/operacao/tokens/emitir")
    hand.tap(hand.page.locator("#nome"))
    hand.type("loja-" + ("fone" if hand.is_thumb else "mesa"))
    hand.press_enter()
    hand.sees("#link")
    hand.tap(hand.page.locator("[data-copy]"))


@dataclass(frozen=True, slots=True)
class Task:
    """``phone`` and ``desk``: the most taps and keys that it may take."""

    name: str
    run: Callable[[Hand], None]
    phone: tuple[int, int]
    desk: tuple[int, int]


TASKS: Final = (
    Task("find a car", find_a_car, (1, 8), (0, 8)),
    Task("decide whether to buy", decide_whether_to_buy, (0, 0), (0, 0)),
    Task("what is owed", learn_what_is_owed, (0, 0), (0, 0)),
    Task("by when", learn_by_when, (0, 0), (0, 0)),
    Task("send the paper", send_the_paper, (2, 0), (2, 0)),
    Task("the worst of forty", find_the_worst_of_forty, (3, 1), (2, 1)),
    Task("price in a negotiation", price_in_a_negotiation, (2, 6), (2, 6)),
    Task("check a notice", check_a_notice, (5, 25), (5, 25)),
    Task("operate", operate, (3, 10), (3, 10)),
)


def done(task: Task, hand: Hand) -> float:
    """Do a task; return its seconds."""
    started = time.monotonic()
    task.run(hand)
    return time.monotonic() - started


def main() -> int:
    """Print taps, keys and seconds of each task on a phone and on a desk."""
    with PortalProcess(SETTINGS, workers=1) as portal, sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=tools.chromium(), args=list(tools.CHROMIUM_FLAGS)
        )
        sys.stdout.write("| task | phone | desk |\n|---|---|---|\n")
        for task in TASKS:
            cells = []
            for look in (PHONE, DESK):
                context = browser.new_context(locale="pt-BR", **look)
                hand = Hand(context.new_page(), portal.url, look is PHONE)
                seconds = done(task, hand)
                cells.append(f"{hand.taps} taps, {hand.keys} keys, {seconds:.1f} s")
                context.close()
            sys.stdout.write(f"| {task.name} | {' | '.join(cells)} |\n")
            sys.stdout.flush()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
