"""What a tool answers with: the parts of a portal's JSON that a model needs, within a size.

A program for agents gives a model only some ten thousand characters of an answer, after the lookup
has been paid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dossie_veicular_client.answers import Explained
from dossie_veicular_client.printable import cleaned, printable_json

# An answer stands in a result twice, as text and as JSON: 20 kB in all.
MOST_BYTES: Final = 9_900
RECENT_MONTHS: Final = 13
_LONGEST_TEXTS: Final = (1_000, 300, 100, 40)  # characters
Result = dict[str, Any]

_FINE: Final = ("number", "committed_on", "amount", "standing_words", "description")
_ORDER: Final = ("number", "title", "in_force", "doubt", "court", "case", "included_at")
_PRICE: Final = ("code", "description", "version", "price", "confidence", "change_12_months")
_ACT: Final = ("act", "mark", "answer")
_ROW: Final = (
    *("plate", "state", "verdict", "headline", "vehicle", "fines_open", "fines_amount"),
    *("restrictions", "fipe_low", "fipe_high", "fetched_at", "missing", "expired", "cause"),
)
OMITTED: Final = (
    "De cada multa, valor exato, prazos e quem julga: explain_fine. De ordens, atos, preços e do "
    'que não foi verificado, os textos longos: detail="full".'
)


def vehicle_digest(document: Explained, *, is_full: bool) -> Result:
    """Return a vehicle's document, or what its first reading needs."""
    if is_full:
        prices = [
            {**price, "history": price["history"][-RECENT_MONTHS:]}
            for price in document["prices"] or ()
        ]
        return {**document, "prices": None if document["prices"] is None else prices}
    fines, orders, prices_ = document["fines"], document["restrictions"], document["prices"]
    vehicle = document["vehicle"]
    return {
        "plate": document["plate"],
        "assessed_on": document["assessed_on"],
        "verdict": {
            **_some(document["verdict"], ("level", "headline", "notices")),
            "reasons": [
                _some(reason, ("mark", "sentence")) for reason in document["verdict"]["reasons"]
            ],
            **_some(document["verdict"], ("missing_lookups", "not_asked_lookups")),
        },
        "acts": [_some(act, _ACT) for act in document["acts"]],
        "vehicle": vehicle
        and {
            **_some(vehicle, ("name", "summary")),
            "attributes": {
                attribute["label"]: "oculto" if attribute["hidden"] else attribute["value"]
                for attribute in vehicle["attributes"]
            },
        },
        "prices": None
        if prices_ is None
        else [
            {
                **_some(price, _PRICE),
                "history": price["history"][-RECENT_MONTHS:] if not place else [],
            }
            for place, price in enumerate(prices_)
        ],
        "fines": fines
        and {
            "totals": fines["totals"],
            "records": [_some(fine, _FINE) for fine in fines["records"]],
        },
        "restrictions": orders
        and {
            "in_force": orders["in_force"],
            "records": [_some(order, _ORDER) for order in orders["records"]],
        },
        "not_verified": [line["title"] for line in document["not_verified"]],
        "lookups": document["lookups"],
    }


def row_digest(row: Mapping[str, Any], *, is_full: bool) -> Result:
    """Return a batch's row, or its main members without those that are null."""
    shown = dict(row) if is_full else _some(row, _ROW)
    return {name: value for name, value in shown.items() if value is not None}


def fitted(answer: Result, most_bytes: int = MOST_BYTES) -> Result:
    """Return an answer of at most ``most_bytes``, with the names of the lists that were shortened.

    The longest list loses its end, until the whole fits. ``left_out`` has for each shortened list
    how many of its entries are shown.
    """
    whole = cleaned(answer)
    for longest in (None, *_LONGEST_TEXTS):
        cut = _cut(whole, longest or most_bytes)
        left_out: dict[str, Any] = {}
        if longest is not None:
            left_out["texts"] = f"cortados em {longest} caracteres"
        while _size(_with(cut, left_out)) > most_bytes:
            lists = [
                place for place in _lists(cut) if len(place[1]) > (1 if longest is None else 0)
            ]
            if not lists:
                break
            path, entries = max(lists, key=lambda place: _size(place[1]))
            shown, of = len(entries), left_out.get(path, {}).get("of", len(entries))
            excess = _size(_with(cut, left_out)) - most_bytes
            mean = max(1, _size(entries) // shown)
            del entries[max(0, shown - max(1, excess // mean)) :]
            left_out[path] = {"shown": len(entries), "of": of}
        else:
            return _with(cut, left_out)
    return {"left_out": {"all": "a resposta é grande demais; leia-a no portal"}}


def compact(answer: Result) -> str:
    return printable_json(answer, indent=None)


def _with(answer: Result, left_out: Mapping[str, Any]) -> Result:
    return {**answer, "left_out": dict(left_out)} if left_out else answer


def _lists(value: object, path: str = "") -> Iterator[tuple[str, list[Any]]]:
    if isinstance(value, dict):
        for name, element in value.items():
            yield from _lists(element, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        yield path, value
        for number, element in enumerate(value):
            yield from _lists(element, f"{path}[{number}]")


def _cut(value: Any, longest: int) -> Any:
    """Return a copy whose texts are no longer than ``longest``."""
    if isinstance(value, str):
        return value if len(value) <= longest else f"{value[:longest]}…"
    if isinstance(value, dict):
        return {key: _cut(element, longest) for key, element in value.items()}
    return [_cut(element, longest) for element in value] if isinstance(value, list) else value


def _size(value: object) -> int:
    return len(compact(value).encode())  # type: ignore[arg-type]


def _some(value: Mapping[str, Any], names: tuple[str, ...]) -> Result:
    return {name: value[name] for name in names if name in value}
