"""The texts people read are whole: slugs that link, sentences that end, no addresses."""

import re

from portal.law import GLOSSARY, UNVERIFIED, term

SLUG = re.compile(r"[a-z]+(-[a-z]+)*")


def test_every_slug_is_unique_and_fit_for_a_link():
    for keys in ([t.slug for t in GLOSSARY], [u.key for u in UNVERIFIED]):
        assert len(set(keys)) == len(keys)
        assert all(SLUG.fullmatch(key) for key in keys)


def test_the_terms_people_meet_are_explained():
    wanted = (
        "renainf renajud renavam fipe crlv autuacao penalidade gravame penhora desdobramento "
        "prescricao sne"
    )
    assert [slug for slug in wanted.split() if term(slug) is None] == []
    assert term("nao-existe") is None


def test_every_text_is_a_sentence_without_an_address():
    texts = [t.text for t in GLOSSARY] + [t for u in UNVERIFIED for t in (u.why, u.where)]
    for text in texts:
        assert text[0].isupper()
        assert text.endswith(".")
        assert "http" not in text
        assert "www" not in text


def test_what_no_lookup_covers_is_listed():
    titles = " ".join(u.title for u in UNVERIFIED)
    for word in ("próprio estado", "Roubo", "Leilão", "Gravame", "Recall", "Quilometragem", "IPVA"):
        assert word in titles


def test_the_terms_stand_in_the_order_in_which_they_are_read() -> None:
    """By name, not by slug; "Código" before "CRLV-e", whatever the accent and the capitals say."""
    names = [entry.name for entry in GLOSSARY]
    assert names[:5] == ["Autuação", "BIN", "Código da infração", "CRLV-e", "CTB"]
    kept = ["Multa exigível", "Penalidade", "Penhora", "Pontos", "Prescrição", "Renainf"]
    assert [name for name in names if name in kept] == kept
    assert names[-2:] == ["Senatran", "SNE"]
