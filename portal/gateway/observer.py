"""Events that the gateway reports to metrics. They never contain a plate."""

from collections.abc import Collection
from typing import Protocol

from portal.gateway.lookup import CacheStatus, FailureKind


class Observer(Protocol):
    """Receives the gateway's events.

    The methods run in the request's thread: they must be quick and must not raise.
    """

    def served(self, operation: str, how: CacheStatus, seconds: float, times: int = 1) -> None:
        """Report ``times`` equal answers.

        ``seconds`` is the mean duration of one.
        """
        ...

    def failed(self, operation: str, kind: FailureKind, seconds: float) -> None: ...

    def asked(self, operation: str, origin: str, outcome: str, seconds: float) -> None:
        """Report the end of one attempt at one base address, with the ledger's outcome."""
        ...

    def drifted(self, operation: str, fields: Collection[str]) -> None:
        """Report unknown or missing fields of a paid answer, by the contract."""
        ...

    def store_failed(self, what: str) -> None: ...


class NullObserver:
    """An observer that does nothing; a base class for partial observers."""

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
    """Forwards each event to several observers."""

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
