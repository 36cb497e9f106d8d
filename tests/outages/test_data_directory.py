"""The data directory is removed under a running server, or was never usable."""

import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.effort import long
from tests.fakes import FaultUpstream
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.ports import wait_until
from tests.fakes.processes import PortalProcess, RedisProcess

OWN = {"Authorization": PORTAL_TOKEN}
COMMANDS = (
    ("ledger",),
    ("ledger", "--summary"),
    ("purge", "ABC1D23"),
    ("token", "list"),
    ("db", "current"),
    ("db", "upgrade"),
)


def refused_in_one_line(done: subprocess.CompletedProcess[str]) -> bool:
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    return True


def put_back(folder: Path, path: Path) -> bool:
    """Rename the directory back; return False if the store has recreated it meanwhile."""
    shutil.rmtree(path, ignore_errors=True)
    try:
        folder.rename(path)
    except OSError:
        return False
    return True


def test_removed_data_directory_is_not_ready_and_sends_no_calls(
    tmp_path: Path, upstream: FaultUpstream
) -> None:
    """Regression: ledger rows of paid calls were written to an unlinked file."""
    data = tmp_path / "data"
    settings = managed(upstream.url) | {"PORTAL_DATA_DIR": str(data)}
    with PortalProcess(settings, workers=1) as server:
        assert server.get(path_of("decode", "AAA1A11"), headers=OWN).status_code == 200
        assert server.get("/readyz").status_code == 200
        data.rename(tmp_path / "elsewhere")
        assert server.get("/readyz").status_code == 503
        refused = server.get(path_of("decode", "BBB2B22"), headers=OWN)
        assert refused.status_code == 503
        assert upstream.count() == 1
        assert refused_in_one_line(server.command_line("ledger"))
        wait_until(lambda: put_back(tmp_path / "elsewhere", data), "the directory's return")
        wait_until(lambda: server.get("/readyz").status_code == 200, "readiness")
        assert server.get(path_of("decode", "BBB2B22"), headers=OWN).status_code == 200
        assert len(server.command_line("ledger").stdout.splitlines()) == upstream.count() == 2


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_command_does_not_create_a_missing_database(
    tmp_path: Path, upstream: FaultUpstream, words: tuple[str, ...]
) -> None:
    """Regression: in a wrong directory the ledger was empty and a purge succeeded."""
    settings = managed(upstream.url) | {"PORTAL_DATA_DIR": str(tmp_path / "data")}
    with closing(PortalProcess(settings)) as shell:
        assert refused_in_one_line(shell.command_line(*words))
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("words", [*COMMANDS, ("token", "issue", "ana")], ids=" ".join)
@pytest.mark.parametrize("folder", ["below a file", *long("a file", "dangling")])
def test_unusable_data_directory_is_a_one_line_error(
    tmp_path: Path, upstream: FaultUpstream, words: tuple[str, ...], folder: str
) -> None:
    (tmp_path / "file").write_text("no directory")
    (tmp_path / "dangling").symlink_to(tmp_path / "file" / "nowhere")
    path = {"a file": "file", "below a file": "file/data", "dangling": "dangling"}[folder]
    settings = managed(upstream.url) | {"PORTAL_DATA_DIR": str(tmp_path / path)}
    with closing(PortalProcess(settings)) as shell:
        assert refused_in_one_line(shell.command_line(*words))


def test_token_may_be_issued_before_the_first_start(
    tmp_path: Path, upstream: FaultUpstream
) -> None:
    settings = managed(upstream.url) | {"PORTAL_DATA_DIR": str(tmp_path / "data")}
    with closing(PortalProcess(settings, workers=1)) as server:
        issued = server.command_line("token", "issue", "ana")
        assert issued.returncode == 0, issued.stderr
        assert "ana" in server.command_line("token", "list").stdout
        server.start()
        token = {"Authorization": issued.stdout.split()[-1]}
        assert server.get(path_of("decode"), headers=token).status_code == 200


def test_purge_in_demo_mode_rejects_other_upstreams_data(
    tmp_path: Path, upstream: FaultUpstream
) -> None:
    data = {"PORTAL_DATA_DIR": str(tmp_path / "data")}
    with PortalProcess(data, workers=1) as demo:
        assert demo.command_line("purge", "ABC1D23").returncode == 0
    with (
        PortalProcess(managed(upstream.url) | data, workers=1),
        closing(PortalProcess(data)) as shell,
    ):
        done = shell.command_line("purge", "ABC1D23")
        assert refused_in_one_line(done)
        assert "PORTAL_UPSTREAM_URL" in done.stderr
        listed = shell.command_line("token", "list")
        assert listed.returncode == 0
        assert "demonstration" in listed.stderr


@pytest.mark.long
def test_purge_names_the_cache_file_from_before_redis(
    tmp_path: Path, upstream: FaultUpstream
) -> None:
    """A purge is refused while the cache file from before REDIS_URL exists."""
    data = tmp_path / "data"
    settings = managed(upstream.url) | {
        "PORTAL_DATA_DIR": str(data),
        "PORTAL_SECRET_KEY": "k" * 40,
    }
    with PortalProcess(settings, workers=1) as server:
        assert server.get(path_of("decode"), headers=OWN).status_code == 200
    with (
        RedisProcess() as redis,
        PortalProcess(settings | {"PORTAL_REDIS_URL": redis.url}, workers=1) as server,
    ):
        assert server.get(path_of("decode"), headers=OWN).status_code == 200
        done = server.command_line("purge", "ABC1D23")
        assert refused_in_one_line(done)
        assert "unused-cache.sqlite" in done.stderr
        with closing(PortalProcess(settings)) as shell:
            assert refused_in_one_line(shell.command_line("purge", "ABC1D23"))
        for file in data.glob("unused-*"):
            file.unlink()
        assert server.command_line("purge", "ABC1D23").stdout.startswith("Purged 1 ")
