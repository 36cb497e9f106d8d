"""The commands ``doctor`` and ``version``: what is measured, and the paid lookups of --ask."""

import json
import time
import tomllib
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from portal import VERSION
from portal.factory import Portal
from portal.settings import Settings
from tests import factories
from tests.commands.test_ledger_and_purge import run_command
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults, free_port
from tests.fakes.answers import path_of
from tests.fakes.in_process import InProcessPortal, managed

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
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    assert run_command(here, "version").output == f"{VERSION}\n"
    assert here.client.get("/healthz").get_json()["version"] == VERSION
    assert project["version"] == VERSION
