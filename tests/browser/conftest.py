"""Fixtures for the browser tests, which are skipped if Chromium is not installed."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.quality import tools

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

# With one process for all pages of a site, a page takes a sixth less processor time.
# Without a thread for the layers of its picture it would take a third less, but it draws no further
# frames after some clicks, for which Playwright waits (--disable-threaded-compositing).
FLAGS = [*tools.CHROMIUM_FLAGS, "--process-per-site", "--renderer-process-limit=1"]

DESKTOP = {"width": 1280, "height": 900}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}

PageFactory = Callable[..., "Page"]


def executable() -> str:
    try:
        return tools.chromium()
    except tools.ToolMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    path = executable()
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def browser_loop(browser: "Browser") -> Iterator[asyncio.AbstractEventLoop]:
    """Playwright's event loop, which Playwright leaves marked as running in this thread."""
    loop = asyncio.get_running_loop()
    yield loop
    asyncio._set_running_loop(loop)  # the browser's end needs it


class Contexts:
    """Opens contexts in the Brazilian locale and time zone, and records the errors of their pages.

    Errors are requests to other hosts, uncaught script errors, and violations of the
    Content-Security-Policy.
    """

    def __init__(self, browser: "Browser") -> None:
        self._browser = browser
        self.errors: list[str] = []
        self.lent: dict[str, Page] = {}

    def open(self, **options: Any) -> "BrowserContext":
        defaults: dict[str, Any] = {
            "viewport": DESKTOP,
            "locale": "pt-BR",
            "timezone_id": "America/Sao_Paulo",
        }
        context = self._browser.new_context(**{**defaults, **options})
        context.set_default_timeout(60_000)
        context.on("request", self._note_request)
        context.on("console", self._note_console)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        return context

    @contextmanager
    def lend(self, name: str, **options: Any) -> Iterator["Page"]:
        """Lend a page to one test after the other, each time empty.

        A new context and its first page take 0.45 s of processor time, and another address in an
        open page 0.2 s.
        """
        page = self.lent.pop(name, None) or self.open(**options).new_page()
        yield page
        try:
            _empty(page, **options)
        except Exception:  # the page of a test that failed
            page.context.close()
        else:
            self.lent[name] = page

    def _note_request(self, request: "Request") -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https") and address.hostname not in (
            "127.0.0.1",
            "localhost",
        ):
            self.errors.append(f"a request left for {address.hostname}")

    def _note_console(self, message: "ConsoleMessage") -> None:
        if "Content Security Policy" in message.text:
            self.errors.append(message.text)


def _empty(page: "Page", **options: Any) -> None:
    """Remove what a test has stored and set. Scripts and listeners that it adds would stay."""
    if not page.url.startswith("about:"):
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
    page.unroute_all(behavior="ignoreErrors")
    page.goto("about:blank")
    page.context.clear_cookies()
    page.set_viewport_size(options.get("viewport", DESKTOP))
    page.emulate_media(media="null", color_scheme=options.get("color_scheme", "light"))


@pytest.fixture(scope="session")
def contexts(browser: "Browser") -> Contexts:
    return Contexts(browser)


@pytest.fixture
def page_errors(contexts: Contexts, browser_loop: asyncio.AbstractEventLoop) -> Iterator[list[str]]:
    """Yield a list of this test's page errors; a test that leaves errors fails.

    After the test, the thread has no running event loop, because tests of signatures start loops of
    their own.
    """
    asyncio._set_running_loop(browser_loop)
    contexts.errors.clear()
    yield contexts.errors
    asyncio._set_running_loop(None)
    assert not contexts.errors, contexts.errors


@pytest.fixture
def new_page(contexts: Contexts, page_errors: list[str]) -> Iterator[PageFactory]:
    """Return a function that opens pages in contexts of their own."""
    opened: list[BrowserContext] = []

    def build(**options: Any) -> "Page":
        opened.append(contexts.open(**options))
        return opened[-1].new_page()

    yield build
    for context in opened:
        context.close()


@pytest.fixture
def own_page(new_page: PageFactory) -> "Page":
    """A desktop page for a test that adds scripts or listeners, or changes its context."""
    return new_page()


@pytest.fixture
def page(contexts: Contexts, page_errors: list[str]) -> Iterator["Page"]:
    """A desktop page with JavaScript."""
    with contexts.lend("desktop") as lent:
        yield lent


@pytest.fixture
def page_without_javascript(contexts: Contexts, page_errors: list[str]) -> Iterator["Page"]:
    with contexts.lend("no script", java_script_enabled=False) as lent:
        yield lent


@pytest.fixture
def phone_page(contexts: Contexts, page_errors: list[str]) -> Iterator["Page"]:
    """A page on a phone with a touch screen of 390 × 844 CSS pixels."""
    with contexts.lend("phone", **PHONE) as lent:
        yield lent


@pytest.fixture
def dark_page(contexts: Contexts, page_errors: list[str]) -> Iterator["Page"]:
    """A page with a dark preferred colour scheme."""
    with contexts.lend("dark", color_scheme="dark") as lent:
        yield lent
