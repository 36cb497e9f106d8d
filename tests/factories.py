"""Realistic upstream bodies as bytes, with the fields of docs/contract.md.

The values imitate docs/contract.md, "Observed values": the marker of a hidden value, amounts
without cents, times with a leading space, empty strings for "no data".

An unknown field name raises TypeError, so that a misspelt field cannot make a test pass. To add a
field that the contract lacks, write ``{**fine(), "novo": 1}``.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

HIDDEN = "INFORMACAO OCULTADA"

MESSAGES = {
    400: "Por favor, informe uma placa válida.",
    401: "Não autorizado.",
    403: "Acesso negado!",
}

Record = dict[str, Any]


def _with(record: Record, overrides: Mapping[str, Any]) -> Record:
    unknown = overrides.keys() - record.keys()
    if unknown:
        raise TypeError(f"not fields of the contract: {sorted(unknown)}")
    return {**record, **overrides}


def encode(value: Any) -> bytes:
    """Encode as JSON in UTF-8, with a space after each separator."""
    return json.dumps(value, ensure_ascii=False).encode()


def message_body(message: str) -> bytes:
    return encode({"message": message})


def price_history(
    months: int = 24, predicted: int = 2, start: tuple[int, int] = (2024, 12), first: int = 103_500
) -> list[Record]:
    """Return consecutive months from ``start`` (year, month).

    Each price is 0.7 % below the one before. The last months are marked as predictions.
    """
    year, month = start
    history = []
    for index in range(months):
        history.append(
            {
                "mes": str(month),
                "ano": str(year),
                "valor": str(round(first * 0.993**index)),
                "predicao": index >= months - predicted,
            }
        )
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
    return history


def fipe_entry(**overrides: Any) -> Record:
    return _with(
        {
            "ano": "2015",
            "fipeId": "81906",
            "marca": "Audi",
            "modelo": "A3 Sedan",
            "versao": "SED.1.8/1.8 AMBIT.16V TB FSI S-TRONIC",
            "combustivel": "Gasolina",
            "valorAtual": "89325.00",
            "historicoPreco": price_history(),
        },
        overrides,
    )


def decoded(plate: str, **overrides: Any) -> Record:
    """Return the ``result`` of a decode answer, which has a vehicle's data."""
    return _with(
        {
            "marca": "AUDI",
            "descricao": "A3 LM 180CV",
            "placa": plate,
            "anoModelo": "2015",
            "anoFabricacao": "2014",
            "combustivel": "Gasolina",
            "chassi": HIDDEN,
            "tipoVeiculo": "Automóvel",
            "potencia": "180",
            "nacional": "NAO",
            "cilindradas": "1798",
            "capacidadePassageiro": "5",
            "capacidadeCarga": "",
            "caixaCambio": "",
            "informacoesFipe": [fipe_entry()],
        },
        overrides,
    )


def decode_body(plate: str, **overrides: Any) -> bytes:
    return encode({"status": "DONE", "result": decoded(plate, **overrides)})


def licence(**overrides: Any) -> Record:
    return _with({"impedimento": "", "pontos": 0, "portaria": "", "registro": HIDDEN}, overrides)


def payment(**overrides: Any) -> Record:
    return _with(
        {"dataPagamento": "", "dataRegistro": "", "ufPagamento": "", "valorPago": ""}, overrides
    )


def fine(**overrides: Any) -> Record:
    """Return one fine: speeding up to 20 % on a federal road in Minas Gerais."""
    return _with(
        {
            "cnhCondutor": licence(),
            "cnhInfrator": licence(),
            "pagamento": payment(),
            "autoInfracao": HIDDEN,
            "codigoInfracao": "7455",
            "codigoMunicipioInfracao": "4123",
            "codigoOrgaoAutuador": "000100",
            "dataCadastroInfracao": "20/08/2025",
            "dataEmissaoNotificacao": "22/08/2025",
            "dataEmissaoPenalidade": "",
            "dataInfracao": "14/08/2025",
            "descricao": "TRANSITAR EM VELOCIDADE SUPERIOR A MAXIMA PERMITIDA EM ATE 20%",
            "horaInfracao": " 09:30",
            "limitePermitido": "80",
            "localInfracao": "BR-040 KM 562",
            "marcaModelo": "I/AUDI A3",
            "medicaoConsiderada": "88",
            "medicaoReal": "95",
            "orgaoAutuador": "POLICIA RODOVIARIA FEDERAL",
            "tipo": "",
            "ufOrgaoAutuador": "MG",
            "valor": "130",
        },
        overrides,
    )


def renainf_body(*fines: Any) -> bytes:
    """Return a renainf body whose ``result`` lists the given fines."""
    return encode({"status": "SUCCESS", "result": fines})


def restriction(**overrides: Any) -> Record:
    """Return one restriction: a court of Minas Gerais forbids the transfer."""
    return _with(
        {
            "placa": "",
            "renavam": "",
            "marcaModelo": "",
            "anoModelo": "",
            "anoFabricacao": "",
            "tribunal": "TJMG-TRIBUNAL DE JUSTICA DE MINAS GERAIS",
            "orgaoJudiciario": "04355-VIGESIMA TERCEIRA VARA CIVEL",
            "processo": HIDDEN,
            "restricoes": "TRANSFERENCIA",
            "codigoJudicial": "",
            "dataInclusao": "23/10/2025 14:05:37",
            "numeroProtocolo": "",
            "numeroOficio": "",
            "anoOficio": "",
            "anoProcesso": "",
            "anoProtocolo": "",
            "tipoBloqueio": "",
            "detalheRenajud": "CONSTA DETALHE RENAJUD",
            "constaRenajud": True,
        },
        overrides,
    )


def renajud_body(*restrictions: Any) -> bytes:
    """Return a renajud body whose ``result`` lists the given restrictions."""
    return encode({"status": "SUCCESS", "result": restrictions})


def topics(**overrides: Any) -> Record:
    return _with(
        {
            "documentacao": "✅ Licenciamento em dia.",
            "rouboFurto": "✅ Sem registro de roubo ou furto nos dados recebidos.",
            "leilao": "✅ Sem passagem por leilão nos dados recebidos.",
            "fipe": "✅ Valor de referência: R$ 89.325,00.",
            "chassiMotor": "✅ Sem divergência informada.",
            "restricoes": "⚠️ Consta restrição judicial de transferência.",
            "multas": "⚠️ Uma multa em aberto, de R$ 130,16.",
            "proprietarios": "✅ Proprietário atual: MARIA APARECIDA DA SILVA.",
        },
        overrides,
    )


def report_body(
    summary: str = "Veículo com uma restrição judicial e uma multa em aberto.",
    conclusion: str = "Recomenda-se regularizar as pendências antes da compra.",
    **topic_texts: str,
) -> bytes:
    result = {"resumo": summary, "topicos": topics(**topic_texts), "laudoFinal": conclusion}
    return encode({"status": "DONE", "result": result})


def report_request(plate: str, data: Mapping[str, Any] | Sequence[Any] | None = None) -> bytes:
    """Return the request body of a report; ``data`` may be of a wrong type."""
    return encode({"plate": plate, "data": {} if data is None else data})
