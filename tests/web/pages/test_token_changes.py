"""The operator changes a token, and replaces it, without loss of what its holder has stored."""

from decimal import Decimal

import pytest

from portal.access.tokens import RefusedToken, digest
from tests.conftest import PortalFactory
from tests.fakes.in_process import PRICED, InProcessPortal, managed
from tests.web.page_client import Page, PageClient
from tests.web.signed_in import visitor


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    made = portal({**managed("http://127.0.0.1:9"), **PRICED})
    made.parts.tokens.issue("ana", frozenset({"decode"}), 86_400.0, 7)
    return made


@pytest.fixture
def boss(here: InProcessPortal) -> PageClient:
    return visitor(here)


def fields(page: Page, **typed: object) -> dict[str, object]:
    return {"csrf_token": page.csrf_token(), **typed}


def test_token_is_changed(here: InProcessPortal, boss: PageClient) -> None:
    form = boss.get("/operacao/tokens/ana/mudar")
    assert "vence em" in form.text
    (before,) = here.parts.tokens.listed()
    data = fields(form, permissao=["decode", "renainf"], dias="", limite="9", orcamento="60,50")
    boss.post("/operacao/tokens/ana/mudar", data=data)
    (after,) = here.parts.tokens.listed()
    assert (sorted(after.scopes), after.daily_limit) == (["decode", "renainf"], 9)
    assert after.monthly_budget == Decimal("60.50")
    assert (after.owner, after.expires_at) == (before.owner, before.expires_at)
    assert "ana mudou" in boss.get("/operacao").text


@pytest.mark.parametrize(
    "typed",
    [
        {"permissao": []},
        {"permissao": ["stored", "decode"]},
        {"dias": "x"},
        {"limite": "-1"},
        {"orcamento": "muito"},
    ],
)
def test_wrong_terms_change_nothing(
    here: InProcessPortal, boss: PageClient, typed: dict[str, object]
) -> None:
    form, before = boss.get("/operacao/tokens/ana/mudar"), here.parts.tokens.listed()
    data = fields(form, **{"permissao": ["renainf"], "dias": "1", **typed})
    boss.post("/operacao/tokens/ana/mudar", 400, data=data)
    assert here.parts.tokens.listed() == before


def test_token_is_replaced_at_once_or_after_hours(here: InProcessPortal, boss: PageClient) -> None:
    form = boss.get("/operacao/tokens/ana/mudar")
    owner = here.parts.tokens.listed()[0].owner
    shown = ""
    for hours in ("24", "0"):
        page = boss.post("/operacao/tokens/ana/trocar", 200, data=fields(form, horas=hours))
        assert isinstance(page, Page)
        shown = str(page.by_id("link").text)
    assert all(each.owner == owner for each in here.parts.tokens.listed())
    assert len(here.parts.tokens.listed()) == 3
    second = next(line for line in shown.splitlines() if len(line) == 43)
    assert here.parts.tokens.identify(digest(second)).name == "ana"
    for hours in ("", "721", "-1"):
        boss.post("/operacao/tokens/ana/trocar", 400, data=fields(form, horas=hours))


def test_replaced_token_without_overlap_is_refused(here: InProcessPortal, boss: PageClient) -> None:
    token = here.parts.tokens.issue("bia", frozenset({"decode"}), None, 0)
    form = boss.get("/operacao/tokens/bia/mudar")
    boss.post("/operacao/tokens/bia/trocar", 200, data=fields(form, horas="0"))
    with pytest.raises(RefusedToken):
        here.parts.tokens.identify(digest(token))


def test_only_tokens_of_the_operator_are_changed(here: InProcessPortal, boss: PageClient) -> None:
    here.parts.tokens.issue("planilha", frozenset({"decode"}), None, 0, person="f" * 64)
    for name in ("planilha", "nenhum", "ana%231", "a b"):
        boss.get(f"/operacao/tokens/{name}/mudar", 404)
    text = boss.get("/operacao").html
    assert "/operacao/tokens/ana/mudar" in text
    assert "/operacao/tokens/planilha/mudar" not in text
    assert here.client.post("/operacao/tokens/ana/trocar").status_code == 400
