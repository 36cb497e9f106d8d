import time

import requests

api = requests.Session()
api.headers["Authorization"] = "TOKEN"
lotes = "BASE/api/v1/batches"

lote = api.post(lotes, json={"plates": ["ABC1D23", "LMP0A01"]}, timeout=30).json()
print("custa no máximo R$", lote["cost"]["at_most"])
endereco = f"{lotes}/{lote['id']}"
api.post(f"{endereco}/start", timeout=30).raise_for_status()
# Cada resposta vem com uma mudança, ou depois de 30 s.
while (lote := api.get(endereco + "?wait=30", timeout=60).json())["state"] == "running":
    time.sleep(1)
print(lote["state"], lote["counts"])
