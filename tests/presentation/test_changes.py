"""Tests of the changes between an answer and the one it replaced."""

import json
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.dossier import changes
from portal.dossier.answers import Panel, Panels
from portal.dossier.changes import MOST_LINES, changes_of, what_changed
from portal.vehicle.changes import Change
from portal.vehicle.fines import Fine
from portal.vehicle.operation_name import LookupName
from tests.factories import (
    HIDDEN,
    decode_body,
    fine,
    fipe_entry,
    payment,
    price_history,
    renainf_body,
    renajud_body,
    restriction,
)
from tests.presentation.odd_records import JSON, odd
from tests.presentation.pages import dossier_page, vehicle_page
from tests.presentation.rendering import (
    CONTEXT,
    NOW,
    PLATE,
    UNASKED,
    UNASKED_PANELS,
    answered,
    render,
)
from tests.web.html_checker import check_html, text_of


def after(before: bytes, now: bytes) -> Panel:
    return replace(
        answered(now), replaced=replace(answered(before), fetched_at=NOW - timedelta(days=1))
    )


def lines(before: bytes, now: bytes, lookup: LookupName = "renainf") -> list[str]:
    panels = UNASKED_PANELS.with_answers({lookup: after(before, now)})
    return [
        line.text
        for group in changes_of(panels, CONTEXT.today, CONTEXT.marker)
        for line in group.lines
    ]


@pytest.mark.parametrize(
    ("lookup", "before", "now", "text"),
    [
        (
            "renainf",
            renainf_body(),
            renainf_body(fine()),
            "Nova: multa de 14/08/2025, Transitar em velocidade superior",
        ),
        ("renainf", renainf_body(fine()), renainf_body(), "Deixou de constar: multa de 14/08/2025"),
        (
            "renainf",
            renainf_body(fine()),
            renainf_body(fine(pagamento=payment(dataPagamento="01/09/2025"))),
            "Paga em 01/09/2025: multa",
        ),
        (
            "renainf",
            renainf_body(fine()),
            renainf_body(fine(dataEmissaoPenalidade="02/12/2025")),
            "Penalidade em 02/12/2025: multa",
        ),
        (
            "renainf",
            renainf_body(fine(codigoInfracao="", valor="100")),
            renainf_body(fine(codigoInfracao="", valor="200")),
            "Valor mudou de R$\u00a0100,00 para R$\u00a0200,00",
        ),
        (
            "renajud",
            renajud_body(),
            renajud_body(restriction()),
            "Passou a constar: restrição de transferência (",
        ),
        (
            "renajud",
            renajud_body(restriction()),
            renajud_body(restriction(constaRenajud=False, restricoes="", detalheRenajud="")),
            "A fonte diz que já não restringe: restrição de transferência",
        ),
        (
            "renajud",
            renajud_body(restriction()),
            renajud_body(restriction(constaRenajud=False)),
            "A fonte passou a dizer que não há restrição, mas ainda a descreve: restrição de",
        ),
        (
            "renainf",
            renainf_body(fine()),
            renainf_body(fine(tipo="SUSPENSA")),
            "Passou a constar como suspensa: multa",
        ),
        (
            "renainf",
            renainf_body(fine(tipo="SUSPENSA", dataEmissaoPenalidade="02/12/2025")),
            renainf_body(fine(dataEmissaoPenalidade="02/12/2025")),
            "Passou a constar como exigível: multa",
        ),
        (
            "renainf",
            renainf_body(fine(dataEmissaoPenalidade="02/12/2025")),
            renainf_body(
                fine(
                    dataEmissaoPenalidade="02/12/2025",
                    pagamento=payment(dataPagamento="VENCE EM 10/10/2026"),
                )
            ),
            "Passou a constar como talvez paga: multa",
        ),
        (
            "renainf",
            renainf_body(fine(pagamento=payment(dataPagamento="01/09/2025"))),
            renainf_body(fine()),
            "Voltou a constar sem pagamento: multa",
        ),
        (
            "renainf",
            renainf_body(fine()),
            renainf_body(fine(tipo="CANCELADA")),
            "Passou a constar como “CANCELADA”, segundo a fonte: multa",
        ),
        (
            "renajud",
            renajud_body(restriction()),
            renajud_body(restriction(restricoes="CIRCULACAO")),
            "Mudou o tipo: antes restrição de transferência",
        ),
        (
            "decode",
            decode_body("ABC1D23"),
            decode_body("ABC1D23", informacoesFipe=[fipe_entry(valorAtual="87538.50")]),
            "de R$\u00a089.325,00 para R$\u00a087.538,50 (\u22122,0%)",
        ),
        (
            "decode",
            decode_body("ABC1D23", caixaCambio=""),
            decode_body("ABC1D23", caixaCambio="Manual"),
            "Câmbio: de não informado para “Manual”",
        ),
        (
            "decode",
            decode_body("ABC1D23", nacional="NAO"),
            decode_body("ABC1D23", nacional="SIM"),
            "Procedência: de “Importado” para “Nacional”",
        ),
    ],
)
def test_change_is_described_in_one_sentence(
    lookup: LookupName, before: bytes, now: bytes, text: str
) -> None:
    (line,) = lines(before, now, lookup)
    assert text in line


def test_payment_field_without_date_is_not_a_payment() -> None:
    now = renainf_body(fine(pagamento=payment(dataPagamento="NAO PAGO")))
    (line,) = lines(renainf_body(fine()), now)
    assert line.startswith("Dados do registro corrigidos: multa")
    for missing in ("00/00/0000", "-", "01/01/1900"):
        now = renainf_body(fine(pagamento=payment(dataPagamento=missing)))
        assert list(lines(renainf_body(fine()), now)) == []


@pytest.mark.parametrize(
    ("lookup", "now", "tone"),
    [
        ("renainf", renainf_body(fine(pagamento=payment(dataPagamento="01/09/2025"))), "ok"),
        ("renainf", renainf_body(fine(pagamento=payment(dataPagamento="01/09/2031"))), "unknown"),
        ("renainf", renainf_body(fine(tipo="SUSPENSA")), "warn"),
        ("renajud", renajud_body(restriction(constaRenajud=False)), "warn"),
        (
            "renajud",
            renajud_body(restriction(constaRenajud=False, restricoes="", detalheRenajud="")),
            "ok",
        ),
    ],
)
def test_change_tone_is_ok_only_if_resolved(lookup: LookupName, now: bytes, tone: str) -> None:
    before = {"renainf": renainf_body(fine()), "renajud": renajud_body(restriction())}[lookup]
    panels = UNASKED_PANELS.with_answers({lookup: after(before, now)})
    (line,) = (
        line for group in changes_of(panels, CONTEXT.today, CONTEXT.marker) for line in group.lines
    )
    assert line.tone == tone


def test_removed_record_is_not_called_paid_or_lifted() -> None:
    assert "Pode ter sido paga ou cancelada" in lines(renainf_body(fine()), renainf_body())[0]
    gone = lines(renajud_body(restriction()), renajud_body(), "renajud")
    assert "confirme com o juízo" in gone[0]


def test_other_spelling_of_value_is_no_change() -> None:
    before, now = decode_body("ABC1D23", potencia="180"), decode_body("ABC1D23", potencia="180.0")
    assert lines(before, now, "decode") == []


@pytest.mark.parametrize("odd_body", [b"", b"null", b'{"result": "x"}', b'{"result": {}}'])
def test_unreadable_answer_has_no_changes(odd_body: bytes) -> None:
    assert lines(odd_body, renainf_body(fine())) == []
    assert lines(renainf_body(fine()), odd_body) == []


def test_long_change_list_is_cut_and_counted() -> None:
    many = renainf_body(*(fine(localInfracao=f"KM {n}") for n in range(MOST_LINES + 5)))
    panels = replace(UNASKED_PANELS, fines=after(renainf_body(), many))
    (group,) = changes_of(panels, CONTEXT.today, CONTEXT.marker)
    assert (len(group.lines), group.omitted) == (MOST_LINES, 5)


def changed_pages(panels: Panels) -> tuple[str, str]:
    """The HTML of the vehicle page and the dossier, after validation."""
    pages = (
        render(vehicle_page(PLATE, panels, UNASKED, CONTEXT)),
        render(dossier_page(PLATE, panels, UNASKED, CONTEXT, address="https://p.example")),
    )
    for html in pages:
        check_html(html)
    return pages


def test_page_and_dossier_show_both_moments_and_link_record() -> None:
    quiet = answered(renajud_body())
    panels = Panels(
        answered(decode_body("ABC1D23")), after(renainf_body(), renainf_body(fine())), quiet
    )
    for html in changed_pages(panels):
        text = text_of(check_html(html))
        assert "O que mudou" in text
        assert "entre 19/11/2026 às 21:15 e 20/11/2026 às 21:12" in text
        assert 'href="#multa-1"' in html and 'id="multa-1"' in html


def test_unchanged_answers_show_no_changes() -> None:
    same = after(renainf_body(fine()), renainf_body(fine()))
    for html in changed_pages(Panels(answered(decode_body("ABC1D23")), same, UNASKED)):
        assert "O que mudou" not in html


@given(
    before=st.lists(odd(fine()) | JSON, max_size=3) | JSON,
    now=st.lists(odd(fine()) | JSON, max_size=3) | JSON,
    orders=st.lists(odd(restriction()) | JSON, max_size=2) | JSON,
    entry=odd(fipe_entry(historicoPreco=price_history(3, 1))) | JSON,
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_arbitrary_answer_pairs_render_valid_pages(
    before: Any, now: Any, orders: Any, entry: Any
) -> None:
    def listed(result: Any) -> bytes:
        return json.dumps({"status": "SUCCESS", "result": result}).encode()

    vehicle = decode_body("ABC1D23", informacoesFipe=[entry])
    panels = Panels(
        after(decode_body("ABC1D23"), vehicle),
        after(listed(before), listed(now)),
        after(listed(orders), renajud_body(restriction())),
    )
    for html in changed_pages(panels):
        assert HIDDEN not in html
        assert "R$\u00a00,00" not in html


def test_only_the_changes_that_are_listed_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    described = []

    def describing(change: Change[Fine], today: date) -> Any:
        described.append(change)
        return describe(change, today)

    describe = changes._fine_line
    monkeypatch.setattr(changes, "_fine_line", describing)
    now = renainf_body(*(fine(autoInfracao=f"A{number}") for number in range(3_000)))
    panels = replace(UNASKED_PANELS, fines=after(renainf_body(), now))
    (group,) = changes_of(panels, CONTEXT.today, CONTEXT.marker)
    assert len(group.lines) == len(described) == MOST_LINES
    assert group.omitted == 3_000 - MOST_LINES
    assert what_changed(
        replace(panels, fines=replace(answered(renainf_body()), fetched_at=NOW - timedelta(1))),
        panels,
        CONTEXT.today,
        CONTEXT.marker,
    ).startswith("3.000 mudanças")
    assert len(described) == MOST_LINES
