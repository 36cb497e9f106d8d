"""Judges what ``flask doctor`` has measured: one line each, with what to do. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from portal.system.caller_credentials import Mode
from portal.system.local_time import DAY_S
from portal.system.sight import Sight, SignInRefusal

Level = Literal["ok", "note", "wrong"]
SHORT_KEY: Final = 16  # characters; a generated key has 64
LEAST_FREE: Final = 512 * 1024 * 1024  # bytes
LEAST_SHARE: Final = 0.05
MOST_AHEAD_S: Final = 60.0
SIGHT_DAYS: Final = 7
CERTIFICATE_DAYS: Final = 14
_MANY_WORKERS: Final = 4
# Why the last person whom a header named was not let in, and what to do.
_SIGN_IN_REFUSALS: Final[Mapping[SignInRefusal, tuple[Level, str, str]]] = {
    "no secret": (
        "wrong",
        "the request had no X-Sign-In-Secret",
        "let the proxy send PORTAL_SIGN_IN_SECRET in X-Sign-In-Secret, and reload it",
    ),
    "other secret": (
        "wrong",
        "its X-Sign-In-Secret is not PORTAL_SIGN_IN_SECRET",
        "compare both, letter by letter; reload the proxy, and restart the portal",
    ),
    "proxies": (
        "wrong",
        "its X-Forwarded-For names fewer proxies than PORTAL_TRUSTED_PROXIES",
        "let each proxy set X-Forwarded-For or append to it, and count them",
    ),
    "name": (
        "note",
        "the name has a comma, unreadable letters or too many characters",
        "let the sign-in service send another name of the person, such as the e-mail address",
    ),
}


class Line(NamedTuple):
    """A finding. ``mend`` says what to do, "" if nothing is to be done."""

    name: str
    level: Level
    text: str
    mend: str = ""


class Reached(NamedTuple):
    """A connection that was tried. ``error`` is "" if it opened.

    ``certificate_days`` is how long the certificate is still valid, or None without TLS.
    """

    name: str
    error: str = ""
    certificate_days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was measured. Times are in seconds, sizes in bytes.

    ``database_error`` and ``redis_error`` are "" if all is well. ``redis_error`` is None without
    Redis, ``provider_error`` without a provider at which people sign in, and ``mail_error`` without
    a mail server. ``revision`` is None
    for an empty database. ``key`` says whether the secret key reads the data. ``key_mode`` and
    ``data_mode`` are access modes, None without the file.
    """

    now: float
    mode: Mode
    deadline: float
    connect_timeout: float
    first_byte_timeout: float
    short_tokens: int
    secret_key_length: int | None
    unpriced: Sequence[str]
    spends_without_limit: bool
    trusted_proxies: int
    workers: int
    processors: int
    audit_days: int
    has_controller: bool
    signs_people_in: bool
    has_roles: bool
    has_sign_in_header: bool
    lacks_sign_in_secret: bool
    provider_error: str | None
    mail_error: str | None
    has_webhook: bool
    database_error: str
    revision: str | None
    revision_needed: str
    redis_error: str | None
    key: Literal["reads", "missing", "other", "unknown"]
    key_mode: int | None
    data_dir: str
    data_error: str
    data_mode: int | None
    free: int
    share: float
    open_files: int
    open_files_full: int
    open_files_least: int
    pdf_error: str
    zone_error: str
    sight: Sight | None
    origins: Sequence[Reached]


def lines_of(facts: Facts) -> list[Line]:
    """Return a line for each subject, or several where several things are wrong."""
    checks = (
        *(_settings, _timeouts, _workers, _key, _database, _redis, _directory, _disk),
        *(_clock, _pdf, _zone, _proxies, _origins, _open_files, _people, _sign_in, _messages),
    )
    return [line for check in checks for line in check(facts)]


def is_well(lines: Sequence[Line]) -> bool:
    return all(line.level != "wrong" for line in lines)


def _settings(facts: Facts) -> Iterator[Line]:
    name, has_finding = "settings", False
    if facts.short_tokens:
        has_finding = True
        yield Line(
            name,
            "wrong",
            f"{facts.short_tokens} of PORTAL_ACCESS_TOKENS are shorter than {SHORT_KEY} characters",
            "issue tokens with flask --app app token issue, and remove these",
        )
    if facts.secret_key_length is not None and facts.secret_key_length < SHORT_KEY:
        has_finding = True
        yield Line(
            name,
            "wrong",
            f"PORTAL_SECRET_KEY has fewer than {SHORT_KEY} characters",
            "rotate to a random one: openssl rand -hex 32, the former one in "
            "PORTAL_SECRET_KEYS_OLD",
        )
    if facts.mode == "managed" and facts.unpriced:
        has_finding = True
        yield Line(
            name,
            "note",
            f"the price of a call is unknown: {', '.join(facts.unpriced)}",
            "set what the provider charges, 0 if nothing",
        )
    if facts.spends_without_limit:
        has_finding = True
        yield Line(
            name,
            "note",
            "nothing limits what all callers together spend",
            "set PORTAL_DAILY_CALL_LIMIT or PORTAL_MONTHLY_BUDGET",
        )
    if not has_finding:
        yield Line(name, "ok", f"they make sense, mode {facts.mode}")


def _timeouts(facts: Facts) -> Iterator[Line]:
    name = "timeouts"
    if facts.connect_timeout >= facts.deadline:
        yield Line(
            name,
            "wrong",
            "PORTAL_CONNECT_TIMEOUT is not below PORTAL_DEADLINE: the second address is never "
            "tried",
            "lower it, the default is 2",
        )
    elif facts.first_byte_timeout >= facts.deadline:
        yield Line(
            name,
            "wrong",
            "PORTAL_FIRST_BYTE_TIMEOUT is not below PORTAL_DEADLINE: the second address is never "
            "tried",
            "lower it, the default is 8",
        )
    else:
        yield Line(name, "ok", f"a lookup ends within {facts.deadline:g} s")


def _workers(facts: Facts) -> Iterator[Line]:
    text = f"{facts.workers} server processes, {facts.processors} processors"
    if facts.workers > _MANY_WORKERS * facts.processors:
        yield Line("workers", "wrong", text, "set PORTAL_WORKERS to the number of processors")
    else:
        yield Line("workers", "ok", text)


def _key(facts: Facts) -> Iterator[Line]:
    name = "key"
    if facts.key_mode is not None and facts.key_mode & 0o077:
        yield Line(
            name,
            "wrong",
            f"others can read the secret key's file (mode {facts.key_mode:04o})",
            "chmod 600, and rotate the key",
        )
    if facts.key == "other":
        yield Line(
            name,
            "wrong",
            "the data is of another secret key",
            "configure that key, or name it in PORTAL_SECRET_KEYS_OLD",
        )
    elif facts.key == "missing":
        yield Line(name, "note", "there is no data key yet", "start the portal once")
    elif facts.key == "reads":
        yield Line(name, "ok", "the secret key reads the data")


def _database(facts: Facts) -> Iterator[Line]:
    name = "database"
    if facts.database_error:
        yield Line(
            name,
            "wrong",
            f"it cannot be used: {facts.database_error}",
            "check PORTAL_DATABASE_URL, PORTAL_DATA_DIR, the server and its rights",
        )
    elif facts.revision is None:
        yield Line(
            name,
            "note",
            f"there is none for {facts.data_dir} yet",
            "start the portal once; if it runs, give this command the server's settings",
        )
    elif facts.revision != facts.revision_needed:
        yield Line(
            name,
            "wrong",
            f"its schema is {facts.revision}, this version needs {facts.revision_needed}",
            "back up, then flask --app app db upgrade",
        )
    else:
        yield Line(name, "ok", f"schema {facts.revision}")


def _redis(facts: Facts) -> Iterator[Line]:
    if facts.redis_error is None:
        return
    if facts.redis_error:
        yield Line(
            "redis",
            "wrong",
            f"it cannot be used: {facts.redis_error}",
            "check PORTAL_REDIS_URL, the password, the rights and that it is no replica",
        )
    else:
        yield Line("redis", "ok", "it runs the portal's commands")


def _directory(facts: Facts) -> Iterator[Line]:
    name = "data directory"
    if facts.data_error:
        yield Line(
            name,
            "wrong",
            f"{facts.data_dir}: {facts.data_error}",
            "make it writable for the portal's user, or set PORTAL_DATA_DIR",
        )
    elif facts.data_mode is not None and facts.data_mode & 0o002:
        yield Line(
            name,
            "wrong",
            f"every user can write in {facts.data_dir} (mode {facts.data_mode:04o})",
            "chmod 700",
        )
    else:
        yield Line(name, "ok", facts.data_dir)


def _disk(facts: Facts) -> Iterator[Line]:
    if facts.data_error:
        return
    text = f"{facts.free / 1e9:.1f} GB free ({facts.share:.0%})"
    if facts.free < LEAST_FREE or (facts.share < LEAST_SHARE and facts.free < 8 * LEAST_FREE):
        yield Line("disk", "wrong", text, "make room: a paid answer could not be kept")
    else:
        yield Line("disk", "ok", text)


def _clock(facts: Facts) -> Iterator[Line]:
    seen = facts.sight.clock if facts.sight else None
    if seen is None or facts.now - seen.at > SIGHT_DAYS * DAY_S:
        yield Line("clock", "ok", "the upstream has not answered lately, so it was not compared")
    elif abs(seen.ahead_s) > MOST_AHEAD_S:
        way = "ahead of" if seen.ahead_s > 0 else "behind"
        yield Line(
            "clock",
            "wrong",
            f"{abs(seen.ahead_s):.0f} s {way} the upstream's",
            "synchronise this machine's clock (NTP): deadlines and the age of answers depend on it",
        )
    else:
        yield Line("clock", "ok", f"{abs(seen.ahead_s):.0f} s from the upstream's")


def _pdf(facts: Facts) -> Iterator[Line]:
    if facts.pdf_error:
        yield Line(
            "pdf",
            "wrong",
            f"no PDF can be made: {facts.pdf_error}",
            "install the libraries of WeasyPrint: libpango-1.0-0, libpangoft2-1.0-0, libharfbuzz",
        )
    else:
        yield Line("pdf", "ok", "libraries and fonts load")


def _zone(facts: Facts) -> Iterator[Line]:
    if facts.zone_error:
        yield Line(
            "time zone",
            "wrong",
            f"America/Sao_Paulo cannot be read: {facts.zone_error}",
            "install tzdata",
        )


def _proxies(facts: Facts) -> Iterator[Line]:
    name, trusted = "proxies", facts.trusted_proxies
    seen = facts.sight.forwarded if facts.sight else None
    if seen is None or facts.now - seen.at > SIGHT_DAYS * DAY_S:
        yield Line(name, "ok", f"{trusted} trusted, no request has come through one lately")
        return
    shown = seen.proto or "none"
    text = f"last request: {seen.hops} in X-Forwarded-For, X-Forwarded-Proto {shown}"
    if trusted == 0:
        yield Line(
            name,
            "wrong",
            f"{text}; PORTAL_TRUSTED_PROXIES is 0, so all clients share one address and limit",
            "set it to the number of proxies in front",
        )
    elif seen.hops < trusted:
        yield Line(
            name,
            "wrong",
            f"{text}; PORTAL_TRUSTED_PROXIES is {trusted}, so a client can write its address",
            f"set it to {seen.hops}, or let each proxy append to X-Forwarded-For",
        )
    elif not seen.proto:
        yield Line(
            name,
            "wrong",
            f"{text}; cookies are not Secure and there is no HSTS",
            "let the proxy set X-Forwarded-Proto",
        )
    elif "https" not in seen.proto:
        yield Line(name, "note", f"{text}; visitors have no TLS", "serve https at the proxy")
    else:
        yield Line(name, "ok", text)


def _origins(facts: Facts) -> Iterator[Line]:
    for name, error, days in facts.origins:
        if error:
            yield Line(
                f"{name} address",
                "wrong",
                f"it cannot be reached: {error}",
                "check the address, DNS, the firewall and the certificate authorities",
            )
        elif days is not None and days < CERTIFICATE_DAYS:
            yield Line(
                f"{name} address",
                "wrong",
                f"its certificate ends in {days} days",
                "ask the provider to renew it",
            )
        else:
            tls = "no TLS" if days is None else f"TLS, certificate valid for {days} days"
            yield Line(f"{name} address", "ok", f"connected, {tls}; nothing was asked")


def _open_files(facts: Facts) -> Iterator[Line]:
    name, text = "open files", f"{facts.open_files} allowed"
    mend = "raise LimitNOFILE, or ulimit -n"
    if facts.open_files < facts.open_files_least:
        yield Line(name, "wrong", f"{text}, {facts.open_files_least} needed", mend)
    elif facts.open_files < facts.open_files_full:
        text = f"{text}, {facts.open_files_full} let a worker serve as much as it can"
        yield Line(name, "note", text, mend)
    else:
        yield Line(name, "ok", text)


def _sign_in(facts: Facts) -> Iterator[Line]:
    name = "sign-in"
    if not facts.signs_people_in:
        return
    if not facts.has_roles:
        yield Line(name, "wrong", "no group may sign in", "name the groups in PORTAL_ROLES")
    if facts.lacks_sign_in_secret:
        yield Line(
            name,
            "wrong",
            "any program that reaches the port can name itself any person",
            "set PORTAL_SIGN_IN_SECRET, and let the proxy send it in X-Sign-In-Secret",
        )
    if facts.provider_error:
        yield Line(
            name,
            "wrong",
            f"the provider's description cannot be used: {facts.provider_error}",
            "compare PORTAL_OIDC_ISSUER, letter by letter, with its issuer, and check the network",
        )
    refused = _refused_sign_in(facts)
    if refused:
        yield refused
    if (
        facts.has_roles
        and not facts.lacks_sign_in_secret
        and not facts.provider_error
        and not refused
    ):
        yield Line(name, "ok", "people may sign in at their company")


def _refused_sign_in(facts: Facts) -> Line | None:
    """Return why the last person whom a header named was not let in."""
    seen = facts.sight.sign_in if facts.sight else None
    if not facts.has_sign_in_header or seen is None or not seen.refusal:
        return None
    ago_s = max(0.0, facts.now - seen.at)
    if ago_s > SIGHT_DAYS * DAY_S:
        return None
    level, why, mend = _SIGN_IN_REFUSALS[seen.refusal]
    text = (
        f"the last person named by PORTAL_SIGN_IN_HEADER, {ago_s / 60:.0f} min ago, was not let in"
    )
    return Line("sign-in", level, f"{text}: {why}", mend)


def _messages(facts: Facts) -> Iterator[Line]:
    if facts.mail_error:
        yield Line(
            "mail",
            "wrong",
            f"PORTAL_SMTP_URL cannot be used: {facts.mail_error}",
            "check host, port, smtps:// or starttls=1, user and password, and the firewall",
        )
    elif facts.mail_error is not None:
        yield Line("mail", "ok", "connected to the mail server; nothing was sent")
    if facts.has_webhook:
        # The start has refused an address to which nothing can be posted.
        yield Line("webhook", "ok", "its address makes sense; nothing was posted")


def _people(facts: Facts) -> Iterator[Line]:
    name = "privacy"
    if facts.mode != "demo" and not facts.has_controller:
        yield Line(
            name,
            "note",
            "/privacidade names no controller and no contact (LGPD, arts. 9 and 41)",
            "set PORTAL_ISSUER_NAME, and PORTAL_ISSUER_CONTACT or PORTAL_PRIVACY_CONTACT",
        )
    if facts.mode != "demo" and facts.audit_days == 0:
        yield Line(
            name,
            "note",
            "no trail is kept, so subject PLATE cannot answer (LGPD, arts. 18 and 37)",
            "set PORTAL_AUDIT_DAYS",
        )
