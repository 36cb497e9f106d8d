"""The verdict: may a vehicle be transferred, licensed, driven or removed (towed)?

A failed lookup makes the verdict "incomplete", unless the known records already block the transfer.
A "clear" verdict needs the lookups of both fines and court restrictions. If the user left out one
of these lookups, and nothing was found, the verdict is "limited". The headline of a limited verdict
names the chosen lookups. A stale answer is an old answer, shown while the upstream gives no newer
answer. A stale answer also prevents a "clear" verdict.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from portal.law.act_answers import ACTS, Act, Mark, worst
from portal.law.act_matrix import (
    MISSING_WORDS,
    NOTHING_STALE,
    WRONG_CHECK_DIGIT,
    Missing,
    Row,
    Stale,
    as_of,
    row_of,
)
from portal.law.assessment import FineAssessment
from portal.law.courts import find_court
from portal.law.effects import Effect, effect_of
from portal.law.fine_status import Standing
from portal.vehicle import Restriction
from portal.wording import day, listed, money

Level = Literal["blocked", "caution", "clear", "incomplete", "limited"]
_LOOKUPS: Mapping[Missing, str] = {
    "decode": "Dados do veículo",
    "fines": "Multas",
    "restrictions": "Restrições judiciais",
}
# A verdict is based on these lookups. The third lookup, "decode", only describes the vehicle.
_JUDGED: tuple[Missing, ...] = ("fines", "restrictions")
# _NOTHING_FOUND does not say "can be transferred", because the lookups do not cover the most
# frequent obstacles to a transfer (_STILL_MISSING).
_NOTHING_FOUND = "Nenhuma multa em aberto nem restrição judicial encontrada"
_STILL_MISSING = "falta verificar IPVA, financiamento, roubo e furto"
_NO_FINE = "Nenhuma multa em aberto encontrada"
_NO_RESTRICTION = "Nenhuma restrição judicial encontrada"


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason for the verdict: a group of records of the same kind.

    ``detail`` is a clause on the legal consequence, or "". ``anchor`` is the HTML anchor of the
    first record ("multa-1", "restricao-2").
    """

    finding: str
    detail: str
    anchor: str
    mark: Mark

    @property
    def sentence(self) -> str:
        return f"{self.finding}: {self.detail}." if self.detail else f"{self.finding}."


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a vehicle.

    ``caveat`` is a clause on what ``finding`` leaves open, or "". ``matrix`` has one row for each
    act, in the order of ACTS. ``missing`` names the lookups that failed or were not made. It also
    names "decode", the lookup of the vehicle's own data, if its answer does not describe the
    vehicle. ``notices`` has one sentence for each stale (old) answer.
    """

    level: Level
    finding: str
    caveat: str
    notices: tuple[str, ...]
    reasons: tuple[Reason, ...]
    matrix: tuple[Row, ...]
    missing: tuple[Missing, ...]

    @property
    def headline(self) -> str:
        return f"{self.finding}; {self.caveat}" if self.caveat else self.finding

    def row(self, act: Act) -> Row:
        return self.matrix[ACTS.index(act)]


def judge(
    decode_known: bool,
    fines: Sequence[FineAssessment] | None,
    restrictions: Sequence[Restriction] | None,
    *,
    is_described: bool = True,
    check_digit_holds: bool = True,
    stale: Stale = NOTHING_STALE,
    not_asked: Collection[Missing] = (),
) -> Verdict:
    """Return the verdict.

    ``fines`` or ``restrictions`` is None if its lookup failed or was not made. The decode lookup
    returns the vehicle's own data. ``decode_known`` is False if the decode lookup failed. A search
    by Renavam (registration number) has no decode lookup; ``decode_known`` is then True.
    ``is_described`` is False if the answer of the decode lookup does not describe the vehicle.
    ``check_digit_holds`` is False if the Renavam's check digit is wrong. The records may then
    belong to another vehicle. ``stale`` maps each lookup with a stale (old) answer to the local
    time of the answer. ``not_asked`` names the lookups that the user did not choose.
    """
    known = (decode_known and is_described, fines is not None, restrictions is not None)
    missing = tuple(
        part for part, is_known in zip(MISSING_WORDS, known, strict=True) if not is_known
    )
    stale = {part: stale[part] for part in MISSING_WORDS if part in stale and part not in missing}
    effects = [effect_of(restriction) for restriction in restrictions or ()]
    doubt = "" if check_digit_holds else WRONG_CHECK_DIGIT
    matrix = tuple(
        row_of(act, effects, fines or (), missing, stale, doubt, not_asked) for act in ACTS
    )
    reasons = (*_court_reasons(restrictions or (), effects), *_fine_reasons(fines or ()))
    failed = (part for part in missing if part not in not_asked)
    parts = (part for part in failed if part != "decode" or not decode_known)
    unavailable = [MISSING_WORDS[part] for part in parts]
    gaps = ["a fonte não descreveu o veículo"] * (decode_known and not is_described)
    gaps += [doubt] * bool(doubt)
    found = _finding(matrix, effects, fines or (), unavailable, gaps, stale)
    level, finding, caveat = _limited(found, not_asked, stale)
    notices = tuple(f"{_LOOKUPS[part]}: {as_of(at)}." for part, at in stale.items())
    return Verdict(level, finding, caveat, notices, reasons, matrix, missing)


def _finding(
    matrix: tuple[Row, ...],
    effects: Sequence[Effect],
    fines: Sequence[FineAssessment],
    unavailable: Sequence[str],
    gaps: Sequence[str],
    stale: Stale,
) -> tuple[Level, str, str]:
    """Return the level, the finding and the caveat."""
    transfer, licence, drive, _ = (row.mark for row in matrix)
    if transfer == "no":
        return "blocked", _blocked_finding(licence == "no", drive == "no", effects), ""
    if unavailable:
        return "incomplete", f"Falta consultar {listed(unavailable)}", "; ".join(gaps)
    if gaps:
        return "incomplete", "Verificação incompleta", "; ".join(gaps)
    if any(effect.in_force for effect in effects):
        return "caution", "Há restrição judicial de situação incerta", "confirme com o juízo"
    if any(fine.standing == "enforceable" for fine in fines):
        return "caution", "Em regra, só pode ser transferido depois de pagas as multas", ""
    if any(fine.is_open for fine in fines):
        only_notices = all(fine.standing == "notice" for fine in fines if fine.is_open)
        what = "autuação, ainda sem multa" if only_notices else "multa em aberto"
        return "caution", f"Há {what}", "confirme a situação antes da transferência"
    if stale:
        return "caution", _NOTHING_FOUND, as_of(min(stale.values()))
    return "clear", _NOTHING_FOUND, _STILL_MISSING


def _limited(
    found: tuple[Level, str, str], not_asked: Collection[Missing], stale: Stale
) -> tuple[Level, str, str]:
    """Limit a finding to the lookups that the user chose.

    If the user chose both fines and restrictions, the finding is returned unchanged.
    """
    level, finding, caveat = found
    judged = [part for part in _JUDGED if part not in not_asked]
    if len(judged) == len(_JUDGED):
        return found
    asked = listed([name.lower() for part, name in _LOOKUPS.items() if part not in not_asked])
    caveats = [f"consulta só de {asked}"]
    if finding == _NOTHING_FOUND:
        level, caveat = "limited", as_of(min(stale.values())) if stale else ""
        nothing = {"fines": _NO_FINE, "restrictions": _NO_RESTRICTION}
        finding = nothing[judged[0]] if judged else f"Consulta só de {asked}"
        caveats = caveats if judged else []
    return level, finding, "; ".join(filter(None, (caveat, *caveats)))


def _blocked_finding(licence_too: bool, drive_too: bool, effects: Sequence[Effect]) -> str:
    """Return a text that names the acts that court orders forbid.

    If driving is not forbidden, the text depends on how well the rules that forbid the transfer are
    confirmed (``Confidence``). The best-confirmed rule counts. For "memory", the text says "em
    regra" ("as a rule"). For "reported", it says "na prática" ("in practice"). For "verified", it
    has no such words.
    """
    transfers = [effect.answers["transfer"] for effect in effects]
    sources = {answer.confidence for answer in transfers if answer.mark == "no"}
    if drive_too:
        return "Não pode circular, ser licenciado nem ser transferido agora"
    if sources == {"memory"}:
        if licence_too:
            return "Não pode ser licenciado agora nem, em regra, transferido"
        return "Em regra, não pode ser transferido agora"
    acts = "transferido nem licenciado" if licence_too else "transferido"
    if "verified" not in sources:
        return f"Na prática, não pode ser {acts} agora"
    return f"Não pode ser {acts} agora"


def _court_reasons(
    restrictions: Sequence[Restriction], effects: Sequence[Effect]
) -> Iterator[Reason]:
    """Yield one reason for each group of court orders of the same kind and effect."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, effect in enumerate(effects):
        if effect.in_force:
            key = (effect.kinds_word, effect.unrecognised, effect.doubt, effect.sentence)
            groups.setdefault(key, []).append(index)
    for indices in groups.values():
        first, effect = indices[0], effects[indices[0]]
        records = [restrictions[index] for index in indices]
        count = len(records)
        name = f"{count} restrições judiciais" if count > 1 else "Restrição judicial"
        kind = f" de {effect.kinds_word}" if effect.kinds else ""
        as_sent = f" “{effect.unrecognised}”" if effect.unrecognised else ""
        doubt = f"{effect.doubt}; " if effect.doubt else ""
        mark = worst([effect.answers[act] for act in ACTS])[0].mark
        finding = f"{name}{kind}{as_sent}{_origin(records)}"
        yield Reason(finding, f"{doubt}{effect.sentence}", f"restricao-{first + 1}", mark)


def _origin(restrictions: Sequence[Restriction]) -> str:
    courts = dict.fromkeys(_court(restriction) for restriction in restrictions)
    details = [listed([court for court in courts if court])]
    if len(restrictions) == 1 and restrictions[0].included_at:
        details.append(f"incluída em {day(restrictions[0].included_at.date())}")
    known = [detail for detail in details if detail]
    return f" ({', '.join(known)})" if known else ""


def _court(restriction: Restriction) -> str:
    court = find_court(str(restriction.court), str(restriction.case))
    return court.acronym if court else str(restriction.court)


# A standing says whether payment of a fine can be enforced. The gravest standing comes first. Each
# value has three texts: the name of one such fine, the name of several, and the consequence. "paga"
# or "pagas" ("paid") replaces {} in a consequence.
_FINE_REASONS: Mapping[Standing, tuple[str, str, str]] = {
    "enforceable": (
        "Multa exigível",
        "multas exigíveis",
        "em regra, licenciamento e transferência só depois de {}",
    ),
    "probably_due": (
        "Multa de vencimento provável",
        "multas de vencimento provável",
        "se venceu, impede até ser paga",
    ),
    "due": (
        "Multa no prazo de pagamento ou recurso",
        "multas no prazo de pagamento ou recurso",
        "pode passar a impedir",
    ),
    "unknown": (
        "Multa de situação incerta",
        "multas de situação incerta",
        "pode impedir a transferência",
    ),
    "suspended": (
        "Multa suspensa",
        "multas suspensas",
        "em regra, não impede enquanto durar a suspensão",
    ),
    "notice": ("Autuação", "autuações", "ainda sem multa aplicada, pode virar multa"),
}


def _fine_reasons(fines: Sequence[FineAssessment]) -> Iterator[Reason]:
    for standing, (singular, plural, detail) in _FINE_REASONS.items():
        found = {n: fine for n, fine in enumerate(fines, start=1) if fine.standing == standing}
        if not found:
            continue
        if len(found) == 1:
            (fine,) = found.values()
            name = f"{singular} de {day(fine.committed_on)}" if fine.committed_on else singular
            paid = "paga"
        else:
            name, paid = f"{len(found)} {plural}", "pagas"
        finding = f"{name}, {_sum(list(found.values()))}"
        yield Reason(finding, detail.format(paid), f"multa-{min(found)}", "careful")


def _sum(fines: Sequence[FineAssessment]) -> str:
    known = [fine.amount.value for fine in fines if fine.amount.value is not None]
    if not known:
        return "valor não informado"
    at_least = "ao menos " if len(known) < len(fines) else ""
    return f"{at_least}{money(sum(known[1:], known[0]))}"
