"""Validation of the settings: one-line messages name the setting and hold no secret."""

import re
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path

import pytest

from portal import settings as settings_module
from portal.settings import Settings, SettingsError
from portal.system.caller_credentials import read_credential

SECRETS = {
    "UPSTREAM_TOKEN": "hidden-upstream",
    "ACCESS_TOKENS": "hidden-access",
    "REDIS_URL": "redis://:hidden-redis@host",
    "DATABASE_URL": "postgresql://ana:hidden-database@host/portal",
    "SECRET_KEY": "hidden-key",
    "SECRET_KEYS_OLD": "hidden-former-key",
    "METRICS_TOKEN": "hidden-metrics",
    "SMTP_URL": "smtps://ana:hidden-mail@host:465",
    "WEBHOOK_URL": "https://hook.example/hidden-path",
    "WEBHOOK_SECRET": "whsec_aGlkZGVuIHNlY3JldCBvZiBhIHdlYmhvb2shIQ==",
    "SIGNING_KEY_PASSWORD": "hidden-signing",
    "OIDC_CLIENT_SECRET": "hidden-client",
    "SIGN_IN_SECRET": "hidden-proxy",
}
# What the settings of secrets need beside them.
BESIDE_SECRETS = {
    "PORTAL_OIDC_ISSUER": "https://login.example",
    "PORTAL_OIDC_CLIENT_ID": "portal",
    "PORTAL_SIGN_IN_HEADER": "Remote-User",
    "PORTAL_TRUSTED_PROXIES": "1",
}
UPSTREAM = {"PORTAL_UPSTREAM_URL": "http://dados.example"}


def read(**named: str) -> Settings:
    return Settings.from_environment({f"PORTAL_{name}": text for name, text in named.items()})


def test_empty_environment_gives_demo_mode_with_defaults() -> None:
    settings = Settings.from_environment({"HOME": "/root", "PATH": "/bin"})
    assert settings.mode == "demo"
    assert (settings.workers, settings.deadline, settings.daily_call_limit) == (2, 15.0, 0)
    assert (settings.fresh_decode, settings.fresh_renainf, settings.fresh_renajud) == (
        *(86400, 21600, 3600),
    )
    assert (settings.stale_decode, settings.stale_renajud, settings.stale_report) == (
        *(604800, 21600, 0),
    )


def test_upstream_token_selects_managed_or_pass_through() -> None:
    assert read(UPSTREAM_URL="http://a", UPSTREAM_TOKEN="t").mode == "managed"
    assert read(UPSTREAM_URL="http://a").mode == "pass-through"


@pytest.mark.parametrize("name", ["ACCESS_TOKENS", "UPSTREAM_TOKEN", "METRICS_TOKEN"])
def test_token_longer_than_a_request_may_send_is_rejected(name: str) -> None:
    longest = "a" * 4096
    managed = {"UPSTREAM_URL": "http://a", "UPSTREAM_TOKEN": "t"}
    read(**managed | {name: longest})
    assert read_credential([longest], b"") == longest
    with pytest.raises(SettingsError, match=f"{name} makes no sense: a token is .* 4096 char"):
        read(**managed | {name: longest + "a"})


def test_numeric_token_remains_text() -> None:
    """Flask's ``from_prefixed_env`` would convert the token to a number."""
    settings = read(UPSTREAM_URL="http://a", UPSTREAM_TOKEN="12345678", ACCESS_TOKENS="007, 1e3")
    assert settings.upstream_token == "12345678"
    assert settings.access_tokens == ("007", "1e3")


def test_empty_value_means_default() -> None:
    assert read(UPSTREAM_URL="", UPSTREAM_TOKEN="", WORKERS=" ").mode == "demo"


def test_price_is_exact_and_accepts_decimal_comma() -> None:
    assert read(PRICE_DECODE="0,305").price_decode == Decimal("0.305")


def test_budget_may_be_that_of_a_large_company() -> None:
    prices = {f"PRICE_{name}": "1" for name in ("DECODE", "RENAINF", "RENAJUD", "REPORT")}
    assert read(MONTHLY_BUDGET="1250000,50", **prices).monthly_budget == Decimal("1250000.50")


def test_relative_data_dir_is_relative_to_home(tmp_path: Path) -> None:
    environ = {**UPSTREAM, "PORTAL_DATA_DIR": "data"}
    assert Settings.from_environment(environ, tmp_path).data_dir == tmp_path / "data"
    absolute = {**UPSTREAM, "PORTAL_DATA_DIR": "/var/lib/portal"}
    assert Settings.from_environment(absolute, tmp_path).data_dir == Path("/var/lib/portal")


def test_demo_mode_uses_subdirectory_of_data_dir() -> None:
    demo = read(DATA_DIR="/var/lib/portal")
    assert demo.data_dir == Path("/var/lib/portal/demo")
    assert demo.upstreams_data_dir == Path("/var/lib/portal")
    managed = read(DATA_DIR="/var/lib/portal/demo", UPSTREAM_URL="http://a", UPSTREAM_TOKEN="t")
    assert managed.data_dir == Path("/var/lib/portal/demo")
    assert managed.upstreams_data_dir is None


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://Dados.Example", "dados.example:80"),
        ("https://dados.example/", "dados.example:443"),
        ("https://DADOS.example:443//", "dados.example:443"),
        ("http://dados.example:8080/Base/v1/", "dados.example:8080/Base/v1"),
        ("http://[2001:DB8::1]/a", "[2001:db8::1]:80/a"),
    ],
)
def test_namespace_defaults_to_the_normalised_address(url: str, name: str) -> None:
    assert read(UPSTREAM_URL=url).namespace == f"upstream:{name}"


def test_upstream_name_sets_namespace_for_any_address() -> None:
    def named(url: str, name: str) -> str:
        return read(UPSTREAM_URL=url, UPSTREAM_NAME=name).namespace

    assert named("http://a", "produção") == named("https://b:1/c", "produção")
    assert named("http://a", "a:80") == read(UPSTREAM_URL="http://a").namespace
    assert named("http://a", "demo") != read().namespace == "demo"


@pytest.mark.parametrize("name", ["a\nb", "x" * 201, "\0"])
def test_invalid_upstream_name_is_rejected(name: str) -> None:
    with pytest.raises(SettingsError, match=r"^PORTAL_UPSTREAM_NAME makes no sense: .+$"):
        read(UPSTREAM_URL="http://a", UPSTREAM_NAME=name)


def test_access_tokens_in_pass_through_mode_are_rejected() -> None:
    """Without an upstream token, callers' access tokens would be sent upstream."""
    with pytest.raises(SettingsError, match=r"^PORTAL_ACCESS_TOKENS needs PORTAL_UPSTREAM_TOKEN"):
        read(UPSTREAM_URL="http://a", ACCESS_TOKENS="secret-token")
    with pytest.raises(SettingsError, match=r"^PORTAL_ACCESS_TOKENS needs PORTAL_UPSTREAM_TOKEN"):
        read(UPSTREAM_URL="http://a", ACCESS_TOKENS="secret-token", UPSTREAM_TOKEN=" ")
    assert read(ACCESS_TOKENS="secret-token").access_tokens == ("secret-token",)


@pytest.mark.parametrize(
    "url", ["http://host", "https://host:8443/base", "http://[::1]:80", "http://127.0.0.1:9000/a/b"]
)
def test_base_address_accepts_port_and_path(url: str) -> None:
    assert read(UPSTREAM_URL=url + "/").upstream_url == url


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("UPSTREAM_URL", "dados.example"),
        ("UPSTREAM_URL", "ftp://dados.example"),
        ("UPSTREAM_URL", "http://"),
        ("UPSTREAM_URL", "http://a:99999"),
        ("UPSTREAM_URL", "http://user:pw@a"),
        ("UPSTREAM_URL", "http://a?at=secret"),
        ("UPSTREAM_TOKEN", "with space"),
        ("UPSTREAM_TOKEN", "ção"),
        ("METRICS_TOKEN", "a,b"),
        ("LOG_FORMAT", "xml"),
        ("LOG_FORMAT", "TEXT"),
        ("WORKERS", "0"),
        ("WORKERS", "two"),
        ("WORKERS", "2.5"),
        ("FRESH_DECODE", "-1"),
        ("FRESH_DECODE", "1h"),
        ("DEADLINE", "0"),
        ("DEADLINE", "nan"),
        ("DEADLINE", "inf"),
        ("CONNECT_TIMEOUT", "1e9"),
        ("DAILY_CALL_LIMIT", "-5"),
        ("PRICE_DECODE", "free"),
        ("MONTHLY_BUDGET", "1.000.000"),
        ("MONTHLY_BUDGET", "-1"),
        ("PRICE_DECODE", "-0.30"),
        ("PRICE_DECODE", "NaN"),
        ("PRICE_DECODE", "1_000"),
        ("PRICE_DECODE", "٣"),
        ("PRICE_DECODE", "0.3333333333333333333333"),  # too long for the ledger's price column
        ("MASK_NAMES", "perhaps"),
        ("REDIS_URL", "localhost:6379"),
        ("DATABASE_URL", "mysql://a"),
        ("RATE_LIMIT_TOKEN", "often"),
        ("RATE_LIMIT_TOKEN", "0/second"),
        ("RATE_LIMIT_ADDRESS", "5/minute;0/day"),
        ("TRUSTED_PROXIES", "11"),
        ("UPSTREAM_SPARES", "5"),
        ("EDGE_MEMORY_MB", "lots"),
    ],
)
def test_invalid_value_is_rejected_by_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment({**UPSTREAM, f"PORTAL_{name}": value})
    assert f"PORTAL_{name}" in str(caught.value)
    assert "\n" not in str(caught.value)
    if "TOKEN" in name:
        assert value not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("WORKER", "WORKERS"),
        ("UPSTREAM_TOKENS", "UPSTREAM_TOKEN"),
        ("TRUSTED_PROXY", "TRUSTED_PROXIES"),
        ("SIGNIN_SECRET", "SIGN_IN_SECRET"),
        ("SIGN_IN_SECRET_FIL", "SIGN_IN_SECRET_FILE"),
    ],
)
def test_unknown_name_is_rejected_with_the_nearest_name(name: str, meant: str) -> None:
    message = f"^PORTAL_{name} is not a setting of the portal: did you mean PORTAL_{meant}\\?$"
    with pytest.raises(SettingsError, match=message):
        read(**{name: "hush"})


def test_unknown_name_like_no_other_is_rejected_alone() -> None:
    with pytest.raises(SettingsError, match=r"^PORTAL_COLOUR is not a setting of the portal$"):
        read(COLOUR="blue")


def test_unknown_name_is_rejected() -> None:
    with pytest.raises(SettingsError, match="PORTAL_UPSTREAM_ADDRESS is not a setting"):
        read(UPSTREAM_ADDRESS="http://a")


@pytest.mark.parametrize("name", ["UPSTREAM_SECONDARY_URL", "UPSTREAM_TOKEN", "UPSTREAM_NAME"])
def test_upstream_settings_require_upstream_url(name: str) -> None:
    with pytest.raises(SettingsError, match="needs PORTAL_UPSTREAM_URL"):
        read(**{name: "http://a"})


def test_redis_url_requires_secret_key() -> None:
    with pytest.raises(SettingsError, match="PORTAL_SECRET_KEY must be set"):
        read(REDIS_URL="redis://localhost")
    assert read(REDIS_URL="redis://localhost", SECRET_KEY="x").secret_key == "x"


SQLITE_ADDRESSES = [
    "sqlite://",  # in memory, so each process would have its own database
    "sqlite:///",
    "sqlite:///:memory:",
    "sqlite:///kept.sqlite?mode=memory&uri=true",
    "sqlite://host/kept.sqlite",
    "sqlite:kept.sqlite",
    "sqlite+aiosqlite:///kept.sqlite",
]
POSTGRESQL_ADDRESSES = [
    "postgresql:",
    "postgresql://",
    "postgresql://host",
    "postgresql://ana:hush-hush@host/",
    "postgresql://ana:hush-hush@host/a/b",
    "postgresqlx://ana:hush-hush@host/portal",
    "postgresql+psycopg2://ana:hush-hush@host/portal",
    "postgresql+asyncpg://ana:hush-hush@host/portal",
    "postgres://ana:hush-hush@host/portal",
    "postgresql://ana:hush-hush@host:port/portal",
    "postgresql://ana:hush-hush@host:99999/portal",
    "postgresql://ana:hush@-hush@host/portal",  # the host would be "-hush@host"
    "postgresql://ana:hush/-hush@host/portal",
    "postgresql://ana:hush?-hush@host/portal",
    "postgresql://ana:hush#-hush@host/portal",
    "postgresql://ana:hush:-hush/@host/portal",
    "postgresql://[ana:hush-hush@host/portal",
]
REDIS_ADDRESSES = [
    "redis://:hush-hush@host/first",
    "redis://:hush-hush@host/0/1",
    "redis://:hush-hush@host:port/0",
    "redis://:hush-hush@host:0/0",
    "redis://:hush/hush@host/0",
    "redis://:hush-hush@host/0?unknown=1",
    "redis://:hush-hush@host/0?socket_timeout=long",
]


@pytest.mark.parametrize(
    ("name", "address"),
    [("DATABASE_URL", each) for each in SQLITE_ADDRESSES + POSTGRESQL_ADDRESSES]
    + [("REDIS_URL", each) for each in REDIS_ADDRESSES],
)
def test_invalid_address_is_rejected_without_its_password(name: str, address: str) -> None:
    with pytest.raises(SettingsError, match=f"^PORTAL_{name} makes no sense: .+$") as caught:
        read(**{name: address, "SECRET_KEY": "x"})
    assert "hush" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ana:hush%40hush@db.example:5432/portal?sslmode=require",
        "postgresql+psycopg://db.example/portal",
        "postgresql://[::1]/portal",
        "postgresql:///portal?host=/run/postgresql",
        "sqlite:////var/lib/portal.sqlite",
    ],
)
def test_valid_database_url_is_kept_unchanged(address: str) -> None:
    assert read(DATABASE_URL=address).database_url == address


@pytest.mark.parametrize(
    "address",
    [
        "redis://cache.example",
        "redis://:hush@cache.example:6380/3",
        "rediss://ana:hush@cache.example/0?ssl_cert_reqs=required",
        "unix:///run/redis.sock?db=2",
    ],
)
def test_valid_redis_url_is_kept_unchanged(address: str) -> None:
    assert read(REDIS_URL=address, SECRET_KEY="x").redis_url == address


def test_relative_sqlite_file_becomes_absolute(tmp_path: Path) -> None:
    environ = {"PORTAL_DATABASE_URL": "sqlite:///kept/portal.sqlite"}
    settings = Settings.from_environment(environ, tmp_path)
    assert settings.database_url == f"sqlite:///{tmp_path}/kept/portal.sqlite"


@pytest.mark.parametrize(
    ("name", "package", "address"),
    [
        ("DATABASE_URL", "psycopg", "postgresql://host/portal"),
        ("REDIS_URL", "redis", "redis://host"),
    ],
)
def test_missing_optional_package_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str, address: str
) -> None:
    monkeypatch.setattr(
        settings_module, "find_spec", lambda asked: None if asked == package else find_spec(asked)
    )
    file = "requirements-oidc.txt" if name == "OIDC_ISSUER" else "requirements.txt"
    message = rf"PORTAL_{name} needs the packages of {file}, .* \({package}\)"
    with pytest.raises(SettingsError, match=message):
        read(**{name: address, "SECRET_KEY": "x"})


def test_passwords_in_addresses_are_secrets() -> None:
    settings = read(
        DATABASE_URL="postgresql://ana:hush%40one@host/portal",
        REDIS_URL="redis://:hush-two@host",
        SECRET_KEY="hush-three",
    )
    assert {"hush@one", "hush%40one", "hush-two", "hush-three"} <= set(settings.secrets)
    assert "" not in settings.secrets


@pytest.mark.parametrize("name", list(SECRETS))
def test_secret_may_come_from_file_and_is_redacted(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text(SECRETS[name])
    others = {f"PORTAL_{each}": text for each, text in SECRETS.items() if each != name}
    plain = {**UPSTREAM, "PORTAL_MAIL_FROM": "portal@example.com"}
    key = {"PORTAL_SIGNING_KEY_FILE": "key.p12"}
    environ = {**plain, **key, **BESIDE_SECRETS, **others, f"PORTAL_{name}_FILE": "secret"}
    settings = Settings.from_environment(environ, tmp_path)
    assert SECRETS[name] in settings.secrets


def test_every_setting_whose_name_tells_a_secret_is_listed() -> None:
    telling = re.compile("token|secret|password|key|redis|database|smtp|webhook_url")
    named = {name.upper() for name in Settings.__struct_fields__ if telling.search(name)}
    assert named - {"RATE_LIMIT_TOKEN", "SIGNING_KEY_FILE"} == SECRETS.keys()


def test_issuer_is_read_as_it_is_printed(tmp_path: Path) -> None:
    (tmp_path / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    issuer = {
        "PORTAL_ISSUER_NAME": "Loja Central",
        "PORTAL_ISSUER_DOCUMENT": "11222333000181",
        "PORTAL_ISSUER_CONTACT": "(11) 5555-0100",
        "PORTAL_ISSUER_LOGO": "logo.svg",
    }
    settings = Settings.from_environment(issuer, tmp_path)
    assert settings.issuer_document == "CNPJ 11.222.333/0001-81"
    assert settings.issuer_logo is not None
    assert settings.issuer_logo.startswith("data:image/svg+xml;base64,")
    assert (settings.issuer_name, settings.dossier_days) == ("Loja Central", 30)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ISSUER_NAME", "a\nb"),
        ("ISSUER_NAME", "x" * 121),
        ("ISSUER_DOCUMENT", "11222333000182"),
        ("ISSUER_CONTACT", "a\0"),
        ("ISSUER_LOGO", "/nonexistent/logo.png"),
        ("DOSSIER_DAYS", "0"),
        ("DOSSIER_DAYS", "367"),
        ("DOSSIER_DAYS", "x"),
    ],
)
def test_invalid_issuer_or_lifetime_is_one_line(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=rf"^PORTAL_{name} makes no sense: .+$") as refused:
        read(**{"ISSUER_NAME": "Loja", name: value})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["ISSUER_DOCUMENT", "ISSUER_CONTACT"])
def test_issuer_without_a_name_is_rejected(name: str) -> None:
    with pytest.raises(SettingsError, match=f"^PORTAL_{name} needs PORTAL_ISSUER_NAME beside it$"):
        read(**{name: "52998224725"})


@pytest.mark.parametrize(
    "address", ["tsa.example", "ftp://tsa", "https://ana:hush@tsa/", "http://"]
)
def test_address_of_an_authority_is_checked(address: str) -> None:
    with pytest.raises(SettingsError, match="PORTAL_SIGNING_TSA_URL makes no sense") as raised:
        read(SIGNING_KEY_FILE="key.p12", SIGNING_TSA_URL=address)
    assert "hush" not in str(raised.value)


def test_signing_key_is_relative_to_the_portal(tmp_path: Path) -> None:
    settings = Settings.from_environment({"PORTAL_SIGNING_KEY_FILE": "key.p12"}, tmp_path)
    assert settings.signing_key_file == tmp_path / "key.p12"
    assert (settings.signing_tsa_url, settings.dossier_proof_years) == (None, 5)


WEBHOOK = {"WEBHOOK_SECRET": SECRETS["WEBHOOK_SECRET"], "WEBHOOK_URL": "https://hook.example/a"}


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"WEBHOOK_URL": "http://127.0.0.1:9611/a"}, "WEBHOOK_URL makes no sense: .*https://"),
        ({"WEBHOOK_URL": "http://hook.example/a"}, "WEBHOOK_URL makes no sense: .*https://"),
        ({"WEBHOOK_URL": "ftp://hook.example/a"}, "WEBHOOK_URL makes no sense: .*https://"),
        ({"WEBHOOK_URL": "https://127.0.0.1/a"}, "WEBHOOK_URL makes no sense: .*not public"),
        ({"WEBHOOK_URL": "https://[fd00::1]/a"}, "WEBHOOK_URL makes no sense: .*not public"),
        ({"WEBHOOK_URL": "https://localhost/a"}, "WEBHOOK_URL makes no sense: .*not public"),
        ({"WEBHOOK_URL": "hook.example/a"}, "WEBHOOK_URL makes no sense: it is no URL"),
        ({"WEBHOOK_URL": "https://u@hook.example/a"}, "WEBHOOK_URL makes no sense: .*a user"),
        ({"WEBHOOK_HOSTS": "hooks.internal"}, "WEBHOOK_URL makes no sense: .*WEBHOOK_HOSTS"),
        *(
            ({"WEBHOOK_HOSTS": hosts}, "WEBHOOK_HOSTS makes no sense: host names alone")
            for hosts in (
                *("127.0.0.1:9611", "http://127.0.0.1", "hook.example, https://a.example"),
                *("hook.example/a", "hook.example:443", "*.example", "[::1]", "a b"),
            )
        ),
    ],
)
def test_webhook_that_is_never_delivered_is_refused(named: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=f"^PORTAL_{message}") as raised:
        read(**WEBHOOK | named)
    assert "hook.example" not in str(raised.value) and "/a" not in str(raised.value)


@pytest.mark.parametrize(
    ("hosts", "url"),
    [
        ("", "https://hook.example:8443/a?b=1"),
        ("", "https://8.8.8.8/a"),
        ("127.0.0.1, Hooks.Internal", "http://127.0.0.1:9611/a"),
        ("127.0.0.1, Hooks.Internal", "http://hooks.internal/a"),
        ("::1", "http://[::1]:80/a"),
        ("hooks_1.internal.,localhost", "https://localhost/a"),
    ],
)
def test_webhook_that_can_be_delivered_is_read(hosts: str, url: str) -> None:
    assert read(**WEBHOOK | {"WEBHOOK_HOSTS": hosts, "WEBHOOK_URL": url}).webhook_url == url
