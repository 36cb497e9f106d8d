"""Recognise the content of a report's ``data`` by its members' names and shapes.

The contract does not define the shape of ``data``, so every plausible place is searched. No
function here raises for any value.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from portal.sandbox.wire_text import capitals
from portal.vehicle import (
    HIDDEN_MARKER,
    Decoded,
    Fine,
    Restriction,
    read_decode,
    read_fines,
    read_restrictions,
)

# Names that a section may have; compared without case, accents, "_" and "-".
_DECODE = "decode veiculo vehicle decodificador dadosveiculo dadosdoveiculo cadastro"
_FINES = "renainf multas infracoes fines restricoesrenainf"
_COURT = "renajud restricoes restricoesjudiciais restricoesrenajud judicial restrictions"
_PRICES = "informacoesfipe fipe precos"
_UNAVAILABLE = (
    "indisponiveis indisponivel unavailable naoconsultados naoconsultadas naoavaliados "
    "secoesindisponiveis"
)
_NOTES = {
    "documentacao": "documentacao documentos licenciamento situacaolicenciamento crlv ipva",
    "rouboFurto": "roubofurto rouboefurto roubo furto historicoroubofurto",
    "leilao": "leilao leiloes historicoleilao",
    "chassiMotor": "chassimotor chassi motor sinistro sinistros vistoria",
    "gravame": "gravame gravames alienacao alienacaofiduciaria financiamento",
    "proprietarios": "proprietarios proprietario historicoproprietarios donos owners",
}
_SECTIONS = {"decode": _DECODE, "multas": _FINES, "restricoes": _COURT, "fipe": _PRICES, **_NOTES}
_DEPTH = 4
_UNAVAILABLE_WORDS = ("INDISPONIV", "NAO CONSULTAD", "NAO AVALIAD", "UNAVAILABLE")

Json = object


@dataclass(frozen=True, slots=True)
class Facts:
    """The recognised content of ``data``.

    A subject is None where ``data`` lacks it and an empty tuple where ``data`` states "none".
    ``unavailable`` names sections whose lookup failed. ``notes`` holds, unchanged, the members
    on subjects for which the service itself has no lookup.
    """

    decoded: Decoded | None
    fines: tuple[Fine, ...] | None
    restrictions: tuple[Restriction, ...] | None
    unavailable: frozenset[str]
    notes: Mapping[str, Json]


def read_facts(data: Mapping[str, Json]) -> Facts:
    """Read the facts of ``data``.

    A section in ``unavailable`` may have records too; callers give the records priority.
    """
    members = list(_members(data, _DEPTH))
    unavailable = {
        section
        for name, value in members
        if name in _UNAVAILABLE.split()
        for section in _named_sections(value)
    }
    unavailable |= {
        section for name, value in members if (section := _silent_section(name, value)) is not None
    }
    fines = _records(members, _FINES, "codigoInfracao")
    court = _records(members, _COURT, "tribunal")
    vehicle = _vehicle(data, members)
    return Facts(
        decoded=read_decode(vehicle, HIDDEN_MARKER) if vehicle else None,
        fines=None if fines is None else read_fines(fines, HIDDEN_MARKER),
        restrictions=None if court is None else read_restrictions(court, HIDDEN_MARKER),
        unavailable=frozenset(unavailable),
        notes=_notes(members),
    )


def is_silent(value: Json) -> bool:
    """Return whether a value states a failed lookup, such as ``"indisponível"``."""
    match value:
        case str():
            return any(word in capitals(value) for word in _UNAVAILABLE_WORDS)
        case dict():
            flag = next((v for k, v in value.items() if _key(k).startswith("indisponiv")), None)
            state = next((v for k, v in value.items() if _key(k) in ("state", "estado")), None)
            return flag is True or (isinstance(state, str) and is_silent(state))
        case _:
            return False


def _members(value: Json, depth: int) -> Iterator[tuple[str, Json]]:
    """Yield the members of all objects, outer ones first, but none inside lists."""
    if depth and isinstance(value, dict):
        for name, inner in value.items():
            yield _key(name), inner
        for inner in value.values():
            yield from _members(inner, depth - 1)


def _named_sections(value: Json) -> Iterator[str]:
    """Yield the sections that a member such as ``indisponiveis`` names.

    The member may be a list, one text or an object.
    """
    match value:
        case str():
            names = value.replace(",", " ").replace(";", " ").split()
        case list():
            names = [name for name in value if isinstance(name, str)]
        case dict():
            names = [name for name, is_out in value.items() if is_out]
        case _:
            names = []
    for name in names:
        key = _key(name)
        yield from (s for s, spellings in _SECTIONS.items() if key in spellings.split())


def _silent_section(name: str, value: Json) -> str | None:
    if value is not None and not is_silent(value):
        return None
    return next((s for s, spellings in _SECTIONS.items() if name in spellings.split()), None)


def _records(members: list[tuple[str, Json]], names: str, mark: str) -> list[Json] | None:
    """Return the longest list with one of the names, or whose objects have ``mark``.

    Returns None where there is none. A list found by its name must not be another section's.
    """
    found: list[list[Json]] = []
    for name, value in members:
        records = _unwrapped(value)
        if not isinstance(records, list):
            continue
        bears_mark = any(isinstance(record, dict) and mark in record for record in records)
        named = name in names.split() and (not records or not _is_foreign(records, mark))
        if bears_mark or named:
            found.append(records)
    return max(found, key=len) if found else None


def _is_foreign(records: list[Json], mark: str) -> bool:
    """Return whether a list has another section's mark, or no object at all."""
    marks = {"codigoInfracao", "tribunal"} - {mark}
    records_like = [record for record in records if isinstance(record, dict)]
    return not records_like or any(marks & record.keys() for record in records_like)


def _unwrapped(value: Json) -> Json:
    """Return the answer inside the service's envelope ``{"status": …, "result": …}``."""
    while isinstance(value, dict) and "result" in value:
        value = value["result"]
    return value


def _vehicle(data: Mapping[str, Json], members: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return the object with the decoder's fields, with price entries from any member."""
    objects = [data, *(value for _, value in members)]
    fields = next((dict(o) for o in objects if isinstance(o, dict) and _is_decoded(o)), {})
    if not isinstance(fields.get("informacoesFipe"), list):
        for name, value in members:
            entries = _unwrapped(value)
            if name in _PRICES.split():
                if isinstance(entries, dict):
                    entries = [entries]
                if isinstance(entries, list):
                    fields["informacoesFipe"] = entries
                    break
    return fields


def _is_decoded(value: Mapping[str, Json]) -> bool:
    described = {"marca", "descricao", "anoModelo", "anoFabricacao", "tipoVeiculo"} & value.keys()
    is_price = "fipeId" in value or "codigoInfracao" in value or "tribunal" in value
    return "informacoesFipe" in value or (len(described) >= 2 and not is_price)


def _notes(members: list[tuple[str, Json]]) -> dict[str, Json]:
    notes: dict[str, Json] = {}
    # Under these two names a list holds records; a single word or number summarises them.
    scalars = {"multas": _FINES, "restricoes": _COURT}
    for name, value in members:
        named = _NOTES | scalars if isinstance(value, str | int | float) else _NOTES
        for topic, names in named.items():
            is_marker = isinstance(value, str) and value.strip() in ("", HIDDEN_MARKER)
            if name in names.split() and value is not None and not is_marker:
                notes.setdefault(topic, value)
    return notes


def _key(name: str) -> str:
    return "".join(c for c in capitals(name).lower() if c.isalnum())
