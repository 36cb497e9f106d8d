"""Builds portal components for a single tenant, identified by NAMESPACE."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Engine

from portal.access import SubjectKeys, Tokens
from portal.gateway import CachePolicy, Ledger, SavingsCounter
from portal.vehicle import OperationName

NAMESPACE: Final = "upstream"


def ledger_of(engine: Engine, *limits: Any, **named: Any) -> Ledger:
    return Ledger(engine, *limits, namespace=NAMESPACE, **named)


def savings_of(
    engine: Engine, terms: Mapping[OperationName, CachePolicy], *clock: Any
) -> SavingsCounter:
    return SavingsCounter(engine, terms, *clock, namespace=NAMESPACE)


def tokens_in(engine: Engine, configured: Sequence[str] = (), *clocks: Any, **named: Any) -> Tokens:
    return Tokens(engine, configured, *clocks, namespace=NAMESPACE, **named)


def subject_keys(secret: bytes, tag: Callable[[str], str], **named: Any) -> SubjectKeys:
    return SubjectKeys(secret, tag, NAMESPACE, **named)
