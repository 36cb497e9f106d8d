"""What ``flask doctor`` says of what it has measured."""

from dataclasses import replace
from typing import Any, Final

import pytest

from portal.presentation.operations.checkup import checked
from portal.system.checkup import Facts, Reached, is_well, lines_of
from portal.system.sight import ClockSeen, ForwardedSeen, Sight, SignInRefusal, SignInSeen

NOW: Final = 1_790_000_000.0
WELL: Final = Facts(
    now=NOW,
    mode="managed",
    deadline=15.0,
    connect_timeout=2.0,
    first_byte_timeout=8.0,
    short_tokens=0,
    secret_key_length=64,
    unpriced=(),
    spends_without_limit=False,
    trusted_proxies=1,
    workers=2,
    processors=2,
    audit_days=365,
    has_controller=True,
    signs_people_in=True,
    has_roles=True,
    has_sign_in_header=True,
    lacks_sign_in_secret=False,
    provider_error="",
    mail_error="",
    has_webhook=True,
    database_error="",
    revision="0022",
    revision_needed="0022",
    redis_error="",
    key="reads",
    key_mode=0o600,
    data_dir="/var/lib/portal",
    data_error="",
    data_mode=0o700,
    free=50 * 10**9,
    share=0.5,
    open_files=65_536,
    open_files_full=8000,
    open_files_least=300,
    pdf_error="",
    zone_error="",
    sight=Sight(ForwardedSeen(NOW, 1, "https", "portal.example"), ClockSeen(NOW, 0.4)),
    origins=(Reached("primary", "", 90), Reached("secondary", "", 90)),
)


def seen(hops: int = 1, proto: str = "https", ahead_s: float = 0.0, ago_s: float = 0.0) -> Sight:
    at = NOW - ago_s
    return Sight(ForwardedSeen(at, hops, proto, ""), ClockSeen(at, ahead_s))


def refused(why: SignInRefusal, ago_s: float = 60.0) -> Sight:
    return Sight(sign_in=SignInSeen(NOW - ago_s, why))


# By name: what is changed, the line that names it, and a part of its mend.
WRONG: Final[dict[str, tuple[dict[str, Any], str, str]]] = {
    "no role": ({"has_roles": False}, "sign-in", "PORTAL_ROLES"),
    "header that anyone writes": (
        *({"lacks_sign_in_secret": True}, "sign-in", "PORTAL_SIGN_IN_SECRET"),
    ),
    "other sign-in secret": ({"sight": refused("other secret")}, "sign-in", "letter by letter"),
    "no sign-in secret": ({"sight": refused("no secret")}, "sign-in", "X-Sign-In-Secret"),
    "sign-in past the proxies": ({"sight": refused("proxies")}, "sign-in", "X-Forwarded-For"),
    "provider away": ({"provider_error": "no answer"}, "sign-in", "PORTAL_OIDC_ISSUER"),
    "mail server away": ({"mail_error": "TimeoutError"}, "mail", "starttls"),
    "short access token": ({"short_tokens": 1}, "settings", "token issue"),
    "short secret key": ({"secret_key_length": 8}, "settings", "openssl rand"),
    "connect timeout": ({"connect_timeout": 15.0}, "timeouts", "lower it"),
    "first byte timeout": ({"first_byte_timeout": 20.0}, "timeouts", "lower it"),
    "workers": ({"workers": 32}, "workers", "PORTAL_WORKERS"),
    "key of another form": ({"key": "other"}, "key", "PORTAL_SECRET_KEYS_OLD"),
    "key readable": ({"key_mode": 0o644}, "key", "chmod 600"),
    "database away": ({"database_error": "refused"}, "database", "PORTAL_DATABASE_URL"),
    "former schema": ({"revision": "0015"}, "database", "db upgrade"),
    "later schema": ({"revision": "9999"}, "database", "db upgrade"),
    "redis away": ({"redis_error": "refused"}, "redis", "PORTAL_REDIS_URL"),
    "directory not writable": ({"data_error": "it cannot be written"}, "data directory", "writ"),
    "directory open": ({"data_mode": 0o777}, "data directory", "chmod 700"),
    "disk full": ({"free": 10**8, "share": 0.01}, "disk", "make room"),
    "disk nearly full": ({"free": 10**9, "share": 0.01}, "disk", "make room"),
    "clock ahead": ({"sight": seen(ahead_s=300.0)}, "clock", "NTP"),
    "clock behind": ({"sight": seen(ahead_s=-90.0)}, "clock", "NTP"),
    "pdf": ({"pdf_error": "OSError"}, "pdf", "libpango"),
    "time zone": ({"zone_error": "ZoneInfoNotFoundError"}, "time zone", "tzdata"),
    "proxy not trusted": ({"trusted_proxies": 0}, "proxies", "number of proxies"),
    "too many proxies trusted": ({"trusted_proxies": 2}, "proxies", "set it to 1"),
    "proxy without proto": ({"sight": seen(proto="")}, "proxies", "X-Forwarded-Proto"),
    "primary away": ({"origins": (Reached("primary", "refused"),)}, "primary address", "DNS"),
    "secondary away": ({"origins": (Reached("secondary", "tls"),)}, "secondary address", "DNS"),
    "certificate": ({"origins": (Reached("primary", "", 3),)}, "primary address", "renew"),
    "open files": ({"open_files": 200}, "open files", "LimitNOFILE"),
}
NOTES: Final[dict[str, tuple[dict[str, Any], str, str]]] = {
    "price": ({"unpriced": ("PORTAL_PRICE_DECODE",)}, "settings", "0 if nothing"),
    "no limit": ({"spends_without_limit": True}, "settings", "PORTAL_MONTHLY_BUDGET"),
    "no database": ({"revision": None}, "database", "start the portal once"),
    "no key": ({"key": "missing"}, "key", "start the portal once"),
    "no TLS": ({"sight": seen(proto="http")}, "proxies", "https"),
    "few files": ({"open_files": 1024}, "open files", "LimitNOFILE"),
    "no controller": ({"has_controller": False}, "privacy", "PORTAL_ISSUER_NAME"),
    "odd name": ({"sight": refused("name")}, "sign-in", "another name"),
    "no trail": ({"audit_days": 0}, "privacy", "PORTAL_AUDIT_DAYS"),
}


def test_nothing_is_wrong_with_a_portal_that_is_well() -> None:
    lines = lines_of(WELL)
    assert {line.level for line in lines} == {"ok"}
    assert is_well(lines)
    assert not any(line.mend for line in lines)


@pytest.mark.parametrize("name", WRONG)
def test_misconfiguration_is_named_with_its_mend(name: str) -> None:
    changes, subject, mend = WRONG[name]
    lines = lines_of(replace(WELL, **changes))
    assert not is_well(lines)
    (found,) = [line for line in lines if line.level == "wrong"]
    assert found.name == subject
    assert mend in found.mend


@pytest.mark.parametrize("name", NOTES)
def test_note_is_no_failure(name: str) -> None:
    changes, subject, mend = NOTES[name]
    lines = lines_of(replace(WELL, **changes))
    assert is_well(lines)
    (found,) = [line for line in lines if line.level == "note"]
    assert found.name == subject
    assert mend in found.mend


@pytest.mark.parametrize(
    "changes",
    [
        {"mode": "demo", "has_controller": False, "audit_days": 0, "secret_key_length": None},
        {"redis_error": None},
        {"provider_error": None},
        {"mail_error": None, "has_webhook": False},
        {"signs_people_in": False, "has_roles": False, "provider_error": None},
        {"sight": None},
        {"sight": Sight()},
        {"sight": refused("")},  # the person was let in
        {"sight": refused("other secret", ago_s=8 * 86_400)},
        {"sight": refused("other secret"), "has_sign_in_header": False},  # no longer set
        {"sight": seen(hops=9, proto="", ahead_s=999.0, ago_s=8 * 86_400)},  # long ago
        {"sight": seen(hops=2, proto="https,https")},  # a proxy in front of the trusted one
        {"origins": ()},
        {"data_mode": 0o755},  # as systemd and images make it; its files are 0600
        {"origins": (Reached("primary", "", None),)},
    ],
)
def test_what_is_absent_or_long_past_is_no_alarm(changes: dict[str, Any]) -> None:
    assert {line.level for line in lines_of(replace(WELL, **changes))} == {"ok"}


def test_every_line_has_a_name_on_the_operators_page() -> None:
    changes = [{}, *(each for each, _, _ in (*WRONG.values(), *NOTES.values()))]
    lines = [line for each in changes for line in lines_of(replace(WELL, **each))]
    named = checked([line for line in lines if line.name != "pdf"])  # the page renders no PDF
    assert all(name for name, _ in named)
