"""Hostile strings in every field, rendered in Chromium.

The strings must run no script, load nothing and violate no Content-Security-Policy.
"""

from collections.abc import Iterator
from itertools import cycle, islice, repeat
from typing import TYPE_CHECKING

import pytest

from tests.effort import FULL
from tests.factories import report_request
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.hostile.strings import STRINGS, hostile_bodies

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page

pytestmark = pytest.mark.long

PAGES = 200 if FULL else 4  # have each string in some field


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[PortalProcess, FaultUpstream]]:
    settings = {f"PORTAL_FRESH_{name}": "0" for name in ("DECODE", "RENAINF", "RENAJUD")}
    with (
        FaultUpstream() as upstream,
        PortalProcess(managed(upstream.url) | settings, workers=1) as server,
    ):
        yield server, upstream


def sign_in(page: "Page", server: PortalProcess) -> None:
    page.goto(f"{server.url}/entrar")
    page.fill("input[name=token]", PORTAL_TOKEN)
    page.press("input[name=token]", "Enter")
    page.wait_for_url(f"{server.url}/")


def test_hostile_strings_run_no_script(
    own_page: "Page", running: tuple[PortalProcess, FaultUpstream]
) -> None:
    page = own_page
    server, upstream = running
    dialogs: list[str] = []

    def dismiss(dialog: "Dialog") -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    sign_in(page, server)
    plate = "ABC1D23"
    for number in range(PAGES):
        # The full run puts one string into all fields; the short run puts different strings.
        strings = repeat(STRINGS[number]) if FULL else islice(cycle(STRINGS), number * 61, None)
        for operation, body in hostile_bodies(plate, strings).items():
            upstream.script(path_of(operation, plate), faults.answer("hostile", body))
        response = server.post(
            path_of("report"),
            data=report_request(plate, {"n": number}),
            headers={"Authorization": PORTAL_TOKEN},
        )
        assert response.status_code == 200
        # The panels that the script adds are those of the whole page, which one round looks at.
        whole = [f"/placa/{plate}?completo=1"] if FULL or not number else []
        for path in (*whole, f"/placa/{plate}", f"/placa/{plate}/dossie"):
            page.goto(server.url + path, wait_until="load")
            if path == f"/placa/{plate}":
                page.wait_for_selector("#multas[data-panel=ready]")
            assert page.evaluate("window.pwned") is None, (number, path)
            assert page.url == server.url + path
            assert page.query_selector("main") is not None
    assert dialogs == []
