"""The commands ``doctor`` and ``version``: what is measured, and the paid lookups of --ask."""

import json
import re
import sqlite3
import time
import tomllib
from collections.abc import Callable
from contextlib import closing
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from portal import VERSION
from portal.factory import Portal
from portal.settings import Settings
from portal.system.webhook_signature import new_secret
from tests import factories
from tests.commands.test_ledger_and_purge import run_command
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults, free_port
from tests.fakes.answers import path_of
from tests.fakes.in_process import InProcessPortal, built, managed
from tests.fakes.receivers import MailReceiver, WebhookReceiver

CHECKOUT = Path(__file__).parents[2]
PRICES = {f"PRICE_{name}": "0.30" for name in ("DECODE", "RENAINF", "RENAJUD", "REPORT")}


def checked(here: InProcessPortal, *words: str) -> dict[str, dict[str, Any]]:
    lines = json.loads(run_command(here, "doctor", "--json", *words).stdout)
    return {line["name"]: line for line in lines}


def test_portal_that_runs_is_well_and_nothing_is_asked(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(**PRICES)
    done = run_command(here, "doctor")
    assert done.exit_code == 0, done.output
    assert "WRONG" not in done.stdout
    assert "primary address: connected" in done.stdout
    assert upstream.calls == []


def test_address_that_refuses_is_named(portal: PortalFactory, upstream: FaultUpstream) -> None:
    gone = f"http://127.0.0.1:{free_port()}"
    here = portal(managed(upstream.url, gone))
    done = run_command(here, "doctor")
    assert done.exit_code == 1
    assert "WRONG secondary address: " in done.stdout


@pytest.mark.parametrize(
    ("scheme", "query", "error"),
    [
        ("smtp://", "", ""),
        ("smtp://", "?starttls=1", "SMTPNotSupportedError"),
        ("smtp://ana:hush@", "", "SMTPNotSupportedError"),
        ("smtps://", "", "SSLError, WRONG_VERSION_NUMBER"),
    ],
)
def test_mail_server_is_connected_to_and_sent_nothing(
    portal: PortalFactory, scheme: str, query: str, error: str
) -> None:
    with MailReceiver().running() as mailbox:
        url = f"{scheme}127.0.0.1:{mailbox.port}{query}"
        here = portal(**PRICES, SMTP_URL=url, MAIL_FROM="portal@example.com")
        done = run_command(here, "doctor", "--json")
        (line,) = [each for each in json.loads(done.stdout) if each["name"] == "mail"]
    assert (done.exit_code, line["level"]) == ((1, "wrong") if error else (0, "ok"))
    assert error in line["text"] and "hush" not in done.output
    assert mailbox.received == []


def test_mail_server_that_is_gone_is_named(portal: PortalFactory) -> None:
    gone = {"SMTP_URL": f"smtp://127.0.0.1:{free_port()}", "MAIL_FROM": "portal@example.com"}
    assert "ECONNREFUSED" in checked(portal(**gone))["mail"]["text"]


def test_nothing_is_posted_to_the_webhook(portal: PortalFactory) -> None:
    with WebhookReceiver().running() as receiver:
        here = portal(
            WEBHOOK_URL=receiver.url, WEBHOOK_SECRET=new_secret(), WEBHOOK_HOSTS="127.0.0.1"
        )
        line = checked(here)["webhook"]
    assert line["level"] == "ok"
    assert receiver.posted == []


@pytest.mark.parametrize(
    ("headers", "level"),
    [
        ({"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https"}, "ok"),
        ({"X-Forwarded-For": "192.0.2.1"}, "wrong"),
    ],
)
def test_headers_are_those_that_the_server_last_saw(
    portal: PortalFactory, headers: dict[str, str], level: str
) -> None:
    here = portal(TRUSTED_PROXIES="1")
    assert here.client.get("/healthz", headers=headers).status_code == 200
    here.parts.sight.write()
    line = checked(here)["proxies"]
    assert line["level"] == level
    assert "192.0.2.1" not in line["text"]


def test_clock_is_compared_with_the_last_answer(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    sent = formatdate(time.time() - 300, usegmt=True)
    body = factories.decode_body("ABC1D23")
    upstream.default(faults.answer("good", body, headers=[("Date", sent)]))
    here = portal()
    here.get(path_of("decode", "ABC1D23"))
    here.parts.sight.write()
    line = checked(here)["clock"]
    assert line["level"] == "wrong"
    assert "ahead of the upstream's" in line["text"]


def test_ask_makes_each_lookup_once_after_its_price(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(**PRICES)
    done = run_command(here, "doctor", "--ask", "ABC1D23")
    assert done.exit_code == 1  # nobody has confirmed
    assert "at most R$ 0.90" in done.stderr
    assert upstream.calls == []
    done = run_command(here, "doctor", "--ask", "ABC1D23", "--yes")
    assert done.exit_code == 0, done.output
    assert len(upstream.calls) == 3
    for name in ("decode", "renainf", "renajud"):
        assert f"ok    {name}: answered 200 in " in done.stdout
    rows = json.loads(run_command(here, "subject", "ABC1D23", "--json").stdout)
    assert {row["act"] for row in rows} == {"asked"}


def test_ask_names_what_differs_and_what_fails(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    body = factories.decode_body("ABC1D23").replace(b'"marca"', b'"novoCampo": 1, "marca"', 1)
    upstream.script(path_of("decode", "ABC1D23"), faults.answer("good", body))
    upstream.script(path_of("renajud", "ABC1D23"), faults.answer("bad", b"{}", status=500))
    here = portal(**PRICES)
    done = run_command(here, "doctor", "--ask", "ABC1D23", "--yes")
    assert done.exit_code == 1
    assert "novoCampo" in done.stdout
    assert "WRONG renajud: no answer after " in done.stdout


@pytest.mark.parametrize("words", [("--ask", "X"), ("--ask", "12345678910"), ("x",)])
def test_wrong_words_exit_2(portal: PortalFactory, words: tuple[str, ...]) -> None:
    assert run_command(portal(), "doctor", *words).exit_code == 2


def test_shipped_settings_raise_no_alarm(tmp_path: Path) -> None:
    """The settings of deploy/portal.env, before and after the first start."""
    lines = (CHECKOUT / "deploy" / "portal.env").read_text("utf-8").splitlines()
    shipped = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    environ = {**shipped, "PORTAL_DATA_DIR": str(tmp_path / "data")}
    settings = Settings.from_environment(environ)
    for is_command in (True, False, True):
        portal = Portal(settings, None, is_command=is_command)
        if is_command:
            done = portal.app.test_cli_runner().invoke(args=["doctor"])
            assert (done.exit_code, "WRONG" in done.output) == (0, False), done.output
        else:
            assert portal.app.test_client().get("/healthz").status_code == 200
        portal.close()


def test_version_is_the_same_everywhere(portal: PortalFactory) -> None:
    here = portal()
    """``portal.VERSION`` alone holds it; the client has a version of its own."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    changes = (CHECKOUT / "CHANGELOG.md").read_text("utf-8")
    assert run_command(here, "version").output == f"{VERSION}\n"
    assert here.client.get("/healthz").get_json()["version"] == VERSION
    assert "version" not in project and project["dynamic"] == ["version"]
    assert re.findall(r"^## \[(.+)\]", changes, re.MULTILINE)[0] in (VERSION, "Unreleased")


def _other_key(folder: Path) -> dict[str, str]:
    (folder / "secret_key").write_text("0" * 64)
    return {}


def _open_key(folder: Path) -> dict[str, str]:
    (folder / "secret_key").chmod(0o644)
    return {}


def _former_schema(folder: Path) -> dict[str, str]:
    with closing(sqlite3.connect(folder / "portal.sqlite")) as db, db:
        db.execute("UPDATE alembic_version SET version_num = '0015'")
    return {}


def _no_database(folder: Path) -> dict[str, str]:
    (folder / "portal.sqlite").write_bytes(b"no database" * 1000)
    return {}


def _open_directory(folder: Path) -> dict[str, str]:
    folder.chmod(0o777)
    return {}


def _no_redis(folder: Path) -> dict[str, str]:
    key = (folder / "secret_key").read_text().strip()
    return {"PORTAL_REDIS_URL": f"redis://127.0.0.1:{free_port()}", "PORTAL_SECRET_KEY": key}


def _short_token(_: Path) -> dict[str, str]:
    return {"PORTAL_ACCESS_TOKENS": "short"}


def _slow(_: Path) -> dict[str, str]:
    return {"PORTAL_DEADLINE": "5", "PORTAL_FIRST_BYTE_TIMEOUT": "8"}


def _many_workers(_: Path) -> dict[str, str]:
    return {"PORTAL_WORKERS": "64"}


def _unknown_host(_: Path) -> dict[str, str]:
    return {"PORTAL_UPSTREAM_SECONDARY_URL": "http://no-such-host.invalid"}


def _not_tls(_: Path) -> dict[str, str]:
    return {"PORTAL_UPSTREAM_SECONDARY_URL": f"https://127.0.0.1:{free_port()}"}


@pytest.mark.parametrize(
    ("plant", "subject"),
    [
        (_other_key, "key"),
        (_open_key, "key"),
        (_former_schema, "database"),
        (_no_database, "database"),
        (_open_directory, "data directory"),
        (_no_redis, "redis"),
        (_short_token, "settings"),
        (_slow, "timeouts"),
        (_many_workers, "workers"),
        (_unknown_host, "secondary address"),
        (_not_tls, "secondary address"),
    ],
)
def test_planted_fault_is_measured_and_named(
    tmp_path: Path,
    upstream: FaultUpstream,
    plant: Callable[[Path], dict[str, str]],
    subject: str,
) -> None:
    environ = {**managed(upstream.url), "PORTAL_DATA_DIR": str(tmp_path)}
    with built(tmp_path, environ) as here:
        assert here.client.get("/healthz").status_code == 200
    settings = Settings.from_environment({**environ, **plant(tmp_path)})
    portal = Portal(settings, None, is_command=True)
    done = portal.app.test_cli_runner().invoke(args=["doctor", "--json"])
    portal.close()
    assert done.exit_code == 1, done.output
    (line,) = [each for each in json.loads(done.stdout) if each["level"] == "wrong"]
    assert line["name"] == subject
    assert line["mend"]
