"""Only a user's GET of a page starts lookups; prefetches, bots and HEAD do not."""

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
PAID_PATHS = (
    f"/placa/{PLATE}?completo=1",
    f"/placa/{PLATE}/painel/multas",
    f"/placa/{PLATE}/dossie",
    "/renavam/00123456789",
)
NON_USER_HEADERS: dict[str, dict[str, str]] = {
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
USER_HEADERS: dict[str, dict[str, str]] = {
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


@pytest.mark.parametrize("visitor_kind", NON_USER_HEADERS)
def test_request_not_initiated_by_a_user_starts_no_lookup(
    here: InProcessPortal, upstream: FaultUpstream, visitor_kind: str
) -> None:
    ana = Person.at(here).signed_in()
    with no_upstream_call(upstream):
        for path in PAID_PATHS:
            assert ana.client.get(path, headers=NON_USER_HEADERS[visitor_kind]).status_code == 200
    assert "apagar" not in ana.pages.get("/").text.lower()  # and the history stays empty


@pytest.mark.parametrize("visitor_kind", USER_HEADERS)
def test_user_request_starts_lookups(
    here: InProcessPortal, upstream: FaultUpstream, visitor_kind: str
) -> None:
    ana = Person.at(here).signed_in()
    for path in PAID_PATHS:
        before = upstream.count()
        assert ana.client.get(path, headers=USER_HEADERS[visitor_kind]).status_code == 200
        if path == PAID_PATHS[0]:
            assert upstream.count() == before + 3


def test_page_shell_starts_no_lookup(here: InProcessPortal, upstream: FaultUpstream) -> None:
    ana = Person.at(here).signed_in()
    with no_upstream_call(upstream):
        ana.pages.get(f"/placa/{PLATE}")


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS"])
def test_head_and_options_of_a_page_start_no_lookup(
    here: InProcessPortal, upstream: FaultUpstream, method: str
) -> None:
    ana = Person.at(here).signed_in()
    with no_upstream_call(upstream):
        for path in PAID_PATHS:
            assert ana.client.open(path, method=method).status_code == 200


def test_prefetched_pdf_starts_no_lookup(here: InProcessPortal, upstream: FaultUpstream) -> None:
    ana = Person.at(here).signed_in()
    with no_upstream_call(upstream):
        path = f"/placa/{PLATE}/dossie.pdf"
        assert ana.client.get(path, headers=NON_USER_HEADERS["prefetch"]).status_code in (200, 501)


def test_request_not_initiated_by_a_user_shows_stored_answers(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    ana = Person.at(here).signed_in()
    person = ana.pages.get(PAID_PATHS[0])
    with no_upstream_call(upstream):
        bot = ana.pages.get(PAID_PATHS[0], headers=NON_USER_HEADERS["prefetch"])
    assert "Audi" in person.text
    assert "Audi" in bot.text


def test_json_api_ignores_user_initiation_headers(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    """The guard applies only to pages, because a JSON request with a token is deliberate."""
    headers = {"User-Agent": "my-bot/1.0", "Sec-Fetch-Site": "cross-site"}
    assert here.get(QUESTIONS[0].path, headers=headers).status_code == 200
    assert upstream.count() == 1


def test_page_without_spare_threads_runs_each_lookup_once_in_turn(
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
