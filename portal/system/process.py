"""Checks and settings of a process: listening address, processor, priority, parent process."""

import contextlib
import os
import signal
import socket
import threading
import time


def numeric_address(host: str, port: int) -> str:
    """Return a host's address in numbers, IPv4 first. Raises OSError if it has none.

    The server takes numbers only.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return str(min(found, key=lambda each: each[0] != socket.AF_INET)[4][0])


def bind_error(host: str, port: int) -> str | None:
    """Return why the address cannot be bound, or None.

    The server shares its port among its workers. Without this check it would also share the port
    with an unrelated server and answer only half of the requests.
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

    Only one thread of a worker runs at a time, because of the interpreter's lock. Passing the lock
    to a thread on another processor takes the time of a wake-up. With more or fewer processors, or
    if the process may not choose among them, the system places the workers.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    with contextlib.suppress(OSError):
        processors = sorted(os.sched_getaffinity(0))
        # During a reload a new worker runs beside the one it replaces, so its number may exceed
        # the number of processors.
        if number < workers == len(processors):
            os.sched_setaffinity(0, {processors[number]})


def lower_priority(niceness: int) -> None:
    """Let other processes run first, unless the system denies the call, as a sandbox may."""
    with contextlib.suppress(OSError):
        os.nice(niceness)


def exit_with_parent(every_s: float = 1.0) -> None:
    """End this worker when the main process ends, checked every ``every_s`` seconds.

    Granian's workers would continue without the main process. The signal handlers are reset too,
    so that SIGTERM ends a worker while it loads. Until Granian sets its own handlers, a forked
    worker has those of the main process, which would ignore the signal and delay the stop until
    the worker is killed.
    """
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_DFL)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(every_s)
        os._exit(0)

    threading.Thread(target=watch, name="parent", daemon=True).start()
