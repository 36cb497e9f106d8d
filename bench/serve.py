"""``python -m bench.serve upstream|plain PORT``: serves the upstream or the plain peer.

The server is Granian, as in the portal. With the further arguments HOST, CERTIFICATE and KEY, it
listens on another address, and speaks TLS.
"""

import sys
from pathlib import Path

from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels
from granian.server import Server

from portal.system.open_file_limits import BACKLOG, BLOCKING_THREADS

PEERS = {
    "upstream": ("bench.upstream:app", Interfaces.RSGI, False, 1),
    "plain": ("bench.plain:create", Interfaces.WSGI, True, 2),
}


def main(name: str, port: int, host: str = "127.0.0.1", *certificate: str) -> None:
    target, interface, factory, workers = PEERS[name]
    Server(
        target,
        factory=factory,
        address=host,
        port=port,
        interface=interface,
        workers=workers,
        blocking_threads=BLOCKING_THREADS if interface is Interfaces.WSGI else None,
        backlog=BACKLOG,
        backpressure=BACKLOG,
        http=HTTPModes.http1,
        log_level=LogLevels.warning,
        log_access=False,
        ssl_cert=Path(certificate[0]) if certificate else None,
        ssl_key=Path(certificate[1]) if certificate else None,
    ).serve()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
