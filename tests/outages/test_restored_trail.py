"""A restored database continues the trail and says so."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FaultUpstream
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.outages.test_backup import succeeded

pytestmark = pytest.mark.long

HEADER = {"Authorization": PORTAL_TOKEN}
FIRST, SECOND, PURGED = "ABC1D23", "LMP0A01", "MUL0A45"


@pytest.fixture
def server(upstream: FaultUpstream) -> Iterator[PortalProcess]:
    with PortalProcess(managed(upstream.url), workers=1) as running:
        yield running


def look_up(server: PortalProcess, plate: str) -> None:
    assert server.get(path_of("decode", plate), headers=HEADER).status_code == 200


def rows(server: PortalProcess) -> list[tuple[Any, Any]]:
    found = json.loads(succeeded(server, "audit", "--json"))
    return [(row["act"], row["plate"]) for row in found]


@pytest.mark.parametrize("with_former", [True, False])
def test_restore_continues_the_trail_and_says_with_which_row(
    server: PortalProcess, tmp_path: Path, with_former: bool
) -> None:
    look_up(server, FIRST)
    look_up(server, PURGED)
    server.stop()  # writes what was seen
    server.start()
    file, former = tmp_path / "backup", tmp_path / "former"
    succeeded(server, "backup", str(file))
    look_up(server, SECOND)
    succeeded(server, "purge", PURGED)
    server.stop()
    server.data_dir.rename(former)
    words = ("--purges-of", str(former)) if with_former else ()
    printed = succeeded(server, "restore", str(file), *words)
    server.start()
    if with_former:
        expected = [
            ("asked", FIRST),
            ("asked", ""),
            ("backup", ""),
            ("asked", SECOND),
            ("purged", ""),
            ("restored", ""),
        ]
    else:
        expected = [("asked", FIRST), ("asked", PURGED), ("restored", "")]
    found = rows(server)
    assert found[-1] == expected[-1]
    assert sorted(found) == sorted(expected)  # what was seen may be written after a later act
    last = len(expected)
    assert f"The trail goes on after its row {last - 1}; row {last} names" in printed
    assert f"{last} rows: none is missing or changed." in succeeded(server, "audit", "verify")
    look_up(server, SECOND)
    server.stop()
    succeeded(server, "audit", "verify")
    shutil.rmtree(former)


def test_new_secret_key_is_named_in_the_trail_which_it_still_verifies(
    server: PortalProcess, tmp_path: Path
) -> None:
    look_up(server, FIRST)
    server.stop()
    former = (server.data_dir / "secret_key").rename(tmp_path / "former")
    server.configure(PORTAL_SECRET_KEYS_OLD_FILE=str(former))
    server.start()
    assert rows(server) == [("asked", FIRST), ("rotated", "")]
    succeeded(server, "audit", "verify")
