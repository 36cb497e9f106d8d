"""Builds portal components for a single tenant, identified by NAMESPACE."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from portal.access.sealing import SubjectKeys
from portal.access.tokens import Tokens
from portal.gateway.ledger import Ledger
from portal.gateway.operations import CachePolicy
from portal.gateway.reservation import PortalLimits
from portal.gateway.savings import SavingsCounter
from portal.storage.database import Database
from portal.vehicle.operation_name import OperationName

NAMESPACE: Final = "upstream"


def ledger_of(
    database: Database,
    daily_limit: int = 0,
    monthly_budget: Decimal = Decimal(0),
    **named: Any,
) -> Ledger:
    limits = PortalLimits(daily_limit, monthly_budget)
    return Ledger(database, limits, namespace=NAMESPACE, **named)


def savings_of(
    database: Database, terms: Mapping[OperationName, CachePolicy], *clock: Any
) -> SavingsCounter:
    return SavingsCounter(database, terms, *clock, namespace=NAMESPACE)


def tokens_in(
    database: Database, configured: Sequence[str] = (), *clocks: Any, **named: Any
) -> Tokens:
    return Tokens(database, configured, *clocks, namespace=NAMESPACE, **named)


def subject_keys(secret: bytes, tag: Callable[[str], str], **named: Any) -> SubjectKeys:
    return SubjectKeys(secret, tag, NAMESPACE, **named)
