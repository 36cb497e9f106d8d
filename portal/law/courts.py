"""Find courts by acronym, name or case number, and format names of divisions.

The table ``courts.csv`` lists 92 courts and the 27 first-instance sections of federal courts. A
case number has the form ``NNNNNNN-DD.AAAA.J.TR.OOOO`` (Resolução CNJ 65/2008). Its part J.TR
identifies the court. No source confirms the table's J.TR numbers of electoral and military courts.
RENAJUD, the register of court restrictions, spells the name of one court in several ways.
"""

import re
from dataclasses import dataclass
from functools import cache

from portal.data_files import read_csv
from portal.vehicle.spelling import accented
from portal.wording import bare

_CASE = re.compile(r"\b[0-9]{7}-?[0-9]{2}\.?[0-9]{4}\.?([0-9])\.?([0-9]{2})\.?[0-9]{4}\b")
_NUMBER = re.compile(
    r"(?<![0-9])([0-9]{7})-?([0-9]{2})\.?([0-9]{4})\.?([0-9])\.?([0-9]{2})\.?([0-9]{4})(?![0-9])",
    re.ASCII,
)
# Matches "TRT DA 3ª REGIAO" and "TRT 2A REGIAO", which mean the courts TRT3 and TRT2.
_REGION = re.compile(r"\b(TR[FT])[ -]*(?:DA )?0*([0-9]{1,2}) ?[AO.]* ?REGIAO\b")
# Matches the words "do Estado", as in "Tribunal de Justiça do Estado de Minas Gerais". The names in
# courts.csv lack these words.
# "DA 15 REGIAO", which the table writes as "15ª".
_BARE_REGION = re.compile(r"\b0*([0-9]{1,2}) ?REGIAO\b")
_OF_A_STATE = re.compile(r"\bDO ESTADO (?=D[AEO] )")
_FIRST_INSTANCE = "federal (1º grau)"

# Matches the code before the name of a court's division: "04355-VIGESIMA TERCEIRA VARA CIVEL".
_BODY_CODE = re.compile(r"^[0-9]+\s*-\s*")
_NUMBERED = re.compile(r"^([0-9]{1,3})([AOªº])?$")
_UNITS = "PRIMEIR SEGUND TERCEIR QUART QUINT SEXT SETIM OITAV NON"
_TENS = "DECIM VIGESIM TRIGESIM QUADRAGESIM QUINQUAGESIM SEXAGESIM SEPTUAGESIM OCTOGESIM NONAGESIM"
_ORDINALS = {stem: value for value, stem in enumerate(_UNITS.split(), start=1)}
_ORDINALS |= {stem: 10 * value for value, stem in enumerate(_TENS.split(), start=1)}
_ORDINALS |= {"CENTESIM": 100, "SETUAGESIM": 70, "UNDECIM": 11, "DUODECIM": 12}
_SMALL = frozenset(("A", "AO", "DA", "DAS", "DE", "DO", "DOS", "E", "EM", "NA", "NO"))
# Before one of these words, a number without a suffix is an ordinal: "23 VARA" is "23ª Vara".
_ABBREVIATED = frozenset(("JEC", "JEF", "VC", "VF", "VFP", "VT"))
_COUNTED = frozenset(("CAMARA", "TURMA", "UNIDADE", "VARA")) | _ABBREVIATED


@dataclass(frozen=True, slots=True)
class Court:
    """A court.

    ``uf`` has the codes of the court's states, or "BR" for the whole country. ``aliases`` are other
    acronyms, separated by blanks. ``j_tr`` identifies the court in case numbers ("8.13").
    """

    acronym: str
    name: str
    uf: str
    branch: str
    aliases: str
    j_tr: str

    @property
    def site(self) -> str:
        """The court's site, such as ``tjmg.jus.br``, or "" if its name does not tell."""
        if self.branch == _FIRST_INSTANCE:
            return ""
        name = self.acronym.lower()
        return f"{name[:3]}-{name[3:]}.jus.br" if name.startswith("tre") else f"{name}.jus.br"


def find_court(text: str, case: str = "") -> Court | None:
    """Find a court by its name, or else by a case number.

    ``text`` may be "TJMG-TRIBUNAL DE JUSTICA…", "TJ-MG", a full name, or a case number. ``case`` is
    used only if ``text`` names no court.
    """
    pieces = text.split("-")
    for candidate in (text, pieces[0], "".join(pieces[:2]), "-".join(pieces[1:])):
        if candidate and (court := _named(bare(candidate))):
            return court
    match = _CASE.search(case) or _CASE.search(text)
    return _index()[1].get(f"{match[1]}.{match[2]}") if match else None


def _named(text: str) -> Court | None:
    """Return the court of a name in capitals, which may have more words than the table's."""
    names, _ = _index()
    if court := names.get(_key(text)):
        return court
    short = text
    if "REGIAO" in short:
        short = _BARE_REGION.sub(r"\1A REGIAO", _REGION.sub(r"\1 \2", short))
    if "ESTADO" in short:
        short = _OF_A_STATE.sub("", short)
    return None if short == text else names.get(_key(short))


def has_wrong_check_digits(case: str) -> bool:
    """Return whether the check digits of a case number are wrong.

    Res. CNJ 65/2008: the number without its digits, and then these, is 1 modulo 97 (ISO 7064). A
    text without a whole number has none.
    """
    match = _NUMBER.search(case)
    if match is None:
        return False
    number, digits, rest = match[1], match[2], "".join(match.groups()[2:])
    return int(f"{number}{rest}{digits}") % 97 != 1


def court_body_name(text: str) -> str:
    """Format the name of a court's division.

    For example, ``04355-VIGESIMA TERCEIRA VARA CIVEL`` becomes ``23ª Vara Cível``. A text that
    consists of only the code, or has lower-case letters, loses only its outer spaces.
    """
    sent = text.strip()
    if any(c.islower() for c in sent.replace("ª", "").replace("º", "")):
        return sent
    words = _BODY_CODE.sub("", sent).split()
    if not words:
        return sent
    parts: list[str] = []
    position = 0
    while position < len(words):
        ordinal, used = _ordinal(words[position:])
        parts.append(ordinal or _spelled(words[position], first=position == 0))
        position += used
    return " ".join(parts)


@cache
def courts() -> tuple[Court, ...]:
    """Return every court, in the order of the table."""
    return tuple(read_csv(__package__, "courts.csv", Court))


def _ordinal(words: list[str]) -> tuple[str, int]:
    """Return the ordinal at the start of ``words``, and how many words it takes.

    If ``words`` does not start with an ordinal, the result is ("", 1).
    """
    numbered = _NUMBERED.match(words[0])
    if numbered and (numbered[2] or (len(words) > 1 and bare(words[1]) in _COUNTED)):
        sign = {"A": "ª", "O": "º", None: "ª"}.get(numbered[2], numbered[2])
        return f"{int(numbered[1])}{sign}", 1
    total, previous, used = 0, 1000, 0
    for word in words:
        plain = bare(word)
        value = _ORDINALS.get(plain[:-1]) if plain[-1:] in ("A", "O") else None
        # In an ordinal, the value of a word has fewer digits than the value of the previous word.
        # "VIGESIMA TERCEIRA" (20, 3) is 23, but "QUARTA QUINTA" (4, 5) is two ordinals.
        if value is None or len(str(value)) >= len(str(previous)):
            break
        total, previous, used = total + value, value, used + 1
    if not used:
        return "", 1
    return f"{total}{'ª' if bare(words[0]).endswith('A') else 'º'}", used


def _spelled(word: str, *, first: bool) -> str:
    plain = bare(word)
    if plain in _ABBREVIATED:
        return plain
    if plain in _SMALL and not first:
        return word.lower()
    if plain == "PARA":
        return "Pará"  # ``accented`` adds no accent, because "para" is also a preposition
    # "TJ/SP", "(CEJUSC)" and codes keep their upper case.
    return accented(word).capitalize() if word.isalpha() and len(word) > 1 else word


def _key(text: str) -> str:
    return "".join(filter(str.isalnum, text))


@cache
def _index() -> tuple[dict[str, Court], dict[str, Court]]:
    names: dict[str, Court] = {}
    segments: dict[str, Court] = {}
    for court in courts():
        for name in (court.acronym, court.name, *court.aliases.split()):
            names.setdefault(_key(bare(name)), court)
        # A first-instance section has the same J.TR (court number) as its regional court. A case
        # number therefore identifies only the regional court.
        if court.branch != _FIRST_INSTANCE:
            segments.setdefault(court.j_tr, court)
    return names, segments
