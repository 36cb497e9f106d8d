"""Subjects that no lookup covers, such as theft, and where to check them.

Pages and printed reports always list these subjects. The links lead only to federal websites,
because a state's website covers only vehicles of that state. The portal never fetches the linked
pages.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unverified:
    """A subject that no lookup covers.

    ``key`` is ASCII, for HTML anchors; the other texts are Portuguese. ``link_name`` and ``link``
    are the name and the https URL (under gov.br) of an official service for the subject. If there
    is no such service, ``link_name`` is "" and ``link`` is None.
    """

    key: str
    title: str
    why: str
    where: str
    link_name: str = ""
    link: str | None = None


_SENATRAN = ("Portal de Serviços da Senatran", "https://portalservicos.senatran.serpro.gov.br/")
_TRAFFIC = ("Serviços de trânsito no gov.br", "https://www.gov.br/pt-br/temas/servicos-de-transito")
_RECALL = (
    "Consulta de recall no gov.br",
    "https://www.gov.br/pt-br/servicos/realizar-consulta-sobre-recall-de-veiculos",
)
_CDT = "aplicativo Carteira Digital de Trânsito (Senatran, gov.br), pelo proprietário"

# Sorted by how often a subject prevents a purchase, most often first.
UNVERIFIED: tuple[Unverified, ...] = (
    Unverified(
        "debitos",
        "IPVA e taxa de licenciamento",
        "Tributos e taxas são do estado; sem eles pagos não se licencia (art. 131, § 2º, do CTB) "
        "nem se transfere (arts. 124, VIII, e 128).",
        "Secretaria da Fazenda e Detran do estado de registro.",
        *_TRAFFIC,
    ),
    Unverified(
        "multas-do-estado",
        "Multas do estado e do município de registro",
        "O Renainf deve reunir todas as infrações, mas muitas fontes trazem só as de outros "
        "estados e as federais; as mais recentes podem ainda não constar.",
        f"Detran do estado de registro, órgão de trânsito do município ou {_CDT}.",
        *_SENATRAN,
    ),
    Unverified(
        "roubo-e-furto",
        "Roubo e furto",
        "A ocorrência policial não faz parte destas consultas.",
        "Aplicativo Sinesp Cidadão (gov.br), Detran do estado ou delegacia.",
    ),
    Unverified(
        "gravame",
        "Gravame e financiamento",
        "Alienação fiduciária, arrendamento e reserva de domínio não estão no Renajud.",
        f"Campo de observações do CRLV-e, Detran do estado ou {_CDT}.",
        *_SENATRAN,
    ),
    Unverified(
        "bloqueios-administrativos",
        "Bloqueios do Detran e ordens por ofício",
        "Bloqueios do Detran, da Receita Federal ou por comunicação de venda não estão no Renajud; "
        "uma ordem judicial enviada por ofício ao Detran também pode não estar.",
        "Detran do estado de registro.",
        *_TRAFFIC,
    ),
    Unverified(
        "leilao",
        "Leilão",
        "A passagem por leilão não consta destes registros.",
        "Empresas de histórico veicular, seguradoras e vistoria cautelar.",
    ),
    Unverified(
        "sinistro",
        "Sinistro e dano de monta",
        "Batida, enchente e indenização integral não aparecem nestes registros.",
        "Campo de observações do CRLV-e, vistoria cautelar e empresas de histórico veicular.",
        *_SENATRAN,
    ),
    Unverified(
        "recall",
        "Recall pendente",
        "Chamadas do fabricante não fazem parte destas consultas. A de outubro de 2019 em diante, "
        "não atendida em um ano, impede o licenciamento seguinte (art. 131, §§ 4º e 5º, do CTB).",
        f"Consulta de recall da Senatran, {_CDT} ou concessionária da marca, pelo chassi.",
        *_RECALL,
    ),
    Unverified(
        "hodometro",
        "Quilometragem",
        "Nenhuma destas fontes registra o hodômetro.",
        "Notas de manutenção, laudos anteriores e vistoria cautelar.",
    ),
    Unverified(
        "identificacao",
        "Chassi, motor e placas",
        "Só o exame do veículo mostra adulteração ou clonagem.",
        "Vistoria de identificação em empresa credenciada pelo Detran.",
    ),
)
