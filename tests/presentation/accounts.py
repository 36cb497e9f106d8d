"""Accounts and people for the pages' specimens."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from portal.access.own_sessions import OwnSession
from portal.access.people import PROXY, Person
from portal.gateway.limits import Limit, Use
from portal.presentation.site.account import AccountPage, OwnTokenForm, PersonAccount
from tests.presentation.operations import ANA, AT, SCOPES, TODAY, token
from tests.presentation.rendering import NOW

ENDS_AT = NOW + timedelta(days=3)
USES = (
    (Use(Limit("portal", "day", "day", Decimal(120)), Decimal(7), ENDS_AT), None),
    (Use(Limit("person", "person:1", "day", Decimal(1)), Decimal(1), ENDS_AT), None),
    (Use(Limit("person", "person:1", "month", Decimal(60)), Decimal("12.5"), ENDS_AT), None),
    (Use(Limit("token", "token:ana", "month", Decimal(60)), Decimal("12.5"), ENDS_AT), TODAY),
)
ACCOUNT = AccountPage("ana <b>", SCOPES, NOW, TODAY, ANA, USES, ENDS_AT, None)
PERSONS_ACCOUNT = replace(
    ACCOUNT,
    token_ends_at=None,
    person=PersonAccount(
        tokens=(token("planilha", SCOPES, 5, AT + 86400), token("velho", SCOPES, 5, AT - 60)),
        entered_at=NOW,
        seen_at=None,
        ends_at_provider=False,
        form=OwnTokenForm(
            name="<b>",
            scopes=("admin",),
            problems=dict.fromkeys(("name", "scopes", "days", "limit"), "Não <b> serve."),
        ),
        sessions=(
            OwnSession("one", AT - 7200, AT - 3600, "firefox", "windows"),
            OwnSession("two", AT - 60, AT, "other", "other"),
        ),
        session="two",
    ),
)
_ANA = Person(
    id="a" * 64,
    caller="person:ana <b>",
    issuer=PROXY,
    subject="ana",
    groups=("vendas",),
    scopes=SCOPES,
    refresh_token=None,
    entered_at=AT - 90,
    seen_at=AT - 60,
    checked_at=AT - 60,
    ended_at=None,
    refused_at=None,
)
PEOPLE = (
    _ANA,
    replace(_ANA, caller="person:bia", scopes=frozenset()),
    replace(_ANA, caller="person:caio", ended_at=AT - 30),
    replace(_ANA, caller="person:davi", refused_at=AT - 30),
)
