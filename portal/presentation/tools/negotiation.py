"""The negotiation sheet: what a buyer should pay at most for a vehicle.

This amount is a reference price minus the open fines and the costs that the buyer expects.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Final

from portal import formats
from portal.dossier.answers import Panel, Panels
from portal.dossier.dossier import Dossier
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.prices import Prices, PriceTab
from portal.law import (
    SHARES,
    UNVERIFIED,
    Cost,
    Negotiation,
    Share,
    Totals,
    Unverified,
    negotiate,
    totals,
)
from portal.presentation.paths import subject_path
from portal.presentation.render_context import RenderContext
from portal.presentation.tools.typed_money import NotMoney, read_money
from portal.presentation.vehicle.gaps import Unavailable
from portal.presentation.vehicle.panel_frame import Provenance, missing_of, provenance
from portal.vehicle import LOOKUPS, Plate
from portal.wording import counted, sanitise_echo

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
MOST_VERSIONS: Final = 30
LONGEST_TEXT: Final = 40
_TYPED: Final = "informado por você"
_WRONG_VERSION: Final = "Escolha uma das versões da lista."
_WRONG_SHARE: Final = "Escolha 100%, 80% ou 60%."
_WRONG_FINES: Final = "Escolha entre as multas em aberto desta página."


@dataclass(frozen=True, slots=True)
class CostField:
    """A field for an expected cost. ``problem`` is "" if ``text`` is valid."""

    name: str
    label: str
    text: str
    problem: str


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """A possible version of the vehicle. ``current`` is its price, None if unknown."""

    number: int
    label: str
    current: Decimal | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class NegotiableFine:
    """An open fine that the visitor may deduct. ``amount`` is None if it is unknown."""

    number: int
    title: str
    amount: Decimal | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class SheetLine:
    """A line of the sheet: the reference price or a deduction.

    The page shows the text ``said`` if ``amount`` is None.
    """

    label: str
    amount: Decimal | None
    said: str
    source: str


@dataclass(frozen=True, slots=True)
class NegotiationPage:
    """The negotiation page.

    ``ceiling`` is the highest price that the buyer should pay, or None if this price is unknown or
    not positive, or if ``no_ceiling`` says why the page suggests no price. ``at_most`` is true if
    some chosen fines have an unknown amount. The real ceiling is then below ``ceiling``, because
    the page does not deduct these fines. ``fine_choices`` are the open fines. The page deducts only
    the chosen fines.
    If several versions match the registration equally well, ``version_note`` names the version
    whose price is used. In other cases, ``version_note`` is "".

    The page uses only stored answers. ``unasked`` names the lookups that have no stored answer.
    ``kept`` describes the stale answers that the page uses. If an input is invalid, for example a
    mistyped cost, the page shows no sheet, because the result would leave out this input.
    """

    template: ClassVar[str] = "pages/negotiation.html"
    share_words: ClassVar[Mapping[Share, str]] = SHARE_WORDS
    unverified: ClassVar[tuple[Unverified, ...]] = UNVERIFIED
    plate: Plate
    title: str
    path: str
    whole_page_url: str
    dossier: Dossier
    unasked: tuple[str, ...]
    has_answers: bool
    missing: tuple[Unavailable, ...]
    kept: tuple[Provenance, ...]
    versions: tuple[VersionChoice, ...]
    share: Share
    fine_choices: tuple[NegotiableFine, ...]
    fields: tuple[CostField, ...]
    problems: tuple[str, ...]
    lines: tuple[SheetLine, ...]
    sums: Negotiation
    version_note: str
    ceiling: Decimal | None
    at_most: bool
    notes: tuple[str, ...]

    @property
    def is_wrong(self) -> bool:
        return bool(self.problems) or any(field.problem for field in self.fields)

    @property
    def no_ceiling(self) -> str:
        """Why the page suggests no price, such as a court order, or ""."""
        return self.dossier.verdict.no_ceiling

    @property
    def not_certain(self) -> str:
        """Why the buyer should not rely on ``ceiling`` yet, or "" if no lookup is missing."""
        if self.dossier.verdict.row("transfer").mark == "unknown":
            return "Não se sabe se o veículo pode ser transferido: falta uma consulta."
        return ""

    @property
    def has_unchosen(self) -> bool:
        return not all(choice.chosen for choice in self.fine_choices)

    @property
    def ceiling_label(self) -> str:
        if self.no_ceiling:
            return "Teto"
        return "Teto sugerido, no máximo" if self.at_most else "Teto sugerido"

    @property
    def exceeded_by(self) -> Decimal | None:
        """The deductions minus the price, or None if this is negative or unknown."""
        ceiling = None if self.no_ceiling else self.sums.scenario(self.share).ceiling
        return -ceiling if ceiling is not None and ceiling <= 0 else None


def negotiation_page(
    plate: Plate, panels: Panels, context: RenderContext, query: Mapping[str, str]
) -> NegotiationPage:
    """Build the page for ``query``, the parameters that the page's form sends.

    ``versao`` is the number of the chosen version. ``parte`` is the share of the fines that has to
    be paid, in per cent: 100, 80 or 60. ``multas`` lists the numbers of the fines to deduct, such
    as ``1,3``. Without ``multas``, the page deducts all open fines. Each key of COSTS is the name
    of a parameter, whose value is the amount that the visitor typed.
    """
    dossier = context.dossier(plate, panels)
    prices = dossier.prices
    tabs = prices.all[:MOST_VERSIONS] if prices else ()
    tab, wrong_version = _chosen(tabs, query.get("versao", ""))
    share, wrong_share = _share(query.get("parte", ""))
    fields, costs = _costs(query)
    choices, wrong_fines = _fine_choices(dossier, query.get("multas", ""))
    fines = _chosen_totals(dossier, choices)
    sums = negotiate(tab.current if tab else None, fines, costs)
    sum_left = sums.scenario(share).ceiling
    is_positive = sum_left is not None and sum_left > 0
    ceiling = sum_left if is_positive and not dossier.verdict.no_ceiling else None
    path = subject_path(plate)
    unasked = tuple(
        words for lookup, words in LOOKUP_WORDS.items() if panels.of(lookup).state == "unasked"
    )
    return NegotiationPage(
        plate=plate,
        title=f"Negociação do veículo {plate.display}",
        path=path,
        whole_page_url=f"{path}?completo=1",
        dossier=dossier,
        unasked=unasked,
        has_answers=any(panels.of(lookup).has_answer for lookup in LOOKUPS),
        missing=missing_of(panels, plate),
        kept=tuple(
            provenance(words, panel, context.now)
            for lookup, words in LOOKUP_WORDS.items()
            if (panel := panels.of(lookup)).state == "stale"
        ),
        versions=tuple(
            VersionChoice(one.number, one.label, one.current, one is tab) for one in tabs
        ),
        share=share,
        fine_choices=choices,
        fields=fields,
        problems=tuple(problem for problem in (wrong_version, wrong_share, wrong_fines) if problem),
        lines=tuple(_lines(tab, sums, share, dossier, choices, context)),
        sums=sums,
        version_note=_version_note(prices, tab) if prices and tab else "",
        ceiling=ceiling,
        at_most=sums.fines_without_amount > 0 and ceiling is not None,
        notes=tuple(_notes(tab, sums, share, choices)),
    )


def _chosen(tabs: tuple[PriceTab, ...], text: str) -> tuple[PriceTab | None, str]:
    # The price of another model year is a reference only if the visitor chooses it.
    best = tabs[0] if tabs and not tabs[0].is_other_year else None
    if not text or not tabs:
        return best, ""
    found = next((tab for tab in tabs if str(tab.number) == text), None)
    return (found, "") if found else (best, _WRONG_VERSION)


def _version_note(prices: Prices, tab: PriceTab) -> str:
    price = prices.price_summary
    if not tab.is_tied or price is None:
        return ""
    return (
        f"O registro não diz qual de {len(prices.likeliest)} versões é a deste veículo, e os "
        f"preços delas são: {price.text}. Este teto parte de “{tab.label}”. Confira a versão no "
        "documento e escolha-a em “Sua conta”."
    )


def _share(text: str) -> tuple[Share, str]:
    if not text:
        return SHARES[0], ""
    found = next((share for share in SHARES if str(share) == text), None)
    return (found, "") if found else (SHARES[0], _WRONG_SHARE)


def _fine_choices(dossier: Dossier, text: str) -> tuple[tuple[NegotiableFine, ...], str]:
    rows = [fine for fine in dossier.listed_fines if fine.is_open]
    typed = {part.strip() for part in text.split(",")} - {"", NO_FINE}
    wanted = {row.number for row in rows if str(row.number) in typed}
    is_wrong = dossier.fines is not None and len(wanted) < len(typed)
    everything = not text or is_wrong
    choices = tuple(
        NegotiableFine(
            row.number,
            f"{formats.short_date(row.record.committed_on)} · {row.description}",
            row.amount.value,
            everything or row.number in wanted,
        )
        for row in rows
    )
    return choices, _WRONG_FINES if is_wrong else ""


def _chosen_totals(dossier: Dossier, choices: Sequence[NegotiableFine]) -> Totals | None:
    """Return the totals of the chosen fines.

    The page lists only the first fines of a long list. If the visitor chooses all listed fines, the
    totals include the unlisted fines, because the visitor has left out no fine.
    """
    if dossier.fines is None or all(choice.chosen for choice in choices):
        return dossier.totals
    chosen = {choice.number for choice in choices if choice.chosen}
    return totals([fine for fine in dossier.listed_fines if fine.number in chosen])


def _costs(query: Mapping[str, str]) -> tuple[tuple[CostField, ...], tuple[Cost, ...]]:
    fields, costs = [], []
    for name, label in COSTS.items():
        text, problem, amount = query.get(name, ""), "", None
        try:
            amount = read_money(text)
        except NotMoney as error:
            problem = str(error)
        fields.append(CostField(name, label, sanitise_echo(text, LONGEST_TEXT), problem))
        if amount:
            costs.append(Cost(label, amount))
    return tuple(fields), tuple(costs)


def _lines(
    tab: PriceTab | None,
    sums: Negotiation,
    share: Share,
    dossier: Dossier,
    choices: Sequence[NegotiableFine],
    context: RenderContext,
) -> Iterator[SheetLine]:
    no_price = "indisponível"
    if prices := dossier.prices:
        no_price = prices.no_reference or prices.no_price
    code = f", código {tab.code}" if tab and tab.code else ""
    yield SheetLine(
        f"Preço FIPE: {tab.label}" if tab else "Preço FIPE",
        sums.price,
        no_price,
        f"tabela FIPE{code}; {_source_and_date(dossier.answers.decode, context)}",
    )
    totals = dossier.totals
    source = f"Renainf; {_source_and_date(dossier.answers.renainf, context)}"
    if totals is None:
        yield SheetLine("Multas em aberto", None, "indisponíveis", source)
    elif not totals.open_count:
        yield SheetLine("Multas em aberto", None, "nenhuma nos registros", source)
    else:
        count = totals.open_words
        owed = sums.scenario(share).fines
        label = f"{count} em aberto, {SHARE_WORDS[share]}"
        if not all(choice.chosen for choice in choices):
            chosen = sum(choice.chosen for choice in choices)
            label = f"{chosen} de {count} em aberto, {SHARE_WORDS[share]}"
        said = formats.MISSING if any(choice.chosen for choice in choices) else "nenhuma escolhida"
        yield SheetLine(label, -owed if owed else None, said, source)
    for cost in sums.costs:
        yield SheetLine(cost.label, -cost.amount, "", _TYPED)


def _source_and_date(panel: Panel, context: RenderContext) -> str:
    if panel.fetched_at is None:
        return "sem resposta da fonte"
    origin = provenance("", panel, context.now)
    kind = "resposta guardada" if origin.is_stale else "consulta"
    source = f", {origin.source}" if origin.source else ""
    return f"{kind} de {formats.moment(panel.fetched_at)}{source}"


def _notes(
    tab: PriceTab | None, sums: Negotiation, share: Share, choices: Sequence[NegotiableFine]
) -> Iterator[str]:
    if tab:
        yield from filter(None, (tab.year_note, tab.doubt))
    left_out = [choice for choice in choices if not choice.chosen]
    if left_out:
        count = counted(
            len(left_out), "multa em aberto ficou fora", "multas em aberto ficaram fora"
        )
        known = [choice.amount for choice in left_out if choice.amount is not None]
        cost = f" ({formats.brl(sum(known, Decimal(0)))})" if known else ""
        yield f"{count} da conta{cost}: a dívida acompanha o veículo até ser paga."
    if sums.fines_without_amount:
        yield counted(
            sums.fines_without_amount,
            "multa em aberto não tem valor informado: o que ela custar ainda sai do teto.",
            "multas em aberto não têm valor informado: o que elas custarem ainda sai do teto.",
        )
    if share != 100 and sums.fines_past_discount:
        count = counted(
            sums.fines_past_discount,
            "multa, em regra, não tem mais desconto",
            "multas, em regra, não têm mais desconto",
        )
        yield f"{count}: na conta pelo valor cheio, ainda sem os juros (art. 284 do CTB)."
    if share == 60:
        yield (
            "O desconto de 40% é do SNE: só o dono atual ou o infrator o usa, e onde o órgão "
            "participa. Quem compra não pode contar com ele."
        )
    yield (
        "A FIPE é uma média nacional: estado, quilometragem, cor e região mudam o preço. "
        "O teto é uma conta, não uma avaliação do veículo."
    )
