"""Records of one infraction notice: each names the others, on the page and in every file."""

from portal.presentation.exports.vehicle_tables import FINE_COLUMNS
from tests.factories import fine, renainf_body
from tests.presentation.rendering import CONTEXT, PLATE, panels


def test_records_of_one_notice_name_each_other_and_count_once() -> None:
    sent = [fine(autoInfracao="A1"), fine(autoInfracao="A2"), fine(autoInfracao="A1", valor="")]
    dossier = CONTEXT.dossier(PLATE, panels(renainf=renainf_body(*sent)))
    assert dossier.fines is not None and dossier.totals is not None
    assert [record.same_notice for record in dossier.fines] == [(3,), (), (1,)]
    notes = [str(FINE_COLUMNS["conflict"](record)) for record in dossier.fines]
    assert "É o mesmo auto de infração que o registro 3" in notes[0]
    assert "mesmo auto" not in notes[1]
    assert dossier.totals.open_count == 2
