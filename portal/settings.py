"""All settings with their defaults and validation.

Settings are read from environment variables with the prefix ``PORTAL_``. A value is plain text,
never JSON.
"""

import difflib
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec

from portal.system.caller_credentials import MAX_LENGTH, Mode, is_token
from portal.system.environment import PREFIX, SettingsError, read_texts
from portal.system.logo import InvalidLogo, logo_url
from portal.system.mail_address import is_mail_address
from portal.system.open_file_limits import MOST_SPARES
from portal.system.public_hosts import HostRefused, checked_url, is_host
from portal.system.roles import InvalidRoles, Roles, parse_roles
from portal.system.webhook_signature import is_secret
from portal.tax_number import format_tax_number

__all__ = ["Settings", "SettingsError"]

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
YEAR = 366 * DAY
DEMO_DIR = "demo"
LONGEST_NAME = 200
LONGEST_LINE = (
    120  # maximum number of characters in ISSUER_NAME, ISSUER_CONTACT and PRIVACY_CONTACT
)

_ALIKE = 0.8  # how like a name a known one is that is proposed for it, at most 1
_SQLITE = "sqlite:///"
_ORIGIN = re.compile(r"(https?)://(?:[a-z0-9._-]+|\[[0-9a-f:]+\])(?::(0|[1-9][0-9]{0,4}))?")
_PORTS = {"http": 80, "https": 443}
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
# Headers with another meaning, in which no proxy names a person.
_OTHER_HEADERS = (
    r"(x-forwarded|content|accept|sec|if|cache|access-control)-.*|authorization|cookie|host|"
    r"forwarded|x-sign-in-secret|connection|transfer-encoding|upgrade|origin|referer|user-agent"
)
_SWITCH = {"on": True, "1": True, "true": True, "yes": True}
_SWITCH |= {"off": False, "0": False, "false": False, "no": False}


class _Invalid(Exception):
    """The text is not a valid value of its setting. The message states what is expected."""


def _number(text: str, kind: type[float]) -> float:
    with suppress(ValueError):
        if text.isascii() and "_" not in text:
            return kind(text)
    raise _Invalid("a number is expected")


def _switch(text: str) -> bool:
    if text.lower() not in _SWITCH:
        raise _Invalid("it is on or off")
    return _SWITCH[text.lower()]


def _keys(text: str) -> tuple[str, ...]:
    keys = re.split(r"[,\n]", text)  # a secret file may contain one key per line
    return tuple(key.strip() for key in keys if key.strip())


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_token(token) for token in _keys(text))


def _token(text: str) -> str:
    if not is_token(text):
        raise _Invalid(
            f"a token is printable ASCII without spaces or commas, at most {MAX_LENGTH} characters"
        )
    return text


def _base_address(text: str) -> str:
    with suppress(ValueError):
        parts = urlsplit(text)
        is_plain = text.isascii() and text.isprintable() and " " not in text
        is_bare = not parts.query and not parts.fragment and parts.username is None
        is_base = parts.scheme in _PORTS and parts.hostname and parts.port != 0
        if is_plain and is_bare and is_base:
            return text.rstrip("/")
    raise _Invalid("a base address is http(s)://host[:port][/path]")


def _web_address(text: str) -> str:
    """Validate the URL of a service, which may have a path and a query."""
    with suppress(ValueError):
        parts = urlsplit(text)
        is_plain = text.isascii() and text.isprintable() and " " not in text
        is_address = parts.scheme in _PORTS and parts.hostname and parts.port != 0
        if is_plain and is_address and parts.username is None:
            return text
    raise _Invalid("an address is http(s)://host[:port][/path], without a password")


def _cors_origins(text: str) -> tuple[str, ...]:
    return tuple(_origin(each.strip()) for each in text.split(",") if each.strip())


def _origin(text: str) -> str:
    found = _ORIGIN.fullmatch(text)
    port = int(found[2] or 0) if found else 0
    if found is None or port > 65535 or port == _PORTS[found[1]] or found[2] == "0":
        raise _Invalid(
            "an origin is http(s)://host[:port] in lower case, as browsers send it, without a path "
            "or the default port"
        )
    return text


def _one_line(text: str, longest: int = LONGEST_LINE) -> str:
    if not text.isprintable() or len(text) > longest:
        raise _Invalid(f"it is one line of at most {longest} characters")
    return text


def _tax_number(text: str) -> str:
    number = format_tax_number(text)
    if number is None:
        raise _Invalid("it is no CNPJ or CPF with its check digits")
    return number


def _redis_address(text: str) -> str:
    if text.partition(":")[0] not in ("redis", "rediss", "unix"):
        raise _Invalid("it starts with redis://, rediss:// or unix://")
    _refuse_without("redis", "REDIS_URL")
    from redis import ConnectionPool  # imported late, because most portals do not use Redis

    with suppress(ValueError, TypeError):
        parts = urlsplit(text)
        ConnectionPool.from_url(text).make_connection()  # validates every option without connecting
        is_path = parts.scheme == "unix" or re.fullmatch(r"(/[0-9]*)?", parts.path)
        if parts.port != 0 and not parts.fragment and is_path:
            return text
    raise _Invalid(f"it is redis://[:password@]host[:port][/number]; {_ENCODED}")


def _database_address(text: str) -> str:
    """Validate the URL of an SQLite file or a PostgreSQL database.

    SQLite in memory is refused, because each process would have a database of its own.
    """
    scheme = text.partition(":")[0]
    if scheme == "sqlite":
        file = text.partition(_SQLITE)[2]
        if not file or "?" in file or ":memory:" in file:
            raise _Invalid(f"a file is named, as in {_SQLITE}/path")
        return text
    if scheme not in ("postgresql", "postgresql+psycopg"):
        raise _Invalid("it starts with postgresql:// or sqlite://")
    _refuse_without("psycopg", "DATABASE_URL")
    with suppress(ValueError):
        parts = urlsplit(text)
        is_whole = parts.netloc.count("@") <= 1 and not parts.fragment
        if parts.port != 0 and is_whole and re.fullmatch(r"/[^/]+", parts.path):
            return text
    raise _Invalid(f"it is postgresql://[user[:password]@]host[:port]/database; {_ENCODED}")


def _smtp_address(text: str) -> str:
    with suppress(ValueError):
        parts = urlsplit(text)
        is_plain = text.isascii() and text.isprintable() and not parts.fragment
        if is_plain and parts.scheme in ("smtp", "smtps") and parts.hostname and parts.port != 0:
            return text
    raise _Invalid(f"it is smtps://user:password@host:465 or smtp://host?starttls=1; {_ENCODED}")


def _mail_address(text: str) -> str:
    if not is_mail_address(text):
        raise _Invalid("it is an e-mail address, as in portal@example.com")
    return text


def _hosts(text: str) -> tuple[str, ...]:
    found = tuple(each.strip().lower() for each in text.split(",") if each.strip())
    if not all(map(is_host, found)):
        raise _Invalid("host names alone, as in hooks.internal, without http://, port or path")
    return found


def _webhook_secret(text: str) -> str:
    if not is_secret(text):
        raise _Invalid("it is whsec_ and 24 to 64 bytes in base64")
    return text


_ENCODED = "in a password / ? # @ : are written %2F %3F %23 %40 %3A"


def _log_format(text: str) -> str:
    if text not in ("json", "text"):
        raise _Invalid("it is json or text")
    return text


def _refuse_without(package: str, name: str, file: str = "requirements.txt") -> None:
    if find_spec(package) is None:
        raise SettingsError(
            f"{PREFIX}{name} needs the packages of {file}, which are not installed ({package})"
        )


def _issuer(text: str) -> str:
    """Validate the URL of an OpenID Connect provider, and return it as the provider writes it."""
    parts = urlsplit(_base_address(text))
    if parts.scheme == "http" and parts.hostname not in _THIS_MACHINE:
        raise _Invalid("the provider has an https:// address; http:// is for this machine alone")
    _refuse_without("joserfc", "OIDC_ISSUER", "requirements-oidc.txt")
    return text


def _header(text: str) -> str:
    is_name = re.fullmatch(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*", text, re.ASCII)
    if not is_name or re.fullmatch(_OTHER_HEADERS, text, re.IGNORECASE):
        raise _Invalid("it is the name of a header of its own, as in Remote-User")
    return text


def _roles(text: str) -> Roles:
    try:
        return parse_roles(text)
    except InvalidRoles as error:
        raise _Invalid(error) from None


def _purposes(text: str) -> tuple[str, ...]:
    found = tuple(_one_line(each.strip()) for each in re.split(r"[;\n]", text) if each.strip())
    if len(set(found)) < len(found):
        raise _Invalid("a purpose stands twice")
    return found


def _logo(text: str) -> str:
    try:
        return logo_url(Path(text))
    except InvalidLogo as error:
        raise _Invalid(error) from None


def _price(text: str) -> Decimal:
    if not re.fullmatch(r"[0-9]{1,5}([.,][0-9]{1,6})?", text, re.ASCII):
        raise _Invalid("it is an amount in R$, as in 0.30")
    return Decimal(text.replace(",", "."))


def _budget(text: str) -> Decimal:
    if not re.fullmatch(r"[0-9]{1,9}([.,][0-9]{1,2})?", text, re.ASCII):
        raise _Invalid("it is an amount in R$, as in 800 or 800.50")
    return Decimal(text.replace(",", "."))


def _rate(text: str) -> str:
    from limits import parse_many  # imported late, because most portals set no rate

    with suppress(ValueError):
        if all(each.amount > 0 for each in parse_many(text)):
            return text
    raise _Invalid("it reads as in 600/minute")


def _with_password(address: str) -> tuple[str, ...]:
    """Return a URL, the URL's password as written, and the decoded password.

    The portal removes all three texts from its logs, because an error message may quote any of
    them.
    """
    password = urlsplit(address).password or ""
    return address, password, unquote(password)


class _Secret(NamedTuple):
    """Marks a secret setting, which the operator may put into a file (PORTAL_<NAME>_FILE).

    ``hidden`` returns the texts of a value that no log may contain.
    """

    hidden: Callable[[str], tuple[str, ...]] = lambda secret: (secret,)


# A function in an annotation converts the text of the setting. Raises _Invalid.
Seconds = Annotated[int, msgspec.Meta(ge=0, le=366 * DAY)]
Limit = Annotated[float, msgspec.Meta(gt=0, le=600)]
Reais = Annotated[Decimal | None, _price]
Switch = Annotated[bool, _switch]
Line = Annotated[str | None, _one_line]
Name = Annotated[str | None, partial(_one_line, longest=LONGEST_NAME)]
Rate = Annotated[str | None, _rate]
BaseAddress = Annotated[str | None, _base_address]
SecretToken = Annotated[str | None, _token, _Secret()]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The operator's settings. ``docs/reference.md`` explains each setting in a table."""

    upstream_url: BaseAddress = None
    upstream_secondary_url: BaseAddress = None
    upstream_token: SecretToken = None
    upstream_name: Name = None
    access_tokens: Annotated[tuple[str, ...], _tokens, _Secret()] = ()
    data_dir: Annotated[Path, Path] = Path("instance")
    redis_url: Annotated[str | None, _redis_address, _Secret(_with_password)] = None
    database_url: Annotated[str | None, _database_address, _Secret(_with_password)] = None
    secret_key: Annotated[str | None, _Secret()] = None
    secret_keys_old: Annotated[tuple[str, ...], _keys, _Secret()] = ()
    workers: Annotated[int, msgspec.Meta(ge=1, le=64)] = 2
    fresh_decode: Seconds = DAY
    fresh_renainf: Seconds = 6 * HOUR
    fresh_renajud: Seconds = HOUR
    fresh_report: Seconds = DAY
    stale_decode: Seconds = 7 * DAY
    stale_renainf: Seconds = DAY
    stale_renajud: Seconds = 6 * HOUR
    stale_report: Seconds = 0
    connect_timeout: Limit = 2.0
    first_byte_timeout: Limit = 8.0
    deadline: Limit = 15.0
    drain_seconds: Annotated[int, msgspec.Meta(ge=0, le=600)] = 0
    daily_call_limit: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] = 0
    monthly_budget: Annotated[Decimal, _budget] = Decimal(0)
    smtp_url: Annotated[str | None, _smtp_address, _Secret(_with_password)] = None
    mail_from: Annotated[str | None, _mail_address] = None
    mail_to: Annotated[str | None, _mail_address] = None
    webhook_hosts: Annotated[tuple[str, ...], _hosts] = ()
    webhook_url: Annotated[str | None, _Secret()] = None
    webhook_secret: Annotated[str | None, _webhook_secret, _Secret()] = None
    price_decode: Reais = None
    price_renainf: Reais = None
    price_renajud: Reais = None
    price_report: Reais = None
    rate_limit_token: Rate = None
    rate_limit_address: Rate = None
    trusted_proxies: Annotated[int, msgspec.Meta(ge=0, le=10)] = 0
    metrics_token: SecretToken = None
    log_format: Annotated[Literal["json", "text"], _log_format] = "json"
    mask_names: Switch = True
    hidden_marker: str = "INFORMACAO OCULTADA"
    edge_memory_mb: Annotated[int, msgspec.Meta(ge=0, le=65536)] = 64
    batch_limit: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 500
    batch_concurrency: Annotated[int, msgspec.Meta(ge=1, le=64)] = 8
    upstream_spares: Annotated[int, msgspec.Meta(ge=0, le=MOST_SPARES)] = 1
    issuer_name: Line = None
    # In printed form, such as "CNPJ 12.345.678/0001-95".
    issuer_document: Annotated[str | None, _tax_number] = None
    issuer_contact: Line = None
    issuer_logo: Annotated[str | None, _logo] = None  # the logo file's content as a ``data:`` URL
    signing_key_file: Annotated[Path | None, Path] = None
    signing_key_password: Annotated[str | None, _Secret()] = None
    signing_tsa_url: Annotated[str | None, _web_address] = None
    dossier_proof_years: Annotated[int, msgspec.Meta(ge=1, le=30)] = 5
    dossier_days: Annotated[int, msgspec.Meta(ge=1, le=366)] = 30
    cors_origins: Annotated[tuple[str, ...], _cors_origins] = ()
    oidc_issuer: Annotated[str | None, _issuer] = None
    oidc_client_id: Line = None
    oidc_client_secret: Annotated[str | None, _Secret()] = None
    oidc_groups_claim: Annotated[str, _one_line] = "groups"
    sign_in_header: Annotated[str | None, _header] = None
    sign_in_groups_header: Annotated[str, _header] = "Remote-Groups"
    sign_in_secret: SecretToken = None
    roles: Annotated[Roles, _roles] = ()
    person_daily_limit: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] = 0
    person_monthly_budget: Annotated[Decimal, _budget] = Decimal(0)
    purposes: Annotated[tuple[str, ...], _purposes] = ()
    privacy_contact: Line = None
    audit_days: Annotated[int, msgspec.Meta(ge=0, le=3660)] = 365

    @property
    def mode(self) -> Mode:
        """The mode, which follows from the upstream's URL and token."""
        if self.upstream_url is None:
            return "demo"
        return "managed" if self.upstream_token else "pass-through"

    def price(self, operation: str) -> Decimal | None:
        """The price in R$ of a call. None is unknown, because the operator has not set it.

        The sandbox's calls are free, unless a price is set.
        """
        price: Decimal | None = getattr(self, f"price_{operation}")
        return Decimal(0) if price is None and self.mode == "demo" else price

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The names of the settings of unknown prices."""
        if self.mode == "demo":
            return ()
        names = (name for name in self.__struct_fields__ if name.startswith("price_"))
        return tuple(PREFIX + name.upper() for name in names if getattr(self, name) is None)

    @property
    def namespace(self) -> str:
        """The name under which data is stored: ``demo``, or the name of the upstream.

        Managed and pass-through mode have the same namespace. The answers of both modes are still
        kept apart, because the cache key of a pass-through answer depends on the caller's
        credential.
        """
        if self.upstream_url is None:
            return "demo"
        return f"upstream:{self.upstream_name or _address_name(self.upstream_url)}"

    @property
    def upstreams_data_dir(self) -> Path | None:
        """The parent of the demo's data directory, or None in the other modes.

        The portal would use this parent as its data directory if UPSTREAM_URL were set.
        """
        if self.mode == "demo" and self.data_dir.name == DEMO_DIR:
            return self.data_dir.parent
        return None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that must not appear in any log."""
        found: list[str] = []
        for name, secret in _SECRETS.items():
            value = getattr(self, name) or ()
            texts = (value,) if isinstance(value, str) else value
            found += itertools.chain.from_iterable(map(secret.hidden, texts))
        return tuple(filter(None, found))

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], home: Path = Path()) -> "Settings":
        """Read the settings from variables with the prefix ``PORTAL_``.

        A relative DATA_DIR or database file is resolved against ``home``. In demo mode,
        ``data_dir`` is the subdirectory ``demo`` of PORTAL_DATA_DIR. Raises SettingsError for an
        unknown name, an invalid value, or settings that contradict each other.
        """
        texts = read_texts(environ, map(str.upper, _SECRETS), home)
        if logo := texts.get("ISSUER_LOGO"):
            texts["ISSUER_LOGO"] = str(home / logo)
        if key := texts.get("SIGNING_KEY_FILE"):
            texts["SIGNING_KEY_FILE"] = str(home / key)
        known = {field.upper(): field for field in cls.__struct_fields__}
        unknown = sorted(texts.keys() - known.keys())
        if unknown:
            raise SettingsError(_unknown_name(unknown[0], known))
        values = {known[name]: _read(known[name], text) for name, text in texts.items() if text}
        try:
            settings = msgspec.convert(values, cls)
        except msgspec.ValidationError as error:
            where = re.search(r"\$\.(\w+)", str(error))
            name = PREFIX + (where[1].upper() if where else "?")
            reason = str(error).split(" - at ")[0].replace("`", "")
            raise SettingsError(f"{name} makes no sense: {reason}") from None
        _refuse_contradictions(settings)
        url = settings.database_url
        if file := (url or "").partition(_SQLITE)[2]:
            url = f"{_SQLITE}{home / file}"  # programs in other directories may open the file
        data_dir = home / settings.data_dir / (DEMO_DIR if settings.mode == "demo" else "")
        return msgspec.structs.replace(settings, data_dir=data_dir, database_url=url)


_TYPES = {field.name: field.type for field in msgspec.structs.fields(Settings)}
_MARKS = {name: getattr(kind, "__metadata__", ()) for name, kind in _TYPES.items()}
_SECRETS = {
    name: mark for name, marks in _MARKS.items() for mark in marks if isinstance(mark, _Secret)
}


def _read(field: str, text: str) -> object:
    """Convert a setting's text to the type of its field.

    Raises SettingsError with the setting's name, but without the text, which may be a secret.
    """
    try:
        for mark in _MARKS[field]:
            if callable(mark):
                return mark(text)
        if _TYPES[field] in (str, str | None) or field in _SECRETS:
            return text
        return _number(text, float if _TYPES[field] is Limit else int)
    except _Invalid as invalid:
        raise SettingsError(f"{PREFIX}{field.upper()} makes no sense: {invalid}") from None


def _unknown_name(name: str, known: Iterable[str]) -> str:
    """Return that a setting is unknown, and which known name its writer may have meant."""
    names = [*known, *(f"{each.upper()}_FILE" for each in _SECRETS)]
    near = difflib.get_close_matches(name, names, 1, _ALIKE)
    meant = f": did you mean {PREFIX}{near[0]}?" if near else ""
    return f"{PREFIX}{name} is not a setting of the portal{meant}"


def _address_name(url: str) -> str:
    """Return the host, port and path of a base URL in a normal form, such as ``host:443/path``."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{parts.port or _PORTS[parts.scheme]}{parts.path.rstrip('/')}"


def _refuse_contradictions(settings: Settings) -> None:
    if settings.upstream_url is None:
        for name in ("upstream_secondary_url", "upstream_token", "upstream_name"):
            if getattr(settings, name):
                raise SettingsError(f"{PREFIX}{name.upper()} needs {PREFIX}UPSTREAM_URL beside it")
    if settings.mode == "pass-through" and settings.access_tokens:
        # In pass-through mode, the portal forwards its callers' tokens to the upstream. The portal
        # must not forward its own access tokens.
        raise SettingsError(
            f"{PREFIX}ACCESS_TOKENS needs {PREFIX}UPSTREAM_TOKEN beside {PREFIX}UPSTREAM_URL"
        )
    for name in ("issuer_document", "issuer_contact", "issuer_logo"):
        if getattr(settings, name) and not settings.issuer_name:
            raise SettingsError(f"{PREFIX}{name.upper()} needs {PREFIX}ISSUER_NAME beside it")
    for name in ("monthly_budget", "person_monthly_budget"):
        if getattr(settings, name) and settings.unpriced:
            raise SettingsError(
                f"{PREFIX}{name.upper()} needs {', '.join(settings.unpriced)}: an unknown price "
                "exceeds every budget"
            )
    _refuse_messages(settings)
    for name in ("signing_key_password", "signing_tsa_url"):
        if getattr(settings, name) and not settings.signing_key_file:
            raise SettingsError(f"{PREFIX}{name.upper()} needs {PREFIX}SIGNING_KEY_FILE beside it")
    _refuse_sign_in(settings)
    if settings.redis_url and not settings.secret_key:
        raise SettingsError(
            f"{PREFIX}SECRET_KEY must be set with {PREFIX}REDIS_URL: portals that share a Redis "
            "share it"
        )


def _refuse_messages(settings: Settings) -> None:
    """Refuse settings by which no message can be delivered. Raises SettingsError."""
    for needs, needed in (
        ("mail_from", "smtp_url"),
        ("mail_to", "smtp_url"),
        ("smtp_url", "mail_from"),
        ("webhook_secret", "webhook_url"),
        ("webhook_url", "webhook_secret"),
    ):
        if getattr(settings, needs) and not getattr(settings, needed):
            raise SettingsError(f"{PREFIX}{needs.upper()} needs {PREFIX}{needed.upper()} beside it")
    if settings.webhook_url:
        try:
            checked_url(settings.webhook_url, settings.webhook_hosts)
        except HostRefused as refused:
            raise SettingsError(f"{PREFIX}WEBHOOK_URL makes no sense: {refused}") from None


def _refuse_sign_in(settings: Settings) -> None:
    """Refuse settings of the sign-in of people that contradict each other. Raises SettingsError."""
    provider = ("oidc_issuer", "oidc_client_id", "oidc_client_secret")
    given = [name for name in provider if getattr(settings, name)]
    missing = [PREFIX + name.upper() for name in provider if name not in given]
    if given and missing:
        raise SettingsError(f"{PREFIX}{given[0].upper()} needs {' and '.join(missing)} beside it")
    for name in ("oidc_issuer", "sign_in_header"):
        if getattr(settings, name) and settings.mode != "managed":
            raise SettingsError(
                f"{PREFIX}{name.upper()} needs {PREFIX}UPSTREAM_URL and {PREFIX}UPSTREAM_TOKEN: "
                "people sign in where the operator pays"
            )
    if settings.sign_in_header and not settings.trusted_proxies:
        raise SettingsError(
            f"{PREFIX}SIGN_IN_HEADER needs {PREFIX}TRUSTED_PROXIES of 1 or more: only a proxy in "
            "front may name a person"
        )
    if settings.sign_in_secret and not settings.sign_in_header:
        raise SettingsError(f"{PREFIX}SIGN_IN_SECRET needs {PREFIX}SIGN_IN_HEADER beside it")
    names = (settings.sign_in_header or "").lower(), settings.sign_in_groups_header.lower()
    if names[0] == names[1]:
        raise SettingsError(
            f"{PREFIX}SIGN_IN_GROUPS_HEADER makes no sense: it is {PREFIX}SIGN_IN_HEADER"
        )
