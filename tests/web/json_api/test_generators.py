"""What generators of clients make of the document, and what their clients send."""

import pytest

from portal.web.json_api.openapi import as_document
from tests.conftest import PortalFactory
from tests.fakes.in_process import PORTAL_TOKEN


def test_tags_are_ascii_names_with_a_word_for_people() -> None:
    document = as_document()
    tags = {tag["name"]: tag["x-displayName"] for tag in document["tags"]}
    for item in document["paths"].values():
        for method, operation in item.items():
            if method == "parameters":
                continue
            (tag,) = operation["tags"]
            assert tag.isascii() and tag.isalpha() and tag in tags
            assert (tag == "metodos") is (method in ("head", "options"))


@pytest.mark.parametrize(
    ("path", "has_hint"), [("/api/v1/usage", True), ("/detran/v1/decode/ABC1D23", False)]
)
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "Token"])
def test_scheme_before_the_token_has_a_hint(
    portal: PortalFactory, path: str, has_hint: bool, scheme: str
) -> None:
    """The contract's message is exact."""
    answer = portal().get(path, token=f"{scheme} {PORTAL_TOKEN}")
    assert answer.status_code == 401
    message = answer.get_json()["message"]
    assert message.startswith("Não autorizado.")
    assert ("sem “Bearer”" in message) is has_hint


def test_missing_token_has_no_hint(portal: PortalFactory) -> None:
    answer = portal().get("/api/v1/usage", token=None)
    assert answer.get_json() | {"request_id": ""} == {
        "message": "Não autorizado.",
        "code": "credential_missing",
        "request_id": "",
    }
