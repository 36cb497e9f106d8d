"""The parts of a portal that the commands use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sqlalchemy import Engine

from portal.access.tokens import Identity
from portal.batch.pricing import BatchPricing
from portal.desk.desk import Desk
from portal.desk.lookups import Lookups
from portal.gateway.single_flight import Leases
from portal.system.scheduler import Scheduler
from portal.web.services import web


@dataclass(frozen=True, slots=True)
class DataFiles:
    """The data files, which ``backup`` copies and ``restore`` writes.

    ``files`` maps a file's name in the backup to the file's path on disk. A cache in Redis, a
    database in PostgreSQL and a key in PORTAL_SECRET_KEY are not files, so ``files`` lacks them.
    ``secret_keys`` are the present and the old secret keys in the settings. ``unused_caches`` are
    cache files from before REDIS_URL was set. For ``upstreams_data_dir`` see ``Settings``.
    """

    data_dir: Path
    demo: bool
    files: Mapping[str, Path]
    secret_keys: Sequence[bytes] = field(repr=False)
    unused_caches: Sequence[Path]
    upstreams_data_dir: Path | None

    @property
    def folders(self) -> set[Path]:
        return {self.data_dir, *(file.parent for file in self.files.values())}

    @property
    def has_other_data(self) -> bool:
        """Whether the demonstration's data lies beside an upstream's."""
        folder = self.upstreams_data_dir
        return folder is not None and any(folder.glob("*.sqlite"))


class Parts(web.Parts, Protocol):
    """The parts of ``portal.factory.Portal`` that the commands use, beside those of the web layer.

    A part is built when it is first read, so a command reads parts only while it runs.
    """

    is_command: bool  # the process serves no request

    @property
    def data_key(self) -> bytes | None: ...
    @property
    def engine(self) -> Engine: ...
    @property
    def files(self) -> DataFiles: ...
    @property
    def leases(self) -> Leases: ...
    @property
    def lookups(self) -> Lookups: ...
    @property
    def pricing(self) -> BatchPricing: ...
    @property
    def scheduler(self) -> Scheduler: ...

    def desk(self, identity: Identity) -> Desk: ...

    def create_database(self) -> None:
        """Create the database if it is missing. Raises OSError or SQLAlchemyError."""
        ...

    def finish(self) -> None:
        """Wait for the lookups of batches in progress, and write what is left in memory."""
        ...
