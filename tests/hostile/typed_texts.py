"""Random texts as people type and paste them: plates with labels, misreadings and neighbours."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from portal.data_files import read_csv
from portal.tax_number import format_tax_number
from portal.vehicle.plate import InvalidSubject, Renavam, parse_subject

_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_FAMILIES: Final = read_csv("portal.sandbox", "families.csv", dict[str, str])
VERSIONS: Final = tuple(
    f"{family['model']} {version.split(':')[1]}"
    for family in _FAMILIES
    for version in family["versions"].split("|")
)
_SHORT_VERSIONS: Final = (
    *("UNO 1.0/8V 4P", "SED.1.8/1.8 AMBIT.16V TB", "GOL 1.0 16", "FOX 1.6/16", "FIT 1.5 16"),
    *("CLA 2.0 45", "HB20 1.0 12V", "CG 125 TI", "POP 110I", "GLA 2.0/16 4P", "BMW 3.0 24"),
)
_LABELS: Final = (
    *("Placa ", "placa: ", "PLACA:", "Placas: ", "Placa n\u00ba ", "plate=", "plate: ", "Placa - "),
    *("Placa do ve\u00edculo: ", '{"plate":"', '{"placa": "', "\u200bplaca ", "*Placa:* "),
)
_SPELLINGS: Final = (
    "{}{}",
    "{}-{}",
    "{} {}",
    "{}\u00a0{}",
    "{}.{}",
    "{} - {}",
    "{}\u2022{}",
    "{}/{}",
)
_LOOK_ALIKE: Final = {
    "O": "0",
    "I": "1",
    "S": "5",
    "B": "8",
    "Z": "2",
    "G": "6",
    "T": "7",
    "A": "4",
    "0": "OQD",
    "1": "IL",
    "5": "S",
    "8": "B",
    "2": "Z",
    "6": "G",
    "7": "T",
    "4": "A",
}
_FOREIGN: Final = (
    "AA123BB",
    "AB 123 CD",
    "AABB 123",
    "1234 ABC",
    "1234BCD",
    "ABC 123",
    "BB\u00b7CC\u00b712",
)
_IDENTIFIERS: Final = (
    *("VIN {maker} {plate} ZZZ", "chassi {maker}{plate}{number}", "Chassi: {plate} {number}"),
    *("vin: {plate}", "{maker}-{plate}-{number}", "chassis no {maker} {plate}", "motor {plate}"),
    *("NF 2026/{plate}/{number}", "lote-{plate}-2026", "{plate} (chassi)", "s\u00e9rie {plate}"),
)
_DESCRIPTIONS: Final = (
    *(
        " GOL {year}",
        " uno {year}",
        " Fox/{year}",
        " apt {number}",
        " Apt. {number}",
        " mar {year}",
    ),
    *(" hrv {year}", " por {number}", " xre {hundred}", " ano {year}", " {year}", ", {year}"),
    *(" R$ {number}", " R$ 45.900,00", " por R$ 45.900", " km {number}", " CBR{hundred}"),
    *(
        " (Onix branco)",
        " azul",
        " - Jo\u00e3o",
        " rua {number}",
        " {word} {number}",
        " cep {number}",
    ),
    *(" 11 98765-4321", " CPF 529.982.247-25", " chassi 9BWZZZ377VT004251", " {version}"),
    *('","amount":195.23}', '", "amount_at_80": {number}.18, "model_year": {year}}', " 2.0 16V"),
)


# Words and abbreviations that people write before a number, and not the portal's own list.
_SHORT: Final = (
    *("SEG", "TER", "QUA", "QUI", "SEX", "SAB", "DOM", "SAC", "OBS", "TEL", "REF", "COD", "DIA"),
    *("MES", "ANO", "JAN", "FEV", "ABR", "AGO", "DEZ", "RUA", "APT", "CEP", "POR", "COM", "ATE"),
    *("DOC", "NUM", "PAG", "VLR", "SUB", "TOT", "LIG", "PIX", "OAB", "PED", "MAT", "SMS", "ART"),
)
_ADDRESSES: Final = (
    *("{}@x.com", "contato {}@gmail.com", "joao.{}@empresa.com.br", "e-mail: {}@oficina.net"),
    *("https://site.com/{}", "http://x.org/carros/{}?ver=1", "www.loja.com.br/{}", "site.com/{}"),
    *("veja https://a.app/v?placa={}&uf=SP", "{}.com.br", "@{} no instagram", "fala com @{}"),
    *("R$ {}", "valor R${}", "US$ {}"),
)
_NEGATIONS: Final = (
    *("não consultar {}", "nao consulte a placa {}", "exceto {}", "menos {}", "não é {}"),
    *("NÃO CONSULTAR: {}", "ignorar {}", "excluir {}", "tirar a {}", "sem {}", "não {}"),
    *("{} (não consultar)", "{} - ignorar", "{} não", "todas menos a {}", "cancelar {}"),
)


@dataclass(frozen=True, slots=True)
class Text:
    """A typed text. ``meant`` has the plates and Renavam that a reader sees in it.

    ``kind`` names what the text is made of. ``plain`` is the same text without its label.
    """

    kind: str
    text: str
    meant: frozenset[str] = frozenset()
    plain: str = ""


def texts(seed: str, count: int) -> Iterator[Text]:
    source = random.Random(seed)
    for _ in range(count):
        yield source.choice(_KINDS)(source)


def _plate(source: random.Random) -> str:
    letters = "".join(source.choices(_LETTERS, k=3))
    fifth = source.choice(_LETTERS + "0123456789")
    return f"{letters}{source.randrange(10)}{fifth}{source.randrange(100):02}"


def _spelled(source: random.Random, plate: str) -> str:
    text = source.choice(_SPELLINGS).format(plate[:3], plate[3:])
    return text.lower() if source.random() < 0.3 else text


def _renavam(source: random.Random) -> str:
    """Return a Renavam with a right check digit, which is no CPF."""
    while True:
        first = f"{source.randrange(10**9, 10**10)}"
        digits = next(f"{first}{last}" for last in range(10) if _holds(f"{first}{last}"))
        if format_tax_number(digits) is None:
            return digits


def _holds(digits: str) -> bool:
    return Renavam(digits).check_digit_holds


def _described(source: random.Random) -> str:
    return (
        source.choice(_DESCRIPTIONS)
        .replace("{year}", str(source.randint(1990, 2029)))
        .replace("{hundred}", f"{source.randint(10, 40)}00")
        .replace("{number}", str(source.randint(1000, 9999)))
        .replace("{word}", "".join(source.choices(_LETTERS.lower(), k=3)))
        .replace("{version}", source.choice(VERSIONS))
    )


def _misread(source: random.Random) -> Text:
    """A plate with look-alike signs, beside a label."""
    while True:
        signs = list(_plate(source))
        for place in source.sample((0, 1, 2, 3, 5, 6), k=source.choice((1, 1, 2))):
            signs[place] = source.choice(_LOOK_ALIKE.get(signs[place], signs[place]))
        wrong = "".join(signs)
        try:
            parse_subject(wrong)
        except InvalidSubject:
            break
    label = source.choice(_LABELS)
    plain = wrong.lower() if source.random() < 0.3 else wrong
    return Text("misread", f"{label}{plain}" + '"}' * label.startswith("{"), plain=plain)


def _labelled(source: random.Random) -> Text:
    plate = _plate(source)
    return Text("labelled", source.choice(_LABELS) + _spelled(source, plate), frozenset({plate}))


def _beside(source: random.Random) -> Text:
    plate = _plate(source)
    label = source.choice(("", "", *_LABELS))
    return Text("beside", label + _spelled(source, plate) + _described(source), frozenset({plate}))


def _before(source: random.Random) -> Text:
    plate = _plate(source)
    text = f"{_described(source).strip()} {_spelled(source, plate)}"
    return Text("before", text, frozenset({plate}))


def _several(source: random.Random) -> Text:
    plates = [_plate(source) for _ in range(source.randint(2, 6))]
    joined = source.choice((" ", ", ", "\n", " e ", "; ", " / ")).join(
        _spelled(source, plate) for plate in plates
    )
    return Text("several", joined + source.choice(("", _described(source))), frozenset(plates))


def _document(source: random.Random) -> Text:
    plate, renavam = _plate(source), _renavam(source)
    lines = [f"Placa: {_spelled(source, plate)}", f"Renavam: {renavam}"]
    if source.random() < 0.5:
        lines = ["PLACA", plate, "C\u00d3DIGO RENAVAM", renavam]
    if source.random() < 0.5:
        lines = lines[len(lines) // 2 :] + lines[: len(lines) // 2]
    return Text("document", "\n".join(lines), frozenset({plate}))


def _identifier(source: random.Random) -> Text:
    """A longer number with what looks like a plate in it."""
    text = source.choice(_IDENTIFIERS).replace("{plate}", _plate(source))
    text = text.replace("{maker}", source.choice(("9BW", "93Y", "9BG", "8AP", "935", "988")))
    text = text.replace("{number}", str(source.randint(100, 999_999)))
    return Text("identifier", text.lower() if source.random() < 0.3 else text)


def _version(source: random.Random) -> Text:
    rows = [source.choice(VERSIONS + _SHORT_VERSIONS * 9) for _ in range(source.randint(1, 3))]
    prices = [f"{row};{source.randint(10, 200)}.{source.randint(0, 999):03},00" for row in rows]
    return Text("version", "\n".join(source.choice((rows, prices))))


def _foreign(source: random.Random) -> Text:
    return Text("foreign", source.choice(("", *_LABELS)) + source.choice(_FOREIGN))


def _amounts(source: random.Random) -> Text:
    members = {"code": "008190-6", "model_year": source.randint(1990, 2029), "amount_at_80": 156.18}
    members |= {"price": float(source.randint(10_000, 900_000)), "value": source.randrange(10**6)}
    return Text(
        "amounts", json.dumps(members, separators=source.choice(((",", ":"), (", ", ": "))))
    )


def _word(source: random.Random) -> Text:
    """A word or an abbreviation and a number, alone or beside a plate."""
    number = source.choice(("0800", "1030", "1400", str(source.randint(1000, 9999))))
    space = source.choice((" ", " ", "\u00a0", "  "))
    text = f"{source.choice(_SHORT)}{space}{number}"
    if source.random() < 0.4:
        return Text("word", text.lower() if source.random() < 0.5 else text)
    plate = _plate(source)
    glued = source.choice((text, text.replace(space, "")))
    texts = [glued.lower() if source.random() < 0.5 else glued, plate]
    source.shuffle(texts)
    return Text(
        "word",
        source.choice(("vendo {}", "{} hoje", "{}")).format(" ".join(texts)),
        frozenset({plate}),
    )


def _address(source: random.Random) -> Text:
    """What looks like a plate, in the address of a mail, a page or a person, or a price."""
    plate = _plate(source)
    plate = plate.lower() if source.random() < 0.5 else plate
    return Text("address", source.choice(_ADDRESSES).format(plate))


def _negated(source: random.Random) -> Text:
    """A plate that shall not be looked up, alone or after another."""
    plate, other = _plate(source), _plate(source)
    text = source.choice(_NEGATIONS).format(_spelled(source, plate))
    if source.random() < 0.5:
        return Text("negated", text)
    return Text("negated", f"{other}{source.choice((' ', ', ', '; '))}{text}", frozenset({other}))


def _half(source: random.Random) -> Text:
    """A plate and a misread one, which must not be left out in silence."""
    misread, plate = _misread(source).plain, _plate(source)
    texts = [misread, plate]
    source.shuffle(texts)
    joined = source.choice((" ", ", ", " e ", "; ", " / ", "\n")).join(texts)
    return Text("half", source.choice(("", "", "placas ")) + joined, frozenset({plate}), misread)


def _noise(source: random.Random) -> Text:
    signs = "ABCDIOSZabcz0123456789 ./-:;,\"'{}\n\u00ba\u00c7\u200b\ufe0f\u00df"
    text = "".join(source.choices(signs, k=source.randint(0, 60)))
    found = "".join(filter(str.isalnum, text)).upper()
    windows = (found[at : at + long] for long in (7, 11) for at in range(len(found)))
    return Text("noise", text, frozenset(windows))


_KINDS: Final[tuple[Callable[[random.Random], Text], ...]] = (
    *(_misread, _misread, _labelled, _beside, _beside, _before, _several, _document, _version),
    *(_foreign, _amounts, _noise, _identifier, _word, _address, _negated, _half),
)
