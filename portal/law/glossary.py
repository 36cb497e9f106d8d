"""Terms of the glossary page, in dictionary order. Other pages link to a term by its slug."""

from importlib import resources
from typing import Final

import msgspec


class Term(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A term of ``glossary.toml``, which says what the fields hold."""

    slug: str
    name: str
    text: str
    stands_for: str = ""
    source: str = ""


GLOSSARY: Final = msgspec.toml.decode(
    resources.files(__package__).joinpath("glossary.toml").read_bytes(),
    type=dict[str, tuple[Term, ...]],
)["terms"]


def term(slug: str) -> Term | None:
    return next((entry for entry in GLOSSARY if entry.slug == slug), None)
