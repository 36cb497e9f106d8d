"""Process functions: check the listening address, set processor and priority, watch the parent."""

import contextlib
import os
import signal
import socket
import threading
import time


def numeric_address(host: str, port: int) -> str:
    """Return a host's numeric address, preferably IPv4.

    Raises OSError if the host has no address. The server accepts only numeric addresses.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return str(min(found, key=lambda each: each[0] != socket.AF_INET)[4][0])


def bind_error(host: str, port: int) -> str | None:
    """Return why a socket cannot be bound to the address, or None.

    Because the server's workers share the port, they could also share it with an unrelated server,
    which would get part of the requests. ``bind_error`` detects any server that uses the port.
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

    Because of the interpreter's lock, only one thread of a worker runs at a time. It takes extra
    time to pass the lock to a thread on another processor. If the numbers of processors and workers
    differ, or if the process may not choose a processor, the operating system places the workers.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    with contextlib.suppress(OSError):
        processors = sorted(os.sched_getaffinity(0))
        # During a reload a new worker runs beside the old worker, so the new worker's number may be
        # higher than the number of processors.
        if number < workers == len(processors):
            os.sched_setaffinity(0, {processors[number]})


def lower_priority(niceness: int) -> None:
    """Let other processes run first, unless the system denies the call, as a sandbox may."""
    with contextlib.suppress(OSError):
        os.nice(niceness)


def exit_with_parent(every_s: float = 1.0) -> None:
    """End this worker soon after the main process has ended.

    A thread checks every ``every_s`` seconds whether the main process still runs, because Granian's
    workers would outlive the main process. The function also resets the signal handlers that a
    worker inherits from the main process. The inherited handlers would ignore a SIGTERM that
    arrives while the worker is loading.
    """
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_DFL)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(every_s)
        os._exit(0)

    threading.Thread(target=watch, name="parent", daemon=True).start()
