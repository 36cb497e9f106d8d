"""The answers about a vehicle: the result of each lookup, or why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Literal

from msgspec import structs

from portal.gateway.lookup import FailureKind, Served
from portal.gateway.operations import OPERATIONS
from portal.system.local_time import utc_time
from portal.vehicle.content import Contents, is_member
from portal.vehicle.decode import Decoded, read_decode
from portal.vehicle.denials import Asked
from portal.vehicle.doubts import beside_result, doubt_of, gap_of
from portal.vehicle.notices import Gap, Notice
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.wire import answer_of
from portal.wording import sanitise_echo

Cause = (
    FailureKind
    | Literal["", "rejected", "unconfirmed", "out_of_scope", "not_for_renavam", "broken"]
)
PanelState = Literal["fresh", "stale", "unavailable", "unasked"]
LONGEST_QUOTE: Final = 200  # of the source's words, in characters
UNCONFIRMED: Final = "O que a fonte enviou não confirma que não há (outros) registros: “{}”."
PARTLY_READ: Final = "Parte dos dados não pôde ser lida na fonte: “{}”."
BLANK: Final = "A fonte enviou um registro em branco, que não confirma que não há (outros)."


@dataclass(frozen=True, slots=True)
class Panel:
    """The result of one lookup.

    The state "stale" means that the answer is old, and that the upstream gave no newer answer. The
    state "unasked" means that the lookup was not made. The state "unavailable" means that the
    lookup failed. In this state, ``cause`` is a failure code, and ``reason`` is a Portuguese text.

    ``body`` is the answer's JSON text. ``result`` is the decoded member "result" of this JSON.
    Hashes exclude ``result``, because decoded JSON is not hashable. Comparisons exclude ``result``
    too, because ``body`` already contains it. ``fetched_at`` is in UTC. ``price`` is the cost in R$
    of one upstream call for this lookup, or None if the operator has configured no price.
    ``replaced`` is the older answer that ``body`` replaced in the store, or None if the store had
    no older answer.
    ``beside`` has the members of the answer beside its records and its status. An answer that
    confirms nothing has them too: what it says against the vehicle counts. Its text is then
    ``unconfirmed``, and not ``body``. ``gap`` is the part of a vehicle's data that the source could
    not read, or None; the panel's cause is then "unconfirmed", too.
    ``served`` is the answer as the gateway returned it, or None in an example.
    ``retry_after_s`` is the number of seconds until a failed lookup may be repeated, or None if
    that number is unknown.
    """

    state: PanelState
    body: bytes | None = None
    result: object = field(default=None, compare=False)
    fetched_at: datetime | None = None
    origin: str | None = None
    from_cache: bool = False
    price: Decimal | None = None
    reason: str = ""
    cause: Cause = ""
    replaced: "Panel | None" = None
    served: Served | None = field(default=None, compare=False)
    retry_after_s: float | None = field(default=None, compare=False)
    unconfirmed: bytes = b""
    beside: Mapping[str, Any] = field(default_factory=dict, compare=False)
    gap: Gap | None = None

    @property
    def has_answer(self) -> bool:
        return self.body is not None


@dataclass(frozen=True, slots=True)
class WrittenReport(Panel):
    """A report that the upstream wrote about the records of some lookups.

    ``made_of`` names these lookups, or is None if they are unknown. The portal does not store their
    names. It searches the present records for those on which the report is based. The lookups are
    unknown if any of the report's records has changed since, or is missing now. ``outdated`` is
    true if it is certain that the records have changed since the report was written.
    """

    made_of: tuple[LookupName, ...] | None = LOOKUPS
    outdated: bool = False


_NO_REPORT: Final = Panel("unasked")


@dataclass(frozen=True, slots=True)
class Panels:
    """The results of the lookups about a plate or a Renavam.

    The state of ``report`` is "unasked" if there is no written report that the caller may read.
    """

    vehicle: Panel
    fines: Panel
    orders: Panel
    report: Panel = _NO_REPORT

    @property
    def all(self) -> tuple[Panel, ...]:
        return (self.vehicle, self.fines, self.orders)

    def of(self, lookup: LookupName) -> Panel:
        return self.all[LOOKUPS.index(lookup)]

    def with_answers(self, given: Mapping[LookupName, "Panel"]) -> "Panels":
        """Return the same panels, with others for some lookups."""
        vehicle, fines, orders = (given.get(name, self.of(name)) for name in LOOKUPS)
        return Panels(vehicle, fines, orders, self.report)

    def in_state(self, state: PanelState) -> tuple[LookupName, ...]:
        return tuple(name for name in LOOKUPS if self.of(name).state == state)


def answer_panel(
    served: Served, replaced: Served | None = None, asked: Asked | None = None
) -> Panel:
    """Return the Panel for the answer ``served`` to what was ``asked``.

    If something in the answer leaves open whether the vehicle has records, or more of them, the
    panel quotes it, and its cause is "unconfirmed". Without a record, the panel is "unavailable".
    ``replaced`` is the earlier answer from the store. It is ignored unless it is older than
    ``served``.
    """
    is_older = replaced is not None and replaced.fetched_at < served.fetched_at
    result, document = answer_of(served.body)
    contents = Contents.of(result)
    doubt, gap = doubt_of(contents, document, asked), gap_of(contents, document)
    others = beside_result(document)
    if remarks := [_further_members(each) for each in contents.remarks]:
        others["result"] = remarks
    panel = Panel(
        state="stale" if served.cache_status == "stale" else "fresh",
        body=served.body,
        result=contents.without_remarks,
        fetched_at=utc_time(served.fetched_at),
        origin=served.origin,
        from_cache=served.from_cache,
        reason=_reason(doubt) if doubt else _partly_read(gap) if gap else "",
        cause="unconfirmed" if doubt or gap else "",
        replaced=answer_panel(replaced, asked=asked) if replaced and is_older else None,
        served=served,
        beside=others,
        gap=gap,
    )
    if doubt is None or contents.has_records:
        return panel
    return replace(panel, state="unavailable", body=None, result=None, replaced=None, served=None)


def _further_members(remark: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that may tell of the vehicle: what the contract names has no content.

    In "descricao" stands the text of a code.
    """
    return {name: raw for name, raw in remark.items() if name == "descricao" or not is_member(name)}


def kept_panel(body: bytes, fetched_at: float) -> Panel:
    """Return the panel of an answer that an issued dossier has kept, to compare it."""
    result, document = answer_of(body)
    contents = Contents.of(result)
    return Panel(
        "stale",
        body=body,
        result=contents.without_remarks,
        fetched_at=utc_time(fetched_at),
        gap=gap_of(contents, document),
    )


def decoded_of(panel: Panel, marker: str) -> Decoded:
    """Return the vehicle of an answer that ``is_readable``, and what of it could not be read."""
    read, gap = read_decode(panel.result, marker), panel.gap
    if gap is None:
        return read
    words = sanitise_echo(gap.text, LONGEST_QUOTE)
    return structs.replace(read, unread=words, is_unread_in_prices=gap.is_of_prices)


def _reason(doubt: Notice) -> str:
    return _quoting(UNCONFIRMED, doubt.text) if doubt.text else BLANK


def _partly_read(gap: Gap) -> str:
    return _quoting(PARTLY_READ, gap.text)


def _quoting(sentence: str, text: str) -> str:
    """Fill in the source's words, whose own full stop ends the sentence too."""
    return sentence.format(sanitise_echo(text, LONGEST_QUOTE)).replace(".”.", ".”")


def is_readable(result: object, lookup: LookupName) -> bool:
    """Return whether ``result`` has the JSON type that the upstream specifies.

    Without this check, a malformed answer about fines would look like "no fines".
    """
    return isinstance(result, OPERATIONS[lookup].result_type)
