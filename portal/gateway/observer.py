"""What the gateway tells whoever counts: never a plate, only operations, outcomes, seconds."""

from collections.abc import Collection
from typing import Protocol

from portal.gateway.lookup import CacheStatus, FailureKind


class Observer(Protocol):
    """Called in the request's own thread: it must be quick and must not raise."""

    def served(self, operation: str, how: CacheStatus, seconds: float, times: int = 1) -> None:
        """``times`` answers alike were given; ``seconds`` is what each took in the mean."""
        ...

    def failed(self, operation: str, kind: FailureKind, seconds: float) -> None: ...

    def asked(self, operation: str, origin: str, outcome: str, seconds: float) -> None:
        """One attempt at one base address has ended, with the ledger's word for how."""
        ...

    def drifted(self, operation: str, fields: Collection[str]) -> None:
        """A paid answer held fields that the contract does not know, or lacked some."""
        ...

    def store_failed(self, what: str) -> None: ...


class NullObserver:
    """An observer that counts nothing; to be overridden in part."""

    def served(self, operation: str, how: CacheStatus, seconds: float, times: int = 1) -> None:
        pass

    def failed(self, operation: str, kind: FailureKind, seconds: float) -> None:
        pass

    def asked(self, operation: str, origin: str, outcome: str, seconds: float) -> None:
        pass

    def drifted(self, operation: str, fields: Collection[str]) -> None:
        pass

    def store_failed(self, what: str) -> None:
        pass


class CompositeObserver:
    """Tells each of its observers."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def served(self, operation: str, how: CacheStatus, seconds: float, times: int = 1) -> None:
        for each in self._observers:
            each.served(operation, how, seconds, times)

    def failed(self, operation: str, kind: FailureKind, seconds: float) -> None:
        for each in self._observers:
            each.failed(operation, kind, seconds)

    def asked(self, operation: str, origin: str, outcome: str, seconds: float) -> None:
        for each in self._observers:
            each.asked(operation, origin, outcome, seconds)

    def drifted(self, operation: str, fields: Collection[str]) -> None:
        for each in self._observers:
            each.drifted(operation, fields)

    def store_failed(self, what: str) -> None:
        for each in self._observers:
            each.store_failed(what)
