"""The steps that a buyer can take next, selected by what the records show.

The source is the CTB (the traffic code): § 1º of art. 123; item VIII of art. 124; §§ 2º, 4º and 5º
of art. 131; and arts. 128, 134, 233 and 284. The authors did not read the law itself for three
rules, which are therefore worded cautiously. The first rule is the notice of sale within 60 days
(art. 134, as changed by Lei 14.071/2020). The second is the recall that blocks licensing (§§ 4º and
5º of art. 131). The third is the effect on a buyer of a penhora (a court reserves the vehicle for a
debt). No text describes the procedure of a single state, because each state's Detran (traffic
department) has procedures of its own.
"""

from dataclasses import dataclass
from typing import Final, Literal

# The finding that makes a step apply.
Situation = Literal[
    "always",
    "court_order",
    "penhora",
    "free_of_court_orders",
    "enforceable_fine",
    "probably_due_fine",
    "open_fine",
    "notice_without_fine",
    "fine_of_unclear_payment",
    "fines_unavailable",
    "restrictions_unavailable",
    "vehicle_unavailable",
    "other_vehicle",
]
# The section of the page that lists a step. PHASE_TITLES has the headings of the sections.
Phase = Literal["before", "fines", "after"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``text`` has one to three Portuguese sentences.

    ``source`` is a law, or "" if the step is mere advice. UNVERIFIED lists the subjects that no
    lookup covers, such as the road tax. If the step tells the buyer to check such a subject,
    ``checks`` is the subject's key in UNVERIFIED, else "".
    """

    phase: Phase
    situation: Situation
    title: str
    text: str
    source: str = ""
    checks: str = ""


PHASE_TITLES: Final[dict[Phase, str]] = {
    "before": "Antes de pagar pelo veículo",
    "fines": "Pagar ou contestar as multas",
    "after": "Depois de comprar",
}
# The page shows this caution once, so that the steps need not repeat it.
HEDGE: Final = (
    "Orientações gerais, a partir dos registros e da lei; cada Detran tem o seu procedimento. "
    "Confirme com ele ou com um profissional."
)

STEPS: Final[tuple[Step, ...]] = (
    Step(
        "before",
        "restrictions_unavailable",
        "Consulte de novo as restrições judiciais",
        "Sem essa resposta não se sabe se há ordem de um juízo sobre o veículo.",
    ),
    Step(
        "before",
        "fines_unavailable",
        "Consulte de novo as multas",
        "Sem essa resposta não se sabe quanto o veículo deve.",
    ),
    Step(
        "before",
        "vehicle_unavailable",
        "Compare o documento com o veículo",
        "Os dados do veículo não vieram: confira no CRLV-e a marca, o modelo, o ano, a placa e o "
        "chassi.",
    ),
    Step(
        "before",
        "court_order",
        "Não pague antes da baixa da restrição judicial",
        "Peça ao vendedor o número do processo e a certidão de objeto e pé, e confira no site do "
        "tribunal se a baixa foi deferida e cumprida: pedido não basta. Só a Justiça a retira: o "
        "juízo que a ordenou ou um tribunal acima dele. Consulte de novo no dia do pagamento.",
    ),
    Step(
        "before",
        "penhora",
        "Penhora: o veículo pode ser levado a leilão",
        "A penhora está registrada: quem compra não poderá, em regra, alegar que não sabia, e a "
        "venda não vale contra o credor. Em dívida tributária inscrita, nem a boa-fé protege o "
        "comprador.",
        "arts. 792 e 844 do CPC; Súmula 375 do STJ; art. 185 do CTN",
    ),
    Step(
        "before",
        "other_vehicle",
        "Esclareça o registro de outro veículo",
        "Um registro descreve outro veículo: pode ser erro de cadastro ou placa clonada. Faça a "
        "vistoria de identificação antes de negociar.",
    ),
    Step(
        "before",
        "enforceable_fine",
        "Combine por escrito quem paga as multas",
        "O licenciamento e a transferência esperam o pagamento. Desconte do preço ou exija o "
        "comprovante de quitação antes de pagar.",
        "arts. 124, VIII, 128 e 131, § 2º, do CTB",
    ),
    Step(
        "before",
        "probably_due_fine",
        "Confira o vencimento na notificação",
        "Há multa de vencimento provável, e a data não está no registro. Vencida, ela impede "
        "licenciar e transferir até ser paga: combine por escrito quem a paga.",
        "arts. 124, VIII, 128 e 131, § 2º, do CTB",
    ),
    Step(
        "before",
        "open_fine",
        "As multas acompanham o veículo",
        "Os débitos seguem o veículo, seja quem for o responsável pela infração; os pontos, não: "
        "são de quem dirigia ou, se for o caso, do proprietário da época.",
        "arts. 128 e 131, § 2º, do CTB",
    ),
    Step(
        "before",
        "notice_without_fine",
        "Reserve um valor para as autuações",
        "Há autuação que ainda pode virar multa depois da venda: retenha o valor ou combine por "
        "escrito quem responde por ela.",
    ),
    Step(
        "before",
        "fine_of_unclear_payment",
        "Peça o comprovante da multa de situação incerta",
        "O registro não permite dizer se ela ainda é devida: só o órgão autuador confirma.",
    ),
    Step(
        "before",
        "always",
        "Confira o financiamento",
        "Veja no CRLV-e e no Detran se há gravame: com ele, a transferência espera a baixa pelo "
        "credor.",
        checks="gravame",
    ),
    Step(
        "before",
        "always",
        "Confira IPVA e licenciamento",
        "Sem tributos e taxas pagos não se licencia nem se transfere. Cada estado fixa o seu "
        "calendário, e a placa não diz em que estado o veículo está registrado.",
        "arts. 124, VIII, e 131, § 2º, do CTB",
        checks="debitos",
    ),
    Step(
        "before",
        "always",
        "Confira roubo e furto",
        "Use a consulta oficial e desconfie de pressa: uma ocorrência recente pode não constar.",
        checks="roubo-e-furto",
    ),
    Step(
        "before",
        "always",
        "Veja se há recall pendente",
        "O de campanha a partir de 01/10/2019, não atendido em um ano, é anotado no CRLV e impede "
        "o licenciamento seguinte. O mais antigo não impede, mas o defeito continua.",
        "art. 131, §§ 4º e 5º, do CTB",
        checks="recall",
    ),
    Step(
        "before",
        "always",
        "Faça a vistoria",
        "Chassi, motor e vidros se conferem no próprio veículo; a vistoria da transferência segue "
        "as regras do Detran.",
        checks="identificacao",
    ),
    Step(
        "fines",
        "open_fine",
        "Onde pagar",
        "Com o órgão que autuou ou, pelo proprietário e se o órgão participar, no aplicativo da "
        "Carteira Digital de Trânsito. O boleto e o vencimento estão na notificação da penalidade. "
        "Os valores aqui não incluem os juros das vencidas (art. 284, § 4º): peça o valor "
        "atualizado.",
        "art. 284 do CTB",
    ),
    Step(
        "fines",
        "open_fine",
        "Quem tem 40% de desconto",
        "Só o proprietário ou o infrator que já tinha aderido ao SNE, reconhece a infração e não "
        "se defende nem recorre, e só até o vencimento. Quem ainda vai comprar não pode contar com "
        "ele.",
        "art. 284, § 1º, do CTB",
    ),
    Step(
        "fines",
        "open_fine",
        "Como contestar",
        "Defesa prévia ao órgão autuador; depois da penalidade, recurso à JARI; da decisão dela, "
        "ao Cetran ou, em multa de órgão federal como a PRF, ao colegiado especial. Os prazos "
        "estão nas notificações, e recurso fora do prazo não suspende a cobrança. Só o notificado "
        "contesta; quem ainda vai comprar, não.",
        "arts. 281-A, 285, 288 e 289 do CTB",
    ),
    Step(
        "before",
        "always",
        "Pague só contra a autorização assinada",
        "Comprador e vendedor a assinam no ato do pagamento: a ATPV-e, em cartório ou, onde o "
        "Detran participa, no aplicativo da Carteira Digital de Trânsito; se o CRV ainda é o de "
        "papel, de antes de 2021, o verso dele, com firma reconhecida.",
    ),
    Step(
        "after",
        "court_order",
        "Não assine nem date a transferência antes da baixa",
        "Com a restrição judicial o Detran não transfere, e os 30 dias para transferir correm "
        "assim mesmo: depois deles há multa e o veículo pode ser removido.",
        "arts. 123, § 1º, e 233 do CTB",
    ),
    Step(
        "after",
        "free_of_court_orders",
        "Transfira em 30 dias",
        "O prazo para registrar o veículo em seu nome conta da compra. Passado ele, há multa média "
        "(art. 233) e o veículo pode ser removido.",
        "arts. 123, § 1º, e 233 do CTB",
    ),
    Step(
        "after",
        "always",
        "Cobre do vendedor a comunicação de venda",
        "Convém que ele a faça logo. O prazo dele é de 60 dias depois de vencidos os 30 do "
        "comprador; enquanto não comunica, pode responder pelas penalidades junto com o comprador.",
        "art. 134 do CTB",
    ),
)


def steps_for(situations: frozenset[Situation]) -> tuple[Step, ...]:
    """Return the steps for ``situations`` and the steps that always apply."""
    return tuple(
        step for step in STEPS if step.situation == "always" or step.situation in situations
    )
