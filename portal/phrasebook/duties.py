"""The words of the duties of a vehicle's kind: one short sentence each."""

from collections.abc import Iterable, Mapping
from typing import Final

from portal.law.duties import Duty

_SAID: Final[Mapping[Duty, str]] = {
    "moped": "Ciclomotor: ACC ou CNH A, capacete; desde 2026, placa e registro, segundo a imprensa "
    "(confirme no Detran).",
    "motorcycle": "Motocicleta: CNH A e capacete; o IPVA de quem tem 20 anos, confirme.",
    "bus": "Ônibus: CNH D e tacógrafo (confirme); os 20 anos não o livram do IPVA (EC 137/2025).",
    "trailer": "Reboque: registro, placa e licenciamento próprios; os 20 anos não o livram do IPVA "
    "(EC 137/2025).",
    "truck": "Caminhão: tacógrafo em dia e, no frete pago, RNTRC da ANTT (confirme).",
    "gas": "GNV: em regra, inspeção todo ano para licenciar; peça o certificado.",
    "hired": "Aluguel ou táxi: para uso particular, troca de categoria no Detran (confirme).",
}


def words(duties: Iterable[Duty]) -> str:
    """Return the duties in one line, or ""."""
    return " ".join(_SAID[duty] for duty in duties)
