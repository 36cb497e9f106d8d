"""Makes backups of the data files while portals run, and restores backups while no portal runs.

A backup is a tar archive with a manifest, a snapshot of each SQLite file (VACUUM INTO) and, if
requested, the secret key's file. The cache is copied before the database. The portal writes a
call's row in the ledger before it caches the answer. The copied ledger therefore has a row for
every copied answer. If a vehicle's data is purged (deleted) between the two copies, the copied
cache still contains the data. The copied purge log contains the purge, and the first start after a
restore repeats the purge in the cache.
"""

import fcntl
import os
import shutil
import sqlite3
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from portal.storage.schema import REVISIONS, mismatch
from portal.storage.secret import NAME as KEY_NAME
from portal.storage.secret import sync_directory
from portal.storage.sqlite_traces import file_uri

CACHE_NAME: Final = "cache.sqlite"
DATABASE_NAME: Final = "portal.sqlite"
_NAMES: Final = (CACHE_NAME, DATABASE_NAME, KEY_NAME)
_MANIFEST: Final = "manifest.json"
_FORMAT: Final = 2
_NEWER: Final = "the backup was made by a newer version of the portal: restore it there"
_BACKUP_PREFIX: Final = ".backup-"
_RESTORE_PREFIX: Final = ".restore-"
_WAIT_S: Final = 30.0
# Endings of the names of SQLite's journals. If a journal of an earlier database were still there,
# SQLite would apply the journal to the restored database.
_JOURNALS: Final = ("-wal", "-shm", "-journal")


class BackupRefused(Exception):
    """A backup or a restore was refused and has changed nothing.

    The message is one line for the operator.
    """


class Manifest(msgspec.Struct, frozen=True):
    """Describes a backup. The manifest is the first file in the archive.

    ``made_at`` is in epoch seconds. ``schema`` is the revision of the database's schema, or None if
    the backup contains no database. ``sizes`` are the files' sizes in bytes.
    """

    format: int
    made_at: float
    demo: bool
    schema: str | None
    sizes: dict[str, int]


class _Format(msgspec.Struct, frozen=True):
    """What the manifests of all formats have. Backups of format 1 have files in place of sizes."""

    format: int


class _FormerFile(msgspec.Struct, frozen=True):
    size: int


class _FormerManifest(msgspec.Struct, frozen=True):
    made_at: float
    demo: bool
    schema: str | None
    files: dict[str, _FormerFile]


def back_up(file: Path, sources: Mapping[str, Path], demo: bool) -> Manifest:
    """Write a backup of those ``sources`` that exist. Raises BackupRefused or OSError.

    ``sources`` maps names in the backup to paths. ``file`` appears only when the backup is
    complete. Only its owner can read ``file``.
    """
    if os.path.lexists(file):
        raise BackupRefused(f"{file} exists: a backup replaces no file")
    with _folder_in(file.parent, _BACKUP_PREFIX) as folder:
        copies = {}
        for name in _NAMES:
            if name in sources and sources[name].exists():
                copies[name] = folder / name
                copy = shutil.copyfile if name == KEY_NAME else _copy_database
                copy(sources[name], copies[name])
        if not copies.keys() - {KEY_NAME}:
            raise BackupRefused("there is nothing to back up")
        manifest = Manifest(
            format=_FORMAT,
            made_at=time.time(),
            demo=demo,
            schema=_revision(copies[DATABASE_NAME]) if DATABASE_NAME in copies else None,
            sizes={name: path.stat().st_size for name, path in copies.items()},
        )
        (folder / _MANIFEST).write_bytes(msgspec.json.encode(manifest))
        draft = folder / "draft"
        _write_archive(draft, [folder / _MANIFEST, *copies.values()])
        try:
            os.link(draft, file)  # fails if the file has been created meanwhile
        except FileExistsError:
            raise BackupRefused(f"{file} exists: a backup replaces no file") from None
    sync_directory(file.parent)
    return manifest


def restore(
    file: Path,
    targets: Mapping[str, Path],
    demo: bool,
    amend: Callable[[Path, str | None], None],
) -> Manifest:
    """Copy the files of a backup to ``targets``. Raises BackupRefused or OSError.

    ``targets`` maps names in the backup to paths. If the settings contain a secret key, ``targets``
    must not contain the key's file. ``amend(database, key)`` may change the copied database before
    the copy gets its final name, or refuse it. ``key`` is the secret key that is restored from the
    backup, or None if no key is restored. ``restore`` replaces no existing file.
    """
    with _archive(file) as archive, ExitStack() as stack:
        manifest = _manifest(archive, file)
        _check_targets(manifest, targets, demo)
        names = [name for name in _NAMES if name in manifest.sizes and name in targets]
        folders = {}
        for parent in {targets[name].parent for name in names}:
            parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            folders[parent] = stack.enter_context(_folder_in(parent, _RESTORE_PREFIX))
        drafts = {name: folders[targets[name].parent] / name for name in names}
        for name in names:
            _extract(archive, name, drafts[name])
            if name != KEY_NAME:
                with closing(sqlite3.connect(drafts[name])) as db:
                    _require_whole(db, drafts[name])
        key = drafts[KEY_NAME].read_text("ascii") if KEY_NAME in names else None
        if DATABASE_NAME in names:
            amend(drafts[DATABASE_NAME], key)
        for name in names:
            os.link(drafts[name], targets[name])
            sync_directory(targets[name].parent)
    return manifest


def _check_targets(manifest: Manifest, targets: Mapping[str, Path], demo: bool) -> None:
    if manifest.demo != demo:
        raise BackupRefused(
            "the backup is of the demonstration, and PORTAL_UPSTREAM_URL is set"
            if manifest.demo
            else "the backup is of a portal with an upstream, and PORTAL_UPSTREAM_URL is not set"
        )
    unplaced = manifest.sizes.keys() - targets.keys() - {KEY_NAME}
    if unplaced:
        raise BackupRefused(f"with these settings the portal does not use {min(unplaced)}")
    for name, path in targets.items():
        # An existing key file is no obstacle if the backup contains no key.
        if os.path.lexists(path) and (name != KEY_NAME or name in manifest.sizes):
            raise BackupRefused(f"{path} exists: a backup is restored where no data is")
        for journal in (path.with_name(path.name + ending) for ending in _JOURNALS):
            if name != KEY_NAME and os.path.lexists(journal):
                raise BackupRefused(f"{journal} exists: it belongs to a former {path.name}")


def _copy_database(source: Path, copy: Path) -> None:
    with closing(sqlite3.connect(file_uri(source, "ro"), uri=True, timeout=_WAIT_S)) as db:
        _require_whole(db, source)  # VACUUM copies the rows of a corrupt page without an error
        db.execute("VACUUM INTO ?", (str(copy),))


def _require_whole(db: sqlite3.Connection, path: Path) -> None:
    try:
        fault = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        fault = str(error)
    if fault != "ok":
        raise BackupRefused(f"{path.name} is corrupt: {fault.splitlines()[0]}")


def _revision(database: Path) -> str | None:
    with suppress(sqlite3.Error), closing(sqlite3.connect(database)) as db:
        for (revision,) in db.execute("SELECT version_num FROM alembic_version"):
            return str(revision)
    return None


def _write_archive(draft: Path, files: Iterable[Path]) -> None:
    with draft.open("xb") as written:
        draft.chmod(0o600)
        with tarfile.open(fileobj=written, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for file in files:
                file.chmod(0o600)
                archive.add(file, file.name)
        os.fsync(written.fileno())


@contextmanager
def _archive(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(file, "r:") as archive:
            yield archive
    except (tarfile.TarError, EOFError):
        raise BackupRefused(f"{file} is no backup, or not a complete one") from None


def _manifest(archive: tarfile.TarFile, file: Path) -> Manifest:
    try:
        member = archive.extractfile(_MANIFEST)
        content = member.read() if member else b""
        if msgspec.json.decode(content, type=_Format).format > _FORMAT:
            raise BackupRefused(_NEWER)
        manifest = _decoded(content)
    except (KeyError, msgspec.DecodeError):
        raise BackupRefused(f"{file} is no backup of the portal") from None
    if not set(_NAMES) >= manifest.sizes.keys():
        raise BackupRefused(_NEWER)
    if manifest.schema is not None and manifest.schema not in REVISIONS:
        raise BackupRefused(f"in the backup, {mismatch(manifest.schema)}")
    sizes = {member.name: member.size for member in archive if member.name != _MANIFEST}
    if sizes != manifest.sizes:
        raise BackupRefused("the backup is damaged, or not complete")
    return manifest


def _decoded(content: bytes) -> Manifest:
    """Decode a manifest of this format or of a former one. Raises msgspec.DecodeError."""
    if msgspec.json.decode(content, type=_Format).format == _FORMAT:
        return msgspec.json.decode(content, type=Manifest)
    former = msgspec.json.decode(content, type=_FormerManifest)
    sizes = {name: file.size for name, file in former.files.items()}
    return Manifest(_FORMAT, former.made_at, former.demo, former.schema, sizes)


@contextmanager
def _folder_in(parent: Path, prefix: str) -> Iterator[Path]:
    """Yield a new folder in ``parent``, which is locked, and removed after the block.

    Folders that killed processes have left in ``parent`` are removed first.
    """
    with suppress(OSError):  # a purge names what remains
        remove_copies(parent)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # the file system has no locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_copies(parent: Path) -> list[Path]:
    """Remove the folders of copies that killed backups and restores have left in ``parent``.

    Returns the folders that remain. A backup or a restore that is running uses them. Raises OSError
    if a folder cannot be removed.
    """
    remaining = []
    for folder in [*parent.glob(f"{_BACKUP_PREFIX}*"), *parent.glob(f"{_RESTORE_PREFIX}*")]:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
        except BlockingIOError:
            remaining.append(folder)
        finally:
            os.close(lock)
    return remaining


def _extract(archive: tarfile.TarFile, name: str, draft: Path) -> None:
    content = archive.extractfile(name)
    if content is None:
        raise BackupRefused(f"the backup is damaged: {name} is no file")
    with draft.open("xb") as written:
        draft.chmod(0o600)
        shutil.copyfileobj(content, written)
        written.flush()
        os.fsync(written.fileno())
