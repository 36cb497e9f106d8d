"""PgBouncer in front of the test run's PostgreSQL.

Tests are skipped where PgBouncer is not installed.
"""

import os
import shutil

import pytest

from tests.fakes.databases import PostgresProcess
from tests.fakes.ports import accepts_connections
from tests.fakes.processes import ServerProcess


class PgBouncerProcess(ServerProcess):
    """PgBouncer in transaction mode with few connections to PostgreSQL."""

    def __init__(self, postgres: PostgresProcess, *settings: str) -> None:
        binary = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
        if binary is None:
            pytest.skip("pgbouncer is not installed")
        super().__init__([binary])
        lines = [
            "[databases]",
            f"* = host=127.0.0.1 port={postgres.port} user=portal",
            "[pgbouncer]",
            "listen_addr = 127.0.0.1",
            f"listen_port = {self.port}",
            "unix_socket_dir =",
            "auth_type = any",
            "pool_mode = transaction",
            "default_pool_size = 6",
            *settings,
        ]
        if os.geteuid() == 0:  # PgBouncer refuses to run as root
            lines.append("user = nobody")
            shutil.chown(self.directory, "nobody")
        file = self.directory / "pgbouncer.ini"
        file.write_text("\n".join(lines) + "\n")
        self.command.append(str(file))

    def answers(self) -> bool:
        return accepts_connections(self.port)

    def address(self, postgres_url: str, postgres: PostgresProcess) -> str:
        """Return ``postgres_url`` with PgBouncer's port in place of PostgreSQL's."""
        return postgres_url.replace(f":{postgres.port}/", f":{self.port}/")
