"""Reads a plate or Renavam as people and spreadsheets write it.

The search, the comparison, the batches and the commands use ``read_typed``, so all of them accept
the same spellings and make the same suggestions. The portal looks up a suggestion only after the
user accepts it, because a wrong guess costs money and shows the records of another vehicle.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, Literal

from portal.data_files import read_words
from portal.tax_number import format_tax_number
from portal.vehicle.plate import InvalidSubject, Plate, Renavam, parse_subject
from portal.wording import DASHES, IGNORABLE, MONTHS, bare, with_hyphens

PLATE_LENGTH: Final = 7
RENAVAM_LENGTH: Final = 11
# The lengths of a Renavam in old documents, which omit the leading zeros.
SHORT_RENAVAMS: Final = (9, 10)
# The indexes of the letters in a plate. The others are of digits, except 4, of a letter or digit.
LETTER_PLACES: Final = (0, 1, 2)
# The indexes of the signs that a separator may precede. "1.0/16" in the name of a version is no
# number of a plate, so digits that follow each other have no separator, unless each sign stands
# alone.
_GAPS: Final = frozenset(map(frozenset[int], ((), (3,), (1, 2, 3), range(1, PLATE_LENGTH))))
_GAPS_OF_MERCOSUL: Final = _GAPS | {frozenset((3, 5)), frozenset((3, 4, 5))}
_GAPS_OF_MISREAD: Final = frozenset(map(frozenset[int], ((), (3,))))
_LIKE_LETTERS: Final = str.maketrans("01582674", "OISBZGTA")
_LIKE_DIGITS: Final = str.maketrans("OQDILSBZGTA", "00011582674")
_FEWEST_DIGITS: Final = 7  # in a Renavam with letters in place of some digits
_SHORTEST: Final = 6  # "mar/23"
_LONGEST: Final = 40  # characters; no spelling of a plate or Renavam is longer

# Why a text is not looked up without a question. "letters": letters and digits that look alike.
# "signs": a sign that separates no parts of a plate. "zeros": a Renavam without its leading zeros.
# "number": a spreadsheet's number, or digits with other separators than a Renavam's. "rounded": a
# number that a spreadsheet has rounded. "check_digit": a Renavam with a wrong check digit. "cpf"
# and "phone": like a person's tax or telephone number. "word": like an address or a car model.
# "vin": like a vehicle identification number.
# "negated": the words around say not to look it up. "address": a part of a mail's or a page's.
# Lists add: "month": like a month and a year. "column": outside the columns of plates. "glued":
# joined to other text. "twin": the other format of a plate in the list. "unticked": left out by
# the user.
Doubt = Literal[
    "",
    "letters",
    "signs",
    "zeros",
    "number",
    "rounded",
    "check_digit",
    "cpf",
    "phone",
    "word",
    "vin",
    "negated",
    "address",
    "month",
    "column",
    "glued",
    "twin",
    "unticked",
]

_SEPARATORS: Final = rf"{DASHES}\s._/\\•·∙‧"
# Matches a plate within a text. ``\s`` contains no-break and narrow spaces.
PLATE_IN_TEXT: Final = (
    rf"(?<![^\W_])([A-Za-z]{{3}})[{_SEPARATORS}]{{0,3}}([0-9][A-Za-z0-9][0-9]{{2}})(?![^\W_])"
)
CPF_IN_TEXT: Final = rf"(?<![^\W_])[0-9]{{3}}\.[0-9]{{3}}\.[0-9]{{3}}[{DASHES}/][0-9]{{2}}(?!\w)"
# With the area code, or with a hyphen before the last four digits.
PHONE_IN_TEXT: Final = (
    r"(?<!\w)(?:(?:\+?55[\s.-]{0,2})?(?:\(0?[1-9][0-9]\)|0?[1-9][0-9][\s.-])[\s.-]?"
    rf"(?:9[\s.-]?)?[0-9]{{4}}[{DASHES}\s.]?[0-9]{{4}}"
    rf"|(?:[1-9][0-9])?9[0-9]{{4}}[{DASHES}][0-9]{{4}})(?!\w)"
)
_CPF: Final = re.compile(CPF_IN_TEXT)
_CPF_GROUPS: Final = re.compile(r"[0-9]{3}(\D)[0-9]{3}\1[0-9]{3}\D[0-9]{2}")
_PHONE: Final = re.compile(PHONE_IN_TEXT)
_MOBILE: Final = re.compile(r"[1-9][1-9]9[0-9]{8}")
# Eleven digits in one word or in groups with spaces, and the masks 0000000000-0 and 0000.000000-0.
_RENAVAM: Final = re.compile(r"[0-9](?: ?[0-9]){9} ?-? ?[0-9]|[0-9]{4}\.[0-9]{6}-[0-9]")
# These masks have one digit after the hyphen. The mask of a CPF has two, the check digits.
_MASKED: Final = re.compile(r"[0-9]{10}-[0-9]|[0-9]{4}\.[0-9]{6}-[0-9]")
_NUMBER: Final = re.compile(r"[+(]?[0-9][0-9 .,/()-]*")
_DECIMALS: Final = re.compile(r"[.,]0{1,2}$")
_EXPONENT: Final = re.compile(r"([0-9])[.,]?([0-9]*)E\+?0?(8|9|10)", re.IGNORECASE)
# Matches "Renavam nº" before a number ("Renavam nº 798…"), as in a text copied from a document. A
# digit must follow, so "Renavam nº" before a plate does not match.
_RENAVAM_LABEL: Final = re.compile(
    r"\W*renava[mn]s?\b[^0-9A-Za-z]*(?:n[^0-9A-Za-z]*)?(?=[0-9]|[OQDILSBZGTA0-9]{11}\b)",
    re.IGNORECASE,
)
# A number follows that is longer than a plate's, because "CPF4ZT3" and "VIN.2X26" are plates.
_CPF_LABEL: Final = re.compile(r"\W*cpf[^0-9A-Za-z]*(?=(?:[0-9][^0-9A-Za-z]?){7})", re.IGNORECASE)
_PLATE_LABEL: Final = re.compile(
    r"\W*pla(?:cas?|tes?)\b[\W_]*(?:d[oa] (?:ve[ií]culo|carro|moto)\b[\W_]*)?(?:n[º°o]?[\W_]+)?",
    re.IGNORECASE,
)
_VIN_LABEL: Final = re.compile(
    r"\W*(?:chassis?|vin)\b[\W_]*(?:n[º°o]?[\W_]+)?(?=(?:\w[^\w]?){8})", re.IGNORECASE
)
_LABELS: Final = (_RENAVAM_LABEL, _CPF_LABEL, _PLATE_LABEL, _VIN_LABEL)
_PLATE: Final = re.compile(PLATE_IN_TEXT)
_EDGES: Final = re.compile(r"^[\W_]+|[\W_]+$")
_GAP: Final = re.compile(r"[\W_]+")
_PLATE_SEPARATORS: Final = re.compile(rf"[{_SEPARATORS}]+")
# Letters and digits as in the plates of Argentina and Venezuela (AA123AA), Bolivia (1234AAA) and
# Paraguay (AAAA123). Only I and O are read as a digit in the last, because people type them so.
_FOREIGN: Final = re.compile(
    r"[A-Z]{2}[0-9]{3}[A-Z]{2}|[0-9]{3,4}[A-Z]{3,4}|[A-Z]{3}[A-HJ-NP-Z][0-9]{3}"
)
# The last four signs of a VIN are digits (ISO 3779).
_VIN: Final = re.compile(r"(?=(?:.*[0-9]){6})(?=.*[A-Z])[A-Z0-9]{13}[0-9]{4}")
_MONTH: Final = "|".join(bare(month)[:3] for month in MONTHS)
# Names of models and fields, and of versions and motorcycles, that stand before a year or a
# displacement.
_MODELS: Final = "GOL|UNO|FOX|FIT|BIZ|POP|FAN|KIA|BMW|JAC|RAM|ANO|MOD|FAB"
_VERSIONS: Final = (
    "GLS|LXR|LTZ|XEI|GLI|SRV|SRX|SRS|EXL|XLS|XLT|TSI|HRV|CRV|WRV|ZRV|CBR|CBX|CBF|GSX|XRE|XTZ|NXR"
    "|XRV|VFR|YZF|FZR|KTM"
)
_WORDS: Final = read_words(__package__, "short_words.toml")
_SHORT_WORDS: Final = frozenset[str]().union(*_WORDS.values())
_SPOKEN: Final = frozenset(_WORDS["spoken"])
_YEAR_OR_DISPLACEMENT: Final = "(?:19[3-9][0-9]|20[0-3][0-9]|[0-9]{2}00)"
# Such a word and a number, separated by a space or slash, look like a plate: "Rua 1234".
NAME_AND_YEAR: Final = re.compile(
    rf"(?:{_MODELS}|{_MONTH})[{_SEPARATORS}]*[\s/][{_SEPARATORS}]*{_YEAR_OR_DISPLACEMENT}",
    re.IGNORECASE,
)
_LETTERS_AND_NUMBER: Final = re.compile(
    rf"([A-Za-z]{{3}})([{_SEPARATORS}]*[\s/.][{_SEPARATORS}]*)?[0-9]{{4}}"
)
# What is joined to a part of an address of a mail, a page or a person.
_ADDRESS: Final = re.compile(
    r"@|://|\bwww\.|[?&]\w+=|\.(?:com|net|org|gov|edu|app|dev|info|br|io|me)\b", re.IGNORECASE
)
_LONGEST_ADDRESS: Final = 300  # characters that are read on each side of a plate
_ENDS_IN_CURRENCY: Final = re.compile(r"(?:\$|\bBRL|\bUSD)\s*$", re.IGNORECASE)
# What says that the next plate, or the one before, shall not be looked up. Such a text may go on
# for some words ("não precisa consultar a placa"), but "sem ar ABC1D23" lacks something else.
_NEGATED_BEFORE: Final = re.compile(
    r"(?<!\w)(?:(?:n[aã]o|nunca|jamais|exceto|salvo|tir(?:ar|ando|e)|pul(?:ar|e)|exclu\w+|ignor\w+"
    r"|remov\w+|retir\w+|cancel\w+|descart\w+|desconsider\w+|except|not|skip)(?!\w)[^;|\n]{0,40}"
    r"|(?:menos|sem|without)(?:\W+(?:[oa]s?|ess[ea]|est[ea]|ve[ií]culos?|carros?|motos?|placas?"
    r"|the|plate|n[º°o]))*\W*)$",
    re.IGNORECASE,
)
_NEGATED_AFTER: Final = re.compile(
    r"[^\w\n]{0,5}(?:n[aã]o(?:\s+(?:consult|pesquis|busc|inclu|precis|ver\b|é\b)|\W*$)|exclu|ignor"
    r"|cancel|descart|desconsider|remov|retir|fora\b)",
    re.IGNORECASE,
)
_ENDS_IN_PLATE_LABEL: Final = re.compile(
    r"(?<![^\W_])pla(?:cas?|tes?)\b[\W_]*(?:n[º°o]?[\W_]+)?$", re.IGNORECASE
)
_MODEL: Final = re.compile(rf"(?:{_MODELS}|{_VERSIONS})[\W_]", re.IGNORECASE)
_MODEL_NAME: Final = re.compile(rf"(?:{_MODELS}|{_VERSIONS})(?![A-Za-z])", re.IGNORECASE)
_VERSION_AND_YEAR: Final = re.compile(
    rf"(?:{_VERSIONS})[{_SEPARATORS}]+{_YEAR_OR_DISPLACEMENT}", re.IGNORECASE
)
_NAMES: Final = (NAME_AND_YEAR, _VERSION_AND_YEAR)
# Beside other words, also such a name without a separator, and any three letters before a space.
_MODEL_AND_YEAR: Final = re.compile(
    rf"(?:{_MODELS}|{_VERSIONS}){_YEAR_OR_DISPLACEMENT}|[A-Za-z]{{3}}[\s/]+{_YEAR_OR_DISPLACEMENT}",
    re.IGNORECASE,
)
# A plate that a spreadsheet has read as a month and displays as "mar/23".
_SHORT_MONTH: Final = re.compile(rf"({_MONTH})[/.-]([0-9]{{2}})", re.IGNORECASE)
_FIRST_YEAR_OF_1900: Final = 30  # of two digits, as in Excel
_MONTH_AND_YEAR: Final = re.compile(rf"(?:{_MONTH})(?:19|20)[0-9]{{2}}")


@dataclass(frozen=True, slots=True)
class Typed:
    """What a typed text means.

    ``subject`` is the plate or Renavam. If ``doubt`` is not empty, ``subject`` is only a
    suggestion, which the user must accept. If the text means no vehicle, ``subject`` is None, and
    ``doubt`` may say what the text is. ``signs`` has the letters and digits of the text, without
    its label: those from which ``subject`` was read.
    """

    subject: Plate | Renavam | None = None
    doubt: Doubt = ""
    signs: str = field(default="", compare=False)

    @property
    def is_certain(self) -> bool:
        return self.subject is not None and not self.doubt


def read_typed(text: str) -> Typed:
    """Read one plate or Renavam.

    Ignores letter case, format characters such as the zero-width space, and a label such as
    "Placa:" or "Renavam nº". The parts of a plate may have any of the usual separators.
    """
    plain = " ".join(with_hyphens(visible(text)).split())
    label = next(filter(None, (label.match(plain) for label in _LABELS)), None)
    value = plain[label.end() :] if label else plain
    signs = signs_of(value)
    # Check before upper(), because upper() turns ß into SS.
    is_read = _SHORTEST <= len(plain) <= _LONGEST and signs.isascii()
    typed = _read(value, signs.upper(), label.re if label else None) if is_read else Typed()
    return Typed(typed.subject, typed.doubt, signs)


def read_within(match: re.Match[str], *, has_words: bool) -> Typed:
    """Read a plate or number that was found within a text, and what stands around it.

    ``has_words`` is true if the text has other words, or other plates.
    """
    start, end = match.span()
    before = match.string[max(0, start - _LONGEST_ADDRESS) : start]
    after = match.string[end : end + _LONGEST_ADDRESS]
    is_labelled = _ENDS_IN_PLATE_LABEL.search(before) is not None
    typed = read_part(match[0], has_words=has_words, is_labelled=is_labelled)
    if not typed.is_certain:
        return typed
    doubt: Doubt = ""
    if _ADDRESS.search(_joined(before, match[0], after)):
        doubt = "address"
    elif _NEGATED_BEFORE.search(before) or _NEGATED_AFTER.match(after):
        doubt = "negated"
    elif _ENDS_IN_CURRENCY.search(before) or (has_words and not is_labelled and _is_word(match[0])):
        doubt = "word"
    return Typed(typed.subject, doubt, typed.signs) if doubt else typed


def _joined(before: str, text: str, after: str) -> str:
    """Return a text with what is joined to it without a space."""
    head = before.split()[-1:] if not before[-1:].isspace() else []
    tail = after.split()[:1] if not after[:1].isspace() else []
    return "".join((*head, text, *tail))


def _is_word(text: str) -> bool:
    """Return whether a plate's text may be a word or an abbreviation, and a number."""
    match = _LETTERS_AND_NUMBER.fullmatch(text)
    if match is None or (word := match[1].upper()) not in _SHORT_WORDS:
        return False
    return word not in _SPOKEN or not (match[2] or "").strip()


def read_part(text: str, *, has_words: bool, is_labelled: bool = False) -> Typed:
    """Read a plate or number that was found within a text. ``has_words``: beside other text."""
    typed = read_typed(f"placa {text}" if is_labelled else text)
    if not typed.is_certain or not isinstance(typed.subject, Plate):
        return typed
    if _MONTH_AND_YEAR.fullmatch(typed.subject.text):
        return Typed(typed.subject, "month", typed.signs)
    if has_words and is_like_model(text):
        return Typed(typed.subject, "word", typed.signs)
    return typed


def parse_typed(text: str) -> Plate | Renavam:
    """Read a plate or Renavam without a question. Raises InvalidSubject.

    Accepts any plate and any eleven digits that ``parse_subject`` accepts, also with a wrong check
    digit, and every other text that leaves no doubt.
    """
    try:
        return parse_subject(text)
    except InvalidSubject:
        typed = read_typed(text)
        if typed.subject is None or typed.doubt:
            raise
        return typed.subject


def is_tax_number(renavam: Renavam) -> bool:
    """Return whether eleven digits are a valid CPF but no valid Renavam."""
    return not renavam.check_digit_holds and format_tax_number(renavam.text) is not None


def is_like_model(text: str) -> bool:
    """Return whether a plate's text may be a car's model or version, and a year or displacement."""
    return _MODEL_AND_YEAR.fullmatch(text) is not None


def begins_with_model(text: str) -> bool:
    """Return whether a word begins with the name of a model or version, as in "CBR600"."""
    return _MODEL_NAME.match(text) is not None


def signs_of(text: str) -> str:
    """Return a text's letters and digits."""
    return "".join(filter(str.isalnum, text))


def visible(text: str) -> str:
    """Remove format characters, such as zero-width characters from chat programs."""
    if text.isascii():
        return text
    return IGNORABLE.sub("", "".join(c for c in text if unicodedata.category(c) != "Cf"))


def _read(value: str, signs: str, label: re.Pattern[str] | None) -> Typed:
    """Read a text without its label. ``signs`` are its letters and digits."""
    if signs.isdecimal():
        return _read_number(value, signs, is_labelled=label is _RENAVAM_LABEL)
    if match := _EXPONENT.fullmatch(_EDGES.sub("", value)):
        return _read_exponent(match)
    if _VIN.fullmatch(signs) and not _PLATE.search(value):
        return Typed(None, "vin")
    return _read_plate(_EDGES.sub("", value), signs, is_labelled=label is _PLATE_LABEL)


def _read_number(text: str, digits: str, *, is_labelled: bool) -> Typed:
    if not is_labelled and _PHONE.fullmatch(text):
        return Typed(None, "phone")
    text = _EDGES.sub("", text)
    if not _NUMBER.fullmatch(text) or not digits.strip("0"):
        return Typed()
    is_grouped = not is_labelled and _CPF_GROUPS.fullmatch(text) is not None
    if is_grouped and (_CPF.fullmatch(text) or format_tax_number(digits)):
        return _read_cpf(digits)
    if len(digits) == RENAVAM_LENGTH and (is_labelled or _RENAVAM.fullmatch(text)):
        return _judged(digits, "", is_labelled=is_labelled or _MASKED.fullmatch(text) is not None)
    whole = re.sub(r"\D", "", _DECIMALS.sub("", text))
    if not SHORT_RENAVAMS[0] <= len(whole) <= RENAVAM_LENGTH or not whole.strip("0"):
        return Typed()
    return _judged(whole, "zeros" if whole == digits and len(whole) < RENAVAM_LENGTH else "number")


def _read_cpf(digits: str) -> Typed:
    """Read digits in the groups of a CPF. Suggest a Renavam only if no CPF has these digits."""
    renavam = Renavam(digits)
    if renavam.check_digit_holds and not format_tax_number(digits):
        return Typed(renavam, "number")
    return Typed(None, "cpf")


def _read_exponent(match: "re.Match[str]") -> Typed:
    digits, count = match[1] + match[2], int(match[3]) + 1
    whole = digits.ljust(count, "0")
    is_exact = len(digits) == count
    # Programs omit a zero at the end. More missing digits may have been rounded.
    may_end_in_zero = len(digits) == count - 1 and Renavam(whole.zfill(RENAVAM_LENGTH))
    if is_exact or (may_end_in_zero and may_end_in_zero.check_digit_holds):
        return _judged(whole, "number")
    return Typed(None, "rounded")


def _judged(digits: str, doubt: Doubt, *, is_labelled: bool = False) -> Typed:
    renavam = Renavam(digits.zfill(RENAVAM_LENGTH))
    if is_labelled or not format_tax_number(renavam.text):
        if doubt or renavam.check_digit_holds:
            return Typed(renavam, doubt)
        return Typed(renavam, "phone" if _MOBILE.fullmatch(digits) else "check_digit")
    return Typed(renavam, doubt or "cpf") if renavam.check_digit_holds else Typed(None, "cpf")


def _read_plate(text: str, signs: str, *, is_labelled: bool) -> Typed:
    if month := _SHORT_MONTH.fullmatch(text):
        century = "19" if int(month[2]) >= _FIRST_YEAR_OF_1900 else "20"
        return Typed(Plate(month[1].upper() + century + month[2]), "month")
    if len(signs) == PLATE_LENGTH:
        *parts, _ = _GAP.split(text)
        gaps = frozenset(accumulate(map(len, parts)))
        try:
            plate = Plate.parse(signs)
        except InvalidSubject:
            is_misread = gaps in _GAPS_OF_MISREAD and not _MODEL.match(text)
            return _similar_plate(signs) if is_misread else Typed()
        if gaps not in (_GAPS_OF_MERCOSUL if plate.is_mercosul else _GAPS):
            return Typed()
        # "Placa: AND 1234" names no floor. "Placa: GOL 2015" may stand in the wrong column.
        is_word = len(text) > PLATE_LENGTH and _is_word(text) and not is_labelled
        if is_word or any(words.fullmatch(text) for words in _NAMES):
            return Typed(plate, "word")
        return Typed(plate, "" if _PLATE_SEPARATORS.sub("", text).upper() == signs else "signs")
    if len(signs) == RENAVAM_LENGTH and sum(map(str.isdecimal, signs)) >= _FEWEST_DIGITS:
        digits = signs.translate(_LIKE_DIGITS)
        if digits.isdecimal() and digits.strip("0"):
            return _judged(digits, "letters")
    return Typed()


def _similar_plate(signs: str) -> Typed:
    """Suggest a plate for signs of which some look alike."""
    if signs.isalpha() or signs.isdecimal() or _FOREIGN.fullmatch(signs):
        return Typed()
    letters, digits = signs.translate(_LIKE_LETTERS), signs.translate(_LIKE_DIGITS)
    try:
        return Typed(Plate.parse(letters[:3] + digits[3] + signs[4] + digits[5:]), "letters")
    except InvalidSubject:
        return Typed()
