"""The negotiation sheet: what a buyer should pay at most for a vehicle.

This amount is a reference price minus the open fines and the costs that the buyer expects.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import ClassVar, Final, NamedTuple
from urllib.parse import urlencode

from portal import formats
from portal.charts.offer_chart import OfferChart, offer_chart
from portal.dossier.dossier import Dossier
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.prices import PriceCandidate
from portal.dossier.provenance import Provenance, provenance
from portal.dossier.records_by_line import LINE_OF_SUBJECT
from portal.law.assessment import AssessedFine, Totals, known_sum, one_per_notice, totals
from portal.law.findings import PaidShort
from portal.law.negotiation import SHARES, Cost, Negotiation, Share, negotiate
from portal.law.standing import Standing
from portal.phrasebook import verdict as verdict_words
from portal.phrasebook.agreement import Terms, offer_message, terms_of
from portal.phrasebook.checklist import something
from portal.phrasebook.declared import declared_by
from portal.phrasebook.findings import paid_short_brief, subject_words
from portal.presentation.asking_price import ASKING, against_table, cheapest_words
from portal.presentation.paths import subject_path
from portal.presentation.typed_money import read_money
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.wording import grouped, sanitise_echo

SHARE_WORDS: Final[Mapping[Share, str]] = {
    100: "valor cheio",
    80: "com 20% de desconto",
    60: "com 40% de desconto (SNE)",
}
# The form always sends this number in its parameter ``multas`` (fines). Without this number, a form
# with no ticked fine would omit the parameter, and the page would deduct all open fines.
NO_FINE: Final = "0"
COSTS: Final[Mapping[str, str]] = {
    "transferencia": "Transferência e vistoria",
    "ipva": "IPVA e licenciamento",
    "reparos": "Reparos e pneus",
    "outros": "Outros custos",
}
# The cost that a written report may state.
DEBTS: Final = "ipva"
AMOUNTS: Final[Mapping[str, str]] = {ASKING: "Preço pedido", **COSTS}
# What one tap deducts, in R$: an example, which the visitor may change.
EXAMPLES: Final[Mapping[str, int]] = {
    "transferencia": 350,
    "ipva": 1500,
    "reparos": 2000,
    "outros": 500,
}
CHIP_WORDS: Final[Mapping[str, str]] = {
    "transferencia": "Transferência",
    "ipva": "IPVA",
    "reparos": "Pneus e reparos",
    "outros": "Outros",
}
_SHORT: Final = {COSTS[name]: words for name, words in CHIP_WORDS.items()}
MOST_VERSIONS: Final = 30
LONGEST_TEXT: Final = 40
_WRONG_VERSION: Final = "Escolha uma das versões da lista."
_WRONG_SHARE: Final = "Escolha 100%, 80% ou 60%."
_WRONG_FINES: Final = "Escolha entre as multas em aberto desta página."


class Chip(NamedTuple):
    """A cost that a tap adds to the sum, or removes from it if ``is_on`` is true."""

    name: str
    words: str
    url: str
    is_on: bool


@dataclass(frozen=True)
class NegotiationPage:
    """The negotiation page, which uses only stored answers.

    ``tab`` is the version whose price is used, which the visitor chose if ``is_chosen`` is true.
    ``chosen`` has the numbers of the fines to deduct. ``typed`` has the typed text of each key of
    AMOUNTS, and ``mistyped`` the error message of each invalid one. ``asking`` is the price that
    the seller asks, or None. ``problems`` are the other error messages. If an input is invalid, the
    page shows no sheet, because the result would leave out this input. ``may_ask`` is false for a
    visitor who only reads stored answers.
    """

    template: ClassVar[str] = "pages/negotiation.html"
    share_words: ClassVar[Mapping[Share, str]] = SHARE_WORDS
    labels: ClassVar[Mapping[str, str]] = AMOUNTS
    dossier: Dossier
    now: datetime
    tab: PriceCandidate | None
    is_chosen: bool
    share: Share
    chosen: Collection[int]
    typed: Mapping[str, str]
    mistyped: Mapping[str, str]
    asking: Decimal | None
    costs: Sequence[Cost]
    problems: Sequence[str]
    may_ask: bool = True

    @property
    def is_wrong(self) -> bool:
        return bool(self.problems or self.mistyped)

    @property
    def terms(self) -> Terms | None:
        """What to put in writing, or None if fines and orders are both unknown."""
        dossier = self.dossier
        if dossier.fines is None and dossier.orders is None:
            return None
        return terms_of(
            dossier.subject.display,
            dossier.fines or (),
            dossier.orders or (),
            dossier.verdict.reasons,
            dossier.today,
        )

    @property
    def unasked(self) -> tuple[LookupName, ...]:
        """The lookups that have no stored answer."""
        return self.dossier.answers.in_state("unasked")

    @property
    def has_answers(self) -> bool:
        return any(panel.has_answer for panel in self.dossier.answers.all)

    @cached_property
    def origins(self) -> Mapping[LookupName, Provenance]:
        answers = self.dossier.answers
        return {
            name: provenance(LOOKUP_WORDS[name], answers.of(name), self.now) for name in LOOKUPS
        }

    @property
    def versions(self) -> Sequence[PriceCandidate]:
        return versions_of(self.dossier)

    @property
    def open_fines(self) -> Sequence[AssessedFine]:
        """The fines that the visitor may deduct."""
        return open_fines_of(self.dossier)

    @property
    def left_out(self) -> Sequence[AssessedFine]:
        return [fine for fine in self.open_fines if fine.number not in self.chosen]

    @property
    def left_out_amount(self) -> Decimal | None:
        """The sum of the known amounts of the fines left out, or None if none is known."""
        return known_sum([fine.amount.value for fine in self.left_out])

    @property
    def _deducted(self) -> Totals | None:
        """The totals of the chosen fines.

        The page lists only the first fines of a long list. If the visitor chooses all listed fines,
        the totals include the unlisted fines, because the visitor has left out no fine.
        """
        if self.dossier.fines is None or not self.left_out:
            return self.dossier.totals
        return totals([fine for fine in self.open_fines if fine.number in self.chosen])

    @cached_property
    def sums(self) -> Negotiation:
        return negotiate(self.tab.current if self.tab else None, self._deducted, self.costs)

    @cached_property
    def _notices(self) -> Decimal:
        """What those of the chosen fines cost that are notices of an infraction alone, in R$."""
        chosen = [fine for fine in self.open_fines if fine.number in self.chosen]
        notices = totals([fine for fine in chosen if fine.standing is Standing.NOTICE])
        return negotiate(None, notices).scenario(self.share).fines or Decimal(0)

    @cached_property
    def chart(self) -> OfferChart | None:
        """The bars from the price to the ceiling, or None without a ceiling."""
        if self.ceiling is None or self.sums.price is None:
            return None
        return offer_chart(
            float(self.sums.price),
            float(self.owed or 0),
            float(self._notices),
            float(self.cost_sum),
            None if self.asking is None else float(self.asking),
        )

    @property
    def cost_sum(self) -> Decimal:
        return sum((cost.amount for cost in self.costs), Decimal(0))

    @property
    def cost_words(self) -> str:
        """Name the costs in a few words each: ``Transferência, pneus e reparos``."""
        first, *others = (_SHORT.get(cost.label, cost.label) for cost in self.costs)
        return ", ".join((first, *map(_in_sentence, others)))

    @property
    def chips(self) -> Iterator[Chip]:
        """The costs that one tap deducts, and those that one tap takes back."""
        for name, example in EXAMPLES.items():
            typed = self.typed[name]
            amount, _ = read_money(typed)
            if amount is not None:
                is_whole = amount == amount.to_integral_value()
                shown = formats.integer(amount) if is_whole else formats.brl(amount)
                yield Chip(name, f"{CHIP_WORDS[name]} {shown}", self._url(**{name: ""}), True)
            elif not typed:
                url = self._url(**{name: str(example)})
                yield Chip(name, f"{CHIP_WORDS[name]} {grouped(example)}", url, False)

    def _url(self, **changes: str) -> str:
        """Return the address of this page with another choice."""
        kept = {
            "versao": str(self.tab.number) if self.tab and self.is_chosen else "",
            "parte": "" if self.share == SHARES[0] else str(self.share),
            "multas": ",".join(map(str, (NO_FINE, *sorted(self.chosen)))) if self.left_out else "",
            **self.typed,
        }
        query = urlencode({name: text for name, text in (kept | changes).items() if text})
        path = f"{subject_path(self.dossier.subject)}/negociacao"
        return f"{path}?{query}" if query else path

    @property
    def message(self) -> str:
        """The offer to send to the seller, or "" without one."""
        if self.chart is None or self.ceiling is None:
            return ""
        chosen = [fine for fine in self.open_fines if fine.number in self.chosen]
        return offer_message(self.dossier.subject.display, chosen, self.owed, self.ceiling)

    @property
    def owed(self) -> Decimal | None:
        """What the chosen fines cost with the chosen discount, or None if unknown."""
        return self.sums.scenario(self.share).fines

    @property
    def no_ceiling(self) -> str:
        """Why the page suggests no price, such as a court order, or ""."""
        price = self.tab or self.dossier.prices
        return verdict_words.no_ceiling(self.dossier.verdict) or (price.no_ceiling if price else "")

    @property
    def cautions(self) -> Sequence[str]:
        """Sentences on the price that is used, or on the price that waits for a choice."""
        tab = self.tab or (self.dossier.prices.best if self.dossier.prices else None)
        return tab.cautions if tab else ()

    @property
    def _sum_left(self) -> Decimal | None:
        return None if self.no_ceiling else self.sums.scenario(self.share).ceiling

    @property
    def ceiling(self) -> Decimal | None:
        """The highest price that the buyer should pay, or None if unknown or not positive."""
        left = self._sum_left
        return left if left is not None and left > 0 else None

    @property
    def asking_words(self) -> str:
        """The asking price beside the ceiling and the price table, or ""."""
        if self.asking is None or self.is_wrong:
            return ""
        sentences = []
        if self.ceiling is not None:
            gap = self.asking - self.ceiling
            side = "acima do teto" if gap > 0 else "abaixo do teto"
            sentences.append(f"{formats.price(abs(gap))} {side}." if gap else "É o teto.")
        if self.tab:
            sentences.append(
                against_table(
                    self.asking, self.tab, self.tab.no_ceiling, of_version=self.version_words
                )
            )
        return " ".join(sentences)

    @property
    def is_cheapest(self) -> bool:
        """Whether the price is that of the cheapest of several versions, and none is chosen."""
        prices = self.dossier.prices
        return bool(prices and len(prices.likeliest) > 1 and self.tab and not self.is_chosen)

    @property
    def version_words(self) -> str:
        prices = self.dossier.prices
        if prices is None or not (self.tab and self.tab.is_tied):
            return ""
        return cheapest_words(prices) if self.is_cheapest else "desta versão"

    @property
    def exceeded_by(self) -> Decimal | None:
        """The deductions minus the price, or None if this is negative or unknown."""
        left = self._sum_left
        return -left if left is not None and left <= 0 else None

    @property
    def is_at_most(self) -> bool:
        """Whether the real ceiling is below ``ceiling``, by chosen fines of unknown amount."""
        return self.ceiling is not None and self.sums.fines_without_amount > 0


def negotiation_page(
    dossier: Dossier, now: datetime, query: Mapping[str, str], *, may_ask: bool = True
) -> NegotiationPage:
    """Build the page for ``query``, the parameters that the page's form sends.

    ``versao`` is the number of the chosen version. ``parte`` is the share of the fines that has to
    be paid, in per cent: 100, 80 or 60. ``multas`` lists the numbers of the fines to deduct, such
    as ``1,3``. Without ``multas``, the page deducts all open fines. Each key of AMOUNTS is the name
    of a parameter, whose value is the amount that the visitor typed.
    """
    tab, is_chosen, wrong_version = _chosen(dossier, query.get("versao", ""))
    share, wrong_share = _share(query.get("parte", ""))
    chosen, wrong_fines = _chosen_fines(dossier, query.get("multas", ""))
    read = {name: read_money(query.get(name, "")) for name in AMOUNTS}
    amounts = {name: amount for name, (amount, _) in read.items() if amount}
    return NegotiationPage(
        dossier=dossier,
        now=now,
        tab=tab,
        is_chosen=is_chosen,
        share=share,
        chosen=chosen,
        typed={name: sanitise_echo(query.get(name, ""), LONGEST_TEXT) for name in AMOUNTS},
        mistyped={name: problem for name, (_, problem) in read.items() if problem},
        asking=amounts.pop(ASKING, None),
        costs=[
            *(Cost(COSTS[name], amount) for name, amount in amounts.items()),
            *(_told_debts(dossier) if not query.get(DEBTS, "").strip() else ()),
            *_paid_short(dossier),
        ],
        problems=[problem for problem in (wrong_version, wrong_share, wrong_fines) if problem],
        may_ask=may_ask,
    )


def _in_sentence(words: str) -> str:
    """Return the words as they stand behind others, where an acronym keeps its capitals."""
    return words[:1].lower() + words[1:] if words[1:2].islower() else words


def _told_debts(dossier: Dossier) -> Iterator[Cost]:
    """Yield the debts whose amount the visitor has declared or the written report states.

    They are deducted until the visitor types an amount of their own, which may be 0. A line that
    was declared settles what the report says of it.
    """
    declared = {one.key: one.declaration for one in dossier.lines if one.by == "declared"}
    for one in dossier.lines:
        declaration = one.declaration
        if declaration and one.by == "declared" and one.line.is_debt and declaration.amount:
            words = something(one.line)
            label = f"{words[0].upper()}{words[1:]}"
            yield Cost(
                label, declaration.amount, told_by="declared", source=declared_by(declaration)
            )
    for alert in dossier.verdict.alerts:
        if LINE_OF_SUBJECT.get(alert.subject) in declared:
            continue
        if alert.amount:
            words = subject_words(alert.subject)
            yield Cost(f"{words[0].upper()}{words[1:]}", alert.amount, told_by="report")


def _paid_short(dossier: Dossier) -> Iterator[Cost]:
    """Yield what may be missing of paid fines."""
    for finding in dossier.verdict.reasons:
        if isinstance(finding, PaidShort):
            yield Cost(paid_short_brief(), finding.missing, told_by="records")


def versions_of(dossier: Dossier) -> Sequence[PriceCandidate]:
    return dossier.prices.all[:MOST_VERSIONS] if dossier.prices else ()


def open_fines_of(dossier: Dossier) -> Sequence[AssessedFine]:
    return [fine for fine in one_per_notice(dossier.listed_fines) if fine.is_open]


def _chosen(dossier: Dossier, text: str) -> tuple[PriceCandidate | None, bool, str]:
    """Return the version whose price is used, whether the visitor chose it, and an error message.

    A doubtful price is a reference only if the visitor chooses it.
    """
    tabs, prices = versions_of(dossier), dossier.prices
    best = prices.ceiling_base if prices else None
    if best is None and tabs and tabs[0].no_ceiling:
        best = tabs[0]
    if not text or not tabs:
        return best, False, ""
    chosen = next((tab for tab in tabs if str(tab.number) == text), None)
    return (chosen, True, "") if chosen else (best, False, _WRONG_VERSION)


def _share(text: str) -> tuple[Share, str]:
    if not text:
        return SHARES[0], ""
    chosen = next((share for share in SHARES if str(share) == text), None)
    return (chosen, "") if chosen else (SHARES[0], _WRONG_SHARE)


def _chosen_fines(dossier: Dossier, text: str) -> tuple[Collection[int], str]:
    offered = {fine.number for fine in open_fines_of(dossier)}
    typed = {part.strip() for part in text.split(",")} - {"", NO_FINE}
    wanted = {number for number in offered if str(number) in typed}
    is_wrong = dossier.fines is not None and len(wanted) < len(typed)
    return (offered if not text or is_wrong else wanted), _WRONG_FINES if is_wrong else ""
