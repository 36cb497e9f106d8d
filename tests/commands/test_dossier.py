"""The commands ``dossier list`` and ``dossier revoke``, and dossiers in a purge."""

import json
from collections.abc import Callable

import pytest

from tests.commands.test_ledger_and_purge import run_command
from tests.conftest import PortalFactory
from tests.fakes.in_process import InProcessPortal
from tests.web.pages.test_issued import PLATE, issue, link_of, quick_pdf, rows
from tests.web.person import Person

__all__ = ["quick_pdf"]  # an autouse fixture


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


def test_list_names_number_state_dates_plate_and_issuer(here: InProcessPortal) -> None:
    path = issue(Person.at(here).signed_in())
    number = path.rpartition("/")[2]
    (row,) = json.loads(run_command(here, "dossier", "list", "--json").output)
    assert row.keys() == {"number", "state", "issued_at", "ends_at", "plate", "issued_by"}
    assert (row["number"], row["state"], row["plate"]) == (number, "valid", PLATE)
    header, line = run_command(here, "dossier", "list").output.splitlines()
    assert header.split() == list(row)
    assert line.split() == list(row.values())


def test_list_holds_no_link(here: InProcessPortal) -> None:
    ana = Person.at(here).signed_in()
    key = link_of(ana, issue(ana)).rpartition("/")[2]
    assert key not in run_command(here, "dossier", "list", "--json").output


def test_list_without_dossiers(here: InProcessPortal) -> None:
    assert json.loads(run_command(here, "dossier", "list", "--json").output) == []
    assert len(run_command(here, "dossier", "list").output.splitlines()) == 1


@pytest.mark.parametrize("spelling", [str.lower, lambda number: number.replace("-", "")])
def test_revoke_ends_the_link(here: InProcessPortal, spelling: Callable[[str], str]) -> None:
    ana = Person.at(here).signed_in()
    path = issue(ana)
    link, number = link_of(ana, path), path.rpartition("/")[2]
    done = run_command(here, "dossier", "revoke", spelling(number))
    assert (done.exit_code, done.output) == (0, f"Revoked {number}.\n")
    assert here.client.get(link).status_code == 410
    again = run_command(here, "dossier", "revoke", number)
    assert again.exit_code == 1
    assert again.stderr == f"No valid dossier has the number {number}.\n"
    (row,) = json.loads(run_command(here, "dossier", "list", "--json").output)
    assert (row["state"], row["plate"], row["issued_by"]) == ("revoked", None, None)


def test_revoke_prints_json(here: InProcessPortal) -> None:
    number = issue(Person.at(here).signed_in()).rpartition("/")[2]
    done = run_command(here, "dossier", "revoke", number, "--json")
    assert json.loads(done.output) == {"revoked": number}


@pytest.mark.parametrize("words", [("revoke",), ("revoke", "7F3K"), ("list", "x"), ("other",)])
def test_usage_error_exits_2(here: InProcessPortal, words: tuple[str, ...]) -> None:
    assert run_command(here, "dossier", *words).exit_code == 2


def test_purge_deletes_dossiers_of_the_vehicle_alone(here: InProcessPortal) -> None:
    ana = Person.at(here).signed_in()
    gone, kept = issue(ana), issue(ana, "XYZ9K99")
    link = link_of(ana, gone)
    done = run_command(here, "purge", PLATE)
    assert done.exit_code == 0, done.stderr
    assert "Deleted 1 issued dossiers." in done.stdout
    assert here.client.get(link).status_code == 404
    assert ana.client.get(gone).status_code == 404
    assert ana.client.get(kept).status_code == 200
    assert len(rows(here)) == 1
