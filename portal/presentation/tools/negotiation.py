"""The negotiation sheet: a reference price minus open fines and expected costs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Final, Literal

from portal.law import SHARES, UNVERIFIED, Cost, Negotiation, Share, Unverified, negotiate
from portal.presentation import formats
from portal.presentation.panels import Panel
from portal.presentation.site.typed_text import sanitise_echo
from portal.presentation.tools.typed_money import NotMoney, read_money
from portal.presentation.vehicle.contents import VehicleContents
from portal.presentation.vehicle.gaps import Unavailable
from portal.presentation.vehicle.panel import (
    LOOKUP_WORDS,
    Panels,
    Provenance,
    RenderContext,
    missing_of,
    provenance,
    subject_path,
)
from portal.presentation.vehicle.prices import Prices, PriceTab
from portal.presentation.vehicle.summary import Summary
from portal.vehicle import Plate
from portal.wording import counted

SHARE_WORDS: Final[Mapping[Share, str]] = {
    100: "valor cheio",
    80: "com 20% de desconto",
    60: "com 40% de desconto (SNE)",
}
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


@dataclass(frozen=True, slots=True)
class CostField:
    """An input as typed, and the sentence about its error, or ""."""

    name: str
    label: str
    text: str
    problem: str


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """A price-table candidate; ``current`` is None where it has no price."""

    number: int
    label: str
    current: Decimal | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class SheetLine:
    """The starting price or a deduction; ``said`` replaces an ``amount`` of None."""

    label: str
    amount: Decimal | None
    said: str
    source: str


@dataclass(frozen=True, slots=True)
class NegotiationPage:
    """The negotiation page.

    ``state`` "idle": some lookups have no stored answer. ``unasked`` names these lookups; the page
    makes none itself and does not know why no answer is stored. ``kept`` are the stale answers
    that the sums and the verdict are based on. ``problems`` are sentences about invalid choices.
    With any problem no sheet is shown, because a ceiling without a cost that the buyer meant to
    deduct would mislead.

    ``ceiling`` is None where it is unknown or not positive. ``at_most``: fines without an amount
    still have to be deducted from the ceiling. If the registration fits several versions equally,
    ``tie`` is a sentence that names the version that the ceiling is based on, else "".
    """

    template: ClassVar[str] = "pages/negotiation.html"
    plate: Plate
    title: str
    path: str
    state: Literal["ready", "idle"]
    whole_page_url: str
    summary: Summary
    unasked: tuple[str, ...]
    has_answers: bool
    missing: tuple[Unavailable, ...]
    kept: tuple[Provenance, ...]
    versions: tuple[VersionChoice, ...]
    share: Share
    shares: tuple[Share, ...]
    share_words: Mapping[Share, str]
    fields: tuple[CostField, ...]
    problems: tuple[str, ...]
    lines: tuple[SheetLine, ...]
    sums: Negotiation
    tie: str
    ceiling: Decimal | None
    at_most: bool
    notes: tuple[str, ...]
    unverified: tuple[Unverified, ...]

    @property
    def is_wrong(self) -> bool:
        return bool(self.problems) or any(field.problem for field in self.fields)

    @property
    def is_blocked(self) -> bool:
        """Whether a record forbids the transfer, so that no price is worth paying yet."""
        return self.summary.verdict.level == "blocked"

    @property
    def ceiling_label(self) -> str:
        what = "Resultado depois da baixa" if self.is_blocked else "Teto sugerido"
        return f"{what}, no máximo" if self.at_most else what

    @property
    def exceeded_by(self) -> Decimal | None:
        """By how much the deductions reach or exceed the price; None where they do not."""
        ceiling = self.sums.scenario(self.share).ceiling
        return -ceiling if ceiling is not None and ceiling <= 0 else None


def negotiation_page(
    plate: Plate, panels: Panels, context: RenderContext, query: Mapping[str, str]
) -> NegotiationPage:
    """The sheet for the query parameters of the form.

    ``query`` may hold ``versao``, ``multas`` (100, 80 or 60) and the names of COSTS, each as text.
    Any of them may be missing or invalid.
    """
    contents = VehicleContents.of(panels, context)
    prices = contents.facts.prices if contents.facts else None
    tabs = prices.all[:MOST_VERSIONS] if prices else ()
    tab, wrong_version = _chosen(tabs, query.get("versao", ""))
    share, wrong_share = _share(query.get("multas", ""))
    fields, costs = _costs(query)
    fines = contents.fines.totals if contents.fines else None
    sums = negotiate(tab.current if tab else None, fines, costs)
    ceiling = sums.scenario(share).ceiling
    path = subject_path(plate)
    unasked = tuple(
        words for lookup, words in LOOKUP_WORDS.items() if panels.of(lookup).state == "unasked"
    )
    return NegotiationPage(
        plate=plate,
        title=f"Negociação do veículo {plate.display}",
        path=path,
        state="idle" if unasked else "ready",
        whole_page_url=f"{path}?completo=1",
        summary=contents.summary,
        unasked=unasked,
        has_answers=any(panels.of(lookup).has_answer for lookup in LOOKUP_WORDS),
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
        shares=SHARES,
        share_words=SHARE_WORDS,
        fields=fields,
        problems=tuple(problem for problem in (wrong_version, wrong_share) if problem),
        lines=tuple(_lines(tab, sums, share, contents, panels, context)),
        sums=sums,
        tie=_tie(prices, tab) if prices and tab else "",
        ceiling=ceiling if ceiling is not None and ceiling > 0 else None,
        at_most=sums.fines_without_amount > 0 and ceiling is not None and ceiling > 0,
        notes=tuple(_notes(tab, sums, share)),
        unverified=UNVERIFIED,
    )


def _chosen(tabs: tuple[PriceTab, ...], text: str) -> tuple[PriceTab | None, str]:
    best = tabs[0] if tabs else None
    if not text or best is None:
        return best, ""
    found = next((tab for tab in tabs if str(tab.number) == text), None)
    return (found, "") if found else (best, _WRONG_VERSION)


def _tie(prices: Prices, tab: PriceTab) -> str:
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
    contents: VehicleContents,
    panels: Panels,
    context: RenderContext,
) -> Iterator[SheetLine]:
    no_price = "indisponível" if contents.facts is None else formats.MISSING
    code = f", código {tab.code}" if tab and tab.code else ""
    yield SheetLine(
        f"Preço FIPE: {tab.label}" if tab else "Preço FIPE",
        sums.price,
        no_price,
        f"tabela FIPE{code}; {_source_and_date(panels.decode, context)}",
    )
    totals = contents.fines.totals if contents.fines else None
    source = f"Renainf; {_source_and_date(panels.renainf, context)}"
    if totals is None:
        yield SheetLine("Multas em aberto", None, "indisponíveis", source)
    elif not totals.open_count:
        yield SheetLine("Multas em aberto", None, "nenhuma nos registros", source)
    else:
        count = counted(totals.open_count, "multa", "multas")
        owed = sums.scenario(share).fines
        label = f"{count} em aberto, {SHARE_WORDS[share]}"
        yield SheetLine(label, -owed if owed else None, formats.MISSING, source)
    for cost in sums.costs:
        yield SheetLine(cost.label, -cost.amount, "", _TYPED)


def _source_and_date(panel: Panel, context: RenderContext) -> str:
    if panel.fetched_at is None:
        return "sem resposta da fonte"
    origin = provenance("", panel, context.now)
    kind = "resposta guardada" if origin.is_stale else "consulta"
    source = f", {origin.source}" if origin.source else ""
    return f"{kind} de {formats.moment(panel.fetched_at)}{source}"


def _notes(tab: PriceTab | None, sums: Negotiation, share: Share) -> Iterator[str]:
    if tab and tab.doubt:
        yield tab.doubt
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
