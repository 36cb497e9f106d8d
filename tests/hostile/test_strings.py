"""Hostile strings in every field are shown as text in valid pages."""

from itertools import cycle, islice, repeat

import pytest

from tests.conftest import PortalFactory
from tests.effort import FULL
from tests.factories import report_request
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import OPERATIONS, path_of
from tests.fakes.in_process import PORTAL_TOKEN
from tests.hostile.strings import STRINGS, hostile_bodies
from tests.web.person import Person

STEP = 1 if FULL else 40


def test_hostile_strings_number_two_hundred() -> None:
    assert len(set(STRINGS)) == 200


@pytest.mark.parametrize("first", range(0, 200, STEP))
def test_pages_of_hostile_records_are_valid_and_inert(
    portal: PortalFactory, upstream: FaultUpstream, first: int
) -> None:
    here = portal(FRESH_DECODE="0", FRESH_RENAINF="0", FRESH_RENAJUD="0")
    ana = Person.at(here).signed_in()
    mixed = islice(cycle(STRINGS), first, None)
    for strings in (repeat(STRINGS[first]), mixed):
        plate = "ABC1D23"
        for operation, body in hostile_bodies(plate, strings).items():
            upstream.script(path_of(operation, plate), faults.answer("hostile", body))
        report = {"data": report_request(plate), "headers": {"Authorization": PORTAL_TOKEN}}
        assert here.client.post(path_of("report"), **report).status_code == 200
        for path in (f"/placa/{plate}?completo=1", f"/placa/{plate}/dossie", "/"):
            # ``pages.get`` rejects event handlers, inline scripts and content of other sites.
            page = ana.pages.get(path)
            assert "evil.invalid" not in " ".join(
                str(element.get(name, ""))
                for element in page.tree.iter()
                for name in ("href", "src", "action", "srcset", "style", "content", "data")
            )
            assert "\u202e" not in page.html
            if path != "/" and strings is mixed:
                assert "window.pwned=1" in page.text  # the strings are shown as text
    assert upstream.count() >= len(OPERATIONS)
