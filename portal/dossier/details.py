"""What a fine and a court order show as labelled values, and the sentences on them.

``FINE_ROWS`` and ``other_of_fine`` show every field of a record that the fine's own line does not
show. The page and the paper iterate the same rows.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Final, Literal, NamedTuple

from portal import formats
from portal.law.assessment import AssessedFine, sum_of
from portal.law.authorities import town_of
from portal.law.deadlines import Deadline
from portal.law.infractions import Infraction
from portal.law.orders import AssessedOrder
from portal.law.speeding import excess_of, is_speeding, range_conflict, tolerance_conflict
from portal.law.standing import Standing
from portal.phrasebook import authorities as say_authority
from portal.phrasebook import deadlines as say
from portal.phrasebook import fines as say_fine
from portal.phrasebook import interest as say_interest
from portal.phrasebook import points
from portal.phrasebook.infractions import speed_conflict, wording_conflict
from portal.phrasebook.orders import conflicts
from portal.phrasebook.sums import fines_in_words
from portal.vehicle.field import EMPTY, Field, clean, fold
from portal.vehicle.fines import Licence
from portal.vehicle.further import Further
from portal.vehicle.names import mask_names
from portal.vehicle.spelling import named, sentence
from portal.wording import counted, listed

Face = Literal["screen", "paper"]

# Some answers have this text in place of a restriction's detail. The text means "a detail exists in
# Renajud" (the register of court restrictions).
_DETAIL_EXISTS: Final = "CONSTA DETALHE RENAJUD"
# A number of a meter, and its unit. Three digits after a point may be thousands.
_MEASURE: Final = re.compile(r"([0-9]{1,7})(?:[.,]([0-9]{1,2}))? ?([A-Za-z][A-Za-z/]*)?")
_UNITS: Final = {"KG": "kg", "KM/H": "km/h", "KMH": "km/h", "MG/L": "mg/L", "M": "m", "T": "t"}
# How many members that the contract does not have are shown, and how long their texts may be.
_MOST_FURTHER, _LONGEST_FURTHER = 20, 200
_OTHER_VEHICLE: Final = (
    "Este registro descreve outro veículo ({what}): erro de cadastro ou placa clonada? Confira "
    "com {whom} antes de comprar."
)
_MAY_COST_NOTHING: Final = (
    "Pode não custar nada: sem outra infração em 12 meses, a leve ou média deve virar advertência "
    "por escrito (art. 267 do CTB)."
)


class Detail(NamedTuple):
    """A labelled value. ``passed_on`` is the day on which a deadline that it names has passed."""

    label: str
    field: Field
    passed_on: date | None = None


def given(details: Iterable[Detail]) -> tuple[Detail, ...]:
    """Return the fields that the source sends or marks as hidden."""
    return tuple(one for one in details if one.field.state != "empty")


def blank(details: Iterable[Detail]) -> tuple[str, ...]:
    """Return the labels of the fields that the source leaves blank."""
    return tuple(one.label for one in details if one.field.state == "empty")


def untold_in_all(of_fines: Iterable[Iterable[Detail]]) -> tuple[Detail, ...]:
    """Return the further fields that are blank, or hidden, in each of several fines."""
    first, *others = ({one.label: one for one in details} for details in of_fines)
    untold = (one for one in first.values() if one.field.state != "known" and others)
    return tuple(
        one for one in untold if all(by_label.get(one.label) == one for by_label in others)
    )


def fine_notes(fine: AssessedFine) -> tuple[str, ...]:
    """Return sentences on contradictions, such as that a record describes another vehicle."""
    notes = (
        _wording_note(fine),
        _speed_note(fine),
        say_authority.code_conflict(fine),
        _registered_note(fine),
        _same_notice_note(fine),
        _other_vehicle(fine, "o órgão autuador"),
    )
    return tuple(filter(None, notes))


def _same_notice_note(fine: AssessedFine) -> str:
    if not fine.same_notice:
        return ""
    where = listed([str(number) for number in fine.same_notice])
    records = "o registro" if len(fine.same_notice) == 1 else "os registros"
    return f"É o mesmo auto de infração que {records} {where}: as somas o contam uma vez."


def _registered_note(fine: AssessedFine) -> str:
    registered, committed = fine.record.registered_on, fine.record.committed_on
    if registered is None or committed is None or committed <= registered <= fine.today:
        return ""
    what = "é anterior à da infração" if registered < committed else "está no futuro"
    return f"A data de registro ({formats.short_date(registered)}) {what}: confira na notificação."


def order_notes(order: AssessedOrder) -> tuple[str, ...]:
    """Return sentences on contradictions, such as that a record describes another vehicle."""
    notes = (*conflicts(order), _other_vehicle(order, "o juízo e o Detran"))
    return tuple(filter(None, notes))


def explanations(fine: AssessedFine) -> Iterator[str]:
    """Yield what the law says of one fine, beside its values.

    The page states a rule on points that many fines share once, below the list.
    """
    yield say_fine.status_note(fine)
    if fine.is_open:
        for deadline in (fine.notice, fine.penalty, fine.prescription):
            if deadline.is_doubtful:
                yield say.sentence(deadline)
        if fine.is_nic:
            yield say.sentence(fine.notice)
        ends_on = fine.penalty.ends_on
        is_passed = ends_on is not None and ends_on < fine.today
        if fine.standing is Standing.NOTICE and is_passed:
            yield say.sentence(fine.penalty)
    if fine.standing is Standing.NOTICE and fine.gravity in ("leve", "media"):
        yield _MAY_COST_NOTHING
    if fine.toll_until:
        yield say.toll_note(fine)
    yield say_fine.amount_note(fine.amount)
    if not points.expired(fine.points) and (said := points.sentence(fine.points)):
        yield said
    if fine.wording.table_text:
        yield f"Na tabela de infrações: {fine.wording.table_text}."


def expired_points(fine: AssessedFine) -> str:
    """Return the rule on points that left the count, which many fines share, or ""."""
    return points.expired(fine.points)


def deadline_rules(fines: Iterable[AssessedFine]) -> str:
    """Cite the articles of the deadlines that run for the open fines, or return ""."""
    articles = {
        say.name(deadline): deadline.article for fine in fines for deadline in fine.deadlines
    }
    if not articles:
        return ""
    return "; ".join(
        (*(f"{name}, {article}" for name, article in articles.items()), say.RULES_NOTE)
    )


def discount_sentence(fines: Iterable[AssessedFine]) -> str:
    """Return a sentence on fines with a possible discount, or "" if there are none."""
    known = [
        fine
        for fine in fines
        if fine.is_open and fine.has_discount and fine.amount.value is not None
    ]
    if not known:
        return ""
    verb = "ainda pode ter" if len(known) == 1 else "ainda podem ter"
    at_80 = formats.brl(sum_of(fine.amount.at_80 for fine in known))
    at_60 = formats.brl(sum_of(fine.amount.at_60 for fine in known))
    return (
        f"{fines_in_words(known)} {verb} desconto até o vencimento. Com 20%: {at_80}, para quem "
        f"pagar. Com 40%: {at_60}, só para o dono ou infrator que já usava o SNE na "
        "autuação e não recorre."
    )


def _is_speeding(fine: AssessedFine) -> bool:
    return fine.infraction is not None and is_speeding(fine.infraction.code)


def _has_speeds(fine: AssessedFine) -> bool:
    fields = (fine.record.limit, fine.record.measured, fine.record.considered)
    return any(field.state != "empty" for field in fields)


def _wording_note(fine: AssessedFine) -> str:
    conflict, infraction = fine.wording.conflict, fine.infraction
    return wording_conflict(conflict, infraction) if conflict and infraction else ""


def _speed_note(fine: AssessedFine) -> str:
    infraction = fine.infraction
    if infraction is None or not _is_speeding(fine) or not _has_speeds(fine):
        return ""
    record, limit = fine.record, fine.record.limit
    conflict = range_conflict(infraction, excess_of(limit, record.considered))
    conflict = conflict or tolerance_conflict(limit, record.measured, record.considered)
    return speed_conflict(conflict, infraction) if conflict else ""


def multiplier_of(infraction: Infraction | None) -> str:
    """Return ``×5`` for a fine of five times the basic amount.

    Returns "" for the basic amount and for an unknown multiple.
    """
    factor = None if infraction is None else infraction.multiplier
    return "" if factor is None or factor <= 1 else f"×{formats.integer(factor)}"


def authority(fine: AssessedFine) -> Field:
    """Return the issuing body with its state: ``Polícia Rodoviária Federal (MG)``."""
    name, state = fine.issuer, fine.record.authority_state
    if state.state == "empty":
        return name
    return Field(f"{formats.field_text(name)} ({formats.field_text(state)})")


def authority_code(fine: AssessedFine) -> Field:
    """Return the issuing body's code with what it stands for: ``113100, Detran/MG, estadual``."""
    body = fine.authority
    words = f"{body.name}, {say_authority.LEVEL_WORDS[body.level]}" if body else ""
    return _decoded(fine.record.authority_code, words)


def town_code(fine: AssessedFine) -> Field:
    """Return the town's code with its name: ``4123, Belo Horizonte/MG``."""
    code = fine.record.municipality_code
    return _decoded(code, str(town_of(str(code)) or ""))


def _decoded(code: Field, words: str) -> Field:
    return Field(f"{code}, {words or 'fora da tabela do portal'}") if code else code


def _appeal(fine: AssessedFine) -> Field | None:
    if fine.authority is None or not fine.is_open:
        return None
    return Field(say_authority.appeal_body(fine.authority))


def _site(fine: AssessedFine) -> Field | None:
    site = fine.authority.site if fine.authority and fine.is_open else ""
    return Field(f"{site} (confira o endereço)") if site else None


def day(date_: date | None, text: Field) -> Field:
    """Return the day, or the source's text if the text is no readable date."""
    return text if date_ is None else Field(formats.short_date(date_))


def classified(fine: AssessedFine, *, short: bool = False) -> Field:
    """Return the code with its article, which ``short`` cites without its law if it is the CTB."""
    if fine.infraction is None:
        return Field(f"código {formats.field_text(fine.record.code)}, fora da tabela do portal")
    by_code = "pelo código " if fine.wording.conflict else ""
    cited = f"{by_code}{fine.infraction.cite(short=short)}"
    return Field(f"{fine.infraction.printed}, {cited}" if cited else fine.infraction.printed)


def gravity_of(fine: AssessedFine, *, short: bool = False) -> Field:
    """Return the gravity and its points, which ``short`` does not say whether they count."""
    if fine.wording.conflict and (by_code := fine.infraction):
        return Field(f"não se sabe; pelo código, {say_fine.gravity_word(by_code.gravity)}")
    known, words = (
        fine.points,
        f"{say_fine.gravity_word(fine.gravity)} {multiplier_of(fine.infraction)}".rstrip(),
    )
    if known.by_gravity is None:
        return Field(f"{words}, pontos: não é possível dizer")
    is_outside = known.counted == 0 and known.by_gravity and not short
    outside = ", não contados" if is_outside else ""
    return Field(f"{words}, {counted(known.by_gravity, 'ponto', 'pontos')}{outside}")


def _doubted_gravity(fine: AssessedFine) -> Field | None:
    """Return the gravity if its points do not count or are unknown, which its line does not say."""
    return None if fine.points.by_gravity and fine.points.counted != 0 else gravity_of(fine)


def _discount(fine: AssessedFine) -> Field | None:
    amount = fine.amount
    if fine.is_paid or not fine.has_discount or amount.value is None:
        return None
    at_80, at_60 = formats.brl(amount.at_80), formats.brl(amount.at_60)
    return Field(f"{at_80} com 20%; {at_60} com 40% pelo SNE")


def _no_discount(fine: AssessedFine) -> Field | None:
    if fine.is_paid or fine.has_discount or fine.amount.value is None:
        return None
    return Field("em regra, nenhum")


def _with_interest(fine: AssessedFine) -> Field | None:
    return Field(say_interest.words(fine.interest)) if fine.interest else None


def _judged(fine: AssessedFine, field: Field, deadline: Deadline) -> Field:
    """Return the day of a step, and for an open fine how much of its legal period was used."""
    judged = [text for text in (say.brief(deadline), say.doubt(deadline)) if text]
    if not fine.is_open or not judged:
        return field
    return Field(", ".join((formats.field_text(field), *judged)))


def _notified(fine: AssessedFine) -> Field:
    return _judged(fine, day(fine.record.notified_on, fine.record.notified_on_text), fine.notice)


def _penalised(fine: AssessedFine) -> Field:
    return _judged(fine, day(fine.record.penalty_on, fine.record.penalty_on_text), fine.penalty)


def _remedy(fine: AssessedFine, deadline: Deadline) -> Field | None:
    brief = say.brief(deadline)
    return Field(brief) if brief and deadline in fine.remedies else None


def _prescription(fine: AssessedFine) -> Field | None:
    brief = say.brief(fine.prescription)
    return Field(brief) if brief and fine.is_open else None


def _speed(fine: AssessedFine, field: Field) -> Field | None:
    """Return a speed with its unit, or None if the record has no speeds."""
    if not _has_speeds(fine):
        return None
    measure = _MEASURE.fullmatch(field.value.strip())
    if measure is None:
        return field
    whole, part, sent = measure.groups()
    part = (part or "").rstrip("0")
    number = formats.integer(int(whole)) + (f",{part}" if part else "")
    unit = "km/h" if _is_speeding(fine) else "(a fonte não diz a unidade)"
    return Field(f"{number} {_UNITS.get(sent.upper(), sent) if sent else unit}")


def _excess(fine: AssessedFine) -> Field | None:
    if not _is_speeding(fine):
        return None
    over = excess_of(fine.record.limit, fine.record.considered)
    return None if over is None or over <= 0 else Field(formats.percent(over, 0))


def _payment(fine: AssessedFine, field: Field) -> Field | None:
    """Return a field about the payment, or None if the record has no payment."""
    record = fine.record
    days = record.paid_on_text, record.payment_registered_on_text
    has_text = any(one.state != "empty" for one in (*days, record.paid_state))
    return field if has_text or _paid_amount(fine).state != "empty" else None


def _paid_amount(fine: AssessedFine) -> Field:
    """Return the paid amount. A zero counts as blank."""
    if words := say_fine.paid_words(fine.paid):
        return Field(words)
    return EMPTY if fine.record.paid_amount == 0 else fine.record.paid_amount_text


@dataclass(frozen=True, slots=True)
class FineRow:
    """A labelled value of a fine. ``value`` returns None for a fine without this row.

    ``faces`` show the row: the page, and the paper with its record in full. ``deadline`` is the
    deadline that the row is about.
    """

    label: str
    value: Callable[[AssessedFine], Field | None]
    faces: tuple[Face, ...] = ("screen", "paper")
    deadline: Callable[[AssessedFine], Deadline] | None = None

    def passed_on(self, fine: AssessedFine) -> date | None:
        """Return the last day of the row's deadline if it has passed, else None."""
        ends_on = self.deadline(fine).ends_on if self.deadline else None
        return ends_on if ends_on is not None and ends_on < fine.today else None


# The page draws the steps of a fine until it lapses, so they are rows on paper only.
FINE_ROWS: Final = (
    FineRow("Enquadramento", classified),
    FineRow("Gravidade", gravity_of, ("paper",)),
    FineRow("Gravidade", _doubted_gravity, ("screen",)),
    FineRow("Local", lambda fine: named(fine.record.place)),
    FineRow("Município", lambda fine: Field(str(fine.town)) if fine.town else None),
    FineRow("Auto de infração", lambda fine: fine.record.notice),
    FineRow("Desconto", _discount),
    FineRow("Desconto", _no_discount, ("screen",)),
    FineRow("Com juros (estimativa)", _with_interest),
    FineRow("Situação na fonte", lambda fine: _given(sentence(fine.record.kind))),
    FineRow(
        "Registrada em",
        lambda fine: day(fine.record.registered_on, fine.record.registered_on_text),
    ),
    FineRow("Notificada em", _notified, ("paper",)),
    FineRow("Penalidade em", _penalised, ("paper",)),
    FineRow(
        "Defesa prévia",
        lambda fine: _remedy(fine, fine.prior_defence),
        deadline=lambda fine: fine.prior_defence,
    ),
    FineRow(
        "Indicação do condutor",
        lambda fine: _remedy(fine, fine.driver_nomination),
        deadline=lambda fine: fine.driver_nomination,
    ),
    FineRow(
        "Recurso à JARI e vencimento",
        lambda fine: _remedy(fine, fine.appeal),
        ("paper",),
        deadline=lambda fine: fine.appeal,
    ),
    FineRow("Quem julga o recurso", _appeal),
    FineRow("Site do órgão", _site),
    FineRow("Prescrição", _prescription, ("paper",), deadline=lambda fine: fine.prescription),
    FineRow("Limite", lambda fine: _speed(fine, fine.record.limit)),
    FineRow("Medido", lambda fine: _speed(fine, fine.record.measured)),
    FineRow("Considerado", lambda fine: _speed(fine, fine.record.considered)),
    FineRow("Acima do limite", _excess),
    FineRow("Pagamento", lambda fine: _payment(fine, fine.record.paid_on_text)),
    FineRow("Valor pago", lambda fine: _payment(fine, _paid_amount(fine))),
    FineRow(
        "Pagamento registrado em",
        lambda fine: _payment(fine, fine.record.payment_registered_on_text),
    ),
    FineRow("Paga em (estado)", lambda fine: _payment(fine, fine.record.paid_state)),
)


def _given(field: Field) -> Field | None:
    return None if field.state == "empty" else field


def fine_rows(fine: AssessedFine, face: Face) -> Iterator[Detail]:
    """Yield the rows of ``FINE_ROWS`` that the fine has on this face."""
    for row in FINE_ROWS:
        if face in row.faces and (field := row.value(fine)) is not None:
            yield Detail(row.label, field, row.passed_on(fine))


def other_of_fine(assessed: AssessedFine) -> Iterator[Detail]:
    """Yield the fields of a fine that a page shows nowhere else."""
    fine = assessed.record
    yield Detail("Código enviado pela fonte", fine.code)
    yield Detail("Valor enviado pela fonte", fine.amount_text)
    yield Detail("Órgão autuador", authority(assessed))
    yield Detail("Código do órgão autuador", authority_code(assessed))
    yield Detail("Código do município", town_code(assessed))
    yield Detail("Veículo descrito", fine.make_model)
    yield from _licence("condutor", fine.driver)
    yield from _licence("infrator", fine.offender)
    yield from further_details(fine.further)


def _licence(whose: str, licence: Licence) -> Iterator[Detail]:
    points = Field(str(licence.points)) if licence.points else EMPTY
    yield Detail(f"CNH do {whose}", licence.number)
    yield Detail(f"Impedimento da CNH do {whose}", sentence(licence.impediment))
    yield Detail(f"Portaria da CNH do {whose}", licence.ordinance)
    yield Detail(f"Pontos na CNH do {whose}, pela fonte", points)


def other_of_order(order: AssessedOrder) -> Iterator[Detail]:
    """Yield the fields of a court order that a page shows nowhere else."""
    record = order.record
    flag = {True: Field("sim"), False: Field("não"), None: EMPTY}
    yield Detail("Consta no Renajud, pela fonte", flag[record.recorded])
    yield Detail("Tribunal, como a fonte escreve", record.court)
    if str(record.court_body) != order.court_body:
        yield Detail("Órgão judiciário, como a fonte escreve", record.court_body)
    yield Detail("Código judicial", record.judicial_code)
    yield Detail("Ano do processo", record.case_year)
    if not record.protocol:
        yield Detail("Ano do protocolo", record.protocol_year)
    if not record.letter:
        yield Detail("Ano do ofício", record.letter_year)
    yield Detail("Placa", record.plate)
    yield Detail("Renavam", record.renavam)
    yield Detail("Veículo descrito", record.make_model)
    yield Detail("Ano de fabricação", record.built_year)
    yield Detail("Ano-modelo", record.model_year)
    yield from further_details(record.further)


def further_details(further: Further) -> Iterator[Detail]:
    """Yield the first members that the contract does not have, without data about a person."""
    shown = (
        statement
        for statement in further.statements
        if not (statement.is_denied or statement.is_of_person or statement.is_withheld)
    )
    for statement in islice(shown, _MOST_FURTHER):
        text = clean(mask_names(statement.text), limit=_LONGEST_FURTHER)
        yield Detail(f"Outros dados ({statement.label})", Field(text))


def protocol(order: AssessedOrder) -> Field:
    return _numbered(order.record.protocol, order.record.protocol_year)


def letter(order: AssessedOrder) -> Field:
    return _numbered(order.record.letter, order.record.letter_year)


def _numbered(number: Field, year: Field) -> Field:
    """Join a number and its year: "123/2024"."""
    if number and year.is_hidden:
        return Field(f"{number} (ano oculto pela fonte)")
    return Field(f"{number}/{year}") if number and year else number


def court_detail(detail: Field) -> Field:
    if fold(detail.value) == _DETAIL_EXISTS:
        return Field("há mais detalhes no Renajud que a fonte não mostrou")
    return sentence(detail)


def _other_vehicle(record: AssessedFine | AssessedOrder, whom: str) -> str:
    if not record.differing:
        return ""
    return _OTHER_VEHICLE.format(what=" ".join(map(str, record.differing)), whom=whom)
