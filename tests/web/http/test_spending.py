"""What a request may spend, by its headers, its parameters and its sender."""

from typing import Any

import pytest
from flask import Flask

from portal.access.tokens import Identity
from portal.gateway.lookup import Spend
from portal.web.http.spending import call_spend, first_spend, header_spend, page_spend

APP = Flask(__name__)
ALL = Identity("ana", "d", "o", frozenset({"decode", "refresh"}))
NARROW = Identity("bia", "d", "o", frozenset({"decode"}))
BOT = {"User-Agent": "Googlebot/2.1"}
ELSEWHERE = {"Sec-Fetch-Site": "cross-site"}
PREFETCH = {"Sec-Purpose": "prefetch"}


@pytest.mark.parametrize(
    ("request_", "first", "whole"),
    [
        ({}, Spend.LATER, Spend.ASKED),
        ({"query_string": "completo=1"}, Spend.ASKED, Spend.ASKED),
        ({"query_string": "completo=0"}, Spend.LATER, Spend.ASKED),
        *(
            ({"headers": headers, "query_string": query}, Spend.NEVER, Spend.NEVER)
            for headers in (BOT, ELSEWHERE, PREFETCH)
            for query in ("", "completo=1")
        ),
        ({"method": "HEAD"}, Spend.NEVER, Spend.NEVER),
    ],
)
def test_page_spends_only_for_a_user(request_: dict[str, Any], first: Spend, whole: Spend) -> None:
    with APP.test_request_context("/placa/ABC1D23", **request_):
        assert (first_spend(), page_spend()) == (first, whole)


@pytest.mark.parametrize(
    ("header", "identity", "spend"),
    [
        (None, ALL, Spend.ASKED),
        ("max-age=0", ALL, Spend.ASKED),
        ("no-cache", ALL, Spend.AGAIN),
        ("no-cache", NARROW, Spend.ASKED),
        ("No-Cache, only-if-cached", ALL, Spend.LATER),
        ("only-if-cached", NARROW, Spend.LATER),
    ],
)
def test_cache_control_of_a_json_request(
    header: str | None, identity: Identity, spend: Spend
) -> None:
    headers = {} if header is None else {"Cache-Control": header}
    with APP.test_request_context("/", headers=headers):
        assert header_spend(identity) is spend
    with APP.test_request_context("/", headers=headers, method="HEAD"):
        assert header_spend(identity) is Spend.LATER


@pytest.mark.parametrize(
    ("headers", "by_session", "is_cached", "spend"),
    [
        ({}, False, False, Spend.ASKED),
        ({}, False, True, Spend.LATER),
        ({"Cache-Control": "no-cache"}, False, False, Spend.AGAIN),
        ({"Cache-Control": "no-cache"}, False, True, Spend.LATER),
        ({"Cache-Control": "no-cache"}, True, False, Spend.ASKED),
        ({"Cache-Control": "only-if-cached"}, True, False, Spend.LATER),
        (ELSEWHERE, True, False, Spend.NEVER),
        (ELSEWHERE | {"Cache-Control": "no-cache"}, True, False, Spend.NEVER),
        (ELSEWHERE, False, False, Spend.ASKED),
    ],
)
def test_call_of_a_session_spends_as_a_page(
    headers: dict[str, str], by_session: bool, is_cached: bool, spend: Spend
) -> None:
    with APP.test_request_context("/", headers=headers):
        assert call_spend(ALL, by_session=by_session, is_cached=is_cached) is spend
