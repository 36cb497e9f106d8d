"""Glossary texts: slugs valid in links, complete sentences, no web addresses."""

import re

import msgspec
import pytest

from portal.law.checklist import UNVERIFIED
from portal.phrasebook.checklist import WORDS
from portal.phrasebook.glossary import GLOSSARY, Term, term
from portal.wording import bare

SLUG = re.compile(r"[a-z]+(-[a-z]+)*")


def test_slugs_are_unique_and_valid_in_links() -> None:
    for keys in ([t.slug for t in GLOSSARY], [u.key for u in UNVERIFIED]):
        assert len(set(keys)) == len(keys)
        assert all(SLUG.fullmatch(key) for key in keys)


def test_term_with_an_unknown_member_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"slug": "a", "name": "A", "text": "A.", "texto": "B."}, Term)


def test_term_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        GLOSSARY[0].name = "Outro"  # type: ignore[misc]


def test_common_terms_are_in_the_glossary() -> None:
    wanted = (
        "renainf renajud renavam fipe crlv autuacao penalidade gravame penhora desdobramento "
        "prescricao sne advertencia atpv-e comunicacao-de-venda crv divida-ativa ipva nic recall "
        "sinistro vistoria"
    )
    assert [slug for slug in wanted.split() if term(slug) is None] == []
    assert term("nao-existe") is None


def test_texts_are_sentences_without_addresses() -> None:
    texts = [t.text for t in GLOSSARY] + [t for u in WORDS.values() for t in (u.why, u.where)]
    for text in texts:
        assert text[0].isupper()
        assert text.endswith(".")
        assert "http" not in text
        assert "www" not in text


def test_ipva_is_the_first_unverified_subject() -> None:
    assert UNVERIFIED[0].key == "debitos"
    texts = " ".join((u.title + u.why + u.where).lower() for u in WORDS.values())
    assert "seguro obrigatório" not in texts
    assert "arts. 124, viii, e 128" in texts


def test_unverified_subjects_are_listed() -> None:
    titles = " ".join(WORDS[u.key].title for u in UNVERIFIED)
    for word in ("município", "Roubo", "Leilão", "Gravame", "Recall", "Quilometragem", "IPVA"):
        assert word in titles


def test_terms_are_sorted_by_name() -> None:
    """Accents and capitals do not count, so "Código" is before "CRLV-e"."""
    names = [entry.name for entry in GLOSSARY]
    assert names == sorted(names, key=lambda name: (bare(name), name))
    assert names[:5] == ["Advertência", "ATPV-e", "Autuação", "BIN", "Código da infração"]
    kept = ["Multa exigível", "Penalidade", "Penhora", "Pontos", "Prescrição", "Renainf"]
    assert [name for name in names if name in kept] == kept
    assert names[-3:] == ["Sinistro", "SNE", "Vistoria"]
