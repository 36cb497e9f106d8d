"""Nonsense is refused at the start, in one line that names the setting and never its secret."""

from decimal import Decimal
from pathlib import Path

import pytest

from portal.settings import Settings, SettingsError

UPSTREAM = {"PORTAL_UPSTREAM_URL": "http://dados.example"}


def read(**named: str) -> Settings:
    return Settings.from_environment({f"PORTAL_{name}": text for name, text in named.items()})


def test_nothing_set_is_the_demonstration_with_the_documented_defaults():
    settings = Settings.from_environment({"HOME": "/root", "PATH": "/bin"})
    assert settings.mode == "demo"
    assert (settings.workers, settings.deadline, settings.daily_call_limit) == (2, 15.0, 0)
    assert (settings.fresh_decode, settings.fresh_renainf, settings.fresh_renajud) == (
        *(86400, 21600, 3600),
    )
    assert (settings.stale_decode, settings.stale_renajud, settings.stale_report) == (
        *(604800, 21600, 0),
    )


def test_a_token_makes_it_managed_and_its_absence_pass_through():
    assert read(UPSTREAM_URL="http://a", UPSTREAM_TOKEN="t").mode == "managed"
    assert read(UPSTREAM_URL="http://a").mode == "pass-through"


def test_a_token_of_digits_stays_text():
    """from_prefixed_env of Flask turned it into a number."""
    settings = read(UPSTREAM_URL="http://a", UPSTREAM_TOKEN="12345678", ACCESS_TOKENS="007, 1e3")
    assert settings.upstream_token == "12345678"
    assert settings.access_tokens == ("007", "1e3")


def test_an_empty_value_is_none():
    assert read(UPSTREAM_URL="", UPSTREAM_TOKEN="", WORKERS=" ").mode == "demo"


def test_prices_are_exact_and_a_comma_is_understood():
    assert read(PRICE_DECODE="0,305").price_decode == Decimal("0.305")


def test_a_relative_data_directory_is_relative_to_the_program(tmp_path):
    settings = Settings.from_environment({"PORTAL_DATA_DIR": "data"}, tmp_path)
    assert settings.data_dir == tmp_path / "data"
    assert read(DATA_DIR="/var/lib/portal").data_dir == Path("/var/lib/portal")


@pytest.mark.parametrize(
    "url", ["http://host", "https://host:8443/base", "http://[::1]:80", "http://127.0.0.1:9000/a/b"]
)
def test_a_base_address_may_have_a_port_and_a_path(url):
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
        ("PRICE_DECODE", "-0.30"),
        ("PRICE_DECODE", "NaN"),
        ("MASK_NAMES", "perhaps"),
        ("REDIS_URL", "localhost:6379"),
        ("DATABASE_URL", "mysql://a"),
        ("RATE_LIMIT_TOKEN", "often"),
        ("TRUSTED_PROXIES", "11"),
        ("EDGE_MEMORY_MB", "lots"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_by_name(name, value):
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment({**UPSTREAM, f"PORTAL_{name}": value})
    assert f"PORTAL_{name}" in str(caught.value)
    assert "\n" not in str(caught.value)
    if "TOKEN" in name:
        assert value not in str(caught.value)


def test_an_unknown_name_is_refused():
    with pytest.raises(SettingsError, match="PORTAL_UPSTREAM_ADDRESS is not a setting"):
        read(UPSTREAM_ADDRESS="http://a")


@pytest.mark.parametrize("name", ["UPSTREAM_SECONDARY_URL", "UPSTREAM_TOKEN"])
def test_what_needs_an_upstream_is_refused_without_one(name):
    with pytest.raises(SettingsError, match="needs PORTAL_UPSTREAM_URL"):
        read(**{name: "http://a"})


def test_portals_that_share_a_redis_share_a_secret():
    with pytest.raises(SettingsError, match="PORTAL_SECRET_KEY must be set"):
        read(REDIS_URL="redis://localhost")
    assert read(REDIS_URL="redis://localhost", SECRET_KEY="x").secret_key == "x"
