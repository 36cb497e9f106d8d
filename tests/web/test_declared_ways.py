"""Every way in refuses a declaration that a record contradicts, and stores nothing of it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests import factories
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import Operation, path_of
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.json_paths import no_upstream_call
from tests.web.person import Person

PLATE = "ABC1D23"
DECLARE = f"/placa/{PLATE}/declarar"
JSON = f"/api/v1/vehicles/{PLATE}/declared"
Way = Callable[[InProcessPortal, Person, str, str], Any]


def by_button(_: InProcessPortal, person: Person, line: str, state: str) -> Any:
    """Send what the button beside a line of the vehicle's page sends."""
    action = f"{DECLARE}?line={line}&state={state}"
    return person.post(action, next=f"/placa/{PLATE}")


def by_line(_: InProcessPortal, person: Person, line: str, state: str) -> Any:
    return person.post(DECLARE, line=line, state=state, what="x", source="y")


def by_sheet(_: InProcessPortal, person: Person, line: str, state: str) -> Any:
    """Send the sheet's form, in which another line is declared too, and one is left blank."""
    lines, states = ["recall", line, "leilao"], ["nothing", state, ""]
    return person.post(DECLARE, line=lines, state=states)


def for_many(_: InProcessPortal, person: Person, line: str, state: str) -> Any:
    return person.post("/declarar", placas=[PLATE], line=line, state=state)


def for_many_spelled(_: InProcessPortal, person: Person, line: str, state: str) -> Any:
    return person.post("/declarar", placas=["abc-1d23", PLATE], line=line, state=state)


def by_json(here: InProcessPortal, _: Person, line: str, state: str) -> Any:
    return _put(here, [{"line": line, "state": state}])


def by_json_beside_another(here: InProcessPortal, _: Person, line: str, state: str) -> Any:
    return _put(here, [{"line": "recall", "state": "nothing"}, {"line": line, "state": state}])


def _put(here: InProcessPortal, lines: list[dict[str, str]]) -> Any:
    headers = {"Authorization": PORTAL_TOKEN}
    return here.app.test_client().put(JSON, json={"lines": lines}, headers=headers)


# ``dossie declare`` is in tests/client/test_declare.py.
WAYS: list[Way] = [
    *(by_button, by_line, by_sheet, for_many, for_many_spelled, by_json, by_json_beside_another),
]
RECORDS: dict[str, tuple[bytes, str, str, str]] = {
    "an order": (
        factories.renajud_body(factories.restriction()),
        *("justica", "nothing", "(Renajud) traz 1 restrição judicial"),
    ),
    "no order": (
        factories.renajud_body(),
        *("justica", "something", "(Renajud) traz nenhuma restrição judicial"),
    ),
    "a fine": (
        factories.renainf_body(factories.fine()),
        *("multas", "nothing", "(Renainf) traz 1 multa em aberto"),
    ),
    "no fine": (
        factories.renainf_body(),
        *("multas", "something", "(Renainf) traz nenhuma multa em aberto"),
    ),
    "a stolen vehicle": (
        factories.decode_body(PLATE, tipoVeiculo="VEICULO ROUB/FURT"),
        *("roubo-e-furto", "nothing", "(dados do veículo) traz “"),
    ),
}
LOOKUPS: dict[str, Operation] = {
    "justica": "renajud",
    "multas": "renainf",
    "roubo-e-furto": "decode",
}


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_way_in_refuses_it(
    way: Way, record: str, here: InProcessPortal, upstream: FaultUpstream
) -> None:
    body, line, state, named = RECORDS[record]
    upstream.script(path_of(LOOKUPS[line], PLATE), faults.answer("application/json", body))
    assert here.get(f"/api/v1/vehicles/{PLATE}").status_code == 200
    person = Person.at(here).signed_in()
    before = here.get(JSON).get_json()
    with no_upstream_call(upstream):
        refused = way(here, person, line, state)
    assert refused.status_code == 409
    is_json = refused.content_type.startswith("application/json")
    text = refused.get_json()["message"] if is_json else refused.get_data(as_text=True)
    assert named in " ".join(text.replace("\u00a0", " ").split())
    assert here.get(JSON).get_json() == before
