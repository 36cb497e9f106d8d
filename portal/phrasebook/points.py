"""The words on a fine's points: why they do not count, or are not known."""

from collections.abc import Mapping
from typing import Final

from portal.law.deadlines import LEI_14071_SINCE
from portal.law.points import Points, Why
from portal.wording import day

_EXPIRED: Final = (
    "Os pontos desta multa contavam por 12 meses desde a infração: em regra, já não contam mais."
)
_NOT_COUNTED: Final = "Os pontos não são contados: "
_SAID: Final[Mapping[Why, str]] = {
    "": "",
    "sent": "Pontos enviados pela fonte; não conferidos com a tabela.",
    "unknown": "Não é possível dizer os pontos desta infração.",
    "rule_changed": "Não é possível dizer os pontos desta infração: a regra mudou entre 2016 e "
    "2021.",
    "in_future": "Não é possível dizer se contam: a data da infração está no futuro.",
    "none": "Esta infração não gera pontos.",
    "no_rule": "Não há norma clara sobre a contagem de pontos neste caso.",
    "suspends": f"{_NOT_COUNTED}a própria infração leva à suspensão do direito de dirigir (art. "
    "259, § 4º, do CTB).",
    "other_person": f"{_NOT_COUNTED}quem responde por ela não é condutor nem proprietário.",
    "excluded": f"{_NOT_COUNTED}o art. 259, § 4º, do CTB a exclui da contagem.",
    "by_manual": f"{_NOT_COUNTED}o manual de fiscalização a trata como não computável (Res. "
    "CONTRAN 985/2022).",
    "called_off": "Se foi cancelada ou virou advertência, não gera pontos.",
    "diverging": "Não é possível dizer os pontos: código e descrição são de infrações diferentes.",
}


def sentence(points: Points) -> str:
    """Say why a fine's points do not count or are not known, or return ""."""
    if points.why == "expired" and points.left_on is not None:
        left_on = day(points.left_on)
        return f"Os pontos contam por 12 meses; em regra, saíram da contagem em {left_on}."
    said = _SAID[points.why]
    if points.is_before_law:
        said += f" A infração é anterior a {day(LEI_14071_SINCE)}, quando a regra era outra."
    return said


def expired(points: Points) -> str:
    """Return a sentence that many fines with expired points share, or ""."""
    return _EXPIRED if points.why == "expired" else ""
