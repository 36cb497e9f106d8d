"""Generates fictitious court restrictions in the format of upstream answers."""

import random
from datetime import date, datetime, time, timedelta

from portal.sandbox.profile import Profile, RestrictionOutline
from portal.sandbox.regions import REGIONS
from portal.sandbox.rng import seeded_rng
from portal.sandbox.vehicles import Vehicle
from portal.vehicle.field import HIDDEN_MARKER
from portal.vehicle.plate import Plate, Renavam

KINDS = ("TRANSFERENCIA", "LICENCIAMENTO", "CIRCULACAO", "PENHORA")
_ORDINALS = ("PRIMEIRA", "SEGUNDA", "TERCEIRA", "QUARTA", "QUINTA", "SEXTA", "SETIMA", "OITAVA")


def restriction_records(
    vehicle: Vehicle, subject: Plate | Renavam, profile: Profile, today: date
) -> list[dict[str, object]]:
    """Return the ``result`` member of a RENAJUD answer, the latest restriction first.

    RENAJUD is the system in which courts record restrictions on vehicles.
    """
    rng = seeded_rng("restrictions", vehicle.seed)
    month = today.replace(day=1)
    outlines = profile.restrictions
    if outlines is None:
        count = rng.choices((0, 1, 2), (91, 7, 2))[0]
        drawn = (_outline(vehicle, month, rng) for _ in range(count))
        outlines = tuple(outline for outline in drawn if outline is not None)
    ordered = sorted(outlines, key=lambda outline: outline.age_days)
    return [_record(vehicle, subject, o, profile.is_bare, month, rng) for o in ordered]


def _outline(vehicle: Vehicle, month: date, rng: random.Random) -> RestrictionOutline | None:
    state = vehicle.home_state
    labour = REGIONS[state].labour_court
    court = rng.choice((f"TJ{state}" if state != "DF" else "TJDFT", labour))
    bench = "VARA DO TRABALHO" if court == labour else "VARA CIVEL"
    kinds = rng.choices(KINDS, (55, 12, 18, 15))[0]
    body = f"{_digits(rng, 5)}-{rng.choice(_ORDINALS)} {bench}"
    age = vehicle.draw_age(rng, 40, 2400, month)
    if age is None:
        return None
    return RestrictionOutline(kinds, court, body, age)


def _record(
    vehicle: Vehicle,
    subject: Plate | Renavam,
    outline: RestrictionOutline,
    is_bare: bool,
    month: date,
    rng: random.Random,
) -> dict[str, object]:
    moment = time(rng.randint(9, 18), rng.randint(0, 59), rng.randint(0, 59))
    included = datetime.combine(month - timedelta(days=outline.age_days), moment)
    # In one record in five, the fields about the vehicle are filled.
    names_vehicle = rng.random() < 0.2 and not is_bare
    has_letter = rng.random() < 0.25 and not is_bare
    year = str(included.year)
    plate = subject.text if isinstance(subject, Plate) else ""
    renavam = subject.text if isinstance(subject, Renavam) else ""
    return {
        "placa": plate if names_vehicle else "",
        "renavam": renavam if names_vehicle else "",
        "marcaModelo": vehicle.description if names_vehicle else "",
        "anoModelo": str(vehicle.model_year) if names_vehicle else "",
        "anoFabricacao": str(vehicle.built_year) if names_vehicle else "",
        "tribunal": court_text(outline.court),
        "orgaoJudiciario": outline.body,
        "processo": HIDDEN_MARKER,
        "restricoes": outline.kinds,
        "codigoJudicial": "",
        "dataInclusao": included.strftime("%d/%m/%Y %H:%M:%S"),
        "numeroProtocolo": "",
        "numeroOficio": _digits(rng, 4) if has_letter else "",
        "anoOficio": year if has_letter else "",
        "anoProcesso": str(included.year - 1) if has_letter else "",
        "anoProtocolo": "",
        "tipoBloqueio": "JUDICIAL" if has_letter else "",
        "detalheRenajud": "CONSTA DETALHE RENAJUD",
        "constaRenajud": True,
    }


def court_text(acronym: str) -> str:
    """Return a court's name in RENAJUD, such as ``TRT2-TRIBUNAL REGIONAL …``."""
    if acronym.startswith("TRT"):
        return f"{acronym}-TRIBUNAL REGIONAL DO TRABALHO DA {acronym[3:]}A REGIAO"
    if acronym.startswith("TRF"):
        return f"{acronym}-TRIBUNAL REGIONAL FEDERAL DA {acronym[3:]}A REGIAO"
    return f"{acronym}-TRIBUNAL DE JUSTICA {REGIONS[acronym[2:4]].of_court}"


def _digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choice("0123456789") for _ in range(count))
