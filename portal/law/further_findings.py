"""What the members of an answer that the contract does not name say against the vehicle."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Final

from portal.law.adverse import MAY_NAME_KINDS, Adverse, Subject, adverse_in
from portal.law.findings import VEHICLE, AdverseData, Source, UnreadData
from portal.law.orders import AssessedOrder, is_graver
from portal.law.restriction_kinds import Kind, kinds_in_prose
from portal.vehicle.field import clean
from portal.vehicle.further import Further, Statement, words_of
from portal.vehicle.names import mask_names
from portal.wording import bare

# A name that denies what it names: "semRestricao", "naoRoubado".
_DENYING: Final = re.compile(r"(?:SEM|NAO|LIVRE(?: DE)?|NOT) (?P<rest>.+)")
# The words for the records of an answer about fines or court orders.
_NAMES_RECORDS: Final = re.compile(
    r"(?:RESTRIC\w*|MULTAS?|AUTUAC\w*|INFRAC\w*|DEBITOS?|RENAJUD|JUDICIA(?:L|IS)|[ /,:])+"
)
_WORDS: Final = re.compile(r"[^\W\d_]{4}")
# Where a page shows the answers of a lookup.
_ANCHORS: Final[Mapping[Source, str]] = {
    "decode": VEHICLE,
    "renainf": "multas",
    "renajud": "restricoes",
}
# Members that say whether what the object around them is named after is in force, and of what kind.
_STATE: Final = re.compile(r"\b(?:STATUS|SITUACAO|ESTADO)\b")
_KIND: Final = re.compile(r"\b(?:TIPO|NATUREZA|ESPECIE|MODALIDADE)\b")
_LONGEST_SHOWN: Final = 60
_MOST_WITHHELD: Final = 3
_BARE_FLAGS: Final = {"S": "SIM", "N": "NAO"}


def further_findings(
    further: Further, today: date, source: Source = "decode", anchor: str = VEHICLE
) -> Iterator[AdverseData | UnreadData]:
    """Yield a finding for each subject that is named, and one if not all was read.

    The members of one object tell of one thing: "gravame": {"status": "ATIVO", "banco": "X"}.
    """
    findings = (
        _finding(statement, source, anchor, today) for statement in _telling(further.statements)
    )
    yield from dict.fromkeys(filter(None, findings))
    withheld = tuple(dict.fromkeys(map(_label, filter(_withholds, further.statements))))
    if further.is_cut or withheld:
        yield UnreadData(source, anchor, withheld[:_MOST_WITHHELD])


def beside_findings(
    further: Further, source: Source, orders: Sequence[AssessedOrder], today: date
) -> Iterator[AdverseData | UnreadData]:
    """Yield what stands beside the records of an answer and warns of more than that they exist.

    Flags and counts there tell of the records, and so do texts that only name them, unless they
    name a graver order than ``orders``, those in force.
    """
    if source != "decode":
        texts = tuple(statement for statement in further.statements if _has_words(statement))
        further = Further(texts, further.is_cut)
    for finding in further_findings(further, today, source, _ANCHORS[source]):
        if isinstance(finding, UnreadData) or source == "decode" or _warns_of_more(finding, orders):
            yield finding


def _warns_of_more(finding: AdverseData, orders: Sequence[AssessedOrder]) -> bool:
    """Return whether a text says more than that there are records such as these orders."""
    if finding.kinds and finding.subject is not Subject.SEIZURE:
        return is_graver(finding.kinds, orders)
    return not _NAMES_RECORDS.fullmatch(bare(finding.words))


def _telling(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Yield the statements that may warn, and of each object one for each subject.

    A member that warns by the object's name alone is left out beside one that says more. Each value
    with words of its own is kept: it may name a graver order.
    """
    objects: dict[int, list[Statement]] = {}
    for statement in statements:
        if statement.within:
            objects.setdefault(statement.within, []).append(statement)
    chosen = {id(statement) for members in objects.values() for statement in _of_object(members)}
    yield from (
        statement for statement in statements if not statement.within or id(statement) in chosen
    )


def _of_object(members: Sequence[Statement]) -> Iterator[Statement]:
    warned = [(warning[0], member) for member in members if (warning := adverse_statement(member))]
    of_value = [(subject, member) for subject, member in warned if _value_warns(member)]
    by_value = {subject for subject, _ in of_value}
    of_label = [(subject, member) for subject, member in warned if _label_warns(member)]
    first: dict[Subject, Statement] = {}
    by_name = of_label or ([] if of_value else warned)
    if _has_ended(members):
        of_value = [one for one in of_value if not _KIND.search(words_of((one[1].label,)))]
        by_name = []
    # A text says more than a flag: "sinistro": {"indicador": "S", "monta": "MEDIA"}.
    for subject, member in sorted(by_name, key=lambda one: not _has_words(one[1])):
        if subject not in by_value:
            first.setdefault(subject, member)
    yield from (member for _, member in of_value)
    yield from first.values()


def _has_ended(members: Sequence[Statement]) -> bool:
    """Return whether an object says that what it is named after has ended.

    "gravame": {"situacao": "BAIXADO", "tipo": "ALIENACAO FIDUCIARIA", "agente": "BANCO X"}.
    """
    states = [member for member in members if _STATE.search(words_of((member.label,)))]
    return bool(states) and all(
        _is_named(member) and not member.is_withheld and not _by_name(member) for member in states
    )


def _value_warns(statement: Statement) -> bool:
    return not statement.is_of_person and _first(statement.text) is not None


def _label_warns(statement: Statement) -> bool:
    """Return whether a member's own name warns, without the names around it."""
    return _first(f"{words_of((statement.label,))}: SIM") is not None


def _finding(statement: Statement, source: Source, anchor: str, today: date) -> AdverseData | None:
    warned = adverse_statement(statement)
    if warned is None:
        return None
    subject, words = warned
    kinds: tuple[Kind, ...] = ()
    if subject in MAY_NAME_KINDS:
        kinds = kinds_in_prose(f"{statement.names}: {statement.text}", today)
    is_short = len(statement.text) <= _LONGEST_SHOWN and not statement.is_flag
    if is_short and (kinds or (source == "decode" and bare(words) in bare(statement.text))):
        # What it is stands beside the words that warn: "CIRCULACAO PROIBIDA".
        words = clean(mask_names(statement.text), limit=_LONGEST_SHOWN)
    return AdverseData(subject, words, source, anchor, kinds)


def _has_words(statement: Statement) -> bool:
    return statement.is_withheld or (not statement.is_flag and bool(_WORDS.search(statement.text)))


def adverse_statement(statement: Statement) -> tuple[Subject, str] | None:
    """Return what a member warns of by its value, or by its name and its value, and the words."""
    if statement.is_withheld:
        return None
    by_name = _by_name(statement)
    of_value = None if statement.is_of_person else _first(statement.text)
    # Behind the name of what has ended, an end says nothing of the vehicle: "gravame": "BAIXADO".
    if of_value and (not _is_named(statement) or of_value.subject in by_name):
        return of_value.subject, of_value.words
    return (by_name[0], _shown(statement)) if by_name else None


def _withholds(statement: Statement) -> bool:
    """Return whether a value is hidden, or not known, of which a yes would be a warning."""
    return statement.is_withheld and _is_named(statement)


def _by_name(statement: Statement) -> list[Subject]:
    """Return what a name and its value warn of."""
    denying = _DENYING.fullmatch(statement.names)
    if statement.is_denied:
        # Only a flag denies the denial: "semRestricao": false.
        return _subjects(denying["rest"]) if denying and statement.is_flag else []
    if denying or not _is_named(statement):
        return []
    # A value about a person only says that there is one.
    value = "SIM" if statement.is_of_person else bare(statement.text)
    return _subjects(f"{statement.names}: {_BARE_FLAGS.get(value, value)}")


def _is_named(statement: Statement) -> bool:
    """Return whether names warn of something where their value affirms it."""
    return bool(statement.names) and _first(f"{statement.names}: SIM") is not None


def _subjects(text: str) -> list[Subject]:
    return [adverse.subject for adverse in adverse_in(text)]


def _first(text: str) -> Adverse | None:
    return next(adverse_in(text), None)


def _label(statement: Statement) -> str:
    """Return the name that says what a value is of. "status" alone does not say it."""
    return statement.label if _label_warns(statement) else statement.names.lower()


def _shown(statement: Statement) -> str:
    label = _label(statement)
    if statement.is_of_person:
        return label
    return clean(f"{label}: {mask_names(statement.text)}", limit=_LONGEST_SHOWN)
