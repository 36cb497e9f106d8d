"""Every setting: its default, unit and meaning. Nonsense is refused at the start, in one line.

Read from the environment with the prefix ``PORTAL_``; values are text, never JSON.
"""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec

PREFIX = "PORTAL_"
MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR

Seconds = Annotated[int, msgspec.Meta(ge=0, le=366 * DAY)]
Limit = Annotated[float, msgspec.Meta(gt=0, le=600)]
Reais = Decimal
Mode = Literal["demo", "managed", "pass-through"]


class SettingsError(ValueError):
    """A setting that makes no sense; its text is the one line an operator reads."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the operator decided; see the README's table for the meanings."""

    upstream_url: str | None = None
    upstream_secondary_url: str | None = None
    upstream_token: str | None = None
    access_tokens: tuple[str, ...] = ()
    data_dir: Path = Path("instance")
    redis_url: str | None = None
    database_url: str | None = None
    secret_key: str | None = None
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
    daily_call_limit: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] = 0
    price_decode: Reais = Decimal(0)
    price_renainf: Reais = Decimal(0)
    price_renajud: Reais = Decimal(0)
    price_report: Reais = Decimal(0)
    rate_limit_token: str | None = None
    rate_limit_address: str | None = None
    trusted_proxies: Annotated[int, msgspec.Meta(ge=0, le=10)] = 0
    metrics_token: str | None = None
    mask_names: bool = True
    hidden_marker: str = "INFORMACAO OCULTADA"
    edge_memory_mb: Annotated[int, msgspec.Meta(ge=0, le=65536)] = 64

    @property
    def mode(self) -> Mode:
        """demo: the embedded sandbox; managed: the operator pays; pass-through: the caller does."""
        if self.upstream_url is None:
            return "demo"
        return "managed" if self.upstream_token else "pass-through"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no log may ever show."""
        known = (self.upstream_token, self.metrics_token, self.secret_key)
        addresses = (self.redis_url, self.database_url)
        return tuple(each for each in (*known, *addresses, *self.access_tokens) if each)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], home: Path = Path()) -> "Settings":
        """Read the ``PORTAL_`` names; a relative DATA_DIR is relative to ``home``.

        Raises SettingsError for an unknown name, a value that makes no sense, or a secondary
        address or token without a primary address.
        """
        given = {
            name.removeprefix(PREFIX): value.strip()
            for name, value in environ.items()
            if name.startswith(PREFIX)
        }
        known = {field.upper(): field for field in cls.__struct_fields__}
        unknown = sorted(given.keys() - known.keys())
        if unknown:
            raise SettingsError(f"{PREFIX}{unknown[0]} is not a setting of the portal")
        values = {known[name]: _read(known[name], text) for name, text in given.items() if text}
        try:
            settings = msgspec.convert(values, cls)
        except msgspec.ValidationError as error:
            where = re.search(r"\$\.(\w+)", str(error))
            name = PREFIX + (where[1].upper() if where else "?")
            reason = str(error).split(" - at ")[0].replace("`", "")
            raise SettingsError(f"{name} makes no sense: {reason}") from None
        _refuse_contradictions(settings)
        if not settings.data_dir.is_absolute():
            settings = msgspec.structs.replace(settings, data_dir=home / settings.data_dir)
        return settings


_SWITCH = {"on": True, "1": True, "true": True, "yes": True}
_SWITCH |= {"off": False, "0": False, "false": False, "no": False}
_TYPES = {field.name: field.type for field in msgspec.structs.fields(Settings)}


def _read(field: str, text: str) -> object:
    """Turn one text into the field's kind; what cannot be read is refused by name alone."""
    name = PREFIX + field.upper()
    if field == "mask_names":
        if text.lower() not in _SWITCH:
            raise SettingsError(f"{name} makes no sense: it is on or off")
        return _SWITCH[text.lower()]
    if field == "access_tokens":
        return tuple(_token(name, token.strip()) for token in text.split(",") if token.strip())
    if field in ("upstream_token", "metrics_token"):
        return _token(name, text)
    if field in ("upstream_url", "upstream_secondary_url"):
        return _base_address(name, text)
    if field == "data_dir":
        return Path(text)
    if field.startswith("price_"):
        return _price(name, text)
    if field in ("redis_url", "database_url"):
        _refuse_bad_port(name, text)
    if field == "redis_url" and urlsplit(text).scheme not in ("redis", "rediss", "unix"):
        raise SettingsError(f"{name} makes no sense: it starts with redis://, rediss:// or unix://")
    if field == "database_url" and not text.startswith(("postgresql", "sqlite")):
        raise SettingsError(f"{name} makes no sense: it starts with postgresql:// or sqlite://")
    if field.startswith("rate_limit_"):
        return _rate(name, text)
    if _TYPES[field] in (str, str | None):
        return text
    try:
        if not text.isascii() or "_" in text:
            raise ValueError
        return float(text) if _TYPES[field] is Limit else int(text)
    except ValueError:
        raise SettingsError(f"{name} makes no sense: a number is expected") from None


def _token(name: str, text: str) -> str:
    if not text.isascii() or not text.isprintable() or " " in text or "," in text:
        raise SettingsError(f"{name} makes no sense: a token is printable ASCII without spaces")
    return text


def _base_address(name: str, text: str) -> str:
    try:
        parts = urlsplit(text)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        sound = sound and text.isascii() and text.isprintable() and " " not in text
    except ValueError:
        sound = False
    if not sound or parts.query or parts.fragment or parts.username is not None:
        raise SettingsError(
            f"{name} makes no sense: a base address is http(s)://host[:port][/path]"
        )
    return text.rstrip("/")


def _refuse_bad_port(name: str, text: str) -> None:
    try:
        urlsplit(text).port  # noqa: B018 reading it is the check
    except ValueError:
        raise SettingsError(f"{name} makes no sense: its port is no number") from None


def _price(name: str, text: str) -> Decimal:
    try:
        price = Decimal(text.replace(",", "."))
    except InvalidOperation:
        price = Decimal("NaN")
    if not (price.is_finite() and 0 <= price < 100_000):
        raise SettingsError(f"{name} makes no sense: it is an amount in R$, as in 0.30")
    return price


def _rate(name: str, text: str) -> str:
    from limits import parse_many  # imported late: most portals set no rate

    try:
        parse_many(text)
    except ValueError:
        raise SettingsError(f"{name} makes no sense: it reads as in 600/minute") from None
    return text


def _refuse_contradictions(settings: Settings) -> None:
    if settings.upstream_url is None:
        for name in ("upstream_secondary_url", "upstream_token"):
            if getattr(settings, name):
                raise SettingsError(f"{PREFIX}{name.upper()} needs {PREFIX}UPSTREAM_URL beside it")
    if settings.redis_url and not settings.secret_key:
        raise SettingsError(
            f"{PREFIX}SECRET_KEY must be set with {PREFIX}REDIS_URL: portals that share a Redis "
            "share it"
        )
