"""Entry points of ``python app.py`` and of its worker processes."""

import gc
import io
import logging
import os
import sys
from multiprocessing.util import Finalize

from flask import Flask

from portal.factory import PROJECT_ROOT, SPARE_S, Portal, ServerProcess, environment_settings
from portal.serving.activation import UnusableSocket, inherited_address
from portal.serving.batch_process import BatchProcess, batch_request
from portal.serving.inherited import (
    DATA_KEY_VARIABLE,
    SHARED_DIR_VARIABLE,
    THREADS_VARIABLE,
    inherited_data_key,
    join_shared_directory,
)
from portal.serving.send_timeout import set_send_timeout
from portal.serving.server import Draining, serve
from portal.startup import exit_on_startup_error, prepare, warn_of_settings
from portal.system.open_file_limits import raise_open_files_limit, require_open_files
from portal.system.process import (
    bind_error,
    end_forked_processes_on_signals,
    exit_with_parent,
    http_address,
    numeric_address,
    read_port,
    run_late_signal_handlers,
)
from portal.system.shared_counters import COUNTER_BYTES
from portal.system.shared_directory import (
    candidate_parents,
    make_shared_directory,
)
from portal.system.thread_limits import free_threads, read_threads, share_threads
from portal.upstream.breaker import BYTES_PER_BREAKER
from portal.upstream.trust import require_usable_authorities
from portal.web.http.rate_limits import LIMIT_COUNTERS
from portal.web.observability.logs import set_up_logging
from portal.web.observability.metrics import BYTES_PER_WORKER

log = logging.getLogger("portal")

WORKER = "portal.serving.process:worker"


def worker() -> Flask:
    """Return the application of a worker process. Granian calls this function in each worker."""
    exit_with_parent()
    run_late_signal_handlers()
    settings = environment_settings()
    set_up_logging(settings.secrets, settings.log_format)
    shared = join_shared_directory(settings.workers)
    portal = Portal(
        settings,
        inherited_data_key(),
        ServerProcess(
            shared,
            threads=read_threads(os.environ.get(THREADS_VARIABLE, "")),
            is_draining=Draining(shared).has_begun,
            ask_for_batches=batch_request(shared),
        ),
    )
    app = portal.app
    set_send_timeout()
    # Start the scheduler now, not at the first request, so that it deletes expired data on time.
    portal.scheduler.start()
    # ``Finalize`` is used instead of atexit, because a forked worker never runs atexit functions.
    # The highest exitpriority runs first.
    Finalize(None, portal.finish, exitpriority=1)
    if portal.tracing:
        Finalize(None, portal.tracing.close, exitpriority=0)
    # The garbage collector ignores frozen objects. Without the freeze, a full collection would stop
    # all requests for 40 ms.
    gc.collect()
    gc.freeze()
    return app


def main() -> None:
    """Run the server on HOST:PORT. ``python app.py`` calls this function."""
    settings = environment_settings()
    host, port_text = os.environ.get("HOST") or "127.0.0.1", os.environ.get("PORT") or "8000"
    if (port := read_port(port_text)) is None:
        sys.exit(f"dossie-veicular: PORT makes no sense: {port_text}")
    try:
        address = numeric_address(host, port)
    except (OSError, UnicodeError):
        sys.exit(f"dossie-veicular: HOST makes no sense: {host}")
    try:
        inherited = inherited_address(os.environ, os.getpid())
    except UnusableSocket as error:
        sys.exit(f"dossie-veicular: {error}")
    if inherited is not None:
        host, port = inherited
    elif (reason := bind_error(address, port)) is not None:
        sys.exit(f"dossie-veicular: cannot listen on {host}:{port}: {reason}")
    set_up_logging(settings.secrets, settings.log_format)
    raise_open_files_limit()
    with exit_on_startup_error():
        require_usable_authorities(os.environ.get("SSL_CERT_FILE"))
        require_open_files()
        # The main process prepares the database before it starts any worker. If the database is
        # unreachable, the server exits with a single error line.
        lock, data_key = prepare(settings)
        threads = share_threads(free_threads(), settings.workers)
    warn_of_settings(settings)
    # With the default error handler (``strict``), ``print`` would fail on a terminal whose encoding
    # has no accented letters.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    mode_labels = {"demo": "demonstração, dados fictícios", "managed": "gerenciado"}
    mode = mode_labels.get(settings.mode, "credencial de quem pede")
    print(f"Dossiê Veicular em {http_address(host, port)} ({mode})", flush=True)
    longest_request_s = settings.deadline + SPARE_S
    room = (settings.workers + 1) * BYTES_PER_WORKER + 2 * BYTES_PER_BREAKER
    room += LIMIT_COUNTERS * COUNTER_BYTES
    shared = make_shared_directory(candidate_parents(), room)
    os.environ[SHARED_DIR_VARIABLE] = str(shared.path) if shared else ""
    os.environ[THREADS_VARIABLE] = str(threads)
    os.environ[DATA_KEY_VARIABLE] = data_key.hex()
    batches = BatchProcess(shared.path) if shared else None
    end_forked_processes_on_signals()
    run_late_signal_handlers()
    try:
        serve(
            WORKER,
            home=PROJECT_ROOT,
            longest_request_s=longest_request_s,
            threads=threads,
            address=address,
            port=port,
            workers=settings.workers,
            drain_s=settings.drain_seconds,
            draining=Draining(shared.path if shared else None),
            before_stop=batches.begin_stop if batches else None,
            is_activated=inherited is not None,
        )
    finally:
        if batches:
            batches.stop(longest_request_s)
        lock.release()
        if shared:
            shared.remove()
