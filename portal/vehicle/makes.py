"""Converts the vehicle register's spellings of makes and models to display names.

For example, the register writes "I/AUDI A3" (I for imported), "VW/GOL 1.0" or "SR/RANDON …" (SR for
semi-trailer). There is no official list of these spellings. The lists below are from public
programs that read the register's texts.
"""

import re
from dataclasses import dataclass

from portal.vehicle.decode import Decoded
from portal.vehicle.field import fold

# The display name of a make, and the register's other spellings of this name. A spelling that
# differs only in case or accents is not listed.
_SPELLINGS = {
    "BRP": ["CAN-AM"],
    "Caoa Chery": ["CAOA", "CAOACHERY"],
    "Chevrolet": ["CHEV", "CHEVY", "G.M", "GM"],
    "Citroën": ["CITR"],
    "GWM": ["GREAT WALL", "HAVAL"],
    "Harley-Davidson": ["HARLEY", "HARLEY DAVIDSON"],
    "Kia": ["KIA MOTORS"],
    "Land Rover": ["L.ROVER", "LAND-ROVER", "LANDROVER", "LROVER"],
    "Marcopolo": ["MPOLO"],
    "Mercedes-Benz": ["M BENZ", "M. BENZ", "M.BENZ", "MBENZ", "MERCEDES", "MERCEDES BENZ"],
    "Mitsubishi": ["MITSU", "MMC"],
    "Renault": ["RENALT"],
    "Royal Enfield": ["ROYAL"],
    "Suzuki": ["JTA-SUZUKI"],
    "Toyota": ["TOYT"],
    "Volkswagen": ["V.W", "VOLKS", "VOLKSWAGEM", "VW"],
}
_PLAIN = (
    "Agrale,Audi,Bajaj,BMW,BYD,Chery,Chrysler,Dafra,Denza,Dodge,Ducati,Effa,Facchini,Ferrari,Fiat,"
    "Ford,Foton,Geely,GMC,Guerra,Haojue,Honda,Hyundai,Iveco,JAC,Jaecoo,Jaguar,Jeep,JMC,Kasinski,"
    "Kawasaki,KTM,Lexus,Lifan,MAN,Maserati,Mazda,MINI,Mottu,Nissan,Omoda,Peugeot,Polaris,Porsche,"
    "RAM,Randon,Recrusul,Scania,Shineray,Sinotruk,SsangYong,Subaru,Sundown,Traxx,Triumph,Troller,"
    "Volare,Volvo,Yamaha"
)
# Abbreviations that are read as a make only before a slash ("RE/CLASSIC 350"). In other places,
# such a short word may have another meaning.
_BEFORE_SLASH = {
    "7YAMAHA": "Yamaha",
    "H-D": "Harley-Davidson",
    "HON": "Honda",
    "HYU": "Hyundai",
    "JTA": "Suzuki",
    "LR": "Land Rover",
    "MB": "Mercedes-Benz",
    "NIS": "Nissan",
    "PEU": "Peugeot",
    "RE": "Royal Enfield",
    "REN": "Renault",
    "SUB": "Subaru",
    "SUZ": "Suzuki",
    "TOY": "Toyota",
}
_DISPLAY = {fold(name): name for name in (*_SPELLINGS, *_PLAIN.split(","))} | {
    spelling: name for name, spellings in _SPELLINGS.items() for spelling in spellings
}

_ORIGIN = re.compile(r"(?:I|IMP\.?|N|E|SR|R|REB) ?/ ?", re.IGNORECASE | re.ASCII)
_WORD = re.compile(r"[^\W_]+")
# Model names of up to three letters. Every other word of up to three letters is a code and
# stays in upper case.
_SHORT_NAMES = frozenset(
    re.findall(r"\w+", "ACE AIR BIZ BOX CAB DUO FAN FIT FLY FOX GOL KA KID MAX NEO POP SKY TOP UNO")
)
# Codes of more than three letters, which must stay in upper case.
_CODES = frozenset(re.findall(r"\w+", "CRDI CVVT ECVT GDCI HDIE MPFI TDCI TFSI TGDI TIVCT VTEC"))
_VOWEL = re.compile(r"[AEIOUY]")


@dataclass(frozen=True, slots=True)
class VehicleName:
    """The make and the model as displayed. Each is "" if unknown."""

    make: str
    model: str

    def __bool__(self) -> bool:
        return bool(self.make or self.model)

    def __str__(self) -> str:
        return f"{self.make} {self.model}".strip()


def read_name(text: str) -> VehicleName:
    """Read make and model from one registration text such as "I/AUDI A3"."""
    rest = " ".join(text.split())
    if origin := _ORIGIN.match(rest):
        rest = rest[origin.end() :]
    head, slash, tail = rest.partition("/")
    before = fold(head)
    if slash and (make := _DISPLAY.get(before) or _BEFORE_SLASH.get(before)):
        return VehicleName(make, title_case(tail.strip()))
    words = rest.split(" ")
    for count in (3, 2, 1):
        make = _DISPLAY.get(fold(" ".join(words[:count])))
        if make and len(words) >= count:
            return VehicleName(make, title_case(_unrepeated(words[count:], make)))
    return VehicleName("", title_case(rest))


def _unrepeated(words: list[str], make: str) -> str:
    """Join the words after a make. A hyphen and the same make again are left out.

    For example, the words after "GM" in "GM - Chevrolet Onix" give "Onix".
    """
    if words[:1] != ["-"]:
        return " ".join(words).lstrip(" -")
    words = words[1:]
    for count in (3, 2, 1):
        if len(words) >= count and _DISPLAY.get(fold(" ".join(words[:count]))) == make:
            return " ".join(words[count:])
    return " ".join(words)


def make_name(text: str) -> str:
    """Return the display name of a make, such as "Volkswagen" for "VW"."""
    name = read_name(text)
    return name.make if name.make and not name.model else title_case(text)


def vehicle_name(decoded: Decoded) -> VehicleName:
    """Return a vehicle's make, and its model without the make in front."""
    stated, described = read_name(decoded.make.value), read_name(decoded.description.value)
    # If the lists above lack the make, ``read_name`` returns the text of the make as ``model``.
    make = stated.make or (stated.model if decoded.make else "") or described.make
    model = described.model or (stated.model if stated.make else "")
    if not described.make and make and fold(model).startswith((fold(make) + " ", fold(make) + "/")):
        model = title_case(model[len(make) + 1 :].strip())
    elif fold(model) == fold(make):
        model = ""
    return VehicleName(make, model)


def title_case(text: str) -> str:
    """Capitalise names, and keep codes such as A3, TFSI, 16V and HR-V in upper case.

    A text with both upper and lower case is returned unchanged.
    """
    if text not in (text.upper(), text.lower()):
        return text
    text = text.upper()
    return _WORD.sub(lambda match: _cased(match[0]), text)


def _cased(word: str) -> str:
    if word in _SHORT_NAMES:
        return word.capitalize()
    is_code = len(word) <= 3 or not word.isalpha() or word in _CODES or not _VOWEL.search(word)
    return word if is_code else word.capitalize()
