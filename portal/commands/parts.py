"""The parts of a portal that the commands use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from portal.access.declarations import Declarations
from portal.access.history import History
from portal.access.tokens import Gatekeeper, Tokens
from portal.access.trail import Trail
from portal.batch.batches import Batches
from portal.desk.caller import Caller
from portal.desk.desk import Desk
from portal.desk.measuring import Measuring
from portal.gateway.gateway import Gateway
from portal.gateway.ledger import Ledger
from portal.gateway.single_flight import Leases
from portal.gateway.store import Store
from portal.gateway.usage_report import UsageLog
from portal.issued.archive import DossierArchive
from portal.messages.channels import Channels
from portal.messages.webhook import WebhookSender
from portal.storage.database import Database
from portal.storage.ends import Ends, Journal
from portal.system.scheduler import Scheduler


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


class Parts(Protocol):
    """The parts of ``portal.factory.Portal`` that the commands use.

    A part is built when it is first read, so a command reads parts only while it runs.
    """

    is_command: bool  # the process serves no request
    namespace: str
    trail_days: int  # AUDIT_DAYS
    unpriced: Sequence[str]  # the settings of unknown prices

    @property
    def batches(self) -> Batches: ...
    @property
    def channels(self) -> Channels: ...
    @property
    def data_key(self) -> bytes | None: ...
    @property
    def declarations(self) -> Declarations: ...
    @property
    def dossiers(self) -> DossierArchive: ...
    @property
    def database(self) -> Database: ...
    @property
    def ends(self) -> Ends: ...
    @property
    def ends_journals(self) -> Sequence[Journal]: ...
    @property
    def files(self) -> DataFiles: ...
    @property
    def gatekeeper(self) -> Gatekeeper: ...
    @property
    def history(self) -> History: ...
    @property
    def leases(self) -> Leases: ...
    @property
    def ledger(self) -> Ledger: ...
    @property
    def scheduler(self) -> Scheduler: ...
    @property
    def measuring(self) -> Measuring: ...
    @property
    def gateway(self) -> Gateway: ...
    @property
    def store(self) -> Store: ...
    @property
    def tokens(self) -> Tokens: ...
    @property
    def trail(self) -> Trail: ...
    @property
    def usage(self) -> UsageLog: ...
    @property
    def webhooks(self) -> WebhookSender: ...

    def desk(self, caller: Caller) -> Desk:
        """Return the desk of who runs the command."""
        ...

    def create_database(self) -> None:
        """Create the database if it is missing. Raises OSError or SQLAlchemyError."""
        ...

    def finish(self) -> None:
        """Wait for the lookups of batches in progress, and write what is left in memory."""
        ...
