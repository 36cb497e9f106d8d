import time

import requests


def consultar(caminho, tentativas=3):
    """O resultado de um caminho; espera o que Retry-After pede em 429 e 503."""
    for tentativa in range(1, tentativas + 1):
        resposta = requests.get(
            "BASE" + caminho, headers={"Authorization": "TOKEN"}, timeout=30
        )
        espera = int(resposta.headers.get("Retry-After", 0))
        if resposta.status_code not in (429, 503) or espera > 60:
            break
        if tentativa < tentativas:
            time.sleep(espera)
    if not resposta.ok:
        raise RuntimeError(f"{resposta.status_code}: {resposta.json()['message']}")
    return resposta.json()["result"]


for placa in ("ABC1D23", "ERR0404", "FOR0A02"):
    try:
        print(placa, len(consultar(f"/detran/v1/restrictions/renainf/{placa}")), "multas")
    except RuntimeError as erro:
        print(placa, erro)
