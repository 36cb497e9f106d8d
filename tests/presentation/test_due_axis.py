"""Tests of the picture of what is owed and until when."""

from datetime import date, timedelta
from typing import Any

import pytest

from portal.law.running_deadlines import next_deadline
from portal.presentation.vehicle.due_axis import MOST_BARS, STACK_PX, DueAxis
from portal.wording import since
from tests.factories import fine, payment, renainf_body
from tests.presentation.pages import panel_fragment, vehicle_page
from tests.presentation.rendering import CONTEXT, PLATE, UNASKED, panels, render
from tests.web.html_checker import check_html, text_of

TODAY = CONTEXT.today


def ago(days: int) -> str:
    return f"{TODAY - timedelta(days=days):%d/%m/%Y}"


def overdue(days: int = 300, **overrides: Any) -> dict[str, Any]:
    """A fine whose penalty was issued ``days`` days ago."""
    dates = {
        "dataInfracao": ago(days + 90),
        "dataEmissaoNotificacao": ago(days + 80),
        "dataEmissaoPenalidade": ago(days),
    }
    return fine(**{**dates, **overrides})


NOTICE = fine(dataInfracao=ago(50), dataEmissaoNotificacao=ago(38))


def axis(*records: dict[str, Any]) -> DueAxis:
    found = CONTEXT.dossier(PLATE, panels(renainf=renainf_body(*records))).fines
    return DueAxis(found or (), TODAY)


def test_overdue_fine_ends_today_and_says_since_when() -> None:
    found = axis(overdue(), overdue(100, pagamento=payment(dataPagamento=ago(50))))
    (bar,) = found.bars  # a paid fine is not owed
    assert bar.ahead == 0 and bar.x + bar.width == pytest.approx(found.today_x, abs=0.11)
    due = bar.fine.appeal.ends_on
    assert due is not None and bar.label == f"vencida {since(due, TODAY)}"


def test_notice_reaches_from_its_start_over_today_to_its_last_day() -> None:
    (bar,) = axis(NOTICE).bars
    assert bar.width > 0 and bar.ahead > 0
    last = bar.fine.penalty.ends_on
    assert last is not None and bar.label == f"até {last:%d/%m/%Y}"
    defence = bar.fine.prior_defence.ends_on
    assert defence is not None and defence < TODAY
    assert bar.ring is not None and bar.ring < axis(NOTICE).today_x


def test_next_date_is_the_first_of_the_calendar() -> None:
    found = axis(NOTICE, overdue())
    assert found.next is not None
    assert (found.next.name, found.next.fine.number) == ("penalty", 1)
    assert found.next.last_day == TODAY - timedelta(days=50) + timedelta(days=180)
    assert next_deadline(()) is None


def test_past_date_is_never_the_next_one() -> None:
    html = render(vehicle_page(PLATE, panels(renainf=renainf_body(NOTICE)), UNASKED, CONTEXT))
    text = text_of(check_html(html))
    assert "Próxima data:" in text
    (bar,) = axis(NOTICE).bars
    passed = bar.fine.prior_defence.ends_on
    assert passed is not None and passed < TODAY
    assert f"o prazo mínimo passou em {passed:%d/%m/%Y}, {since(passed, TODAY)}" in text
    assert 'class="past"' in html


def test_many_fines_are_stacked_by_month() -> None:
    many = axis(*(overdue(100 + 40 * number) for number in range(MOST_BARS + 3)), NOTICE)
    assert many.is_stacked and not list(many.bars)
    months = list(many.months)
    assert [one.x for one in months] == sorted(one.x for one in months)
    parts = [part for one in months for part in one.parts]
    assert {part.standing.key for part in parts} == {"exigivel", "autuacao"}
    assert all(part.y >= 0 and part.y + part.height <= STACK_PX + 0.1 for part in parts)
    html = render(
        panel_fragment(
            "multas", PLATE, panels(renainf=renainf_body(*[overdue()] * 11, NOTICE)), CONTEXT
        )
    )
    assert '<details class="fold ledger-fold">' in html and "Ver as 12" in html


def test_words_on_today_stay_within_the_picture() -> None:
    for records in ([overdue(2000)] * (MOST_BARS + 1), [NOTICE], [overdue()]):
        found = axis(*records)
        room = {"start": (0, 84), "middle": (16, 84), "end": (16, 100)}[found.today_anchor]
        assert room[0] <= found.today_x <= room[1]
        assert all(0 <= x <= 100 for x, _ in found.ticks)


@pytest.mark.parametrize(
    ("day", "words"),
    [
        (date(2026, 11, 20), "hoje"),
        (date(2026, 11, 19), "há 1 dia"),
        (date(2026, 9, 21), "há 60 dias"),
        (date(2026, 9, 20), "há 2 meses"),
        (date(2025, 1, 21), "há 21 meses"),
        (date(2024, 11, 20), "há 2 anos"),
    ],
)
def test_time_since_a_day_is_told_in_one_unit(day: date, words: str) -> None:
    assert since(day, date(2026, 11, 20)) == words
