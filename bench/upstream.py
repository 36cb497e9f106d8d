"""The upstream of the benchmarks: 8 kB decode bodies, with a delay given in the address.

The base address may contain delays in milliseconds for decode, RENAINF and RENAJUD: ``/d/100`` or
``/d/80,120,100``. With ``/long`` before the delays, a decode body has 14 kB: two versions with 96
months of prices each. With ``/fines``, a vehicle has four fines and two court orders. ``/calls``
returns the number of lookups, and the number of distinct lookups.
"""

import asyncio
import json
from typing import Any

from tests import factories

_PLATE = "ZZZ9Z99"


def _decode_body(versions: int, months: int) -> bytes:
    return factories.decode_body(
        _PLATE,
        informacoesFipe=[
            factories.fipe_entry(
                fipeId=f"8190{number}", historicoPreco=factories.price_history(months, first=60_000)
            )
            for number in range(versions)
        ],
    )


_PENALISED = {
    "dataInfracao": "10/03/2026",
    "dataCadastroInfracao": "12/03/2026",
    "dataEmissaoNotificacao": "25/03/2026",
    "dataEmissaoPenalidade": "10/06/2026",
}
_BODIES = {
    # A popular model has about five versions with 23 months of prices each, which give 8 kB.
    "decode": _decode_body(5, 23),
    "long decode": _decode_body(2, 96),
    "renainf": factories.renainf_body(),
    "fines renainf": factories.renainf_body(
        factories.fine(autoInfracao="B1"),
        *(factories.fine(**_PENALISED, autoInfracao=f"A{number}") for number in range(3)),
    ),
    "renajud": factories.renajud_body(factories.restriction(placa=_PLATE)),
    "fines renajud": factories.renajud_body(
        factories.restriction(placa=_PLATE),
        factories.restriction(placa=_PLATE, restricoes="PENHORA"),
    ),
}
_HEADERS = [("content-type", "application/json"), ("cache-control", "max-age=86400")]
_calls = {"total": 0}
_plates: set[str] = set()


async def app(scope: Any, protocol: Any) -> None:
    """Answer a request. RSGI, Granian's own interface, costs little processor time."""
    parts = scope.path.strip("/").split("/")
    if parts == ["calls"]:
        counts = json.dumps({"calls": _calls["total"], "distinct": len(_plates)}).encode()
        protocol.response_bytes(200, _HEADERS, counts)
        return
    variant = parts.pop(0) if parts[0] in ("long", "fines") else ""
    delays = [0.0, 0.0, 0.0]
    if parts[0] == "d":
        values = [float(text) / 1000 for text in parts[1].split(",")]
        delays = values * 3 if len(values) == 1 else values
        parts = parts[2:]
    operation = "decode" if parts[2] == "decode" else parts[3]
    plate = parts[3] if operation == "decode" else parts[4]
    _calls["total"] += 1
    _plates.add(f"{operation}/{plate}")
    delay = delays[("decode", "renainf", "renajud").index(operation)]
    if delay:
        await asyncio.sleep(delay)
    body = _BODIES.get(f"{variant} {operation}", _BODIES[operation])
    protocol.response_bytes(200, _HEADERS, body.replace(_PLATE.encode(), plate.encode()))
