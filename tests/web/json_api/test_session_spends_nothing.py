"""With a session cookie only a user's GET of ``/api/v1/vehicles`` causes calls.

Browsers also send the cookie with prefetches, links of other sites and reloads. A request with a
token may always cause calls.
"""

import pytest

from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.in_process import InProcessPortal
from tests.web.json_paths import PLATE, issue, no_upstream_call
from tests.web.signed_in import visitor

VEHICLE = f"/api/v1/vehicles/{PLATE}"
PATHS = {VEHICLE: 3, **{f"{VEHICLE}/{name}": 1 for name in ("fines.csv", "prices.jsonl")}}
NOT_BY_A_USER: dict[str, dict[str, str]] = {
    "other site": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    "prefetch": {"Sec-Purpose": "prefetch"},
    "other site, reload": {"Sec-Fetch-Site": "cross-site", "Cache-Control": "no-cache"},
    "preview": {"User-Agent": "WhatsApp/2.23.20.0"},
}
NO_CACHE = {"Cache-Control": "no-cache"}


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


@pytest.mark.parametrize("sender", NOT_BY_A_USER)
@pytest.mark.parametrize("path", PATHS)
def test_session_without_a_user_reads_stored_answers_only(
    here: InProcessPortal, upstream: FaultUpstream, path: str, sender: str
) -> None:
    visitor(here)
    with no_upstream_call(upstream):
        missing = here.get(path, token=None, headers=NOT_BY_A_USER[sender])
    assert missing.status_code == (200 if path == VEHICLE else 504)
    assert here.get(path, token=None).status_code == 200  # the user's own request
    with no_upstream_call(upstream):
        found = here.get(path, token=None, headers=NOT_BY_A_USER[sender])
    assert found.status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_reload_with_a_session_is_no_refresh(
    here: InProcessPortal, upstream: FaultUpstream, path: str
) -> None:
    visitor(here)
    assert here.get(path, token=None).status_code == 200
    assert upstream.count() == PATHS[path]
    with no_upstream_call(upstream):
        assert here.get(path, token=None, headers=NO_CACHE).status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_session_spends_nothing_on_head_and_only_if_cached(
    here: InProcessPortal, upstream: FaultUpstream, path: str
) -> None:
    visitor(here)
    with no_upstream_call(upstream):
        here.client.head(path)
        here.get(path, token=None, headers={"Cache-Control": "only-if-cached"})


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("sender", NOT_BY_A_USER)
def test_token_asks_and_refreshes_whatever_the_browser_says(
    here: InProcessPortal, upstream: FaultUpstream, path: str, sender: str
) -> None:
    visitor(here)  # a cookie beside the token changes nothing
    token = issue(here, "script", frozenset({"decode", "renainf", "renajud", "refresh"}))
    headers = NOT_BY_A_USER[sender]
    assert here.get(path, token=token, headers=headers).status_code == 200
    assert upstream.count() == PATHS[path]
    assert here.get(path, token=token, headers=headers | NO_CACHE).status_code == 200
    assert upstream.count() == 2 * PATHS[path]
