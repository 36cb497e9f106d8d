"""Answers with so many records that reading them all would take minutes.

The effort of a response is the number of Python calls inside ``portal/``, which is the same in each
run.
"""

from typing import Any

import pytest

from portal.dossier.gaps import TOO_LARGE
from portal.vehicle.operation_name import LookupName
from portal.vehicle.wire import MOST_RECORDS
from tests import factories
from tests.conftest import PortalFactory
from tests.effort import calls, long
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import InProcessPortal
from tests.web.page_client import PageClient
from tests.web.signed_in import visitor

PLATE, OTHER = "ABC1D23", "LMP0A01"
FACES = (
    f"/placa/{PLATE}?completo=1",
    *(f"/placa/{PLATE}/painel/{name}" for name in ("resumo", "veiculo", "multas", "restricoes")),
    f"/placa/{PLATE}/dossie",
    f"/placa/{PLATE}/negociacao",
    f"/comparar?placas={PLATE},{OTHER}",
    "/historico",
    "/",
    f"/api/v1/vehicles/{PLATE}",
    *(
        f"/api/v1/vehicles/{PLATE}/{name}.{ending}"
        for name in ("fines", "restrictions", "prices")
        for ending in ("csv", "jsonl")
    ),
)
PATHS: dict[LookupName, str] = {
    "decode": f"/detran/v1/decode/{PLATE}",
    "renainf": f"/detran/v1/restrictions/renainf/{PLATE}",
    "renajud": f"/detran/v1/restrictions/renajud/{PLATE}",
}
PARTS: dict[LookupName, str] = {
    "decode": "vehicle",
    "renainf": "fines",
    "renajud": "restrictions",
}
TABLES: dict[LookupName, str] = PARTS | {"decode": "prices"}


def records(count: int, record: dict[str, Any]) -> list[dict[str, Any]]:
    return [record] * count


def body(lookup: LookupName, count: int) -> bytes:
    match lookup:
        case "decode":
            return factories.decode_body(PLATE, informacoesFipe=records(count, {"ano": "2015"}))
        case "renainf":
            return factories.renainf_body(*records(count, {"descricao": "INFRACAO"}))
        case "renajud":
            return factories.renajud_body(*records(count, {"restricoes": "LICENCIAMENTO"}))


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


def stored(
    here: InProcessPortal, upstream: FaultUpstream, lookup: LookupName, count: int
) -> PageClient:
    """Store all answers, with ``count`` records in that of ``lookup``. Return a visitor."""
    upstream.script(PATHS[lookup], faults.answer("long", body(lookup, count)))
    for plate in (PLATE, OTHER):
        for path in PATHS.values():
            assert here.get(path.replace(PLATE, plate)).status_code == 200
    pages = visitor(here)
    for plate in (OTHER, PLATE):
        pages.get(f"/placa/{plate}?completo=1")
    return pages


def efforts(pages: PageClient) -> dict[str, int]:
    found = {}
    for path in FACES:
        pages.client.get(path)  # fills caches
        found[path] = len(calls(lambda path=path: pages.client.get(path)))  # type: ignore[misc]
    return found


@pytest.mark.parametrize("lookup", ["renainf", *long("decode", "renajud")])
def test_records_beyond_the_limit_cost_nothing_on_any_face(
    portal: PortalFactory, upstream: FaultUpstream, lookup: LookupName
) -> None:
    few = efforts(stored(portal(), upstream, lookup, 3))
    here = portal(UPSTREAM_NAME="another")
    # A kept page takes 380 calls in place of 8,000, and one record read takes at least one.
    many = efforts(stored(here, upstream, lookup, 4 * MOST_RECORDS))
    assert {path: many[path] for path in FACES if many[path] > few[path] + 4 * MOST_RECORDS} == {}


@pytest.mark.parametrize("lookup", ["renainf", *long("decode", "renajud")])
def test_records_beyond_the_limit_are_relayed_and_never_shown_as_nothing(
    here: InProcessPortal, upstream: FaultUpstream, lookup: LookupName
) -> None:
    pages = stored(here, upstream, lookup, MOST_RECORDS + 1)
    sent = body(lookup, MOST_RECORDS + 1)
    assert here.get(PATHS[lookup]).data == sent
    assert upstream.count(PATHS[lookup]) == 1
    document = here.get(f"/api/v1/vehicles/{PLATE}").get_json()
    assert document["verdict"]["level"] != "clear"
    assert document["lookups"][lookup]["state"] == "unavailable"
    assert document["lookups"][lookup]["reason"] == TOO_LARGE
    assert (
        document[{"decode": "vehicle", "renainf": "fines", "renajud": "restrictions"}[lookup]]
        is None
    )
    for path in (f"/placa/{PLATE}?completo=1", f"/placa/{PLATE}/dossie"):
        assert TOO_LARGE in pages.get(path).text
    assert here.get(f"/api/v1/vehicles/{PLATE}/{TABLES[lookup]}.csv").status_code == 502


@pytest.mark.parametrize("lookup", ["renainf", *long("decode", "renajud")])
def test_as_many_records_as_the_limit_are_all_exported(
    here: InProcessPortal, upstream: FaultUpstream, lookup: LookupName
) -> None:
    answer = body(lookup, MOST_RECORDS)
    if lookup == "decode":  # equal entries would count as one
        entries = [{"ano": "2015", "versao": f"V{number}"} for number in range(MOST_RECORDS)]
        answer = factories.decode_body(PLATE, informacoesFipe=entries)
    upstream.script(PATHS[lookup], faults.answer("long", answer))
    with here.get(f"/api/v1/vehicles/{PLATE}/{TABLES[lookup]}.jsonl") as response:
        rows = response.data.splitlines()
    assert len(rows) == MOST_RECORDS
    assert len(visitor(here).get(f"/placa/{PLATE}/dossie").html) < 1_000_000
