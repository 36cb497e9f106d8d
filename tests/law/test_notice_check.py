"""A typed notice: what contradicts what, row by row."""

from datetime import date

import pytest

from portal.law.assessment import AssessedFine
from portal.law.notice_check import check_notice
from portal.vehicle.fines import read_fines
from tests.law.records import NOTICE_MEMBERS, TODAY


def points(due: str = "", **typed: str) -> list[tuple[str, str]]:
    """Return the code and the kind of each point."""
    (fine,) = read_fines([{NOTICE_MEMBERS[name]: text for name, text in typed.items()}], "")
    due_on = date.fromisoformat(due) if due else None
    return [(one.code, one.kind) for one in check_notice(AssessedFine(fine, TODAY), due_on)]


@pytest.mark.parametrize(
    "typed",
    [
        {"orgao": "271070", "codigo": "74550", "valor": "130.16"},
        {"orgao": "000100", "auto": "T123456789"},
        {"codigo": "7455", "valor": "104.13"},
        {"codigo": "7455", "valor": "78.10"},
        {"codigo": "7455", "valor": "130"},
        {"codigo": "7455", "valor": "85.13", "infracao": "10/10/2015"},
        {"codigo": "5169", "valor": "5869.40"},  # drunk driving again within 12 months
        {"infracao": "10/03/2026", "autuacao": "25/03/2026", "penalidade": "10/06/2026"},
        # The 30 days of defence are of 2021.
        {"infracao": "10/03/2019", "autuacao": "25/03/2019", "penalidade": "15/04/2019"},
        {"penalidade": "10/06/2026", "due": "2026-07-10"},
        {"codigo": "7670"},
        {"orgao": "999990"},
    ],
)
def test_plausible_notice_has_no_contradiction(typed: dict[str, str]) -> None:
    kinds = {kind for _, kind in points(**typed)}
    assert kinds and "against" not in kinds


@pytest.mark.parametrize(
    ("typed", "code", "kind"),
    [
        ({"codigo": "7454"}, "check_digit", "against"),
        ({"orgao": "000100", "auto": "X123"}, "prf_number", "against"),
        ({"codigo": "7455", "valor": "250.00"}, "other_amount", "against"),
        ({"codigo": "7455", "valor": "90.00"}, "other_amount", "against"),
        ({"infracao": "10/03/2026", "autuacao": "25/05/2026"}, "deadline", "against"),
        ({"infracao": "10/03/2026", "autuacao": "01/03/2026"}, "before_start", "against"),
        ({"infracao": "10/03/2026", "autuacao": "25/03/2026"}, "deadline", "agrees"),
        ({"infracao": "10/03/2025", "penalidade": "10/06/2026"}, "deadline", "against"),
        # Without a known defence, a late penalty is left open.
        ({"infracao": "10/03/2025", "penalidade": "10/12/2025"}, "deadline", "open"),
        ({"infracao": "10/03/2026", "penalidade": "01/03/2026"}, "before_start", "against"),
        ({"infracao": "25/12/2026"}, "in_future", "against"),
        ({"penalidade": "25/12/2026"}, "in_future", "against"),
        ({"autuacao": "25/05/2026", "penalidade": "10/05/2026"}, "before_notice", "against"),
        ({"autuacao": "25/05/2026", "penalidade": "10/06/2026"}, "before_defence", "against"),
        ({"penalidade": "10/06/2026", "due": "2026-06-20"}, "due_early", "against"),
        ({"autuacao": "10/11/2026", "due": "2026-12-20"}, "only_notice", "against"),
        ({"orgao": "999990"}, "unknown_authority", "open"),
        ({"codigo": "7994"}, "unlisted_code", "open"),
        ({"codigo": "7382"}, "infraction", "agrees"),
        ({"codigo": "5002", "infracao": "10/03/2026"}, "deadline", "open"),
        # A NIC is twice a fine of the table, in full or with a discount.
        ({"codigo": "50020", "valor": "260.32"}, "nic_doubled", "agrees"),
        ({"codigo": "50020", "valor": "208.26"}, "nic_doubled", "agrees"),
        ({"codigo": "50020", "valor": "260"}, "nic_doubled", "agrees"),
        ({"codigo": "50020", "valor": "586.94"}, "nic_doubled", "agrees"),
        ({"codigo": "50020", "valor": "999.99"}, "nic_other", "against"),
        ({"codigo": "50020", "valor": "50000.00"}, "nic_other", "against"),
        ({"codigo": "50020", "valor": "130.16"}, "nic_other", "against"),
        ({"codigo": "50020", "valor": "390.48"}, "nic_multiplied", "open"),
        (
            {"codigo": "50020", "valor": "390.48", "infracao": "10/01/2022"},
            "nic_multiplied",
            "open",
        ),
        (
            {"codigo": "50020", "valor": "390.48", "infracao": "10/01/2026"},
            "nic_multiplied",
            "against",
        ),
        # Through SNE, 60 % may be paid already with the notice of infraction.
        (
            {"codigo": "74550", "valor": "78.10", "autuacao": "20/10/2026", "due": "2026-12-05"},
            "sne_at_notice",
            "open",
        ),
        (
            {"valor": "78.10", "autuacao": "20/10/2026", "due": "2026-12-05"},
            "sne_at_notice",
            "open",
        ),
        (
            {"codigo": "74550", "valor": "104.13", "autuacao": "20/10/2026", "due": "2026-12-05"},
            "only_notice",
            "against",
        ),
        ({"codigo": "77301"}, "toll", "open"),
        ({"codigo": "7455", "valor": "85.13"}, "former_amount", "agrees"),
        ({"codigo": "7455", "valor": "85.13", "infracao": "10/10/2015"}, "former_amount", "agrees"),
        (
            {"codigo": "7455", "valor": "85.13", "infracao": "10/10/2026"},
            "former_amount",
            "against",
        ),
        ({"codigo": "7455", "valor": "104.13", "due": "2026-09-14"}, "due_past", "open"),
        ({"codigo": "9011"}, "code_elsewhere", "open"),
        ({"codigo": "6831", "valor": "172.72"}, "overweight", "agrees"),
        ({"codigo": "5169", "valor": "5869.40"}, "doubled", "agrees"),
    ],
)
def test_point_of_a_notice(typed: dict[str, str], code: str, kind: str) -> None:
    assert (code, kind) in points(**typed)
