"""Terms of the glossary page, in dictionary order. Other pages link to a term by its slug."""

from typing import Final

import msgspec

from portal.data_files import read_toml


class Term(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A term of ``glossary.toml``, which says what the fields hold."""

    slug: str
    name: str
    text: str
    stands_for: str = ""
    source: str = ""


GLOSSARY: Final = read_toml(__package__, "glossary.toml", dict[str, tuple[Term, ...]])["terms"]


def term(slug: str) -> Term | None:
    return next((entry for entry in GLOSSARY if entry.slug == slug), None)
