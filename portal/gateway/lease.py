"""Leases: who may ask the upstream for a key, over processes and machines.

A lease frees itself when its holder dies: the kernel drops the lock of a dead process, Redis
lets a lease expire that nobody renews.
"""

import contextlib
import fcntl
import os
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol


class Leases(Protocol):
    """``hold`` yields True to the one holder of a key at a time, False to everybody else."""

    def hold(self, key: str) -> contextlib.AbstractContextManager[bool]: ...


class FileLeases:
    """flock on a file a key, for the processes of one machine."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._made = False

    @contextlib.contextmanager
    def hold(self, key: str) -> Iterator[bool]:
        if not self._made:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._made = True
        path = self._directory / key.replace(":", "-")
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not _lock(file, path):
                yield False
                return
            try:
                yield True
            finally:
                # Removed while still locked: who opened it before sees the inode change.
                with contextlib.suppress(FileNotFoundError):
                    path.unlink()
        finally:
            os.close(file)


def _lock(file: int, path: Path) -> bool:
    """Whether we hold the lock of the file that is at ``path`` now, not of one just removed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(file).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False


class RedisLeases:
    """A key with an expiry a lease, renewed by one heartbeat thread a process.

    With Redis away every process leads for itself: coalescing shrinks to one call a process,
    and nobody is refused.
    """

    LIFETIME_MS = 3000
    HEARTBEAT_S = 1.0
    _RENEW = """
        if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
        return redis.call("pexpire", KEYS[1], ARGV[2])"""
    _RELEASE = """
        if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
        return redis.call("del", KEYS[1])"""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._renew = client.register_script(self._RENEW)
        self._release = client.register_script(self._RELEASE)
        self._held: dict[str, str] = {}
        self._change = threading.Condition()
        self._heart: threading.Thread | None = None

    @contextlib.contextmanager
    def hold(self, key: str) -> Iterator[bool]:
        name, mine = f"portal:lease:{key}", secrets.token_hex(8)
        try:
            taken = bool(self._client.set(name, mine, nx=True, px=self.LIFETIME_MS))
        except Exception:
            taken = True
        if not taken:
            yield False
            return
        with self._change:
            self._held[name] = mine
            if self._heart is None:
                self._heart = threading.Thread(target=self._beat, name="lease", daemon=True)
                self._heart.start()
            self._change.notify()
        try:
            yield True
        finally:
            with self._change:
                del self._held[name]
            with contextlib.suppress(Exception):
                self._release(keys=[name], args=[mine])

    def _beat(self) -> None:
        while True:
            with self._change:
                while not self._held:
                    self._change.wait()
                self._change.wait(self.HEARTBEAT_S)
                held = list(self._held.items())
            for name, mine in held:
                with contextlib.suppress(Exception):
                    self._renew(keys=[name], args=[mine, self.LIFETIME_MS])
