"""The words of what differs from what a caller last saw."""

from decimal import Decimal

from portal.law.last_seen import since_last_seen
from portal.phrasebook import sight as words
from tests.law.sights import FINE, NOTICE, sight


def test_changes_are_told_in_few_words() -> None:
    found = since_last_seen(
        sight(),
        sight(60, fines={"a": FINE, "b": NOTICE}, price=(Decimal(89325), Decimal(89325))),
    )
    notice, price = found.changes
    assert (words.what(notice), words.value_now(notice)) == ("+ 1 autuação", "R$\xa0195,23")
    assert words.is_worse(notice) and not words.is_worse(price)
    assert words.sentence(price) == "FIPE: R$\xa089.957 → R$\xa089.325"
    assert words.rest(found) == "Conclusão e ordens da Justiça: sem mudança"
