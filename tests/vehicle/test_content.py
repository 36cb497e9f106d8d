"""Which elements of a result are records, and which are remarks in place of records."""

import pytest

from portal.vehicle.content import Contents
from tests import factories

REMARK = {"mensagem": "Nada consta"}
DENIED = {**dict.fromkeys(factories.restriction(), ""), "constaRenajud": False}


@pytest.mark.parametrize(
    ("result", "records", "remarks", "shown"),
    [
        ([], False, [], []),
        ([REMARK], False, [REMARK], []),
        ([factories.fine()], True, [], [factories.fine()]),
        ([factories.fine(), REMARK], True, [REMARK], [factories.fine()]),
        (["TEXT"], True, [], ["TEXT"]),
        ([DENIED], False, [DENIED], [DENIED]),
        (REMARK, False, [REMARK], REMARK),
        (factories.fine(), True, [], factories.fine()),
    ],
    ids=str,
)
def test_elements_that_are_no_records_are_remarks(
    result: object, records: bool, remarks: list[object], shown: object
) -> None:
    contents = Contents.of(result)
    assert contents.has_records is records
    assert (contents.remarks, contents.without_remarks) == (remarks, shown)
