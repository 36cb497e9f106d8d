"""Runnable examples of the API reference in curl, Python and JavaScript.

The words BASE and TOKEN stand for the portal's base URL and the API token until ``Example.filled``
replaces them. A test extracts every example from the rendered page and runs the example.
"""

import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

Language = Literal["curl", "python", "javascript"]
_LABELS: Final[Mapping[Language, str]] = {
    "curl": "curl",
    "python": "Python",
    "javascript": "JavaScript",
}


@dataclass(frozen=True, slots=True)
class Code:
    language: Language
    text: str

    @property
    def label(self) -> str:
        return _LABELS[self.language]


@dataclass(frozen=True, slots=True)
class Example:
    """One example in several languages. ``anchor`` is unique on the page.

    ``is_request`` is true for a single request, and false for a longer script. On a screen, the
    page wraps a long curl command of a single request, but it does not wrap the lines of a script.
    """

    anchor: str
    title: str
    codes: tuple[Code, ...]
    is_request: bool = False

    def filled(self, base: str, token: str) -> "Example":
        texts = [each.text.replace("BASE", base).replace("TOKEN", token) for each in self.codes]
        codes = (replace(each, text=text) for each, text in zip(self.codes, texts, strict=True))
        return replace(self, codes=tuple(codes))


@dataclass(frozen=True, slots=True)
class Recipe:
    anchor: str
    title: str
    purpose: str
    example: Example


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """The request of an example. ``is_text`` is true if the answer is not JSON."""

    method: str
    path: str
    body: Mapping[str, object] | None = None
    is_text: bool = False


def example_of(anchor: str, title: str, request: SampleRequest) -> Example:
    """Return an example that sends one request, in curl, Python and JavaScript."""
    codes = (
        Code("curl", _curl(request)),
        Code("python", _python(request)),
        Code("javascript", _javascript(request)),
    )
    return Example(anchor, title, codes, is_request=True)


def _written(anchor: str, title: str, **texts: str) -> Example:
    """Return an example from hand-written ``texts``, keyed by language."""
    codes = (
        Code(language, textwrap.dedent(texts[language]).strip())
        for language in _LABELS
        if language in texts
    )
    return Example(anchor, title, tuple(codes))


def _curl(request: SampleRequest) -> str:
    words = ["curl -H 'Authorization: TOKEN'"]
    if request.body is not None:
        words.append("-H 'Content-Type: application/json'")
        words.append(f"-d '{json.dumps(request.body, ensure_ascii=False)}'")
    words.append(f"'BASE{request.path}'" if "?" in request.path else f"BASE{request.path}")
    return " \\\n  ".join(words)


def _python(request: SampleRequest) -> str:
    body = ""
    if request.body is not None:
        body = f"    json={_python_value(request.body)},\n"
    shown = "resposta.text" if request.is_text else "resposta.json()"
    return (
        "import requests\n\n"
        f"resposta = requests.{request.method.lower()}(\n"
        f'    "BASE{request.path}",\n'
        '    headers={"Authorization": "TOKEN"},\n'
        f"{body}"
        "    timeout=30,\n"
        ")\n"
        "resposta.raise_for_status()\n"
        f"print({shown})"
    )


def _python_value(value: object) -> str:
    """Write a JSON value as Python source, with double quotes."""
    match value:
        case dict():
            members = ", ".join(f'"{key}": {_python_value(each)}' for key, each in value.items())
            return f"{{{members}}}"
        case list():
            return f"[{', '.join(map(_python_value, value))}]"
        case bool() | None:
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _javascript(request: SampleRequest) -> str:
    headers, options = 'Authorization: "TOKEN"', ""
    if request.body is not None:
        headers += ', "Content-Type": "application/json"'
        options = f"  body: JSON.stringify({json.dumps(request.body, ensure_ascii=False)}),\n"
    if request.method != "GET":
        options = f'  method: "{request.method}",\n{options}'
    reader = "text" if request.is_text else "json"
    return (
        f'const resposta = await fetch("BASE{request.path}", {{\n'
        f"  headers: {{ {headers} }},\n"
        f"{options}"
        "});\n"
        "if (!resposta.ok) throw new Error((await resposta.json()).message);\n"
        f"console.log(await resposta.{reader}());"
    )


_FOLLOW_CURL: Final = """
    PORTAL=BASE
    CREDENCIAL='Authorization: TOKEN'

    # O cabeçalho Location é o endereço do lote.
    LOTE=$(curl -s -o lote.json -w '%header{location}' \\
      -H "$CREDENCIAL" -H 'Content-Type: application/json' \\
      -d '{"plates": ["ABC1D23", "LMP0A01"]}' \\
      $PORTAL/api/v1/batches)

    curl -s -X POST -H "$CREDENCIAL" $PORTAL$LOTE/start
    curl -s -X POST -H "$CREDENCIAL" $PORTAL$LOTE/pause  # 409 se acabou
    curl -s -X POST -H "$CREDENCIAL" $PORTAL$LOTE/start  # retoma
    while curl -sSf --retry 3 -H "$CREDENCIAL" $PORTAL$LOTE |
      grep -q '"state":"running"'
    do sleep 1; done
    curl -s -H "$CREDENCIAL" $PORTAL$LOTE
"""
_FOLLOW_PYTHON: Final = """
    import time

    import requests

    api = requests.Session()
    api.headers["Authorization"] = "TOKEN"
    lotes = "BASE/api/v1/batches"

    lote = api.post(lotes, json={"plates": ["ABC1D23", "LMP0A01"]}, timeout=30).json()
    print("custa no máximo R$", lote["cost"]["at_most"])
    endereco = f"{lotes}/{lote['id']}"
    api.post(f"{endereco}/start", timeout=30).raise_for_status()
    while (lote := api.get(endereco, timeout=30).json())["state"] == "running":
        time.sleep(1)
    print(lote["state"], lote["counts"])
"""
_FOLLOW_JAVASCRIPT: Final = """
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
"""
_CANCEL_CURL: Final = """
    PORTAL=BASE
    CREDENCIAL='Authorization: TOKEN'

    # O cabeçalho Location é o endereço do lote.
    LOTE=$(curl -s -o lote.json -w '%header{location}' \\
      -H "$CREDENCIAL" -H 'Content-Type: application/json' \\
      -d '{"plates": ["ABC1D23"]}' \\
      $PORTAL/api/v1/batches)
    curl -X POST -H "$CREDENCIAL" $PORTAL$LOTE/cancel
"""
_RESULTS_CURL: Final = """
    PORTAL=BASE
    CREDENCIAL='Authorization: TOKEN'

    # O cabeçalho Location é o endereço do lote.
    LOTE=$(curl -s -o lote.json -w '%header{location}' \\
      -H "$CREDENCIAL" -H 'Content-Type: application/json' \\
      -d '{"plates": ["ABC1D23", "LMP0A01"]}' \\
      $PORTAL/api/v1/batches)
    curl -s -X POST -H "$CREDENCIAL" -o lote.json $PORTAL$LOTE/start
    while curl -sSf --retry 3 -H "$CREDENCIAL" $PORTAL$LOTE |
      grep -q '"state":"running"'
    do sleep 1; done

    for tipo in csv jsonl xlsx zip; do
      curl -s -H "$CREDENCIAL" -o resultados.$tipo \\
        $PORTAL$LOTE/results.$tipo
    done
    cat resultados.csv
"""
_RESULTS_PYTHON: Final = """
    import requests

    api = requests.Session()
    api.headers["Authorization"] = "TOKEN"
    lotes = "BASE/api/v1/batches"

    # Os resultados do lote mais novo, no que já há de respostas.
    lote = api.get(lotes, timeout=30).json()[0]
    arquivo = api.get(f"{lotes}/{lote['id']}/results.xlsx", timeout=120)
    arquivo.raise_for_status()
    with open("resultados.xlsx", "wb") as saida:
        saida.write(arquivo.content)
    print(len(arquivo.content), "bytes")
"""
_RESULTS_JAVASCRIPT: Final = """
    const lotes = "BASE/api/v1/batches";
    const headers = { Authorization: "TOKEN" };

    // Os resultados do lote mais novo, no que já há de respostas.
    const [lote] = await (await fetch(lotes, { headers })).json();
    const arquivo = await fetch(`${lotes}/${lote.id}/results.jsonl`, { headers });
    for (const linha of (await arquivo.text()).trim().split("\\n")) {
      const carro = JSON.parse(linha);
      console.log(carro.plate, carro.state, carro.verdict);
    }
"""
_SHEET_CURL: Final = """
    PORTAL=BASE
    CREDENCIAL='Authorization: TOKEN'

    # Uma planilha de exemplo, se não há outra.
    test -e placas.csv ||
      printf 'placa;cliente\\nABC1D23;Ana\\nLMP0A01;Rui\\nJUD0A04;Eva\\n' > placas.csv

    # A primeira coluna, sem o título, numa lista JSON.
    PLACAS=$(tail -n +2 placas.csv | cut -d';' -f1 | cut -d, -f1 |
      tr -d '"\\r' | sed -n 's/..*/"&"/p' | paste -sd,)
    LOTE=$(curl -s -o lote.json -w '%header{location}' \\
      -H "$CREDENCIAL" -H 'Content-Type: application/json' \\
      -d "{\\"plates\\": [$PLACAS]}" \\
      $PORTAL/api/v1/batches)
    curl -s -X POST -H "$CREDENCIAL" -o lote.json $PORTAL$LOTE/start
    while curl -sSf --retry 3 -H "$CREDENCIAL" $PORTAL$LOTE |
      grep -q '"state":"running"'
    do sleep 1; done
    curl -s -H "$CREDENCIAL" -o resultados.csv $PORTAL$LOTE/results.csv
    cat resultados.csv
"""
_SHEET_PYTHON: Final = """
    import csv
    import pathlib
    import time

    import requests

    planilha = pathlib.Path("placas.csv")
    if not planilha.exists():  # uma planilha de exemplo
        planilha.write_text("placa;cliente\\nABC1D23;Ana\\nLMP0A01;Rui\\nJUD0A04;Eva\\n")
    # O arquivo pode estar em UTF-8 ou em Windows-1252. "replace" só troca as
    # letras com acento do segundo, e as placas não têm acento.
    linhas = planilha.read_text("utf-8-sig", "replace").lower().split("\\n")
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
    while (lote := api.get(endereco, timeout=30).json())["state"] == "running":
        time.sleep(1)
    if lote["state"] == "paused":
        print("em pausa:", lote["reason"], "retoma em", lote["resumes_at"])
    elif lote["state"] == "cancelled":
        print("cancelado: as placas que faltam não serão consultadas")

    resultados = api.get(f"{endereco}/results.csv", timeout=120)
    pathlib.Path("resultados.csv").write_bytes(resultados.content)
    print("resultados.csv:", lote["counts"])
"""
_NIGHTLY_PYTHON: Final = """
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
        falhas = [nome for nome in ("renainf", "renajud")
                  if carro["lookups"][nome]["state"] == "unavailable"]
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
"""
_NIGHTLY_CURL: Final = """
    PORTAL=BASE
    CREDENCIAL='Authorization: TOKEN'

    for placa in ABC1D23 LMP0A01; do
      curl -s --fail -H "$CREDENCIAL" -o $placa.novo \\
        $PORTAL/api/v1/vehicles/$placa/fines.jsonl || continue
      touch $placa.jsonl
      cmp -s $placa.jsonl $placa.novo || echo "$placa: multas mudaram"
      mv $placa.novo $placa.jsonl
    done
"""
_RETRY_PYTHON: Final = """
    import time

    import requests


    def consultar(caminho, tentativas=3):
        \"\"\"O resultado de um caminho; espera o que Retry-After pede em 429 e 503.\"\"\"
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
"""
_RETRY_JAVASCRIPT: Final = """
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
"""
_RETRY_CURL: Final = """
    # --retry espera o que Retry-After pede em 429 e 503,
    # e repete também 500, 502 e 504.
    curl -sS --retry 2 --retry-max-time 60 \\
      -H 'Authorization: TOKEN' \\
      BASE/detran/v1/restrictions/renainf/ABC1D23
"""
# Examples with several requests. A key is the anchor of the section that shows the examples.
LONG_EXAMPLES: Final[Mapping[str, tuple[Example, ...]]] = {
    "andamento": (
        _written(
            "andamento-ate-o-fim",
            "Do começo ao fim",
            curl=_FOLLOW_CURL,
            python=_FOLLOW_PYTHON,
            javascript=_FOLLOW_JAVASCRIPT,
        ),
        _written("cancelar", "Cancelar", curl=_CANCEL_CURL),
    ),
    "resultados": (
        _written(
            "baixar",
            "Baixar",
            curl=_RESULTS_CURL,
            python=_RESULTS_PYTHON,
            javascript=_RESULTS_JAVASCRIPT,
        ),
    ),
}
RECIPES: Final = (
    Recipe(
        "planilha",
        "Uma planilha de placas",
        "Entra uma planilha salva como CSV, com a coluna `placa`, e sai uma planilha de "
        "resultados. Servem vírgulas ou pontos e vírgulas, UTF-8 ou Windows-1252, e também o "
        "`results.csv` de outro lote. O exemplo em curl lê a primeira coluna. O preço máximo vem "
        "antes de qualquer consulta, e nada é pago duas vezes: se o programa parar no meio, o "
        "lote continua.",
        _written("receita-planilha", "Planilha", curl=_SHEET_CURL, python=_SHEET_PYTHON),
    ),
    Recipe(
        "noturna",
        "Uma conferência por noite",
        "Guarda a situação de cada placa e diz o que mudou desde a véspera. Agende com o cron, "
        "por exemplo às 3 h: `0 3 * * * python3 conferir.py`",
        _written("receita-noturna", "Conferência", curl=_NIGHTLY_CURL, python=_NIGHTLY_PYTHON),
    ),
    Recipe(
        "retry-after",
        "Erros, e quando tentar de novo",
        "Só 429 e 503 dizem quando voltar, em `Retry-After`. Os outros erros não melhoram com "
        "pressa: 400, 401, 403 e 404 são definitivos; 502 e 504 merecem uma nova tentativa mais "
        "tarde.",
        _written(
            "receita-retry-after",
            "Retry-After",
            curl=_RETRY_CURL,
            python=_RETRY_PYTHON,
            javascript=_RETRY_JAVASCRIPT,
        ),
    ),
)
