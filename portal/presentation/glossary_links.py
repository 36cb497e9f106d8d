"""Links from the text of a page to the glossary."""

from markupsafe import Markup

from portal.law import term


def term_link(slug: str, text: str = "") -> Markup:
    """Return a link to a glossary entry. An empty ``text`` is replaced by the entry's name.

    Raises ValueError for an unknown slug.
    """
    entry = term(slug)
    if entry is None:
        raise ValueError(f"the glossary has no entry {slug!r}")
    link = Markup('<a class="term" href="/glossario#{}">{}</a>')
    return link.format(entry.slug, text or entry.name)
