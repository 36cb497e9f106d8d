"""The sample plates that the ``/api`` page documents.

The page shows the Portuguese texts of this module unchanged. The sandbox generates an ordinary
vehicle for any other valid plate.
"""

from dataclasses import dataclass
from typing import Literal

from portal.sandbox.profile import UNFIXED, FineOutline, Profile, RestrictionOutline
from portal.sandbox.vehicles import seed_of
from portal.vehicle.plate import Plate, Renavam

Fault = Literal[
    "400", "401", "402", "403", "404", "429", "500",
    "message-in-200", "success-text", "unknown-text", "firewall",
    "slow", "hung", "html", "truncated", "primary-down", "both-down",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExamplePlate:
    """A documented plate and its expected answers.

    ``alone`` and ``portal`` are Portuguese texts that begin with an HTTP status. ``alone``
    describes the answer of the sandbox itself (``make sandbox``) at its primary base address.
    ``portal`` describes the answer of a portal that uses both base addresses of the sandbox as its
    upstream. This portal sends the operator's credential to the upstream, not the visitor's
    (managed mode). If the upstream rejects this credential, the portal therefore answers 503.
    """

    plate: str
    title: str
    alone: str
    portal: str
    fault: Fault | None = None
    profile: Profile = UNFIXED


_SAME = "200, os mesmos bytes"


def _vehicle(plate: str, title: str, alone: str, profile: Profile) -> ExamplePlate:
    return ExamplePlate(plate, title, f"200, {alone}", _SAME, profile=profile)


def _restriction(kind: str, court: str, body: str, age_days: int) -> RestrictionOutline:
    return RestrictionOutline(kind, court, body, age_days)


_TRANSFER = _restriction("TRANSFERENCIA", "TJMG", "04355-VIGESIMA TERCEIRA VARA CIVEL", 374)
_LICENCE = _restriction("LICENCIAMENTO", "TRT2", "00217-SETIMA VARA DO TRABALHO", 221)
_DRIVE = _restriction("CIRCULACAO", "TJSP", "01102-QUARTA VARA CIVEL", 96)
_PLEDGE = _restriction("PENHORA", "TRF4", "07000-SEGUNDA VARA FEDERAL DE EXECUCAO FISCAL", 640)
_BOTH = _restriction("TRANSFERENCIA, LICENCIAMENTO", "TJRJ", "00988-PRIMEIRA VARA DE FAMILIA", 512)

SHOWCASE = Profile(
    registration="I/AUDI A3",
    description="I/AUDI A3 LM 180CV",
    model_year=2015,
    candidates=2,
    months=108,
    load="455",
    gearbox="AUTOMATICA",
    fines=(
        FineOutline("5541", "municipal", "SP", 20, 12, None),
        FineOutline("7455", "federal", "MG", 402, 22, 96),
        FineOutline("7633", "municipal", "MG", 711, 19, 104, is_paid=True),
    ),
    restrictions=(_TRANSFER,),
)

_VEHICLES = (
    _vehicle(
        "ABC1D23",
        "Vitrine: um veículo completo",
        "dois modelos na FIPE, três multas (uma paga, uma em autuação), uma restrição do TJMG",
        SHOWCASE,
    ),
    _vehicle(
        "LMP0A01", "Nada consta", "sem multas e sem restrições", Profile(fines=0, restrictions=())
    ),
    _vehicle("MUL0A45", "Muitas multas", "45 multas", Profile(fines=45, restrictions=())),
    _vehicle(
        "TRA0A01",
        "Restrição de transferência",
        "uma restrição judicial de transferência",
        Profile(restrictions=(_TRANSFER,)),
    ),
    _vehicle(
        "LIC0A01",
        "Restrição de licenciamento",
        "uma restrição judicial de licenciamento",
        Profile(restrictions=(_LICENCE,)),
    ),
    _vehicle(
        "CIR0A01",
        "Restrição de circulação",
        "uma restrição judicial de circulação",
        Profile(restrictions=(_DRIVE,)),
    ),
    _vehicle(
        "PEN0A01",
        "Registro de penhora",
        "uma averbação de penhora",
        Profile(restrictions=(_PLEDGE,)),
    ),
    _vehicle(
        "JUD0A04",
        "Várias restrições judiciais",
        "quatro registros, um deles com dois tipos",
        Profile(restrictions=(_DRIVE, _LICENCE, _BOTH, _PLEDGE)),
    ),
    _vehicle(
        "FIP0A03",
        "Vários modelos na FIPE",
        "três candidatos na tabela FIPE",
        Profile(registration="TOYOTA/COROLLA", model_year=2018, candidates=3, months=84),
    ),
    _vehicle(
        "FIP0A06",
        "Seis modelos na FIPE, 120 meses",
        "seis candidatos, cada um com 120 meses de histórico",
        Profile(registration="VW/GOL", model_year=2014, candidates=6, months=120),
    ),
    _vehicle(
        "MES0A01",
        "Um único mês de histórico",
        "um candidato na FIPE com o preço de um mês só",
        Profile(registration="JEEP/COMPASS", model_year=2023, candidates=1, months=1),
    ),
    _vehicle(
        "FIP0A00", "Sem tabela FIPE", "informacoesFipe vazia", Profile(candidates=0)
    ),
    _vehicle(
        "VAZ0A00",
        "Campos opcionais vazios",
        "todo campo que pode vir vazio vem vazio",
        Profile(fines=2, restrictions=(_TRANSFER,), is_bare=True),
    ),
)  # fmt: skip


def _fault(
    plate: str,
    title: str,
    fault: Fault,
    alone: tuple[int, str],
    portal: tuple[int, str],
) -> ExamplePlate:
    def described(status: int, words: str) -> str:
        return f"{status}, {words}" if words else str(status)

    return ExamplePlate(plate, title, described(*alone), described(*portal), fault)


_FAULTS = (
    _fault("ERR0400", "A fonte recusa a placa", "400",
           (400, "a mensagem do contrato"), (400, "repassada")),
    _fault("ERR0401", "A fonte não reconhece a credencial", "401",
           (401, "“Não autorizado.”"), (503, "o problema é do operador, não de quem consulta")),
    _fault("ERR0402", "Créditos esgotados na fonte", "402",
           (402, "“Saldo insuficiente…”"), (502, "")),
    _fault("ERR0403", "A fonte nega o acesso", "403",
           (403, "“Acesso negado!”"), (503, "o problema é do operador, não de quem consulta")),
    _fault("ERR0404", "Veículo não encontrado", "404",
           (404, "uma mensagem da fonte"), (404, "com mensagem do portal")),
    _fault("ERR0429", "Consultas demais", "429",
           (429, "com Retry-After: 2"), (503, "com Retry-After")),
    _fault("ERR0500", "Erro interno da fonte", "500",
           (500, ""), (502, "depois de tentar o endereço secundário")),
    _fault("ERR0200", "Um erro dentro de um 200", "message-in-200",
           (200, "mas com “message” no lugar do resultado"), (502, "")),
    _fault("TXT0A01", "Texto de sucesso ao lado de uma lista vazia", "success-text",
           (200, "“Nenhum registro encontrado” ao lado de “result” vazio"),
           (200, "os mesmos bytes; nas páginas, nada consta")),
    _fault("TXT0A02", "Texto desconhecido ao lado de uma lista vazia", "unknown-text",
           (200, "um aviso ao lado de “result” vazio"),
           (200, "os mesmos bytes; nas páginas, “não confirmado” com o aviso")),
    _fault("WAF0A03", "Página de um firewall", "firewall",
           (403, "uma página no lugar de JSON"), (502, "a credencial não foi recusada")),
    _fault("LEN0A03", "Fonte lenta", "slow",
           (200, "depois de 3 segundos"), (200, "depois de 3 segundos; da memória, na hora")),
    _fault("PAR0A30", "Fonte parada", "hung",
           (200, "depois de 30 segundos"), (504, "a fonte demorou demais")),
    _fault("HTM0A00", "HTML no lugar de JSON", "html",
           (200, "uma página de manutenção"), (502, "")),
    _fault("COR0A50", "Resposta cortada", "truncated",
           (200, "um JSON que acaba no meio"), (502, "")),
    _fault("FOR0A01", "Endereço principal fora do ar", "primary-down",
           (503, "no endereço principal; 200 em /secundario"), (200, "pelo endereço secundário")),
    _fault("FOR0A02", "Os dois endereços fora do ar", "both-down",
           (503, "nos dois endereços"),
           (503, "com Retry-After; 502 quando a sandbox roda à parte, pois responde 503")),
)  # fmt: skip

EXAMPLE_PLATES = _VEHICLES + _FAULTS

# The plates on the front page of the demonstration, with their captions.
SHOWCASES = (
    ("ABC1D23", "uma ordem da Justiça, uma multa e uma autuação"),
    ("MUL0A45", "45 multas"),
    ("LMP0A01", "sem multas e sem restrições"),
    ("CIR0A01", "uma ordem de circulação"),
    ("FIP0A06", "seis versões na FIPE"),
    ("FOR0A02", "fonte fora do ar"),
)

ORDINARY = ExamplePlate("", "Veículo comum", "200", _SAME)

# The Renavam (registration number) of the vehicle with the plate ABC1D23. Users can try this number
# on API paths that accept a Renavam in place of a plate.
SHOWCASE_RENAVAM = "79831854647"

_BY_SEED = {seed_of(Plate.parse(example.plate)): example for example in EXAMPLE_PLATES}


def example_of(subject: Plate | Renavam) -> ExamplePlate:
    """Return the entry of a documented plate or Renavam, else ORDINARY.

    A plate may be in its old or its new (Mercosul) format.
    """
    if subject.text == SHOWCASE_RENAVAM:
        return EXAMPLE_PLATES[0]
    return _BY_SEED.get(seed_of(subject), ORDINARY)
