"""Generates fictitious fines in the format of the upstream's answers.

Dates are relative to the first day of the current month, so that all lookups within a month return
the same fines.
"""

import random
from datetime import date, timedelta

from portal.sandbox.offences import OFFENCES, Offence, offences_for
from portal.sandbox.profile import FineOutline, Profile
from portal.sandbox.regions import REGIONS, authority, draw_state
from portal.sandbox.rng import seeded_rng
from portal.sandbox.vehicles import Vehicle
from portal.vehicle.field import HIDDEN_MARKER

_YOUNGEST_DAYS = 60
_OLDEST_DAYS = 1500


def fine_records(vehicle: Vehicle, profile: Profile, today: date) -> list[dict[str, object]]:
    """Return the ``result`` member of a RENAINF answer, the latest infraction first.

    RENAINF is the national register of traffic fines.
    """
    rng = seeded_rng("fines", vehicle.seed)
    month = today.replace(day=1)
    fines = profile.fines
    if fines is None:
        fines = rng.choices((0, 1, 2, 3, 5, 8), (44, 24, 15, 10, 5, 2))[0]
    outlines = _draw(vehicle, fines, month, rng) if isinstance(fines, int) else fines
    ordered = sorted(outlines, key=lambda outline: outline.age_days)
    return [_record(vehicle, outline, profile.is_bare, month, rng) for outline in ordered]


def _draw(vehicle: Vehicle, count: int, month: date, rng: random.Random) -> tuple[FineOutline, ...]:
    choices = offences_for(vehicle.family.is_motorcycle)
    weights = [offence.weight for offence in choices]
    drawn = (
        _outline(vehicle, offence, month, rng) for offence in rng.choices(choices, weights, k=count)
    )
    return tuple(outline for outline in drawn if outline is not None)


def _outline(
    vehicle: Vehicle, offence: Offence, month: date, rng: random.Random
) -> FineOutline | None:
    age = vehicle.draw_age(rng, _YOUNGEST_DAYS, _OLDEST_DAYS, month)
    if age is None:
        return None
    # By law, the notice must be issued within 30 days after the infraction, and the penalty within
    # 180 days after the infraction. In the sandbox, one in twelve notices and one in ten penalties
    # are too late.
    notice = rng.randint(31, 55) if rng.random() < 1 / 12 else rng.randint(6, 28)
    penalty = rng.randint(181, 260) if rng.random() < 0.1 else rng.randint(70, 175)
    is_past = penalty < age
    return FineOutline(
        code=offence.code,
        issuer=rng.choice(offence.issuers),
        state=vehicle.home_state if rng.random() < 0.6 else draw_state(rng),
        age_days=age,
        notice_after=notice,
        penalty_after=penalty if is_past else None,
        is_paid=age > notice + 60 and rng.random() < 0.3,
    )


def _record(
    vehicle: Vehicle, outline: FineOutline, is_bare: bool, month: date, rng: random.Random
) -> dict[str, object]:
    offence = OFFENCES[outline.code]
    region = REGIONS[outline.state]
    issuer_code, issuer_name, place = authority(outline.issuer, outline.state, rng)
    committed = month - timedelta(days=outline.age_days)
    notified = committed + timedelta(days=outline.notice_after)
    registered = committed + timedelta(days=rng.randint(1, max(1, outline.notice_after - 2)))
    penalty = None
    if outline.penalty_after is not None:
        penalty = committed + timedelta(days=outline.penalty_after)
    limit, measured, considered = _speeds(offence, rng)
    clock = f"{rng.randint(6, 22):02d}:{rng.randint(0, 59):02d}"
    # Some optional fields are empty at random, as in real records. If ``is_bare`` is true, all
    # optional fields are empty.
    names_vehicle, names_kind = rng.random() < 0.4, rng.random() < 0.4
    is_municipal = outline.issuer == "municipal"

    def optional(text: str, is_filled: bool = True) -> str:
        return text if is_filled and not is_bare else ""

    return {
        "cnhCondutor": _licence(),
        "cnhInfrator": _licence(),
        "pagamento": _payment(outline, notified, penalty, month, offence.amount),
        "autoInfracao": HIDDEN_MARKER,
        "codigoInfracao": outline.code,
        "codigoMunicipioInfracao": optional(region.municipality_code, is_municipal),
        "codigoOrgaoAutuador": issuer_code,
        "dataCadastroInfracao": _day(registered),
        "dataEmissaoNotificacao": _day(notified),
        "dataEmissaoPenalidade": _day(penalty),
        "dataInfracao": _day(committed),
        "descricao": offence.description,
        "horaInfracao": f" {clock}",
        "limitePermitido": optional(limit),
        "localInfracao": optional(place),
        "marcaModelo": optional(vehicle.description, names_vehicle),
        "medicaoConsiderada": optional(considered),
        "medicaoReal": optional(measured),
        "orgaoAutuador": issuer_name,
        "tipo": optional(f"NOTIFICACAO DE {'PENALIDADE' if penalty else 'AUTUACAO'}", names_kind),
        "ufOrgaoAutuador": outline.state,
        "valor": str(offence.amount),
    }


def _licence() -> dict[str, object]:
    return {"impedimento": "", "pontos": 0, "portaria": "", "registro": HIDDEN_MARKER}


def _payment(
    outline: FineOutline, notified: date, penalty: date | None, month: date, amount: int
) -> dict[str, object]:
    paid = (penalty or notified) + timedelta(days=21)
    if not outline.is_paid or paid >= month - timedelta(days=3):
        return {"dataPagamento": "", "dataRegistro": "", "ufPagamento": "", "valorPago": ""}
    return {
        "dataPagamento": _day(paid),
        "dataRegistro": _day(paid + timedelta(days=2)),
        "ufPagamento": outline.state,
        # A payment before the due date costs 80 % of the amount (traffic code, CTB art. 284). The
        # upstream omits the cents of this amount.
        "valorPago": str(amount * 4 // 5),
    }


def _speeds(offence: Offence, rng: random.Random) -> tuple[str, str, str]:
    """Return a speeding offence's limit, measured speed and considered speed in km/h.

    For any other offence, the three texts are empty.
    """
    if not offence.is_speeding:
        return "", "", ""
    limit = rng.choice((40, 50, 60, 70, 80, 110))
    low, high = {"7455": (1.03, 1.19), "7463": (1.23, 1.48), "7471": (1.53, 1.75)}[offence.code]
    considered = max(limit + 1, int(limit * rng.uniform(low, high)))
    # The considered speed is the measured speed minus the meter's tolerance. The tolerance is
    # 7 km/h for measured speeds up to 100 km/h, and 7 % for higher speeds (a rule of Inmetro, the
    # metrology institute).
    measured = considered + 7 if considered <= 93 else round(considered / 0.93)
    return str(limit), str(measured), str(considered)


def _day(day: date | None) -> str:
    return day.strftime("%d/%m/%Y") if day else ""
