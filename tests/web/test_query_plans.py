"""No query of a request, a command or a periodic task sorts rows, or reads a whole table.

The cost of such a query would grow with the rows that a portal has stored.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event

from portal.access.tokens import SCOPES
from portal.issued.identifiers import new_identifiers
from portal.issued.model import IssuedSnapshot
from tests.conftest import PortalFactory
from tests.fakes import wait_until
from tests.fakes.databases import EmptyDatabase
from tests.fakes.in_process import InProcessPortal
from tests.web.json_paths import PLATE, issue
from tests.web.person import Person

# A scan of these tables is bounded, or its reason is here.
_MAY_SCAN = {
    "alembic_version": "one row",
    "meta": "a few rows",
    "purges": "at most 65,536 rows, of which each process reads the new ones",
}
# A statement of a command reads all rows that it prints, or decrypts.
_ALL_ROWS = (
    "max(ledger.id)",  # the first or the last entry of an index
    "UPDATE ledger SET subject",  # the rows of one vehicle, locked in order
    "FROM history \nWHERE history.sealed_note IS NOT NULL",  # notes, which a purge decrypts
    "batches.sealed_wrong, batches.sealed_name \nFROM batches",  # texts, which a purge decrypts
)
_TABLES = re.compile(r"(?!.* pragma_)(SELECT|UPDATE|DELETE|INSERT)")
# A scan ends at its first row: the database is asked whether it answers again.
_FIRST_ROW = re.compile(r"\sFROM \w+\s+LIMIT ")
# SQLite would choose another index for these statements, and would read more rows.
_INDEXES = {
    "SELECT call_sums.": "ledger_in_progress",
    "SELECT ledger.caller, ledger.price": "ledger_in_progress",
    "SELECT ledger.subject, ledger.price": "ledger_by_subject",
    "SELECT history.subject, history.sealed_note": "history_by_visitor",
    "dossiers.head IS NOT NULL AND dossiers.expires_at": "dossiers_with_content",
    "UPDATE batch_items SET holder=?, lease_until=? WHERE batch_items.id =": "batch_items_by_turn",
}
Seen = dict[str, Any]


@contextmanager
def statements() -> Iterator[Seen]:
    """Collect the statements of all engines, each with the parameters of one execution."""
    seen: Seen = {}

    def note(_: Any, __: Any, statement: str, parameters: Any, *rest: Any) -> None:
        if _TABLES.match(statement) and "pg_catalog" not in statement:
            seen[statement] = parameters[0] if rest[-1] else parameters

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def exercise(here: InProcessPortal) -> None:
    """Send requests of each kind, and run commands and periodic tasks."""
    issue(here, "ana", SCOPES)
    person = Person.at(here).signed_in()
    batch = person.post("/lote", placas=f"{PLATE} LMP0A01", consulta="decode").headers["Location"]
    person.post(f"{batch}/iniciar")
    state = f"/api/v1/batches/{batch.rpartition('/')[2]}"
    wait_until(lambda: here.get(state).get_json()["state"] == "done", "the batch")
    person.client.get(f"/placa/{PLATE}?completo=1")
    person.post("/historico/nota", consulta=PLATE, nota="comprar")
    for path in (
        *("/", "/historico", "/historico?ordem=preco", "/historico?pagina=2"),
        *(
            "/lote",
            batch,
            "/dossies",
            "/dossies?depois=000000000000",
            "/comparar",
            "/privacidade",
            "/situacao",
        ),
        *("/operacao", "/operacao?dias=90&depois=ana", "/operacao/uso.csv", "/metrics", "/readyz"),
    ):
        assert person.client.get(path).status_code < 400, path
    parts, visitor = here.parts, "visitor"
    snapshot = IssuedSnapshot(plate=PLATE, caller="ana", summary="{}")
    parts.dossiers.issue(visitor, new_identifiers(), snapshot, "", None, last_purge=0)
    (issued,) = parts.dossiers.all_owned(visitor, 2)
    assert parts.dossiers.all_owned(visitor, 2, issued) == []
    assert parts.dossiers.revoke(issued.number, visitor)
    for path in ("/api/v1/usage", "/api/v1/batches", state, f"{state}/prices.jsonl"):
        assert here.get(path).status_code == 200, path
    key = {"Idempotency-Key": "one", "Authorization": "portal-token-of-the-tests"}
    here.client.post("/api/v1/batches", json={"plates": [PLATE]}, headers=key)
    person.post("/historico/apagar", consulta=PLATE)
    person.post("/operacao/tokens/ana/revogar")
    for task in (
        parts.ledger.drop_past_counters,
        parts.history.drop_expired,
        parts.batches.drop_expired,
        parts.dossiers.drop_expired,
        parts.idempotency.drop_expired,
        parts.scheduler.run_all,
    ):
        task()
    run = here.app.test_cli_runner().invoke
    for command in (("ledger", "--summary"), ("ledger", "--month", "2026-11"), ("ledger",)):
        assert run(args=command).exit_code == 0, command
    with parts.database.writing() as db:
        for forget in (parts.dossiers.forget, parts.history.forget, parts.batches.forget):
            forget(db, PLATE)
        parts.ledger.forget(db, [parts.keys.tag(PLATE)])


def sqlite_faults(db: Connection, statement: str, parameters: Any) -> list[str]:
    plan = [row[-1] for row in db.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)]
    scans = [line for line in plan if line.startswith("SCAN ") and scanned(line[5:])]
    wanted = {index for part, index in _INDEXES.items() if part in statement}
    unused = [index for index in wanted if index not in "".join(plan)]
    return scans + unused + [line for line in plan if "TEMP B-TREE" in line]


def postgresql_faults(db: Connection, statement: str, parameters: Any) -> list[str]:
    """The planner avoids what is switched off, unless there is no other way."""
    for kind in ("seqscan", "sort", "hashagg"):
        db.exec_driver_sql(f"SET enable_{kind} = off")
    plan = [row[0].strip(" ->") for row in db.exec_driver_sql(f"EXPLAIN {statement}", parameters)]
    scans = [
        line for line in plan if (found := line.partition("Seq Scan on ")[2]) and scanned(found)
    ]
    return scans + [line for line in plan if re.match(r"(Incremental )?Sort ", line)]


def make_full_indexes_last(db: Connection) -> None:
    """Of two indexes with equal columns, SQLite prefers the one that was made last."""
    for name, ddl in db.exec_driver_sql(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT LIKE '% WHERE %'"
    ).all():
        db.exec_driver_sql(f"DROP INDEX {name}")
        db.exec_driver_sql(ddl)


def scanned(text: str) -> bool:
    table = text.split()[0]
    if "CONSTANT ROW" in text:  # of VALUES: "CONSTANT ROW" or "2 CONSTANT ROWS"
        return False
    return table not in _MAY_SCAN and not table.startswith(("(", "anon", "json_each"))


def test_no_query_sorts_or_reads_a_whole_table(
    empty_database: EmptyDatabase, portal: PortalFactory
) -> None:
    url = {"DATABASE_URL": empty_database.url} if empty_database.url else {}
    here = portal(PRICE_DECODE="0.85", DAILY_CALL_LIMIT="500", **url)
    with statements() as seen:
        exercise(here)
    assert len(seen) > 60
    faults_of: Callable[..., list[str]] = sqlite_faults if not url else postgresql_faults
    faults = {}
    with here.parts.database.reading() as db:
        if not url:
            make_full_indexes_last(db)
        for statement, parameters in seen.items():
            if _FIRST_ROW.search(statement) or any(each in statement for each in _ALL_ROWS):
                continue
            if found := faults_of(db, statement, parameters):
                faults[statement] = found
    assert faults == {}, "\n\n".join(f"{key}\n{value}" for key, value in faults.items())
