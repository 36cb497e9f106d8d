"""Reads the report on a vehicle: a summary, several topics and a conclusion."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Literal

from portal.data_files import read_toml
from portal.vehicle import names
from portal.vehicle.field import EMPTY, HIDDEN, Field, clean, fold, read_field
from portal.vehicle.wire import members_of
from portal.wording import bare

Mark = Literal["ok", "warning"]

# The topics of a report in the order of docs/contract.md, with their display names.
TOPIC_LABELS = read_toml(__package__, "labels.toml", dict[str, dict[str, str]])["topics"]

# Longer texts are cut at this number of characters, because they would make the page unreadable.
TEXT_LIMIT = 20_000
_MOST_EXTRA_TOPICS = 24
# What is judged is not cut where the shown text is. This only bounds the time of a hostile text.
_SAID_LIMIT = 200_000
_MOST_LEVELS = 8
_PARTS = ("topicos", "resumo", "laudoFinal")
# What the source repeats of the question.
_ECHO = ("placa", "renavam")
_OK, _WARNING = "✅✔☑🟢", "⚠❌✖✘🚫🚨❗🔴🟡🟠"
# The marks of a language model's Markdown: bold, headings and code.
_MARKDOWN = re.compile(r"\*\*|__|`|^ {0,3}#{1,6} +", re.MULTILINE)
_VARIATION_SELECTORS = "\ufe0e\ufe0f"


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic of a report.

    Leading symbols such as "✅" are removed from ``text``. ``mark`` is the meaning of the symbols,
    or None if there are none. ``said`` is the text for rules to read, and never shown: words in
    capitals, which may be a name, stand in it.
    """

    key: str
    label: str
    text: Field
    mark: Mark | None
    said: str = dataclass_field(repr=False)


@dataclass(frozen=True, slots=True)
class Report:
    """A report.

    ``topics`` has the eight topics of TOPIC_LABELS, and then any other topics of the answer.
    ``said`` is the summary and the conclusion for rules to read, and never shown. ``unshown`` are
    the other texts of the answer, which rules read as well: more topics than a page shows, and
    members of other names. ``is_cut`` is true if a text is longer than rules read.
    """

    summary: Field
    topics: tuple[Topic, ...]
    conclusion: Field
    said: tuple[str, str] = dataclass_field(repr=False)
    unshown: tuple[str, ...] = dataclass_field(repr=False, default=())
    is_cut: bool = False

    def __bool__(self) -> bool:
        is_shown = self.summary or self.conclusion or any(t.text for t in self.topics)
        return bool(is_shown or self.unshown)


def read_report(result: object, marker: str, *, mask_names: bool = True) -> Report:
    """Read a report from an answer's ``result``.

    If ``mask_names`` is true, initials replace the names of people.
    """
    record = members_of(result)
    # A topic may also stand beside "topicos".
    beside = {key: record[key] for key in TOPIC_LABELS if key in record}
    topics = {**beside, **_topics_of(record.get("topicos"))}
    extra = [key for key in topics if key not in TOPIC_LABELS]
    summary = _prose(record.get("resumo"), marker)
    conclusion = _prose(record.get("laudoFinal"), marker)
    others = (
        *(topics[key] for key in extra[_MOST_EXTRA_TOPICS:]),
        *(
            raw
            for key, raw in record.items()
            if key not in _PARTS and key not in _ECHO and topics.get(key) != raw
        ),
    )
    parts = (record.get("resumo"), record.get("laudoFinal"), *topics.values(), *others)
    return Report(
        summary=_shown(summary, mask=mask_names),
        topics=tuple(
            _topic(key, topics.get(key), marker, mask=mask_names)
            for key in (*TOPIC_LABELS, *extra[:_MOST_EXTRA_TOPICS])
        ),
        conclusion=_shown(conclusion, mask=mask_names),
        said=(
            _said(_prose(record.get("resumo"), marker, limit=_SAID_LIMIT)),
            _said(_prose(record.get("laudoFinal"), marker, limit=_SAID_LIMIT)),
        ),
        unshown=tuple(filter(None, (_said(_prose(o, marker, limit=_SAID_LIMIT)) for o in others))),
        is_cut=any(len(_flat(part)) > _SAID_LIMIT for part in parts),
    )


def _topics_of(raw: object) -> Mapping[str, object]:
    """Return the topics by their key. Those of a list have their number, or a key of their own."""
    if not isinstance(raw, list):
        return members_of(raw) if isinstance(raw, dict) or raw is None else {"": raw}
    topics: dict[str, object] = {}
    for number, topic in enumerate(raw, 1):
        if isinstance(topic, dict) and topic.keys() <= TOPIC_LABELS.keys():
            topics.update(topic)
        else:
            topics[f"Tópico {number}"] = topic
    return topics


def _flat(raw: object, levels: int = _MOST_LEVELS) -> str:
    """Return the text of a JSON value: a line for each element or member."""
    if isinstance(raw, bool):
        return "Sim" if raw else "Não"
    if isinstance(raw, list) and levels:
        return "\n".join(filter(None, (_flat(element, levels - 1) for element in raw)))
    if isinstance(raw, dict) and levels:
        return "\n".join(
            filter(None, (_flat_member(*member, levels - 1) for member in raw.items()))
        )
    return raw if isinstance(raw, str) else read_field(raw, "").value


def _flat_member(key: str, raw: object, levels: int) -> str:
    text = _flat(raw, levels)
    # "texto" names no subject, and "furto": true does.
    return f"{key}: {text}" if isinstance(raw, bool | int | float) else text


def _topic(key: str, raw: object, marker: str, *, mask: bool) -> Topic:
    known = key in TOPIC_LABELS
    # In the topic about owners ("proprietarios"), capitalised words are probably a person's name.
    written = _prose(raw, marker)
    text = _shown(written, mask=mask, about_people=key == "proprietarios")
    mark, rest = split_mark(text.value)
    if not text.is_hidden:
        text = Field(rest) if rest else EMPTY
    label = TOPIC_LABELS[key] if known else clean(key, limit=60) or "Outro tópico"
    said = _said(_prose(raw, marker, limit=_SAID_LIMIT))
    return Topic(key, label, text, mark, split_mark(said)[1])


def split_mark(text: str) -> tuple[Mark | None, str]:
    """Return the mark that a text's leading symbols show, and the text without them."""
    mark: Mark | None = None
    rest = text
    while rest and (rest[0] in _OK or rest[0] in _WARNING):
        # One warning among several symbols makes the mark "warning".
        mark = "warning" if rest[0] in _WARNING or mark == "warning" else "ok"
        rest = rest[1:].lstrip(_VARIATION_SELECTORS).lstrip()
    return mark, rest


def _prose(raw: object, marker: str, *, limit: int = TEXT_LIMIT) -> Field:
    text = clean(_flat(raw), limit=limit, lines=True)
    if marker and fold(text) == fold(marker):
        return HIDDEN
    text = _MARKDOWN.sub("", _without_marker(text, marker))
    return Field(text) if text else EMPTY


def _shown(written: Field, *, mask: bool, about_people: bool = False) -> Field:
    if not mask or written.state != "known":
        return written
    return Field(names.mask_names(written.value, about_people=about_people))


def _said(written: Field) -> str:
    """Return a text for rules to read, or "". "José Furtado" in it would be a theft."""
    if written.state != "known":
        return ""
    return names.mask_names(written.value, by_capitals=False)


def _without_marker(text: str, marker: str) -> str:
    """Replace ``marker`` by readable Portuguese. Case and accents are ignored."""
    words = fold(marker).split()
    if not words or " ".join(words) not in fold(text):
        return text
    # Store the original index of each folded character, because folding may change the length.
    folded = [(letter, at) for at, c in enumerate(text) for letter in bare(c)]
    pattern = r"\s+".join(map(re.escape, words))
    kept, done = [], 0
    for match in re.finditer(pattern, "".join(letter for letter, _ in folded)):
        first, last = folded[match.start()][1], folded[match.end() - 1][1]
        kept += [text[done:first], "oculto pela fonte"]
        done = last + 1
        while done < len(text) and unicodedata.combining(text[done]):
            done += 1  # also skip combining accents of the marker's last letter
    return "".join((*kept, text[done:]))
