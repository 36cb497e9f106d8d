"""The analytical report: summary, eight topics and conclusion, from ``data`` only."""

from collections.abc import Mapping
from datetime import date

from portal.law import Act, effect_of
from portal.sandbox.report_facts import Facts, read_facts
from portal.sandbox.report_topics import (
    Finding,
    find_topics,
    fine_totals,
    in_force,
    names_of,
    reais,
)
from portal.vehicle import Plate
from portal.wording import counted, listed

# Topics that the text covers with their counts, so the list of others omits them.
_COUNTED = frozenset({"restricoes", "multas"})
_ACTS: tuple[tuple[Act, str], ...] = (
    ("transfer", "transferir"),
    ("licence", "licenciar"),
    ("drive", "circular"),
)


def write_report(plate: Plate, data: Mapping[str, object], today: date) -> dict[str, object]:
    """Return ``result`` of the analytical report, with the contract's fields in order."""
    facts = read_facts(data)
    topics = find_topics(facts, today)
    return {
        "resumo": _summary(plate, facts, topics, today),
        "topicos": {topic.key: topic.wire for topic in topics},
        "laudoFinal": _conclusion(facts, topics, today),
    }


def _summary(plate: Plate, facts: Facts, topics: tuple[Finding, ...], today: date) -> str:
    named = names_of(facts.decoded)
    sentences = [f"Veículo de placa {plate.display}{f' ({named})' if named else ''}."]
    if active := in_force(facts):
        sentences.append(
            f"{counted(len(active), 'restrição judicial', 'restrições judiciais')} em vigor."
        )
    elif facts.restrictions is not None and "restricoes" not in facts.unavailable:
        sentences.append("Nenhuma restrição judicial nos dados enviados.")
    sums = fine_totals(facts, today)
    if sums is not None and sums.open_count:
        owed = f", {reais(sums.amount)} ao todo" if sums.amount else ""
        sentences.append(f"{counted(sums.open_count, 'multa', 'multas')} em aberto{owed}.")
    elif sums is not None and "multas" not in facts.unavailable:
        sentences.append("Nenhuma multa em aberto nos dados enviados.")
    others = [t.label for t in topics if t.mark == "warning" and t.key not in _COUNTED]
    if others:
        sentences.append(f"Pedem atenção também: {listed(others)}.")
    sentences += [topic.brief for topic in topics if topic.brief]
    if failed := [topic.label for topic in topics if topic.is_unavailable]:
        sentences.append(f"Não avaliados, por indisponibilidade da consulta: {listed(failed)}.")
    return " ".join(sentences)


def _conclusion(facts: Facts, topics: tuple[Finding, ...], today: date) -> str:
    advice = []
    if active := in_force(facts):
        stopped = [
            words
            for act, words in _ACTS
            if any(effect_of(r).answer(act).mark == "no" for r in active)
        ]
        what = f", que impede {listed(stopped)}" if stopped else ""
        advice.append(
            f"Não conclua o negócio antes da baixa da restrição judicial{what}; "
            "peça ao vendedor a certidão do processo."
        )
    sums = fine_totals(facts, today)
    if sums is not None and sums.open_count:
        owed = f" ({reais(sums.amount)})" if sums.amount else ""
        advice.append(f"Combine por escrito quem paga as multas em aberto{owed}.")
    others = [t.label for t in topics if t.mark == "warning" and t.key not in _COUNTED]
    if others:
        advice.append(f"Esclareça antes de decidir: {listed(others)}.")
    if not advice:
        advice.append(
            "Nada desabona o veículo no que os dados enviados permitem avaliar."
            if any(topic.mark == "ok" and topic.key != "fipe" for topic in topics)
            else "Os dados enviados não bastam para um parecer."
        )
    if failed := [topic.label for topic in topics if topic.is_unavailable]:
        advice.append(f"Repita a consulta do que não foi avaliado: {listed(failed)}.")
    silent = [t.label for t in topics if t.mark == "none" and not t.is_unavailable]
    if silent:
        advice.append(f"Verifique por outros meios: {listed(silent)}.")
    advice.append("Faça uma vistoria cautelar e confirme com um profissional.")
    return " ".join(advice)
