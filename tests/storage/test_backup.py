"""Backups of SQLite files are atomic, verified and private, and replace no file."""

import io
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from portal.storage import backup as module
from portal.storage.backup import BackupRefused, Manifest, back_up, restore
from portal.storage.later_ends import end_what_has_ended
from portal.storage.opening import open_database
from portal.storage.schema import SCHEMA_HEAD

KEY = "0f" * 32


@pytest.fixture
def sources(tmp_path: Path) -> Iterator[dict[str, Path]]:
    folder = tmp_path / "data"
    open_database(None, folder).dispose()
    with closing(sqlite3.connect(folder / "portal.sqlite")) as db, db:
        db.execute("INSERT INTO purges (number, bucket) VALUES (1, 7)")
    with closing(sqlite3.connect(folder / "cache.sqlite")) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE entries (value BLOB)")
        db.execute("INSERT INTO entries VALUES (?)", (b"an answer" * 1000,))
    (folder / "secret_key").write_text(KEY)
    yield {name: folder / name for name in ("cache.sqlite", "portal.sqlite", "secret_key")}


def put_back(file: Path, targets: dict[str, Path], demo: bool = False) -> Manifest:
    return restore(file, targets, demo, lambda *_: None)


def targets_in(folder: Path) -> dict[str, Path]:
    return {name: folder / name for name in ("cache.sqlite", "portal.sqlite", "secret_key")}


def test_restored_files_equal_the_backed_up_ones(tmp_path: Path, sources: dict[str, Path]) -> None:
    file, targets = tmp_path / "backup", targets_in(tmp_path / "new" / "data")
    made = back_up(file, sources, demo=False)
    assert file.stat().st_mode & 0o777 == 0o600
    assert made.schema == SCHEMA_HEAD
    assert put_back(file, targets) == made
    assert sorted(path.name for path in (tmp_path / "new" / "data").iterdir()) == sorted(targets)
    for path in targets.values():
        assert path.stat().st_mode & 0o777 == 0o600
    assert targets["secret_key"].read_text() == KEY
    with closing(sqlite3.connect(targets["cache.sqlite"])) as db:
        assert db.execute("SELECT * FROM entries").fetchall() == [(b"an answer" * 1000,)]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["backup", "data", "new"]


def test_backup_replaces_no_file(tmp_path: Path, sources: dict[str, Path]) -> None:
    file = tmp_path / "backup"
    file.write_text("precious")
    with pytest.raises(BackupRefused, match="exists"):
        back_up(file, sources, demo=False)
    assert file.read_text() == "precious"


@pytest.mark.parametrize("present", ["cache.sqlite", "portal.sqlite", "secret_key"])
def test_restore_replaces_no_file(tmp_path: Path, sources: dict[str, Path], present: str) -> None:
    file, targets = tmp_path / "backup", targets_in(tmp_path / "new")
    back_up(file, sources, demo=False)
    targets[present].parent.mkdir()
    targets[present].write_text("precious")
    with pytest.raises(BackupRefused, match="exists"):
        put_back(file, targets)
    assert [path.name for path in (tmp_path / "new").iterdir()] == [present]
    assert targets[present].read_text() == "precious"


@pytest.mark.parametrize("journal", ["cache.sqlite-wal", "portal.sqlite-shm", "portal.sqlite-wal"])
def test_restore_refuses_journal_of_former_file(
    tmp_path: Path, sources: dict[str, Path], journal: str
) -> None:
    """SQLite would apply the journal of a killed portal to the restored file."""
    file, targets = tmp_path / "backup", targets_in(tmp_path / "new")
    back_up(file, sources, demo=False)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / journal).write_bytes(b"former")
    with pytest.raises(BackupRefused, match=journal):
        put_back(file, targets)
    assert [path.name for path in (tmp_path / "new").iterdir()] == [journal]


def test_backup_without_key_needs_the_key(tmp_path: Path, sources: dict[str, Path]) -> None:
    file, targets = tmp_path / "backup", targets_in(tmp_path / "new")
    del sources["secret_key"]
    back_up(file, sources, demo=False)

    def refuse(database: Path, key: str | None) -> None:
        assert database.exists()
        raise BackupRefused(f"the key is {key}")

    with pytest.raises(BackupRefused, match="the key is None"):
        restore(file, targets, False, refuse)
    assert list((tmp_path / "new").iterdir()) == []
    put_back(file, targets)
    assert targets["portal.sqlite"].exists()


def test_demonstration_and_upstream_are_not_mixed(tmp_path: Path, sources: dict[str, Path]) -> None:
    file, targets = tmp_path / "backup", targets_in(tmp_path / "new")
    back_up(file, sources, demo=True)
    with pytest.raises(BackupRefused, match="demonstration"):
        put_back(file, targets)


def read(archive: tarfile.TarFile, name: str) -> bytes:
    member = archive.extractfile(name)
    assert member is not None, name
    return member.read()


def rewritten(file: Path, changed: dict[str, bytes]) -> None:
    """Replace members of an archive."""
    with tarfile.open(file) as archive:
        members = {each.name: read(archive, each.name) for each in archive}
    with tarfile.open(file, "w") as archive:
        for name, content in (members | changed).items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def manifest_of(file: Path) -> dict[str, object]:
    with tarfile.open(file) as archive:
        return msgspec.json.decode(read(archive, "manifest.json"), type=dict[str, object])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"schema": "9999"}, "the schema of another version"),
        ({"schema": "0007"}, "the schema of a version before the first release"),
        ({"format": 3}, "newer version"),
        ({"sizes": {"../evil": 1}}, "newer version"),
        ({"sizes": {"portal.sqlite": 1}}, "not complete"),
        ({"made_at": "never"}, "no backup"),
    ],
)
def test_other_versions_are_refused(
    tmp_path: Path, sources: dict[str, Path], change: dict[str, object], reason: str
) -> None:
    file, targets = tmp_path / "backup", targets_in(tmp_path / "new")
    back_up(file, sources, demo=False)
    rewritten(file, {"manifest.json": msgspec.json.encode(manifest_of(file) | change)})
    with pytest.raises(BackupRefused, match=reason):
        put_back(file, targets)
    assert not any(path.exists() for path in targets.values())


def test_newer_manifest_with_other_members_is_named_as_newer(
    tmp_path: Path, sources: dict[str, Path]
) -> None:
    file = tmp_path / "backup"
    back_up(file, sources, demo=False)
    rewritten(file, {"manifest.json": b'{"format": 3, "parts": []}'})
    with pytest.raises(BackupRefused, match="newer version"):
        put_back(file, targets_in(tmp_path / "new"))


def test_backup_of_the_former_format_is_restored(tmp_path: Path, sources: dict[str, Path]) -> None:
    """Its manifest has the SHA-256 of each file, which the checks of the databases replaced."""
    file, targets = tmp_path / "backup", targets_in(tmp_path / "new")
    back_up(file, sources, demo=False)
    manifest = manifest_of(file)
    sizes = manifest.pop("sizes")
    assert isinstance(sizes, dict)
    files = {name: {"size": size, "sha256": "0" * 64} for name, size in sizes.items()}
    former = manifest | {"format": 1, "schema": "0008", "key_fingerprint": None, "files": files}
    rewritten(file, {"manifest.json": msgspec.json.encode(former)})
    put_back(file, targets)
    assert all(path.exists() for path in targets.values())


def test_damaged_backup_is_refused(tmp_path: Path, sources: dict[str, Path]) -> None:
    file, targets = tmp_path / "backup", targets_in(tmp_path / "new")
    back_up(file, sources, demo=False)
    whole = file.read_bytes()
    rewritten(file, {"cache.sqlite": b"not what was backed up"})
    damaged = [file.read_bytes(), whole[: len(whole) // 2], b"", b"text", whole[1024:]]
    file.write_bytes(whole)
    with tarfile.open(file) as archive:
        content = read(archive, "portal.sqlite")
    rewritten(file, {"portal.sqlite": content[:4096] + bytes(8192) + content[12288:]})
    damaged.append(file.read_bytes())  # of the same size, but corrupt
    for content in damaged:
        file.write_bytes(content)
        with pytest.raises(BackupRefused):
            put_back(file, targets)
        assert not any(path.exists() for path in targets.values())


def test_corrupt_source_is_refused(tmp_path: Path, sources: dict[str, Path]) -> None:
    with sources["portal.sqlite"].open("r+b") as file:
        file.seek(5000)
        file.write(b"\xff" * 8000)
    with pytest.raises((BackupRefused, sqlite3.DatabaseError)):
        back_up(tmp_path / "backup", sources, demo=False)
    assert not (tmp_path / "backup").exists()


def test_full_disk_leaves_no_backup(
    tmp_path: Path, sources: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_write_archive", full)
    with pytest.raises(OSError, match="No space"):
        back_up(tmp_path / "backup", sources, demo=False)
    assert [each.name for each in tmp_path.iterdir()] == ["data"]


def test_what_has_ended_since_ends_again(tmp_path: Path, sources: dict[str, Path]) -> None:
    with closing(sqlite3.connect(sources["portal.sqlite"])) as db, db:
        for name in ("purged", "kept"):
            db.execute(
                "INSERT INTO history (visitor, subject, asked_at, sealed) VALUES (?, ?, 0, x'00')",
                (name, name),
            )
            db.execute(
                "INSERT INTO ledger (sent_at, day, operation, subject, origin, caller, price, "
                "outcome) VALUES (0, '', '', ?, '', '', '0', '')",
                (name,),
            )
    file, targets = tmp_path / "backup", targets_in(tmp_path / "new")
    back_up(file, sources, demo=False)
    with closing(sqlite3.connect(sources["portal.sqlite"])) as db, db:
        db.execute("INSERT INTO purges (number, bucket) VALUES (2, 9)")
        db.execute("DELETE FROM history WHERE subject = 'purged'")
        db.execute("UPDATE ledger SET subject = '' WHERE subject = 'purged'")
    counts = []

    def amend(database: Path, _key: str | None) -> None:
        for _ in range(2):
            ended = end_what_has_ended(database, sources["portal.sqlite"])
            counts.append((ended["purges"], ended["entries of histories"]))

    restore(file, targets, False, amend)
    assert counts == [(1, 1), (0, 0)]
    with closing(sqlite3.connect(targets["portal.sqlite"])) as db:
        assert db.execute("SELECT subject FROM history").fetchall() == [("kept",)]
        assert db.execute("SELECT subject FROM ledger").fetchall() == [("",), ("kept",)]
        assert db.execute("SELECT max(number) FROM purges").fetchone() == (2,)
    assert b"purged" not in targets["portal.sqlite"].read_bytes()


def test_declarations_of_a_restored_backup_are_those_of_the_later_state(
    tmp_path: Path, sources: dict[str, Path]
) -> None:
    with closing(sqlite3.connect(sources["portal.sqlite"])) as db, db:
        for line in ("kept", "purged", "changed"):
            db.execute(
                "INSERT INTO declarations (owner, subject, line, declared_at, sealed) "
                "VALUES ('o', 's', ?, 0, x'00')",
                (line,),
            )
    file, targets = tmp_path / "backup", targets_in(tmp_path / "new")
    back_up(file, sources, demo=False)
    with closing(sqlite3.connect(sources["portal.sqlite"])) as db, db:
        db.execute("DELETE FROM declarations WHERE line = 'purged'")
        db.execute("UPDATE declarations SET sealed = x'01', declared_at = 5 WHERE line = 'changed'")

    def amend(database: Path, _key: str | None) -> None:
        end_what_has_ended(database, sources["portal.sqlite"])

    restore(file, targets, False, amend)
    query = "SELECT line, sealed, declared_at FROM declarations ORDER BY line"
    with closing(sqlite3.connect(targets["portal.sqlite"])) as db:
        assert db.execute(query).fetchall() == [("changed", b"\1", 5.0), ("kept", b"\0", 0.0)]
    assert b"purged" not in targets["portal.sqlite"].read_bytes()


def test_earlier_state_is_refused(tmp_path: Path, sources: dict[str, Path]) -> None:
    file, earlier = tmp_path / "backup", tmp_path / "earlier"
    earlier.mkdir()
    (earlier / "portal.sqlite").write_bytes(sources["portal.sqlite"].read_bytes())
    with closing(sqlite3.connect(sources["portal.sqlite"])) as db, db:
        db.execute("INSERT INTO purges (number, bucket) VALUES (2, 9)")
    back_up(file, sources, demo=False)
    targets = targets_in(tmp_path / "new")

    def amend(database: Path, _key: str | None) -> None:
        end_what_has_ended(database, earlier / "portal.sqlite")

    with pytest.raises(BackupRefused, match="no later state"):
        restore(file, targets, False, amend)
    assert not any(path.exists() for path in targets.values())
