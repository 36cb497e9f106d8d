"""Tells a denial of the records that were asked for from a denial of something else.

"Nenhum registro para a placa ZZZ9Z99" denies another vehicle's records, "Nenhuma multa em SP" those
of one state of many, and "Nenhuma multa" no court order. Such a text confirms nothing.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from portal.vehicle.field import fold
from portal.vehicle.operation_name import OperationName
from portal.vehicle.plate import STATES, Plate, Renavam

Records = Literal["fines", "orders"]
RECORDS: Final[Mapping[OperationName, Records]] = {"renainf": "fines", "renajud": "orders"}


class Asked(NamedTuple):
    """What a lookup asked for: which records, of which vehicle, and of which state if of one."""

    operation: OperationName
    subject: Plate | Renavam
    state: str | None = None


# The names of what a lookup asks for, and of what it does not. "Registros" may be of anything.
_NAMES: Final[Mapping[Records, re.Pattern[str]]] = {
    "fines": re.compile(
        r"\b(?:MULTAS?|INFRAC(?:AO|OES)|AUTUAC(?:AO|OES)|PENALIDADES?|NOTIFICAC(?:AO|OES)|DEBITOS?"
        r"|FINES?|RENAINF)\b"
    ),
    "orders": re.compile(
        r"\b(?:BLOQUEIOS?|IMPEDIMENTOS?|ORDE(?:M|NS)|CONSTRIC(?:AO|OES)|ONUS|DETERMINAC(?:AO|OES)"
        r"|JUDICIA(?:L|IS)|JUDICIARIO|JUSTICA|PENHORAS?|RENAJUD)\b"
    ),
}
# The upstream calls the records of both lookups so: /restrictions/renainf, /restrictions/renajud.
_OF_EITHER: Final = re.compile(r"\bRESTRIC(?:AO|OES|TIONS?)\b")
_OF_NEITHER: Final = re.compile(
    r"\b(?:GRAVAMES?|IPVA|LEILAO|LEILOES|SINISTROS?|RECALLS?|COMUNICAC(?:AO|OES))\b"
)
# A restriction that no court has ordered.
_NOT_OF_COURTS: Final = re.compile(
    r"\b(?:ADMINISTRATIV[OA]S?|FINANCEIR[OA]S?|ROUBOS?|FURTOS?|TRIBUTARI[OA]S?)\b"
)
_OF_COURTS: Final = re.compile(r"\b(?:JUDICIA(?:L|IS)|JUDICIARIO|JUSTICA|RENAJUD)\b")
# One of many sources. In "nenhum Detran", all of them are meant.
_ONE_PLACE: Final = re.compile(
    r"(?<!NENHUM )(?<!NENHUMA )(?<!OS )(?<!TODAS )\b(?:DETRAN|ESTADUA(?:L|IS)|MUNICIPA(?:L|IS))\b"
    r"|\b(?:NO|DO) PARA\b|\bJUSTICA (?:FEDERAL|ELEITORAL|MILITAR)\b"
)
_ALL_PLACES: Final = re.compile(
    r"\b(?:NACIONA(?:L|IS)|FEDERACAO|PAIS|BRASIL|INTERESTADUA(?:L|IS)|RENAINF|RENAJUD"
    r"|TODOS OS (?:ESTADOS|DETRANS)|(?:NENHUMA?|QUALQUER) (?:ESTADO|UF|DETRAN))\b"
)
# "SE" is a word, too, so that it is a state only behind what introduces one.
_STATE: Final = re.compile(
    rf"\b(?:{'|'.join(sorted(STATES - {'SE'}))})\b"
    r"|\b(?:EM|NO|NA|DE|DO|DA|UF|ESTADO|DETRAN|SEFAZ|BASE) SE\b"
)
# "Nenhuma outra multa" denies more than there are, and there may be some.
_OF_MORE: Final = re.compile(
    r"\b(?:NENHUMA?|SEM|NAO (?:FOI |FORAM |SE )?\w+) (?:(?:QUALQUER|QUAISQUER) )?"
    r"(?:OUTR[OA]S?|NOV[OA]S?|MAIS|DEMAIS)\b"
)
_SOME_PLATE: Final = re.compile(r"\b[A-Z]{3}[ -]?[0-9][A-Z0-9][0-9]{2}\b")
_SOME_RENAVAM: Final = re.compile(r"\b[0-9]{9,11}\b")


def without_subject(text: str, subject: Plate | Renavam) -> str:
    """Return a text without the vehicle that was asked for, in any of its spellings.

    What a text says of this vehicle it says as without a name.
    """
    if isinstance(subject, Plate):
        names = [plate.text for plate in (subject, subject.twin) if plate is not None]
        spelled = "|".join(rf"{name[:3]}[\s.-]{{0,3}}{name[3:]}" for name in names)
    else:
        spelled = rf"{subject.text[:10]}-?{subject.text[10]}|{subject.text.lstrip('0')}"
    return re.sub(rf"(?<!\w)(?:{spelled})(?!\w)", " ", text, flags=re.IGNORECASE)


def denies(text: str, records: Records, subject: Plate | Renavam, state: str | None = None) -> bool:
    """Return whether a text that denies records denies those that a lookup asks for.

    ``text`` is without the vehicle that was asked for. ``state`` is the one state to which the
    lookup is restricted, or None.
    """
    words = _words(text)
    return not (
        _names_another(words, subject)
        or _is_of_one_place(words, state)
        or is_of_another_thing(words, records)
    )


def denies_more(text: str) -> bool:
    """Return whether a text denies only more records than an answer has."""
    return bool(_OF_MORE.search(_words(text)))


def is_of_another_thing(words: str, records: Records) -> bool:
    """Return whether a text or a member's names, in capitals, name only what is not asked for."""
    is_named = _NAMES[records].search(words)
    if records == "orders" and (is_named or _OF_EITHER.search(words)):
        return bool(_NOT_OF_COURTS.search(words)) and not _OF_COURTS.search(words)
    others = (_NAMES[other] for other in _NAMES if other != records)
    return not is_named and any(
        name.search(words) for name in (*others, _OF_NEITHER, _NOT_OF_COURTS)
    )


def _words(text: str) -> str:
    """Return the words of a text, in capitals and without signs."""
    return re.sub(r"\W+", " ", fold(text)).strip()


def _names_another(text: str, subject: Plate | Renavam) -> bool:
    return bool((_SOME_PLATE if isinstance(subject, Plate) else _SOME_RENAVAM).search(text))


def _is_of_one_place(words: str, asked: str | None) -> bool:
    """Return whether a text is of some states alone, and not of the one that was asked for."""
    named = {match[0][-2:] for match in _STATE.finditer(words)}
    if named:
        return named != {asked}
    return bool(_ONE_PLACE.search(words)) and not _ALL_PLACES.search(words) and asked is None
