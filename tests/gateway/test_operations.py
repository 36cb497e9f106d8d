"""The operations, and the subjects (plate or Renavam) that each accepts."""

from sqlalchemy import String

from portal.gateway.operations import LOOKUP_OPERATIONS, OPERATIONS, REPORT, lookups_of
from portal.storage.tables import ledger
from portal.vehicle.operation_name import LOOKUPS, OPERATION_NAMES
from portal.vehicle.plate import Plate, Renavam

PLATE, RENAVAM = Plate("ABC1D23"), Renavam("00123456789")


def test_every_operation_name_has_an_operation() -> None:
    assert tuple(OPERATIONS) == OPERATION_NAMES
    assert [name for name, operation in OPERATIONS.items() if operation.name != name] == []


def test_lookups_are_the_operations_without_the_report() -> None:
    assert tuple(each for each in OPERATIONS.values() if each is not REPORT) == LOOKUP_OPERATIONS


def test_plate_is_taken_by_every_operation() -> None:
    assert all(operation.takes(PLATE) for operation in OPERATIONS.values())
    assert lookups_of(PLATE) == LOOKUPS


def test_renavam_is_taken_by_fines_and_restrictions_only() -> None:
    taken = [name for name, operation in OPERATIONS.items() if operation.takes(RENAVAM)]
    assert taken == ["renainf", "renajud"]
    assert lookups_of(RENAVAM) == ("renainf", "renajud")


def test_lookups_of_keeps_the_order_and_choice_of_the_names() -> None:
    assert lookups_of(PLATE, ("renajud", "decode")) == ("renajud", "decode")
    assert lookups_of(RENAVAM, ("decode",)) == ()


def test_operation_names_fit_the_column_of_the_ledger() -> None:
    column = ledger.c.operation.type
    assert isinstance(column, String) and column.length is not None
    assert max(map(len, OPERATION_NAMES)) <= column.length
