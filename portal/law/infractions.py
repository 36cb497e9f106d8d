"""The table of traffic infractions: articles, points and amounts of each code.

Codes and descriptions follow the official enforcement manual, Manual Brasileiro de Fiscalização de
Trânsito (Resolução CONTRAN 985/2022). Two other sources fill the gaps. The code sheet of RENAINF,
the national register of fines (SENATRAN, 2016), covers pedestrians, bicycles, public servants and
the code 500-2. Lei 14.599/2023 covers arts. 165-B to 165-D. The table lacks the codes of dangerous
goods (9xxx), and codes that are newer than these sources.

Gravity (the class of severity), points and base amounts follow arts. 258 and 259 of the CTB (the
traffic code). The amounts are those of Lei 13.281/2016, in force since 1 November 2016. The column
``points_counted`` has the points that count on a licence (art. 259, § 4º; Lei 14.071/2020). The
column is blank if no source says whether the points count, as for cyclists.

A code has one or more splits (desdobramentos), which are variants of the infraction. Rows with the
status ``superseded`` are former splits or rules, which old records still use. The portal does not
read the column ``confidence``, which is the number of sources that have the row (1 or 2).
"""

import re
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache
from itertools import takewhile
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from portal.data_files import read_csv
from portal.law.deadlines import LEI_14071_SINCE
from portal.vehicle.field import fold
from portal.wording import counted, listed

Gravity = Literal["leve", "media", "grave", "gravissima", "especial", "depende", "mudou"]

# On this day Lei 13.281/2016 changed the base amounts of art. 258.
NEW_AMOUNTS_SINCE = date(2016, 11, 1)
# Until this day, it was announced in March 2026, the fine for a toll ends if the toll is paid.
TOLL_UNTIL = date(2026, 12, 30)
# For each gravity: the amount in R$ before NEW_AMOUNTS_SINCE, the amount in R$ since then (CTB,
# art. 258), and the points (art. 259).
_BASES: dict[Gravity, tuple[Decimal, Decimal, int]] = {
    "leve": (Decimal("53.20"), Decimal("88.38"), 3),
    "media": (Decimal("85.13"), Decimal("130.16"), 4),
    "grave": (Decimal("127.69"), Decimal("195.23"), 5),
    "gravissima": (Decimal("191.54"), Decimal("293.47"), 7),
}
# For each law, the first day on which the new gravity may apply, and the first day on which the new
# gravity surely applies.
_LEI_13855 = (date(2019, 10, 1), date(2019, 11, 1))
_LEI_14071 = (LEI_14071_SINCE, LEI_14071_SINCE)
_CHANGED: dict[str, tuple[date, date]] = {
    "220, XIII": _LEI_14071,
    "230, XX": _LEI_13855,
    "231, VII": _LEI_13855,
    "231, VIII": _LEI_13855,
    "233": _LEI_14071,
}
_NOT_CAUGHT = re.compile(r"(233|240|241|242|243)\b")
# The official manual prints code 767-0, but the check-digit rule gives 767-6. Both are accepted.
_SPELLINGS = {"7676": "7670"}
_CODE = re.compile(r"([0-9]{3})[-./ ]?([0-9])(?:[-./ ]?([0-9]))?", re.ASCII)
# The description of a code lists the wordings of at most _MAX_WORDINGS splits (variants). If all
# wordings begin with the same _SHARED_WORDS words or more, these words are written only once.
_MAX_WORDINGS = 3
_SHARED_WORDS = 3
_NUMBERS = ("multiplier", "points", "points_counted", "amount", "amount_until_2016")
# The members in which the rows of one code may differ.
_MAY_DIFFER = ("offender", "gravity", "suspends", *_NUMBERS)


class Row(msgspec.Struct, frozen=True):
    """One line of the table: a code and one of its variants (splits, desdobramentos).

    ``official`` is the official wording, for comparison with the description in a record.
    ``description`` is the same wording without abbreviations, and ``spellings`` are both, folded.
    Amounts are in reais, and None if
    unknown.
    """

    code: str
    split: str
    description: str
    official: str
    spellings: frozenset[str]
    article: str
    offender: str
    gravity: Gravity
    multiplier: Decimal
    points: int
    suspends: bool
    current: bool
    points_counted: int | None = None
    amount: Decimal | None = None
    amount_until_2016: Decimal | None = None

    def fits(self, sent: Decimal) -> bool:
        return stands_for(sent, self.amount, self.amount_until_2016) is not None


class Infraction(msgspec.Struct, frozen=True):
    """The infraction that a code stands for.

    A code of four digits may cover several splits, each with its own row. If the rows differ in
    ``offender``, the infraction's ``offender`` is "". If they differ in ``gravity``, its
    ``gravity`` is "depende" ("depends"). If they differ in a number or in ``suspends``, this value
    is None. The gravity "mudou" ("changed") means that a law changed the gravity, and that the
    record does not show which gravity applies.
    """

    code: str
    split: str
    rows: tuple[Row, ...]
    description: str
    article: str
    offender: str
    gravity: Gravity
    multiplier: Decimal | None
    points: int | None
    points_counted: int | None
    suspends: bool | None
    amount: Decimal | None
    amount_until_2016: Decimal | None

    @property
    def printed(self) -> str:
        """The code as printed, such as ``745-5``, or ``745-50`` with its split."""
        return f"{self.code[:3]}-{self.code[3]}{self.split}"

    @property
    def is_nic(self) -> bool:
        """Whether this is the fine for not naming the driver (NIC; CTB, art. 257, § 8º)."""
        return self.code == "5002"

    @property
    def is_not_caught(self) -> bool:
        """Whether the infraction shows only later, in the register: a transfer that is late.

        Arts. 233 and 240 to 243 of the CTB. Nobody can be caught in the act (art. 282, § 6º-A).
        """
        return bool(_NOT_CAUGHT.match(self.article))

    @property
    def is_toll(self) -> bool:
        """Whether this is the fine for an unpaid toll (CTB, art. 209-A)."""
        return self.code == "7730"

    @property
    def citation(self) -> str:
        """The article, such as ``art. 218, I do CTB``, and any article of a second law."""
        return self.cite()

    def cite(self, *, short: bool = False) -> str:
        """Cite the article. ``short`` leaves out that it is of the CTB, if it is the only law."""
        if not self.article:
            return ""
        if "Lei" in self.article:
            return f"art. {self.article.replace(' c/c ', ' do CTB c/c ', 1)}"
        return f"art. {self.article}" + ("" if short else " do CTB")

    def amount_at(self, day: date | None) -> Decimal | None:
        """Return the full amount on ``day``, or the current amount if ``day`` is None."""
        if day is not None and day < NEW_AMOUNTS_SINCE:
            return self.amount_until_2016
        return self.amount

    def narrowed_to(self, sent: Decimal) -> "Infraction":
        """Keep only splits (variants) whose amount is ``sent``, or all if none has it.

        The codes 7056, 7099 and 7102 have splits for motorcycles and for bicycles, with different
        amounts. The amount also shows whether an old record means a former split, which later rules
        replaced. Code 6920, for example, was "grave" and is now "média".
        """
        fitting = tuple(row for row in self.rows if row.fits(sent))
        if not fitting and not self.split:
            fitting = tuple(row for row in rows_of(self.code) if row.fits(sent))
        if not fitting or len(fitting) == len(self.rows):
            return self
        return joined(self.code, self.split, fitting)


def stands_for(sent: Decimal, *amounts: Decimal | None) -> Decimal | None:
    """Return the first amount that fits ``sent``, or None.

    An amount fits if it equals ``sent``, either exactly or after its cents are cut.
    """
    for amount in amounts:
        if amount is not None and sent in (amount, Decimal(int(amount))):
            return amount
    return None


@lru_cache(1024)  # the fines of a vehicle are of few infractions
def find(code_text: str) -> Infraction | None:
    """Find the infraction of a code such as "7455", "745-5", "74550" or "745-50".

    A split that the table lacks gives the infraction of the four digits.
    """
    match = _CODE.fullmatch(code_text.strip())
    if match is None:
        return None
    code = match[1] + match[2]
    rows = rows_of(_SPELLINGS.get(code, code))
    if not rows:
        return None
    if chosen := tuple(row for row in rows if row.split == match[3]):
        return joined(rows[0].code, chosen[0].split, chosen)
    current = tuple(row for row in rows if row.current)
    return joined(rows[0].code, "", current or rows)


def check_digit(root: str) -> str:
    """Return the check digit of an infraction's three digits. The only other one is that of 767-0.

    The rule is computed from the manual (Resolução CONTRAN 985/2022), whose codes all follow it.
    """
    rest = sum(weight * int(digit) for weight, digit in zip((4, 3, 2), root, strict=True)) % 11
    return str((11 - rest) % 11 % 10)


def rows_of(code: str) -> tuple[Row, ...]:
    """Return the rows of a code of four digits, or () for an unknown code."""
    return _table().get(code, ())


def rows() -> tuple[Row, ...]:
    """Return every row, in the order of the table."""
    return tuple(row for group in _table().values() for row in group)


@cache
def _table() -> dict[str, tuple[Row, ...]]:
    groups: dict[str, list[Row]] = {}
    for row in map(_row, read_csv(__package__, "infractions.csv", dict[str, str])):
        groups.setdefault(row.code, []).append(row)
    return {code: tuple(group) for code, group in groups.items()}


def _row(line: dict[str, str]) -> Row:
    known = {name: cell for name, cell in line.items() if cell}
    current, official = line["status"] == "current", line["official"] or line["description"]
    spellings = {fold(official), fold(line["description"])}
    sent = {**known, "official": official, "spellings": spellings, "current": current}
    return msgspec.convert(sent, Row, strict=False)


def joined(code: str, split: str, rows: tuple[Row, ...]) -> Infraction:
    """Join the rows of one code to one infraction.

    The descriptions and articles are joined. Any other value in which the rows differ is None,
    except that ``offender`` is "" and ``gravity`` is "depende" ("depends").
    """
    same: dict[str, Any] = {
        name: _only({getattr(row, name) for row in rows}) for name in _MAY_DIFFER
    }
    description = _one_description([row.description for row in rows])
    article = _one_article([row.article for row in rows])
    same["offender"], same["gravity"] = same["offender"] or "", same["gravity"] or "depende"
    return Infraction(code, split, rows, description, article, **same)


def as_committed(
    infraction: Infraction, sent: Decimal | None, committed_on: date | None
) -> Infraction:
    """Return the infraction under the rule that was in force on ``committed_on``.

    Two laws changed the gravity of infractions. If the day is unknown, the amount that the source
    sent determines the rule. For the items that Lei 13.855/2019 changed, the amount also determines
    the rule in October 2019: the law was published on 9 July 2019 and came into force 90 days
    later, and this module does not compute the day. An amount without cents is enough, because the
    amounts of two gravities differ by more than their cents.

    If the rule cannot be determined, the gravity is "mudou" ("changed"), and the points and amounts
    are None.
    """
    if not any(_former(row) for row in infraction.rows):
        return infraction
    article = infraction.article.split(" c/c ")[0]
    old_until, new_from = _CHANGED.get(article, (NEW_AMOUNTS_SINCE, LEI_14071_SINCE))
    if committed_on is not None and committed_on >= new_from:
        return infraction
    rows = tuple(_former(row) or row for row in infraction.rows)
    then = joined(infraction.code, infraction.split, rows)
    if committed_on is not None and committed_on < old_until:
        return then
    if sent is not None and stands_for(sent, infraction.amount):
        return infraction
    if sent is not None and stands_for(sent, then.amount, then.amount_until_2016):
        return then
    return replace(infraction, gravity="mudou", **dict.fromkeys(_NUMBERS))


def _former(row: Row) -> Row | None:
    """Return the row with its former gravity, or None if the gravity never changed."""
    if row.amount_until_2016 is None or row.gravity not in _BASES:
        return None
    for gravity, (old, new, points) in _BASES.items():
        if row.amount_until_2016 != old or gravity == row.gravity:
            continue
        return replace(
            row,
            gravity=gravity,
            multiplier=Decimal(1),
            points=points,
            points_counted=points if row.points_counted else row.points_counted,
            amount=new,
        )
    return None


def _only(values: set[Any]) -> Any:
    return values.pop() if len(values) == 1 else None


def _one_description(texts: list[str]) -> str:
    """Join the descriptions of splits: the shared opening, then each ending."""
    texts = list(dict.fromkeys(texts))
    if len(texts) == 1:
        return texts[0]
    words = [text.split() for text in texts]
    columns = zip(*words, strict=False)
    shared = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
    if shared < _SHARED_WORDS:
        shared = 0
    endings = [" ".join(line[shared:]).lstrip("-– ") for line in words if line[shared:]]
    wordings = " / ".join(endings[:_MAX_WORDINGS])
    if (more := len(endings) - _MAX_WORDINGS) > 0:
        wordings += f" (e mais {counted(more, 'variante', 'variantes')})"
    opening = " ".join(words[0][:shared])
    return f"{opening} … {wordings}" if shared else wordings


def _one_article(articles: list[str]) -> str:
    articles = list(dict.fromkeys(articles))
    if len(articles) == 1:
        return articles[0]
    bases = list(dict.fromkeys(article.split(" c/c ")[0] for article in articles))
    return listed(bases, last=" ou ")
