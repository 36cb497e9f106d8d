"""The words of "É este carro?": the rows, where to look, and what was seen."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from portal.law.at_the_car import Seen
from portal.law.findings import CarRow
from portal.wording import day


class RowWords(NamedTuple):
    """A row's label, where to look, and its name within a sentence."""

    label: str
    where: str
    named: str


ROW_WORDS: Final[Mapping[CarRow, RowWords]] = {
    "placa": RowWords("Placa", "dianteira e traseira", "placa"),
    "modelo": RowWords("Marca e modelo", "emblema e carroceria", "marca ou modelo"),
    "ano-modelo": RowWords("Ano-modelo", "10º caractere do chassi", "ano-modelo"),
    "procedencia": RowWords("Procedência", "começo do chassi", "procedência"),
    "motor": RowWords("Motor", "tampa do tanque, etiqueta", "motor"),
    "cambio": RowWords("Câmbio", "alavanca e pedais", "câmbio"),
    "lugares": RowWords("Lugares", "cintos", "número de lugares"),
    "potencia": RowWords("Potência", "manual ou etiqueta", "potência"),
}
NATIONAL: Final = ("Nacional", "chassi de 93 a 99 ou de 9A a 9E")
IMPORTED: Final = ("Importado", "chassi fora de 93–99 e 9A–9E")


def model_year_hint(sign: str) -> str:
    return f"10º caractere do chassi: {sign}"


def seen_words(seen: Seen) -> str:
    """Say what was seen of a row: ``no carro: manual``, ``confere``, ``difere``."""
    if seen.state == "match":
        return "confere"
    return f"no carro: {seen.what}" if seen.what else "difere no carro"


def seen_by(seen: Seen) -> str:
    """Say who looked: ``visto no carro por loja em 27/11/2026``."""
    return f"visto no carro por {seen.who} em {day(seen.on)}"
