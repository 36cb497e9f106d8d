"""What we remember: answers per plate, and what each call cost."""

from portal.gateway.envelope import Seal
from portal.gateway.gateway import Gateway, Policy
from portal.gateway.lease import FileLeases, Leases, RedisLeases
from portal.gateway.ledger import ZONE, Ledger, Row
from portal.gateway.lookup import Caller, Directive, Failure, FailureKind, Lookup, Served
from portal.gateway.memory import Memory
from portal.gateway.operations import (
    DECODE,
    OPERATIONS,
    RENAINF,
    RENAJUD,
    REPORT,
    Operation,
    Terms,
)
from portal.gateway.single_flight import SingleFlight
from portal.gateway.store import Store, StoreDown
from portal.gateway.strict_json import NotStrictJSON, canonical, parse

__all__ = [
    "DECODE",
    "OPERATIONS",
    "RENAINF",
    "RENAJUD",
    "REPORT",
    "ZONE",
    "Caller",
    "Directive",
    "Failure",
    "FailureKind",
    "FileLeases",
    "Gateway",
    "Leases",
    "Ledger",
    "Lookup",
    "Memory",
    "NotStrictJSON",
    "Operation",
    "Policy",
    "RedisLeases",
    "Row",
    "Seal",
    "Served",
    "SingleFlight",
    "Store",
    "StoreDown",
    "Terms",
    "canonical",
    "parse",
]
