"""A secret key that is missing, replaced, damaged or different from the server's."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.web.pages.dossier_code import DossierCodes
from tests.factories import decode_body
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess, RedisProcess

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
    chosen = managed(upstream.url) | {
        "PORTAL_DATA_DIR": str(tmp_path / "data"),
        "PORTAL_SECRET_KEY": SECRET,
    }
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
        from redis import Redis

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


def test_rotation_deletes_what_the_new_key_cannot_read(
    settings: dict[str, str], upstream: FaultUpstream
) -> None:
    """Regression: old answers stayed on disk for eight days, and no purge found them."""
    with PortalProcess(settings, workers=1) as server:
        assert server.get(DECODE, headers=OWN).status_code == 200
    assert BODY_MARK.encode() in bytes_kept(settings)
    with PortalProcess(settings, workers=1) as server:  # with the same key nothing is deleted
        assert server.get(DECODE, headers=OWN).headers["Cache-Status"].startswith("portal; hit")
    rotated = settings | {"PORTAL_SECRET_KEY": "the key after a rotation"}
    with PortalProcess(rotated, workers=1) as server:
        assert BODY_MARK.encode() not in bytes_kept(settings)
        assert server.output.count("the secret key is a new one: 1 stored answers") == 1
        assert server.get(DECODE, headers=OWN).status_code == 200
        assert len(server.command_line("ledger").stdout.splitlines()) == 2
        assert server.command_line("purge", PLATE).stdout == "Purged 1 stored answers.\n"
        assert BODY_MARK.encode() not in bytes_kept(settings)
    assert upstream.count() == 2


def test_rotation_keeps_other_portals_answers_in_redis(
    tmp_path: Path, upstream: FaultUpstream
) -> None:
    """Each portal has its own database and secret key."""
    with RedisProcess() as store:

        def portal(name: str, key: str) -> PortalProcess:
            settings = {
                "PORTAL_REDIS_URL": store.url,
                "PORTAL_DATA_DIR": str(tmp_path / name),
                "PORTAL_SECRET_KEY": key,
            }
            return PortalProcess(managed(upstream.url) | settings, workers=1)

        with portal("one", "the key of one portal") as one:
            assert one.get(DECODE, headers=OWN).status_code == 200
            for key in ("the key of another portal", "the new key of that other portal"):
                with portal("other", key) as other:
                    assert other.get(DECODE, headers=OWN).status_code == 200
            hit = one.get(DECODE, headers=OWN | {"Cache-Control": "only-if-cached"})
            assert hit.status_code == 200
        with portal("one", "the key of one portal") as one:
            assert one.get(DECODE, headers=OWN).headers["Cache-Status"].startswith("portal; hit")
            assert one.command_line("purge", PLATE).stdout == "Purged 1 stored answers.\n"
    assert upstream.count() == 3


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
        assert DossierCodes(b"", "upstream").read("anything") is None
        assert server.get("/entrar").status_code == 200
