"""What a page shows of a vehicle, as a caller's last sight of it is kept and compared."""

import hashlib
from datetime import UTC, datetime
from typing import Final

from msgspec.structs import replace

from portal.dossier.dossier import Dossier
from portal.dossier.row import VehicleRow
from portal.gateway.operations import lookups_of
from portal.law.assessment import AssessedFine, one_per_notice
from portal.law.last_seen import SeenFine, Sight, sum_of_seen
from portal.law.orders import AssessedOrder
from portal.law.standing import Standing
from portal.vehicle.operation_name import LOOKUPS

_KEY_BYTES: Final = 6
_DIGEST_BYTES: Final = 16
_CLOSED: Final = (Standing.PAID.value, Standing.CALLED_OFF.value)


def sight_of(dossier: Dossier, now: datetime, former: Sight | None = None) -> Sight | None:
    """Return what a page of the dossier shows, or None while a lookup was not made.

    Nothing is judged again if ``former`` is the sight of an equal dossier.
    """
    answers = dossier.answers
    if any(answers.of(name).state == "unasked" for name in lookups_of(dossier.subject, LOOKUPS)):
        return None
    at, made_of = now.astimezone(UTC).replace(microsecond=0), _digest(dossier)
    if former is not None and former.made_of == made_of:
        return replace(former, at=at)
    prices, unconfirmed = dossier.prices, dossier.unconfirmed
    known = [tab.current for tab in prices.likeliest if tab.current is not None] if prices else []
    fines = None if "fines" in unconfirmed else dossier.fines
    orders = None if "restrictions" in unconfirmed else dossier.orders
    level = dossier.verdict.level
    return Sight(
        at,
        None if level == "incomplete" else level,
        None if fines is None else {_fine_key(one): _fine(one) for one in one_per_notice(fines)},
        None if orders is None else sorted(_order_key(one) for one in orders if one.in_force),
        (min(known), max(known)) if known else None,
        made_of,
    )


def is_other_row(before: Sight, row: VehicleRow) -> bool:
    """Return whether a row of a list differs from what the caller last saw of its vehicle.

    A row has sums and no records, so what keeps its sums is not seen here.
    """
    if before.level is not None and row.verdict not in (None, "incomplete", before.level):
        return True
    if before.orders is not None and row.restrictions not in (None, len(before.orders)):
        return True
    prices = row.fipe_low, row.fipe_high
    if before.price is not None and None not in prices and before.price != prices:
        return True
    if before.fines is None or row.fines_open is None:
        return False
    is_open = [one for one in before.fines.values() if one.standing not in _CLOSED]
    return row.fines_open != len(is_open) or (row.fines_amount or 0) != (sum_of_seen(is_open) or 0)


def _digest(dossier: Dossier) -> str:
    """Return a digest of all that the judgement of a dossier depends on."""
    answers = dossier.answers
    panels = *answers.all, answers.report
    parts: list[object] = [dossier.today, dossier.marker, sorted(dossier.ask), dossier.declarations]
    parts += [(panel.state, panel.cause, panel.reason, panel.fetched_at) for panel in panels]
    bodies = [panel.body or panel.unconfirmed for panel in panels]
    parts += map(len, bodies)
    content = repr(parts).encode(errors="surrogatepass") + b"".join(bodies)
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def _fine(fine: AssessedFine) -> SeenFine:
    return SeenFine(fine.standing.value, fine.amount.value)


def _fine_key(fine: AssessedFine) -> str:
    record = fine.record
    if record.notice:  # most answers hide it
        return _key(str(record.notice), str(record.authority_code or record.authority))
    return _key(
        str(record.code),
        str(record.authority_code or record.authority),
        str(record.committed_on_text),
        str(record.committed_at_text),
        str(record.place),
    )


def _order_key(order: AssessedOrder) -> str:
    record = order.record
    parts = (record.court, record.court_body, record.case, record.included_at_text)
    return _key(*map(str, parts), str(record.kinds_text))


def _key(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=_KEY_BYTES).hexdigest()
