"""What was ended after a dump of PostgreSQL ends again in the restored database."""

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.batch.engine import plates
from tests.fakes import FaultUpstream
from tests.fakes.answers import path_of
from tests.fakes.databases import PostgresProcess
from tests.fakes.in_process import managed
from tests.fakes.ports import wait_until
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.outages.test_backup import HEADER, refused, succeeded
from tests.outages.test_dossiers import issue
from tests.web.json_paths import PLATE

pytestmark = pytest.mark.long

ONLY_IF_CACHED = {**HEADER, "Cache-Control": "only-if-cached"}
PURGED, KEPT = plates(2)
JOURNAL = "ends.jsonl"


@dataclass(frozen=True, slots=True)
class Ended:
    """What was ended after the dump: tokens, and the link of a dossier."""

    revoked: str
    rotated: str
    link: str

    def hold(self, server: PortalProcess) -> list[int]:
        """Return the statuses of the tokens, the link, and a stored answer of the vehicle."""
        asked = path_of("decode", KEPT)
        found = [
            server.get(asked, headers={"Authorization": token}).status_code
            for token in (self.revoked, self.rotated)
        ]
        found.append(server.get(self.link).status_code)
        stored = server.get(path_of("decode", PURGED), headers=ONLY_IF_CACHED).status_code
        return [*found, stored]


VALID = [200, 200, 200, 200]
ENDED = [403, 403, 410, 504]


def settings_of(upstream: FaultUpstream, url: str) -> dict[str, str]:
    return managed(upstream.url) | {
        "PORTAL_DATABASE_URL": url,
        "PORTAL_SECRET_KEY": "a key outside the data directory",
    }


def prepared(server: PortalProcess) -> Ended:
    """Store what is to end."""
    for plate in (PURGED, KEPT, PLATE):
        assert server.get(path_of("decode", plate), headers=HEADER).status_code == 200
    ana, bia = (succeeded(server, "token", "issue", name).split()[-1] for name in ("ana", "bia"))
    ended = Ended(ana, bia, issue(server))
    assert ended.hold(server) == VALID
    return ended


def end(server: PortalProcess) -> None:
    succeeded(server, "purge", PURGED)
    succeeded(server, "token", "revoke", "ana")
    succeeded(server, "token", "rotate", "bia", "--overlap", "0")
    number = succeeded(server, "dossier", "list").splitlines()[-1].split()[0]
    succeeded(server, "dossier", "revoke", number)


def lines_of(journal: Path) -> int:
    return len(journal.read_text().splitlines()) if journal.exists() else 0


Journal = Callable[[PortalProcess], None]


def in_the_data_directory(server: PortalProcess) -> None:
    wait_until(lambda: lines_of(server.data_dir / JOURNAL) == 4, "the copied ends", 30)


def in_redis_alone(server: PortalProcess) -> None:
    """As in a container whose data directory is lost with it."""
    in_the_data_directory(server)
    shutil.rmtree(server.data_dir)
    server.data_dir.mkdir()


@pytest.mark.long
@pytest.mark.parametrize("place", [in_the_data_directory, in_redis_alone])
def test_ends_after_a_dump_of_postgresql_are_made_again(
    postgres: PostgresProcess,
    upstream: FaultUpstream,
    place: Journal,
) -> None:
    """Regression: the link of a purged vehicle's dossier and revoked tokens worked again."""
    settings = settings_of(upstream, postgres.new_database())
    with ExitStack() as running:
        if place is in_redis_alone:
            settings["PORTAL_REDIS_URL"] = running.enter_context(RedisProcess()).url
        server = running.enter_context(PortalProcess(settings, workers=1))
        ended = prepared(server)
        dump = postgres.dump(settings["PORTAL_DATABASE_URL"])
        end(server)
        # A process remembers a token for two seconds.
        wait_until(lambda: ended.hold(server) == ENDED, "the ends", 5)
        place(server)
        server.stop()
        server.configure(PORTAL_DATABASE_URL=postgres.new_database())
        postgres.restore(server.env["PORTAL_DATABASE_URL"], dump)

        server.start()
        assert server.output.count("the database is older than 4 purges, revocations") == 1
        assert ended.hold(server)[:3] == VALID[:3]
        server.stop()
        kinds = [line.split()[1] for line in succeeded(server, "ends", "list").splitlines()]
        assert sorted(kinds) == ["dossier", "kind", "purge", "token", "token"]
        printed = succeeded(server, "ends", "apply")
        assert printed.splitlines()[-1] == "Ended again: 1 purges, 2 tokens, 1 dossiers."
        assert succeeded(server, "ends", "apply") == "Ended again: nothing.\n"

        server.start()
        assert "is older than" not in server.output.rpartition("Dossiê Veicular em")[2]
        assert ended.hold(server) == ENDED
        asked = upstream.count()
        assert server.get(path_of("decode", KEPT), headers=ONLY_IF_CACHED).status_code == 200
        assert upstream.count() == asked
        succeeded(server, "audit", "verify")


def test_journal_serves_where_the_former_database_is_corrupt(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    """``--purges-of`` needs that database."""
    file, former = tmp_path / "backup", tmp_path / "former"
    with PortalProcess(managed(upstream.url), workers=1) as server:
        ended = prepared(server)
        succeeded(server, "backup", str(file))
        end(server)
        in_the_data_directory(server)
        server.stop()
        server.data_dir.rename(former)
        (former / "portal.sqlite").write_bytes(b"no database" * 1000)
        refused(server, "not a database", "restore", str(file), "--purges-of", str(former))
        succeeded(server, "restore", str(file))
        printed = succeeded(server, "ends", "apply", str(former / JOURNAL))
        assert printed.splitlines()[-1] == "Ended again: 1 purges, 2 tokens, 1 dossiers."
        server.start()
        assert ended.hold(server) == ENDED


def test_rotated_token_of_a_restored_backup_ends_as_it_was_to(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    """Regression: the former token had its whole lifetime again, under its former name."""
    file, former = tmp_path / "backup", tmp_path / "former"
    with PortalProcess(managed(upstream.url), workers=1) as server:
        token = succeeded(server, "token", "issue", "ana").splitlines()[-1]
        succeeded(server, "backup", str(file))
        succeeded(server, "token", "rotate", "ana", "--overlap", "1m")
        listed = succeeded(server, "token", "list")
        server.stop()
        server.data_dir.rename(former)
        succeeded(server, "restore", str(file), "--purges-of", str(former))
        (row,) = [line for line in listed.splitlines() if line.startswith("ana#1")]
        assert row in succeeded(server, "token", "list")
        server.start()
        assert "is older than" not in server.output
        asked = server.get(path_of("decode", KEPT), headers={"Authorization": token})
        assert asked.status_code == 200
