"""Ranks price-table entries by how well they match a vehicle, and gives reasons.

An entry of another make or model is no price of the vehicle, and is not ranked.
"""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache

from msgspec import Struct

from portal.vehicle.decode import Decoded, FipeEntry
from portal.vehicle.field import fold
from portal.vehicle.makes import is_same_maker, read_name, vehicle_name
from portal.vehicle.model_names import names, names_further_model, parts_of
from portal.vehicle.versions import VersionMatch, compare

_WORD = re.compile(r"[A-Z0-9]+(?:\.[0-9]+)*", re.ASCII)
_POWER = re.compile(r"(?<![0-9.])([0-9]{2,4}) ?CV\b", re.ASCII)
_LITRES = re.compile(r"(?<![0-9.])([0-9]{1,2}\.[0-9])(?![0-9])", re.ASCII)
_FUELS = {
    "GASOLINA": {"GASOLINA"},
    "GASOL": {"GASOLINA"},
    "ALCOOL": {"ALCOOL"},
    "ETANOL": {"ALCOOL"},
    "FLEX": {"GASOLINA", "ALCOOL"},
    "DIESEL": {"DIESEL"},
    "GNV": {"GNV"},
    "GAS": {"GNV"},
    "HIBRIDO": {"GASOLINA", "ELETRICO"},
    "ELETRICO": {"ELETRICO"},
}
# The letters and the numbers of the price table, which stand alone.
_FUEL_CODES = {
    "G": {"GASOLINA"},
    "A": {"ALCOOL"},
    "D": {"DIESEL"},
    "F": {"GASOLINA", "ALCOOL"},
    "1": {"GASOLINA"},
    "2": {"ALCOOL"},
    "3": {"DIESEL"},
    "4": {"ELETRICO"},
    "5": {"GASOLINA", "ALCOOL"},
    "6": {"GASOLINA", "ELETRICO"},
    "7": {"GNV"},
}
# Points for each match. The year gives the most points, because every entry of the price table
# states the exact year. Power and displacement (_ENGINE) give more points than the fuel, because
# versions often have the same fuel. Words of the version's name (_WORDS) give fewer points than the
# year, because two spellings of the same version have few words in common.
_YEAR, _NEIGHBOUR_YEAR, _FUEL, _ENGINE, _WORDS = 40, 5, 15, 20, 24
# Another cab, body, drive, gearbox or trim is another version, whatever words the names share.
_VERSION = 25
# An entry for another fuel comes after every entry of the right year and fuel.
_OTHER_FUEL = 100
_NEAR, _LIKE_POWER = Decimal("0.1"), 1.2
# The table names a flexible vehicle by one of its fuels. Such an entry fits, but less well.
_ONE_FUEL = 10


class RankedEntry(Struct, frozen=True):
    """A price-table entry with its score, and the reason for the score in Portuguese.

    Scores can be compared only within one ranking. ``same`` names the attributes that agree with
    the vehicle's registration. ``other`` names the attributes that differ. ``version`` compares
    the versions' names.
    """

    entry: FipeEntry
    score: int
    reason: str
    same: tuple[str, ...]
    other: tuple[str, ...]
    version: VersionMatch


def rank(entries: Iterable[FipeEntry], decoded: Decoded) -> tuple[RankedEntry, ...]:
    """Return the entries, best match first. Entries of equal score keep their order.

    If the source sends more than one price of a version, the lowest comes first, because the first
    entry's price is suggested to buyers.
    """
    first: dict[tuple[object, ...], int] = {}
    keys: list[tuple[int, int, Decimal]] = []
    ranked = [_rank_entry(entry, decoded) for entry in entries]
    for index, candidate in enumerate(ranked):
        entry = candidate.entry
        name = (entry.fipe_id, entry.make, entry.model, entry.version, entry.year, entry.fuel)
        price = Decimal("Infinity") if entry.current is None else entry.current
        keys.append((-candidate.score, first.setdefault(name, index), price))
    return tuple(ranked[index] for index in sorted(range(len(ranked)), key=keys.__getitem__))


def of_other_vehicle(entry: FipeEntry, decoded: Decoded) -> bool:
    """Return whether an entry clearly names another make or model than the registration."""
    vehicle = vehicle_name(decoded)
    theirs = read_name(f"{entry.make} {entry.model}" if entry.make else str(entry.model))
    if vehicle.make and entry.make and theirs.make:
        ours, other = fold(vehicle.make), fold(theirs.make)
        # If the table of makes lacks the vehicle's make, differing spellings prove nothing.
        is_known = bool(read_name(vehicle.make).make)
        is_same = is_same_maker(vehicle.make, theirs.make) or ours in other or other in ours
        if is_known and not is_same:
            return True
    named = f"{theirs.model} {entry.version}"
    registered, offered = parts_of(vehicle.model), parts_of(named)
    if not registered or not offered:
        return False
    # If the table of makes lacks the vehicle's make, the first word may be the make.
    starts = [registered] if vehicle.make else [registered, registered[1:]]
    if not any(start and names(start, offered) for start in starts) and not names(
        offered, registered
    ):
        return True
    return names_further_model(vehicle.model, named)


def is_other_fuel(entry: FipeEntry, decoded: Decoded) -> bool:
    """Return whether an entry names a fuel, and none of the registered ones."""
    ours, theirs = _fuels(decoded.fuel.value), _fuels(entry.fuel.value)
    # A car that runs on gas was built for another fuel.
    return bool(ours and theirs) and not ours & theirs and "GNV" not in ours | theirs


def other_displacement(entry: FipeEntry, decoded: Decoded) -> str:
    """Return the litres that an entry states ("2,0"), if none is near the registered ones, or "".

    One maker rounds 1242 cm³ to 1.2, another to 1.3.
    """
    litres = _litres(decoded, fold(decoded.description.value))
    stated = sorted(set(_LITRES.findall(fold(f"{entry.model} {entry.version}"))))
    if not litres or any(abs(Decimal(volume) - Decimal(litres)) <= _NEAR for volume in stated):
        return ""
    return " e ".join(stated).replace(".", ",")


def other_power(entry: FipeEntry, decoded: Decoded) -> str:
    """Return the power in cv that an entry states, if it is far from the registered one, or ""."""
    power = decoded.power_cv
    stated = _powers(fold(f"{entry.model} {entry.version}"))
    if not power or any(
        max(output, power) <= min(output, power) * _LIKE_POWER for output in stated
    ):
        return ""
    return " e ".join(map(str, sorted(stated)))


def _rank_entry(entry: FipeEntry, decoded: Decoded) -> RankedEntry:
    score = 0
    same: list[str] = []
    other: list[str] = []

    if entry.year and decoded.model_year:
        if entry.year == decoded.model_year:
            score += _YEAR
            same.append(f"ano-modelo {entry.year}")
        else:
            near = abs(entry.year - decoded.model_year) == 1
            score += _NEIGHBOUR_YEAR if near else -_YEAR
            other.append(f"ano-modelo {entry.year}")

    ours, theirs = _fuels(decoded.fuel.value), _fuels(entry.fuel.value)
    if ours and theirs:
        fits = not is_other_fuel(entry, decoded)
        score += _FUEL if ours == theirs else _ONE_FUEL if fits else -_OTHER_FUEL
        (same if fits else other).append("combustível")

    version = fold(f"{entry.model} {entry.version}")
    registered = fold(decoded.description.value)
    power = decoded.power_cv or int(next(iter(_POWER.findall(registered)), 0))
    powers = _powers(version)
    if power and powers:
        score += _ENGINE if power in powers else -_ENGINE
        shown = ", ".join(map(str, sorted(powers)))
        (same if power in powers else other).append(f"potência ({shown} cv)")

    litres, volumes = _litres(decoded, registered), set(_LITRES.findall(version))
    if litres and volumes:
        score += _ENGINE if litres in volumes else -_ENGINE
        shown = ", ".join(v.replace(".", ",") for v in sorted(volumes))
        (same if litres in volumes else other).append(f"cilindrada ({shown})")

    match = compare(version, registered, decoded.gearbox.value)
    score += _VERSION * (len(match.same) + len(match.trims) - len(match.differing))
    same += match.same
    other += [theirs for theirs, _ in match.differing]

    makes = _words(f"{decoded.make} {entry.make}")
    wanted = [w for w in _words(registered) if w not in makes and w not in volumes]
    offered = set(_words(version))
    shared = [w for w in wanted if w in offered]
    if shared:
        score += _WORDS * len(shared) // len(wanted)
        same.append("nome (" + ", ".join(shared[:4]) + ")")

    return RankedEntry(entry, score, _reason(same, other), tuple(same), tuple(other), match)


def _reason(same: Sequence[str], other: Sequence[str]) -> str:
    parts = []
    if same:
        parts.append(f"Confere com o registro: {', '.join(same)}.")
    if other:
        parts.append(f"Difere do registro: {', '.join(other)}.")
    return " ".join(parts) or "O registro não traz dados que distingam esta versão."


def _words(text: str) -> list[str]:
    return list(dict.fromkeys([w for w in _WORD.findall(fold(text)) if len(w) > 1]))


@lru_cache(256)
def _fuels(text: str) -> frozenset[str]:
    if of_code := _FUEL_CODES.get(fold(text).lstrip("0")):
        return frozenset(of_code)
    return frozenset().union(*[_FUELS.get(word, ()) for word in _words(text)])


def _powers(version: str) -> set[int]:
    return {int(text) for text in _POWER.findall(version)}


def _litres(decoded: Decoded, registered: str) -> str:
    """Return the displacement in litres, as version names state it ("1.8" for 1798 cm³).

    If ``decoded`` has no plausible displacement, it is read from the text ``registered``. If this
    text states no displacement, the result is "".
    """
    if decoded.displacement_cc and 500 <= decoded.displacement_cc < 20_000:
        tenths = (decoded.displacement_cc + 50) // 100
        return f"{tenths // 10}.{tenths % 10}"
    return next(iter(_LITRES.findall(registered)), "")
