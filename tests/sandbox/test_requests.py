"""The checks before a vehicle's lookup: path, method, credential, body."""

import pytest

from portal.sandbox.exchange import Request
from tests.sandbox.requests import REPORT, message, post, sandbox_on

PLATE_MESSAGE = "Por favor, informe uma placa válida."


@pytest.mark.parametrize(
    ("query", "header", "status"),
    [
        ("", None, 401),
        ("", "demo", 200),
        ("at=demo", None, 200),
        ("x=1&at=demo&y=2", None, 200),
        ("at=demo", "demo", 200),
        ("at=demo", "other", 401),
        ("at=sem-acesso", "demo", 401),
        ("at=demo&at=demo", None, 401),
        ("at=", None, 401),
        ("", "", 401),
        ("", "Bearer demo", 401),
        ("", "demo,demo", 401),
        ("at=sem-acesso", None, 403),
        ("", "sem-acesso", 403),
    ],
)
def test_credential_is_one_token_in_query_or_header(
    query: str, header: str | None, status: int
) -> None:
    headers = {} if header is None else {"authorization": header}
    response = sandbox_on().handle(Request("GET", "/detran/v1/decode/ABC1D23", query, headers))
    assert response.status == status
    if status != 200:
        assert message(response) == {401: "Não autorizado.", 403: "Acesso negado!"}[status]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/detran/v1/decode", 404),
        ("GET", "/detran/v1/decode/ABC1D23/", 404),
        ("GET", "/detran/v2/decode/ABC1D23", 404),
        ("GET", "/detran/v1/restrictions/renajud/ABC1D23/MG", 404),
        ("POST", "/detran/v1/decode/ABC1D23", 405),
        ("HEAD", "/detran/v1/decode/ABC1D23", 405),
        ("OPTIONS", "/detran/v1/restrictions/renainf/ABC1D23", 405),
        ("GET", REPORT, 405),
    ],
)
def test_path_and_method_are_checked_before_the_credential(
    method: str, path: str, status: int
) -> None:
    response = sandbox_on().handle(Request(method, path))
    assert response.status == status
    assert message(response)
    if status == 405:
        assert response.headers["Allow"] == ("POST" if path == REPORT else "GET")


def test_credential_is_checked_before_plate_and_body() -> None:
    box = sandbox_on()
    assert box.handle(Request("GET", "/detran/v1/decode/nonsense")).status == 401
    assert box.handle(Request("POST", REPORT, body=b"x" * 300_000)).status == 401


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b'"ABC1D23"', 400),
        (b"\xff\xfe", 400),
        (b'{"plate": "ABC1D23", "data": NaN}', 400),
        (b"[" * 100_000, 400),
        ({"data": {}}, 400),
        ({"plate": 7, "data": {}}, 400),
        ({"plate": "ABC1D23"}, 400),
        ({"plate": "ABC1D23", "data": []}, 400),
        ({"plate": "ABC1D23", "data": None}, 400),
        ({"plate": "ABC1D23", "data": {}, "more": 1}, 200),
        ({"plate": "ABC1D23", "data": {"x": "y" * 262_144}}, 413),
    ],
)
def test_report_requires_an_object_with_plate_and_data(body: object, status: int) -> None:
    response = post(body)
    assert response.status == status
    if status != 200:
        assert message(response)


@pytest.mark.parametrize("plate", ["", "ABC", "79831854647", "ABC-1D23"])
def test_invalid_plate_in_a_report_gets_the_contracts_message(plate: str) -> None:
    response = post({"plate": plate, "data": {}})
    assert (response.status, message(response)) == (400, PLATE_MESSAGE)


@pytest.mark.parametrize(
    ("kind", "status"),
    [("application/json", 200), ("application/json; charset=utf-8", 200), ("text/plain", 415)],
)
def test_report_requires_a_json_content_type(kind: str, status: int) -> None:
    body = {"plate": "ABC1D23", "data": {}}
    assert post(body, **{"Content-Type": kind}).status == status
