const lotes = "BASE/api/v1/batches";
const headers = { Authorization: "TOKEN", "Content-Type": "application/json" };

async function pedir(endereco, opcoes) {
  const resposta = await fetch(endereco, { headers, ...opcoes });
  const corpo = await resposta.json();
  if (!resposta.ok) throw new Error(corpo.message);
  return corpo;
}

let lote = await pedir(lotes, {
  method: "POST",
  body: JSON.stringify({ plates: ["ABC1D23", "LMP0A01"] }),
});
lote = await pedir(`${lotes}/${lote.id}/start`, { method: "POST" });
while (lote.state === "running") {
  await new Promise((pronto) => setTimeout(pronto, 1000));
  lote = await pedir(`${lotes}/${lote.id}`);
}
console.log(lote.state, lote.counts);
