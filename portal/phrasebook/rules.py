"""The words of the table of rules: when it was consulted, and how sure each rule is."""

from collections.abc import Mapping
from typing import Final

from portal.law.rules import RuleSource

CONSULTED: Final = "novembro de 2026"
SOURCE_WORDS: Final[Mapping[RuleSource, str]] = {
    "lei": "texto lido",
    "prática": "prática, por sites do ramo ou a imprensa",
    "memória": "sem fonte conferida: confirme",
}
