"""Sample data of the operator's page: two days, three callers, all kinds of rows."""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from portal.access.tokens import Issued, TokenOverview
from portal.access.trail import Written
from portal.batch.model import Batch, Cost, Counts, Reason, State
from portal.gateway.backend import StoreSize
from portal.gateway.ledger import UpstreamCall
from portal.gateway.limits import Limit, Use
from portal.gateway.operations import CachePolicy
from portal.gateway.statement import Billed, Comparison, Difference, Sent
from portal.gateway.usage import CallFailures, CallsToday, OriginCalls, Usage
from portal.messages.outbox import DeliveryState
from portal.presentation.operations.page import BreakerState, OperationsPage
from portal.system.checkup import Line
from tests.presentation.rendering import NOW

TODAY, YESTERDAY = date(2026, 11, 20), date(2026, 11, 19)
AT = NOW.timestamp()
SCOPES = frozenset({"decode", "renainf"})

BUDGET = Use(
    Limit("portal", "day", "month", Decimal(60)),
    Decimal("31.25"),
    datetime(2026, 12, 1, tzinfo=UTC),
)
ON_ANAS = {"token": "ana", "budget": 60.0, "used": 48.0, "ends_on": "2026-11-30"}
ANA = Usage(3, Decimal("2.55"), hits=5, stale=1, collapsed=1, known_saved=Decimal("5.10"))
ROBOT = Usage(2, Decimal("1.90"))
FORMER = Usage(hits=7, known_saved=Decimal("0.70"))


@dataclass(frozen=True, slots=True)
class Breaker:
    name: str
    state: BreakerState
    wait_s: float


def token(
    name: str,
    scopes: frozenset[str] = SCOPES,
    daily_limit: int = 0,
    expires_at: float | None = None,
    revoked_at: float | None = None,
) -> Issued:
    return Issued(
        name,
        "digest",
        "owner",
        scopes,
        daily_limit,
        Decimal(0),
        AT - 86400,
        expires_at,
        revoked_at,
        "demo",
    )


def batch_under_way(
    state: State, reason: Reason, started_at: float | None, at_most: str, total: int, ended: int
) -> Batch:
    return Batch(
        id="4d2a8ee8598acee71d7ddb4f",
        state=state,
        reason=reason,
        resume_at=None,
        ask=("decode",),
        counts=Counts(total, 0, ended, 0, total - ended),
        cost=Cost(Decimal(0), Decimal(at_most)),
        wrong=(),
        created_at=AT - 90,
        started_at=started_at,
        ended_at=None,
        expires_at=AT + 86400,
    )


ANAS = token("ana", SCOPES)
SOON = token("soon", SCOPES | {"admin"}, 5, AT + 3600)
USED = token("used", SCOPES, 40, AT + 30 * 86400)
FACTS = OperationsPage(
    now=NOW,
    days=30,
    by_day={(TODAY, "decode"): ANA, (TODAY, "renainf"): ROBOT, (YESTERDAY, "renajud"): FORMER},
    by_caller={"ana": ANA, "robô <1>": ROBOT, "": FORMER},
    failures=(
        CallFailures("failing", 503, "primary", 4, AT - 60),
        CallFailures("answered", 429, "secondary", 1, AT - 90),
        CallFailures("not_sent", None, "primary", 2, AT - 120),
    ),
    breakers=(
        Breaker("primary", "open", 4.0),
        Breaker("secondary", "closed", 30.0),
        Breaker("third", "half-open", 0.0),
    ),
    origins={"primary": OriginCalls(9, 4), "former": OriginCalls(1, 0)},
    calls_today=CallsToday(5, {"ana": 3, "used": 40}),
    daily_limit=120,
    budget=BUDGET,
    deliveries=(
        DeliveryState("budget.warned", ON_ANAS, True, "mail", AT - 60, 1, "delivered", True, None),
        DeliveryState("test", {}, True, "webhook", AT - 30, 0, "", False, AT),
        DeliveryState(
            "token.ending", ON_ANAS, False, "webhook", AT - 90, 2, "status 500", False, AT + 60
        ),
        DeliveryState(
            "batch.done", {"batch": "b1"}, False, "webhook", AT - 99, 9, "TimeoutError", False, None
        ),
    ),
    gets_messages=True,
    budget_ends_on=date(2026, 11, 27),
    strained=(),
    terms={"decode": CachePolicy(86400, 604800, Decimal("0.85")), "report": CachePolicy(60, 0)},
    store=StoreSize(1234, 5_678_900),
    database_bytes=4_096,
    purges=12,
    batches=(
        batch_under_way("running", "", AT - 60, "3.60", 40, 12),
        batch_under_way("paused", "day_limit", None, "0", 2, 0),
    ),
    tokens=TokenOverview(
        (ANAS, SOON, USED),
        (token("revoked", SCOPES, 0, None, AT - 60), token("ended", SCOPES, 0, AT - 60)),
        full=(USED,),
        ending=(SOON,),
    ),
)
IDLE = replace(
    FACTS,
    by_day={},
    by_caller={},
    failures=(),
    breakers=(),
    origins={},
    calls_today=CallsToday(0, {}),
    daily_limit=0,
    terms={"decode": CachePolicy(60, 0)},
    store=None,
    database_bytes=None,
    batches=(),
    deliveries=(),
    gets_messages=False,
    tokens=TokenOverview((), (), (), ()),
)

_CALL = UpstreamCall(NOW, "decode", "primary", "ana", Decimal("0.30"), "answered", 200, "up")
_ROW = Billed(2, NOW, "decode", Decimal("0.45"))
COMPARED = Comparison(
    600,
    598,
    timedelta(hours=-3),
    [
        Difference("price", _ROW, Sent(_CALL, "t")),
        Difference("not_ours", _ROW, None),
        Difference("not_billed", None, Sent(_CALL, "t")),
        *[Difference("twice", _ROW, Sent(_CALL, "t"))] * 500,
    ],
)
TRAIL = [
    Written(2, AT, "ana", "token", "issued", "page", "ABC1D23", "compra", "7F3K9QMD2XHA"),
    Written(1, AT - 60, "<script>", "command", "purged", "command", "", "", "12"),
]

CHECKUP = [
    Line("settings", "ok", "they make sense"),
    Line("open files", "note", "few", "more"),
    Line("disk", "wrong", "full", "make room"),
]
