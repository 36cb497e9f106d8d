import csv
import pathlib
import time

import requests

planilha = pathlib.Path("placas.csv")
if not planilha.exists():  # uma planilha de exemplo
    planilha.write_text("placa;cliente\nABC1D23;Ana\nLMP0A01;Rui\nJUD0A04;Eva\n")
# O arquivo pode estar em UTF-8 ou em Windows-1252. "replace" só troca as
# letras com acento do segundo, e as placas não têm acento.
linhas = planilha.read_text("utf-8-sig", "replace").lower().split("\n")
separador = ";" if ";" in linhas[0] else ","
tabela = csv.DictReader(linhas, delimiter=separador)
placas = [linha.get("placa") or linha.get("plate") for linha in tabela]

api = requests.Session()
api.headers["Authorization"] = "TOKEN"
lotes = "BASE/api/v1/batches"

resposta = api.post(lotes, json={"plates": list(filter(None, placas))}, timeout=30)
lote = resposta.json()
if not resposta.ok:
    raise SystemExit(lote["message"])
for errada in lote["wrong"]:
    print(errada["value"], errada["message"])
print("no máximo R$", lote["cost"]["at_most"])

endereco = f"{lotes}/{lote['id']}"
api.post(f"{endereco}/start", timeout=30).raise_for_status()
while (lote := api.get(endereco + "?wait=30", timeout=60).json())["state"] == "running":
    time.sleep(1)
if lote["state"] == "paused":
    print("em pausa:", lote["reason"], "retoma em", lote["resumes_at"])
elif lote["state"] == "cancelled":
    print("cancelado: as placas que faltam não serão consultadas")

resultados = api.get(f"{endereco}/results.csv", timeout=120)
pathlib.Path("resultados.csv").write_bytes(resultados.content)
print("resultados.csv:", lote["counts"])
