"""Request coalescing, in which one leader for each key calls the upstream.

In each process, the first thread that looks up a key is the leader. Other threads that look up the
key are followers, and wait for the leader's result. The leaders of several processes compete for a
lease. A leader without the lease polls the store until it finds the lease holder's answer.

File leases work between the processes of one machine. If the holder of a file lease dies, the
kernel releases the holder's file lock and thus the lease.
"""

import contextlib
import errno
import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from portal.gateway.lookup import Failure

log = logging.getLogger(__name__)

RETRY_AFTER_S = 1.0
RENEW_S = 1.0
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


class Leases(Protocol):
    """Lets one process at a time hold the lease of a store key.

    ``hold`` yields a fence to the process that gets the lease, and None to any other process. A
    fence is a fencing token: the time in microseconds since 1970 at which the process got the
    lease. Each fence from Redis is higher than the previous fence, even if the clock was set back.
    The store rejects a value whose fence is lower than the fence of the stored value.
    """

    def hold(self, key: str) -> contextlib.AbstractContextManager[int | None]: ...

    def forget(self, tag: str) -> None:
        """Remove the files of a vehicle's leases, except leases that a process holds."""
        ...

    def renew(self) -> None:
        """Prolong the leases that this process holds. The scheduler calls it every RENEW_S."""
        ...


def fence_now() -> int:
    return time.time_ns() // 1000


class FileLeases:
    """Leases by file locks (flock), with one file for each key.

    If the directory is not writable or its file system has no locks, every process gets the lease.
    Lookups still work, but several processes may call the upstream for the same key. If the process
    has no file descriptor or memory left, ``hold`` raises Failure("unreachable"). If ``hold``
    granted the lease to each of many equal concurrent lookups, all of them would be charged.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @contextlib.contextmanager
    def hold(self, key: str) -> Iterator[int | None]:
        path = self._directory / key.replace(":", "-")
        try:
            file = self._open(path)
        except OSError as error:
            if error.errno in _EXHAUSTED:
                raise Failure("unreachable", RETRY_AFTER_S) from None
            log.warning("cannot open a lease file: %s", type(error).__name__)
            yield fence_now()
            return
        try:
            is_leader, should_unlink = _try_acquire(file, path)
            if not is_leader:
                yield None
                return
            try:
                yield fence_now()
            finally:
                # Remove the file before its lock is released. Otherwise, a process that has already
                # opened the file could get the lease. ``_try_acquire`` rejects a removed file.
                if should_unlink:
                    with contextlib.suppress(OSError):
                        path.unlink()
        finally:
            os.close(file)

    def forget(self, tag: str) -> None:
        self._remove_unheld(f"{tag}-*")

    def renew(self) -> None:
        """Do nothing, because the kernel keeps a file lock until its holder releases it."""

    def remove_released(self) -> None:
        """Remove the files of all leases that no process holds. Raises OSError."""
        self._remove_unheld("*")

    def _remove_unheld(self, pattern: str) -> None:
        for path in self._directory.glob(pattern):
            with contextlib.suppress(FileNotFoundError):
                file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                try:
                    _, should_unlink = _try_acquire(file, path)
                    if should_unlink:
                        path.unlink()
                finally:
                    os.close(file)

    def _open(self, path: Path) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:  # the directory does not exist yet, or was removed
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            return os.open(path, flags, 0o600)


_LOCKS_UNSUPPORTED = frozenset({errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})


def _try_acquire(file: int, path: Path) -> tuple[bool, bool]:
    """Return whether this process has the lease, and whether it must remove the file.

    A lock on a removed file is useless, because other processes open a new file at ``path``.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_held = os.fstat(file).st_ino == path.stat().st_ino
        return is_held, is_held
    except (BlockingIOError, FileNotFoundError):
        return False, False
    except OSError as error:
        log.warning("cannot lock a lease file: %s", errno.errorcode.get(error.errno or 0, "?"))
        # If the file system has no locks, no other process depends on the file, so this process
        # removes the file. If the system has run out of locks (ENOLCK), another process may have
        # locked the file, so the file must stay.
        return True, error.errno in _LOCKS_UNSUPPORTED


POLL_INTERVAL_S = 0.025

T = TypeVar("T")


class _LeaderFailed(Exception):
    """The leader has no result for its followers, so a follower must become the leader."""


class SingleFlight(Generic[T]):
    """Runs at most one upstream call at a time for each key.

    Each cache miss needs file descriptors for a lease and for a connection to the upstream. A
    process holds or requests at most ``limit`` leases at a time, which leaves descriptors for new
    clients and for the databases. Beyond the limit, ``run`` raises Failure("unreachable") at once,
    before a request is sent or charged.
    """

    def __init__(self, leases: Leases, limit: int) -> None:
        self._leases = leases
        self._slots = threading.BoundedSemaphore(limit)
        self._flights: dict[str, Future[T]] = {}  # needs no lock: ``setdefault`` is atomic

    def run(
        self,
        key: str,
        attempt: Callable[[int | None], T | None],
        deadline: float,
    ) -> tuple[T, bool]:
        """Return the leader's result, and whether the calling thread is the leader.

        Of the concurrent threads with the same ``key``, the first is the leader. The other threads
        are followers.

        ``attempt`` returns the result that another process has stored, or raises the Failure that
        another process has stored. Otherwise it calls the upstream if it receives the fence
        (fencing token) of the lease, or returns None if it receives None.

        Raises the leader's Failure, or Failure("too_slow") at ``deadline`` (monotonic seconds). If
        the failure concerns only the leader's own caller, the followers do not get the failure, and
        one of the followers becomes the leader.
        """
        while True:
            own: Future[T] = Future()
            flight = self._flights.setdefault(key, own)
            if flight is own:
                return self._lead(key, flight, attempt, deadline), True
            try:
                return flight.result(timeout=max(0.0, deadline - time.monotonic())), False
            except _LeaderFailed:
                continue
            except TimeoutError:
                raise Failure("too_slow") from None

    def _lead(
        self,
        key: str,
        flight: "Future[T]",
        attempt: Callable[[int | None], T | None],
        deadline: float,
    ) -> T:
        outcome: BaseException = _LeaderFailed()
        value: T | None = None
        try:
            value = self._acquire_or_poll(key, attempt, deadline)
        except Failure as failure:
            if not failure.is_caller_specific:
                outcome = failure
            raise
        except Exception:
            # After an internal error the call may have been charged, so the followers fail and do
            # not repeat the call.
            outcome = Failure("bad_answer")
            raise
        finally:
            del self._flights[key]
            if value is not None:
                flight.set_result(value)
            else:
                flight.set_exception(outcome)
        if value is None:
            raise Failure("too_slow")  # the followers may have later deadlines
        return value

    def _acquire_or_poll(
        self, key: str, attempt: Callable[[int | None], T | None], deadline: float
    ) -> T | None:
        """Call ``attempt`` until it has a result: with the lease, or while another holds it.

        Returns None at the deadline.
        """
        while True:
            if not self._slots.acquire(blocking=False):
                raise Failure("unreachable", RETRY_AFTER_S)
            try:
                with self._leases.hold(key) as fence:
                    in_time = time.monotonic() + POLL_INTERVAL_S < deadline
                    result = attempt(fence if in_time else None)
            finally:
                self._slots.release()
            if result is not None or not in_time:
                return result
            time.sleep(POLL_INTERVAL_S)
