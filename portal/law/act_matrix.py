"""The "posso…?" ("may I…?") matrix: one row for each act, such as a transfer."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from portal.law.act_answers import Act, Answer, Mark, worst
from portal.law.assessment import AssessedFine
from portal.law.findings import Finding
from portal.law.orders import AssessedOrder
from portal.law.standing import Standing

VerdictPart = Literal["decode", "fines", "restrictions"]

Stale = Mapping[VerdictPart, datetime]
NOTHING_STALE: Final[Stale] = MappingProxyType({})

# A standing says whether payment of a fine can be enforced. A row mentions fines with these
# standings even if a court order forbids the act, because such a fine may still stop the act after
# the court has lifted the order.
_OBSTACLES: frozenset[Standing] = frozenset(
    (Standing.ENFORCEABLE, Standing.PROBABLY_DUE, Standing.UNKNOWN)
)
_LICENSING_LAW = "art. 131, § 2º, do CTB"
_TRANSFER_LAW = "arts. 124, VIII, e 128 do CTB"


class Gaps(Struct, frozen=True):
    """What is not known of a vehicle.

    ``failed`` names the lookups that failed, ``unclear`` those whose answer neither has nor denies
    records, and ``unchosen`` those that the user did not choose. ``undescribed`` is true if the
    source's answer describes no vehicle. ``stale`` has the local time of each stale (old) answer.
    ``wrong_check_digit`` is true if the Renavam's check digit is wrong: the records may belong to
    another vehicle.
    """

    failed: tuple[VerdictPart, ...]
    unclear: tuple[VerdictPart, ...]
    unchosen: tuple[VerdictPart, ...]
    stale: Stale
    undescribed: bool
    wrong_check_digit: bool

    def of(self, parts: Sequence[VerdictPart]) -> "Gaps":
        """Return the gaps of some parts."""
        return replace(
            self,
            failed=tuple(part for part in self.failed if part in parts),
            unclear=tuple(part for part in self.unclear if part in parts),
            unchosen=tuple(part for part in self.unchosen if part in parts),
            stale={part: at for part, at in self.stale.items() if part in parts},
        )

    @property
    def leave_unknown(self) -> bool:
        """Whether something that is not known could change an answer."""
        return bool(self.failed or self.unclear or self.unchosen or self.wrong_check_digit)

    @property
    def stale_since(self) -> datetime | None:
        """The local time of the oldest stale answer, or None."""
        return min(self.stale.values(), default=None)


class Row(Struct, frozen=True):
    """The matrix row of one act.

    ``deciding`` are what the mark follows from, and then the fines that would still stop the act.
    ``gaps`` are those that count: without them, the mark is known. ``after_payment`` is true if the
    act waits for payment of a fine alone. ``may_be_unlicensed`` is true if a fine may have stopped
    the licensing without which nobody may drive. ``stale_since`` is the local time of a stale
    answer that found nothing, or None.
    """

    act: Act
    mark: Mark
    deciding: tuple[Answer | Finding, ...]
    gaps: Gaps | None
    after_payment: bool
    may_be_unlicensed: bool
    stale_since: datetime | None

    @property
    def records(self) -> tuple[str, ...]:
        """The HTML anchors ("multa-1") of the records that the row is about."""
        anchors = (
            anchor
            for one in self.deciding
            for anchor in (one.records if isinstance(one, Answer) else (one.anchor,))
        )
        return tuple(dict.fromkeys(anchors))


def row_of(
    act: Act,
    orders: Sequence[AssessedOrder],
    fines: Sequence[AssessedFine],
    gaps: Gaps,
    doubts: Sequence[Finding],
    rest: Sequence[Finding] = (),
) -> Row:
    """Build the matrix row of an act.

    The row gets the least favourable mark of all records. Fines affect only licensing and transfer;
    restrictions affect every act. A doubt about the records, or a missing lookup whose records
    could affect the act, replaces any mark except "no" by "unknown". ``doubts`` are findings that
    make the act doubtful by themselves, and so is ``rest``, which stands after the records.
    """
    by_fines = _fine_answers(act, fines)
    is_on_the_road = act in ("drive", "removal")
    gaps = gaps.of(("restrictions",) if is_on_the_road else ("fines", "restrictions"))
    by_courts = (
        replace(order.effect.answers[act], records=(order.anchor,))
        for order in orders
        if order.in_force and order.effect.answers[act].mark != "yes"
    )
    obstacles = worst([*by_fines.values(), *by_courts])
    mark: Mark = obstacles[0].mark if obstacles else "yes"
    deciding: tuple[Answer | Finding, ...] = obstacles
    if (doubts or rest) and mark in ("careful", "yes"):
        mark, deciding = "careful", (*doubts, *obstacles, *rest)
    deciding += tuple(a for s, a in by_fines.items() if s in _OBSTACLES and a not in obstacles)
    is_unknown = mark != "no" and gaps.leave_unknown
    mark = "unknown" if is_unknown else mark
    is_stale = mark == "yes" and gaps.stale_since is not None
    return Row(
        act=act,
        mark="careful" if is_stale else mark,
        deciding=deciding,
        gaps=gaps if is_unknown else None,
        after_payment=mark == "careful" and Standing.ENFORCEABLE in by_fines,
        may_be_unlicensed=act == "drive"
        and any(fine.standing is Standing.ENFORCEABLE for fine in fines),
        stale_since=gaps.stale_since if is_stale else None,
    )


def _fine_answers(act: Act, fines: Sequence[AssessedFine]) -> Mapping[Standing, Answer]:
    """Return an answer for each standing of open or called-off fines.

    Until the administrative case about a fine ends, the fine does not stop licensing or transfer
    (art. 284, § 3º, of the CTB, the traffic code). A timely appeal suspends the fine (art. 285).
    """
    if act not in ("licence", "transfer"):
        return {}
    law = _LICENSING_LAW if act == "licence" else _TRANSFER_LAW
    anchors: dict[Standing, list[str]] = {}
    for fine in fines:
        anchors.setdefault(fine.standing, []).append(fine.anchor)
    return {
        standing: Answer(act, "careful", standing, law, "verified", tuple(anchors[standing]))
        for standing in Standing
        if standing in anchors and standing is not Standing.PAID
    }
