"""Reads the members of an answer that the contract does not name.

Such a member may say the worst of an answer: "indicadorRouboFurto": "S". Each of its values is read
with the names that lead to it, because a flag says nothing without its name.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from portal.vehicle.field import clean, fold, read_field, scalar_text
from portal.vehicle.statements import is_no_attribute, value_says, vehicle_says
from portal.vehicle.wire import is_null_date, read_decimal, read_flag
from portal.wording import bare

# More values than these, and longer texts, are not read. ``Further.is_cut`` tells it.
MOST_FURTHER: Final = 5_000
_LONGEST_TEXT: Final = 20_000
_MOST_DEPTH: Final = 40
_LONGEST_NAME: Final = 60
_NAME_PART: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[a-zA-Z])(?=[0-9])|[^A-Za-z0-9]+")
# Words of names that are written without any sign between them: "indicadorroubofurto". A prefix is
# one only before another of them.
_GLUED_WORDS: Final = (
    r"ROUBO|ROUBAD[OA]|FURTO|FURTAD[OA]|QUEIXA|ESTELIONATO|SUCATA|IRRECUPERAVEL|SINISTRO|SINISTRAD[OA]"
    r"|LEILAO|GRAVAMES?|ALIENACAO|ALIENAD[OA]|FIDUCIARI[AO]|FINANCIAMENTO|FINANCIAD[OA]|ARRENDAMENTO"
    r"|LEASING|RESTRIC(?:AO|OES)|JUDICIA(?:L|IS)|ADMINISTRATIV[OA]|RENAJUD|RENAINF|PENHORA|BLOQUEIO"
    r"|BLOQUEAD[OA]|APREENSAO|APREENDID[OA]|CIRCULACAO|TRANSFERENCIA|LICENCIAMENTO|COMUNICACAO|VENDA"
    r"|CHASSI|REMARCAD[OA]|REMARCACAO|ADULTERAD[OA]|CLONAD[OA]|DEBITOS?|MULTAS?|IPVA|DPVAT|RECALL"
    r"|IMPEDIMENTO|DIVIDA|PROTESTO|MONTA|BAIXAD[OA]|DETRAN"
)
_GLUED: Final = re.compile(
    rf"{_GLUED_WORDS}|^(?:SEM|NAO|LIVRE|INDICADOR|POSSUI|TEM|CONSTA|DATA|EXISTE|FLAG)(?={_GLUED_WORDS})"
)
_OF_A_PERSON: Final = re.compile(
    r"NOME|PROPRIET|POSSUIDOR|COMPRADOR|VENDEDOR|ARRENDAT|CONDUTOR|PESSOA|TITULAR|CPF|CNPJ|TELEFON"
    r"|CELULAR|MAIL|ENDERECO|LOGRADOURO|CEP$|DOCUMENTO|NASCIMENTO"
)
# Of the query, and not of what it found.
_OF_QUERY: Final = re.compile(
    r"\b(CONSULTA|PESQUISA|ATUALIZAC|FONTES?\b|PROTOCOLO|COBERTURA|COVERAGE|PROGRESS|COMPLETUDE"
    r"|ETAPA)"
)
# Members that say whether what the object around them is named after exists.
_STATE: Final = re.compile(
    r"CONSTA|POSSUI|EXIST|STATUS|SITUACAO|INDICADOR|ATIV[OA]|QUANTIDADE|QTD|TOTAL|RESULTADO"
    r"|MENSAGEM|OCORRENCIA|FLAG|VALOR|DESCRICAO"
)
_NOT_LOOKED_UP: Final = re.compile(
    r"NAO (?:FOI )?(?:CONSULTAD|VERIFICAD|PESQUISAD|PROCESSAD|CONFIRMAD)[OA]"
)
_NO: Final = frozenset({"NO", "F", "FALSO", "NAO HA", "NADA"})


class Statement(Struct, frozen=True):
    """A value of a member that no field reads.

    ``label`` is the name that the source gave it, and ``names`` all names that lead to it, as words
    ("GRAVAME STATUS"). ``text`` is its text, "SIM" for a true flag. ``is_denied`` is true for a
    value that says no: a false flag, zero, "NADA CONSTA". ``is_withheld`` is true for a value that
    says nothing of what it is named after: a hidden one, or an outage of the source. ``within`` is
    the number of the object that it is a member of, which all its members have, or 0 for a member
    of the answer or the record itself.
    """

    label: str
    names: str
    text: str
    is_denied: bool
    is_flag: bool
    is_of_person: bool
    is_withheld: bool = False
    within: int = 0


class Further(Struct, frozen=True):
    """What the members that no field reads say. ``is_cut`` is true if some of it was not read."""

    statements: tuple[Statement, ...] = ()
    is_cut: bool = False


NOTHING: Final = Further()


def is_of_person(name: str) -> bool:
    """Return whether a member is about a person, whose data the portal neither shows nor judges."""
    return bool(_OF_A_PERSON.search(bare(name)))


class Contract:
    """The members that the reader of a record reads, each with its shape."""

    def __init__(self, shape: Mapping[str, Any]) -> None:
        self.shape = shape
        self._type = _type_of(shape)

    def names_all(self, members: Mapping[str, Any]) -> bool:
        """Return whether a shape has all members, those of nested values too, as of most records.

        msgspec compares a price history in a fifth of the time that ``_unread`` takes.
        """
        try:
            msgspec.convert(members, self._type)
        except (msgspec.ValidationError, ValueError):
            return False
        return True


def _type_of(shape: Mapping[str, Any]) -> Any:
    """Return the type of objects without further members, whatever the types of their values."""
    value: Any = str | int | float | bool | None
    fields: list[tuple[str, Any, object]] = []
    for name, known in shape.items():
        if isinstance(known, str):
            fields.append((name, value | list[Any], None))
        else:
            inner: Any = _type_of(known[0] if isinstance(known, list) else known)
            fields.append((name, value | inner | list[value | inner], None))
    return msgspec.defstruct("Named", fields, forbid_unknown_fields=True)


NO_CONTRACT: Final = Contract({})


def further_of(members: Mapping[str, Any], contract: Contract, marker: str) -> Further:
    """Return what the members say that the contract of a record does not name."""
    if contract.names_all(members):
        return NOTHING
    leaves = list(islice(_unread(members, contract.shape), MOST_FURTHER + 1))
    if not leaves:
        return NOTHING
    is_cut = len(leaves) > MOST_FURTHER
    statements = []
    numbers: dict[int, int] = {}
    for path, raw, around in leaves[:MOST_FURTHER]:
        is_cut |= isinstance(raw, str) and len(raw) > _LONGEST_TEXT
        if not path or isinstance(raw, list | dict):  # nested deeper than is read
            is_cut = True
        elif statement := _statement(path, raw, marker):
            if around is not None:
                within = numbers.setdefault(id(around), len(numbers) + 1)
                statement = replace(statement, within=within)
            statements.append(statement)
    return Further(tuple(statements), is_cut)


def joined(parts: "list[Further]") -> Further:
    """Return what several records say, as one."""
    with_content = [part for part in parts if part is not NOTHING]
    if not with_content:
        return NOTHING
    statements: list[Statement] = []
    for part in with_content:
        first = max((statement.within for statement in statements), default=0)
        statements += (
            replace(statement, within=first + statement.within)
            if first and statement.within
            else statement
            for statement in part.statements
        )
    return Further(tuple(statements), any(part.is_cut for part in with_content))


# The names that lead to a value, the value, and the object around it, if it is a nested one.
_Leaf = tuple[tuple[str, ...], Any, dict[str, Any] | None]


def _unread(members: Mapping[str, Any], shape: Mapping[str, Any]) -> Iterator[_Leaf]:
    for name, raw in members.items():
        known = shape.get(name)
        if known is None or (isinstance(known, str) and isinstance(raw, dict)):
            yield from _leaves((name,), raw)
        elif isinstance(known, list | dict):
            inner = known[0] if isinstance(known, list) else known
            for element in raw if isinstance(raw, list) else [raw]:
                if isinstance(element, dict):
                    yield from _unread(element, inner)


def _leaves(
    path: tuple[str, ...], raw: Any, within: dict[str, Any] | None = None
) -> Iterator[_Leaf]:
    if len(path) > _MOST_DEPTH:
        yield path, raw, within
    elif isinstance(raw, dict):
        around = () if _is_denied_object(raw) else path
        for name, value in raw.items():
            yield from _leaves((*around, name), value, raw)
    elif isinstance(raw, list):
        for value in raw:
            # A list in a list has no name of its own. Its depth counts all the same.
            inner = (*path, "") if isinstance(value, list) else path
            yield from _leaves(inner, value, within)
    else:
        yield path, raw, within


def _is_denied_object(members: Mapping[str, Any]) -> bool:
    """Return whether an object says that there is nothing of what it is named after."""
    states = [
        _is_denied(raw, scalar_text(raw))
        for name, raw in members.items()
        if _STATE.search(bare(name)) and (isinstance(raw, bool) or scalar_text(raw))
    ]
    return bool(states) and all(states)


def _statement(path: tuple[str, ...], raw: Any, marker: str) -> Statement | None:
    label = clean(path[-1] or next(filter(None, reversed(path)), ""), limit=_LONGEST_NAME)
    text = clean(raw, limit=_LONGEST_TEXT) if isinstance(raw, str) else scalar_text(raw)
    flag = read_flag(raw)
    if isinstance(raw, bool):
        text = "SIM" if raw else "NAO"
    if not text:
        return None
    names = words_of(path)
    if _OF_QUERY.search(words_of(path[-1:])):
        names = ""
    is_about_person = any(map(is_of_person, path))
    said = "unknown" if flag is not None else vehicle_says(text, names)
    is_hidden = read_field(raw, marker).is_hidden
    if is_hidden or said in ("failure", "working") or _NOT_LOOKED_UP.fullmatch(fold(text)):
        return Statement(label, names, "", False, False, is_about_person, is_withheld=True)
    is_denied = _is_denied(raw, text) or said != "unknown" or is_null_date(text)
    return Statement(label, names, text, is_denied, flag is not None, is_about_person)


def _is_denied(raw: Any, text: str) -> bool:
    if (flag := read_flag(raw)) is not None:
        return not flag
    if read_decimal(raw) == 0 or fold(text) in _NO:
        return True
    return is_no_attribute(text) or value_says(text) == "denial"


def words_of(path: tuple[str, ...]) -> str:
    """Return names as words: ("gravame", "dataInclusao") as "GRAVAME DATA INCLUSAO"."""
    return " ".join(filter(None, map(_words_of, path)))


@lru_cache(1024)
def _words_of(name: str) -> str:
    words = bare(" ".join(_NAME_PART.split(clean(name, limit=_LONGEST_NAME)))).split()
    return " ".join(
        filter(None, (" ".join(_GLUED.sub(r" \g<0> ", word).split()) for word in words))
    )
