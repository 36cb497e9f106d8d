"""The effects of a court's restriction on a vehicle, by the restriction's kind.

The name of a kind states its legal effect: "licenciamento" forbids licensing. The further effects
of a kind have weaker sources. Websites of the car trade report some of them (``confidence``
"reported"). No source confirms the others ("memory"). Each of Renajud's own four kinds stops a
transfer. A restriction of unknown, hidden or missing kind therefore stops a transfer, too. Of the
orders that a text may name instead, only the averbação premonitória leaves the transfer possible:
the creditor may have the sale undone.

A record may say that a restriction or one of its kinds was lifted ("BAIXADA"). The source (the
upstream API) does not document such words, so the answers are then "unknown". If the record also
has a kind that was not lifted, the answer for an act that this kind forbids remains "no". A record
may also contradict itself: it describes a restriction but says that there is no restriction. The
answers for all acts are then "unknown".

The kind is in ``restricoes``, or else in ``tipoBloqueio``. The same reader reads the record's other
texts (the detail, the court's code, a block's type, members beyond the contract). They only make
the answers worse: a kind in them is in force, and a lifting in them lifts nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from portal.data_files import read_csv
from portal.law.act_answers import ACTS, Act, Answer, Confidence, Ground, Hedge, Mark, worst
from portal.law.restriction_kinds import (
    KINDS,
    Kind,
    KindReading,
    kinds_in_prose,
    read_kinds,
)
from portal.vehicle.field import Field
from portal.vehicle.judicial import Restriction, states_order
from portal.vehicle.statements import value_says

Doubt = Literal["", "contradicted", "lifted"]


class Effect(Struct, frozen=True):
    """The effect of one restriction on each act.

    ``kinds`` are in the order of KINDS. If the restriction's text has an unrecognised word or no
    kind, ``unrecognised`` is the text as sent, else "". ``in_force`` is False only if the record
    states that there is no restriction and no field contradicts this statement. ``doubt`` says why
    the record is unreliable, or is "": it contradicts itself, or words in it, ``quoted``, say that
    the order was lifted.
    """

    kinds: tuple[Kind, ...]
    unrecognised: str
    in_force: bool
    answers: Mapping[Act, Answer]
    doubt: Doubt = ""
    quoted: str = ""

    @property
    def group(self) -> object:
        """What the findings of equal orders share."""
        answers = (self.answers[act] for act in ACTS)
        return self.kinds, self.unrecognised, self.doubt, self.quoted, *answers


class _Rule(msgspec.Struct, frozen=True):
    """What a kind of order, or none (""), means for an act: a line of ``effects.csv``."""

    kind: Kind | Literal[""]
    act: Act
    mark: Mark
    source: str
    confidence: Confidence
    hedge: Hedge


def _tables() -> dict[str, dict[Act, Answer]]:
    """Return what each kind of order, or none (""), means for each act."""
    tables: dict[str, dict[Act, Answer]] = {}
    for rule in read_csv(__package__, "effects.csv", _Rule):
        answer = Answer(
            rule.act, rule.mark, rule.kind, rule.source, rule.confidence, hedge=rule.hedge
        )
        tables.setdefault(rule.kind, {})[rule.act] = answer
    return tables


_KINDS = _tables()
_FREE = _KINDS[""]
# A text about the answer, or one that denies an order, names no kind.
_STATES_NOTHING: Final = frozenset(("denial", "success", "blank"))


def _unknown(ground: Ground, quoted: str = "") -> dict[Act, Answer]:
    return {act: Answer(act, "unknown", ground, "", "verified", quoted=quoted) for act in ACTS}


_UNKNOWN = _unknown("unread")
_OF_ANY_KIND = _UNKNOWN | {
    "transfer": Answer(
        "transfer",
        "no",
        "any_kind",
        "TJSC, Código de Normas, Apêndice III",
        "memory",
        hedge="rule",
    )
}
_CONTRADICTED = _unknown("contradicted")


# A number, such as that of a case, names no kind.
_NUMBERED: Final = re.compile(r"\S*\d\S*")
# "fontes": {"total": 5} counts sources, and is no "restrição total".
_OF_COUNT: Final = re.compile(r"\bTOTAL\b(?=[^:]*: \d+$)")
# The act that each kind forbids by its name, and that a text may allow: "CIRCULACAO AUTORIZADA".
_OWN_ACT: Final[Mapping[Kind, Act]] = {
    "transferencia": "transfer",
    "licenciamento": "licence",
    "circulacao": "drive",
}


def mark_of(kinds: Iterable[Kind], act: Act) -> Mark:
    """Return what orders of some kinds mean for an act."""
    return _decisive([_FREE[act], *(_KINDS[kind][act] for kind in kinds)]).mark


def acts_of(kinds: Iterable[Kind]) -> frozenset[Act]:
    """Return the acts that orders of some kinds forbid or make doubtful."""
    named = tuple(kinds)
    return frozenset(act for act in ACTS if mark_of(named, act) != "yes")


def effect_of(restriction: Restriction, today: date) -> Effect:
    by_name = _kinds_by_name(restriction, today)
    if restriction.is_lifted and not by_name:
        return Effect((), "", in_force=False, answers=_FREE)
    main = restriction.kinds_text
    further = [restriction.block_type, restriction.detail, restriction.judicial_code]
    further += filter(states_order, restriction.further_texts)
    if main.state == "empty":
        main = further.pop(0)
        if main.state == "empty" and read_kinds(restriction.detail.value, today).only_denies:
            main = restriction.detail
            further.remove(main)
    reading = read_kinds(str(main), today)
    more = [read_kinds(text, today) for text in _texts(further)]
    tables = [_KINDS[kind] for kind in reading.stated]
    doubt: Doubt = ""
    denies_all = reading.only_denies and _OWN_ACT.keys() <= set(reading.kinds)
    if restriction.recorded is False and denies_all and not (more or by_name):
        return Effect((), "", in_force=False, answers=_FREE)
    is_denied = restriction.recorded is False or restriction.is_denied
    if restriction.recorded is False or (is_denied and not reading.revoked_by):
        doubt, tables, more = "contradicted", [_CONTRADICTED], []
    elif reading.revoked_by:
        doubt = "lifted"
        tables.append(_unknown("lifted", reading.revoked_by))
    is_hidden = any(field.is_hidden for field in (main, restriction.block_type, restriction.detail))
    if is_hidden and restriction.recorded is not False:
        # The hidden text may name a kind that is still in force, or another order.
        tables.append(_OF_ANY_KIND)
    elif reading.unrecognised or is_hidden or not tables:
        # Beside a lifted kind, the unread words may name another order.
        is_more = reading.states_more and not is_denied
        is_allowed = "transferencia" in reading.permitted
        tables.append(_OF_ANY_KIND if is_more or not (doubt or is_allowed) else _UNKNOWN)
    for other in more:
        tables.extend(_KINDS[kind] for kind in other.stated)
        if other.states_more:
            tables.append(_OF_ANY_KIND)
    if restriction.recorded is not False:
        tables.extend(_KINDS[kind] for kind in by_name)
    answers = {act: _decisive([table[act] for table in tables]) for act in ACTS}
    answers |= _allowed(reading, answers)
    named = {*reading.kinds, *by_name, *(kind for other in more for kind in other.stated)}
    kinds = tuple(kind for kind in KINDS if kind in named)
    quoted = reading.revoked_by if doubt == "lifted" else ""
    return Effect(kinds, reading.unrecognised, True, answers, doubt, quoted)


def _kinds_by_name(restriction: Restriction, today: date) -> tuple[Kind, ...]:
    """Return the kinds that members beyond the contract name: "ordemApreensao": true."""
    names = (_OF_COUNT.sub(" ", name) for name in restriction.further_names)
    named = (kinds_in_prose(_NUMBERED.sub(" ", name), today) for name in names)
    return tuple(dict.fromkeys(kind for kinds in named for kind in kinds))


def _texts(fields: Iterable[Field]) -> Iterator[str]:
    """Yield what fields beside the kind say, without numbers."""
    for field in fields:
        text = _NUMBERED.sub(" ", str(field)).strip()
        if any(map(str.isalpha, text)) and value_says(str(field)) not in _STATES_NOTHING:
            yield text


def _allowed(reading: KindReading, answers: Mapping[Act, Answer]) -> Iterator[tuple[Act, Answer]]:
    """Yield the answers for acts that the text allows and that no restriction forbids."""
    for kind, words in reading.permitted.items():
        act = _OWN_ACT[kind]
        mark = answers[act].mark
        if mark == "no":
            continue
        allowed: Mark = "unknown" if mark == "unknown" else "careful"
        yield act, replace(answers[act], mark=allowed, ground="permitted", quoted=words)


def _decisive(answers: Sequence[Answer]) -> Answer:
    """Return the least favourable answer. In a tie, the highest confidence wins."""
    order = ("verified", "reported", "memory")
    return min(worst(answers), key=lambda answer: order.index(answer.confidence))
