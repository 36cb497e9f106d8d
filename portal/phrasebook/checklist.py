"""The words of a buyer's checklist: its lines, and what the records add to them."""

from collections.abc import Mapping
from typing import Final

import msgspec

from portal.data_files import read_toml
from portal.law.checklist import ChecklistLine, Situation
from portal.phrasebook.rules import CONSULTED

# The page shows this caution once, so that the advice need not repeat it.
HEDGE: Final = f"Orientações gerais, pela lei consultada em {CONSULTED}; confirme com o Detran."


class Advice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An advice of ``checklist.toml``. ``text`` has one to four Portuguese sentences.

    ``line`` is the key of a line of the checklist, or "depois" (afterwards). ``title`` and ``ask``
    (whom to ask) are the line's, or "". ``source`` is a law, or "" if the advice cites none.
    """

    line: str
    situation: Situation
    text: str
    title: str = ""
    ask: str = ""
    source: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.text[:-1]} ({self.source})." if self.source else self.text


ADVICE: Final = read_toml(__package__, "checklist.toml", dict[str, tuple[Advice, ...]])["advice"]


class LineWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of a line, a table of ``checklist_lines.toml``.

    ``ask`` says in a few words whom to ask. ``link_name`` and ``link`` are the name and the https
    URL (under gov.br) of an official service for the subject, or "" and None if there is none.
    """

    title: str
    ask: str
    why: str
    where: str
    something: str
    link_name: str = ""
    link: str | None = None


WORDS: Final[Mapping[str, LineWords]] = read_toml(
    __package__, "checklist_lines.toml", dict[str, LineWords]
)


def title(line: ChecklistLine) -> str:
    return WORDS[line.key].title


def something(line: ChecklistLine) -> str:
    """Name what a person has found: ``roubo ou furto``."""
    return WORDS[line.key].something
