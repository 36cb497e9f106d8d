import json
import pathlib
from concurrent.futures import ThreadPoolExecutor, as_completed

import requests

PLACAS = ["ABC1D23", "LMP0A01"]
ontem = pathlib.Path("situacao.json")
antes = json.loads(ontem.read_text()) if ontem.exists() else {}
agora = dict(antes)


def situacao(placa):
    resposta = requests.get(
        f"BASE/api/v1/vehicles/{placa}",
        params={"ask": "renainf,renajud"},
        headers={"Authorization": "TOKEN"},
        timeout=60,
    )
    if not resposta.ok:
        raise RuntimeError(resposta.json()["message"])
    carro = resposta.json()
    falhas = [
        nome
        for nome in ("renainf", "renajud")
        if carro["lookups"][nome]["state"] == "unavailable"
    ]
    if falhas:  # sem resposta não é "nada consta": fica para amanhã
        raise RuntimeError("sem resposta de " + ", ".join(falhas))
    return {
        "multas": carro["fines"]["totals"]["open"],
        "restricoes": carro["restrictions"]["in_force"],
    }


try:
    with ThreadPoolExecutor(8) as tarefas:
        pedidos = {tarefas.submit(situacao, placa): placa for placa in PLACAS}
        for pedido in as_completed(pedidos):
            placa = pedidos[pedido]
            try:
                agora[placa] = pedido.result()
            except Exception as erro:  # uma placa com erro não perde a noite
                print(placa, "ficou como estava:", erro)
                continue
            if agora[placa] != antes.get(placa):
                print(placa, "mudou:", antes.get(placa), "->", agora[placa])
finally:
    ontem.write_text(json.dumps(agora, indent=2))
