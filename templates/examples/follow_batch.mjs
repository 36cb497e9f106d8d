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
  // A resposta vem com uma mudança, ou depois de 30 s.
  lote = await pedir(`${lotes}/${lote.id}?wait=30`);
}
console.log(lote.state, lote.counts);
