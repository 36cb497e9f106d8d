"""``python -m bench.serve upstream|plain PORT``: serves the upstream or the plain peer.

The server is Granian, as in the portal.
"""

import sys

from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels
from granian.server import Server

from portal.system.open_file_limits import BACKLOG, BLOCKING_THREADS

PEERS = {
    "upstream": ("bench.upstream:app", Interfaces.RSGI, False, 1),
    "plain": ("bench.plain:create", Interfaces.WSGI, True, 2),
}


def main(name: str, port: int) -> None:
    target, interface, factory, workers = PEERS[name]
    Server(
        target,
        factory=factory,
        address="127.0.0.1",
        port=port,
        interface=interface,
        workers=workers,
        blocking_threads=BLOCKING_THREADS if interface is Interfaces.WSGI else None,
        backlog=BACKLOG,
        backpressure=BACKLOG,
        http=HTTPModes.http1,
        log_level=LogLevels.warning,
        log_access=False,
    ).serve()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
