"""Steps follow from the records; links on subjects without records are official."""

from typing import get_args
from urllib.parse import urlsplit

import pytest

from portal.law.next_steps import PHASE_TITLES, STEPS, Situation, steps_for
from portal.law.unverified import UNVERIFIED, Unverified


def test_every_situation_has_a_step_and_every_phase_a_title() -> None:
    assert {step.situation for step in STEPS} == set(get_args(Situation))
    assert {step.phase for step in STEPS} == PHASE_TITLES.keys()


def test_steps_that_always_apply_come_without_any_record() -> None:
    titles = {step.title for step in steps_for(frozenset())}
    assert {
        "Pague só contra a autorização assinada",
        "Confira IPVA e licenciamento",
        "Faça a vistoria",
    } <= titles
    assert "As multas acompanham o veículo" not in titles


def test_situations_add_their_steps() -> None:
    added = set(steps_for(frozenset({"court_order", "penhora"}))) - set(steps_for(frozenset()))
    assert {step.situation for step in added} == {"court_order", "penhora"}


def test_texts_are_sentences() -> None:
    for step in STEPS:
        assert step.text.endswith("."), step
        assert not step.title.endswith("."), step
    assert len({step.title for step in STEPS}) == len(STEPS)


def test_subject_without_official_service_has_no_link() -> None:
    without = {item.key for item in UNVERIFIED if item.link is None}
    assert without == {"roubo-e-furto", "leilao", "hodometro", "identificacao"}
    assert not any(item.link_name for item in UNVERIFIED if item.link is None)


@pytest.mark.parametrize(
    "item", [item for item in UNVERIFIED if item.link], ids=lambda item: item.key
)
def test_link_of_an_unverified_subject_is_https_under_gov_br(item: Unverified) -> None:
    address = urlsplit(item.link)
    assert address.scheme == "https"
    assert address.hostname == "gov.br" or (address.hostname or "").endswith(".gov.br")
    assert not (address.query or address.fragment or address.username or address.port)
    assert item.link_name
