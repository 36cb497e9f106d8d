const lotes = "BASE/api/v1/batches";
const headers = { Authorization: "TOKEN" };

// Os resultados do lote mais novo, no que já há de respostas.
const [lote] = (await (await fetch(lotes, { headers })).json()).batches;
const arquivo = await fetch(`${lotes}/${lote.id}/results.jsonl`, { headers });
for (const linha of (await arquivo.text()).trim().split("\n")) {
  const carro = JSON.parse(linha);
  console.log(carro.plate, carro.state, carro.verdict);
}
