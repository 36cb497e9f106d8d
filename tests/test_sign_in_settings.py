"""Settings of the sign-in of people: contradictions end the start with one line."""

import logging
from decimal import Decimal

import pytest

from portal.access.tokens import ISSUABLE_SCOPES
from portal.settings import Settings, SettingsError
from portal.startup import warn_of_settings
from portal.system.roles import GRANTABLE, parse_roles, scopes_of
from tests.fakes.in_process import PRICED, managed

MANAGED = managed("http://dados.example") | PRICED
PROVIDER = {
    "PORTAL_OIDC_ISSUER": "https://login.example/empresa",
    "PORTAL_OIDC_CLIENT_ID": "portal",
    "PORTAL_OIDC_CLIENT_SECRET": "hidden-client",
}
PROXY = {
    "PORTAL_SIGN_IN_HEADER": "Remote-User",
    "PORTAL_SIGN_IN_SECRET": "hidden-proxy",
    "PORTAL_TRUSTED_PROXIES": "1",
}
ROLES = "portal-admins=admin,decode; cn=vendas,ou=loja = decode , renainf;leitura=stored"


def read(*parts: dict[str, str], **named: str) -> Settings:
    environ = {name: text for part in parts for name, text in part.items()}
    return Settings.from_environment(
        environ | {f"PORTAL_{key}": text for key, text in named.items()}
    )


def test_both_sign_ins_are_read() -> None:
    settings = read(
        *(MANAGED, PROVIDER, PROXY),
        ROLES=ROLES,
        PERSON_DAILY_LIMIT="50",
        PERSON_MONTHLY_BUDGET="60,50",
        PURPOSES="Compra de veículo; Cobrança",
    )
    assert settings.oidc_issuer == "https://login.example/empresa"
    assert (settings.oidc_groups_claim, settings.sign_in_groups_header) == (
        *("groups", "Remote-Groups"),
    )
    assert dict(settings.roles) == {
        "portal-admins": {"admin", "decode"},
        "cn=vendas,ou=loja": {"decode", "renainf"},
        "leitura": {"stored"},
    }
    assert (settings.person_daily_limit, settings.person_monthly_budget) == (50, Decimal("60.50"))
    assert settings.purposes == ("Compra de veículo", "Cobrança")
    assert {"hidden-client", "hidden-proxy"} <= set(settings.secrets)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:9400", "http://localhost:1/a/", "https://a/"]
)
def test_issuer_is_kept_as_the_provider_writes_it(address: str) -> None:
    assert read(MANAGED, PROVIDER, OIDC_ISSUER=address).oidc_issuer == address


PASS_THROUGH = {"PORTAL_UPSTREAM_URL": "http://dados.example"}
CONTRADICTIONS = [
    *(
        ({**MANAGED, **{k: v for k, v in PROVIDER.items() if k != left_out}}, f"needs {left_out}")
        for left_out in PROVIDER
    ),
    (PROVIDER, "OIDC_ISSUER needs PORTAL_UPSTREAM_URL"),
    ({**PASS_THROUGH, **PROVIDER}, "OIDC_ISSUER needs PORTAL_UPSTREAM_URL"),
    (PROXY, "SIGN_IN_HEADER needs PORTAL_UPSTREAM_URL"),
    ({**PASS_THROUGH, **PROXY}, "SIGN_IN_HEADER needs PORTAL_UPSTREAM_URL"),
    ({**MANAGED, **PROXY, "PORTAL_TRUSTED_PROXIES": "0"}, "needs PORTAL_TRUSTED_PROXIES"),
    ({**MANAGED, "PORTAL_SIGN_IN_SECRET": "hidden"}, "SIGN_IN_SECRET needs PORTAL_SIGN_IN_HEADER"),
    ({**MANAGED, **PROXY, "PORTAL_SIGN_IN_GROUPS_HEADER": "remote-user"}, "GROUPS_HEADER makes no"),
    (managed("http://a") | {"PORTAL_PERSON_MONTHLY_BUDGET": "60"}, "needs PORTAL_PRICE_DECODE"),
    *(
        ({**MANAGED, **PROVIDER, f"PORTAL_{name}": text}, f"PORTAL_{name} makes no sense")
        for name, text in [
            ("OIDC_ISSUER", "http://login.example"),
            ("OIDC_ISSUER", "login.example"),
            ("OIDC_ISSUER", "https://user:pw@login.example"),
            ("OIDC_ISSUER", "https://login.example?a=b"),
            ("OIDC_CLIENT_ID", "a\nb"),
            ("ROLES", "admins"),
            ("ROLES", "admins="),
            ("ROLES", "=decode"),
            ("ROLES", "admins=decode,root"),
            ("ROLES", "a=decode; a=renainf"),
            ("ROLES", "a=stored,decode"),
            ("PURPOSES", "Compra; Compra"),
            ("PURPOSES", "x" * 121),
            ("PERSON_DAILY_LIMIT", "-1"),
            ("PERSON_MONTHLY_BUDGET", "much"),
        ]
    ),
    *(
        ({**MANAGED, **PROXY, f"PORTAL_{name}": text}, f"PORTAL_{name} makes no sense")
        for name in ("SIGN_IN_HEADER", "SIGN_IN_GROUPS_HEADER")
        for text in ("Authorization", "cookie", "X-Forwarded-For", "X-Sign-In-Secret", "a b", "a_b")
    ),
    ({**MANAGED, **PROXY, "PORTAL_SIGN_IN_SECRET": "with space"}, "SIGN_IN_SECRET makes no sense"),
]


@pytest.mark.parametrize(("environ", "message"), CONTRADICTIONS)
def test_contradiction_ends_the_start_with_one_line(environ: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message) as refused:
        Settings.from_environment(environ)
    assert "\n" not in str(refused.value)
    assert "hidden" not in str(refused.value)


def test_roles_grant_the_scopes_that_tokens_may_have() -> None:
    assert GRANTABLE == ISSUABLE_SCOPES


@pytest.mark.parametrize(
    ("groups", "scopes"),
    [
        ([], set()),
        (["estoque"], set()),
        (["Portal-Admins"], set()),  # another case is another group
        (["portal-admins"], {"admin", "decode"}),
        (["portal-admins", "cn=vendas,ou=loja"], {"admin", "decode", "renainf"}),
        (["leitura"], {"stored"}),
        (["leitura", "portal-admins"], {"admin", "decode"}),
    ],
)
def test_person_has_the_scopes_of_all_groups(groups: list[str], scopes: set[str]) -> None:
    assert scopes_of(groups, parse_roles(ROLES)) == scopes


def test_start_warns_of_a_header_that_anyone_can_write(caplog: pytest.LogCaptureFixture) -> None:
    def warnings(*parts: dict[str, str]) -> str:
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            warn_of_settings(read(MANAGED, *parts))
        return caplog.text

    roles = {"PORTAL_ROLES": ROLES}
    assert "SIGN_IN_SECRET" in warnings({**PROXY, "PORTAL_SIGN_IN_SECRET": ""}, roles)
    assert "PORTAL_ROLES" in warnings(PROXY)
    assert "PORTAL_ROLES" in warnings(PROVIDER)
    assert not {"SIGN_IN_SECRET", "PORTAL_ROLES"} & set(warnings(PROXY, roles).split())
