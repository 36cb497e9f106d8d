"""What the privacy page says is kept: the settings that the portal runs with, and no others."""

import re

import pytest
from limits import parse_many

from portal.presentation.formats import duration
from portal.web.http.rate_limits import SIGN_IN_WINDOW_S, WRONG_TOKENS
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.in_process import InProcessPortal, pass_through
from tests.web.page_client import PageClient


def told(portal: InProcessPortal) -> str:
    return PageClient(portal.client).get("/privacidade").text


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 segundos"),
        (1, "1 segundo"),
        (61, "1 minuto e 1 segundo"),
        (600, "10 minutos"),
        (900, "15 minutos"),
        (3600, "1 hora"),
        (5400, "1 hora e 30 minutos"),
        (43_200, "12 horas"),
        (86_399, "1 dia"),
        (86_400, "1 dia"),
        (108_000, "1 dia e 6 horas"),
        (691_200, "8 dias"),
        (90_001, "1 dia e 2 horas"),
        (2_592_000, "30 dias"),
    ],
)
def test_a_span_is_said_in_two_units_and_never_shorter_than_it_is(seconds: int, said: str) -> None:
    assert duration(seconds) == said


def test_the_standard_terms_are_told(portal: PortalFactory) -> None:
    text = told(portal())
    for line in (
        "Ficha do veículo: até 8 dias.",
        "Multas: até 1 dia e 6 horas; se a resposta vier sem nenhum registro, até 1 hora e 30 min",
        "Restrições judiciais: até 7 horas; se a resposta vier sem nenhum registro, até 15 min",
        "Laudo: até 1 dia.",
        "Pergunta que a fonte recusou: até 10 minutos,",
        "Até 30 dias, cifradas",
        "vale por até 12 horas",
        "por endereço de rede por até 1 hora",
        "apenas as iniciais",
    ):
        assert line in text, line


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("FRESH_DECODE", "60", "Ficha do veículo: até 7 dias e 1 hora."),
        ("STALE_DECODE", "0", "Ficha do veículo: até 1 dia."),
        ("FRESH_RENAINF", "7200", "Multas: até 1 dia e 2 horas; se a resposta vier sem nenhum"),
        ("FRESH_RENAINF", "7200", "registro, até 30 minutos."),
        ("STALE_RENAJUD", "0", "Restrições judiciais: até 1 hora; "),
        ("FRESH_REPORT", "0", "Laudo: não se guarda."),
        ("MASK_NAMES", "off", "mostrar por inteiro os nomes"),
        ("RATE_LIMIT_TOKEN", "600/minute", "Contagem de pedidos"),
    ],
)
def test_another_setting_changes_the_page(
    portal: PortalFactory, setting: str, value: str, said: str
) -> None:
    assert said not in told(portal())
    assert said in told(portal(**{setting: value}))


def test_each_mode_tells_what_it_knows_of_who_asks(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    tellings = {
        "demo": ("os veículos são inventados", told(portal({}))),
        "managed": ("resumo criptográfico do seu token", told(portal())),
        "pass-through": ("A sua credencial, cifrada", told(portal(pass_through(upstream.url)))),
    }
    for mode, (own, _) in tellings.items():
        assert [other for other, (_, text) in tellings.items() if own in text] == [mode]


def test_the_time_told_for_attempts_is_the_longest_that_they_are_counted() -> None:
    assert max(item.get_expiry() for item in parse_many(WRONG_TOKENS)) == SIGN_IN_WINDOW_S


def test_the_page_sets_no_cookie_for_whoever_only_reads_it(portal: PortalFactory) -> None:
    answer = portal().client.get("/privacidade")
    assert not re.search("portal=", answer.headers.get("Set-Cookie", ""))
