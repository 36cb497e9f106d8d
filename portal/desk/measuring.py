"""Measures what ``portal.system.checkup`` judges. Nothing is paid, and nothing is sent upstream."""

import os
import shutil
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sqlalchemy.exc import SQLAlchemyError

from portal.access.data_key import OtherSecretKey, stored_data_key
from portal.access.people import ProviderAway
from portal.pdf.renderer import PdfRenderer, PDFUnavailable
from portal.storage.database import Database
from portal.storage.revision import current_revision
from portal.storage.schema import SCHEMA_HEAD
from portal.storage.server_sight import read_sight
from portal.system.checkup import Facts, Line, Reached, lines_of
from portal.system.error_kind import error_kind
from portal.system.local_time import DAY_S, sao_paulo
from portal.system.open_file_limits import FULL_CAPACITY, MINIMUM_CAPACITY, open_files_limit
from portal.system.sight import Sight
from portal.system.start_refused import StartRefused
from portal.upstream.connection import connect
from portal.upstream.errors import NotSent
from portal.upstream.spares import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """Where to measure. ``plain`` are the members of Facts that the settings give.

    ``probe_redis`` raises StartRefused or OSError, and is None without Redis. ``probe_provider``
    raises ProviderAway, and is None without a provider of people's sign-in. ``probe_mail`` returns
    what is wrong with the mail server, and is None without one. ``database`` opens the database.
    ``key_file`` is None if the key is in the settings, ``database_file`` for PostgreSQL.
    """

    plain: dict[str, Any]
    database: Callable[[], Database]
    secret_keys: Sequence[bytes]
    key_file: Path | None
    database_file: Path | None
    data_dir: Path
    probe_redis: Callable[[], object] | None
    probe_provider: Callable[[], object] | None
    probe_mail: Callable[[], str] | None
    origins: Sequence[tuple[str, Address]]
    connect_timeout_s: float

    def lines(self, *, with_pdf: bool = True) -> list[Line]:
        """Return what ``lines_of`` says. Rendering a PDF loads a library of 60 MB."""
        lines = lines_of(self.facts(with_pdf=with_pdf))
        return [line for line in lines if with_pdf or line.name != "pdf"]

    def facts(self, *, with_pdf: bool = True) -> Facts:
        database_error, revision, sight, key = self._database()
        free, share = _disk(self.data_dir)
        return Facts(
            **self.plain,
            now=time.time(),
            database_error=database_error,
            revision=revision,
            revision_needed=SCHEMA_HEAD,
            redis_error=self._redis(),
            provider_error=self._provider(),
            mail_error=None if self.probe_mail is None else self.probe_mail(),
            key=key,
            key_mode=_mode(self.key_file),
            data_dir=str(self.data_dir),
            data_error=_directory_error(self.data_dir),
            data_mode=_mode(self.data_dir),
            free=free,
            share=share,
            open_files=open_files_limit(),
            open_files_full=FULL_CAPACITY.open_files,
            open_files_least=MINIMUM_CAPACITY.open_files,
            pdf_error=_pdf_error() if with_pdf else "",
            zone_error=_zone_error(),
            sight=sight,
            origins=[self._reached(name, address) for name, address in self.origins],
        )

    def _database(
        self,
    ) -> tuple[str, str | None, Sight | None, Literal["reads", "missing", "other", "unknown"]]:
        """Return the error, the revision, what the server has seen, and what the key reads."""
        if self.database_file is not None and not self.database_file.exists():
            return "", None, None, "unknown"
        try:
            database = self.database()
            revision = current_revision(database)
            if revision is None:
                return "", None, None, "missing"
            try:
                found = stored_data_key(database, self.secret_keys)
            except OtherSecretKey:
                return "", revision, read_sight(database), "other"
            return "", revision, read_sight(database), "missing" if found is None else "reads"
        except SQLAlchemyError as error:
            return str(error).splitlines()[0], None, None, "unknown"
        except OSError as error:
            return error_kind(error), None, None, "unknown"

    def _redis(self) -> str | None:
        if self.probe_redis is None:
            return None
        try:
            self.probe_redis()
        except (StartRefused, OSError) as error:
            return str(error).splitlines()[0]
        return ""

    def _provider(self) -> str | None:
        if self.probe_provider is None:
            return None
        try:
            self.probe_provider()
        except ProviderAway:
            return "no answer, another issuer, or an address without TLS"
        return ""

    def _reached(self, name: str, address: Address) -> Reached:
        until = time.monotonic() + self.connect_timeout_s
        try:
            opened = connect(address.host, address.port, tls=address.tls, until=until)
        except NotSent as error:
            return Reached(name, str(error) or error_kind(error))
        with closing(opened):
            return Reached(name, "", _certificate_days(opened))


def _certificate_days(opened: socket.socket) -> int | None:
    if not isinstance(opened, ssl.SSLSocket):
        return None
    ends = (opened.getpeercert() or {}).get("notAfter")
    if not isinstance(ends, str):
        return None
    return int((ssl.cert_time_to_seconds(ends) - time.time()) // DAY_S)


def _mode(path: Path | None) -> int | None:
    with suppress(OSError):
        if path is not None:
            return path.stat().st_mode & 0o7777
    return None


def _directory_error(folder: Path) -> str:
    if not folder.exists():
        # The first start makes it, where it may.
        parent = next(ancestor for ancestor in folder.absolute().parents if ancestor.exists())
        return "" if os.access(parent, os.W_OK | os.X_OK) else f"it cannot be made in {parent}"
    if not folder.is_dir():
        return "it is no directory"
    return "" if os.access(folder, os.R_OK | os.W_OK | os.X_OK) else "it cannot be written"


def _disk(folder: Path) -> tuple[int, float]:
    """Return the free bytes of the folder's disk, and their share."""
    existing = next(
        ancestor for ancestor in (folder, *folder.absolute().parents) if ancestor.exists()
    )
    usage = shutil.disk_usage(existing)
    return usage.free, usage.free / usage.total if usage.total else 0.0


def _pdf_error() -> str:
    try:
        PdfRenderer(lambda _: None).render("<html lang=pt><title>x</title><p>x</p></html>")
    except PDFUnavailable as error:
        return str(error)
    except Exception as error:
        return type(error).__name__
    return ""


def _zone_error() -> str:
    try:
        sao_paulo()
    except (OSError, KeyError, ValueError) as error:
        return type(error).__name__
    return ""
