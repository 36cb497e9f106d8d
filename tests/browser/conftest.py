"""Chromium for the tests that must see what a person sees; they skip where it is missing."""

import shutil
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

DESKTOP = {"width": 1280, "height": 900}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}

PageFactory = Callable[..., Any]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    executable = shutil.which("chromium", path="/usr/bin") or shutil.which("chromium")
    if executable is None:
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=executable, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page_trouble() -> list[str]:
    """What went wrong in the pages of this test; unless it is empty at the end, the test fails."""
    return []


@pytest.fixture
def new_page(browser: Any, page_trouble: list[str]) -> Iterator[PageFactory]:
    """Opens pages as a Brazilian visitor's browser would; takes Playwright's context options.

    Trouble is a request that left this machine, a script that threw, and anything that the
    Content-Security-Policy had to stop.
    """
    contexts: list[Any] = []
    trouble = page_trouble

    def note_request(request: Any) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https") and address.hostname not in (
            "127.0.0.1",
            "localhost",
        ):
            trouble.append(f"a request left for {address.hostname}")

    def note_console(message: Any) -> None:
        if "Content Security Policy" in message.text:
            trouble.append(message.text)

    def build(**options: Any) -> Any:
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
        context.on("weberror", lambda error: trouble.append(str(error.error)))
        return context.new_page()

    yield build
    for context in contexts:
        context.close()
    assert not trouble, trouble


@pytest.fixture
def page(new_page: PageFactory) -> Any:
    """A desktop page with JavaScript."""
    return new_page()


@pytest.fixture
def page_without_javascript(new_page: PageFactory) -> Any:
    return new_page(java_script_enabled=False)


@pytest.fixture
def phone_page(new_page: PageFactory) -> Any:
    """A phone of 390 × 844 CSS pixels that is touched."""
    return new_page(**PHONE)


@pytest.fixture
def dark_page(new_page: PageFactory) -> Any:
    """A page whose visitor prefers a dark scheme."""
    return new_page(color_scheme="dark")
