"""Looks up vehicles upstream, with a cache and a ledger of upstream calls."""

from portal.gateway.answer_check import unconfirmed_text, without_remarks
from portal.gateway.backend import Backend, BytesRemain, Held, StoreSize, purge_bucket
from portal.gateway.backend_choice import (
    StoreRefused,
    cache_backend,
    leases,
    remove_lease_files,
    require_willing_store,
)
from portal.gateway.envelope import Seal
from portal.gateway.gateway import Gateway, Snapshot
from portal.gateway.key_record import KeyRecord
from portal.gateway.lease import FileLeases, Leases
from portal.gateway.lease_limit import LimitedLeases
from portal.gateway.ledger import Allowance, Ledger, UpstreamCall
from portal.gateway.local_cache import CONFIRMED_FOR_S, LocalCache
from portal.gateway.lookup import (
    CacheStatus,
    Caller,
    Directive,
    Failure,
    FailureKind,
    Lookup,
    Observer,
    Served,
    report_lookup,
)
from portal.gateway.operations import (
    DECODE,
    LOOKUP_OPERATIONS,
    OPERATIONS,
    RENAINF,
    RENAJUD,
    REPORT,
    CachePolicy,
    Operation,
    lookups_of,
)
from portal.gateway.retention import retention_of
from portal.gateway.savings import SavingsCounter
from portal.gateway.single_flight import SingleFlight
from portal.gateway.store import Store, StoreDown
from portal.gateway.strict_json import NotStrictJSON, parse_exact
from portal.gateway.upstream_client import Policy
from portal.gateway.usage_report import (
    CallFailures,
    CallsToday,
    OriginCalls,
    Usage,
    UsageLog,
    merged,
)

__all__ = [
    "CONFIRMED_FOR_S",
    "DECODE",
    "LOOKUP_OPERATIONS",
    "OPERATIONS",
    "RENAINF",
    "RENAJUD",
    "REPORT",
    "Allowance",
    "Backend",
    "BytesRemain",
    "CachePolicy",
    "CacheStatus",
    "CallFailures",
    "Caller",
    "CallsToday",
    "Directive",
    "Failure",
    "FailureKind",
    "FileLeases",
    "Gateway",
    "Held",
    "KeyRecord",
    "Leases",
    "Ledger",
    "LimitedLeases",
    "LocalCache",
    "Lookup",
    "NotStrictJSON",
    "Observer",
    "Operation",
    "OriginCalls",
    "Policy",
    "SavingsCounter",
    "Seal",
    "Served",
    "SingleFlight",
    "Snapshot",
    "Store",
    "StoreDown",
    "StoreRefused",
    "StoreSize",
    "UpstreamCall",
    "Usage",
    "UsageLog",
    "cache_backend",
    "leases",
    "lookups_of",
    "merged",
    "parse_exact",
    "purge_bucket",
    "remove_lease_files",
    "report_lookup",
    "require_willing_store",
    "retention_of",
    "unconfirmed_text",
    "without_remarks",
]
