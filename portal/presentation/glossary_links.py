"""Links from the first mention of a term to its entry in the glossary."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from markupsafe import Markup

# The words in which a term is mentioned, by its slug. Acronyms match as they are written, so that
# the upstream's capitals (a kind "TRANSFERENCIA") are left alone; longer mentions come first.
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
    # \w knows accents; a hyphen after would make it another word.
    + r")(?![\w-])"
)
_SHORTEST: Final = 3  # no term is mentioned in less
# A drawing is one piece: it holds half of a page's tags and no prose.
_PIECE: Final = re.compile(
    r"<svg\b.*?</svg>|<(/?)([a-zA-Z][a-zA-Z0-9]*)[^>]*>|<!--.*?-->", re.DOTALL
)
# A link holds no other, a control's name is no place for one, headings stay what they are, and
# drawings and code are not prose.
_CLOSED: Final = frozenset(
    {"a", "button", "summary", "label", "legend", "select", "h1", "h2", "h3", "h4"}
    | {"code", "script", "style", "title", "template"}
)


@lru_cache(64)
def glossed(html: str) -> Markup:
    """Markup with the first mention of each term linked, wherever prose may hold a link.

    ``html`` is a template's own output: every ``<`` and ``>`` that is not a tag's is escaped.
    """
    html = str(html)  # slices of Markup would each be Markup again
    told: set[str] = set()
    parts: list[str] = []
    depth, at = 0, 0
    for piece in _PIECE.finditer(html):
        text = html[at : piece.start()]
        parts.append(text if depth else _link(text, told))
        parts.append(piece[0])
        at = piece.end()
        if (piece[2] or "").lower() in _CLOSED:
            depth = max(0, depth - 1) if piece[1] else depth + 1
    parts.append(html[at:] if depth else _link(html[at:], told))
    # The mentions are words of ours and the rest is returned as it came: nothing to escape.
    return Markup("".join(parts))  # noqa: S704


def _link(text: str, told: set[str]) -> str:
    if len(text) < _SHORTEST or text.isspace():
        return text

    def linked(mention: re.Match[str]) -> str:
        slug = (mention.lastgroup or "").replace("_", "-")
        if slug in told:
            return mention[0]
        told.add(slug)
        return f'<a class="term" href="/glossario#{slug}">{mention[0]}</a>'

    return _MENTION.sub(linked, text)
