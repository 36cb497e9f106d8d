"""``/api/v1/vehicles/{plate}/declared``: the lines, what is refused, and that nothing is asked."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from portal.access.tokens import SCOPES
from portal.law.checklist import LINES, UNVERIFIED
from portal.system.local_time import local_date
from tests import factories
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import Operation, path_of
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.json_paths import issue, no_upstream_call, tokens_of
from tests.web.person import Person

PATH = "/api/v1/vehicles/ABC1D23/declared"
THEFT = {
    "line": "roubo-e-furto",
    "state": "nothing",
    "amount": None,
    "what": "",
    "source": "Sinesp Cidadão",
    "on": "2026-11-20",
}


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


def put(here: InProcessPortal, *lines: Any, token: str = PORTAL_TOKEN, **more: Any) -> Any:
    return here.client.put(
        PATH, json={"lines": list(lines), **more}, headers={"Authorization": token}
    )


def answer(upstream: FaultUpstream, lookup: Operation, body: bytes) -> None:
    upstream.script(path_of(lookup, "ABC1D23"), faults.answer("application/json", body))


def lines_of(response: Any) -> dict[str, dict[str, Any]]:
    assert response.status_code == 200, response.data
    return {each["line"]: each for each in response.get_json()["lines"]}


def looked_up(here: InProcessPortal, plate: str = "ABC1D23") -> None:
    assert here.get(f"/api/v1/vehicles/{plate}").status_code == 200


def test_nothing_is_asked(here: InProcessPortal, upstream: FaultUpstream) -> None:
    with no_upstream_call(upstream):
        assert here.get(PATH).get_json()["open"] == len(LINES)
        assert put(here, THEFT).get_json()["open"] == len(LINES) - 1


def test_lines_come_from_records_and_declarations(here: InProcessPortal) -> None:
    looked_up(here)
    found = here.get(PATH).get_json()
    assert found["open"] == len(UNVERIFIED) and found["readable"] is True
    stored = lines_of(put(here, THEFT))
    assert stored["roubo-e-furto"] == {
        "line": "roubo-e-furto",
        "title": "Roubo e furto",
        "state": "nothing",
        "by": "declared",
        "contradicted": False,
        "amount": None,
        "what": None,
        "source": "Sinesp Cidadão",
        "on": "2026-11-20",
        "who": "token 1 da configuração",
        "recorded_at": None,
        "warned_by_report": False,
    }
    assert (stored["multas"]["by"], stored["justica"]["by"]) == ("record", "record")
    assert stored["justica"]["recorded_at"] is not None and stored["justica"]["who"] is None
    assert lines_of(here.get(PATH)) == stored
    document = here.get("/api/v1/vehicles/ABC1D23").get_json()
    assert document["declared"] == here.get(PATH).get_json()


def test_named_lines_are_replaced_and_others_stay(here: InProcessPortal) -> None:
    put(here, THEFT, {"line": "debitos", "state": "something", "amount": 1200.5})
    changed = lines_of(put(here, THEFT | {"state": "unchecked"}))
    assert changed["roubo-e-furto"]["by"] is None
    assert (changed["debitos"]["state"], changed["debitos"]["amount"]) == ("something", 1200.5)
    today = local_date(datetime.now(UTC)).isoformat()
    assert changed["debitos"]["on"] == today


@pytest.mark.parametrize("state", ["nothing", "something"])
@pytest.mark.parametrize("line", ["justica", "multas"])
def test_declaration_against_a_record_is_refused_and_nothing_is_stored(
    here: InProcessPortal, upstream: FaultUpstream, line: str, state: str
) -> None:
    other = state == "nothing"
    answer(upstream, "renainf", factories.renainf_body(*([factories.fine()] if other else [])))
    orders = [factories.restriction()] if other else []
    answer(upstream, "renajud", factories.renajud_body(*orders))
    looked_up(here)
    refused = put(here, THEFT, {"line": line, "state": state})
    assert refused.status_code == 409
    assert refused.get_json()["code"] == "contradicts_record"
    source = {"justica": "Renajud", "multas": "Renainf"}[line]
    assert f"({source})" in refused.get_json()["message"]
    assert lines_of(here.get(PATH))["roubo-e-furto"]["by"] is None


def test_record_that_comes_later_wins_and_says_so(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    answer(upstream, "renajud", factories.renajud_body(factories.restriction()))
    assert (
        lines_of(put(here, {"line": "justica", "state": "nothing"}))["justica"]["by"] == "declared"
    )
    looked_up(here)
    line = lines_of(here.get(PATH))["justica"]
    assert (line["by"], line["state"], line["contradicted"]) == ("record", "something", True)
    assert line["who"] is None


def test_something_is_a_reason_and_ends_the_ceiling(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    answer(upstream, "renainf", factories.renainf_body())
    answer(upstream, "renajud", factories.renajud_body())
    looked_up(here)
    before = here.get("/api/v1/vehicles/ABC1D23").get_json()
    assert before["price_summary"]["ceiling_base"] is not None
    put(here, {"line": "gravame", "state": "something", "what": "banco"})
    after = here.get("/api/v1/vehicles/ABC1D23").get_json()
    (reason,) = after["verdict"]["reasons"]
    assert (reason["code"], reason["source"], reason["about"]) == (
        *("declared_gravame", "declared", "declared"),
    )
    assert after["verdict"]["level"] == "caution"
    assert after["price_summary"]["ceiling_base"] is None


def test_another_owner_sees_nothing_and_another_token_of_the_owner_does(
    here: InProcessPortal,
) -> None:
    other = issue(here, "other")
    put(here, THEFT)
    assert here.get(PATH, token=other).get_json()["open"] == len(LINES)
    put(here, {"line": "recall", "state": "something"}, token=other)
    assert lines_of(here.get(PATH))["recall"]["by"] is None
    assert lines_of(here.get(PATH, token=other))["recall"]["who"] == "other"


def test_signed_in_page_and_token_share_the_declarations(here: InProcessPortal) -> None:
    put(here, THEFT)
    text = Person.at(here).signed_in().pages.get("/placa/ABC1D23/folha").text
    assert "declarado por token 1 da configuração em 20/11/2026, Sinesp Cidadão" in text


TOMORROW = (datetime.now(UTC) + timedelta(days=2)).date().isoformat()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "body_invalid"),
        ({"lines": {}}, "body_invalid"),
        ({"lines": ["x"]}, "body_invalid"),
        ({"lines": [{"line": "gravames", "state": "nothing"}]}, "body_invalid"),
        ({"lines": [{"line": ["gravame"], "state": "nothing"}]}, "body_invalid"),
        ({"lines": [{"line": "gravame"}]}, "body_invalid"),
        ({"lines": [{"line": "gravame", "state": "clean"}]}, "body_invalid"),
        ({"lines": [{"line": "gravame", "state": "nothing", "amount": 1}]}, "body_invalid"),
        ({"lines": [{"line": "gravame", "state": "something", "amount": -1}]}, "body_invalid"),
        ({"lines": [{"line": "gravame", "state": "something", "amount": "1"}]}, "body_invalid"),
        ({"lines": [{"line": "gravame", "state": "something", "amount": True}]}, "body_invalid"),
        ({"lines": [{"line": "gravame", "state": "nothing", "what": 1}]}, "body_invalid"),
        ({"lines": [{"line": "gravame", "state": "nothing", "what": "x" * 201}]}, "body_invalid"),
        ({"lines": [{"line": "gravame", "state": "nothing", "on": TOMORROW}]}, "body_invalid"),
        ({"lines": [{"line": "gravame", "state": "nothing", "on": "28/11/2026"}]}, "body_invalid"),
        ({"lines": [{"line": "gravame", "state": "nothing", "on": "20261127"}]}, "body_invalid"),
        ({"lines": [{"line": "gravame", "state": "nothing", "on": "2026-W47-1"}]}, "body_invalid"),
        ({"lines": [{"line": "gravame", "state": "nothing"}] * 2}, "body_invalid"),
        ({"lines": [], "extra": 1}, "parameter_unknown"),
        ({"lines": [{"line": "gravame", "state": "nothing", "who": "x"}]}, "parameter_unknown"),
    ],
)
def test_wrong_bodies_are_refused(here: InProcessPortal, body: object, code: str) -> None:
    headers = {"Authorization": PORTAL_TOKEN}
    response = here.client.put(PATH, json=body, headers=headers)
    assert (response.status_code, response.get_json()["code"]) == (400, code), response.data
    assert here.get(PATH).get_json()["open"] == len(LINES)


def test_put_needs_a_token_and_not_a_session(here: InProcessPortal) -> None:
    assert put(here, THEFT, token="").status_code == 401
    visitor = Person.at(here).signed_in()
    assert visitor.client.get(PATH).status_code == 200
    assert visitor.client.put(PATH, json={"lines": [THEFT]}).status_code == 401


def test_options_names_both_methods(here: InProcessPortal) -> None:
    allowed = here.client.options(PATH).headers["Allow"].split(", ")
    assert {"GET", "HEAD", "PUT", "OPTIONS"} <= set(allowed)


def test_texts_lose_what_cannot_be_shown(here: InProcessPortal) -> None:
    line = {"line": "gravame", "state": "something", "what": "a\u202eb\x00c\nd"}
    assert lines_of(put(here, line))["gravame"]["what"] == "abc d"


def test_declarations_outlive_a_rotation_of_the_secret_key(
    portal: PortalFactory, here: InProcessPortal
) -> None:
    put(here, THEFT)
    former = (here.settings.data_dir / "secret_key").read_text()
    rotated = portal(SECRET_KEY="ab" * 32, SECRET_KEYS_OLD=former)
    assert lines_of(rotated.get(PATH))["roubo-e-furto"]["by"] == "declared"


def test_token_that_replaces_another_finds_the_declarations(here: InProcessPortal) -> None:
    tokens = tokens_of(here)
    put(here, THEFT, token=tokens.issue("loja", SCOPES, None, 0))
    replacement = tokens.rotate("loja", 0)
    assert replacement is not None
    assert lines_of(here.get(PATH, token=replacement))["roubo-e-furto"]["who"] == "loja"
