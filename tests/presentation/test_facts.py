"""The cache of parsed answers."""

from portal.presentation import read_facts
from portal.presentation.vehicle.facts import Answer, VehicleFacts
from portal.vehicle import result_of
from tests import factories
from tests.conftest import PortalFactory
from tests.fakes import wait_until
from tests.presentation.rendering import CONTEXT

PLATE = "ABC1D23"


def test_read_facts_distinguishes_answers() -> None:
    assert _facts("AUDI").name != _facts("FIAT").name


def _facts(make: str) -> VehicleFacts:
    body = factories.decode_body(PLATE, marca=make)
    return read_facts(Answer(body, result_of(body)), factories.HIDDEN, CONTEXT.today)


def test_read_answers_stay_in_memory_for_about_a_second(portal: PortalFactory) -> None:
    """A purge must also remove the vehicle from the memory of the worker processes."""
    here = portal({})
    assert here.client.get(f"/placa/{PLATE}?completo=1").status_code == 200
    wait_until(lambda: read_facts.cache_info().currsize == 0, "the clearing of the cache")
