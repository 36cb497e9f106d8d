"""The tables of generated vehicles, fines and courts hold real names, codes and amounts.

The sandbox does not use ``portal.law``; these tests compare its tables with that package.
"""

from portal.law.courts import find_court
from portal.law.infractions import find
from portal.sandbox.families import families
from portal.sandbox.offences import OFFENCES
from portal.sandbox.regions import REGIONS
from portal.sandbox.restrictions import court_text
from portal.vehicle.field import Field, fold
from portal.vehicle.fipe import fipe_code
from portal.vehicle.plate import STATES


def test_families_are_at_least_thirty_and_of_every_kind() -> None:
    assert len({(family.make, family.model) for family in families()}) >= 30
    kinds = {family.vehicle_type for family in families()}
    assert {"Automóvel", "Caminhonete", "Motocicleta", "Caminhão"} <= kinds


def test_version_codes_are_unique_and_have_their_check_digit() -> None:
    ids = [version.fipe_id for family in families() for version in family.versions]
    codes = [fipe_code(Field(fipe_id, "known")) for fipe_id in ids]
    assert all(code is not None and code.is_verified for code in codes)
    assert len(ids) == len(set(codes))


def test_code_prefix_matches_the_kind_of_vehicle() -> None:
    for family in families():
        first = {family.is_motorcycle: "8", family.is_truck: "5"}.get(True, "0")
        for version in family.versions:
            assert version.fipe_id.zfill(7)[0] == first, version


def test_every_offence_is_a_current_infraction_with_an_amount() -> None:
    assert len(OFFENCES) >= 40
    for code, offence in OFFENCES.items():
        infraction = find(code)
        assert infraction is not None, code
        assert any(row.current for row in infraction.rows), code
        assert infraction.amount is not None, code
        assert offence.amount == int(infraction.amount), code
        assert offence.description.isascii()


def test_every_state_has_its_courts() -> None:
    assert REGIONS.keys() == STATES
    for state, region in REGIONS.items():
        labour = find_court(region.labour_court)
        assert labour is not None
        assert state in labour.uf, state
        for acronym in (f"TJ{state}" if state != "DF" else "TJDFT", region.labour_court, "TRF4"):
            assert_court_is_real(acronym)


def assert_court_is_real(acronym: str) -> None:
    """Compare both parts of ``TJMG-TRIBUNAL DE JUSTICA…`` with ``portal.law``'s courts."""
    before, _, name = court_text(acronym).partition("-")
    court = find_court(name)
    assert before == acronym
    assert court is not None, name
    assert court.acronym == acronym
    assert fold(court.name) == name
