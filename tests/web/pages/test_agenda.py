"""``/agenda`` and its feed: secret, revocable, from stored answers alone."""

import re

import pytest
from icalendar import Calendar

from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.in_process import InProcessPortal, pass_through
from tests.web.json_paths import issue
from tests.web.person import Person

PLATE = "ABC1D23"


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal({})


def address_of(person: Person) -> str:
    """Make an address and return its path."""
    person.post("/agenda")
    found = re.search(
        r'value="https?://[^/]+(/agenda/[\w-]+\.ics)"', person.pages.get("/agenda").html
    )
    assert found
    return found[1]


def titles(here: InProcessPortal, path: str) -> list[str]:
    response = here.app.test_client().get(path)
    assert response.status_code == 200
    assert response.content_type.startswith("text/calendar")
    calendar = Calendar.from_ical(response.get_data(as_text=True))
    assert calendar["X-PUBLISHED-TTL"] == "PT6H"
    assert b"REFRESH-INTERVAL;VALUE=DURATION:PT6H" in response.data
    return [str(each["SUMMARY"]) for each in calendar.subcomponents]


def test_feed_has_the_deadlines_of_what_its_owner_looked_up(here: InProcessPortal) -> None:
    ana, bia = Person.at(here), Person.at(here)
    path = address_of(ana)
    assert titles(here, path) == ["Nenhuma resposta guardada sobre multas"]
    ana.pages.get(f"/placa/{PLATE}?completo=1")
    assert any(PLATE in each for each in titles(here, path))
    assert titles(here, address_of(bia)) == ["Nenhuma resposta guardada sobre multas"]


def test_feed_asks_nothing_and_needs_no_session(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    person = Person.at(here).signed_in()
    path = address_of(person)
    person.pages.get(f"/placa/{PLATE}?completo=1")
    before = upstream.count()
    response = here.app.test_client().get(path)
    assert (response.status_code, "Set-Cookie" in response.headers) == (200, False)
    assert upstream.count() == before
    assert "noindex" in response.headers["X-Robots-Tag"]


def test_new_address_ends_the_former_one_and_revoking_ends_it(here: InProcessPortal) -> None:
    person = Person.at(here)
    first, second = address_of(person), address_of(person)
    assert first != second
    stranger = here.app.test_client()
    assert stranger.get(first).status_code == 404
    assert stranger.get(second).status_code == 200
    person.post("/agenda", revogar="1")
    assert stranger.get(second).status_code == 404
    assert "Criar o endereço" in person.pages.get("/agenda").html


def test_feed_ends_with_its_owners_access(portal: PortalFactory) -> None:
    here = portal()
    token = issue(here, "ana")
    path = address_of(Person.at(here).signed_in(token))
    assert here.app.test_client().get(path).status_code == 200
    assert here.app.test_cli_runner().invoke(args=["token", "revoke", "ana"]).exit_code == 0
    assert here.app.test_client().get(path).status_code == 404


def test_own_credential_gets_no_address(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal(pass_through(upstream.url))
    person = Person.at(here).signed_in("own-credential")
    assert person.post("/agenda").status_code == 403
    assert "não há endereço" in person.pages.get("/agenda").html


def test_wrong_key_is_unknown(here: InProcessPortal) -> None:
    for key in ("x", "a" * 22, "%00"):
        assert here.app.test_client().get(f"/agenda/{key}.ics").status_code == 404
