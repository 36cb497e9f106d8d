"""Tests of the browser fixtures."""

import asyncio
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from tests.browser.conftest import PageFactory
from tests.browser.found import viewport_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGE = """<!doctype html><html lang="pt-BR"><title>t</title><p id="p">sem</p>
<script src="/a.js"></script>"""
SCRIPT = "document.querySelector('#p').textContent = 'com'"


@Request.application
def small_site(request: Request) -> Response:
    if request.path == "/a.js":
        return Response(SCRIPT, content_type="text/javascript")
    if request.path == "/b.js":
        return Response("throw Error('quebrou')", content_type="text/javascript")
    body = PAGE
    if request.path == "/inline":
        body += "<script>1</script>"
    if request.path == "/erro":
        body += '<script src="/b.js"></script>'
    if request.path == "/fora":
        body += '<img src="http://nowhere.invalid/a.png" alt="">'
    policy = "default-src 'self'; img-src *"
    return Response(body, content_type="text/html", headers={"Content-Security-Policy": policy})


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = make_server("127.0.0.1", 0, small_site, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join(10)
    server.server_close()


@pytest.fixture
def other_loop() -> Iterator[None]:
    """Runs an event loop when the fixtures that were set up later are gone."""
    yield
    asyncio.run(asyncio.sleep(0))


def test_browser_leaves_the_thread_to_other_event_loops(
    other_loop: None, new_page: PageFactory, site: str
) -> None:
    """Signatures are made and validated in event loops of their own."""
    new_page().goto(site)


def test_page_without_javascript_runs_no_script(
    site: str, page: "Page", page_without_javascript: "Page"
) -> None:
    page.goto(site)
    page_without_javascript.goto(site)
    assert page.text_content("#p") == "com"
    assert page_without_javascript.text_content("#p") == "sem"


def test_phone_and_dark_page_have_their_settings(
    phone_page: "Page", dark_page: "Page", site: str
) -> None:
    for page in (phone_page, dark_page):
        page.goto(site)
    assert viewport_of(phone_page)["width"] == 390
    assert phone_page.evaluate("navigator.maxTouchPoints") > 0
    assert dark_page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert not phone_page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert dark_page.evaluate("navigator.language") == "pt-BR"


@pytest.mark.parametrize(
    ("path", "message"),
    [("/fora", "nowhere.invalid"), ("/inline", "Content Security Policy"), ("/erro", "quebrou")],
)
def test_page_errors_are_recorded(
    site: str, page: "Page", page_errors: list[str], path: str, message: str
) -> None:
    page.goto(site)
    assert page_errors == []
    page.goto(site + path)
    page.evaluate("1")  # after this round trip the page's messages have arrived
    assert message in page_errors[0]
    page_errors.clear()
