"""Builds portal components for a single tenant, identified by NAMESPACE."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import Engine

from portal.access.sealing import SubjectKeys
from portal.access.tokens import Tokens
from portal.gateway.ledger import Ledger
from portal.gateway.operations import CachePolicy
from portal.gateway.reservation import PortalLimits
from portal.gateway.savings import SavingsCounter
from portal.vehicle.operation_name import OperationName

NAMESPACE: Final = "upstream"


def ledger_of(
    engine: Engine,
    daily_limit: int = 0,
    monthly_budget: Decimal = Decimal(0),
    **named: Any,
) -> Ledger:
    limits = PortalLimits(daily_limit, monthly_budget)
    return Ledger(engine, limits, namespace=NAMESPACE, **named)


def savings_of(
    engine: Engine, terms: Mapping[OperationName, CachePolicy], *clock: Any
) -> SavingsCounter:
    return SavingsCounter(engine, terms, *clock, namespace=NAMESPACE)


def tokens_in(engine: Engine, configured: Sequence[str] = (), *clocks: Any, **named: Any) -> Tokens:
    return Tokens(engine, configured, *clocks, namespace=NAMESPACE, **named)


def subject_keys(secret: bytes, tag: Callable[[str], str], **named: Any) -> SubjectKeys:
    return SubjectKeys(secret, tag, NAMESPACE, **named)
