"""Terms of the glossary page. Other pages link to a term by its slug."""

from dataclasses import dataclass

from portal.wording import bare


@dataclass(frozen=True, slots=True)
class Term:
    """A term.

    ``slug`` is ASCII and never changes, because it is part of links. ``stands_for`` is the full
    form of an acronym or short name, or "" for other terms.
    """

    slug: str
    name: str
    stands_for: str
    text: str
    source: str = ""


_TERMS: tuple[Term, ...] = (
    Term(
        "advertencia",
        "Advertência",
        "advertência por escrito",
        "A penalidade que, em regra, substitui a multa leve ou média de quem não teve outra "
        "infração em 12 meses. Não tem valor a pagar nem pontos.",
        "art. 267 do CTB",
    ),
    Term(
        "atpv-e",
        "ATPV-e",
        "Autorização para Transferência de Propriedade do Veículo, eletrônica",
        "O documento que vendedor e comprador assinam na venda. É com ele que se pede o registro "
        "no nome do comprador.",
    ),
    Term(
        "autuacao",
        "Autuação",
        "",
        "O registro da infração pelo órgão de trânsito. A notificação da autuação é a primeira "
        "carta: ainda não é multa e serve para a defesa prévia e para indicar quem dirigia.",
        "arts. 280 a 281-A do CTB",
    ),
    Term(
        "bin",
        "BIN",
        "Base Índice Nacional",
        "O cadastro central do Renavam, onde as restrições da Justiça são gravadas na hora.",
    ),
    Term(
        "circulacao",
        "Restrição de circulação",
        "",
        "A ordem judicial mais severa do Renajud, chamada também de restrição total: em regra, "
        "o veículo não pode ser transferido, licenciado nem usado, e pode ser recolhido.",
    ),
    Term(
        "codigo-da-infracao",
        "Código da infração",
        "",
        "O número que identifica a infração: três algarismos, um dígito verificador e, quando "
        "informado, o desdobramento. Em 745-50, o código é 7455 e o desdobramento, 0.",
    ),
    Term(
        "comunicacao-de-venda",
        "Comunicação de venda",
        "",
        "O aviso do vendedor ao Detran de que vendeu o veículo, em regra em até 60 dias. Sem ele, "
        "o vendedor pode responder pelo que o comprador fizer.",
        "art. 134 do CTB",
    ),
    Term(
        "crv",
        "CRV",
        "Certificado de Registro de Veículo",
        "O documento que prova de quem é o registro do veículo. Hoje costuma ser digital, junto do "
        "CRLV-e; o antigo, em papel, trazia no verso a autorização de transferência.",
        "arts. 121 a 124 do CTB",
    ),
    Term(
        "divida-ativa",
        "Dívida ativa",
        "",
        "A lista de débitos que o poder público já pode cobrar na Justiça. Uma multa ou um IPVA "
        "inscrito nela continua a impedir o licenciamento.",
    ),
    Term(
        "ipva",
        "IPVA",
        "Imposto sobre a Propriedade de Veículos Automotores",
        "O imposto estadual de cada ano. O portal não o consulta: confira na Secretaria da Fazenda "
        "do estado de registro, que fixa valores e calendário.",
    ),
    Term(
        "nic",
        "NIC",
        "multa por Não Identificação do Condutor",
        "A segunda multa de um veículo de empresa que não indica quem dirigia. Em regra, custa o "
        "dobro da primeira e não gera pontos.",
        "art. 257, § 8º, do CTB",
    ),
    Term(
        "recall",
        "Recall",
        "",
        "A chamada do fabricante para corrigir um defeito, sem custo. Em regra, a que não se "
        "atende em um ano passa a constar do documento e impede o licenciamento.",
        "art. 131, §§ 4º e 5º, do CTB",
    ),
    Term(
        "sinistro",
        "Sinistro",
        "",
        "Um acidente, roubo ou enchente que o seguro ou a polícia registrou. O dano de média ou "
        "grande monta fica anotado no registro; o de grande monta, em regra, tira o carro de uso.",
    ),
    Term(
        "vistoria",
        "Vistoria",
        "",
        "O exame do veículo. A de identificação, exigida em regra na transferência, confere "
        "chassi, motor e placas; a cautelar, opcional, procura batidas e adulterações.",
    ),
    Term(
        "crlv",
        "CRLV-e",
        "Certificado de Registro e Licenciamento do Veículo, eletrônico",
        "O documento do veículo. Para emiti-lo a cada ano é preciso pagar tributos, taxas e "
        "multas exigíveis.",
        "art. 131, § 2º, do CTB",
    ),
    Term(
        "ctb",
        "CTB",
        "Código de Trânsito Brasileiro (Lei 9.503/1997)",
        "A lei que define infrações, penalidades e prazos do trânsito.",
    ),
    Term(
        "defesa-previa",
        "Defesa prévia",
        "",
        "A primeira contestação, antes que a multa seja aplicada. O prazo está na notificação "
        "da autuação e não é inferior a 30 dias.",
        "art. 281-A do CTB",
    ),
    Term(
        "desdobramento",
        "Desdobramento",
        "",
        "O último algarismo do código da infração, que separa variantes do mesmo artigo; 0 "
        "significa que não há. Muitas fontes o omitem.",
    ),
    Term(
        "exigivel",
        "Multa exigível",
        "",
        "A que já pode ser cobrada: houve notificação da penalidade, o prazo venceu e nenhum "
        "recurso a suspende. Em regra, só ela impede o licenciamento e a transferência.",
        "arts. 124, VIII, 128 e 131, § 2º, do CTB",
    ),
    Term(
        "fipe",
        "FIPE",
        "Fundação Instituto de Pesquisas Econômicas",
        "A fundação que publica a tabela mensal de preços médios de veículos. É referência de "
        "mercado: estado, quilometragem e região mudam o preço real.",
    ),
    Term(
        "gravame",
        "Gravame",
        "",
        "A anotação de que o veículo garante um financiamento. Não está no Renajud e impede a "
        "transferência até a baixa pelo credor.",
    ),
    Term(
        "jari",
        "JARI",
        "Junta Administrativa de Recursos de Infrações",
        "O grupo que julga o primeiro recurso contra a multa. Da decisão cabe novo recurso, em "
        "regra ao Cetran, em 30 dias.",
        "arts. 282 e 288 do CTB",
    ),
    Term(
        "licenciamento",
        "Restrição de licenciamento",
        "",
        "Ordem judicial que impede emitir o novo CRLV. Circular, só enquanto valer o atual.",
    ),
    Term(
        "penalidade",
        "Penalidade",
        "",
        "A multa em si, aplicada depois da autuação. A notificação da penalidade traz o "
        "vencimento, o desconto e o prazo de recurso.",
        "art. 282 do CTB",
    ),
    Term(
        "penhora",
        "Penhora",
        "",
        "O veículo reservado pela Justiça para pagar uma dívida do dono; pode ir a leilão. A "
        "averbação avisa quem consulta o registro.",
    ),
    Term(
        "pontos",
        "Pontos",
        "",
        "Contam na habilitação de quem dirigia, por 12 meses: leve 3, média 4, grave 5, "
        "gravíssima 7. Não pertencem ao veículo.",
        "arts. 259 e 261 do CTB",
    ),
    Term(
        "prescricao",
        "Prescrição",
        "",
        "A perda do direito de punir ou cobrar pelo tempo, em regra 5 anos. Atos do órgão "
        "reiniciam o prazo; processo parado por 3 anos, ou recurso sem julgamento por 24 meses, "
        "pode prescrever antes. A data é só uma estimativa.",
        "Lei 9.873/1999 e arts. 285, § 6º, 289 e 289-A do CTB",
    ),
    Term(
        "renainf",
        "Renainf",
        "Registro Nacional de Infrações de Trânsito",
        "O sistema nacional que reúne infrações de trânsito. Nem toda fonte traz dele as do "
        "próprio estado do veículo.",
        "Res. CONTRAN 932/2022",
    ),
    Term(
        "renajud",
        "Renajud",
        "Restrições Judiciais sobre Veículos Automotores",
        "O sistema pelo qual juízes gravam ordens no registro do veículo. Só o juízo que "
        "ordenou a restrição pode retirá-la.",
    ),
    Term(
        "renavam",
        "Renavam",
        "Registro Nacional de Veículos Automotores",
        "O cadastro nacional de veículos e o número de onze algarismos que acompanha o veículo "
        "mesmo quando a placa muda.",
    ),
    Term(
        "senatran",
        "Senatran",
        "Secretaria Nacional de Trânsito",
        "O órgão federal que mantém os registros nacionais de trânsito.",
    ),
    Term(
        "sne",
        "SNE",
        "Sistema de Notificação Eletrônica",
        "O dono atual ou o infrator que adere recebe as notificações pelo celular e pode pagar 60% "
        "da multa até o vencimento, se admitir a infração e o órgão participar.",
        "art. 284, § 1º, do CTB",
    ),
    Term(
        "transferencia",
        "Restrição de transferência",
        "",
        "Ordem judicial que impede mudar o dono do veículo. Em regra não impede licenciar nem "
        "circular.",
    ),
)


# In dictionary order. Accents decide only between names with the same letters.
GLOSSARY = tuple(sorted(_TERMS, key=lambda entry: (bare(entry.name), entry.name)))


def term(slug: str) -> Term | None:
    return next((entry for entry in GLOSSARY if entry.slug == slug), None)
