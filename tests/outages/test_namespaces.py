"""The data of the demonstration and of each upstream stay separate in one store.

Real servers run one after another on the same data, as when an operator restarts them.
"""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.effort import long
from tests.factories import decode_body
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.databases import PostgresProcess
from tests.fakes.in_process import PORTAL_TOKEN, managed, pass_through
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.outages.test_dossiers import issue

PLATE = "ABC1D23"
DECODE = path_of("decode", PLATE)
DEMO = {"Authorization": "demo"}
OWN = {"Authorization": PORTAL_TOKEN}
SHARED_SECRET = "a secret key that every portal shares"


@pytest.fixture(params=["embedded", "Redis", *long("shared secret", "PostgreSQL")])
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Settings of an initially empty store that outlives each server."""
    settings = {"PORTAL_DATA_DIR": str(tmp_path / "data")}
    if request.param != "embedded":
        settings["PORTAL_SECRET_KEY"] = SHARED_SECRET
    if request.param == "PostgreSQL":
        server: PostgresProcess = request.getfixturevalue("postgres")
        settings["PORTAL_DATABASE_URL"] = server.new_database()
    if request.param != "Redis":
        yield settings
        return
    with RedisProcess() as store:
        yield settings | {"PORTAL_REDIS_URL": store.url}


@contextmanager
def running(data: dict[str, str], env: dict[str, str]) -> Iterator[PortalProcess]:
    with PortalProcess({**data, **env}, workers=1) as server:
        yield server


def ledger_of(server: PortalProcess, *words: str) -> list[dict[str, str]]:
    done = server.command_line("ledger", "--csv", *words)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def is_verified(server: PortalProcess, link: str) -> bool:
    page = server.get("/verificar", params={"codigo": link})
    assert page.status_code == 200
    return "Dossiê autêntico" in page.text


@pytest.mark.long
def test_demonstration_and_upstreams_share_nothing(
    data: dict[str, str], upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    """Regression: the demonstration's answers were served as answers of an upstream."""
    upstream.default(faults.answer("staging", decode_body(PLATE, descricao="STAGING")))
    secondary.default(faults.answer("production", decode_body(PLATE, descricao="PRODUCTION")))
    with running(data, {}) as demo:
        invented = demo.get(DECODE, headers=DEMO)
        assert invented.status_code == 200
        link = issue(demo, demo=True)
        assert is_verified(demo, link)
        rows_of_demo = ledger_of(demo)
        issued = demo.command_line("token", "issue", "ana").stdout.split()[-1]
        assert demo.get(DECODE, headers={"Authorization": issued}).status_code == 200

    with running(data, managed(upstream.url)) as staging:
        missed = staging.get(DECODE, headers=OWN)
        assert missed.headers["Cache-Status"] == "portal; fwd=miss; stored"
        assert "STAGING" in missed.text
        assert upstream.count() == 1
        assert not is_verified(staging, link)
        assert staging.get(DECODE, headers={"Authorization": issued}).status_code == 401
        assert [row["operation"] for row in ledger_of(staging)] == ["decode"]
        issued = staging.command_line("token", "issue", "ana").stdout.split()[-1]
        assert staging.get(DECODE, headers={"Authorization": issued}).status_code == 200

    with running(data, managed(secondary.url)) as production:
        assert "PRODUCTION" in production.get(DECODE, headers=OWN).text
        assert (upstream.count(), secondary.count()) == (1, 1)
        assert production.get(DECODE, headers={"Authorization": issued}).status_code == 401
        assert len(ledger_of(production)) == 1

    with running(data, {}) as demo:
        again = demo.get(DECODE, headers=DEMO)
        assert again.headers["Cache-Status"].startswith("portal; hit")
        assert again.content == invented.content
        assert "STAGING" not in demo.get(f"/placa/{PLATE}").text
        assert is_verified(demo, link)
        assert ledger_of(demo) == rows_of_demo


@pytest.mark.long
def test_upstream_name_keeps_data_across_an_address_change(
    data: dict[str, str], upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    with running(data, managed(upstream.url) | {"PORTAL_UPSTREAM_NAME": "provider"}) as before:
        paid = before.get(DECODE, headers=OWN)
        issued = before.command_line("token", "issue", "ana").stdout.split()[-1]
        rows = ledger_of(before)
    with running(data, managed(secondary.url) | {"PORTAL_UPSTREAM_NAME": "provider"}) as after:
        hit = after.get(DECODE, headers={"Authorization": issued})
        assert hit.headers["Cache-Status"].startswith("portal; hit")
        assert hit.content == paid.content
        assert ledger_of(after) == rows
    assert (upstream.count(), secondary.count()) == (1, 0)


def test_limits_count_per_upstream(
    tmp_path: Path, upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    data = {"PORTAL_DATA_DIR": str(tmp_path), "PORTAL_DAILY_CALL_LIMIT": "1"}
    for source in (upstream, secondary):
        with running(data, managed(source.url)) as server:
            statuses = [
                server.get(path_of("decode", plate), headers=OWN).status_code
                for plate in ("AAA1A11", "BBB2B22")
            ]
            assert statuses == [200, 503]
        assert source.count() == 1


def test_session_of_another_upstream_shows_no_history(
    tmp_path: Path, upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    """Both servers accept the same configured token and receive the same cookie."""
    data = {"PORTAL_DATA_DIR": str(tmp_path), "PORTAL_SECRET_KEY": SHARED_SECRET}
    with running(data, managed(upstream.url)) as server:
        form = server.get("/entrar")
        csrf = re.search(r'name="csrf_token" value="([^"]+)"', form.text)
        assert csrf
        signed_in = server.post(
            "/entrar",
            data={"token": PORTAL_TOKEN, "csrf_token": csrf[1]},
            cookies=form.cookies.get_dict(),
        )
        cookies = signed_in.cookies.get_dict()
        assert server.get("/placa/QZX7K39", cookies=cookies).status_code == 200
        assert "QZX7K39" in server.get("/", cookies=cookies).text
    with running(data, managed(secondary.url)) as server:
        assert "QZX7K39" not in server.get("/", cookies=cookies).text
        assert secondary.count() == 0


@pytest.mark.long
def test_purge_finds_the_entries_of_every_upstream(
    data: dict[str, str], upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    for source in (upstream, secondary):
        with running(data, managed(source.url)) as server:
            assert server.get(DECODE, headers=OWN).status_code == 200
            if source is secondary:
                purged = server.command_line("purge", PLATE)
    assert (purged.returncode, purged.stdout) == (0, "Purged 2 stored answers.\n")


def test_issued_token_is_not_sent_upstream_in_pass_through(
    tmp_path: Path, upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    """The upstream token is no longer configured; callers still send portal tokens."""
    data = {"PORTAL_DATA_DIR": str(tmp_path)}
    with running(data, managed(upstream.url)) as server:
        tokens = [
            server.command_line("token", "issue", name).stdout.split()[-1]
            for name in ("live", "revoked")
        ]
        assert server.command_line("token", "revoke", "revoked").returncode == 0
    for source in (upstream, secondary):
        with running(data, pass_through(source.url)) as server:
            for token in tokens:
                assert server.get(DECODE, headers={"Authorization": token}).status_code == 401
                assert server.get(DECODE, params={"at": token}).status_code == 401
                form = server.get("/entrar")
                csrf = re.search(r'name="csrf_token" value="([^"]+)"', form.text)
                assert csrf
                answer = server.post(
                    "/entrar",
                    data={"token": token, "csrf_token": csrf[1]},
                    cookies=form.cookies.get_dict(),
                )
                assert answer.status_code == 401
            assert source.count() == 0
            own = {"Authorization": "a-credential-of-the-upstreams"}
            assert server.get(DECODE, headers=own).status_code == 200
            assert source.count() == 1
