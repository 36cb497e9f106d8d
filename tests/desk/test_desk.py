"""What a desk asks, by what its caller lets it spend."""

from decimal import Decimal

import pytest

from portal.access.tokens import STORED, Identity
from portal.desk.caller import Caller
from portal.desk.desk import Desk
from portal.desk.written_reports import NoRecords
from portal.gateway.lookup import Spend
from portal.vehicle.operation_name import LOOKUPS
from portal.vehicle.plate import Plate
from tests.conftest import PortalFactory
from tests.factories import fine, renainf_body
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.in_process import PRICED, InProcessPortal, managed

PLATE = Plate.parse("ABC1D23")


def desk_of(here: InProcessPortal, *scopes: str) -> Desk:
    scopes = scopes or (*LOOKUPS, "report", "refresh")
    return here.parts.desk(Caller.of_token(Identity("ana", "d", "ana", frozenset(scopes))))


def test_spending_is_named_by_intent(portal: PortalFactory, upstream: FaultUpstream) -> None:
    desk = desk_of(portal())
    steps = (
        (Spend.NEVER, 0, "unasked"),
        (Spend.LATER, 0, "unasked"),
        (Spend.ASKED, 3, "fresh"),
        (Spend.ASKED, 3, "fresh"),
        (Spend.LATER, 3, "fresh"),
        (Spend.NEVER, 3, "fresh"),
        (Spend.AGAIN, 6, "fresh"),
    )
    for spend, calls, state in steps:
        dossier = desk.dossier(PLATE, spend)
        assert {panel.state for panel in dossier.answers.all} == {state}, spend
        assert upstream.count() == calls, spend


def test_desk_asks_only_what_its_caller_may(portal: PortalFactory, upstream: FaultUpstream) -> None:
    desk = desk_of(portal(), "renainf")
    answers = desk.dossier(PLATE).answers
    assert (answers.fines.state, answers.vehicle.cause) == ("fresh", "out_of_scope")
    assert upstream.count() == 1
    assert desk.prices().keys() == {"renainf"}
    assert not desk.may_report


def test_renewed_dossier_says_what_has_changed(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    desk = desk_of(portal())
    desk.dossier(PLATE)
    more = faults.answer("given", renainf_body(fine(), fine(), fine()))
    upstream.script(path_of("renainf", PLATE.text), more)
    renewed = desk.renew(PLATE)
    assert renewed.changes.endswith("em multas")
    assert (renewed.failures, renewed.is_stored) == ("", True)


def test_renewing_names_what_failed(portal: PortalFactory, upstream: FaultUpstream) -> None:
    desk = desk_of(portal())
    desk.dossier(PLATE)
    upstream.script(path_of("renainf", PLATE.text), faults.status(500))
    assert "Multas" in desk.renew(PLATE).failures


def test_report_needs_records(portal: PortalFactory, upstream: FaultUpstream) -> None:
    upstream.default(faults.status(500))
    with pytest.raises(NoRecords):
        desk_of(portal()).report(PLATE)


def test_report_stands_in_the_dossier(portal: PortalFactory, upstream: FaultUpstream) -> None:
    renewed = desk_of(portal()).report(PLATE)
    assert renewed.is_stored
    assert renewed.dossier.answers.report.has_answer
    assert upstream.count() == 4


def test_caller_that_never_spends_reads_for_nothing(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    desk = desk_of(portal({**managed(upstream.url), **PRICED}), STORED)
    assert {panel.state for panel in desk.dossier(PLATE).answers.all} == {"unavailable"}
    assert upstream.count() == 0
    assert set(desk.prices().values()) == {Decimal(0)}
