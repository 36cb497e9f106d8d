"""A vehicle's line in a list agrees with the verdict on the vehicle's page."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from portal.dossier.answers import Panel, Panels
from portal.dossier.dossier import Dossier
from portal.dossier.row import (
    MOST_READ,
    NO_ANSWER,
    NOTHING_STORED,
    TOO_MANY,
)
from portal.phrasebook.verdict import NOTHING_FOUND_BEFORE, headline
from portal.sandbox.example_plates import EXAMPLE_PLATES
from portal.sandbox.exchange import Request
from portal.sandbox.sandbox import TOKEN, Sandbox
from portal.vehicle.plate import Plate, Renavam
from portal.vehicle.wire import result_of
from tests.factories import (
    Record,
    decode_body,
    fine,
    fipe_entry,
    payment,
    price_history,
    renainf_body,
    renajud_body,
    restriction,
)
from tests.presentation.pages import Context, recent_lookup
from tests.presentation.rendering import (
    CONTEXT,
    DOWN,
    NOW,
    PLATE,
    UNASKED,
    UNASKED_PANELS,
    answered,
    panels,
)

AFTER_PAYING = "Só após pagar as multas"
NOTHING_FOUND = "Nada encontrado em multas e Justiça"
OPEN_FINE = "Multa em aberto a confirmar"
UNCERTAIN_ORDER = "Restrição judicial a confirmar"
SANDBOX = Sandbox()
TODAY = Context(now=datetime.now(UTC), marker=CONTEXT.marker, mask_names=True)
RENAVAM = Renavam.parse("79831854647")


def sandbox_panels(plate: str) -> Panels:
    def panel(path: str) -> Panel:
        request = Request("GET", f"/detran/v1/{path}/{plate}", headers={"Authorization": TOKEN})
        response = SANDBOX.handle(request)
        if response.status != 200:
            return DOWN
        return Panel("fresh", response.body, result_of(response.body), TODAY.now)

    paths = ("decode", "restrictions/renainf", "restrictions/renajud")
    return Panels(*map(panel, paths))


@pytest.mark.parametrize("example", EXAMPLE_PLATES, ids=lambda each: each.plate)
def test_line_agrees_with_the_vehicles_page(example: object) -> None:
    plate = example.plate  # type: ignore[attr-defined]
    answers = sandbox_panels(plate)
    line = recent_lookup(Plate.parse(plate), answers, None, TODAY)
    dossier = TODAY.dossier(Plate.parse(plate), answers)
    assert line.row.verdict == dossier.verdict.level
    assert (line.row.vehicle or "") == str(dossier.name)
    price = dossier.prices.price_summary if dossier.prices else None
    assert line.price == (price.text.removesuffix(",00") if price else "")
    if dossier.verdict.level == "blocked":
        marks = [dossier.verdict.row(act).mark for act in ("drive", "licence")]
        heaviest = (
            ["Não pode circular", "Não pode ser licenciado"][marks.index("no") :][:1]
            if ("no" in marks)
            else [headline(dossier.verdict).replace("pode ser transferido agora", "transfere")]
        )
        assert [line.row.short] == heaviest


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (panels(), "Não transfere"),
        (panels(renainf=renainf_body(), renajud=renajud_body()), NOTHING_FOUND),
        (panels(renajud=renajud_body(), renainf=renainf_body(fine())), OPEN_FINE),
        (
            panels(
                renajud=renajud_body(),
                renainf=renainf_body(fine(dataEmissaoPenalidade="01/12/2025")),
            ),
            AFTER_PAYING,
        ),
        # A court order in doubt comes before the fines, as on the vehicle's page.
        (
            panels(
                renajud=renajud_body(restriction(restricoes="PENHORA BAIXADA")),
                renainf=renainf_body(fine(dataEmissaoPenalidade="01/12/2025")),
            ),
            UNCERTAIN_ORDER,
        ),
        (
            panels(
                renajud=renajud_body(),
                renainf=renainf_body(
                    fine(dataEmissaoPenalidade="01/12/2025"), fine(codigoInfracao="65562")
                ),
            ),
            "Identificação do veículo em dúvida",
        ),
        (replace(panels(renajud=renajud_body()), fines=DOWN), "Falta consultar as multas"),
        (replace(panels(renajud=renajud_body()), fines=UNASKED), "Falta consultar as multas"),
        (Panels(panels().vehicle, DOWN, DOWN), "Falta consultar as multas e a Justiça"),
        (Panels(DOWN, DOWN, DOWN), NO_ANSWER),
        (UNASKED_PANELS, NOTHING_STORED),
    ],
)
def test_verdict_in_a_few_words(answers: Panels, words: str) -> None:
    assert recent_lookup(PLATE, answers, NOW, CONTEXT).row.short == words


def test_stale_answers_never_read_as_nothing_found() -> None:
    clear = panels(renainf=renainf_body(), renajud=renajud_body())
    old = answered(renainf_body(), "stale", age=timedelta(days=2))
    line = recent_lookup(PLATE, replace(clear, fines=old), NOW, CONTEXT)
    assert (line.row.short, line.row.verdict) == (NOTHING_FOUND_BEFORE, "caution")


def test_renavam_needs_no_vehicle_data() -> None:
    answers = Panels(UNASKED, answered(renainf_body()), answered(renajud_body()))
    line = recent_lookup(RENAVAM, answers, NOW - timedelta(hours=3), CONTEXT)
    assert (line.row.short, line.note, line.row.vehicle) == (NOTHING_FOUND, "há 3\u00a0h", None)
    assert line.subject == RENAVAM


def test_wrong_check_digit_is_told_as_on_the_page() -> None:
    wrong = Renavam.parse("00894638273")
    answers = Panels(UNASKED, answered(renainf_body()), answered(renajud_body()))
    page = CONTEXT.dossier(wrong, answers)
    line = recent_lookup(wrong, answers, NOW, CONTEXT)
    assert line.row.short == headline(page.verdict)
    assert "dígito verificador" in (line.row.short or "")
    assert line.row.verdict == page.verdict.level


def test_missing_price_is_no_zero() -> None:
    body = decode_body(str(PLATE), informacoesFipe=[fipe_entry(valorAtual="")])
    assert recent_lookup(PLATE, panels(body), NOW, CONTEXT).price == ""


PAID = fine(pagamento=payment(dataPagamento="01/09/2026", valorPago="130.16"))
ENFORCEABLE = fine(dataEmissaoPenalidade="01/12/2025")
LIFTED = restriction(
    constaRenajud=False, detalheRenajud="NADA CONSTA", restricoes="", tipoBloqueio=""
)


@pytest.mark.parametrize(("first", "words"), [(ENFORCEABLE, AFTER_PAYING), (PAID, TOO_MANY)])
def test_line_reads_the_first_fines_and_never_calls_the_rest_nothing(
    first: Record, words: str
) -> None:
    answers = panels(renajud=renajud_body(), renainf=renainf_body(first, *[PAID] * MOST_READ))
    assert recent_lookup(PLATE, answers, NOW, CONTEXT).row.short == words


def test_line_with_too_many_court_orders_says_so() -> None:
    answers = panels(renajud=renajud_body(*[LIFTED] * (MOST_READ + 1)), renainf=renainf_body())
    assert recent_lookup(PLATE, answers, NOW, CONTEXT).row.short == TOO_MANY


def test_list_computes_the_verdict_and_nothing_else() -> None:
    """A list has forty lines, so what a line does not show is not computed."""
    made: list[Dossier] = []

    class Watched(Context):
        def dossier(self, *parts: Any) -> Dossier:
            made.append(super().dossier(*parts))
            return made[-1]

    context = Watched(CONTEXT.now, CONTEXT.marker, CONTEXT.mask_names)
    entries = [fipe_entry(historicoPreco=price_history(), versao=each) for each in "AB"]
    entries.append(fipe_entry(historicoPreco=price_history(), versao="C", ano="2009"))
    decode = decode_body(str(PLATE), informacoesFipe=entries)
    answers = panels(decode, renainf_body(fine()), renajud_body(restriction()))
    for _ in range(40):
        recent_lookup(PLATE, answers, NOW, context)
    assert len(made) == 40
    shown = {"subject", "answers", "today", "marker", "ask", "name", "prices", "verdict"}
    shown |= {"orders_in_force", "alerts", "mask_names", "declarations", "records", "lines"}
    shown |= {"open_lines"}
    needed = {"asked", "decoded", "vehicle", "fines", "orders", "report", "unconfirmed"}
    needed |= {"_of_answers"}
    for dossier in made:
        assert set(vars(dossier)) <= shown | needed
        # Only the shown price is compared with its history.
        assert dossier.prices is not None
        assert ["series" in vars(tab) for tab in dossier.prices.all] == [True, True, False]
        assert all("points" not in vars(found) for found in dossier.fines or ())
