"""The words of each finding: a clause that names it, and a clause on what follows."""

from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from msgspec import Struct

from portal.data_files import read_csv
from portal.law.adverse import Subject
from portal.law.assessment import AssessedFine, known_sum, one_per_notice
from portal.law.findings import (
    AdverseData,
    CourtOrders,
    DataConflict,
    DeclarationsUnread,
    DeclaredSomething,
    Finding,
    FinesInStanding,
    OtherRenavam,
    OtherVehicle,
    PaidShort,
    RecordBeforeVehicle,
    ReportAlert,
    SeenDifference,
    Source,
    Tampered,
    TamperedWith,
    UnreadData,
    Warned,
)
from portal.law.orders import AssessedOrder
from portal.law.restriction_kinds import NAMED_ORDERS, NOT_OF_A_JUDGE, Kind
from portal.phrasebook import effects
from portal.phrasebook.at_the_car import ROW_WORDS
from portal.phrasebook.checklist import WORDS as LINE_WORDS
from portal.phrasebook.orders import kinds_words, title
from portal.phrasebook.standings import WORDS
from portal.wording import counted, day, listed, money


class _SubjectWords(Struct, frozen=True):
    """The words of what a text warns of.

    ``named`` completes "aponta", ``confirm`` says what to do before paying, and ``ask`` what the
    seller shall send.
    """

    subject: Subject
    named: str
    confirm: str
    ask: str


_SUBJECTS: Final[Mapping[Subject, _SubjectWords]] = {
    line.subject: line for line in read_csv(__package__, "subjects.csv", _SubjectWords)
}
# In the words of the annex of Res. Contran 985/2022.
_TAMPERED: Final[Mapping[Tampered, str]] = {
    Tampered.SEAL: "lacre de identificação violado ou falsificado",
    Tampered.CHASSIS: "chassi violado ou falsificado",
    Tampered.LABEL: "selo de identificação violado ou falsificado",
    Tampered.PLATE: "placa violada ou falsificada",
    Tampered.ENGINE: "motor com numeração violada ou falsificada",
    Tampered.MARKS: "identificação violada ou falsificada",
    Tampered.NO_PLATE: "falta de placa de identificação",
    Tampered.DOCUMENT: "documento do veículo falsificado ou adulterado",
    Tampered.THEFT: "roubo ou furto do veículo",
}
_COMPARE: Final = "compare o CRLV-e com o veículo antes de pagar"
_CONFIRM: Final = "confirme no Detran e faça uma vistoria antes de pagar"
_INSPECT: Final = "faça a perícia de identificação antes de qualquer pagamento"
_CLONED: Final = "erro de cadastro ou placa clonada? Faça a perícia antes de pagar"
_MOST_NAMED: Final = 2
# Of NAMED_ORDERS, those whose names are masculine.
_MASCULINE: Final[frozenset[Kind]] = frozenset(
    (
        *("arresto", "sequestro", "perdimento", "leilao_judicial", "apreendido"),
        "bloqueio_administrativo",
    )
)
_WHERE: Final[Mapping[Source, str]] = {
    "decode": "Os dados do veículo trazem",
    "renainf": "A resposta sobre multas traz",
    "renajud": "A resposta do Renajud traz",
    "report": "A análise escrita traz",
}


def clause(finding: Finding) -> str:
    """Name a finding: ``Multa exigível de 01/05/2026, R$ 130,16``."""
    match finding:
        case TamperedWith():
            doubt = " (código e descrição divergem)" if finding.diverges else ""
            return f"Já foi autuado por {_TAMPERED[finding.what]}{doubt}"
        case OtherVehicle():
            return _other_vehicle(finding)
        case OtherRenavam():
            return "Os registros trazem Renavam diferentes"
        case RecordBeforeVehicle():
            return _before_vehicle(finding)
        case AdverseData():
            return f"{_WHERE[finding.source]} “{finding.words}”"
        case UnreadData():
            return _unread(finding)
        case DataConflict():
            return f"Os dados do veículo se contradizem ({_conflict(finding)})"
        case CourtOrders():
            return _orders(finding)
        case FinesInStanding():
            return _fines(finding)
        case PaidShort():
            return _paid_short(finding)
        case ReportAlert():
            return f"A análise escrita aponta {alert_words(finding)}"
        case DeclaredSomething() | SeenDifference() | DeclarationsUnread():
            return _declared(finding)
    assert_never(finding)


def _declared(finding: DeclaredSomething | SeenDifference | DeclarationsUnread) -> str:
    if isinstance(finding, DeclarationsUnread):
        return "As linhas que você declarou não puderam ser lidas agora"
    if isinstance(finding, SeenDifference):
        return f"Visto no carro por {finding.by}: {declared_words(finding)}"
    return f"Declarado por {finding.by}: {declared_words(finding)}"


def consequence(finding: Finding) -> str:
    """Say in a clause what follows from a finding."""
    match finding:
        case TamperedWith():
            return _INSPECT
        case OtherVehicle() | OtherRenavam() | RecordBeforeVehicle():
            return _CLONED
        case AdverseData():
            return _SUBJECTS[finding.subject].confirm
        case UnreadData():
            return _CONFIRM
        case DataConflict():
            return _COMPARE
        case CourtOrders():
            effect = finding.orders[0].effect
            doubt = f"{effects.doubt(effect)}; " if effect.doubt else ""
            return f"{doubt}{effects.sentence(effect)}"
        case FinesInStanding():
            return _of_fines(finding)
        case PaidShort():
            verb = "pode" if len(finding.fines) == 1 else "podem"
            return f"{verb} faltar {money(finding.missing)}; confirme com o órgão autuador"
        case ReportAlert():
            return f"este portal não conferiu; {_SUBJECTS[finding.subject].confirm}"
        case DeclaredSomething():
            return "este portal não conferiu; resolva antes de pagar"
        case SeenDifference():
            return "não pague antes de explicada a diferença"
        case DeclarationsUnread():
            return "abra esta página de novo antes de decidir"
    assert_never(finding)


def sentence(finding: Finding) -> str:
    """Return a finding and what follows from it, as a sentence."""
    return f"{clause(finding)}: {consequence(finding)}."


def asked_of_seller(finding: Finding) -> str:
    """Say what the seller shall send because of a finding, or return ""."""
    match finding:
        case AdverseData() | ReportAlert() | DeclaredSomething():
            return _SUBJECTS[finding.subject].ask
        case DeclarationsUnread():
            return ""
    return _SUBJECTS[Subject.CHASSIS].ask


def paid_short_brief() -> str:
    """Name in a few words what a discount that was paid late leaves open."""
    return "Pode faltar parte de multa paga"


def paid_short_note(finding: PaidShort) -> str:
    """Say beside a sum of open fines what may be missing of paid ones."""
    return f"pode faltar {money(finding.missing)} de multa paga com desconto"


def subject_words(subject: Subject) -> str:
    """Name what a text warns of: ``roubo ou furto``."""
    return _SUBJECTS[subject].named


def alert_words(alert: ReportAlert) -> str:
    """Name what a report warns of: ``débitos de R$ 8.432,10``."""
    named = _SUBJECTS[alert.subject].named
    if alert.subject is Subject.OTHER and alert.label:
        named = f"um ponto de atenção em “{alert.label}”"
    if alert.kinds and (kinds := kinds_words(alert.kinds)) != named:
        named = f"{named} ({kinds})"
    return f"{named}, {money(alert.amount)}" if alert.amount else named


def list_words(finding: Finding) -> str:
    """Name a finding in a cell of a list."""
    return alert_words(finding) if isinstance(finding, ReportAlert) else clause(finding)


def alert_brief(alert: ReportAlert) -> str:
    """Name what a report warns of in a list: ``Análise aponta roubo ou furto``."""
    return f"Análise aponta {_SUBJECTS[alert.subject].named}"


def alert_fact(alert: ReportAlert) -> str:
    """Say beside a line of the checklist what the report warns of."""
    return f"A análise escrita aponta {alert_words(alert)}; este portal não conferiu."


def declared_words(finding: DeclaredSomething | SeenDifference) -> str:
    """Name what a person has found: ``IPVA em aberto, R$ 1.200,00 (2 parcelas)``.

    Or what a person has seen: ``câmbio difere do registro (manual)``.
    """
    if isinstance(finding, SeenDifference):
        what = f" ({finding.what})" if finding.what else ""
        return f"{_row_name(finding)} difere do registro{what}"
    amount = f", {money(finding.amount)}" if finding.amount is not None else ""
    what = f" ({finding.what})" if finding.what else ""
    return f"{LINE_WORDS[finding.line].something}{amount}{what}"


def declared_brief(finding: DeclaredSomething) -> str:
    """Name what a person has found in a list: ``Declarado: roubo ou furto``."""
    return f"Declarado: {LINE_WORDS[finding.line].something}"


def warning_brief(finding: Warned) -> str:
    """Name in a list what this portal has not checked."""
    if isinstance(finding, DeclaredSomething):
        return declared_brief(finding)
    if isinstance(finding, SeenDifference):
        return f"Visto no carro: {_row_name(finding)} difere"
    return alert_brief(finding)


def _row_name(finding: SeenDifference) -> str:
    return ROW_WORDS[finding.row].named


def sum_in_words(fines: Sequence[AssessedFine]) -> str:
    """Return the sum of fines in words: ``ao menos R$ 130,16``."""
    amounts = [fine.amount.value for fine in one_per_notice(fines)]
    known = known_sum(amounts)
    if known is None:
        return "valor não informado"
    return f"{'ao menos ' if None in amounts else ''}{money(known)}"


def _unread(finding: UnreadData) -> str:
    where = _WHERE[finding.source]
    if finding.told:
        return f"Parte dos dados do veículo não pôde ser lida na fonte: “{finding.told}”"
    if not finding.withheld:
        return f"{where} mais texto do que este portal lê"
    named = listed([f"“{name}”" for name in finding.withheld])
    return f"{where} {named} sem valor (oculto ou indisponível na fonte)"


def _other_vehicle(finding: OtherVehicle) -> str:
    shown = finding.named
    more = f" e mais {len(shown) - _MOST_NAMED}" if len(shown) > _MOST_NAMED else ""
    what = f"{listed(shown[:_MOST_NAMED], ', ' if more else ' e ')}{more}"
    is_one = finding.records == 1
    many = "Um registro descreve" if is_one else f"{finding.records} registros descrevem"
    return f"{many} outro veículo ({what})"


def _before_vehicle(finding: RecordBeforeVehicle) -> str:
    first, built = day(finding.on), finding.built_year
    if finding.records == 1:
        return f"Um registro é de {first}, de antes do veículo ({built})"
    return f"{finding.records} registros são de antes do veículo ({built}), um deles de {first}"


def _conflict(finding: DataConflict) -> str:
    match finding.code:
        case "year_in_future":
            return f"ano no futuro, {finding.years[0]}"
        case "years_conflict":
            built, model = finding.years
            return f"fabricação em {built}, ano-modelo {model}"
        case "origin_conflict":
            return "nacional, com prefixo de importado"
    assert_never(finding.code)


def _orders(finding: CourtOrders) -> str:
    group = finding.orders
    effect, first = group[0].effect, group[0]
    name = f"{len(group)} restrições judiciais" if len(group) > 1 else "Restrição judicial"
    if set(NOT_OF_A_JUDGE) & {*effect.kinds}:
        name = f"{len(group)} restrições" if len(group) > 1 else "Restrição"
    is_named = len(group) == len(effect.kinds) == 1 and not effect.unrecognised
    if is_named and effect.kinds[0] in ("penhora", *NAMED_ORDERS):
        name, kind = title(first), ""
    else:
        kind = f" de {kinds_words(effect.kinds)}" if effect.kinds else ""
    if not first.is_of_judge:
        kind = ""
        many = f"{len(group)} registros de {kinds_words(effect.kinds)}"
        name = many if len(group) > 1 else title(first)
    as_sent = f" “{effect.unrecognised}”" if effect.unrecognised else ""
    return f"{name}{kind}{as_sent}{_origin(group)}"


def _origin(orders: Sequence[AssessedOrder]) -> str:
    courts = dict.fromkeys(order.short_court for order in orders)
    included = included_on(orders[0]) if len(orders) == 1 else ""
    known = ", ".join(filter(None, (listed(list(filter(None, courts))), included)))
    return f" ({known})" if known else ""


def included_on(order: AssessedOrder) -> str:
    """Say when an order was included, in the gender of its title: ``incluído em 23/10/2025``."""
    included_at = order.record.included_at
    if included_at is None:
        return ""
    return f"{'incluído' if _is_masculine(order) else 'incluída'} em {day(included_at.date())}"


def _is_masculine(order: AssessedOrder) -> bool:
    """Return whether an order's title is masculine: "Arresto", "Registro sem restrição"."""
    effect = order.effect
    if not effect.in_force:
        return True
    is_named = len(effect.kinds) == 1 and effect.kinds[0] in NAMED_ORDERS
    has_kind = is_named or not order.is_of_judge
    return not effect.unrecognised and has_kind and effect.kinds[0] in _MASCULINE


def _fines(finding: FinesInStanding) -> str:
    words, fines = WORDS[finding.standing], finding.fines
    committed_on = fines[0].record.committed_on
    if len(fines) == 1:
        name = words.finding + (f" de {day(committed_on)}" if committed_on else "")
    else:
        name = f"{len(fines)} {words.findings}"
    return f"{name}, {sum_in_words(fines)}"


def _paid_short(finding: PaidShort) -> str:
    when = "com desconto, provavelmente depois do vencimento"
    if len(finding.fines) > 1:
        return f"{len(finding.fines)} multas pagas {when}"
    committed_on = finding.fines[0].record.committed_on
    on = f" de {day(committed_on)}" if committed_on else ""
    return f"Multa{on} paga {when}"


def _of_fines(finding: FinesInStanding) -> str:
    is_one = len(finding.fines) == 1
    words = WORDS[finding.standing]
    follows = words.consequence if is_one else words.consequences
    if quoted := tuple(dict.fromkeys(filter(None, (f.status.quoted for f in finding.fines)))):
        follows = (
            f"a fonte registra {listed([f'“{text}”' for text in quoted[:_MOST_NAMED]])}; {follows}"
        )
    if not finding.lapsed:
        return follows
    how_many = "pode" if is_one else counted(finding.lapsed, "pode", "podem")
    return f"{follows}; {how_many} ter prescrito"
