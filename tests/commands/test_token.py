"""The ``flask --app app token`` commands: arguments, output and exit codes."""

import json
import re
import time
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.in_process import InProcessPortal
from tests.fakes.processes import PortalProcess
from tests.web.json_paths import QUESTIONS, ask, tokens_of


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


def run(here: InProcessPortal, *words: str) -> Any:
    return here.app.test_cli_runner().invoke(args=["token", *words])


def issued(here: InProcessPortal, *words: str) -> str:
    done = run(here, "issue", *words)
    assert done.exit_code == 0, done.output
    return str(done.stdout.splitlines()[-1])


def test_issue_prints_a_valid_token_alone_on_the_last_line(here: InProcessPortal) -> None:
    token = issued(here, "script")
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", token)
    for question in QUESTIONS:
        assert ask(here, question, headers={"Authorization": token}).status_code == 200


def test_issue_names_the_portal_of_the_token(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    address = upstream.url.removeprefix("http://")
    assert f"Token for ana of the portal with the upstream {address} (" in (
        run(portal(), "issue", "ana").stdout
    )
    assert "Token for ana of the demonstration, because PORTAL_UPSTREAM_URL is not set (" in (
        run(portal({}), "issue", "ana").stdout
    )


def test_data_files_contain_no_issued_token(here: InProcessPortal) -> None:
    tokens = [issued(here, f"script-{number}") for number in range(5)]
    for token in tokens:
        assert ask(here, QUESTIONS[0], headers={"Authorization": token}).status_code == 200
    kept = b"".join(p.read_bytes() for p in here.settings.data_dir.rglob("*") if p.is_file())
    assert b"script-4" in kept
    for token in tokens:
        assert token.encode() not in kept


def test_default_scopes_are_the_operations(here: InProcessPortal) -> None:
    usual = issued(here, "usual")
    narrow = issued(here, "narrow", "--scopes", "renajud, decode")
    statuses = {
        token: [ask(here, each, headers={"Authorization": token}).status_code for each in QUESTIONS]
        for token in (usual, narrow)
    }
    assert set(statuses[usual]) == {200}
    assert statuses[narrow] == [200, 403, 200, 403, 403, 403, 200]
    listed = run(here, "list").stdout
    assert "decode,renajud" in listed
    assert "refresh" not in listed


def test_token_has_an_end_and_a_limit_unless_it_is_issued_without(here: InProcessPortal) -> None:
    done = run(here, "issue", "usual")
    (token,) = tokens_of(here).listed()
    assert token.daily_limit == 3_000
    assert token.expires_at is not None
    assert token.expires_at - token.created_at == 365 * 86400
    end = datetime.fromtimestamp(token.expires_at, tz=ZoneInfo("America/Sao_Paulo"))
    assert f"until {end:%Y-%m-%d %H:%M}, 3000 calls a day; it will not" in done.stdout
    done = run(here, "issue", "ever", "--expires", "never", "--daily-limit", "0")
    assert "without end, any number of calls a day; it will not" in done.stdout


@pytest.mark.parametrize(
    ("words", "seconds"),
    [("5m", 300), ("12h", 12 * 3600), ("30d", 30 * 86400), ("8w", 8 * 7 * 86400)],
)
def test_lifetime_counts_from_the_issue(here: InProcessPortal, words: str, seconds: int) -> None:
    before = time.time()
    issued(here, "trial", "--expires", words)
    after = time.time()
    expires_at = tokens_of(here).listed()[0].expires_at
    assert expires_at is not None
    assert before + seconds <= expires_at <= after + seconds


def test_daily_limit_is_enforced(here: InProcessPortal) -> None:
    token = issued(here, "small", "--daily-limit", "1")
    statuses = [
        ask(here, each, headers={"Authorization": token}).status_code for each in QUESTIONS[:3]
    ]
    assert statuses == [200, 429, 429]


def test_list_prints_everything_but_the_token(here: InProcessPortal) -> None:
    token = issued(here, "ana@loja.example", "--expires", "30d", "--daily-limit", "40")
    issued(here, "gone", "--expires", "never", "--daily-limit", "0")
    run(here, "revoke", "gone")
    done = run(here, "list")
    assert done.exit_code == 0
    header, *rows = [re.split(" {2,}", line) for line in done.stdout.splitlines()]
    assert header == [
        "name",
        "scopes",
        "daily limit",
        "monthly budget",
        "issued",
        "expires",
        "state",
    ]
    ana, gone = rows
    assert ana[0] == "ana@loja.example"
    assert ana[2] == "40"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", ana[5])
    assert (ana[3], ana[6]) == ("none", "valid")
    assert gone[2:4] + gone[5:] == ["none", "none", "never", "revoked"]
    assert token not in done.output


def test_list_as_json_has_numbers_dates_and_nulls(here: InProcessPortal) -> None:
    token = issued(here, "ana", "--expires", "30d", "--daily-limit", "40", "--scopes", "decode")
    issued(here, "ever", "--expires", "never", "--daily-limit", "0")
    done = run(here, "list", "--json")
    ana, ever = json.loads(done.stdout)
    assert (ana["name"], ana["scopes"], ana["daily_limit"]) == ("ana", ["decode"], 40)
    issue, expiry = (datetime.fromisoformat(ana[name]) for name in ("issued_at", "expires_at"))
    assert expiry - issue == timedelta(days=30)
    assert (ever["daily_limit"], ever["expires_at"], ever["state"]) == (None, None, "valid")
    assert token not in done.output


def test_revoked_token_is_rejected_at_once(here: InProcessPortal) -> None:
    token = issued(here, "leaver")
    assert ask(here, QUESTIONS[0], headers={"Authorization": token}).status_code == 200
    assert run(here, "revoke", "leaver").exit_code == 0
    assert ask(here, QUESTIONS[0], headers={"Authorization": token}).status_code == 403


def test_failed_command_exits_1_with_a_reason(here: InProcessPortal) -> None:
    issued(here, "script")
    for words, why in (
        (("issue", "script"), "script exists already"),
        (("revoke", "nobody"), "nobody"),
    ):
        done = run(here, *words)
        assert done.exit_code == 1
        assert done.stdout == ""
        assert why in done.stderr
    assert run(here, "revoke", "script").exit_code == 0
    assert run(here, "revoke", "script").exit_code == 1


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("give", "x"),
        ("issue",),
        ("issue", ""),
        ("issue", "two words"),
        ("issue", "-dash"),
        ("issue", "é"),
        ("issue", "a\n"),
        ("issue", "a\tb"),
        ("issue", "x" * 81),
        ("issue", "x", "y"),
        ("issue", "x", "--scopes", "everything"),
        ("issue", "x", "--scopes", ""),
        ("issue", "x", "--scopes", "decode;report"),
        ("issue", "x", "--expires", "soon"),
        ("issue", "x", "--expires", "30"),
        ("issue", "x", "--expires", "0d"),
        ("issue", "x", "--expires", "-1d"),
        ("issue", "x", "--expires", "٣d"),
        ("issue", "x", "--daily-limit", "-1"),
        ("issue", "x", "--daily-limit", "many"),
        ("issue", "x", "--unknown"),
        ("revoke",),
        ("list", "x"),
    ],
    ids=" ".join,
)
def test_usage_error_exits_2_and_changes_nothing(
    here: InProcessPortal, words: tuple[str, ...]
) -> None:
    done = run(here, *words)
    assert done.exit_code == 2
    assert tokens_of(here).listed() == []


@pytest.mark.slow
def test_revocation_reaches_a_running_server_in_five_seconds() -> None:
    with PortalProcess() as server:
        server.wait_for_workers()
        path = QUESTIONS[0].path
        done = server.command_line("token", "issue", "leaver")
        assert done.returncode == 0
        token = {"Authorization": done.stdout.splitlines()[-1]}
        assert server.get(path, headers=token).status_code == 200
        for _ in range(8):  # so that every worker caches the token as valid
            assert server.get(path, headers=token).status_code == 200
        assert server.command_line("token", "revoke", "leaver").returncode == 0
        revoked_at = time.monotonic()
        while server.get(path, headers=token).status_code == 200:
            assert time.monotonic() - revoked_at < 5
        time.sleep(max(0, revoked_at + 3 - time.monotonic()))
        assert {server.get(path, headers=token).status_code for _ in range(16)} == {403}
