"""People who sign in: roles, the provider's confirmation, own tokens, limits, ended sessions."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import select

from portal.access.people import (
    CONFIRMED_S,
    OWN_TOKENS_S,
    PROXY,
    RENEW_AFTER_S,
    Claims,
    Confirmed,
    NotConfirmed,
    People,
    Person,
    ProviderAway,
    bounded,
    shown_name,
)
from portal.access.tokens import (
    OPERATION_SCOPES,
    RefusedToken,
    Tokens,
    TokensUnavailable,
    UnknownToken,
    digest,
)
from portal.gateway.ledger import LedgerEntry
from portal.gateway.lookup import Failure
from portal.storage.database import Database
from portal.storage.later_ends import end_what_has_ended
from portal.storage.opening import database_file, open_database
from portal.storage.tables import people as table
from portal.system.roles import parse_roles
from tests.fakes import Clock
from tests.fakes.one_tenant import ledger_of, subject_keys, tokens_in

ISSUER = "https://login.example"
ROLES = parse_roles("vendas=decode,renainf; chefia=admin,decode,renajud; leitura=stored")
SECRET = b"s" * 32


@dataclass
class FakeProvider:
    """Confirms with the groups that it has, or raises ``error``."""

    groups: list[str] = field(default_factory=lambda: ["vendas"])
    error: Exception | None = None
    asked: list[str] = field(default_factory=list)
    issuer: str = ISSUER

    def confirm(self, refresh_token: str, subject: str) -> Confirmed:
        self.asked.append(refresh_token)
        if self.error is not None:
            raise self.error
        claims = Claims(ISSUER, subject, "ana@loja.example", self.groups)
        return Confirmed(claims, f"{refresh_token}+")


def company(
    database: Database, clock: Clock, provider: FakeProvider | None = None, **named: object
) -> People:
    keys = subject_keys(SECRET, str)
    options = {"by_proxy": True, "provider": provider, "clock": clock, "monotonic": clock, **named}
    return People(database, keys, ROLES, **options)  # type: ignore[arg-type]


def claims(*groups: str, subject: str = "ana", issuer: str = PROXY, name: str = "ana") -> Claims:
    return Claims(issuer, subject, name, groups)


@pytest.fixture
def provider() -> FakeProvider:
    return FakeProvider()


def signed_in(people: People) -> Person:
    return people.enter(claims("vendas", issuer=ISSUER, name="ana@loja.example"), "r1")


def test_person_has_one_owner_and_the_scopes_of_all_groups(
    database: Database, clock: Clock
) -> None:
    people = company(database, clock)
    first = people.identity(people.meet(claims("vendas")))
    clock.advance(100)
    second = people.identity(people.meet(claims("vendas", "chefia", "estoque")))
    assert (first.name, first.owner, first.is_person) == ("person:ana", second.owner, True)
    assert first.scopes == {"decode", "renainf"}
    assert second.scopes == {"decode", "renainf", "renajud", "admin"}


def test_namesakes_are_different_people(database: Database, clock: Clock) -> None:
    people = company(database, clock)
    found = [people.enter(claims("vendas", subject=each)) for each in ("1", "2", "3")]
    assert [each.name for each in found] == ["ana", "ana (2)", "ana (3)"]
    assert len({each.id for each in found}) == 3
    elsewhere = people.enter(claims("vendas", subject="1", issuer=ISSUER))
    assert elsewhere.id != found[0].id


@pytest.mark.parametrize(
    "groups", [(), ("estoque",), ("Vendas",), ("vendas ",), ("vendas,chefia",)]
)
def test_nobody_gets_in_without_a_named_group(
    database: Database, clock: Clock, groups: tuple[str, ...]
) -> None:
    people = company(database, clock)
    with pytest.raises(RefusedToken):
        people.meet(claims(*groups))
    assert people.listed() == []


def test_row_holds_no_subject_group_or_refresh_token(
    database: Database, clock: Clock, provider: FakeProvider
) -> None:
    company(database, clock, provider).enter(
        claims("vendas", subject="subject-of-ana", issuer=ISSUER), "refresh-of-ana"
    )
    with database.reading() as db:
        row = str(db.execute(select(table)).one())
    assert not [each for each in ("subject-of-ana", "refresh-of-ana", "vendas") if each in row]


def test_lost_group_ends_pages_and_own_tokens_of_the_proxys_person(
    database: Database, clock: Clock
) -> None:
    people = company(database, clock)
    tokens = tokens_in(database, (), clock, clock, holders=people)
    own = own_token(tokens, people.meet(claims("vendas")))
    assert own().owner == people.listed()[0].id
    with pytest.raises(RefusedToken):
        people.meet(claims("estoque"))
    with pytest.raises(RefusedToken):
        own()


def own_token(tokens: Tokens, person: Person, scopes: str = "decode", limit: int = 0) -> Callable:  # type: ignore[type-arg]
    token = tokens.issue("planilha", frozenset(scopes.split(",")), None, limit, person=person.id)
    return lambda: tokens.identify(digest(token))


def test_own_token_of_the_proxys_person_ends_half_a_day_after_the_last_page(
    database: Database, clock: Clock
) -> None:
    people = company(database, clock)
    tokens = tokens_in(database, (), clock, clock, holders=people)
    own = own_token(tokens, people.meet(claims("vendas")))
    clock.advance(OWN_TOKENS_S)
    assert own().name == "planilha"
    clock.advance(3)
    with pytest.raises(RefusedToken):
        own()
    people.meet(claims("vendas"))
    assert own().name == "planilha"


def test_own_token_never_has_more_than_its_person(database: Database, clock: Clock) -> None:
    people = company(database, clock)
    tokens = tokens_in(database, (), clock, clock, holders=people)
    own = own_token(tokens, people.meet(claims("vendas", "chefia")), "decode,renajud,admin")
    assert own().scopes == {"decode", "renajud", "admin"}
    people.meet(claims("vendas"))
    clock.advance(3)
    assert own().scopes == {"decode"}


@pytest.mark.parametrize(
    ("wanted", "own", "given"),
    [
        ({"decode", "admin"}, {"decode"}, {"decode"}),
        ({"decode"}, {"stored"}, set()),
        ({"stored"}, {"stored"}, {"stored"}),
        ({"stored"}, {"decode"}, set()),
        ({"stored"}, OPERATION_SCOPES, {"stored"}),
        ({"refresh"}, OPERATION_SCOPES, set()),
    ],
)
def test_scopes_of_an_own_token(wanted: set[str], own: set[str], given: set[str]) -> None:
    assert bounded(frozenset(wanted), frozenset(own)) == given


def test_own_token_is_refused_without_the_sign_in_of_people(
    database: Database, clock: Clock
) -> None:
    people = company(database, clock)
    own = own_token(tokens_in(database, (), clock, clock), people.meet(claims("vendas")))
    with pytest.raises(RefusedToken):
        own()


def test_provider_is_asked_again_and_a_lost_group_counts(
    database: Database, clock: Clock, provider: FakeProvider
) -> None:
    people = company(database, clock, provider)
    tokens = tokens_in(database, (), clock, clock, holders=people)
    person = signed_in(people)
    own = own_token(tokens, person, "decode,renainf")
    clock.advance(RENEW_AFTER_S - 1)
    own()
    assert provider.asked == []
    clock.advance(1)
    own()
    clock.advance(RENEW_AFTER_S)
    people.of_session(person.id, clock.now())
    assert provider.asked == ["r1", "r1+"]  # the next token, where the provider gives one
    provider.groups = []
    clock.advance(RENEW_AFTER_S)
    for use in (lambda: people.of_session(person.id, clock.now()), own):
        with pytest.raises(RefusedToken):
            use()
    assert len(provider.asked) == 3


def test_person_who_is_disabled_loses_pages_and_own_tokens(
    database: Database, clock: Clock, provider: FakeProvider
) -> None:
    people = company(database, clock, provider)
    tokens = tokens_in(database, (), clock, clock, holders=people)
    person = signed_in(people)
    own = own_token(tokens, person)
    provider.error = NotConfirmed()
    clock.advance(RENEW_AFTER_S)
    for use in (own, lambda: people.of_session(person.id, clock.now()), own):
        with pytest.raises(RefusedToken):
            use()
    assert len(provider.asked) == 1
    clock.advance(10)
    assert signed_in(people).refused_at is None
    assert own().name == "planilha"


def test_provider_that_is_away_is_bridged_for_a_quarter_of_an_hour(
    database: Database, clock: Clock, provider: FakeProvider
) -> None:
    people = company(database, clock, provider)
    person = signed_in(people)
    provider.error = ProviderAway()
    for _ in range(int(CONFIRMED_S / 10) - 1):
        clock.advance(10)
        people.of_session(person.id, clock.now())
    assert len(provider.asked) <= CONFIRMED_S / 30
    clock.advance(10)
    with pytest.raises(TokensUnavailable):
        people.of_session(person.id, clock.now())
    provider.error = None
    clock.advance(31)
    assert people.of_session(person.id, clock.now()).scopes


def test_without_a_refresh_token_a_sign_in_lasts_a_quarter_of_an_hour(
    database: Database, clock: Clock, provider: FakeProvider
) -> None:
    people = company(database, clock, provider)
    person = people.enter(claims("vendas", issuer=ISSUER))
    clock.advance(CONFIRMED_S - 1)
    people.of_session(person.id, clock.now())
    clock.advance(1)
    with pytest.raises(RefusedToken):
        people.of_session(person.id, clock.now())


def test_person_of_another_issuer_is_not_admitted(
    database: Database, clock: Clock, provider: FakeProvider
) -> None:
    person = signed_in(company(database, clock, provider))
    met = company(database, clock).meet(claims("vendas", subject="bia"))
    others = [
        (company(database, clock), person),
        (company(database, clock, replace(provider, issuer="https://other.example")), person),
        (company(database, clock, by_proxy=False), met),
    ]
    for people, each in others:
        with pytest.raises(RefusedToken):
            people.of_session(each.id, clock.now())


def test_ended_sessions_are_over_at_once(
    database: Database, clock: Clock, provider: FakeProvider
) -> None:
    people = company(database, clock, provider)
    other = company(database, clock, provider)  # another process
    tokens = tokens_in(database, (), clock, clock, holders=other)
    person, began_at = signed_in(people), clock.now()
    own = own_token(tokens, person)
    clock.advance(1)
    assert other.of_session(person.id, began_at).name == "ana@loja.example"
    assert people.end_sessions(person.id)
    with pytest.raises(RefusedToken):
        other.of_session(person.id, began_at)
    clock.advance(3)
    with pytest.raises(RefusedToken):
        own()
    signed_in(people)
    clock.advance(3)
    assert other.of_session(person.id, clock.now()).name == "ana@loja.example"
    assert own().name == "planilha"
    assert not people.end_sessions("f" * 64)


def test_people_of_another_upstream_are_unknown(database: Database, clock: Clock) -> None:
    person = company(database, clock).meet(claims("vendas"))
    keys = replace(subject_keys(SECRET, str), namespace="elsewhere")
    people = People(database, keys, ROLES, by_proxy=True, clock=clock, monotonic=clock)
    with pytest.raises(UnknownToken):
        people.of_session(person.id, clock.now())
    assert not people.end_sessions(person.id)
    assert people.listed() == []


def test_batch_runs_for_a_person_who_is_away(database: Database, clock: Clock) -> None:
    people = company(database, clock)
    tokens = tokens_in(database, (), clock, clock, holders=people)
    person = people.meet(claims("vendas"))
    assert tokens.identify_owner(person.id).name == "person:ana"
    clock.advance(OWN_TOKENS_S + 3)
    with pytest.raises(RefusedToken):
        tokens.identify_owner(person.id)


def test_limits_of_a_person_bind_pages_and_own_tokens_together(
    database: Database, clock: Clock
) -> None:
    people = company(database, clock, daily_limit=3, monthly_budget=Decimal("0.90"))
    tokens = tokens_in(database, (), clock, clock, holders=people)
    ana = people.identity(people.meet(claims("vendas")))
    bia = people.identity(people.meet(claims("vendas", subject="bia", name="bia")))
    script = own_token(tokens, people.meet(claims("vendas")), limit=1)()
    assert (script.least_daily_limit, script.least_monthly_budget) == (1, Decimal("0.90"))
    ledger = ledger_of(database, clock=clock)

    def kind(caller: object, price: str) -> str:
        try:
            LedgerEntry(ledger, "decode", "tag", Decimal(price), caller).begin("primary")  # type: ignore[arg-type]
        except Failure as failure:
            return failure.kind
        return "sent"

    assert [kind(script, "0.30"), kind(script, "0.30")] == ["sent", "token_limit"]
    assert [kind(ana, "0.30"), kind(ana, "0.40"), kind(ana, "0.30")] == [
        *("sent", "token_budget", "sent")
    ]
    assert kind(ana, "0") == "token_limit"
    assert kind(bia, "0.30") == "sent"
    scopes = [(use.limit.scope, use.limit.unit, use.left) for use in ledger.uses(ana)]
    assert scopes == [("person", "calls", Decimal(0)), ("person", "brl", Decimal(0))]
    assert ledger.allowance(script).left == 0


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ana@loja.example", "ana@loja.example"),
        ("  José   D'Ávila\n", "José D'Ávila"),
        ("=cmd|a<script>", "cmdascript"),
        ("a\u202eb\u200bc\x00", "abc"),
        ("person:ana", "personana"),
        ("x" * 300, "x" * 60),
        ("💰", ""),
    ],
)
def test_name_has_no_sign_that_misleads(name: str, shown: str) -> None:
    assert shown_name(name) == shown


def test_database_that_is_away_is_no_refusal(database: Database, clock: Clock) -> None:
    people = company(database, clock)
    person = people.meet(claims("vendas"))
    with database.engine.begin() as db:
        db.exec_driver_sql("ALTER TABLE people RENAME TO away")
    clock.advance(5)
    with pytest.raises(TokensUnavailable):
        people.of_session(person.id, clock.now())


def test_restored_backup_keeps_ended_sessions_and_hand_overs(tmp_path: Path, clock: Clock) -> None:
    """A backup from before does not bring back who has lost access since."""
    files = {}
    for name in ("later", "backup"):
        database = open_database(None, tmp_path / name)
        files[name] = database_file(None, tmp_path / name)
        database.dispose()
    later, backup = files["later"], files["backup"]
    assert later is not None
    assert backup is not None
    database = open_database(None, tmp_path / "later")
    person = company(database, clock).meet(claims("vendas"))
    database.dispose()
    shutil.copy(later, backup)
    database = open_database(None, tmp_path / "later")
    clock.advance(1)
    company(database, clock).end_sessions(person.id)
    database.dispose()
    end_what_has_ended(backup, later)
    database = open_database(None, tmp_path / "backup")
    with pytest.raises(RefusedToken):
        company(database, clock).of_session(person.id, person.entered_at)
    database.dispose()
