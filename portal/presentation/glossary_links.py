"""Links from the text of a page to the glossary."""

from markupsafe import Markup

from portal.law import term


def term_link(slug: str, text: str = "") -> Markup:
    """Return a link to the glossary entry with this slug.

    The link shows ``text``, or the entry's name if ``text`` is "". Templates call ``term_link`` as
    ``term``. Raises ValueError for a slug without an entry.
    """
    entry = term(slug)
    if entry is None:
        raise ValueError(f"the glossary has no entry {slug!r}")
    link = Markup('<a class="term" href="/glossario#{}">{}</a>')
    return link.format(entry.slug, text or entry.name)
