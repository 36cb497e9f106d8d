"""The addresses, processors and parents of a process."""

import contextlib
import os
import signal
import socket
import threading
import time


def bind_error(host: str, port: int) -> str | None:
    """Why the address cannot be bound, or None.

    The server itself shares its port among its workers, so it would share it with a stranger's
    server too, and answer half of the requests.
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
    """Let worker ``number`` run on one processor, where there are as many as workers.

    Its threads take turns at the interpreter's lock wherever they run; from one processor to
    another each turn waits for a wake-up. Where processors are more or fewer, or nobody may choose
    among them, the system places the workers.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    with contextlib.suppress(OSError):
        processors = sorted(os.sched_getaffinity(0))
        # In a reload a newcomer meets the one it replaces: it has no processor of its own yet.
        if number < workers == len(processors):
            os.sched_setaffinity(0, {processors[number]})


def exit_with_parent(every_s: float = 1.0) -> None:
    """Let this worker end when the main process is gone: Granian's would go on alone.

    And let SIGTERM end it while it loads: until Granian sets its own handlers, a forked worker
    has the main process's, which would swallow the signal and hold up the stop until it is killed.
    """
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_DFL)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(every_s)
        os._exit(0)

    threading.Thread(target=watch, name="parent", daemon=True).start()
