"""Tests of the report's badges: no badge is green without records on its topic."""

import json
import time
from decimal import Decimal

import pytest

from portal.dossier.answers import Panels, WrittenReport
from portal.law.assessment import totals
from portal.law.report_check import contradictions
from portal.phrasebook.report import contradiction
from portal.presentation.written_report import ReportSection
from portal.vehicle.operation_name import LookupName
from portal.vehicle.report import read_report
from portal.vehicle.wire import result_of
from tests.factories import renainf_body, renajud_body, report_body
from tests.law.records import judge
from tests.presentation.pages import dossier_page, vehicle_page
from tests.presentation.rendering import (
    CONTEXT,
    DOWN,
    PLATE,
    UNASKED_PANELS,
    answered,
    panels,
    render,
)
from tests.web.html_checker import check_html, text_of

ALL: tuple[LookupName, ...] = ("decode", "renainf", "renajud")


def section_of(made_of: tuple[LookupName, ...] | None = ALL, /, **topics: str) -> ReportSection:
    result = {"resumo": "Texto.", "topicos": topics, "laudoFinal": "Fim."}
    body = json.dumps({"status": "DONE", "result": result}).encode()
    panel = WrittenReport("fresh", body, result_of(body), CONTEXT.now, made_of=made_of)
    return ReportSection(CONTEXT.dossier(PLATE, UNASKED_PANELS, report=panel), CONTEXT.now)


def badges(section: ReportSection) -> dict[str, str]:
    assert section.report is not None
    return {topic.key: section.badge(topic) for topic in section.report.topics if topic.text}


def test_topic_without_data_has_no_green_badge() -> None:
    keys = ("documentacao", "rouboFurto", "leilao", "chassiMotor", "proprietarios", "outro")
    found = badges(section_of(**dict.fromkeys(keys, "✅ Nada consta.")))
    assert found == dict.fromkeys(keys, "unverified")


def test_topic_with_its_records_keeps_the_sources_badge() -> None:
    topics = {"fipe": "✅ R$ 10.", "restricoes": "✅ Nenhuma.", "multas": "⚠️ Uma."}
    assert badges(section_of(**topics)) == {"fipe": "ok", "restricoes": "ok", "multas": "warning"}


@pytest.mark.parametrize("made_of", [("decode",), None])
def test_topic_without_its_lookup_has_no_green_badge(
    made_of: tuple[LookupName, ...] | None,
) -> None:
    found = badges(section_of(made_of, restricoes="✅ Nenhuma.", leilao="❌ Passou."))
    assert found == {"restricoes": "unverified", "leilao": "warning"}


def test_report_says_that_it_is_no_inspection() -> None:
    body = report_body()
    report = WrittenReport("fresh", body, result_of(body), CONTEXT.now)
    text = text_of(check_html(render(vehicle_page(PLATE, panels(), report, CONTEXT))))
    assert "não é laudo de vistoria" in text
    assert "Roubo e furto não verificado" in text
    assert "sem alerta no texto" in text


DENIED = {
    "restricoes": "✅ Nada consta",
    "multas": "✅ Nenhuma multa em aberto.",
    "fipe": "✅ R$ 10.000",
}


def written(conclusion: str, topics: dict[str, str]) -> WrittenReport:
    result = {"resumo": "Texto.", "topicos": topics, "laudoFinal": conclusion}
    body = json.dumps({"status": "DONE", "result": result}).encode()
    return WrittenReport("fresh", body, result_of(body), CONTEXT.now)


def contradicted(answers: Panels, conclusion: str = "Fim.", **topics: str) -> str:
    """Return what the section says against the text. It is listed as the rows below show."""
    dossier = CONTEXT.dossier(PLATE, answers, report=written(conclusion, topics))
    section = ReportSection(dossier, CONTEXT.now)
    return "\n".join(map(contradiction, section.contradictions))


def page_text(answers: Panels, conclusion: str = "Fim.", **topics: str) -> str:
    report = written(conclusion, topics)
    paper = dossier_page(PLATE, answers, report, CONTEXT, address="https://portal.example")
    page = text_of(check_html(render(vehicle_page(PLATE, answers, report, CONTEXT))))
    return page + text_of(check_html(render(paper)))


@pytest.mark.parametrize(
    ("topics", "conclusion", "sentence"),
    [
        (
            {"restricoes": "✅ Nada consta"},
            "Fim.",
            "O texto não aponta restrição; os registros trazem 1 restrição judicial.",
        ),
        ({"restricoes": "Sem restrições."}, "Fim.", "O texto não aponta restrição"),
        ({"multas": "✅ Nenhuma."}, "Fim.", "O texto não aponta multa em aberto"),
        (
            {"multas": "⚠️ Multas de R$ 5.000,00"},
            "Fim.",
            "O texto fala em R$ 5.000,00 de multas; os registros somam R$ 130,16 em aberto.",
        ),
        (
            {"fipe": "R$ 10.000"},
            "Fim.",
            "O texto fala em R$ 10.000,00; a tabela FIPE traz R$ 89.325.",
        ),
        (
            {},
            "Pode comprar sem medo. **APROVADO**",
            "O texto recomenda o veículo; os registros dizem: Não pode ser",
        ),
    ],
)
def test_text_that_contradicts_the_records_is_contradicted(
    topics: dict[str, str], conclusion: str, sentence: str
) -> None:
    text = page_text(panels(), conclusion, **topics)
    assert text.count(sentence) == 2  # on the page and in the dossier
    assert text.count("O texto contradiz os registros") == 2
    assert "sem alerta no texto" not in text
    assert "**" not in text


def test_conclusion_against_the_records_is_marked_where_it_stands() -> None:
    """The conclusion may stand on another sheet than the list of contradictions."""
    text = page_text(panels(), "Pode comprar sem medo. APROVADO")
    mark = "(não é conclusão deste portal) os registros dizem outra coisa"
    assert text.count(mark) == 2  # on the page and in the dossier
    assert mark not in page_text(panels(), "Há pendências.")


@pytest.mark.parametrize(
    "topics",
    [
        {"restricoes": "⚠️ Há restrição de transferência.", "multas": "⚠️ Uma, de R$ 130,16."},
        {"multas": "⚠️ Com desconto, R$ 104,13.", "fipe": "✅ R$ 90.000,00"},
        {"restricoes": "", "multas": "", "fipe": ""},
    ],
)
def test_honest_text_is_not_contradicted(topics: dict[str, str]) -> None:
    for conclusion in ("Não pode comprar sem medo.", "REPROVADO", "Não recomendado.", "Confira."):
        assert contradicted(panels(), conclusion, **topics) == ""
    assert "contradiz" not in page_text(panels(), "Confira.", **topics)


@pytest.mark.parametrize(
    "text",
    [
        *("OK", "Clear.", "No restrictions found.", "Isento.", "0 restrições.", "Tudo certo."),
        *("Ausência de restrições.", "Não identificamos restrições.", "Restrição não encontrada."),
        *("Restrição judicial já baixada.", "A restrição foi retirada.", "Veículo desimpedido."),
    ],
)
def test_topic_that_affirms_no_order_is_contradicted(text: str) -> None:
    assert "O texto não aponta restrição" in contradicted(panels(), restricoes=text)


@pytest.mark.parametrize(
    "text",
    [
        *("Todas as multas foram quitadas.", "0 multas", "Zero multas.", "Prontuário limpo."),
        *("R$ 0,00", "Não constam débitos.", "No fines."),
    ],
)
def test_topic_that_affirms_no_fine_is_contradicted(text: str) -> None:
    assert "O texto não aponta multa em aberto" in contradicted(panels(), multas=text)


@pytest.mark.parametrize("text", ["50 reais", "Multas de R$ 50,00 e R$ 30,00", "R$ 1 mil"])
def test_other_sums_of_fines_are_contradicted(text: str) -> None:
    assert "de multas; os registros somam" in contradicted(panels(), multas=text)


@pytest.mark.parametrize("unit", ["1.", "0,0", "R$ 1,", "NAO CONSTA "])
def test_time_to_compare_a_report_grows_with_its_length(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        result = {"resumo": text, "topicos": {"multas": text, "fipe": text}, "laudoFinal": text}
        before = time.process_time()
        list(contradictions(read_report(result, ""), *evidence))
        return time.process_time() - before

    evidence = judge(True, [], []), 1, totals([]), [Decimal(1)]
    assert seconds(8_000) < 8 * seconds(2_000) + 0.05


@pytest.mark.parametrize(
    "conclusion",
    [
        *("Pode fechar negócio.", "Excelente: compre já.", "VEÍCULO LIBERADO.", "100% OK", "OK"),
        *("APPROVED", "Recomenda-se a compra.", "O veículo encontra-se aprovado.", "Transferível."),
        *("Veículo sem pendências.", "Sem restrições e sem multas.", "Nada consta."),
        *("Não há impedimento à transferência.", "Não há pendências, pode comprar."),
        *("Ficha limpa, sem nada a declarar.", "Laudo: FAVORÁVEL à aquisição.", "Nada a opor."),
        *("Pode levar sem preocupação 👍", "Só elogios.", "Confirmamos: veículo regular."),
        *("Veículo idôneo e pronto para transferência imediata.", "Situação: REGULAR"),
        *("Compra segura, conforme consultas.", "Sinal verde para fechar negócio!"),
        *("Documentação cristalina, negócio tranquilo.", "Tudo nos conformes.", "Nota A."),
        *("Não foi identificado qualquer impedimento.", "Aprovado com louvor."),
        *("Excelente escolha; transfira hoje mesmo.", "Vistoria cautelar aprovada."),
        *("O carro está quite com o Detran e livre para venda.", "Verificado e aprovado."),
        *("Não vejo motivos para desistir da compra.", "Clean history, buy with confidence."),
        *("O parecer é positivo: após as consultas, nenhuma restrição foi localizada.",),
        *("Aprovado desde que não haja surpresas na vistoria.", "Recomendo, desde já, a compra."),
        *("Depois de todas as verificações, está apto.", "Você não pode perder este carro!"),
    ],
)
def test_praise_beside_an_order_is_contradicted(conclusion: str) -> None:
    assert contradicted(panels(), conclusion)


@pytest.mark.parametrize(
    ("conclusion", "topics"),
    [
        ("Só pode ser transferido após a baixa da restrição.", {}),
        ("É recomendado pagar as multas antes.", {}),
        ("Recomendada vistoria cautelar.", {}),
        ("Ficará apto para transferência depois da baixa.", {}),
        ("Não pode ser comprado sem risco.", {}),
        ("A compra segura depende da baixa da restrição.", {}),
        ("Somente negocie se a restrição for baixada.", {}),
        ("Dados insuficientes para concluir.", {}),
        ("Aguarde a baixa da penhora.", {}),
        ("Fim.", {"restricoes": "Restrição de transferência. Não há restrição de circulação."}),
        ("Fim.", {"restricoes": "Sem alienação; consta restrição judicial."}),
        ("Fim.", {"restricoes": "⚠️ Restrição judicial (TJMG). Nenhum gravame."}),
        ("Fim.", {"restricoes": "Restrição judicial não baixada."}),
        ("Fim.", {"restricoes": "Consulte o Detran."}),
        ("Fim.", {"multas": "Uma multa em aberto de R$ 130,16; nenhuma paga."}),
        ("Fim.", {"multas": "1 multa. Não há débitos de IPVA."}),
        ("Fim.", {"multas": "Uma multa não paga."}),
        ("Fim.", {"multas": "R$ 130,16 (R$ 104,13 com desconto)"}),
    ],
)
def test_text_that_agrees_with_the_records_passes(conclusion: str, topics: dict[str, str]) -> None:
    assert contradicted(panels(), conclusion, **topics) == ""


def test_praise_beside_a_stored_answer_without_records_passes() -> None:
    clear = panels(renainf=renainf_body(), renajud=renajud_body())
    old = Panels(clear.vehicle, clear.fines, answered(renajud_body(), "stale"))
    assert "contradiz" not in page_text(old, "APROVADO", restricoes="✅ Nada consta")


def test_praise_of_a_clear_vehicle_is_not_contradicted() -> None:
    clear = panels(renainf=renainf_body(), renajud=renajud_body())
    text = page_text(clear, "Pode comprar. APROVADO", restricoes="✅ Nada consta")
    assert "contradiz" not in text
    assert "não é conclusão deste portal" in text


def test_missing_records_cannot_contradict() -> None:
    text = page_text(Panels(panels().vehicle, DOWN, DOWN), "Fim.", **DENIED | {"fipe": ""})
    assert "O texto contradiz" not in text
    assert "não pôde ser comparado com todos os registros" in text


def test_telephone_numbers_are_masked() -> None:
    text = page_text(panels(), "Ligue (31) 99999-8888 ou 31 3333-4444. Motor 1.8 12 2014 2015.")
    assert "9999" not in text and "3333" not in text
    assert "12 2014 2015" in text
