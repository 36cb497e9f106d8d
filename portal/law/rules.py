"""The rules of law that the texts cite, each with its act, article and source.

``rules.csv`` was written in November 2026 from notes on the laws. Its ``source`` is "lei" (the
authors read the text), "prática" (sites of the trade or the press report the rule) or "memória" (no
source confirms it). ``tests/law/test_rules.py`` fails if a text cites an article that it lacks.
"""

import csv
from importlib import resources
from typing import Final, NamedTuple

CONSULTED: Final = "novembro de 2026"
SOURCE_WORDS: Final = {
    "lei": "texto lido",
    "prática": "prática, por sites do ramo ou a imprensa",
    "memória": "sem fonte conferida: confirme",
}


class Rule(NamedTuple):
    act: str
    article: str
    rule: str
    source: str

    @property
    def citation(self) -> str:
        return f"{self.act}, art. {self.article}" if self.article else self.act


RULES: Final = tuple(
    Rule(**line)
    for line in csv.DictReader(
        resources.files(__package__).joinpath("rules.csv").read_text("utf-8").splitlines()
    )
)
