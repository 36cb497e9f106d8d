"""Links from the first mention of a term to its glossary entry."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from markupsafe import Markup

# A regular expression for each term's mentions, by its slug. Matching is case-sensitive, so that
# upper-case values of the upstream (a kind "TRANSFERENCIA") get no link. Longer mentions come
# first.
MENTIONS: Final[Mapping[str, str]] = {
    "defesa-previa": "[Dd]efesa prévia",
    "circulacao": "[Rr]estrição de circulação",
    "transferencia": "[Rr]estrição de transferência",
    "licenciamento": "[Rr]estrição de licenciamento",
    "codigo-da-infracao": "[Cc]ódigo da infração",
    "autuacao": "[Aa]utuaç(?:ão|ões)",
    "penalidade": "[Pp]enalidades?",
    "prescricao": "[Pp]rescrição",
    "exigivel": "[Ee]xigíve(?:l|is)",
    "desdobramento": "[Dd]esdobramentos?",
    "penhora": "[Pp]enhora",
    "gravame": "[Gg]ravames?",
    "pontos": "[Pp]ontos",
    "comunicacao-de-venda": "[Cc]omunicação de venda",
    "advertencia": "[Aa]dvertência por escrito",
    "divida-ativa": "[Dd]ívida ativa",
    "vistoria": "[Vv]istoria",
    "sinistro": "[Ss]inistro",
    "recall": "[Rr]ecall",
    "atpv-e": "ATPV-e",
    "ipva": "IPVA",
    "nic": "NIC",
    "crv": "CRV",
    "renainf": "R(?:enainf|ENAINF)",
    "renajud": "R(?:enajud|ENAJUD)",
    "renavam": "R(?:enavam|ENAVAM)",
    "senatran": "S(?:enatran|ENATRAN)",
    "fipe": "FIPE",
    "jari": "JARI",
    "sne": "SNE",
    "crlv": "CRLV(?:-e)?",
    "ctb": "CTB",
}
_MENTION: Final = re.compile(
    r"(?<![\w-])(?:"
    + "|".join(f"(?P<{s.replace('-', '_')}>{w})" for s, w in MENTIONS.items())
    # \w includes accented letters. A hyphen continues the word, so it is excluded as well.
    + r")(?![\w-])"
)
_SHORTEST: Final = 3  # characters of the shortest mention
# An SVG is skipped as one match, because it holds half of a page's tags and no prose.
_MARKUP: Final = re.compile(
    r"<svg\b.*?</svg>|<(/?)([a-zA-Z][a-zA-Z0-9]*)[^>]*>|<!--.*?-->", re.DOTALL
)
# Elements whose text gets no link: links cannot be nested, controls and headings keep their text,
# and code and scripts are not prose.
_UNLINKED_ELEMENTS: Final = frozenset(
    {"a", "button", "summary", "label", "legend", "select", "h1", "h2", "h3", "h4"}
    | {"code", "script", "style", "title", "template"}
)


@lru_cache(64)
def glossed(html: str) -> Markup:
    """Return the markup with the first mention of each term in prose linked.

    ``html`` must be a template's output: every ``<`` and ``>`` that is not a tag's is escaped.
    """
    html = str(html)  # slicing Markup would create a Markup for each slice
    linked_slugs: set[str] = set()
    parts: list[str] = []
    depth, at = 0, 0
    for tag in _MARKUP.finditer(html):
        text = html[at : tag.start()]
        parts.append(text if depth else _link(text, linked_slugs))
        parts.append(tag[0])
        at = tag.end()
        if (tag[2] or "").lower() in _UNLINKED_ELEMENTS:
            depth = max(0, depth - 1) if tag[1] else depth + 1
    parts.append(html[at:] if depth else _link(html[at:], linked_slugs))
    # The template escaped the input, and the added links contain only slugs and matched words.
    return Markup("".join(parts))  # noqa: S704


def _link(text: str, linked_slugs: set[str]) -> str:
    if len(text) < _SHORTEST or text.isspace():
        return text

    def link_once(mention: re.Match[str]) -> str:
        slug = (mention.lastgroup or "").replace("_", "-")
        if slug in linked_slugs:
            return mention[0]
        linked_slugs.add(slug)
        return f'<a class="term" href="/glossario#{slug}">{mention[0]}</a>'

    return _MENTION.sub(link_once, text)
