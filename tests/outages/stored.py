"""A running portal, and checks of what its workers have stored."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import insert

from portal.access.data_key import stored_data_key
from portal.gateway.envelope import Seal
from portal.storage.opening import open_database
from portal.storage.secret import fingerprint
from portal.storage.tables import meta
from tests.fakes import FaultUpstream
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.outages.crowd import Answer, Ask, one

PLATE = "QZX7K39"
OTHER = "DEF4G56"
HEADER = {"Authorization": PORTAL_TOKEN}
ONLY_IF_CACHED = {**HEADER, "Cache-Control": "only-if-cached"}
SECRET = "a secret that the portals of these tests share"


@contextmanager
def serving(upstream: FaultUpstream, workers: int = 2, **named: str) -> Iterator[PortalProcess]:
    settings = {
        **managed(upstream.url),
        "PORTAL_SECRET_KEY": SECRET,
        # Tests hold lookups while a command runs, and a command is slow on a busy machine.
        "PORTAL_FIRST_BYTE_TIMEOUT": "300",
        "PORTAL_DEADLINE": "300",
        **{f"PORTAL_{name}": value for name, value in named.items()},
    }
    portal = PortalProcess(settings, workers=workers)
    _use_known_data_key(settings.get("PORTAL_DATABASE_URL"), portal.data_dir)
    with portal as server:
        server.wait_for_workers()
        yield server


def _use_known_data_key(url: str | None, data_dir: Path) -> None:
    """Make SECRET the data key, as of a database of a version without data keys."""
    database = open_database(url, data_dir)
    if stored_data_key(database, [SECRET.encode()]) is None:
        with database.writing() as db:
            db.execute(
                insert(meta).values(name="key_fingerprint", value=fingerprint(SECRET.encode()))
            )
    database.dispose()


def lookup(server: PortalProcess, plate: str, headers: dict[str, str] = HEADER) -> Answer:
    return one(server.port, Ask(path_of("decode", plate), headers))


def is_stored(server: PortalProcess, plate: str) -> set[bool]:
    """Ask the workers eight times whether the plate is stored; return all answers."""
    answers = [lookup(server, plate, ONLY_IF_CACHED).status for _ in range(8)]
    assert set(answers) <= {200, 504}
    return {status == 200 for status in answers}


def tag_of(plate: str) -> bytes:
    return Seal(SECRET.encode()).keyed_hash(f"subject|{plate}", 24).encode()


def submit_lookup(pool: ThreadPoolExecutor, server: PortalProcess, plate: str) -> "Future[Answer]":
    return pool.submit(lookup, server, plate)
