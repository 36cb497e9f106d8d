"""What the main process passes to its worker and batch processes."""

import logging
import os
from pathlib import Path
from typing import Final

from portal.system.process import pin_to_processor
from portal.system.shared_directory import claim_worker_id
from portal.web.observability.metrics import enable_multiprocess

log = logging.getLogger("portal")

# Environment variables that pass the shared directory, the number of threads and the data key to
# the workers. A worker can therefore start while the database is down.
SHARED_DIR_VARIABLE: Final = "DOSSIE_SHARED"
THREADS_VARIABLE: Final = "DOSSIE_THREADS"
DATA_KEY_VARIABLE: Final = "DOSSIE_DATA_KEY"


def inherited_data_key() -> bytes:
    return bytes.fromhex(os.environ[DATA_KEY_VARIABLE])


def join_shared_directory(workers: int = 0) -> Path | None:
    """Claim a worker number in the server's shared directory, and return the directory's path.

    Returns None if there is no usable shared directory. Pins the process to one processor if the
    number of processors equals ``workers``. The batch process passes 0 as ``workers``, and is
    therefore never pinned.
    """
    path = os.environ.get(SHARED_DIR_VARIABLE)
    if not path:
        return None
    shared = Path(path)
    try:
        number = claim_worker_id(shared)
        enable_multiprocess(shared, number)
    except OSError as error:
        log.warning("this worker shares no metrics or breakers: %s", error.strerror)
        return None
    pin_to_processor(number, workers)
    return shared
