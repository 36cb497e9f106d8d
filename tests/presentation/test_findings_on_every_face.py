"""No face drops a finding: each code stands on each face that shows verdicts."""

import json
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest

from portal.batch.model import Item
from portal.dossier.answers import Panels
from portal.dossier.row import row_of_dossier, stored_row
from portal.law.adverse import ENDS_CEILING, Subject
from portal.law.checklist import LINES
from portal.law.findings import DataConflict, Finding
from portal.law.standing import Standing
from portal.phrasebook.findings import alert_brief, alert_words, clause, list_words, sentence
from portal.presentation.exports.batches import results_table
from portal.presentation.exports.explained import explained
from portal.presentation.issued.pages import IssuedDossierPage
from portal.presentation.issued.summary import issued_summary
from portal.presentation.site.search_page import SearchPage
from portal.web.json_api import openapi
from portal.wording import money
from tests.factories import (
    decode_body,
    decoded,
    fine,
    payment,
    renainf_body,
    renajud_body,
    report_body,
    restriction,
)
from tests.presentation.pages import (
    comparison_page,
    dossier_page,
    negotiation_page,
    recent_lookup,
    row_of,
    vehicle_page,
)
from tests.presentation.rendering import CONTEXT, DOWN, NOW, PLATE, UNASKED, answered, render
from tests.presentation.specimens import stored_dossier
from tests.presentation.test_records_on_every_face import cells
from tests.web.html_checker import check_html, text_of

# A text of the written report for each subject.
REPORTED = {
    Subject.THEFT: "⚠️ CONSTA REGISTRO DE ROUBO EM 10/10/2026, B.O. 1234/2026, SEM RECUPERACAO.",
    Subject.SEIZURE: "Busca e apreensão deferida em favor do banco.",
    Subject.SCRAP: "BAIXADO - IRRECUPERAVEL / GRANDE MONTA",
    Subject.CHASSIS: "Chassi remarcado.",
    Subject.COURT: "RENAJUD: CONSTA RESTRICAO DE TRANSFERENCIA - 2A VARA DO TRABALHO DE OSASCO",
    Subject.LIEN: "Alienação fiduciária ativa em favor de instituição financeira.",
    Subject.BLOCK: "Bloqueio administrativo do Detran em vigor.",
    Subject.SALE_NOTICE: "Há comunicação de venda registrada.",
    Subject.DAMAGE: "Registro de sinistro de média monta.",
    Subject.AUCTION: "Passagem por leilão em 2021.",
    Subject.DEBTS: "IPVA em aberto de R$ 8.432,10.",
    Subject.FINES: "Multas estaduais de R$ 2.347,76.",
    Subject.MILEAGE: "Hodômetro adulterado.",
    Subject.RECALL: "Recall pendente de airbag.",
    Subject.ADVICE: "Não adquirir.",
    Subject.OTHER: "⚠️ Veja o anexo.",
}
CASES: dict[str, dict[str, Any]] = {
    "identification_tampered": {"fines": [fine(codigoInfracao="65562", descricao="")]},
    "other_vehicle": {"fines": [fine(marcaModelo="VW/GOL 1.0", pagamento=payment())]},
    "renavam_differs": {
        "orders": [
            restriction(renavam="79831854647", constaRenajud=False, restricoes=""),
            restriction(renavam="86769597308", constaRenajud=False, restricoes=""),
        ]
    },
    "record_before_vehicle": {
        "fines": [fine(dataInfracao="10/03/2012", dataEmissaoNotificacao="", pagamento=payment())]
    },
    "year_in_future": {"vehicle": {"anoModelo": "2031", "anoFabricacao": "2031"}},
    "years_conflict": {"vehicle": {"anoModelo": "2015", "anoFabricacao": "2009"}},
    "origin_conflict": {"vehicle": {"nacional": "SIM", "marca": "I/AUDI"}},
    "court_order": {"orders": [restriction()]},
    "fine_paid_short": {
        "fines": [
            fine(
                codigoInfracao="5169",
                descricao="",
                valor="2934.70",
                dataEmissaoPenalidade="01/03/2026",
                pagamento=payment(dataPagamento="18/05/2026", valorPago="2347.76"),
            )
        ]
    },
    "vehicle_scrap": {"vehicle": {"tipoVeiculo": "SUCATA"}},
    "vehicle_theft": {"vehicle": {"tipoVeiculo": "VEICULO ROUB/FURT"}},
    "vehicle_lien": {"vehicle": {"combustivel": "GASOLINA AL. FIDUC."}},
    "vehicle_auction": {"further": {"leilao": "SIM"}},
    "data_unread": {"further": {"texto": "X " * 20_001}},
    "vehicle_seizure": {"further": {"ordemapreensao": "S"}},
    **{f"report_{subject}": {"report": text} for subject, text in REPORTED.items()},
}


def answers_of(case: dict[str, Any]) -> Panels:
    vehicle = decoded(str(PLATE), **case.get("vehicle", {})) | case.get("further", {})
    answers = Panels(
        answered(json.dumps({"status": "DONE", "result": vehicle}).encode()),
        answered(renainf_body(*case.get("fines", ()))),
        answered(renajud_body(*case.get("orders", ()))),
    )
    if "report" not in case:
        return answers
    key = "documentacao" if case["report"].startswith("⚠️ Veja") else "proprietarios"
    topics = {"rouboFurto": case["report"]} if "ROUBO" in case["report"] else {key: case["report"]}
    body = json.dumps(
        {"status": "DONE", "result": {"resumo": "Texto.", "topicos": topics, "laudoFinal": "Fim."}}
    ).encode()
    return replace(answers, report=answered(body))


def faces(answers: Panels) -> dict[str, str]:
    """Return the text of each face that shows a verdict."""
    dossier = CONTEXT.dossier(PLATE, answers)
    paper = dossier_page(PLATE, answers, answers.report, CONTEXT, address="https://p.example")
    kept = Item(
        PLATE,
        "done",
        result=stored_row(CONTEXT.dossier(PLATE, replace(answers, report=UNASKED)), {}),
    )
    in_batch = row_of(kept, lambda _: answers, CONTEXT, reported=dossier)
    assert in_batch.acts == tuple(row.mark for row in dossier.verdict.matrix)
    summary = issued_summary(paper, None)
    html = {
        "page": render(vehicle_page(PLATE, answers, answers.report, CONTEXT)),
        "paper": render(paper),
        "comparison": render(comparison_page([PLATE], [answers], CONTEXT)),
        "list": render(SearchPage(recent=(recent_lookup(PLATE, answers, NOW, CONTEXT),))),
        "link": render(IssuedDossierPage(stored_dossier(), summary, "/d/k")),
        "negotiation": render(negotiation_page(PLATE, answers, CONTEXT, {})),
    }
    return {
        **{name: text_of(check_html(each)).replace("\u00a0", " ") for name, each in html.items()},
        "row": json.dumps(cells(results_table([row_of_dossier(dossier)]))[0], ensure_ascii=False),
        "stored row": json.dumps(cells(results_table([in_batch]))[0], ensure_ascii=False),
    }


@pytest.mark.parametrize("code", CASES)
def test_finding_stands_on_every_face(code: str) -> None:
    answers = answers_of(CASES[code])
    dossier = CONTEXT.dossier(PLATE, answers)
    verdict = dossier.verdict
    found = next(one for one in verdict.reasons if one.code == code)
    assert verdict.level in ("caution", "blocked"), verdict.level
    document = explained(dossier, NOW)
    (told,) = [each for each in document["verdict"]["reasons"] if each["code"] == code]
    assert (told["source"], told["sentence"]) == (found.source, sentence(found))
    shown = faces(answers)
    for name in ("page", "paper", "link"):
        assert clause(found).replace("\u00a0", " ") in shown[name], name
    assert shown["row"] == shown["stored row"] or code.startswith("report_")
    assert '"verdict": "clear"' not in shown["row"] + shown["stored row"]
    for name in ("row", "stored row"):
        row = json.loads(shown[name])
        assert code in row["alert_codes"].split(","), name
        assert list_words(found).replace("\u00a0", " ") in row["alerts"].replace("\u00a0", " "), (
            name
        )
    for name in ("comparison", "list"):
        assert "Nada encontrado em" not in shown[name], name
    if found.ends_ceiling:
        assert "Sem teto" in shown["negotiation"]
        assert document["price_summary"]["ceiling_base"] is None


@pytest.mark.parametrize("subject", Subject)
def test_alert_of_the_report_stands_on_every_face(subject: Subject) -> None:
    answers = answers_of(CASES[f"report_{subject}"])
    dossier = CONTEXT.dossier(PLATE, answers)
    (alert,) = dossier.verdict.alerts
    assert alert.subject is subject
    assert dossier.verdict.level == "caution"
    assert dossier.verdict.reasons[0] is alert
    document = explained(dossier, NOW)
    assert [each["subject"] for each in document["report"]["alerts"]] == [subject]
    shown = faces(answers)
    for name in ("comparison", "list"):
        assert alert_brief(alert) in shown[name], name
    assert f"a análise aponta {alert_words(alert)}".replace("\u00a0", " ") in shown["comparison"]
    for name in ("row", "stored row"):
        row = json.loads(shown[name])
        assert (row["alert_codes"], row["alerts"]) == (alert.code, alert_words(alert)), name
        assert row["verdict"] == "caution", name
    assert ("Sem teto" in shown["negotiation"]) == (subject in ENDS_CEILING)
    assert clause(alert).replace("\u00a0", " ") in shown["negotiation"]


@pytest.mark.parametrize("code", ["vehicle_scrap", "other_vehicle", "record_before_vehicle"])
def test_doubt_about_the_vehicle_stands_beside_a_court_order_in_lists(code: str) -> None:
    case = CASES[code]
    answers = answers_of({**case, "orders": [*case.get("orders", ()), restriction()]})
    verdict = CONTEXT.dossier(PLATE, answers).verdict
    assert verdict.level == "blocked"
    doubt = next(one for one in verdict.reasons if one.code == code)
    shown = faces(answers)
    for name in ("comparison", "list"):
        assert clause(doubt).replace("\u00a0", " ") in shown[name], name


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ("orders", "Falta consultar as restrições judiciais."),
        ("fines", "Falta consultar as multas."),
    ],
)
def test_no_price_is_suggested_without_fines_or_orders(lost: str, words: str) -> None:
    answers = replace(answers_of({}), **{lost: DOWN})
    document = explained(CONTEXT.dossier(PLATE, answers), NOW)
    assert document["price_summary"]["ceiling_base"] is None
    assert document["price_summary"]["why_none"] == words
    stored = replace(answers, **{lost: UNASKED})  # the page asks nothing
    text = text_of(check_html(render(negotiation_page(PLATE, stored, CONTEXT, {}))))
    assert "Sem teto" in text and "Ofereça até" not in text


def test_price_of_another_vehicle_keeps_its_name() -> None:
    answers = answers_of({"vehicle": {"marca": "FIAT", "descricao": "TORO"}})
    summary = explained(CONTEXT.dossier(PLATE, answers), NOW)["price_summary"]
    assert summary["why_none"] == "A tabela trouxe outro veículo: Audi A3 Sedan."


def test_every_code_has_a_case() -> None:
    """A finding of a new kind needs a vehicle in CASES, or in the table of records."""
    kinds = {each.__name__ for each in get_args(Finding)}
    assert kinds == {
        *("TamperedWith", "OtherVehicle", "OtherRenavam", "AdverseData", "DataConflict"),
        "UnreadData",
        *("RecordBeforeVehicle", "CourtOrders", "FinesInStanding", "PaidShort", "ReportAlert"),
        # tests/presentation/test_declared_lines.py tries these on each line.
        *("DeclaredSomething", "DeclarationsUnread"),
        "SeenDifference",  # tests/presentation/test_car_check.py
    }
    assert set(get_args(DataConflict.__annotations__["code"])) <= set(CASES)
    assert {f"report_{subject}" for subject in Subject} <= set(CASES)


def test_every_code_is_documented() -> None:
    """A program that reads the codes finds each in the description of the API."""
    text = (Path(openapi.__file__).parent / "openapi.yaml").read_text("utf-8")
    reason = text[text.index("    ExplainedReason:") : text.index("    ExplainedAct:")]
    reason = reason[: reason.index("        source:")]
    told = set(re.findall(r"`([a-z_]+)`", reason))
    standings = {f"fine_{each}" for each in Standing if each is not Standing.PAID}
    of_subjects = {f"{source}_{each}" for source in ("vehicle", "report") for each in Subject}
    of_conflicts = set(get_args(DataConflict.__annotations__["code"]))
    of_classes = {
        each.__dict__["code"]
        for each in get_args(Finding)
        if isinstance(each.__dict__.get("code"), str)
    }
    of_lines = {f"declared_{line.key.replace('-', '_')}" for line in LINES}
    assert told == standings | of_subjects | of_conflicts | of_classes | of_lines


@pytest.mark.parametrize(
    ("paid", "on", "missing"),
    [
        ("2347.76", "18/05/2026", "R$ 586,94"),
        ("1760.82", "18/05/2026", "R$ 1.173,88"),
        ("2347", "18/05/2026", "R$ 586,94"),
        # In time, in full, and with a discount of which the due date may have been later.
        ("2347.76", "20/03/2026", ""),
        ("2934.70", "18/05/2026", ""),
        ("2347.76", "30/04/2026", ""),
    ],
)
def test_discount_that_was_paid_late_is_told_with_what_is_missing(
    paid: str, on: str, missing: str
) -> None:
    record = CASES["fine_paid_short"]["fines"][0]
    late = record | {"pagamento": payment(dataPagamento=on, valorPago=paid)}
    answers = answers_of({"fines": [late]})
    dossier = CONTEXT.dossier(PLATE, answers)
    shown = faces(answers)
    if not missing:
        assert dossier.verdict.level == "clear"
        return
    assert dossier.verdict.level == "caution"
    assert "Pode faltar parte de multa paga" in shown["comparison"]
    for name in ("page", "paper", "link", "negotiation"):
        assert f"pode faltar {missing}" in shown[name], name
    sheet = negotiation_page(PLATE, answers, CONTEXT, {})
    assert [money(cost.amount).replace("\u00a0", " ") for cost in sheet.costs] == [missing]
    assert "Sem ela, o comprador desconta " + missing in shown["negotiation"]
    assert dossier.verdict.row("transfer").mark == dossier.verdict.row("licence").mark == "careful"


def test_records_that_show_it_too_are_no_alert() -> None:
    """What the written report says of records that stand beside it is no finding of its own."""
    ours = Panels(
        answered(decode_body(str(PLATE))),
        answered(renainf_body(fine())),
        answered(renajud_body(restriction())),
        answered(report_body()),
    )
    assert CONTEXT.dossier(PLATE, ours).verdict.alerts == ()


def test_debts_that_the_report_states_are_deducted_until_the_visitor_types_their_own() -> None:
    answers = answers_of(CASES["report_debts"])
    deducted = negotiation_page(PLATE, answers, CONTEXT, {})
    assert [cost.amount for cost in deducted.costs] == [Decimal("8432.10")]
    assert deducted.ceiling == Decimal("89325.00") - Decimal("8432.10")
    own = negotiation_page(PLATE, answers, CONTEXT, {"ipva": "0"})
    assert own.costs == []


def test_alert_beside_a_court_order_stands_in_lists() -> None:
    reported = answers_of(CASES["report_theft"])
    shown = faces(replace(reported, orders=answered(renajud_body(restriction()))))
    for name in ("comparison", "list", "row", "stored row"):
        assert "roubo ou furto" in shown[name], name


def test_report_that_is_not_fully_read_is_a_reason() -> None:
    clean = Panels(
        answered(decode_body(str(PLATE))), *map(answered, (renainf_body(), renajud_body()))
    )
    found = {}
    for times in (10, 20_000):
        # The topics agree with the other answers, so that only the length can be a reason.
        topics = {"restricoes": "✅ Nada consta.", "multas": "✅ Nada consta."}
        report = answered(report_body(summary="Sem registro. " * times, conclusion="", **topics))
        verdict = CONTEXT.dossier(PLATE, replace(clean, report=report)).verdict
        found[times] = [reason.code for reason in verdict.reasons]
    assert found == {10: [], 20_000: ["data_unread"]}
