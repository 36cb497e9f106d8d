"""The privacy page states retention times and other facts from the portal's settings."""

import re

import pytest
from limits import parse_many

from portal.formats import duration
from portal.web.http.rate_limits import SIGN_IN_ATTEMPTS, SIGN_IN_WINDOW_S
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.in_process import InProcessPortal, pass_through
from tests.web.page_client import PageClient


def privacy_text(portal: InProcessPortal) -> str:
    return PageClient(portal.client).get("/privacidade").text


@pytest.mark.parametrize(
    ("seconds", "expected"),
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
def test_duration_has_at_most_two_units_and_rounds_up(seconds: int, expected: str) -> None:
    assert duration(seconds) == expected


def test_default_retention_times_are_shown(portal: PortalFactory) -> None:
    text = privacy_text(portal())
    for line in (
        "Ficha do veículo até 8 dias quem consulta o mesmo veículo",
        "Multas até 1 dia e 6 horas; sem nenhum registro, até 1 hora e 30 minutos quem",
        "Restrições judiciais até 7 horas; sem nenhum registro, até 15 minutos quem",
        "Análise escrita até 1 dia quem",
        "Pergunta que a fonte recusou até 10 minutos,",
        "cifradas até 30 dias, ou até você as apagar no histórico só você",
        "até fechar o navegador, ou até 12 horas só este portal",
        "por endereço de rede até 1 hora,",
        "a tabela do resultado, cifradas até 8 dias depois que o lote termina ou para",
        "não iniciado, até 1 dia só quem o criou",
        "apenas as iniciais",
    ):
        assert line in text, line


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("FRESH_DECODE", "60", "Ficha do veículo até 7 dias e 1 hora quem"),
        ("STALE_DECODE", "0", "Ficha do veículo até 1 dia quem"),
        ("FRESH_RENAINF", "7200", "Multas até 1 dia e 2 horas; sem nenhum"),
        ("FRESH_RENAINF", "7200", "registro, até 30 minutos quem"),
        ("STALE_RENAJUD", "0", "Restrições judiciais até 1 hora; "),
        ("FRESH_REPORT", "0", "Análise escrita não se guarda quem"),
        ("FRESH_DECODE", "864000", "cifradas até 17 dias depois que o lote termina ou para"),
        ("MASK_NAMES", "off", "mostrar por inteiro os nomes"),
        ("RATE_LIMIT_TOKEN", "600/minute", "Contagem de pedidos"),
    ],
)
def test_changed_setting_changes_the_page(
    portal: PortalFactory, setting: str, value: str, expected: str
) -> None:
    assert expected not in privacy_text(portal())
    assert expected in privacy_text(portal(**{setting: value}))


def test_each_mode_describes_its_own_credentials(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    texts = {
        "demo": ("os veículos são inventados", privacy_text(portal({}))),
        "managed": ("Resumo criptográfico do seu token", privacy_text(portal())),
        "pass-through": (
            "com a sua credencial, cifrada",
            privacy_text(portal(pass_through(upstream.url))),
        ),
    }
    for mode, (own, _) in texts.items():
        assert [other for other, (_, text) in texts.items() if own in text] == [mode]


def test_sign_in_window_is_the_longest_of_the_limits() -> None:
    assert max(item.get_expiry() for item in parse_many(SIGN_IN_ATTEMPTS)) == SIGN_IN_WINDOW_S


def test_privacy_page_sets_no_cookie(portal: PortalFactory) -> None:
    answer = portal().client.get("/privacidade")
    assert not re.search("portal=", answer.headers.get("Set-Cookie", ""))


ISSUER = {
    "ISSUER_NAME": "Loja Central",
    "ISSUER_DOCUMENT": "11222333000181",
    "ISSUER_CONTACT": "(11) 5555-0100",
}


@pytest.mark.parametrize(
    ("settings", "shown", "absent"),
    [
        ({}, "não publicou aqui nome nem contato", "Controlador"),
        (
            ISSUER,
            "Controlador: Loja Central, CNPJ 11.222.333/0001-81. Encarregado",
            "Fale com quem",
        ),
        (ISSUER, "Encarregado pelo tratamento de dados pessoais: (11) 5555-0100", "Fale com quem"),
        (
            {**ISSUER, "PRIVACY_CONTACT": "Maria Silva, dpo@loja.example"},
            "Encarregado pelo tratamento de dados pessoais: Maria Silva, dpo@loja.example",
            "(11) 5555-0100",
        ),
        ({"PRIVACY_CONTACT": "dpo@loja.example"}, "pessoais: dpo@loja.example", "Controlador"),
    ],
)
def test_controller_and_contact_are_named(
    portal: PortalFactory, settings: dict[str, str], shown: str, absent: str
) -> None:
    text = privacy_text(portal(**settings))
    assert shown in text
    assert absent not in text


def test_trail_is_named_with_its_time_or_not_at_all(portal: PortalFactory) -> None:
    text = privacy_text(portal(AUDIT_DAYS="180"))
    assert "o veículo, cifrado 180 dias" in text
    assert "quem o consultou aqui" in text
    text = privacy_text(portal(AUDIT_DAYS="0"))
    assert "rilha" not in text
    assert "quem o consultou aqui" not in text


def test_rights_and_access_records_are_told(portal: PortalFactory) -> None:
    text = privacy_text(portal())
    for words in ("LGPD, art. 18", "até 15 dias (art. 19)", "ANPD", "Marco Civil", "seis meses"):
        assert words in text, words
