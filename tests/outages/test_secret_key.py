"""A secret key that is missing, replaced, damaged or different from the server's."""

import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import delete, insert

from portal.storage.opening import open_database
from portal.storage.secret import fingerprint
from portal.storage.tables import meta
from tests.factories import decode_body
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.databases import PostgresProcess
from tests.fakes.in_process import PORTAL_TOKEN, PRICED, managed
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.outages.test_dossiers import issue
from tests.outages.visitor import signed_in

PLATE = "ABC1D23"
DECODE = path_of("decode", PLATE)
OWN = {"Authorization": PORTAL_TOKEN}
BODY_MARK = "A PAID ANSWER"
SECRET = "the key of the running server"


@pytest.fixture(params=["embedded", "Redis"])
def settings(
    request: pytest.FixtureRequest, tmp_path: Path, upstream: FaultUpstream
) -> Iterator[dict[str, str]]:
    upstream.default(faults.answer("marked", decode_body(PLATE, descricao=BODY_MARK)))
    chosen = (
        managed(upstream.url)
        | PRICED
        | {
            "PORTAL_DATA_DIR": str(tmp_path / "data"),
            "PORTAL_SECRET_KEY": SECRET,
        }
    )
    if request.param == "embedded":
        yield chosen
        return
    with RedisProcess() as store:
        yield chosen | {"PORTAL_REDIS_URL": store.url}


def bytes_kept(settings: dict[str, str]) -> bytes:
    """Return all bytes that the data directory and Redis hold."""
    folder = Path(settings["PORTAL_DATA_DIR"])
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    if url := settings.get("PORTAL_REDIS_URL"):
        with Redis.from_url(url) as client:
            for key in client.scan_iter("*"):
                kept += key + (client.dump(key) or b"")
                if client.type(key) == b"string":
                    kept += client.get(key) or b""
    return kept


def run_command(settings: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell with these settings."""
    shell = PortalProcess(settings)
    try:
        return shell.command_line(*words)
    finally:
        shell.close()


def is_one_line(done: subprocess.CompletedProcess[str], expected: str) -> bool:
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert expected in done.stderr
    return True


@pytest.mark.long
@pytest.mark.parametrize("settings", ["embedded"], indirect=True)
@pytest.mark.parametrize("key", [None, "another key than the server's"])
def test_command_under_another_key_changes_nothing(
    settings: dict[str, str], upstream: FaultUpstream, key: str | None
) -> None:
    """Regression: a purge printed "Purged 0" and exited 0, and the vehicle was still served."""
    shell = {name: value for name, value in settings.items() if name != "PORTAL_SECRET_KEY"}
    shell |= {"PORTAL_SECRET_KEY": key} if key else {}
    folder = Path(settings["PORTAL_DATA_DIR"])
    with PortalProcess(settings, workers=1) as server:
        assert server.get(DECODE, headers=OWN).status_code == 200
        for words in (("purge", PLATE), ("ledger",), ("token", "list"), ("token", "issue", "a")):
            assert is_one_line(run_command(shell, *words), "secret key")
        (folder / "secret_key").write_text("0f" * 32)  # created by a start without the setting
        assert is_one_line(run_command(shell, "purge", PLATE), "secret key")
        assert server.command_line("purge", PLATE).stdout == "Purged 1 stored answers.\n"
    assert upstream.count() == 1


@pytest.mark.long
@pytest.mark.parametrize("settings", ["embedded"], indirect=True)
@pytest.mark.parametrize("key", [None, "another key than the server's"])
def test_second_server_under_another_key_does_not_start(
    settings: dict[str, str], upstream: FaultUpstream, key: str | None
) -> None:
    """Regression: the second server deleted the first one's answers and broke its purges."""
    other = {name: value for name, value in settings.items() if name != "PORTAL_SECRET_KEY"}
    other |= {"PORTAL_SECRET_KEY": key} if key else {}
    with PortalProcess(settings, workers=1) as server:
        assert server.get(DECODE, headers=OWN).status_code == 200
        second = PortalProcess(other, workers=1)
        try:
            with pytest.raises(AssertionError, match="another secret key"):
                second.start()
            assert "Traceback" not in second.output
        finally:
            second.close()
        assert not (Path(settings["PORTAL_DATA_DIR"]) / "secret_key").exists()
        assert server.get(DECODE, headers=OWN).headers["Cache-Status"].startswith("portal; hit")
        assert server.command_line("purge", PLATE).stdout == "Purged 1 stored answers.\n"
    assert upstream.count() == 1


def refused_start(settings: dict[str, str]) -> str:
    """Return the only line that a refused start writes."""
    server = PortalProcess(settings, workers=1)
    try:
        with pytest.raises(AssertionError, match=r"ended with 1:"):
            server.start()
        (line,) = server.output.splitlines()
        return line
    finally:
        server.close()


def entries_of(settings: dict[str, str], table: str) -> int:
    with closing(sqlite3.connect(Path(settings["PORTAL_DATA_DIR"]) / "portal.sqlite")) as db:
        return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


@pytest.mark.long
def test_start_under_another_key_is_refused_until_it_is_forgotten(
    settings: dict[str, str], upstream: FaultUpstream
) -> None:
    """Regression: such a start deleted every stored answer, batch, dossier and history."""
    body = {"plates": [PLATE], "ask": ["decode"]}
    with PortalProcess(settings, workers=1) as server:
        assert '"level":"warning"' not in server.output  # a first start is silent
        assert server.get(DECODE, headers=OWN).status_code == 200
        assert server.post("/api/v1/batches", json=body, headers=OWN).status_code == 201
        issue(server)
    paid = upstream.count()
    rotated = settings | {"PORTAL_SECRET_KEY": "the key after a rotation"}
    for _ in range(2):
        line = refused_start(rotated)
        for way in ("another secret key", "PORTAL_SECRET_KEYS_OLD", "key forget"):
            assert way in line
    with PortalProcess(settings, workers=1) as server:  # nothing was deleted
        assert server.get(DECODE, headers=OWN).headers["Cache-Status"].startswith("portal; hit")
    asked = run_command(rotated, "key", "forget")  # without anybody to answer
    assert asked.returncode == 1
    assert "1 batches, 1 issued dossiers" in asked.stderr
    assert (entries_of(settings, "batches"), entries_of(settings, "dossiers")) == (1, 1)
    forgotten = run_command(rotated, "key", "forget", "--yes")
    assert forgotten.returncode == 0, forgotten.stderr
    assert forgotten.stdout.startswith("Deleted ")
    assert "1 entries of histories, 0 declared lines, 1 batches, 1 issued" in forgotten.stdout
    if url := settings.get("PORTAL_REDIS_URL"):
        assert "redis-cli FLUSHDB" in forgotten.stderr
        with Redis.from_url(url) as client:
            client.flushdb()
    assert BODY_MARK.encode() not in bytes_kept(settings)
    for table in ("batches", "batch_items", "dossiers", "history"):
        assert entries_of(settings, table) == 0
    with PortalProcess(rotated, workers=1) as server:
        assert server.get(DECODE, headers=OWN).status_code == 200
        assert len(server.command_line("ledger").stdout.splitlines()) == paid + 1
        assert server.command_line("purge", PLATE).stdout == "Purged 1 stored answers.\n"
        assert BODY_MARK.encode() not in bytes_kept(settings)
        again = server.command_line("key", "forget")
        assert (again.returncode, "nothing to forget" in again.stdout) == (0, True)
    assert upstream.count() == paid + 1


def take_data_key_away(settings: dict[str, str]) -> None:
    """Turn the database into that of a version whose data key was its secret key."""
    database = open_database(None, Path(settings["PORTAL_DATA_DIR"]))
    print_ = fingerprint(SECRET.encode())
    values = {"key_fingerprint": print_, "accepted_key_fingerprints": print_[:16]}
    with database.writing() as db:
        db.execute(delete(meta).where(meta.c.name == "data_key"))
        db.execute(insert(meta), [{"name": name, "value": values[name]} for name in values])
    database.dispose()


@pytest.mark.long
def test_data_of_a_version_without_data_keys_is_taken_over(
    settings: dict[str, str], upstream: FaultUpstream
) -> None:
    take_data_key_away(settings)
    body = {"plates": [PLATE], "ask": ["decode"]}
    with PortalProcess(settings, workers=1) as server:
        cookie = signed_in(server)
        assert server.get(f"/placa/{PLATE}?completo=1", headers=cookie).ok
        batch = server.post("/api/v1/batches", json=body, headers=OWN).json()["id"]
        link = issue(server)
    take_data_key_away(settings)
    paid = upstream.count()
    assert "another secret key" in refused_start(
        settings | {"PORTAL_SECRET_KEY": "a mistyped secret key"}
    )
    for taken_over in (
        {},
        {"PORTAL_SECRET_KEY": "the key after a rotation", "PORTAL_SECRET_KEYS_OLD": SECRET},
        {"PORTAL_SECRET_KEY": "the key after a rotation"},
    ):
        with PortalProcess(settings | taken_over, workers=1) as server:
            assert server.get(DECODE, headers=OWN).headers["Cache-Status"].startswith("portal; hit")
            assert PLATE in server.get("/historico", headers=cookie).text
            assert server.get(f"/api/v1/batches/{batch}", headers=OWN).status_code == 200
            assert server.get(link).status_code == 200
    assert upstream.count() == paid
    assert not server.command_line("purge", PLATE).stdout.startswith("Purged 0")


@pytest.mark.long
def test_start_on_postgresql_under_another_key_is_refused(
    postgres: PostgresProcess, upstream: FaultUpstream, tmp_path: Path
) -> None:
    settings = managed(upstream.url) | {
        "PORTAL_DATA_DIR": str(tmp_path),
        "PORTAL_DATABASE_URL": postgres.new_database(),
        "PORTAL_SECRET_KEY": SECRET,
    }
    with PortalProcess(settings, workers=1) as server:
        link = issue(server)
    del settings["PORTAL_SECRET_KEY"]
    assert "another secret key" in refused_start(settings)
    settings["PORTAL_SECRET_KEY"] = "the key after a rotation"
    assert "another secret key" in refused_start(settings)
    with PortalProcess(settings | {"PORTAL_SECRET_KEYS_OLD": SECRET}, workers=1):
        pass
    with PortalProcess(settings, workers=1) as server:
        assert server.get(link).status_code == 200
        assert "  valid  " in server.command_line("dossier", "list").stdout
    settings["PORTAL_SECRET_KEY"] = "the key after a leak"
    forgotten = run_command(settings, "key", "forget", "--yes")
    assert "1 issued dossiers" in forgotten.stdout, forgotten.stderr
    with PortalProcess(settings, workers=1) as server:
        assert server.get(link).status_code == 404


@pytest.mark.long
@pytest.mark.parametrize("settings", ["embedded"], indirect=True)
def test_start_without_the_lost_key_file_makes_no_new_one(
    settings: dict[str, str], upstream: FaultUpstream
) -> None:
    del settings["PORTAL_SECRET_KEY"]
    file = Path(settings["PORTAL_DATA_DIR"]) / "secret_key"
    with PortalProcess(settings, workers=1) as server:
        assert server.get(DECODE, headers=OWN).status_code == 200
        refused = run_command(settings | {"PORTAL_SECRET_KEY": "mistyped"}, "key", "forget")
        assert is_one_line(refused, "under another secret key")
    key = file.read_text()
    file.unlink()
    assert "another secret key" in refused_start(settings)
    assert not file.exists()
    file.write_text(key)
    with PortalProcess(settings, workers=1) as server:
        assert server.get(DECODE, headers=OWN).headers["Cache-Status"].startswith("portal; hit")
    file.unlink()
    assert run_command(settings, "key", "forget", "--yes").returncode == 0
    with PortalProcess(settings, workers=1) as server:
        assert file.read_text() != key
        assert server.get(DECODE, headers=OWN).status_code == 200
    assert upstream.count() == 2


@pytest.mark.long
def test_forgotten_key_keeps_other_portals_answers_in_redis(
    tmp_path: Path, upstream: FaultUpstream
) -> None:
    """Each portal has its own database and secret key."""
    with RedisProcess() as store:

        def settings(name: str, key: str) -> dict[str, str]:
            return managed(upstream.url) | {
                "PORTAL_REDIS_URL": store.url,
                "PORTAL_DATA_DIR": str(tmp_path / name),
                "PORTAL_SECRET_KEY": key,
            }

        def portal(name: str, key: str) -> PortalProcess:
            return PortalProcess(settings(name, key), workers=1)

        with portal("one", "the key of one portal") as one:
            assert one.get(DECODE, headers=OWN).status_code == 200
            for key in ("the key of another portal", "the new key of that other portal"):
                run_command(settings("other", key), "key", "forget", "--yes")
                with portal("other", key) as other:
                    assert other.get(DECODE, headers=OWN).status_code == 200
            hit = one.get(DECODE, headers=OWN | {"Cache-Control": "only-if-cached"})
            assert hit.status_code == 200
        with portal("one", "the key of one portal") as one:
            assert one.get(DECODE, headers=OWN).headers["Cache-Status"].startswith("portal; hit")
            assert one.command_line("purge", PLATE).stdout == "Purged 1 stored answers.\n"
    assert upstream.count() == 3


@pytest.mark.long
def test_portals_of_one_key_and_redis_must_share_the_database(
    tmp_path: Path, upstream: FaultUpstream
) -> None:
    """With data keys of their own, they would share no answer and no lease."""
    with RedisProcess() as store, ExitStack() as stack:

        def portal(folder: str) -> PortalProcess:
            settings = managed(upstream.url) | {
                "PORTAL_REDIS_URL": store.url,
                "PORTAL_DATA_DIR": str(tmp_path / folder),
                "PORTAL_SECRET_KEY": "the key of both portals",
            }
            return stack.enter_context(closing(PortalProcess(settings, workers=1)))

        for _ in range(2):
            one = portal("one")
            one.start()
            one.stop()
        with pytest.raises(AssertionError, match="another database: portals that share a Redis"):
            portal("other").start()
        with Redis.from_url(store.url) as client:
            client.delete("portal:databases")
        portal("other").start()


@pytest.mark.parametrize("content", [b"", b"short\n", b"\xff\xfe\x00" * 30, b"0f" * 31])
def test_damaged_key_file_stops_server_and_commands(
    tmp_path: Path, upstream: FaultUpstream, content: bytes
) -> None:
    """Regression: an empty file was accepted, and codes forged with its key were verified."""
    (tmp_path / "secret_key").write_bytes(content)
    settings = managed(upstream.url) | {"PORTAL_DATA_DIR": str(tmp_path)}
    server = PortalProcess(settings, workers=1)
    try:
        with pytest.raises(AssertionError, match=r"ended with 1:"):
            server.start()
        (line,) = server.output.splitlines()
        assert "64 hexadecimal characters" in line
        for words in (("purge", PLATE), ("ledger",), ("token", "issue", "ana")):
            done = server.command_line(*words)
            assert is_one_line(done, "64 hexadecimal characters")
    finally:
        server.close()
    assert (tmp_path / "secret_key").read_bytes() == content


def test_blank_key_setting_counts_as_unset(tmp_path: Path, upstream: FaultUpstream) -> None:
    settings = managed(upstream.url) | {
        "PORTAL_DATA_DIR": str(tmp_path),
        "PORTAL_SECRET_KEY": "  ",
    }
    with PortalProcess(settings, workers=1) as server:
        assert len((tmp_path / "secret_key").read_bytes()) == 64
        assert server.get("/entrar").status_code == 200
