"""A restored database spends nothing by itself, and revives nothing that has ended since."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.batch.engine import plates
from tests.batch.servers import batch_of, finished, start, started
from tests.effort import long
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.databases import PostgresProcess
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.outages.test_backup import HEADER, succeeded
from tests.outages.test_dossiers import issue
from tests.outages.visitor import signed_in

pytestmark = pytest.mark.long

# Longer than the scheduler needs to start a batch, or to resume one.
LONG_ENOUGH_S = 3.0

Restore = Callable[[PortalProcess], None]


@pytest.fixture
def server(upstream: FaultUpstream) -> Iterator[PortalProcess]:
    with PortalProcess(managed(upstream.url), workers=1) as running:
        yield running


def back_up_file(server: PortalProcess, folder: Path) -> Restore:
    succeeded(server, "backup", str(folder / "backup"))

    def restore(server: PortalProcess) -> None:
        shutil.rmtree(server.data_dir)
        assert "1 batches" in succeeded(server, "restore", str(folder / "backup"))

    return restore


def dump_into_a_new_database(server: PortalProcess, postgres: PostgresProcess) -> Restore:
    dump = postgres.dump(server.env["PORTAL_DATABASE_URL"])

    def restore(server: PortalProcess) -> None:
        server.configure(PORTAL_DATABASE_URL=postgres.new_database())
        postgres.restore(server.env["PORTAL_DATABASE_URL"], dump)

    return restore


def dump_into_the_same_database(server: PortalProcess, postgres: PostgresProcess) -> Restore:
    dump = postgres.dump(server.env["PORTAL_DATABASE_URL"])
    return lambda server: postgres.restore(server.env["PORTAL_DATABASE_URL"], dump, "--clean")


@pytest.mark.parametrize(
    "back_up",
    [back_up_file, *long(dump_into_a_new_database, dump_into_the_same_database)],
)
def test_running_batch_waits_for_its_owner_after_a_restore(
    upstream: FaultUpstream,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    back_up: Callable[..., Restore],
) -> None:
    """Regression: a batch that was cancelled after the backup made all its calls."""
    settings, place = managed(upstream.url), tmp_path
    if back_up is not back_up_file:
        place = request.getfixturevalue("postgres")
        settings |= {
            "PORTAL_DATABASE_URL": place.new_database(),
            "PORTAL_SECRET_KEY": "a key outside the data directory",
        }
    with PortalProcess(settings, workers=1) as server:
        upstream.default(faults.slow_first_byte(0.3))
        batch = started(server, plates(60))
        upstream.wait_for_calls(6)
        restore = back_up(server, place)
        server.post(f"/api/v1/batches/{batch}/cancel", headers=HEADER)
        server.stop()
        upstream.default(faults.good())
        restore(server)
        (tmp_path / "list").write_text("XYZ1A11\n")
        words = ("batch", str(tmp_path / "list"), "--out", str(tmp_path / "table.csv"), "--yes")
        command = server.command_line(*words)
        assert (command.returncode, "was restored" in command.stderr) == (1, True)
        asked = upstream.count()
        server.start()
        assert "1 batches" in server.output
        time.sleep(LONG_ENOUGH_S)
        found = batch_of(server, batch)
        assert (found["state"], found["reason"]) == ("paused", "owner")
        assert upstream.count() == asked
        server.stop()
        server.start()  # the restored database is the portal's own now
        start(server, batch)
        assert finished(server, batch)["counts"]["done"] == 60


@pytest.mark.long
def test_restart_is_no_restore(
    postgres: PostgresProcess, upstream: FaultUpstream, tmp_path: Path
) -> None:
    settings = managed(upstream.url) | {
        "PORTAL_DATABASE_URL": postgres.new_database(),
        "PORTAL_SECRET_KEY": "a key outside the data directory",
    }
    with PortalProcess(settings, workers=1) as here:
        upstream.default(faults.slow_first_byte(0.3))
        batch = started(here, plates(30))
        upstream.wait_for_calls(3)
        with PortalProcess(settings, workers=1) as there:
            here.stop()
            here.start()
            assert finished(there, batch)["state"] == "done"


def test_ended_things_stay_ended(
    server: PortalProcess, upstream: FaultUpstream, tmp_path: Path
) -> None:
    """Regression: a restore made a revoked token and a revoked dossier valid again."""
    token = succeeded(server, "token", "issue", "ana").splitlines()[-1]
    succeeded(server, "token", "issue", "bia")
    link, cookie = issue(server), signed_in(server)
    number = succeeded(server, "dossier", "list").splitlines()[-1].split()[0]
    upstream.default(faults.slow_first_byte(0.3))
    cancelled = started(server, plates(60))
    body = {"plates": plates(2), "ask": ["decode"]}
    draft = server.post("/api/v1/batches", json=body, headers=HEADER).json()["id"]
    file, former = tmp_path / "backup", tmp_path / "former"
    succeeded(server, "backup", str(file))

    assert server.get("/", headers=cookie).status_code == 200
    succeeded(server, "token", "revoke", "ana")
    succeeded(server, "dossier", "revoke", number)
    server.post(f"/api/v1/batches/{cancelled}/cancel", headers=HEADER)
    start(server, draft)
    assert finished(server, draft)["state"] == "done"
    server.stop()
    server.data_dir.rename(former)

    done = server.command_line("restore", str(file))
    assert done.returncode == 0, done.stderr
    assert "are valid again" in done.stderr
    assert "ana, bia" in done.stderr
    shutil.rmtree(server.data_dir)
    succeeded(server, "restore", str(file), "--purges-of", str(former))
    server.start()
    asked = {"Authorization": token}
    assert server.get(path_of("decode", plates(1)[0]), headers=asked).status_code == 403
    assert server.get(link).status_code == 410
    assert batch_of(server, cancelled)["state"] == "cancelled"
    # The results are lost, so the batch that has ended since can only be started as a new one.
    assert batch_of(server, draft)["state"] == "cancelled"


def test_calls_since_the_backup_count_for_the_daily_limit(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    settings = managed(upstream.url) | {"PORTAL_DAILY_CALL_LIMIT": "4"}
    texts = plates(6)
    with PortalProcess(settings, workers=1) as server:
        assert server.get(path_of("decode", texts[0]), headers=HEADER).status_code == 200
        file, former = tmp_path / "backup", tmp_path / "former"
        succeeded(server, "backup", str(file))
        for text in texts[1:4]:
            assert server.get(path_of("decode", text), headers=HEADER).status_code == 200
        server.stop()
        server.data_dir.rename(former)
        succeeded(server, "restore", str(file), "--purges-of", str(former))
        server.start()
        assert server.get(path_of("decode", texts[5]), headers=HEADER).status_code == 503
    assert upstream.count() == 4


def test_purged_plate_is_in_no_list_and_empty_batches_are_gone(
    server: PortalProcess, upstream: FaultUpstream, tmp_path: Path
) -> None:
    """Regression: the plate stayed among the invalid entries, and a batch ran without plates."""
    purged, kept = plates(2)
    upstream.default(faults.slow_first_byte(60))
    body = {"plates": [kept, f"{purged}X"], "ask": ["decode"]}
    listed = server.post("/api/v1/batches", json=body, headers=HEADER).json()
    assert purged in str(listed["wrong"])
    empty = started(server, [purged])
    file, former = tmp_path / "backup", tmp_path / "former"
    succeeded(server, "backup", str(file))
    upstream.default(faults.good())
    succeeded(server, "purge", purged)
    server.stop()
    server.data_dir.rename(former)
    succeeded(server, "restore", str(file), "--purges-of", str(former))
    server.start()
    assert purged not in str(batch_of(server, listed["id"]))
    gone = server.get(f"/api/v1/batches/{empty}", headers={"Authorization": PORTAL_TOKEN})
    assert gone.status_code == 404


def test_directory_without_a_later_state_is_refused(
    server: PortalProcess, upstream: FaultUpstream, tmp_path: Path
) -> None:
    file, other = tmp_path / "backup", tmp_path / "other"
    assert server.get(path_of("decode", plates(1)[0]), headers=HEADER).status_code == 200
    succeeded(server, "backup", str(file))
    server.stop()
    shutil.rmtree(server.data_dir)
    server.start()  # another database, which has not made the backup's calls
    assert server.get(path_of("decode", plates(2)[1]), headers=HEADER).status_code == 200
    server.stop()
    server.data_dir.rename(other)
    done = server.command_line("restore", str(file), "--purges-of", str(other))
    assert (done.returncode, done.stdout) == (1, "")
    assert "no later state" in done.stderr
    assert not (server.data_dir / "portal.sqlite").exists()
