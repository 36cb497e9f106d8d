"""``python app.py`` and what each of its worker processes runs."""

import gc
import logging
import os
import sys
from multiprocessing.util import Finalize
from pathlib import Path

from flask import Flask

from portal.factory import PROJECT_ROOT, SPARE_S, create_app, environment_settings
from portal.serving.server import serve
from portal.startup import exit_on_startup_error, prepare
from portal.system.capacity import raise_open_files_limit
from portal.system.process import bind_error, exit_with_parent, pin_to_processor
from portal.system.shared_directory import candidate_parents, claim_worker_id, make_shared_directory
from portal.upstream import BYTES_PER_BREAKER
from portal.web import BYTES_PER_WORKER, enable_multiprocess, set_up_logging

log = logging.getLogger("portal")

WORKER = "portal.serving.process:worker"
SHARED = "DOSSIE_SHARED"  # by it the main process tells its workers where they share


def worker() -> Flask:
    """The application inside a server process."""
    exit_with_parent()
    settings = environment_settings()
    set_up_logging(settings.secrets)
    shared = _join_the_others(settings.workers)
    app = create_app(settings, shared)
    app.extensions["housekeeper"].start()  # a portal that nobody visits deletes on time too
    # Not atexit, which a forked worker never comes to.
    Finalize(None, app.extensions["housekeeper"].do_all, exitpriority=1)
    # What was loaded stays: to walk it in every full collection would stop all hits for 40 ms.
    gc.collect()
    gc.freeze()
    return app


def _join_the_others(workers: int) -> Path | None:
    """Where this worker shares with the others of its server; None where it is to be alone."""
    given = os.environ.get(SHARED)
    if not given:
        return None
    shared = Path(given)
    try:
        number = claim_worker_id(shared)
        enable_multiprocess(shared, number)
    except OSError as error:
        log.warning("a worker counts alone: %s", error.strerror)
        return None
    pin_to_processor(number, workers)
    return shared


def main() -> None:
    """``python app.py``: serve on HOST:PORT."""
    settings = environment_settings()
    host, port = os.environ.get("HOST") or "127.0.0.1", os.environ.get("PORT") or "8000"
    if not (port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
        sys.exit(f"dossie-veicular: PORT makes no sense: {port}")
    if (trouble := bind_error(host, int(port))) is not None:
        sys.exit(f"dossie-veicular: cannot listen on {host}:{port}: {trouble}")
    set_up_logging(settings.secrets)
    with exit_on_startup_error():
        # Here once, so that a database out of reach is one line and not a crash in every worker.
        lock = prepare(settings)
    shown = f"[{host}]" if ":" in host else host
    kind = {"demo": "demonstração, dados fictícios", "managed": "gerenciado"}
    mode = kind.get(settings.mode, "credencial de quem pede")
    print(f"Dossiê Veicular em http://{shown}:{port} ({mode})", flush=True)
    raise_open_files_limit()
    longest_request_s = settings.deadline + SPARE_S
    room = settings.workers * BYTES_PER_WORKER + 2 * BYTES_PER_BREAKER
    shared = make_shared_directory(candidate_parents(), room)
    os.environ[SHARED] = str(shared.path) if shared else ""
    try:
        serve(WORKER, host, int(port), settings.workers, PROJECT_ROOT, longest_request_s)
    finally:
        lock.release()
        if shared:
            shared.remove()
