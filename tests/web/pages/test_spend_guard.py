"""A page GET spends once, and for a person: not for a prefetch, another site, a bot, or HEAD."""

import pytest

from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.in_process import InProcessPortal
from tests.fakes.threads import no_thread_named
from tests.web.json_paths import PLATE, QUESTIONS, no_upstream_call
from tests.web.person import Person

CHROME = (
    "Mozilla/5.0 (Linux; Android 14; SM-A546E) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/131.0.0.0 Mobile Safari/537.36"
)
SPENDING = (
    f"/placa/{PLATE}?completo=1",
    f"/placa/{PLATE}/painel/multas",
    f"/placa/{PLATE}/dossie",
    "/renavam/00123456789",
)
NOBODY: dict[str, dict[str, str]] = {
    "prefetch": {"Sec-Purpose": "prefetch"},
    "prerender": {"Sec-Purpose": "prefetch;prerender"},
    "anonymous prefetch": {"Sec-Purpose": "prefetch;anonymous-client-ip"},
    "old prefetch": {"Purpose": "prefetch"},
    "Firefox prefetch": {"X-Moz": "prefetch"},
    "Safari preview": {"X-Purpose": "preview"},
    "other site": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    **{
        agent: {"User-Agent": agent}
        for agent in (
            "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
            "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
            "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters)",
            "WhatsApp/2.23.20.0",
            "TelegramBot (like TwitterBot)",
            "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
            "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
            "LinkedInBot/1.0 (compatible; Mozilla/5.0; +http://www.linkedin.com)",
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2)",
            "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
            "Mozilla/5.0 (compatible; Baiduspider/2.0)",
            "Mozilla/5.0 Skype UriPreview Preview/0.5 skype-url-preview@microsoft.com",
            "Mozilla/5.0 (compatible; Yahoo! Slurp)",
            "Mediapartners-Google",
        )
    },
}
PERSONS: dict[str, dict[str, str]] = {
    "no header": {},
    "same origin": {"Sec-Fetch-Site": "same-origin", "User-Agent": CHROME},
    "typed": {"Sec-Fetch-Site": "none", "User-Agent": CHROME},
    "same site": {"Sec-Fetch-Site": "same-site", "User-Agent": CHROME},
    "inside Telegram": {"User-Agent": f"{CHROME} Telegram-Android/11.3.3"},
    "inside Pinterest": {"User-Agent": f"{CHROME} [Pinterest/Android]"},
    "a Cubot phone": {"User-Agent": CHROME.replace("SM-A546E", "CUBOT X30")},
    "curl": {"User-Agent": "curl/8.5.0"},
}


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


@pytest.mark.parametrize("who", NOBODY)
def test_who_is_no_person_spends_nothing_and_gets_a_page(
    here: InProcessPortal, upstream: FaultUpstream, who: str
) -> None:
    ana = Person.at(here).signed_in()
    with no_upstream_call(upstream):
        for path in SPENDING:
            assert ana.client.get(path, headers=NOBODY[who]).status_code == 200
    assert "apagar" not in ana.pages.get("/").text.lower()  # nor is it remembered as theirs


@pytest.mark.parametrize("who", PERSONS)
def test_a_person_is_served(here: InProcessPortal, upstream: FaultUpstream, who: str) -> None:
    ana = Person.at(here).signed_in()
    for path in SPENDING:
        before = upstream.count()
        assert ana.client.get(path, headers=PERSONS[who]).status_code == 200
        if path == SPENDING[0]:
            assert upstream.count() == before + 3


def test_a_page_shell_waits_for_its_panels_and_spends_nothing_itself(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    ana = Person.at(here).signed_in()
    with no_upstream_call(upstream):
        ana.pages.get(f"/placa/{PLATE}")


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS"])
def test_head_and_options_of_a_page_spend_nothing(
    here: InProcessPortal, upstream: FaultUpstream, method: str
) -> None:
    ana = Person.at(here).signed_in()
    with no_upstream_call(upstream):
        for path in SPENDING:
            assert ana.client.open(path, method=method).status_code == 200


def test_a_prefetched_pdf_spends_nothing(here: InProcessPortal, upstream: FaultUpstream) -> None:
    ana = Person.at(here).signed_in()
    with no_upstream_call(upstream):
        path = f"/placa/{PLATE}/dossie.pdf"
        assert ana.client.get(path, headers=NOBODY["prefetch"]).status_code in (200, 501)


def test_who_is_no_person_sees_what_is_stored(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    ana = Person.at(here).signed_in()
    person = ana.pages.get(SPENDING[0])
    with no_upstream_call(upstream):
        bot = ana.pages.get(SPENDING[0], headers=NOBODY["prefetch"])
    assert "Audi" in person.text
    assert "Audi" in bot.text


def test_a_script_spends_whatever_its_headers_say(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    """The guard is of pages: who holds a token at the JSON face asks on purpose."""
    headers = {"User-Agent": "my-bot/1.0", "Sec-Fetch-Site": "cross-site"}
    assert here.get(QUESTIONS[0].path, headers=headers).status_code == 200
    assert upstream.count() == 1


def test_without_a_thread_to_spare_a_page_asks_one_after_another_and_nothing_twice(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    buyer = Person.at(portal()).signed_in().pages
    with no_thread_named("panel_0") as refused:
        page = buyer.get(f"/placa/{PLATE}?completo=1")
        form = {"csrf_token": page.csrf_token()}
        buyer.post(f"/placa/{PLATE}/atualizar", data=form)
    assert refused
    states = {element.get("data-panel") for element in page.tree.iter()}
    assert states - {None} == {"ready"}
    assert upstream.count() == 6
    buyer.get("/placa/DEF4G56?completo=1")
    assert upstream.count() == 9
