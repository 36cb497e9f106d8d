"""The contract's field names in the contract's order, one string for each kind of record."""

DECODE = (
    "marca descricao placa anoModelo anoFabricacao combustivel chassi tipoVeiculo potencia "
    "nacional cilindradas capacidadePassageiro capacidadeCarga caixaCambio informacoesFipe"
)
ENTRY = "ano fipeId marca modelo versao combustivel valorAtual historicoPreco"
MONTH = "mes ano valor predicao"
FINE = (
    "cnhCondutor cnhInfrator pagamento autoInfracao codigoInfracao codigoMunicipioInfracao "
    "codigoOrgaoAutuador dataCadastroInfracao dataEmissaoNotificacao dataEmissaoPenalidade "
    "dataInfracao descricao horaInfracao limitePermitido localInfracao marcaModelo "
    "medicaoConsiderada medicaoReal orgaoAutuador tipo ufOrgaoAutuador valor"
)
LICENCE = "impedimento pontos portaria registro"
PAYMENT = "dataPagamento dataRegistro ufPagamento valorPago"
RESTRICTION = (
    "placa renavam marcaModelo anoModelo anoFabricacao tribunal orgaoJudiciario processo "
    "restricoes codigoJudicial dataInclusao numeroProtocolo numeroOficio anoOficio anoProcesso "
    "anoProtocolo tipoBloqueio detalheRenajud constaRenajud"
)
