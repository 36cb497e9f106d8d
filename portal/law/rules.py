"""The rules of law that the texts cite, each with its act, article and source.

``rules.csv`` was written in November 2026 from notes on the laws. Its ``source`` is "lei" (the
authors read the text), "prática" (sites of the trade or the press report the rule) or "memória" (no
source confirms it). ``tests/law/test_rules.py`` fails if a text cites an article that it lacks.
"""

from dataclasses import dataclass
from typing import Final, Literal

from portal.data_files import read_csv

# How sure a rule is: the authors read the text, others report it, or no source confirms it.
RuleSource = Literal["lei", "prática", "memória"]


@dataclass(frozen=True, slots=True)
class Rule:
    act: str
    article: str
    rule: str
    source: RuleSource

    @property
    def citation(self) -> str:
        return f"{self.act}, art. {self.article}" if self.article else self.act

    @property
    def dated(self) -> str:
        """The day of the act, or its year, as ``rule_dates.csv`` has it."""
        return _DATES[self.act]


_DATES: Final = {
    line["act"]: line["date"] for line in read_csv(__package__, "rule_dates.csv", dict[str, str])
}
RULES: Final = tuple(read_csv(__package__, "rules.csv", Rule))
