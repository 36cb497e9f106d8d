"""The candidates: entries of the FIPE price table that may describe the vehicle.

FIPE is the Brazilian vehicle price table.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cached_property
from operator import attrgetter
from typing import Final

from portal import formats
from portal.charts.geometry import Line
from portal.charts.price_chart import MOST_SERIES
from portal.charts.price_labels import Words
from portal.charts.scale import month_index
from portal.vehicle.decode import Decoded, FipeEntry, PricePoint
from portal.vehicle.field import EMPTY, UNREAD, Field, fold
from portal.vehicle.fipe import FipeCode, PriceSeries, fipe_code
from portal.vehicle.makes import title_case, vehicle_name
from portal.vehicle.ranking import (
    RankedEntry,
    is_other_fuel,
    of_other_vehicle,
    other_displacement,
    other_power,
    rank,
)
from portal.vehicle.special_use import SpecialUse, special_uses_of
from portal.vehicle.versions import VersionMatch
from portal.wording import listed

# The largest number of candidates in the chart. The visitor can choose only among these candidates.
MOST_TABS: Final = MOST_SERIES
# The largest number of candidates that a page or the dossier lists. Exports have all.
MOST_LISTED: Final = 100
# A table's price moves by at most 5 % in a month. A price that differs by more than _DOUBTFUL_GAP
# from the history's last month is doubted, and beyond _LARGEST_GAP no choice of a version settles
# the doubt. Both grow by _MONTHLY_GAP for each month by which the history is older than
# RECENT_MONTHS months, but are bounded. A price that is _MANY_TIMES another always contradicts it.
_DOUBTFUL_GAP: Final = Decimal("0.08")
_LARGEST_GAP: Final = Decimal("0.20")
_MONTHLY_GAP: Final = Decimal("0.03")
RECENT_MONTHS: Final = 3
# However old the history is, a price above it costs the buyer more than one below it.
_MOST_ABOVE: Final = Decimal("0.25")
_MOST_BELOW: Final = Decimal("0.50")
_MANY_TIMES: Final = 10
_YEAR_OF_MONTHS: Final = 12
# The cheapest prices of the table are about R$ 2.000,00, which are so many cents.
_LEAST_IN_CENTS: Final = 200_000
# A sentence replaces the chart of a shorter history, because such a chart shows no trend.
LEAST_POINTS: Final = 3
_MOST_MONTHS: Final = 6
# The first digit of a FIPE code says of which table it is.
_OF_MOTORCYCLES: Final = "motos"
_TABLES: Final = {"0": "carros", "8": _OF_MOTORCYCLES, "5": "caminhões"}
_MOTORCYCLE: Final = re.compile(r"\b(MOTO|MOTOCICL\w*|MOTONETA|CICLOMOTOR|TRICICLO|QUADRICICLO)\b")
_SPECIAL: Final[Mapping[SpecialUse, str]] = {
    "armoured": "Veículo blindado: a FIPE é a do comum. O valor depende da blindagem, de sua idade "
    "e do laudo.",
    "hired": "Veículo de aluguel ou táxi: a FIPE é a do particular; a revenda costuma ser menor.",
    "exempt": "Compra com isenção (PCD): a FIPE é a do comum. Vender antes do prazo da isenção "
    "pode exigir o imposto de volta.",
    "collector": "Veículo de coleção: a FIPE não mede o valor de coleção.",
}
NO_PRICE: Final = "sem preço na fonte"
UNREAD_PRICE: Final = "não lido na fonte"
HIDDEN_PRICE: Final = "oculto pela fonte"
NOTHING_TO_COMPARE: Final = "sem dados para comparar"


@dataclass(frozen=True, slots=True)
class PriceDoubt:
    """A reason why nothing may be computed from a price.

    ``clause`` stands behind the price ("do ano-modelo 2012"). ``sentence`` explains it under
    ``title``. If the visitor chooses the version, only a doubt that ``is_final`` remains one.
    """

    clause: str
    title: str
    sentence: str
    is_final: bool = False


@dataclass(frozen=True)
class PriceCandidate:
    """One candidate. Values from the price history are computed on demand.

    ``is_best`` is true if several candidates exist and this candidate alone matches the vehicle's
    registration best. ``is_tied`` is true if several candidates match best, including this one.
    ``is_foreign`` is true if the entry is of another make or model. ``same`` are the attributes
    that agree with the registration. ``other`` are the attributes that differ from the
    registration.
    """

    number: int
    entry: FipeEntry
    reason: str
    same: tuple[str, ...]
    other: tuple[str, ...]
    version: VersionMatch
    is_best: bool
    is_tied: bool
    is_foreign: bool
    decoded: Decoded
    today: date

    @cached_property
    def label(self) -> str:
        name = self._name or f"Versão {self.number}"
        year = self.year
        return f"{name} · {year}" if year else name

    @property
    def _name(self) -> str:
        """The version in the table's words. The table shouts, the portal does not."""
        return title_case(str(self.entry.version) or str(self.entry.model))

    @property
    def year(self) -> str:
        """The entry's model year in words, such as "2015" or "zero km", or ""."""
        if self.entry.is_zero_km:
            return "zero km"
        return str(self.entry.year or self.entry.year_text)

    @property
    def current(self) -> Decimal | None:
        """The current price in R$, or None (never zero) if there is no price."""
        return self.entry.current

    @cached_property
    def code(self) -> FipeCode | None:
        return fipe_code(self.entry.fipe_id)

    @cached_property
    def series(self) -> PriceSeries:
        return PriceSeries.of(self.entry, self.today)

    @property
    def gaps(self) -> str:
        """The months without a price, or "" if there are none."""
        return _months(self.series.gaps)

    @property
    def contradiction(self) -> str:
        """A sentence on months with two prices, or ""."""
        months = _months(self.series.contradicted)
        return (
            f"A fonte traz mais de um preço para {months}; vale aqui o último que enviou."
            if months
            else ""
        )

    @property
    def predicted_label(self) -> str:
        if not self.series.predicted_tail:
            return ""
        until = formats.month(self.series.predicted_tail[-1].month)
        return f"Estimativa até {until}" if self._is_past else f"Previsão até {until}"

    @property
    def predicted_note(self) -> str:
        if not self.series.predicted_tail:
            return ""
        if self._is_past:
            return "meses já passados, sem o preço da tabela"
        return "a fonte não documenta o método"

    @cached_property
    def doubts(self) -> tuple[PriceDoubt, ...]:
        """Why nothing may be computed from the price. () if there is no price."""
        if self.current is None:
            return ()
        doubts = (
            *(
                self._kind_doubt,
                self._name_doubt,
                self._year_doubt,
                self._engine_doubt,
                self._version_doubt,
            ),
            *(self.history_doubt or self._age_doubt, self._cents_doubt, self._unread_doubt),
        )
        return tuple(doubt for doubt in doubts if doubt)

    @property
    def cautions(self) -> tuple[str, ...]:
        """A sentence for each doubt, and for months with two prices."""
        sentences = [doubt.sentence for doubt in self.doubts]
        uses = self._special_uses
        special = [words for use, words in _SPECIAL.items() if use in uses]
        return tuple(filter(None, (*sentences, self.contradiction, *special)))

    @property
    def _special_uses(self) -> frozenset[SpecialUse]:
        return special_uses_of(self.decoded) if self.current is not None else frozenset()

    @property
    def _kind_doubt(self) -> PriceDoubt | None:
        """The doubt of a motorcycle with a car's price, or the other way round."""
        if self.code is None or not (kind := fold(str(self.decoded.vehicle_type))):
            return None
        table = _TABLES.get(self.code.text[0])
        is_motorcycle = bool(_MOTORCYCLE.search(kind))
        if table is None or is_motorcycle == (table == _OF_MOTORCYCLES):
            return None
        return PriceDoubt(
            f"da tabela de {table}",
            "Preço de outra espécie de veículo",
            f"O código FIPE {self.code} é da tabela de {table}; o registro diz "
            f"“{self.decoded.vehicle_type}”.",
            is_final=True,
        )

    @property
    def _name_doubt(self) -> PriceDoubt | None:
        vehicle = vehicle_name(self.decoded)
        if vehicle.make and vehicle.model and (self.entry.model or self.entry.version):
            return None
        return PriceDoubt(
            "de marca e modelo não conferidos",
            "Preço sem marca e modelo para conferir",
            "Falta a marca ou o modelo, no registro ou na tabela: não é possível dizer se este "
            "preço é deste veículo.",
        )

    @property
    def _year_doubt(self) -> PriceDoubt | None:
        entry, registered = self.entry, self.decoded.model_year
        is_new = entry.is_zero_km
        clause = "de zero km" if is_new else f"do ano-modelo {self.year}"
        if registered is None or (entry.year is None and not is_new):
            reason = "a tabela não diz de que ano-modelo é este preço"
            if entry.year:
                reason = f"este preço é {clause}"
            where = "O registro não traz o ano-modelo do veículo; " if registered is None else ""
            sentence = f"{where}{reason}."
            return PriceDoubt(
                "de ano-modelo não conferido",
                "Preço de ano-modelo não conferido",
                sentence[0].upper() + sentence[1:],
            )
        if registered == entry.year or (is_new and registered >= self.today.year):
            return None
        return PriceDoubt(
            clause,
            "Preço de outro ano-modelo",
            f"Este preço é {'de veículo zero km' if is_new else clause}; o ano-modelo no registro "
            f"é {registered}.",
        )

    @property
    def _engine_doubt(self) -> PriceDoubt | None:
        entry, decoded = self.entry, self.decoded
        if is_other_fuel(entry, decoded):
            fuel, of_vehicle = (str(one.fuel).lower() for one in (entry, decoded))
            what, shown = "outro combustível", fuel
            of_entry = f"veículo com outro combustível ({fuel}); o combustível"
        elif shown := other_displacement(entry, decoded):
            what, of_entry = "outra cilindrada", f"motor {shown}; a cilindrada"
            registered = decoded.displacement_cc
            of_vehicle = f"{formats.integer(registered)} cm³" if registered else "outra"
        elif power := other_power(entry, decoded):
            what, shown = "outra potência", f"{power} cv"
            of_entry, of_vehicle = f"motor de {shown}; a potência", f"{decoded.power_cv} cv"
        else:
            return None
        return PriceDoubt(
            f"de {what} ({shown})",
            f"Preço de {what}",
            f"Este preço é de {of_entry} no registro é {of_vehicle}.",
        )

    @property
    def _version_doubt(self) -> PriceDoubt | None:
        """The doubt of a cab, body, drive, gearbox or trim that both name, and name otherwise."""
        if not self.version.differing:
            return None
        of_table, of_vehicle = zip(*self.version.differing, strict=True)
        return PriceDoubt(
            f"de outra versão ({listed(of_table)})",
            "Preço de outra versão",
            f"A tabela fala em {listed(of_table)}; o registro, em {listed(of_vehicle)}.",
        )

    @property
    def _unread_doubt(self) -> PriceDoubt | None:
        """The doubt of a price beside others that could not be read, which may be lower."""
        if not self.decoded.is_unread_in_prices:
            return None
        return PriceDoubt(
            "de lista que pode estar incompleta",
            "A lista de preços pode estar incompleta",
            f"A fonte avisou: “{self.decoded.unread}”. Pode faltar outra versão, mais barata.",
        )

    @property
    def _age_doubt(self) -> PriceDoubt | None:
        """The doubt of a price whose history ends long ago, or has no real month."""
        if not self.series:
            return None
        last = self.series.last_real
        if last is None:
            return PriceDoubt(
                "sem mês da tabela",
                "Preço sem mês da tabela",
                "A fonte só traz estimativas, e nenhum mês com preço da tabela.",
            )
        age = month_index(self.today) - month_index(last.month)
        if age <= RECENT_MONTHS:
            return None
        month = formats.month(last.month)
        return PriceDoubt(
            f"de tabela antiga (último mês: {month})",
            "Preço de tabela antiga",
            f"O último mês da tabela que a fonte traz é {month}, há {age} meses.",
        )

    @cached_property
    def history_doubt(self) -> PriceDoubt | None:
        """The doubt of a price far from its history, or None.

        A wrong price may be the history's last month too, so the price is compared also with the
        middle one of the last year's prices.
        """
        points = self.series.real or self.series.points
        middle = sorted(points[-_YEAR_OF_MONTHS:], key=attrgetter("value"))
        current = self.current
        if not points or current is None:
            return None
        last = points[-1], _DOUBTFUL_GAP
        compared = [(price, _LARGEST_GAP) for price in (points[-1], middle[len(middle) // 2])]
        contradicted = next((pair for pair in (*compared, last) if self._contradicts(*pair)), None)
        if contradicted is None:
            return None
        point, gap = contradicted
        side = "acima" if current > point.value else "abaixo"
        if _ratio(current, point.value) >= _MANY_TIMES:
            far = f"muito {side}"
        else:
            share = abs(current - point.value) / point.value
            far = f"{formats.percent(share, 0)} {side}"
        where = "último mês do histórico," if point is points[-1] else "histórico, como em"
        return PriceDoubt(
            "em conflito com o histórico",
            "O preço atual e o histórico não combinam",
            f"O preço atual está {far} do {where} {_point(point)}: confira na tabela FIPE "
            "qual dos dois vale.",
            is_final=gap == _LARGEST_GAP,
        )

    @property
    def _cents_doubt(self) -> PriceDoubt | None:
        """The doubt of a price that lacks its decimal point, and a history to compare it with."""
        current, text = self.current, self.entry.current_text.value
        if self.series or current is None or current < _LEAST_IN_CENTS or not text.isdecimal():
            return None
        return PriceDoubt(
            "talvez em centavos",
            "O preço pode estar em centavos",
            f"A fonte enviou “{text}”, sem ponto decimal nem histórico: pode ser "
            f"{formats.brl(current / 100)}. Confira na tabela FIPE.",
            is_final=True,
        )

    def _contradicts(self, point: PricePoint, gap: Decimal) -> bool:
        current = self.current
        if current is None:
            return False
        if _ratio(current, point.value) >= _MANY_TIMES:
            return True
        age = abs(month_index(self.today) - month_index(point.month))
        slack = 1 + _MONTHLY_GAP * max(0, age - RECENT_MONTHS)
        highest = min((1 + gap) * slack, 1 + _MOST_ABOVE)
        lowest = max((1 - gap) / slack, 1 - _MOST_BELOW)
        return not point.value * lowest <= current <= point.value * highest

    @cached_property
    def line(self) -> Line:
        """The prices for ``price_chart``.

        The Line is cached, because creating a Line is slow: its constructor hashes all points.
        """
        return Line(self._name, self.series.points)

    @property
    def words(self) -> Words:
        return Words(
            now=self._is_now,
            predicted="estimativa" if self._is_past else "previsão",
        )

    @property
    def chart_title(self) -> str:
        return f"Preço FIPE de {self.label}, mês a mês"

    @property
    def chart_description(self) -> str:
        """A text on the first, highest and last price and on the predictions."""
        series = self.series
        first, last, peak = series.first_real, series.last_real, series.peak
        if first is None or last is None or peak is None:
            what = "estimativas de meses já passados" if self._is_past else "previsões da fonte"
            return f"A série traz apenas {what}." if series.points else ""
        if first.month == last.month:
            parts = [f"Um único mês: {_point(last)}."]
        else:
            parts = [f"De {_point(first)} a {_point(last)}; o maior preço foi o de {_point(peak)}."]
        if series.predicted_tail:
            what = "previsão da fonte"
            if self._is_past:
                what = "estimativa da fonte para meses já passados"
            parts.append(f"A parte tracejada é {what}, até {_point(series.points[-1])}.")
        return " ".join(parts)

    @cached_property
    def years(self) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """The rows of the table of monthly prices, the latest year first.

        Each of a year's twelve prices is a text: "89.325" for a real price, "89.325*" for a
        prediction, or "—" for no price.
        """
        prices: dict[int, list[str]] = {}
        for point in reversed(self.series.points):
            year = prices.setdefault(point.month.year, ["—"] * 12)
            mark = "*" if point.predicted else ""
            year[point.month.month - 1] = formats.integer(point.value) + mark
        return tuple((year, tuple(texts)) for year, texts in prices.items())

    @property
    def match(self) -> str:
        """Which attributes agree with the vehicle's registration, and which differ."""
        if not self.other:
            same = ", ".join(self.same)
            if not same:
                return "o registro não traz dados que distingam esta versão"
            return same if self.version.is_checked else f"{same}; versão não conferida"
        agrees = f"; confere: {', '.join(self.same)}" if self.same else ""
        return f"difere: {', '.join(self.other)}{agrees}"

    @property
    def match_brief(self) -> str:
        """What differs from the registration, or that nothing does."""
        if self.other:
            return f"difere: {', '.join(self.other)}"
        return "confere" if self.same else "sem dados que distingam"

    @property
    def twelve_months(self) -> str:
        """The price change in 12 months, or NOTHING_TO_COMPARE."""
        change = self.series.twelve_month_change
        return NOTHING_TO_COMPARE if change is None else formats.change(change)

    @property
    def badge(self) -> str:
        if self.is_foreign:
            return "outro veículo"
        if self.is_tied:
            return "empate"
        return "mais provável" if self.is_best else ""

    @property
    def described(self) -> str:
        """Make and model in the price table's spelling, or "" if the source sends neither."""
        parts = [_known(self.entry.make), _known(self.entry.model)]
        return " ".join(part for part in parts if part)

    @property
    def unread_price(self) -> Field:
        """The source's text in place of a price, UNREAD if it may have one, or EMPTY."""
        if self.entry.has_unread_price:
            return self.entry.current_text
        return UNREAD if self.current is None and self.decoded.unread else EMPTY

    @property
    def has_predictions(self) -> bool:
        """Whether any price is a prediction, even one between months with real prices."""
        return any(point.predicted for point in self.series.points)

    @property
    def no_ceiling(self) -> str:
        """Why nothing may be computed from the price, though the visitor chose it, or ""."""
        return _no_ceiling([doubt for doubt in self.doubts if doubt.is_final])

    @property
    def _is_now(self) -> bool:
        """Whether the last real price counts as the current price.

        A price of the previous month counts too, because a month's price table may be published
        late.
        """
        last = self.series.last_real
        return last is not None and month_index(self.today) - month_index(last.month) in (0, 1)

    @property
    def _is_past(self) -> bool:
        """Whether all predictions after the last real price are for past months.

        False if there are no such predictions.
        """
        tail = self.series.predicted_tail
        return bool(tail) and tail[-1].month < self.today.replace(day=1)


@dataclass(frozen=True, slots=True)
class PriceSummary:
    """The likely price, or a price range if several versions match the vehicle best.

    ``note`` says how many versions are likely or possible, and how many likely versions lack a
    price. ``doubt`` has the clauses of the doubts about the price ("do ano-modelo 2012"), or is "".
    ``note`` begins with it. ``brief`` is how many versions are likely, or "" for one.
    """

    text: str
    note: str
    doubt: str = ""
    brief: str = ""

    @property
    def words(self) -> str:
        return f"{self.text} {self.doubt}" if self.doubt else self.text


@dataclass(frozen=True)
class Prices:
    """All candidates, best match first.

    ``foreign`` are the entries of another make or model, which are no prices of this vehicle.
    ``unread`` are the source's words for what it could not read, which may be prices, or "".
    """

    all: tuple[PriceCandidate, ...]
    foreign: tuple[PriceCandidate, ...] = ()
    unread: str = ""

    @property
    def unread_words(self) -> str:
        """Say that there is no price, but that the source has or may have one. "" otherwise."""
        if self.price_summary is not None:
            return ""
        sent = [tab.entry.current_text for tab in self.likeliest if tab.entry.has_unread_price]
        if any(text.is_hidden for text in sent):
            return HIDDEN_PRICE
        return UNREAD_PRICE if sent or self.unread else ""

    @property
    def tabs(self) -> tuple[PriceCandidate, ...]:
        """The candidates with a price history on the page."""
        return self.all[:MOST_TABS]

    @property
    def others(self) -> tuple[PriceCandidate, ...]:
        """The further candidates, of which the page shows the current prices."""
        return self.all[MOST_TABS:]

    @property
    def best(self) -> PriceCandidate | None:
        """The first of the best matches, or None if there are no candidates."""
        return self.all[0] if self.all else None

    @property
    def listed(self) -> tuple[PriceCandidate, ...]:
        """The candidates that a page or the dossier lists."""
        return self.all[:MOST_LISTED]

    @property
    def foreign_listed(self) -> tuple[PriceCandidate, ...]:
        return self.foreign[:MOST_LISTED]

    @property
    def omitted(self) -> int:
        """The number of candidates that are not listed."""
        return max(len(self.all) - MOST_LISTED, 0)

    @property
    def no_price(self) -> str:
        """Why ``price_summary`` is None."""
        if unread := self.unread_words:
            return unread
        if self.all or not self.foreign:
            return NO_PRICE
        other = self.foreign[0]
        # The make alone may be the vehicle's own.
        parts = [_known(other.entry.make), other.label]
        name = other.described if _known(other.entry.model) else " ".join(filter(None, parts))
        return f"a tabela trouxe outro veículo: {name}"

    @property
    def why_none(self) -> str:
        """Say in a sentence why ``price_summary`` is None."""
        if self.unread_words == HIDDEN_PRICE:
            return f"O preço FIPE está {HIDDEN_PRICE}."
        if not self.unread_words:
            return f"{self.no_price[0].upper()}{self.no_price[1:]}."
        told = f": “{self.unread}”" if self.unread else ""
        return f"O preço FIPE não pôde ser lido na fonte{told}."

    @property
    def words(self) -> str:
        """The price with its doubts, or why there is no price."""
        return self.price_summary.words if self.price_summary else self.no_price

    @property
    def no_ceiling(self) -> str:
        """Why nothing may be computed from the price without a choice of the version, or ""."""
        is_priced = [tab.current is not None for tab in self.likeliest]
        if any(is_priced) and not all(is_priced):
            # The version without a price may be the cheapest.
            return (
                f"Das {len(is_priced)} versões prováveis, {self._without_price}: "
                "confira a versão no documento e escolha uma com preço."
            )
        return _no_ceiling([doubt for tab in self.likeliest for doubt in tab.doubts])

    @cached_property
    def likeliest(self) -> tuple[PriceCandidate, ...]:
        """The best match, or several candidates that match equally well."""
        return tuple(tab for tab in self.all if tab.is_tied) or self.all[:1]

    @property
    def ceiling_base(self) -> PriceCandidate | None:
        """The version from whose price a ceiling may start: the cheapest that the vehicle may be.

        None if no likely version has a price, or if the price of one is in doubt. Then the visitor
        chooses a version.
        """
        priced = [tab for tab in self.likeliest if tab.current is not None]
        if self.no_ceiling or not priced:
            return None
        return min(priced, key=_current)

    @property
    def _without_price(self) -> str:
        """Count the likely versions without a price: ``2 sem preço na fonte``."""
        without = [tab for tab in self.likeliest if tab.current is None]
        is_unread = any(tab.unread_price.state != "empty" for tab in without)
        return f"{len(without)} {'com preço não lido' if is_unread else NO_PRICE}"

    @cached_property
    def price_summary(self) -> PriceSummary | None:
        """The price of the likeliest candidates, or None if none of them has a price."""
        likeliest = self.likeliest
        known = [tab.current for tab in likeliest if tab.current is not None]
        if not known:
            return None
        doubt = _clauses([doubt for tab in likeliest for doubt in tab.doubts])
        notes = [doubt] if doubt else []
        if len(likeliest) > 1:
            possible = f" ({len(self.all)} possíveis)" if len(self.all) > len(likeliest) else ""
            notes.append(f"{len(likeliest)} versões prováveis{possible}")
        elif len(self.all) > 1:
            notes.append(f"a mais provável de {len(self.all)} versões")
        without = [self._without_price] if len(known) < len(likeliest) else []
        several = [f"{len(likeliest)} versões prováveis"] if len(likeliest) > 1 else []
        return PriceSummary(
            formats.price_range(known),
            " · ".join((*notes, *without)),
            doubt,
            " · ".join((*several, *without)) if several else "",
        )

    @property
    def twelve_months(self) -> str:
        """The price change of the likeliest candidates in 12 months, or "" if unknown.

        If the candidates have different changes, the text is a range.
        """
        changes = [tab.series.twelve_month_change for tab in self.likeliest]
        known = [change for change in changes if change is not None]
        if not known:
            return ""
        return " a ".join(dict.fromkeys(map(formats.change, (min(known), max(known)))))

    @property
    def legend(self) -> str:
        count, tied = len(self.all), len(self.likeliest)
        if tied == count:
            order = "o registro não diz qual delas é"
        elif tied > 1:
            order = f"as {tied} primeiras empatam"
        else:
            order = "a mais provável vem primeiro"
        return f"{count} versões da tabela podem ser este veículo; {order}."


def prices_of(decoded: Decoded, today: date) -> Prices:
    """Return the candidates of a vehicle, best match first.

    If all predicted months are before the month of ``today``, the page calls a predicted price
    "estimativa" (estimate) instead of "previsão" (prediction).
    """
    own: list[FipeEntry] = []
    foreign: list[FipeEntry] = []
    for entry in _distinct(decoded.fipe):
        (foreign if of_other_vehicle(entry, decoded) else own).append(entry)
    ranked = rank(own, decoded)
    tied = sum(one.score == ranked[0].score for one in ranked)

    def tab(number: int, one: RankedEntry, *, is_foreign: bool = False) -> PriceCandidate:
        is_first = number <= tied and not is_foreign
        is_best, is_tied = is_first and tied == 1 and len(ranked) > 1, is_first and tied > 1
        texts = one.reason, one.same, one.other, one.version
        return PriceCandidate(
            number, one.entry, *texts, is_best, is_tied, is_foreign, decoded=decoded, today=today
        )

    others = enumerate(rank(foreign, decoded), start=len(ranked) + 1)
    return Prices(
        tuple(tab(number, one) for number, one in enumerate(ranked, start=1)),
        tuple(tab(number, one, is_foreign=True) for number, one in others),
        decoded.unread,
    )


def _distinct(entries: Sequence[FipeEntry]) -> Iterator[FipeEntry]:
    """Yield the entries without repetitions, because a source may send an entry several times."""
    # Reading all months of a history takes long, so only those of entries that look alike are read.
    first: dict[object, FipeEntry] = {}
    alike: set[tuple[FipeEntry, tuple[PricePoint, ...]]] = set()
    for entry in entries:
        name = (entry.fipe_id, entry.version, entry.year_text, entry.current_text, entry.fuel)
        known = first.setdefault(name, entry)
        if known is entry:
            yield entry
        elif entry != known:
            key = replace(entry, sent_history=None), entry.history
            if key not in alike:
                alike.add(key)
                yield entry


def _current(tab: PriceCandidate) -> Decimal:
    assert tab.current is not None
    return tab.current


def _clauses(doubts: Sequence[PriceDoubt]) -> str:
    return listed(list(dict.fromkeys(doubt.clause for doubt in doubts)))


def _no_ceiling(doubts: Sequence[PriceDoubt]) -> str:
    if not doubts:
        return ""
    return f"Preço FIPE {_clauses(doubts)}: confira a versão no documento e na tabela FIPE."


def _ratio(one: Decimal, other: Decimal) -> Decimal:
    return max(one, other) / min(one, other)


def _known(field: Field) -> str:
    return "(oculto pela fonte)" if field.is_hidden else str(field)


def _point(point: PricePoint) -> str:
    return f"{formats.long_month(point.month)} ({formats.whole_brl(point.value)})"


def _months(months: Sequence[date]) -> str:
    """Name the first months of a list, and say how many more there are."""
    shown = ", ".join(map(formats.month, months[:_MOST_MONTHS]))
    more = len(months) - _MOST_MONTHS
    return f"{shown} e mais {more}" if more > 0 else shown
