"""The store: answers under keys that only we can compute, on whatever Flask-Caching backs it."""

import logging
from typing import Protocol

from portal.gateway.envelope import Envelope, Seal
from portal.gateway.lookup import Lookup
from portal.gateway.memory import Memory
from portal.vehicle import Plate, Renavam

FAILURE_SHARED_S = 2

log = logging.getLogger(__name__)


class Backend(Protocol):
    """A Flask-Caching backend for bytes whose keys are ``tag:name``."""

    def get(self, key: str) -> bytes | None: ...
    def set(self, key: str, value: bytes, timeout: int | None = None) -> object: ...
    def delete(self, key: str) -> object: ...
    def delete_tagged(self, tag: str) -> int: ...


class StoreDown(Exception):
    """The backend could not be asked; what it holds is unknown."""


class Store:
    """Sealed envelopes over a backend, with a small process memory in front.

    The memory is believed for a second, so that a purge elsewhere is seen within that; while the
    backend is down it is all there is. A backend that fails never fails a request.
    """

    def __init__(self, backend: Backend, seal: Seal, memory: Memory) -> None:
        self._backend = backend
        self._seal = seal
        self._memory = memory
        self.faults = 0

    def key(self, lookup: Lookup, credential: str | None) -> str:
        """``tag:name``: the tag tells the plate, the name the whole question and, in pass-through
        mode, the credential."""
        question = lookup.question + (f"|{credential}" if credential is not None else "")
        return f"{self.tag(lookup.subject.text)}:{self._seal.name(question, 40)}"

    def newest_report_key(self, subject: Plate | Renavam, credential: str | None) -> str:
        """Where the report written last for a vehicle is found, whatever it was written from."""
        question = f"newest report|{subject.text}" + (f"|{credential}" if credential else "")
        return f"{self.tag(subject.text)}:{self._seal.name(question, 40)}"

    def tag(self, subject: str) -> str:
        return self._seal.name(f"subject|{subject}", 24)

    def read(self, key: str) -> Envelope | None:
        sealed = self._memory.recent(key)
        if sealed is None:
            try:
                sealed = self._backend.get(key)
            except Exception as error:
                self._fault("read", error)
                sealed = self._memory.any(key)
            else:
                if sealed is None:
                    self._memory.forget(key)
                elif isinstance(sealed, bytes):
                    self._memory.keep(key, sealed)
        return self._seal.open(sealed, key)

    def write(self, envelope: Envelope, keep_s: int) -> bool:
        """Keep an answer; False where the backend would not. A newer one is never replaced."""
        if keep_s <= 0:
            return False
        held = self.read(envelope.key)
        if held is not None and held.fetched_at > envelope.fetched_at:
            return True
        sealed = self._seal.close(envelope)
        self._memory.keep(envelope.key, sealed)
        try:
            self._backend.set(envelope.key, sealed, timeout=keep_s)
        except Exception as error:
            self._fault("write", error)
            return False
        return True

    def note_failure(self, note: Envelope) -> None:
        """Remember for two seconds that asking failed, so that nobody pays for it in turn."""
        sealed = self._seal.close(note)
        try:
            self._backend.set(note.key, sealed, timeout=FAILURE_SHARED_S)
        except Exception as error:
            self._fault("write", error)

    def read_failure(self, key: str) -> Envelope | None:
        try:
            return self._seal.open(self._backend.get(key), key)
        except Exception as error:
            self._fault("read", error)
            return None

    def is_up(self) -> bool:
        """Whether stored answers can be served: the backend answers, or the memory holds some."""
        try:
            self._backend.get("ready:probe")
        except Exception as error:
            self._fault("probe", error)
            return self._memory.size_bytes > 0
        return True

    def purge(self, subject: str) -> int:
        """Delete all that is stored of a plate or Renavam; raises StoreDown where it cannot."""
        self._memory.clear()
        try:
            return self._backend.delete_tagged(self.tag(subject))
        except Exception as error:
            raise StoreDown(type(error).__name__) from error

    def _fault(self, what: str, error: Exception) -> None:
        # The text of a backend's error may carry a key or an address: its kind is enough.
        self.faults += 1
        log.warning("store %s failed: %s", what, type(error).__name__)
