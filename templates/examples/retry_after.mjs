// O resultado de um caminho; espera o que Retry-After pede em 429 e 503.
async function consultar(caminho, tentativas = 3) {
  let resposta;
  for (let tentativa = 1; tentativa <= tentativas; tentativa++) {
    resposta = await fetch("BASE" + caminho, { headers: { Authorization: "TOKEN" } });
    const espera = Number(resposta.headers.get("Retry-After"));
    if (![429, 503].includes(resposta.status) || espera > 60) break;
    if (tentativa === tentativas) break;
    await new Promise((pronto) => setTimeout(pronto, 1000 * espera));
  }
  const corpo = await resposta.json();
  if (!resposta.ok) throw new Error(`${resposta.status}: ${corpo.message}`);
  return corpo.result;
}

for (const placa of ["ABC1D23", "ERR0404", "FOR0A02"]) {
  try {
    const multas = await consultar(`/detran/v1/restrictions/renainf/${placa}`);
    console.log(placa, multas.length, "multas");
  } catch (erro) {
    console.log(placa, erro.message);
  }
}
