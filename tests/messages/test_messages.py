"""Messages: told once, delivered to real receivers, tried again, and never to a private address."""

import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest
from sqlalchemy import select
from standardwebhooks import Webhook, WebhookVerificationError

from portal.access.sealing import SubjectKeys
from portal.access.tokens import SCOPES
from portal.gateway.ledger import Ledger, LedgerEntry
from portal.gateway.limits import Limit
from portal.gateway.lookup import Failure
from portal.issued.archive import DossierArchive
from portal.issued.identifiers import display_number, new_identifiers
from portal.issued.model import IssuedSnapshot
from portal.messages.budgets import BudgetMessages
from portal.messages.channels import Addresses, Channels
from portal.messages.courier import Courier
from portal.messages.endings import DossierEndings, KeyEnding, TokenEndings
from portal.messages.mail import MailServer, mail_text
from portal.messages.outbox import GIVEN_UP_S, OPERATOR, Message, Outbox
from portal.messages.webhook import WebhookSender, payload
from portal.pdf.signing import SigningKey
from portal.phrasebook.deliveries import failure_words
from portal.storage.database import Database
from portal.storage.tables import messages
from portal.system.local_time import from_epoch
from portal.system.public_hosts import HostRefusal, HostRefused, checked_url, reachable
from portal.system.webhook_signature import is_secret, new_secret, signature
from tests.conftest import PortalFactory
from tests.fakes import Clock, free_port
from tests.fakes.databases import EmptyDatabase, kept_open
from tests.fakes.in_process import PRICED
from tests.fakes.one_tenant import NAMESPACE, ledger_of, tokens_in
from tests.fakes.receivers import MailReceiver, WebhookReceiver
from tests.fakes.tls import authority, certified
from tests.gateway.gateways import as_caller
from tests.gateway.ledgers import buy
from tests.web.person import Person

SECRET = new_secret()
DAY = 86_400.0


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with WebhookReceiver().running() as found:
        yield found


@pytest.fixture
def outbox(database: Database, clock: Clock) -> Outbox:
    return Outbox(database, NAMESPACE, clock)


def keys() -> SubjectKeys:
    return SubjectKeys(b"k" * 32, lambda text: text, NAMESPACE)


def courier(
    database: Database,
    outbox: Outbox,
    receiver: WebhookReceiver,
    clock: Clock,
    mail: MailServer | None = None,
) -> Courier:
    operator = Addresses("ops@example.com" if mail else "", receiver.url, SECRET)
    channels = Channels(database, keys(), operator)
    return Courier(outbox, channels, WebhookSender(["127.0.0.1"], clock), mail, lambda *_: None)


def test_webhook_is_signed_as_the_standard_says(
    database: Database, outbox: Outbox, receiver: WebhookReceiver, clock: Clock
) -> None:
    outbox.write(Message("budget.warned", "k", {"used": "48.00"}))
    courier(database, outbox, receiver, clock).tick()
    (posted,) = receiver.posted
    assert posted.path == "/hook?x=1"
    content = json.loads(posted.body)
    assert (content["type"], content["data"]) == ("budget.warned", {"used": "48.00"})
    assert datetime.fromisoformat(content["timestamp"]).timestamp() == pytest.approx(clock(), abs=1)
    headers = posted.headers
    stamp = int(headers["webhook-timestamp"])
    assert abs(stamp - clock()) <= 1
    assert headers["webhook-signature"] == signature(
        SECRET, headers["webhook-id"], stamp, posted.body
    )


@pytest.mark.parametrize(
    ("name", "is_trusted", "result"),
    [
        ("127.0.0.1", True, ""),
        ("127.0.0.1", False, "SSLCertVerificationError"),
        ("hook.example", True, "SSLCertVerificationError"),
    ],
)
def test_https_receiver_is_verified_and_verifies(name: str, is_trusted: bool, result: str) -> None:
    context = ssl.create_default_context()
    if is_trusted:
        authority().configure_trust(context)
    sender = WebhookSender(["127.0.0.1"], time.time, context=context)
    body = payload("test", time.time(), {"what": "ação"})
    with WebhookReceiver(certified(name)).running() as receiver:
        assert sender.send(receiver.url, SECRET, "msg_1", body) == result
    assert len(receiver.posted) == (not result)
    for posted in receiver.posted:
        found = Webhook(SECRET).verify(posted.body, posted.headers)
        assert found["data"] == {"what": "ação"}
        with pytest.raises(WebhookVerificationError):
            Webhook(SECRET).verify(posted.body + b" ", posted.headers)


def test_signature_of_the_standards_example() -> None:
    """The example of the libraries of Standard Webhooks."""
    found = signature(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
    )
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert is_secret(SECRET) and not is_secret("whsec_short") and not is_secret(SECRET[6:])


def test_e_mail_is_sent_in_portuguese(
    database: Database, outbox: Outbox, receiver: WebhookReceiver, clock: Clock
) -> None:
    with MailReceiver().running() as mailbox:
        server = MailServer.of(f"smtp://127.0.0.1:{mailbox.port}", "portal@example.com")
        data = {"budget": "60", "used": "48", "ends_on": "2026-11-30", "token": "ana"}
        outbox.write(Message("budget.warned", "k", data))
        courier(database, outbox, receiver, clock, server).tick()
        (text,) = mailbox.received
    assert "To: ops@example.com" in text and "Auto-Submitted: auto-generated" in text
    assert len(receiver.posted) == 1


def test_message_is_told_once_by_all_processes(
    database: Database, outbox: Outbox, receiver: WebhookReceiver, clock: Clock
) -> None:
    couriers = [
        courier(database, Outbox(database, NAMESPACE, clock), receiver, clock) for _ in range(4)
    ]
    for number in range(5):
        for _ in range(3):
            outbox.write(Message("test", f"key {number}", {}))
    threads = [threading.Thread(target=each.tick) for each in couriers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(receiver.posted) == 5
    assert len({each.headers["webhook-id"] for each in receiver.posted}) == 5


@pytest.mark.long
@pytest.mark.over_5_s("1,000 calls")
def test_lines_that_two_machines_cross_are_told_once_each(
    empty_database: EmptyDatabase, receiver: WebhookReceiver, clock: Clock
) -> None:
    """1,000 calls of R$ 0.31 under R$ 300, which two portals make and tell of at the same time."""
    budget, mailbox = Decimal(300), MailReceiver()
    paid: list[Decimal] = []

    def portal(mail: MailServer) -> tuple[Ledger, Courier]:
        database = kept_open(empty_database.url, empty_database.folder)
        told = Outbox(database, NAMESPACE, clock)
        budgets = BudgetMessages(told)
        ledger = ledger_of(database, monthly_budget=budget, budgets=budgets, clock=clock)
        return ledger, courier(database, told, receiver, clock, mail)

    def work(ledger: Ledger, one: Courier) -> None:
        for _ in range(100):
            try:
                LedgerEntry(ledger, "decode", "tag", Decimal("0.31"), as_caller("ana")).begin(
                    "primary"
                ).finish("answered", 200)
                paid.append(Decimal("0.31"))
            except Failure as failure:
                assert failure.kind == "portal_budget"
        one.tick()

    with mailbox.running():
        server = MailServer.of(f"smtp://127.0.0.1:{mailbox.port}", "portal@example.com")
        portals = [portal(server), portal(server)]
        threads = [threading.Thread(target=work, args=portals[number % 2]) for number in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for _, one in portals:
            one.tick()
    assert sum(paid) == 967 * Decimal("0.31")
    kinds = [json.loads(posted.body)["type"] for posted in receiver.posted]
    assert sorted(kinds) == ["budget.spent", "budget.warned"]
    assert len(mailbox.received) == 2


def test_failing_receiver_gets_the_message_when_it_is_back(
    database: Database, outbox: Outbox, receiver: WebhookReceiver, clock: Clock
) -> None:
    receiver.status = 503
    one = courier(database, outbox, receiver, clock)
    outbox.write(Message("test", "k", {}))
    for _ in range(2 * 24 * 6):  # two days, each ten minutes
        one.tick()
        clock.advance(600)
    assert 8 <= len(receiver.posted) <= 20
    (state,) = outbox.latest()
    assert (state.result, state.is_done) == ("status 503", False)
    receiver.status = 200
    clock.advance(8 * 3600)
    one.tick()
    assert outbox.latest()[0].is_done
    assert len({each.headers["webhook-id"] for each in receiver.posted}) == 1


def test_message_is_given_up_after_three_days(
    database: Database, outbox: Outbox, receiver: WebhookReceiver, clock: Clock
) -> None:
    receiver.status = 500
    one = courier(database, outbox, receiver, clock)
    outbox.write(Message("test", "k", {}))
    for _ in range(30):
        one.tick()
        clock.advance(8 * 3600)
    (state,) = outbox.latest()
    assert (state.next_at, state.is_done) == (None, False)
    assert state.attempts >= GIVEN_UP_S / (8 * 3600) - 1


def test_redirect_is_not_followed(
    database: Database, outbox: Outbox, receiver: WebhookReceiver, clock: Clock
) -> None:
    receiver.status, receiver.location = 307, receiver.url
    outbox.write(Message("test", "k", {}))
    courier(database, outbox, receiver, clock).tick()
    assert len(receiver.posted) == 1
    assert outbox.latest()[0].result == "status 307"


PRIVATE = (
    *("127.0.0.1", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("0.0.0.0", "255.255.255.255", "224.0.0.1", "198.18.0.1", "192.0.2.1", "203.0.113.9"),
    *("::1", "::", "fe80::1", "fc00::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1"),
    *("::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "2002:7f00:1::", "2001:0:1::1"),
    *("::ffff:0:127.0.0.1", "0.1.2.3", "127.255.255.254", "169.254.0.1", "100.127.255.255"),
    *("239.1.1.1", "240.0.0.1", "192.0.0.8", "192.0.0.170", "192.88.99.1", "198.51.100.1"),
    *("::7f00:1", "::a00:1", "64:ff9b::808:808", "100::1", "2001:2::1", "2001:20::1", "3fff::1"),
    *("2002:808:808::1", "fd00:ec2::254", "febf::1", "fec0::1", "feff::1", "ff0e::1", "5f00::1"),
    *("4000::1", "2001:470::5efe:10.0.0.1", "2001:470::200:5efe:a00:1", "64:ff9b::7f00:1%1"),
)
PUBLIC = (
    *("93.184.215.14", "8.8.8.8", "192.0.1.1", "192.88.100.1", "223.255.255.1", "172.32.0.1"),
    *("2606:4700:4700::1111", "2a00:1450:4001:80b::200e", "2001:4860:4860::8888"),
    "::ffff:8.8.8.8",
)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_address_is_reached(address: str) -> None:
    found = [(0, 0, 0, "", (address, 443))]
    assert reachable("hook.example", 443, (), lambda *_: found) == address


@pytest.mark.parametrize("address", PRIVATE)
def test_private_address_is_not_reached(address: str) -> None:
    with pytest.raises(HostRefused):
        reachable("hook.example", 443, (), lambda *_: [(0, 0, 0, "", (address, 443))])


@pytest.mark.parametrize("address", PRIVATE)
def test_one_private_address_among_public_ones_is_enough(address: str) -> None:
    found = [(0, 0, 0, "", (each, 443)) for each in ("93.184.215.14", address)]
    with pytest.raises(HostRefused):
        reachable("hook.example", 443, (), lambda *_: found)


def test_checked_address_is_the_one_that_is_connected_to(clock: Clock) -> None:
    """A DNS answer that changes after the check changes nothing: the name is asked once."""
    asked: list[str] = []

    def look_up(host: str, *_: object) -> list[Any]:
        asked.append(host)
        return [(0, 0, 0, "", ("93.184.215.14" if len(asked) == 1 else "127.0.0.1", 443))]

    assert reachable("hook.example", 443, (), look_up) == "93.184.215.14"
    assert asked == ["hook.example"]


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://hook.example/",
            "ftp://hook.example/",
            "https://user@hook.example/",
            "https:///x",
        ),
        *("hook.example", "https://hook.example/#x", "https://hook.example:99999/", "https://h é/"),
        *("file:///etc/passwd", "https://[::1", "javascript:alert(1)", "https://hook .example/"),
    ],
)
def test_url_that_is_no_webhook_is_refused(url: str) -> None:
    with pytest.raises(HostRefused):
        checked_url(url, ())


def test_named_hosts_are_reached_alone() -> None:
    assert checked_url("http://hooks.internal:8080/a", {"hooks.internal"}) == (
        *("hooks.internal", 8080, "/a"),
    )
    with pytest.raises(HostRefused):
        checked_url("https://hook.example/", {"hooks.internal"})


def test_threshold_is_told_once_a_month(database: Database, outbox: Outbox, clock: Clock) -> None:
    caller = replace(as_caller("ana", monthly_budget=Decimal("3.00")), owner="owner")
    ledger = ledger_of(database, budgets=BudgetMessages(outbox), clock=clock)
    for _ in range(7):
        buy(ledger, caller)
    assert outbox.count() == 0
    buy(ledger, caller)  # R$ 2.40 of R$ 3.00
    assert outbox.count() == 2  # to the operator and to the owner
    buy(ledger, caller, outcome="not_sent")
    buy(ledger, caller)
    buy(ledger, caller)
    assert outbox.count() == 4
    for _ in range(3):
        with pytest.raises(Failure):
            buy(ledger, caller)
    assert outbox.count() == 4
    clock.advance(32 * DAY)
    for _ in range(8):
        buy(ledger, caller)
    assert outbox.count() == 6


@pytest.mark.parametrize("amount", ["4.00", "3.00", "2.80"])
def test_changed_budget_is_another_one_to_warn_of(
    database: Database, outbox: Outbox, clock: Clock, amount: str
) -> None:
    """Nine calls of R$ 0.30 have passed the line of R$ 2.80, which all processes tell of once."""
    portals = [ledger_of(database, budgets=BudgetMessages(outbox), clock=clock) for _ in range(2)]
    former = replace(as_caller("ana", monthly_budget=Decimal("2.80")), owner="owner")
    for number in range(9):
        buy(portals[number % 2], former)
    assert kinds(database) == ["budget.warned"] * 2
    changed = replace(former, monthly_budget=Decimal(amount))
    for number in range(4):
        with suppress(Failure):
            buy(portals[number % 2], changed)
    once = [] if amount == "2.80" else ["budget.warned"]
    spent = [] if amount == "4.00" else ["budget.spent"]
    assert sorted(kinds(database)) == sorted(["budget.warned", *once, *spent] * 2)


def test_message_of_a_rolled_back_call_comes_with_the_next(
    database: Database, outbox: Outbox, clock: Clock
) -> None:
    budgets, caller = BudgetMessages(outbox), as_caller("ana")
    limit = Limit("token", "token:ana", "month", Decimal(3))
    with suppress(ZeroDivisionError), database.writing() as db:
        budgets.taken(db, limit, caller, Decimal("2.70"), clock())
        raise ZeroDivisionError
    assert kinds(database) == []
    for _ in range(3):
        with database.writing() as db:
            budgets.taken(db, limit, caller, Decimal("2.70"), clock())
    assert kinds(database) == ["budget.warned"]


def test_message_is_kept_for_longer_than_its_month(
    database: Database, outbox: Outbox, clock: Clock
) -> None:
    outbox.write(Message("budget.spent", "k", {}))
    clock.advance(31 * DAY)
    outbox.drop_expired()
    outbox.write(Message("budget.spent", "k", {}))
    assert outbox.count() == 1


def test_payload_of_a_budget_has_numbers_and_an_iso_day(
    database: Database, outbox: Outbox, receiver: WebhookReceiver
) -> None:
    clock = Clock(datetime(2026, 11, 2, 15, tzinfo=UTC).timestamp())
    outbox = Outbox(database, NAMESPACE, clock)
    ledger = ledger_of(
        database, monthly_budget=Decimal("0.35"), budgets=BudgetMessages(outbox), clock=clock
    )
    buy(ledger)
    courier(database, outbox, receiver, clock).tick()
    (posted,) = receiver.posted
    assert json.loads(posted.body)["data"] == {
        "scope": "portal",
        "token": "",
        "budget": 0.35,
        "used": 0.3,
        "month": "2026-11",
        "ends_on": "2026-11-30",
    }


def test_mail_of_a_message_that_an_earlier_version_wrote() -> None:
    data = {"token": "", "budget": "9.50", "used": "9.43", "ends_on": "30/11/2026"}
    subject, text = mail_text("budget.spent", data)
    assert subject == "O orçamento do mês do portal não basta mais"
    assert "restam R$\u00a00,07." in text and "Até 30/11/2026," in text


def kinds(database: Database) -> list[str]:
    return [kind for kind, *_ in told(database)]


def test_refused_call_tells_of_a_budget_that_is_not_used_up(
    database: Database, outbox: Outbox, clock: Clock
) -> None:
    caller = replace(as_caller("ana", monthly_budget=Decimal("0.50")), owner="owner")
    ledger = ledger_of(database, budgets=BudgetMessages(outbox), clock=clock)
    buy(ledger, caller)
    for _ in range(2):
        with pytest.raises(Failure):
            buy(ledger, caller)
    assert outbox.count() == 2
    with database.reading() as db:
        told = [json.loads(data) for data in db.execute(select(messages.c.data)).scalars()]
    assert {each["used"] for each in told} == {0.3}
    subject, text = mail_text("budget.spent", told[0])
    assert subject == "O orçamento do mês do acesso ana não basta mais"
    assert "de R$\u00a00,50, restam R$\u00a00,20." in text
    assert "acabou" in mail_text("budget.spent", {**told[0], "used": 0.5})[0]


def test_token_that_ends_is_told_once(database: Database, outbox: Outbox, clock: Clock) -> None:
    tokens = tokens_in(database, (), clock, clock)
    tokens.issue("ana", SCOPES, 10 * DAY, 0)
    tokens.issue("bia", SCOPES, None, 0)
    endings = TokenEndings(outbox, tokens, clock)
    endings.write()
    assert outbox.count() == 0
    clock.advance(4 * DAY)
    for _ in range(3):
        endings.write()
    assert outbox.count() == 2


def test_dossier_that_ends_is_told_to_its_owner_once(
    database: Database, outbox: Outbox, clock: Clock
) -> None:
    archive = DossierArchive(database, keys(), lifetime_s=30 * 86_400, proof_s=0, clock=clock)
    names = {"ana": issue_in(archive, "ana"), "bia": issue_in(archive, "bia")}
    issue_in(archive, "")  # of a former version
    for number in (issue_in(archive, "ana"), issue_in(archive, "ana")):
        archive.revoke(number)
    replaced = issue_in(archive, "ana")
    endings = DossierEndings(outbox, archive, clock)
    endings.write()
    clock.advance(26.9 * DAY)
    issue_in(archive, "ana", supersedes=replaced)
    endings.write()
    assert told(database) == []
    with database.writing() as db:
        archive.hand_over(db, "bia", "eva")
    clock.advance(0.2 * DAY)
    for _ in range(3):
        endings.write()
    clock.advance(5 * DAY)
    endings.write()
    ((kind, recipient, data),) = told(database)
    assert (kind, recipient, data["number"]) == (
        *("dossier.ending", "ana", display_number(names["ana"])),
    )
    assert (
        datetime.fromisoformat(data["ends_on"]).strftime("%d/%m/%Y")
        in (mail_text("dossier.ending", data)[1])
    )


def issue_in(archive: DossierArchive, owner: str, supersedes: str | None = None) -> str:
    identifiers = new_identifiers()
    snapshot = IssuedSnapshot(plate="ABC1D23", caller="x", summary="{}", owner=owner)
    stored = (owner or "of a former version", identifiers, snapshot, "", None)
    archive.issue(*stored, last_purge=0, supersedes=supersedes)
    return identifiers.number


def told(database: Database) -> list[tuple[str, str, Any]]:
    with database.reading() as db:
        rows = db.execute(select(messages).order_by(messages.c.id)).all()
    return [(row.type, row.recipient, json.loads(row.data)) for row in rows]


@pytest.mark.parametrize(("days", "count"), [(31, 0), (29, 1), (1, 1), (-1, 0)])
def test_signing_key_that_ends_is_told_to_the_operator_once(
    days: int, count: int, database: Database, outbox: Outbox, clock: Clock
) -> None:
    ends_at = datetime.fromtimestamp(clock() + days * DAY, UTC)
    key = SigningKey(b"", "", None, "Loja Ltda", "ab" * 32, ends_at - timedelta(365), ends_at)
    for _ in range(3):
        KeyEnding(outbox, key, clock).write()
    KeyEnding(outbox, None, clock).write()
    assert [(kind, recipient) for kind, recipient, _ in told(database)] == [
        ("key.ending", OPERATOR)
    ] * count
    for _, _, data in told(database):
        assert data == {
            "signer": "Loja Ltda",
            "ends_on": from_epoch(ends_at.timestamp()).date().isoformat(),
        }
        day = f"{from_epoch(ends_at.timestamp()):%d/%m/%Y}"
        assert day in mail_text("key.ending", data)[1]


def test_owner_gets_a_secret_for_its_own_webhook(database: Database) -> None:
    channels = Channels(database, keys(), Addresses())
    found = channels.change("owner", "ana@example.com", "https://hook.example/")
    assert is_secret(found.secret)
    assert channels.of("owner") == found
    assert channels.change("owner", "", None) == ("", found.webhook, found.secret)
    assert channels.change("owner", None, "") == ("", "", "")
    assert channels.of("owner") == channels.of("other") == Addresses()


def test_operator_sends_a_test_and_sees_its_result(
    portal: PortalFactory, receiver: WebhookReceiver, tmp_path: Path
) -> None:
    here = portal(
        **{name.removeprefix("PORTAL_"): price for name, price in PRICED.items()},
        WEBHOOK_URL=receiver.url,
        WEBHOOK_SECRET=SECRET,
        WEBHOOK_HOSTS="127.0.0.1",
    )
    person = Person.at(here).signed_in()
    before = person.pages.get("/operacao").text
    assert "Nenhum aviso enviado" in before and "Configure SMTP_URL" not in before
    assert person.post("/operacao/avisos/teste").status_code == 303
    here.parts.courier.tick()
    assert [json.loads(each.body)["type"] for each in receiver.posted] == ["test"]
    assert "Teste de aviso, por webhook ao operador" in (text := person.pages.get("/operacao").text)
    assert "entregue" in text


@pytest.mark.parametrize("reason", get_args(HostRefusal))
def test_refused_address_is_said_in_portuguese(reason: HostRefusal) -> None:
    words = failure_words(f"refused: {reason}")
    assert reason not in words and words.startswith("o ")


@pytest.mark.parametrize(
    ("hosts", "url", "part"),
    [
        ((), "http://hook.example/", "não começa com https://"),
        (("a.example",), "https://hook.example/", "não está em WEBHOOK_HOSTS"),
        ((), "https://user@hook.example/", "tem usuário"),
        ((), "https://127.0.0.1/", "não tem endereço público"),
    ],
)
def test_reason_of_a_refused_webhook_is_not_its_opposite(
    hosts: tuple[str, ...], url: str, part: str
) -> None:
    failure = WebhookSender(hosts, time.time).send(url, SECRET, "msg_1", b"{}")
    assert part in failure_words(failure)


def test_failure_of_mail_is_said_in_portuguese(clock: Clock) -> None:
    with MailReceiver().running() as mailbox:
        address = f"127.0.0.1:{mailbox.port}"
        failures = [
            MailServer.of(url, "portal@example.com").send("ana@example.com", "m", "test", {})
            for url in (
                f"smtp://{address}?starttls=1",
                f"smtp://u:p@{address}",
                f"smtps://{address}",
            )
        ]
    gone = MailServer.of(f"smtp://127.0.0.1:{free_port()}", "portal@example.com")
    failures.append(gone.send("ana@example.com", "m", "test", {}))
    words = [failure_words(each) for each in failures]
    assert ["STARTTLS" in each for each in words[:2]] == [True, True]
    assert words[2].startswith("a conexão segura (TLS) falhou")
    assert words[3] == "o servidor recusou a conexão"
    assert failure_words("status 404") == "o servidor respondeu 404"
    assert failure_words("OSError") == "falha na conexão: OSError"


def test_commands_set_the_channels_of_a_token(portal: PortalFactory) -> None:
    runner = portal().app.test_cli_runner()
    done = runner.invoke(args=["token", "issue", "ana", "--webhook", "https://hook.example/a"])
    assert done.exit_code == 0
    assert "whsec_" in done.output
    for words in (["--mail", "nobody"], ["--webhook", "http://127.0.0.1/"]):
        assert runner.invoke(args=["token", "set", "ana", *words]).exit_code == 2
    assert runner.invoke(args=["token", "set", "ana", "--mail", "none"]).exit_code == 0
