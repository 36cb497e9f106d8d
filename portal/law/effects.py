"""What a court's restriction stops: RENAJUD kinds read out of free text.

There are four kinds and only these: transferência, licenciamento, circulação, averbação de
registro de penhora (TJSC, Código de Normas, Apêndice III, art. 1º); "restrição total" is used
for circulação. What each one stops beyond its own name is practice, reported by trade sites
of which one dissents (it says that transferência stops licensing too): hence "em regra".
A word that is not recognised is shown as it came and never reads as "nothing".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from portal.law.answers import ACTS, Act, Answer, worst
from portal.law.wording import bare, listed
from portal.vehicle import Restriction

Kind = Literal["transferencia", "licenciamento", "circulacao", "penhora"]

KIND_WORDS: dict[Kind, str] = {
    "transferencia": "transferência",
    "licenciamento": "licenciamento",
    "circulacao": "circulação",
    "penhora": "penhora",
}
WHO_LIFTS = (
    "Só o juízo que a ordenou pode retirá-la; Detran e Senatran não podem. "
    "O interessado pede a baixa no processo, com advogado ou defensor."
)

_STEMS: tuple[tuple[str, Kind], ...] = (
    ("TRANSFER", "transferencia"),
    ("LICENCIA", "licenciamento"),
    ("CIRCULA", "circulacao"),
    ("PENHORA", "penhora"),
    ("TOTAL", "circulacao"),
)
# Words around a kind that change nothing.
_FILLER_WORDS = """
A AO AS COM DA DAS DE DO DOS E O PARA POR
ATIVA ATIVO ANOTACAO AVERBACAO BLOQUEIO JUDICIAL JUDICIARIA ORDEM
REGISTRO RENAJUD RESTRICAO RESTRICOES VEICULAR VEICULO
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_WORD = re.compile(r"[A-Z0-9]+")
_TJSC = "TJSC, Código de Normas, Apêndice III"
_PRACTICE = "prática do Renajud, conforme sites do ramo"


@dataclass(frozen=True, slots=True)
class Effect:
    """What one restriction, or several together, stops.

    ``kinds`` in a fixed order; ``unrecognised`` the text as it came where a word of it is not
    understood, else "". ``in_force`` is False where the source says that nothing is recorded.
    """

    kinds: tuple[Kind, ...]
    unrecognised: str
    in_force: bool
    transfer: Answer
    licence: Answer
    drive: Answer
    removal: Answer

    def answer(self, act: Act) -> Answer:
        return {
            "transfer": self.transfer,
            "licence": self.licence,
            "drive": self.drive,
            "removal": self.removal,
        }[act]

    @property
    def kinds_word(self) -> str:
        """``transferência e licenciamento``; "" where no kind was recognised."""
        return listed([KIND_WORDS[kind] for kind in self.kinds])

    @property
    def sentence(self) -> str:
        """``não pode transferir; em regra pode licenciar; pode circular``."""
        phrases = [self.transfer.phrase, self.licence.phrase, self.drive.phrase]
        if self.removal.mark == "no":
            phrases.append(self.removal.phrase)
        return "; ".join(phrases)


_FREE: dict[Act, Answer] = {
    "transfer": Answer("yes", "pode transferir", "Não impede a transferência.", "", "verified"),
    "licence": Answer("yes", "pode licenciar", "Não impede o licenciamento.", "", "verified"),
    "drive": Answer("yes", "pode circular", "Não impede a circulação.", "", "verified"),
    "removal": Answer(
        "yes", "sem remoção pela ordem", "Não manda recolher o veículo.", "", "verified"
    ),
}
_NOT_RECOGNISED = "O tipo da restrição não foi informado ou reconhecido."
_UNKNOWN: dict[Act, Answer] = {
    act: replace(
        answer,
        mark="unknown",
        phrase=f"não é possível dizer se {question}",
        reason=_NOT_RECOGNISED,
    )
    for (act, answer), question in zip(
        _FREE.items(),
        ("pode transferir", "pode licenciar", "pode circular", "há risco de remoção"),
        strict=True,
    )
}
_KINDS: dict[Kind, dict[Act, Answer]] = {
    "transferencia": {
        "transfer": Answer(
            "no",
            "não pode transferir",
            "A restrição de transferência impede a mudança de propriedade.",
            _TJSC,
            "verified",
        ),
        "licence": Answer(
            "careful",
            "em regra pode licenciar",
            "A restrição de transferência, em regra, não impede o licenciamento; "
            "uma das fontes diz o contrário: confirme no Detran.",
            _PRACTICE,
            "reported",
        ),
        "drive": replace(_FREE["drive"], source=_PRACTICE, confidence="reported"),
        "removal": replace(_FREE["removal"], source=_PRACTICE, confidence="reported"),
    },
    "penhora": {
        "transfer": Answer(
            "no",
            "na prática não pode transferir",
            "O veículo penhorado garante uma dívida e pode ir a leilão: na prática, não se "
            "transfere.",
            _PRACTICE,
            "reported",
        ),
        "licence": Answer(
            "careful",
            "em regra pode licenciar",
            "A penhora, em regra, não impede o licenciamento: confirme no Detran.",
            _PRACTICE,
            "reported",
        ),
        "drive": Answer(
            "yes",
            "pode circular",
            "A penhora, sozinha, não impede a circulação.",
            _PRACTICE,
            "reported",
        ),
        "removal": Answer(
            "yes",
            "sem remoção pela ordem",
            "A averbação da penhora, sozinha, não manda recolher o veículo.",
            _PRACTICE,
            "reported",
        ),
    },
    "licenciamento": {
        "transfer": Answer(
            "no",
            "em regra não pode transferir",
            "A restrição de licenciamento, em regra, impede também a transferência: confirme "
            "no Detran.",
            _PRACTICE,
            "memory",
        ),
        "licence": Answer(
            "no",
            "não pode licenciar",
            "A restrição de licenciamento impede a emissão do novo CRLV.",
            _TJSC,
            "verified",
        ),
        "drive": Answer(
            "careful",
            "pode circular só enquanto valer o licenciamento atual",
            "Sem novo CRLV, circular é infração gravíssima (art. 230, V, do CTB).",
            "art. 230, V, do CTB",
            "reported",
        ),
        "removal": Answer(
            "careful",
            "remoção só por falta de licenciamento",
            "Vencido o licenciamento atual, o veículo em circulação pode ser removido "
            "(art. 230, V, do CTB).",
            "art. 230, V, do CTB",
            "reported",
        ),
    },
    "circulacao": {
        "transfer": Answer(
            "no",
            "não pode transferir",
            "A restrição de circulação (“total”) impede também a transferência.",
            _PRACTICE,
            "reported",
        ),
        "licence": Answer(
            "no",
            "não pode licenciar",
            "A restrição de circulação (“total”) impede também o licenciamento.",
            _PRACTICE,
            "reported",
        ),
        "drive": Answer(
            "no",
            "não pode circular",
            "A restrição de circulação impede o uso na via.",
            _TJSC,
            "verified",
        ),
        "removal": Answer(
            "no",
            "risco de remoção ao pátio",
            "Encontrado em circulação, o veículo pode ser recolhido ao pátio.",
            _PRACTICE,
            "reported",
        ),
    },
}


def read_kinds(text: str) -> tuple[tuple[Kind, ...], str]:
    """The kinds a free text names, and the text itself where some word is not understood."""
    found: set[Kind] = set()
    strange = False
    for word in _WORD.findall(bare(text)):
        kind = next((kind for stem, kind in _STEMS if word.startswith(stem)), None)
        if kind is not None:
            found.add(kind)
        elif word not in _FILLERS:
            strange = True
    kinds = tuple(kind for kind in KIND_WORDS if kind in found)
    return kinds, text if strange or not kinds else ""


def effect_of(restriction: Restriction) -> Effect:
    """What one restriction stops; ``block_type`` is read where ``kinds_text`` says nothing."""
    if restriction.recorded is False:
        return Effect((), "", in_force=False, **_FREE)
    text = str(restriction.kinds_text) or str(restriction.block_type)
    kinds, unrecognised = read_kinds(text)
    tables = [_KINDS[kind] for kind in kinds]
    if unrecognised or not kinds:
        tables.append(_UNKNOWN)
    answers = {act: _decisive([table[act] for table in tables]) for act in ACTS}
    return Effect(kinds, unrecognised, in_force=True, **answers)


def union(effects: Sequence[Effect]) -> Effect:
    """What several restrictions stop together; those not in force stop nothing."""
    active = [effect for effect in effects if effect.in_force]
    kinds = tuple(kind for kind in KIND_WORDS if any(kind in e.kinds for e in active))
    strange = "; ".join(e.unrecognised for e in active if e.unrecognised)
    answers = {act: _decisive([_FREE[act], *(e.answer(act) for e in active)]) for act in ACTS}
    return Effect(kinds, strange, in_force=bool(active), **answers)


def _decisive(answers: Sequence[Answer]) -> Answer:
    """The worst answer; of equally bad ones, the best attested."""
    order = ("verified", "reported", "memory")
    return min(worst(answers), key=lambda answer: order.index(answer.confidence))
