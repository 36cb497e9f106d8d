"""Checks the listening address, sets priority and signal handling, and ends orphaned workers."""

import contextlib
import ctypes
import os
import signal
import socket
import struct
import sys
import threading
import time
from functools import partial
from typing import Final

_END_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

# The number of the system call sched_setattr. Python has no function for this call, and glibc has
# one only since version 2.41.
_SCHED_SETATTR: Final = {"x86_64": 314, "aarch64": 274}
# struct sched_attr: size, policy, flags, nice, priority, runtime (the slice), deadline, period
_SCHED_ATTR: Final = "IIQiIQQQ"
_SCHED_BATCH: Final = 3
_SHORT_SLICE_NS: Final = 100_000  # the shortest slice that Linux accepts


def numeric_address(host: str, port: int) -> str:
    """Return a host's numeric address, preferably IPv4.

    Granian accepts no host names. Raises OSError if the host has no address.
    """
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return str(min(addresses, key=lambda address: address[0] != socket.AF_INET)[4][0])


def read_port(text: str) -> int | None:
    """Return the TCP port that a text names, or None."""
    port = int(text) if text.isascii() and text.isdecimal() else 0
    return port if 0 < port < 65536 else None


def http_address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def bind_error(host: str, port: int) -> str | None:
    """Return why no socket can be bound to the address, or None if binding works.

    The server's workers share the port (SO_REUSEPORT). Without this check, the workers could also
    share the port with an unrelated server, which would then get part of the requests.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        return error.strerror or str(error)
    return None


def pin_to_processor(number: int, workers: int) -> None:
    """Pin a worker to one processor if there are as many processors as workers.

    Only one thread of a worker runs at a time, because of the global interpreter lock (GIL).
    Passing the lock to a thread on another processor takes extra time. If the system does not
    permit the pinning, the worker is not pinned.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    with contextlib.suppress(OSError):
        processors = sorted(os.sched_getaffinity(0))
        # During a reload, a new worker runs beside the old worker. ``number`` may then be higher
        # than the last index of ``processors``.
        if number < workers == len(processors):
            os.sched_setaffinity(0, {processors[number]})


def lower_priority(niceness: int) -> None:
    """Lower this process's scheduling priority, if the system permits it.

    Call this function before the process starts threads, because Linux sets niceness and scheduling
    policy for each thread separately.
    """
    with contextlib.suppress(OSError):
        use_batch_policy(os.nice(niceness))


def use_batch_policy(niceness: int) -> bool:
    """Choose Linux's policy SCHED_BATCH with a short time slice, and set the niceness.

    A batch thread is a thread with this policy. When a batch thread becomes ready to run, it does
    not interrupt a running thread. A waiting thread may interrupt a batch thread that has run for
    its slice. A short slice therefore shortens the wait.

    The function sets the slice to 0.1 ms. The default is 1.4 ms on two processors. Versions of
    Linux before 6.12 ignore the value of 0.1 ms. Threads that are started later inherit policy,
    slice and niceness. Returns False if the system lacks or forbids sched_setattr(2).
    """
    number = _SCHED_SETATTR.get(os.uname().machine) if sys.platform == "linux" else None
    if number is None:
        return False
    size = struct.calcsize(_SCHED_ATTR)
    attributes = struct.pack(_SCHED_ATTR, size, _SCHED_BATCH, 0, niceness, 0, _SHORT_SLICE_NS, 0, 0)
    return bool(ctypes.CDLL(None).syscall(number, 0, attributes, 0) == 0)


def end_forked_processes_on_signals() -> None:
    """Let SIGTERM and SIGINT end forked processes, even those that have only just started.

    A forked worker inherits the signal handlers of Granian's main process, which do not end the
    worker. A SIGTERM that arrives before the worker has set its own handlers would be lost, because
    the main process sends it only once. A forked process therefore starts with the default
    handlers. Both signals are blocked during the fork, so that no signal arrives before the
    handlers are reset.
    """
    mask = signal.pthread_sigmask

    def reset() -> None:
        for signum in _END_SIGNALS:
            signal.signal(signum, signal.SIG_DFL)
        mask(signal.SIG_UNBLOCK, _END_SIGNALS)

    os.register_at_fork(
        before=partial(mask, signal.SIG_BLOCK, _END_SIGNALS),
        after_in_parent=partial(mask, signal.SIG_UNBLOCK, _END_SIGNALS),
        after_in_child=reset,
    )


def run_late_signal_handlers(every_s: float = 1.0) -> None:
    """Interrupt the main thread every ``every_s`` seconds, so that signal handlers run in time.

    Only the main thread runs signal handlers. If a signal arrives just before the main thread
    waits for a lock, the handler runs only after the wait. Granian's wait has no time limit.
    """
    signal.signal(signal.SIGALRM, lambda *_: None)
    main_thread = threading.main_thread().ident
    assert main_thread is not None, "the main thread runs"

    def interrupt() -> None:
        while True:
            time.sleep(every_s)
            signal.pthread_kill(main_thread, signal.SIGALRM)

    threading.Thread(target=interrupt, name="signals", daemon=True).start()


def exit_with_parent() -> None:
    """End this worker within a second after the main process has ended.

    Without this function, Granian's workers would outlive a killed main process.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(0)

    threading.Thread(target=watch, name="parent", daemon=True).start()
