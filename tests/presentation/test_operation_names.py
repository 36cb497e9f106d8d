"""Every operation and lookup has its Portuguese names, in the order in which pages show them."""

from portal.dossier.lookups import LOOKUP_WORDS, OPERATION_TEXTS
from portal.vehicle.operation_name import LOOKUPS, OPERATION_NAMES


def test_every_operation_is_named() -> None:
    assert tuple(OPERATION_TEXTS) == OPERATION_NAMES


def test_every_lookup_has_words() -> None:
    assert tuple(LOOKUP_WORDS) == LOOKUPS
