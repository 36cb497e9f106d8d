"""The ledger and purge commands: lines, CSV, summary, both spellings of a plate."""

import csv
import io
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest
from click.testing import Result
from flask.cli import ScriptInfo
from sqlalchemy import Connection, Engine, event, func, insert, select

from portal.commands import purge
from portal.commands.data_check import refusal
from portal.commands.ledger import COLUMNS, SUMMARY_COLUMNS
from portal.commands.parts import Parts
from portal.gateway.store import Store
from portal.storage.tables import dossiers, ledger
from tests import factories
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.databases import opened
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.person import Person


@pytest.fixture
def priced(portal: PortalFactory) -> InProcessPortal:
    return portal(PRICE_DECODE="0.305", PRICE_RENAINF="17")


def run_command(portal: InProcessPortal, *words: str) -> Result:
    result: Result = portal.app.test_cli_runner().invoke(args=list(words))
    return result


def test_ledger_prints_one_line_per_call_with_price_and_outcome(
    priced: InProcessPortal, upstream: FaultUpstream
) -> None:
    priced.get(path_of("decode"))
    priced.get(path_of("decode"))
    upstream.default(faults.status(500))
    priced.get(path_of("renainf"))
    lines = run_command(priced, "ledger").output.splitlines()
    assert [line.split()[1:] for line in lines] == [
        ["decode", "primary", "settings:1", "0.305", "answered", "200"],
        ["renainf", "primary", "settings:1", "17.00", "failing", "500"],
    ]
    assert "ABC1D23" not in "".join(lines)
    assert len({line.index("settings:1") for line in lines}) == 1


def test_ledger_has_a_header_on_a_terminal(
    priced: InProcessPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal, each line is a call, so that scripts can count lines."""
    priced.get(path_of("decode"))
    monkeypatch.setattr("portal.commands.ledger.is_terminal", lambda: True)
    header, line = run_command(priced, "ledger").output.splitlines()
    assert tuple(header.split()) == COLUMNS
    assert header.index("caller") == line.index("settings:1")
    header, _ = run_command(priced, "ledger", "--all").output.splitlines()
    assert header.split()[-1] == "namespace"


def test_ledger_as_json(priced: InProcessPortal, upstream: FaultUpstream) -> None:
    assert json.loads(run_command(priced, "ledger", "--json").output) == []
    priced.get(path_of("decode"))
    upstream.default(faults.reset_before_a_byte())
    priced.get(path_of("renainf"))
    answered, broken = json.loads(run_command(priced, "ledger", "--json").output)
    assert (answered["price"], answered["outcome"], answered["status"]) == (0.305, "answered", 200)
    assert (broken["operation"], broken["price"], broken["status"]) == ("renainf", 17.0, None)
    assert datetime.fromisoformat(answered["sent_at"]).utcoffset() == timedelta(hours=-3)
    (*_, everywhere) = json.loads(run_command(priced, "ledger", "--all", "--json").output)
    assert everywhere["namespace"] == priced.settings.namespace


def test_summary_as_json_and_as_a_table(priced: InProcessPortal) -> None:
    for _ in range(2):
        priced.get(path_of("decode"))
    priced.parts.scheduler.run_all()
    decode, everything = json.loads(run_command(priced, "ledger", "--summary", "--json").output)
    assert decode == {
        "operation": "decode",
        "calls": 1,
        "spent": 0.305,
        "hits": 1,
        "collapsed": 0,
        "saved": 0.305,
        "known_spent": 0.305,
        "unpriced_calls": 0,
        "known_saved": 0.305,
        "unpriced_hits": 0,
    }
    assert everything == decode | {"operation": "all"}
    header, line, _ = run_command(priced, "ledger", "--summary").output.splitlines()
    assert header.split() == list(decode)
    assert len(header) == len(line)


def test_ledger_is_either_csv_or_json(priced: InProcessPortal) -> None:
    assert run_command(priced, "ledger", "--csv", "--json").exit_code == 2


def test_ledger_csv_has_one_header_line(priced: InProcessPortal) -> None:
    priced.get(path_of("decode"))
    (row,) = csv.DictReader(io.StringIO(run_command(priced, "ledger", "--csv").output))
    assert (row["operation"], row["price"], row["status"]) == ("decode", "0.305", "200")
    assert row["sent_at"].endswith("-03:00")


class Unbuffered(io.StringIO):
    """Counts the writes. Where containers set PYTHONUNBUFFERED, each is a system call."""

    writes = 0

    def write(self, text: str) -> int:
        self.writes += 1
        return super().write(text)


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]])
def test_ledger_is_written_in_blocks(priced: InProcessPortal, form: list[str]) -> None:
    call = {"sent_at": 1.0, "day": "2026-10-05", "operation": "decode", "subject": "", "price": "1"}
    sender = {"origin": "primary", "caller": "ana", "namespace": priced.settings.namespace}
    with opened(None, priced.settings.data_dir) as database, database.engine.begin() as db:
        db.execute(insert(ledger), [{**call, **sender, "outcome": "answered"}] * 2500)
    app = priced.app
    with redirect_stdout(Unbuffered()) as output:
        app.cli.main(
            ["ledger", *form], obj=ScriptInfo(create_app=lambda: app), standalone_mode=False
        )
    assert output.getvalue().count("decode") == 2500
    assert output.writes < 25


def test_ledger_of_a_month_without_calls_is_empty(priced: InProcessPortal) -> None:
    priced.get(path_of("decode"))
    assert run_command(priced, "ledger", "--month", "2001-02").output == ""


@pytest.mark.parametrize("month", ["2026", "2026-13", "2026-1", "11-2026", "２０２６-11"])
def test_invalid_month_is_a_usage_error(priced: InProcessPortal, month: str) -> None:
    assert run_command(priced, "ledger", "--month", month).exit_code == 2


def test_summary_prints_calls_hits_and_savings(priced: InProcessPortal) -> None:
    for _ in range(5):
        priced.get(path_of("decode"))
    priced.get(path_of("renainf"))
    priced.parts.scheduler.run_all()
    rows = list(csv.reader(io.StringIO(run_command(priced, "ledger", "--summary", "--csv").output)))
    assert rows == [
        list(SUMMARY_COLUMNS),
        ["decode", "1", "0.305", "4", "0", "1.22", "0.305", "0", "1.22", "0"],
        ["renainf", "1", "17.00", "0", "0", "0.00", "17.00", "0", "0.00", "0"],
        ["all", "2", "17.305", "4", "0", "1.22", "17.305", "0", "1.22", "0"],
    ]


def test_summary_says_what_is_known_beside_calls_without_a_price(portal: PortalFactory) -> None:
    """Two calls that were made before the operator set the price, and one after."""
    unpriced = portal()
    for plate in ("AAA0A01", "AAA0A02"):
        unpriced.get(path_of("decode", plate))
    priced = portal(PRICE_DECODE="0.305")
    priced.get(path_of("decode", "AAA0A03"))
    (decode, _) = json.loads(run_command(priced, "ledger", "--summary", "--json").output)
    assert (decode["calls"], decode["spent"]) == (3, None)
    assert (decode["known_spent"], decode["unpriced_calls"]) == (0.305, 2)


def test_purge_deletes_both_spellings_from_the_store(
    priced: InProcessPortal, upstream: FaultUpstream
) -> None:
    for plate in ("ABC1234", "ABC1C34", "DEF4G56"):
        priced.get(path_of("decode", plate))
    done = run_command(priced, "purge", "abc-1234")
    assert (done.exit_code, done.stdout) == (0, "Purged 2 stored answers.\n")
    assert "purge the Renavam too" in done.stderr
    for plate in ("ABC1234", "ABC1C34", "DEF4G56"):
        priced.get(path_of("decode", plate))
    assert upstream.count() == 5
    assert len(run_command(priced, "ledger").output.splitlines()) == 5


def test_purge_counts_the_answers_that_a_running_portal_would_delete_first(
    priced: InProcessPortal, portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A portal learns of the purge from its log. Regression: "Purged 0 stored answers."."""
    for operation in ("decode", "renainf"):
        priced.get(path_of(operation))
    running, purge = portal(PRICE_DECODE="0.305").parts.store, Store.purge

    def overtaken(store: Store, purges: Mapping[str, int]) -> int:
        running.tick()
        running.sweep()
        return purge(store, purges)

    monkeypatch.setattr(Store, "purge", overtaken)
    assert run_command(priced, "purge", "ABC1D23").stdout == "Purged 2 stored answers.\n"


def test_purge_deletes_declarations_of_both_plates_and_those_that_name_them(
    priced: InProcessPortal,
) -> None:
    def declare(plate: str, what: str) -> None:
        line = {"line": "gravame", "state": "something", "what": what}
        path, headers = f"/api/v1/vehicles/{plate}/declared", {"Authorization": PORTAL_TOKEN}
        done = priced.client.put(path, json={"lines": [line]}, headers=headers)
        assert done.status_code == 200

    declare("ABC1234", "banco")
    declare("ABC1C34", "banco")
    declare("XYZ9A99", "o mesmo do abc 1234")
    declare("XYZ9A98", "banco")
    assert run_command(priced, "purge", "ABC1234").exit_code == 0
    left = {
        plate: priced.get(f"/api/v1/vehicles/{plate}/declared").get_json()["open"]
        for plate in ("ABC1234", "ABC1C34", "XYZ9A99", "XYZ9A98")
    }
    assert left == {"ABC1234": 15, "ABC1C34": 15, "XYZ9A99": 15, "XYZ9A98": 14}
    database = sqlite3.connect(priced.settings.data_dir / "portal.sqlite")
    assert database.execute("SELECT count(*) FROM declarations").fetchone() == (1,)
    database.close()


def test_purge_as_json(priced: InProcessPortal) -> None:
    for plate in ("ABC1234", "ABC1C34"):
        priced.get(path_of("decode", plate))
    done = run_command(priced, "purge", "abc-1234", "--json")
    found = json.loads(done.stdout)
    assert found.keys() == {"answers", "dossiers", "files", "number", "at", "by"}
    assert (found["answers"], found["dossiers"], found["files"]) == (2, 0, [])
    assert done.exit_code == 0


def test_purge_accepts_a_renavam(priced: InProcessPortal, upstream: FaultUpstream) -> None:
    body = factories.renajud_body(factories.restriction())
    upstream.default(faults.answer("good", body))
    for renavam in ("12345678910", "1234567891-0"):
        priced.get(path_of("renajud", "12345678910"))
        done = run_command(priced, "purge", renavam)
        assert done.stdout == "Purged 1 stored answers.\n"
        assert done.stderr.startswith("Receipt: purge ")


@pytest.fixture
def reader(priced: InProcessPortal) -> Iterator[sqlite3.Connection]:
    """Another process that reads the stored answers, such as a backup."""
    connection = sqlite3.connect(priced.settings.data_dir / "cache.sqlite", isolation_level=None)
    yield connection
    connection.close()


def names_left(portal: InProcessPortal) -> int:
    """Count the rows of ledger and history that identify a vehicle."""
    database = sqlite3.connect(portal.settings.data_dir / "portal.sqlite")
    (left,) = database.execute(
        "SELECT (SELECT count(*) FROM ledger WHERE subject <> '') + (SELECT count(*) FROM history)"
    ).fetchone()
    database.close()
    return int(left)


def look_up_vehicle(portal: InProcessPortal) -> None:
    """Put a vehicle into the store, the ledger and a visitor's history."""
    visitor = Person.at(portal)
    visitor.sign_in()
    for plate in ("ABC1234", "ABC1C34"):
        portal.get(path_of("decode", plate))
        visitor.client.get(f"/placa/{plate}")
    assert names_left(portal) > 2


def test_purge_deletes_the_rows_of_a_vehicle_in_two_transactions(priced: InProcessPortal) -> None:
    """A purge of a plate with a twin made ten, in which other writers could intervene."""
    look_up_vehicle(priced)
    written: list[Connection] = []

    def note(db: Connection) -> None:
        if threading.current_thread() is threading.main_thread():  # not one of the scheduler's
            written.append(db)

    event.listen(Engine, "commit", note)
    try:
        assert run_command(priced, "purge", "abc-1234").exit_code == 0
    finally:
        event.remove(Engine, "commit", note)
    assert names_left(priced) == 0
    assert len(written) == 2


def test_purge_reports_store_bytes_that_a_reader_keeps(
    priced: InProcessPortal, reader: sqlite3.Connection
) -> None:
    look_up_vehicle(priced)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM entries").fetchone()
    done = run_command(priced, "purge", "ABC1234")
    assert (done.exit_code, done.stdout) == (1, "Purged 2 stored answers.\n")
    assert done.stderr.startswith("None of them can be read any more, but")
    assert done.stderr.count("\n") == 1
    assert names_left(priced) == 0
    reader.execute("ROLLBACK")
    again = run_command(priced, "purge", "ABC1234")
    assert (again.exit_code, again.stdout) == (0, "Purged 0 stored answers.\n")


def test_purge_reports_database_bytes_that_a_reader_keeps(priced: InProcessPortal) -> None:
    look_up_vehicle(priced)
    backup = sqlite3.connect(priced.settings.data_dir / "portal.sqlite", isolation_level=None)
    backup.execute("BEGIN")
    backup.execute("SELECT count(*) FROM history").fetchone()
    done = run_command(priced, "purge", "ABC1234")
    assert (done.exit_code, done.stdout) == (1, "Purged 2 stored answers.\n")
    named = "The ledger, the histories, the declarations and the dossiers name the vehicle"
    assert done.stderr.startswith(named)
    assert done.stderr.count("\n") == 1
    backup.close()
    again = run_command(priced, "purge", "ABC1234")
    assert (again.exit_code, again.stdout) == (0, "Purged 0 stored answers.\n")


def test_purge_clears_the_database_after_a_store_failure(
    priced: InProcessPortal, reader: sqlite3.Connection
) -> None:
    look_up_vehicle(priced)
    reader.execute(
        "CREATE TRIGGER refuse BEFORE DELETE ON entries BEGIN SELECT raise(ABORT, 'no'); END"
    )
    done = run_command(priced, "purge", "ABC1234")
    assert (done.exit_code, done.stdout) == (1, "Purged 0 stored answers.\n")
    assert done.stderr == (
        "The store cannot be reached: what it holds was not purged, or not all of it.\n"
    )
    assert names_left(priced) == 0


def test_answer_that_is_paid_during_a_purge_is_kept(
    priced: InProcessPortal, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    priced.get(path_of("decode"))
    meanwhile = SimpleNamespace(sleep=lambda _: priced.get(path_of("decode")))
    monkeypatch.setattr(purge, "time", meanwhile)
    assert run_command(priced, "purge", "ABC1D23").exit_code == 0
    assert upstream.count() == 2
    priced.get(path_of("decode"))
    assert upstream.count() == 2


def test_no_dossier_of_purged_answers_is_issued_after_the_log_has_the_purge(
    portal: PortalFactory, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process has the answers in memory, and has not learned of the purge by itself."""
    here, command = portal(), portal()
    ana = Person.at(here).signed_in()
    ana.pages.get("/placa/ABC1D23?completo=1")
    issued = []

    def issue(_: float) -> None:
        issued.append(ana.post("/placa/ABC1D23/dossie/emitir"))

    monkeypatch.setattr(purge, "time", SimpleNamespace(sleep=issue))
    assert run_command(command, "purge", "ABC1D23").exit_code == 0
    assert [done.status_code for done in issued] == [409]
    with here.parts.database.engine.connect() as db:
        assert db.execute(select(func.count()).select_from(dossiers)).scalar() == 0


def test_purge_without_a_database_says_so(priced: InProcessPortal) -> None:
    """The data key is in the database, so nothing could be found in the store either."""
    from portal.storage.postgresql import PostgresDatabase  # needs psycopg

    parts = SimpleNamespace(
        database=PostgresDatabase("postgresql://portal@127.0.0.1:1/portal"),
        files=SimpleNamespace(files={}, has_other_data=False, unused_caches=(), secret_keys=()),
        data_key=None,
        is_command=True,
    )
    found = refusal(cast("Parts", parts), "purge")
    assert found is not None and found.startswith("Nothing was done: the database cannot be used: ")
    assert "connection refused" in found.lower() and "\n" not in found


def test_purge_of_an_invalid_plate_is_a_usage_error(priced: InProcessPortal) -> None:
    assert run_command(priced, "purge", "nonsense").exit_code == 2


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("ledger", "ledger"),
        ("ledger", "ledger --summary --csv"),
        ("lookup_counts", "ledger --summary"),
        ("ledger", "purge ABC1D23"),
        ("history", "purge ABC1D23"),
        ("access_tokens", "token list"),
        ("access_tokens", "token issue ana"),
        ("access_tokens", "token revoke ana"),
    ],
)
def test_database_error_is_one_line_without_statement(
    priced: InProcessPortal, table: str, words: str
) -> None:
    priced.get(path_of("decode"))
    with sqlite3.connect(priced.settings.data_dir / "portal.sqlite") as database:
        database.execute(f"DROP TABLE {table}")
    database.close()
    done = run_command(priced, *words.split())
    assert done.exit_code == 1
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert done.stderr.startswith("The database cannot be used: ")
    assert done.stderr.count("\n") == 1
    for leaked in ("SELECT", "INSERT", "UPDATE", "DELETE", "ABC1D23"):
        assert leaked not in done.stderr
