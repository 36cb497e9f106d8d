"""``python -m portal.sandbox``: serve the sandbox alone, on HOST:PORT."""

import os
import sys

import click
from granian import Granian
from granian.constants import Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from portal.sandbox.example_plates import EXAMPLE_PLATES
from portal.sandbox.sandbox import TOKEN
from portal.sandbox.wsgi import SECONDARY
from portal.system.process import (
    bind_error,
    end_forked_processes_on_signals,
    http_address,
    read_port,
)

# A request with the fault "hung" occupies a thread for 30 s. A test may send many such requests at
# the same time, and the sandbox must still answer other requests.
_THREADS = 256

_HELP = f"""Serve the embedded upstream alone, to rehearse scripts against.

The environment sets the address: HOST (127.0.0.1) and PORT (9000). A second base address is below
{SECONDARY}. The token is "{TOKEN}", in the Authorization header or as ?at={TOKEN}. All data are
fictitious; any other valid plate gets a vehicle of its own, always the same.
"""
_PLATES = "\n".join(f"  {example.plate}  {example.title}" for example in EXAMPLE_PLATES)


@click.command(
    help=_HELP,
    epilog=f"\b\nPlates with a situation of their own:\n{_PLATES}",
    context_settings={"max_content_width": 100},
)
def main() -> None:
    """Serve until SIGTERM or Ctrl-C. Exit with status 1 if the address is unusable."""
    host, port_text = os.environ.get("HOST") or "127.0.0.1", os.environ.get("PORT") or "9000"
    if (port := read_port(port_text)) is None:
        sys.exit(f"PORT precisa ser um número de 1 a 65535, não {port_text!r}.")
    if (error := bind_error(host, port)) is not None:
        sys.exit(f"Não é possível atender em {host}:{port}: {error}.")
    address = http_address(host, port)
    print(
        f"Sandbox em {address} (secundário: {address}{SECONDARY}) · "
        f"token: {TOKEN} · os dados são fictícios",
        flush=True,
    )
    end_forked_processes_on_signals()
    Granian(
        "portal.sandbox.wsgi:worker",
        factory=True,
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=1,
        blocking_threads=_THREADS,
        backlog=1024,
        backpressure=1024,
        http1_settings=HTTP1Settings(header_read_timeout=10_000),
        respawn_failed_workers=True,
        workers_kill_timeout=3,
        log_level=LogLevels.error,  # hides Granian's warning about the number of threads
        log_access=False,
    ).serve()


if __name__ == "__main__":
    main(prog_name="python -m portal.sandbox")
