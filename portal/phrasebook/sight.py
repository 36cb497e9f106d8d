"""The words of what differs from what a caller last saw."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, assert_never

from portal import formats
from portal.law.last_seen import Part, SightChange, SinceLastSeen
from portal.law.verdict import Level
from portal.wording import counted, listed

_LEVELS: Final[Mapping[Level, str]] = {
    "blocked": "bloqueado",
    "caution": "com ressalva",
    "clear": "nada encontrado",
    "incomplete": "incompleto",
    "limited": "só o que foi pedido",
}
_PARTS: Final[Mapping[Part, str]] = {
    "verdict": "conclusão",
    "fines": "multas",
    "orders": "ordens da Justiça",
    "price": "FIPE",
}


def what(change: SightChange) -> str:
    """Name a change: ``+ 1 autuação``, ``FIPE``."""
    count = change.count
    match change.code:
        case "verdict_changed":
            return "Conclusão"
        case "notices_added":
            return f"+ {counted(count, 'autuação', 'autuações')}"
        case "fines_added":
            return f"+ {counted(count, 'multa', 'multas')}"
        case "fines_changed":
            return f"{counted(count, 'multa', 'multas')} em outra situação"
        case "fines_paid":
            return counted(count, "multa paga", "multas pagas")
        case "fines_gone":
            return f"− {counted(count, 'multa', 'multas')}"
        case "orders_added":
            return f"+ {counted(count, 'ordem da Justiça', 'ordens da Justiça')}"
        case "orders_gone":
            return f"− {counted(count, 'ordem da Justiça', 'ordens da Justiça')}"
        case "price_changed":
            return "FIPE"
    assert_never(change.code)


def value_before(change: SightChange) -> str:
    """Return the former price or verdict, or ""."""
    return _value(change.before)


def value_now(change: SightChange) -> str:
    """Return the present price or verdict, the sum of the records, or ""."""
    if change.after is not None:
        return _value(change.after)
    return "" if change.amount is None else formats.brl(change.amount)


def sentence(change: SightChange) -> str:
    """Say a change in a clause: ``FIPE: R$ 89.957 → R$ 89.325``."""
    before, now = value_before(change), value_now(change)
    if before:
        return f"{what(change)}: {before} → {now}"
    return f"{what(change)}, {now}" if now else what(change)


def is_worse(change: SightChange) -> bool:
    return change.code in ("notices_added", "fines_added", "orders_added")


def rest(since: SinceLastSeen) -> str:
    """Name what is as it was, and what could not be compared, or return ""."""
    same = f"{_named(since.same)}: sem mudança" if since.same else ""
    unknown = f"{_named(since.unknown)}: não comparado" if since.unknown else ""
    return "; ".join(filter(None, (same, unknown)))


def _named(parts: Sequence[Part]) -> str:
    text = listed([_PARTS[part] for part in parts])
    return text[0].upper() + text[1:]


def _value(value: tuple[Decimal, Decimal] | Level | None) -> str:
    if value is None:
        return ""
    return formats.price_range(value) if isinstance(value, tuple) else _LEVELS[value]
