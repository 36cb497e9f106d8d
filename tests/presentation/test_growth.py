"""The work for a page grows with the records, and not with their pairs."""

from tests.effort import calls
from tests.factories import fine, renainf_body
from tests.presentation.pages import vehicle_page
from tests.presentation.rendering import CONTEXT, PLATE, UNASKED, panels, render


def test_fine_costs_the_same_among_many() -> None:
    def work(count: int) -> int:
        fines = (fine(autoInfracao=f"A{number:07}") for number in range(count))
        answers = panels(renainf=renainf_body(*fines))
        return len(calls(lambda: render(vehicle_page(PLATE, answers, UNASKED, CONTEXT)), inside=""))

    work(5)  # compiles the templates
    few, some, many = work(20), work(40), work(80)
    assert many - some < 1.2 * 2 * (some - few)
