"""Test records in the shapes observed at the source; no value is real personal data."""

import json
from typing import Any

from portal.vehicle.field import HIDDEN_MARKER

OBSERVED_FINE = {
    "cnhCondutor": {"impedimento": "", "pontos": 0, "portaria": "", "registro": HIDDEN_MARKER},
    "cnhInfrator": {"impedimento": "", "pontos": 4, "portaria": "", "registro": HIDDEN_MARKER},
    "pagamento": {"dataPagamento": "", "dataRegistro": "", "ufPagamento": "", "valorPago": ""},
    "autoInfracao": HIDDEN_MARKER,
    "codigoInfracao": "7455",
    "codigoMunicipioInfracao": "7107",
    "codigoOrgaoAutuador": "000100",
    "dataCadastroInfracao": "20/05/2025",
    "dataEmissaoNotificacao": "25/05/2025",
    "dataEmissaoPenalidade": "",
    "dataInfracao": "14/05/2025",
    "descricao": "TRANSITAR EM VELOCIDADE SUPERIOR A MAXIMA PERMITIDA EM ATE 20%",
    "horaInfracao": " 09:30",
    "limitePermitido": "60",
    "localInfracao": "BR 381 KM 490",
    "marcaModelo": "",
    "medicaoConsiderada": "66",
    "medicaoReal": "73",
    "orgaoAutuador": "POLICIA RODOVIARIA FEDERAL",
    "tipo": "",
    "ufOrgaoAutuador": "MG",
    "valor": "130",
}
OBSERVED_RESTRICTION = dict.fromkeys(
    [
        *("placa", "renavam", "marcaModelo", "anoModelo", "anoFabricacao", "codigoJudicial"),
        *("numeroProtocolo", "numeroOficio", "anoOficio", "anoProcesso", "anoProtocolo"),
        "tipoBloqueio",
    ],
    "",
) | {
    "tribunal": "TJMG-TRIBUNAL DE JUSTICA DE MINAS GERAIS",
    "orgaoJudiciario": "04355-VIGESIMA TERCEIRA VARA CIVEL",
    "processo": HIDDEN_MARKER,
    "restricoes": "TRANSFERENCIA",
    "dataInclusao": "23/10/2025 14:05:09",
    "detalheRenajud": "CONSTA DETALHE RENAJUD",
    "constaRenajud": True,
}
OBSERVED_VEHICLE: dict[str, Any] = {
    "marca": "AUDI",
    "descricao": "A3 LM 180CV",
    "placa": "ABC1D23",
    "anoModelo": "2015",
    "anoFabricacao": "2014",
    "combustivel": "Gasolina",
    "chassi": HIDDEN_MARKER,
    "tipoVeiculo": "Automóvel",
    "potencia": "180",
    "nacional": "NAO",
    "cilindradas": "1798",
    "capacidadePassageiro": "5",
    "capacidadeCarga": "",
    "caixaCambio": "",
    "informacoesFipe": [
        {
            "ano": "2015",
            "fipeId": "81906",
            "marca": "Audi",
            "modelo": "A3",
            "versao": "SED.1.8/1.8 AMBIT.16V TB FSI S-TRONIC",
            "combustivel": "Gasolina",
            "valorAtual": "89325.00",
            "historicoPreco": [
                {"mes": "1", "ano": "2017", "valor": "98000", "predicao": False},
                {"mes": "2", "ano": "2017", "valor": "97500", "predicao": True},
            ],
        }
    ],
}
TOPICS = dict.fromkeys(
    [
        *("documentacao", "rouboFurto", "leilao", "fipe", "chassiMotor", "restricoes"),
        *("multas", "proprietarios"),
    ],
    "✅ Nada consta.",
)
OBSERVED_REPORT = {"resumo": "Regular.", "topicos": TOPICS, "laudoFinal": "Pode comprar."}
OBSERVED = {
    "decode": OBSERVED_VEHICLE,
    "renainf": [OBSERVED_FINE],
    "renajud": [OBSERVED_RESTRICTION],
    "report": OBSERVED_REPORT,
}


def body(result: object) -> bytes:
    return json.dumps({"status": "DONE", "result": result}).encode()
