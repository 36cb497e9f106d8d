"""Subjects that no lookup covers; always listed, on screen and on paper.

Services are named without addresses, because addresses change and a wrong one misleads.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unverified:
    """One subject. ``key`` is ASCII, for anchors; the other texts are Portuguese."""

    key: str
    title: str
    why: str
    where: str


_CDT = "aplicativo Carteira Digital de Trânsito (Senatran, gov.br), pelo proprietário"

# In the order in which they most often spoil a purchase.
UNVERIFIED: tuple[Unverified, ...] = (
    Unverified(
        "debitos",
        "IPVA e taxa de licenciamento",
        "Tributos e taxas são do estado; sem eles pagos não se licencia (art. 131, § 2º, do CTB) "
        "nem se transfere (arts. 124, VIII, e 128).",
        "Secretaria da Fazenda e Detran do estado de registro.",
    ),
    Unverified(
        "multas-do-estado",
        "Multas do próprio estado",
        "O Renainf deve reunir todas as infrações, mas muitas fontes trazem só as de outros "
        "estados e as federais; as mais recentes podem ainda não constar.",
        f"Detran do estado de registro, órgão de trânsito do município ou {_CDT}.",
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
    ),
    Unverified(
        "bloqueios-administrativos",
        "Bloqueios administrativos",
        "Bloqueios do Detran, da Receita Federal ou por comunicação de venda não estão no Renajud.",
        "Detran do estado de registro.",
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
    ),
    Unverified(
        "recall",
        "Recall pendente",
        "Chamadas do fabricante não fazem parte destas consultas. Em regra, a que não se atende em "
        "um ano impede o licenciamento (art. 131, §§ 4º e 5º, do CTB).",
        f"Consulta de recall da Senatran, {_CDT} ou concessionária da marca, pelo chassi.",
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
