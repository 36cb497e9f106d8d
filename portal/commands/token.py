"""``flask --app app token issue | set | rotate | list | revoke``: manages access tokens."""

import math
import re
import time
from decimal import Decimal
from typing import Any

import click

from portal.access.tokens import (
    ISSUABLE_SCOPES,
    OPERATION_SCOPES,
    STORED,
    Issued,
    NameTaken,
    TokenChange,
    are_issuable,
    is_token_name,
)
from portal.commands.acts import by_command
from portal.commands.failures import CommandGroup, fail
from portal.commands.parts import Parts
from portal.commands.tables import json_array_lines, print_lines, table_lines
from portal.system.local_time import from_epoch, iso_time
from portal.system.mail_address import is_mail_address
from portal.system.public_hosts import HostRefused

COLUMNS = ("name", "scopes", "daily limit", "monthly budget", "issued", "expires", "state")
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_DEFAULT_SCOPES = ",".join(sorted(OPERATION_SCOPES))
# A token that nobody remembers ends, and one that leaks or runs in a loop spends a bounded sum. The
# limit lets a batch of 500 plates ask three lookups of each plate, and each of them twice.
_DEFAULT_LIFETIME = "365d"
_DEFAULT_DAILY_LIMIT = 3_000


def token_commands(portal: Parts) -> CommandGroup:
    @click.group("token", cls=CommandGroup, help="Issue, change, list and revoke access tokens.")
    def token() -> None:
        pass

    @token.command("issue")
    @click.argument("name", callback=_name)
    @click.option("--scopes", default=_DEFAULT_SCOPES, show_default=True, callback=_scopes)
    @click.option(
        "--expires",
        default=_DEFAULT_LIFETIME,
        show_default=True,
        callback=_lifetime,
        help="as in 12h, 30d, 8w, or never",
    )
    @click.option(
        "--daily-limit",
        type=click.IntRange(0, 2**31 - 1),
        default=_DEFAULT_DAILY_LIMIT,
        show_default=True,
        help="upstream calls a day; 0 = no limit",
    )
    @click.option(
        "--monthly-budget", callback=_budget, help="R$ a calendar month, as in 60; none = no limit"
    )
    @click.option("--mail", help="e-mail address for messages on its budget, end and batches")
    @click.option("--webhook", help="https address for the same messages")
    def issue(
        name: str,
        scopes: frozenset[str],
        expires: float | None,
        daily_limit: int,
        monthly_budget: Decimal,
        mail: str | None,
        webhook: str | None,
    ) -> None:
        """Print a new token alone on the last line. The token cannot be shown again."""
        _refuse_unpriced(portal, monthly_budget)
        _check_channels(portal, mail, webhook)
        try:
            # The operator may issue a token before the portal's first start.
            portal.create_database()
        except OSError as error:
            fail(f"The database cannot be made: {error}")
        try:
            lifetime_s = None if expires == math.inf else expires
            new_token = portal.tokens.issue(
                *(name, scopes, lifetime_s, daily_limit, monthly_budget),
                also=portal.trail.writing(by_command("access_changed", name)),
            )
        except NameTaken:
            fail(f"A token named {name} exists already.")
        _set_channels(portal, name, mail, webhook)
        print(
            f"Token for {name} {_place(portal)} ({', '.join(sorted(scopes))}), "
            f"{_bounds(lifetime_s, daily_limit)}; it will not be shown again:"
        )
        print(new_token)

    @token.command("set")
    @click.argument("name")
    @click.option("--scopes", callback=_scopes_or_none)
    @click.option("--expires", callback=_lifetime, help="from now, as in 12h, 30d, 8w, or never")
    @click.option("--daily-limit", type=click.IntRange(0, 2**31 - 1), help="0 = no limit")
    @click.option(
        "--monthly-budget", callback=_budget_or_none, help="R$ a calendar month; 0 = none"
    )
    @click.option("--mail", help="e-mail address, or none to remove it")
    @click.option("--webhook", help="https address, or none to remove it; it gets a new secret")
    def change(
        name: str,
        scopes: frozenset[str] | None,
        expires: float | None,
        daily_limit: int | None,
        monthly_budget: Decimal | None,
        mail: str | None,
        webhook: str | None,
    ) -> None:
        """Change a token; what its owner has stored stays."""
        wanted = TokenChange(scopes, expires, daily_limit, monthly_budget)
        if wanted == TokenChange() and mail is None and webhook is None:
            raise click.UsageError("nothing to change")
        _refuse_unpriced(portal, monthly_budget or Decimal(0))
        _check_channels(portal, mail, webhook)
        also = portal.trail.writing(by_command("access_changed", name))
        if not portal.tokens.change(name, wanted, also):
            fail(f"No token is named {name}, or it is revoked.")
        _set_channels(portal, name, mail, webhook)
        print(f"Changed {name}.")

    @token.command("rotate")
    @click.argument("name")
    @click.option("--overlap", default="24h", show_default=True, callback=_overlap, help="0 = none")
    def rotate(name: str, overlap: float) -> None:
        """Print a token that replaces NAME alone on the last line; the former one ends.

        The new token has the owner, the scopes, the limits and the lifetime of the former one.
        """
        also = portal.trail.writing(by_command("rotated", name))
        new_token = portal.tokens.rotate(name, overlap, also)
        if new_token is None:
            fail(f"No token is named {name}, or it is revoked.")
        ends = f"works until {_local_time(time.time() + overlap)}" if overlap else "has ended"
        print(f"The former token of {name} {ends}; the new one will not be shown again:")
        print(new_token)

    @token.command("list")
    @click.option("--json", "as_json", is_flag=True, help="one JSON array")
    def listed(as_json: bool) -> None:
        """List all issued tokens by name, with their scopes and expiry, but not the tokens."""
        now, issued = time.time(), portal.tokens.listed()
        lines = (
            json_array_lines(_members(token, now) for token in issued)
            if as_json
            else table_lines(
                COLUMNS, (_cells(token, now) for token in issued), {"daily limit", "monthly budget"}
            )
        )
        print_lines(lines)

    @token.command("revoke")
    @click.argument("name")
    def revoke(name: str) -> None:
        """Revoke a token; it is refused everywhere within five seconds."""
        if not portal.tokens.revoke(name, portal.trail.writing(by_command("revoked", name))):
            fail(f"No valid token is named {name}.")
        print(f"Revoked {name}.")

    return token


def _place(portal: Parts) -> str:
    """Name the portal that accepts an issued token."""
    if portal.files.demo:
        return "of the demonstration, because PORTAL_UPSTREAM_URL is not set"
    return f"of the portal with the upstream {portal.namespace.partition(':')[2]}"


def _bounds(lifetime_s: float | None, daily_limit: int) -> str:
    """Return until when a new token works, and how many calls it may cause a day."""
    end = f"until {_local_time(time.time() + lifetime_s)}" if lifetime_s else "without end"
    return f"{end}, {daily_limit or 'any number of'} calls a day"


def _cells(token: Issued, now: float) -> tuple[str, ...]:
    return (
        token.name,
        ",".join(sorted(token.scopes)),
        str(token.daily_limit or "none"),
        f"{token.monthly_budget:.2f}" if token.monthly_budget else "none",
        _local_time(token.created_at),
        _local_time(token.expires_at) if token.expires_at else "never",
        token.state(now),
    )


def _members(token: Issued, now: float) -> dict[str, Any]:
    return {
        "name": token.name,
        "scopes": sorted(token.scopes),
        "daily_limit": token.daily_limit or None,
        "monthly_budget": token.monthly_budget or None,
        "issued_at": iso_time(token.created_at),
        "expires_at": iso_time(token.expires_at) if token.expires_at else None,
        "state": token.state(now),
    }


def _name(_: click.Context, __: click.Parameter, value: str) -> str:
    if not is_token_name(value):
        raise click.BadParameter("letters, digits and . _ @ - (80 at most)")
    return value


def _scopes(_: click.Context, __: click.Parameter, value: str) -> frozenset[str]:
    scopes = frozenset(scope.strip() for scope in value.split(",") if scope.strip())
    if unknown := sorted(scopes - ISSUABLE_SCOPES):
        raise click.BadParameter(f"{unknown[0]} is none of {', '.join(sorted(ISSUABLE_SCOPES))}")
    if not scopes:
        raise click.BadParameter("at least one scope")
    if not are_issuable(scopes):
        raise click.BadParameter(f"{STORED} stands alone: it never spends")
    return scopes


def _lifetime(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    if value is None:
        return None
    if value == "never":
        return math.inf
    match = re.fullmatch(r"([1-9][0-9]{0,4})([mhdw])", value, re.ASCII)
    if match is None:
        raise click.BadParameter("a number and m, h, d or w, as in 30d")
    return float(int(match[1]) * _UNITS[match[2]])


def _scopes_or_none(
    context: click.Context, option: click.Parameter, value: str | None
) -> frozenset[str] | None:
    return None if value is None else _scopes(context, option, value)


def _overlap(context: click.Context, option: click.Parameter, value: str) -> float:
    overlap = 0.0 if value == "0" else _lifetime(context, option, value)
    if overlap is None or math.isinf(overlap):
        raise click.BadParameter("0, or a number and m, h, d or w, as in 24h")
    return overlap


def _budget_or_none(
    context: click.Context, option: click.Parameter, value: str | None
) -> Decimal | None:
    return None if value is None else _budget(context, option, value)


def _budget(_: click.Context, __: click.Parameter, value: str | None) -> Decimal:
    if value is None:
        return Decimal(0)
    if re.fullmatch(r"[0-9]{1,7}([.,][0-9]{1,2})?", value, re.ASCII) is None:
        raise click.BadParameter("an amount in R$, as in 60 or 60.50")
    return Decimal(value.replace(",", "."))


def _refuse_unpriced(portal: Parts, monthly_budget: Decimal) -> None:
    """End the command if a budget is set and the price of an operation is unknown."""
    if monthly_budget and portal.unpriced:
        fail(f"A budget needs the price of every call: set {', '.join(portal.unpriced)}.")


def _check_channels(portal: Parts, mail: str | None, webhook: str | None) -> None:
    """End the command with 2 if an address makes no sense."""
    if mail not in (None, "none") and not is_mail_address(mail or ""):
        raise click.BadParameter(f"{mail!r} is no e-mail address")
    if webhook not in (None, "none"):
        try:
            portal.webhooks.check(webhook or "")
        except HostRefused as refused:
            raise click.BadParameter(f"{webhook!r}: {refused}") from None


def _set_channels(portal: Parts, name: str, mail: str | None, webhook: str | None) -> None:
    """Change where the owner of a token gets messages, and print a new webhook's secret."""
    if mail is None and webhook is None:
        return
    (owner,) = (token.owner for token in portal.tokens.listed() if token.name == name)
    texts = [None if text is None else "" if text == "none" else text for text in (mail, webhook)]
    channels = portal.channels.change(owner, *texts)
    if texts[1]:
        print(f"Secret of the webhook, which will not be shown again: {channels.secret}")


def _local_time(seconds: float) -> str:
    return from_epoch(seconds).strftime("%Y-%m-%d %H:%M")
