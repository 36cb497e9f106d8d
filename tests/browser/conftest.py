"""Fixtures for the browser tests, which are skipped if Chromium is not installed."""

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.quality import tools

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

FLAGS = list(tools.CHROMIUM_FLAGS)

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


@pytest.fixture
def page_errors() -> list[str]:
    """Return a list of this test's page errors; a test that leaves errors fails."""
    return []


@pytest.fixture
def new_page(
    browser: "Browser", browser_loop: asyncio.AbstractEventLoop, page_errors: list[str]
) -> Iterator[PageFactory]:
    """Return a function that opens pages in the Brazilian locale and time zone.

    Recorded as errors: requests to other hosts, uncaught script errors, and violations of the
    Content-Security-Policy. After the test, the thread has no running event loop, because tests of
    signatures start loops of their own.
    """
    asyncio._set_running_loop(browser_loop)
    contexts: list[BrowserContext] = []
    errors = page_errors

    def note_request(request: "Request") -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https") and address.hostname not in (
            "127.0.0.1",
            "localhost",
        ):
            errors.append(f"a request left for {address.hostname}")

    def note_console(message: "ConsoleMessage") -> None:
        if "Content Security Policy" in message.text:
            errors.append(message.text)

    def build(**options: Any) -> "Page":
        defaults: dict[str, Any] = {
            "viewport": DESKTOP,
            "locale": "pt-BR",
            "timezone_id": "America/Sao_Paulo",
        }
        context = browser.new_context(**{**defaults, **options})
        contexts.append(context)
        context.set_default_timeout(60_000)
        context.on("request", note_request)
        context.on("console", note_console)
        context.on("weberror", lambda error: errors.append(str(error.error)))
        return context.new_page()

    yield build
    for context in contexts:
        context.close()
    asyncio._set_running_loop(None)
    assert not errors, errors


@pytest.fixture
def page(new_page: PageFactory) -> "Page":
    """A desktop page with JavaScript."""
    return new_page()


@pytest.fixture
def page_without_javascript(new_page: PageFactory) -> "Page":
    return new_page(java_script_enabled=False)


@pytest.fixture
def phone_page(new_page: PageFactory) -> "Page":
    """A page on a phone with a touch screen of 390 × 844 CSS pixels."""
    return new_page(**PHONE)


@pytest.fixture
def dark_page(new_page: PageFactory) -> "Page":
    """A page with a dark preferred colour scheme."""
    return new_page(color_scheme="dark")
