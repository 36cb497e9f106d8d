import requests

api = requests.Session()
api.headers["Authorization"] = "TOKEN"
lotes = "BASE/api/v1/batches"

# Os resultados do lote mais novo, no que já há de respostas.
lote = api.get(lotes, timeout=30).json()["batches"][0]
arquivo = api.get(f"{lotes}/{lote['id']}/results.xlsx", timeout=120)
arquivo.raise_for_status()
with open("resultados.xlsx", "wb") as saida:
    saida.write(arquivo.content)
print(len(arquivo.content), "bytes")
