"""The eight topics of a report, each written only from the facts.

A topic begins with ✅ or ⚠️ where the facts decide it, and states that they are missing where they
do not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from portal.law import Totals, assess, effect_of, totals
from portal.sandbox.report_facts import Facts
from portal.sandbox.report_notes import Reading, read_note
from portal.vehicle import Decoded, FipeEntry, Restriction
from portal.wording import NO_BREAK_SPACE, counted, listed, money

Mark = Literal["ok", "warning", "none"]
_SIGNS: dict[Mark, str] = {"ok": "✅ ", "warning": "⚠️ ", "none": ""}


@dataclass(frozen=True, slots=True)
class Finding:
    """One topic.

    ``is_unavailable``: its lookup failed, which does not mean a clean record. ``brief``: the
    shorter text for the summary, "" where there is none.
    """

    key: str
    label: str
    mark: Mark
    text: str
    is_unavailable: bool = False
    brief: str = ""

    @property
    def wire(self) -> str:
        return _SIGNS[self.mark] + self.text


def find_topics(facts: Facts, today: date) -> tuple[Finding, ...]:
    """Return all eight topics, in the contract's order."""
    return (
        _documents(facts, today),
        _noted(facts, "rouboFurto", "roubo e furto", "roubo ou furto"),
        _noted(facts, "leilao", "leilão", "passagem por leilão"),
        _prices(facts),
        _chassis(facts),
        _restrictions(facts),
        _fines(facts, today),
        _owners(facts),
    )


def reais(value: Decimal) -> str:
    """Format an amount as ``R$ 1.234,56``."""
    return money(value).replace(NO_BREAK_SPACE, " ")


def fine_totals(facts: Facts, today: date) -> Totals | None:
    if facts.fines is None:
        return None
    return totals([assess(fine, today) for fine in facts.fines])


def in_force(facts: Facts) -> list[Restriction]:
    """Return the restrictions that are in force.

    The source's flag alone does not lift a restriction that the record still names.
    """
    return [r for r in facts.restrictions or () if not r.is_lifted]


def names_of(decoded: Decoded | None) -> str:
    """Return ``I/AUDI A3 LM 180CV, 2014/2015``; "" if no field names the vehicle."""
    if decoded is None:
        return ""
    make, described = str(decoded.make), str(decoded.description)
    named = described if make and make in described else " ".join(filter(None, (make, described)))
    years = "/".join(str(y) for y in (decoded.built_year, decoded.model_year) if y is not None)
    return ", ".join(filter(None, (named, years)))


def _unavailable(key: str, label: str, what: str) -> Finding:
    text = (
        f"{what}: não avaliado. A consulta estava indisponível, "
        "e isso não significa que nada conste."
    )
    return Finding(key, label, "none", text, is_unavailable=True)


def _noted(facts: Facts, key: str, label: str, subject: str) -> Finding:
    if key in facts.notes:
        reading = read_note(facts.notes[key], subject)
        if reading.mark is not None:
            return Finding(key, label, reading.mark, reading.text)
    if key in facts.unavailable:
        return _unavailable(key, label, f"Registros de {subject}")
    return Finding(key, label, "none", f"Os dados enviados nada trazem sobre {label}.")


def _documents(facts: Facts, today: date) -> Finding:
    key, label = "documentacao", "documentação"
    sums = fine_totals(facts, today)
    has_enforceable = sums is not None and sums.enforceable_count > 0
    stopped = [r for r in in_force(facts) if effect_of(r).licence.mark == "no"]
    if stopped or has_enforceable:
        reasons = []
        if stopped:
            reasons.append("há restrição judicial que impede o licenciamento")
        if has_enforceable:
            reasons.append(
                "multas exigíveis em aberto precisam ser pagas para licenciar "
                "(art. 131, § 2º, do CTB)"
            )
        return Finding(key, label, "warning", f"Licenciamento em risco: {listed(reasons)}.")
    if key in facts.notes:
        reading = read_note(facts.notes[key], "pendência de documentação", is_pending=True)
        if reading.mark is not None:
            return Finding(key, label, reading.mark, reading.text)
    if {key, "decode"} & facts.unavailable and not names_of(facts.decoded):
        return _unavailable(key, label, "Documentação e licenciamento")
    if named := names_of(facts.decoded):
        return Finding(
            key,
            label,
            "none",
            f"O registro descreve o veículo como {named}. Os dados enviados nada trazem sobre "
            "o licenciamento do ano; confira o CRLV-e.",
        )
    return Finding(key, label, "none", "Os dados enviados nada trazem sobre documentação.")


def _prices(facts: Facts) -> Finding:
    key, label = "fipe", "tabela FIPE"
    entries = facts.decoded.fipe if facts.decoded else ()
    priced = [(entry, price) for entry in entries if (price := _price(entry)) is not None]
    if not priced:
        if {key, "decode"} & facts.unavailable:
            return _unavailable(key, label, "Preço de referência na tabela FIPE")
        return Finding(
            key, label, "none", "Os dados enviados nada trazem sobre o preço na tabela FIPE."
        )
    if len(priced) == 1:
        entry, price = priced[0]
        text = f"Preço de referência na tabela FIPE: {reais(price)}{_model(entry)}."
        brief = f"Tabela FIPE: {reais(price)}."
    else:
        prices = [price for _, price in priced]
        each = listed([f"{reais(price)}{_model(entry)}" for entry, price in priced])
        text = (
            f"{len(priced)} modelos da tabela FIPE servem a este veículo, de {reais(min(prices))} "
            f"a {reais(max(prices))}: {each}. Confirme a versão antes de negociar."
        )
        brief = f"Tabela FIPE: de {reais(min(prices))} a {reais(max(prices))}."
    change = _year_change(priced[0][0])
    if change is not None and len(priced) == 1:
        word = "caiu" if change < 0 else "subiu"
        percent = f"{abs(change):.1f}".replace(".", ",")
        text += f" Em doze meses o preço {word} {percent} %."
    return Finding(key, label, "ok", text, brief=brief)


def _price(entry: FipeEntry) -> Decimal | None:
    if entry.current is not None:
        return entry.current
    real = [p.value for p in entry.history if p.value is not None and not p.predicted]
    return real[-1] if real else None


def _model(entry: FipeEntry) -> str:
    named = " ".join(filter(None, (str(entry.model), str(entry.version))))
    return f" ({named})" if named else ""


def _year_change(entry: FipeEntry) -> Decimal | None:
    """Return the percent change over the last real point's year; None if unknown."""
    real = {p.month: p.value for p in entry.history if p.value is not None and not p.predicted}
    if not real:
        return None
    last = max(real)
    before = real.get(last.replace(year=last.year - 1))
    now = real[last]
    if before is None or now is None or before <= 0:
        return None
    return (now / before - 1) * 100


def _chassis(facts: Facts) -> Finding:
    key, label = "chassiMotor", "chassi e motor"
    if key in facts.notes:
        reading = read_note(facts.notes[key], "adulteração ou sinistro")
        if reading.mark is not None and not _repeats_chassis(facts, facts.notes[key]):
            return Finding(key, label, reading.mark, reading.text)
    if facts.decoded is not None and facts.decoded.chassis.is_hidden:
        text = (
            "A fonte oculta o número do chassi, e os dados enviados nada trazem sobre a "
            "integridade de chassi e motor: só uma vistoria presencial pode confirmá-la."
        )
        return Finding(key, label, "none", text)
    if {key, "decode"} & facts.unavailable:
        return _unavailable(key, label, "Integridade de chassi e motor")
    return Finding(
        key,
        label,
        "none",
        "Os dados enviados nada trazem sobre chassi e motor: faça uma vistoria presencial.",
    )


def _repeats_chassis(facts: Facts, note: object) -> bool:
    """Return whether a note is only the chassis number, without its condition."""
    return (
        isinstance(note, str)
        and facts.decoded is not None
        and (str(facts.decoded.chassis) == note.strip())
    )


def _restrictions(facts: Facts) -> Finding:
    key, label = "restricoes", "restrições"
    lien = _lien(facts.notes)
    lien_text = (
        f" Gravame: {lien.text[0].lower()}{lien.text[1:]}" if lien and lien.mark is not None else ""
    )
    bad_lien = lien is not None and lien.mark == "warning"
    active = in_force(facts)
    if active:
        each = listed([_restriction_text(restriction) for restriction in active])
        text = (
            f"{counted(len(active), 'restrição judicial', 'restrições judiciais')}: {each}. "
            "Só o juízo que ordenou pode dar baixa."
        )
        return Finding(key, label, "warning", text + lien_text)
    if key in facts.unavailable:
        finding = _unavailable(key, label, "Restrições judiciais (Renajud)")
        mark: Mark = "warning" if bad_lien else "none"
        return Finding(key, label, mark, finding.text + lien_text, is_unavailable=True)
    if facts.restrictions is not None:
        text = "Nenhuma restrição judicial consta nos dados enviados."
        silent = "" if lien_text else " Eles nada trazem sobre gravame (financiamento)."
        return Finding(key, label, "warning" if bad_lien else "ok", text + (lien_text or silent))
    if lien_text and lien is not None and lien.mark is not None:
        text = f"{lien_text.strip()} Os dados enviados nada trazem sobre restrições judiciais."
        # Without an answer on court restrictions there is no ✅, even if there is no lien.
        return Finding(key, label, "warning" if bad_lien else "none", text)
    return _noted(facts, key, label, "restrição")


def _lien(notes: Mapping[str, object]) -> Reading | None:
    return read_note(notes["gravame"], "gravame (financiamento)") if "gravame" in notes else None


def _restriction_text(restriction: Restriction) -> str:
    effect = effect_of(restriction)
    kinds = effect.kinds_word or str(restriction.kinds_text).lower() or "de tipo não informado"
    court = str(restriction.court).partition("-")[0].strip() or "tribunal não informado"
    day = f", em {restriction.included_at:%d/%m/%Y}" if restriction.included_at else ""
    doubt = f"; {effect.doubt}: confirme com o juízo" if effect.doubt else ""
    return f"{kinds} ({court}{day}{doubt})"


def _fines(facts: Facts, today: date) -> Finding:
    key, label = "multas", "multas"
    sums = fine_totals(facts, today)
    if not facts.fines or sums is None:
        if key in facts.unavailable:
            return _unavailable(key, label, "Multas (Renainf)")
        if sums is None:
            return _noted(facts, key, label, "multa")
        return Finding(key, label, "ok", "Nenhuma multa consta nos dados enviados.")
    paid = f"{counted(sums.paid_count, 'paga', 'pagas')}" if sums.paid_count else ""
    total = counted(len(facts.fines), "multa", "multas")
    if not sums.open_count:
        return Finding(key, label, "ok", f"{total} nos dados enviados, nenhuma em aberto ({paid}).")
    text = f"{total} nos dados enviados: {sums.open_count} em aberto"
    text += f" e {paid}" if paid else ""
    least = "pelo menos " if sums.without_amount else ""
    if sums.amount:
        text += f". Total em aberto: {least}{reais(sums.amount)}"
    else:
        text += ", sem valor informado"
    return Finding(key, label, "warning", f"{text}.")


def _owners(facts: Facts) -> Finding:
    key, label = "proprietarios", "proprietários"
    if key in facts.notes:
        reading = read_note(facts.notes[key], "proprietário anterior", is_owner=True)
        if reading.mark is not None:
            return Finding(key, label, reading.mark, reading.text)
    if key in facts.unavailable:
        return _unavailable(key, label, "Histórico de proprietários")
    return Finding(key, label, "none", "Os dados enviados nada trazem sobre proprietários.")
