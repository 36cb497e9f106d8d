"""The effort of the first page of an answer, which docs/performance.md states as processor time."""

from functools import partial

import pytest

from tests.conftest import PortalFactory
from tests.effort import calls
from tests.fakes.answers import OPERATIONS, path_of

# Python calls of Flask, the templates and the portal. About 15 % of them judge every text that is
# shown, compare the versions of the price and draw the lines of the checklist. What settles each
# line, and the buttons that declare it, take 1,400.
MOST_CALLS = {"ABC1D23": 22_000, "MUL0A45": 69_500}


@pytest.mark.parametrize(("plate", "most"), MOST_CALLS.items())
def test_first_page_of_an_answer_takes_few_calls(
    portal: PortalFactory, plate: str, most: int
) -> None:
    here = portal({})
    for lookup in OPERATIONS[:3]:
        assert here.get(path_of(lookup, plate), "demo").status_code == 200
    for other in ("LMP0A01", "JUD0A04"):
        here.client.get(f"/placa/{other}?completo=1")  # loads templates and tables
    first = partial(here.client.get, f"/placa/{plate}?completo=1")
    assert len(calls(first, inside="")) <= most
