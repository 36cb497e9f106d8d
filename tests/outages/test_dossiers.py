"""Issued dossiers on running servers: two portals on one database, a restart, a purge."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from tests.fakes import FaultUpstream, faults
from tests.fakes.databases import EmptyDatabase
from tests.fakes.processes import PortalProcess
from tests.outages.stored import serving
from tests.outages.test_purge import files_holding
from tests.outages.visitor import signed_in
from tests.web.json_paths import PLATE

TOKEN = re.compile(r'name="csrf_token"[^>]*value="([^"]+)"')


@pytest.fixture
def portals(
    upstream: FaultUpstream, empty_database: EmptyDatabase
) -> Iterator[list[PortalProcess]]:
    """Two portals with separate caches and a shared database."""
    url = empty_database.url or f"sqlite:///{empty_database.folder / 'shared.sqlite'}"
    with ExitStack() as running:
        yield [running.enter_context(serving(upstream, DATABASE_URL=url)) for _ in range(2)]


def issue(server: PortalProcess, *, demo: bool = False) -> str:
    """Issue the dossier of PLATE and return its link's path."""
    cookie = {"Cookie": "portal="} if demo else signed_in(server)
    page = server.get(f"/placa/{PLATE}?completo=1", headers=cookie)
    cookie |= {"Cookie": f"portal={page.cookies.get('portal', cookie['Cookie'][7:])}"}
    token = TOKEN.search(page.text)
    assert token is not None
    done = server.post(
        f"/placa/{PLATE}/dossie/emitir", data={"csrf_token": token[1]}, headers=cookie, timeout=120
    )
    assert done.status_code == 303, done.text
    managing = server.get(done.headers["Location"], headers=cookie)
    link = re.search(r'value="https?://[^/"]+(/d/[^"]+)"', managing.text)
    assert link is not None
    return link[1]


def blobs(empty_database: EmptyDatabase) -> list[bytes]:
    """Return the first bytes of every encrypted cell; an empty list for PostgreSQL."""
    if empty_database.url is not None:
        return []
    with closing(sqlite3.connect(empty_database.folder / "shared.sqlite")) as db:
        (row,) = db.execute("SELECT head, html, pdf FROM dossiers").fetchall()
    return [bytes(cell[:200]) for cell in row if cell]


def test_same_pdf_from_every_portal_and_nothing_after_a_purge(
    portals: list[PortalProcess], upstream: FaultUpstream, empty_database: EmptyDatabase
) -> None:
    here, there = portals
    link = issue(here)
    asked = upstream.count()
    first = here.get(f"{link}.pdf").content
    upstream.default(faults.status(500))
    here.stop()
    here.start()
    for server in (here, there):
        again = server.get(f"{link}.pdf")
        assert again.content == first
        assert "Set-Cookie" not in again.headers
        for _ in range(4):  # to reach several workers
            assert server.get(link).status_code == 200
    assert upstream.count() == asked

    traces = blobs(empty_database)
    if traces:
        assert files_holding(empty_database.folder, *traces)
    done = here.command_line("purge", PLATE)
    assert done.returncode == 0, done.stderr
    assert {server.get(link).status_code for server in (here, there) for _ in range(4)} == {404}
    assert files_holding(empty_database.folder, *traces) == set()
