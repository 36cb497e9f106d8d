"""The portal's JSON as types. ``openapi.yaml`` of the portal describes each member.

A portal may add members, so these types never say that others are absent.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

LookupName = Literal["decode", "renainf", "renajud"]
LookupState = Literal["fresh", "stale", "unavailable", "unasked"]
Part = Literal["decode", "fines", "restrictions"]
Level = Literal["blocked", "caution", "clear", "limited", "incomplete"]
Mark = Literal["no", "careful", "yes", "unknown"]
Confidence = Literal["likeliest", "tied", "possible", "other_vehicle"]
BatchState = Literal["draft", "running", "paused", "done", "cancelled"]
RowState = Literal["done", "failed", "pending"]


# The answers of the contract's paths, as the source sends them


class Price(TypedDict, total=False):
    mes: str
    ano: str
    valor: str
    predicao: bool


class FipeEntry(TypedDict, total=False):
    ano: str
    fipeId: str
    marca: str
    modelo: str
    versao: str
    combustivel: str
    valorAtual: str
    historicoPreco: list[Price]


class Vehicle(TypedDict, total=False):
    marca: str
    descricao: str
    placa: str
    anoModelo: str
    anoFabricacao: str
    combustivel: str
    chassi: str
    tipoVeiculo: str
    potencia: str
    nacional: str
    cilindradas: str
    capacidadePassageiro: str
    capacidadeCarga: str
    caixaCambio: str
    informacoesFipe: list[FipeEntry]


class DecodeAnswer(TypedDict):
    status: Literal["DONE"]
    result: Vehicle


class Licence(TypedDict, total=False):
    impedimento: str
    pontos: float
    portaria: str
    registro: str


class Payment(TypedDict, total=False):
    dataPagamento: str
    dataRegistro: str
    ufPagamento: str
    valorPago: str


class Fine(TypedDict, total=False):
    cnhCondutor: Licence
    cnhInfrator: Licence
    pagamento: Payment
    autoInfracao: str
    codigoInfracao: str
    codigoMunicipioInfracao: str
    codigoOrgaoAutuador: str
    dataCadastroInfracao: str
    dataEmissaoNotificacao: str
    dataEmissaoPenalidade: str
    dataInfracao: str
    descricao: str
    horaInfracao: str
    limitePermitido: str
    localInfracao: str
    marcaModelo: str
    medicaoConsiderada: str
    medicaoReal: str
    orgaoAutuador: str
    tipo: str
    ufOrgaoAutuador: str
    valor: str


class FinesAnswer(TypedDict):
    status: Literal["SUCCESS"]
    result: list[Fine]


class Restriction(TypedDict, total=False):
    placa: str
    renavam: str
    marcaModelo: str
    anoModelo: str
    anoFabricacao: str
    tribunal: str
    orgaoJudiciario: str
    processo: str
    restricoes: str
    codigoJudicial: str
    dataInclusao: str
    numeroProtocolo: str
    numeroOficio: str
    anoOficio: str
    anoProcesso: str
    anoProtocolo: str
    tipoBloqueio: str
    detalheRenajud: str
    constaRenajud: bool


class RestrictionsAnswer(TypedDict):
    status: Literal["SUCCESS"]
    result: list[Restriction]


class Topics(TypedDict, total=False):
    documentacao: str
    rouboFurto: str
    leilao: str
    fipe: str
    chassiMotor: str
    restricoes: str
    multas: str
    proprietarios: str


class Report(TypedDict, total=False):
    resumo: str
    topicos: Topics
    laudoFinal: str


class ReportAnswer(TypedDict):
    status: Literal["DONE"]
    result: Report


# The portal's own answers


class ExplainedReason(TypedDict):
    sentence: str
    code: str
    source: Literal["decode", "renainf", "renajud", "report", "declared"]
    about: Literal["vehicle", "order", "fine", "report", "declared"]
    record: str
    mark: Mark


class PriceSummary(TypedDict):
    lowest: float | None
    highest: float | None
    versions: int
    ceiling_base: float | None
    why_none: str | None


class ReportAlert(TypedDict):
    topic: str | None
    subject: Literal[
        "theft",
        "seizure",
        "scrap",
        "chassis",
        "court",
        "lien",
        "block",
        "sale_notice",
        "damage",
        "auction",
        "debts",
        "fines",
        "mileage",
        "recall",
        "advice",
        "other",
    ]
    sentence: str


class ExplainedReport(TypedDict):
    state: Literal["fresh", "stale", "unavailable", "unasked"]
    alerts: list[ReportAlert]


class ExplainedVerdict(TypedDict):
    level: Level
    headline: str
    notices: list[str]
    reasons: list[ExplainedReason]
    missing: list[Part]
    not_asked: list[Part]
    missing_lookups: list[LookupName]
    not_asked_lookups: list[LookupName]


class ExplainedAct(TypedDict):
    act: Literal["transfer", "licence", "drive", "removal"]
    mark: Mark
    answer: str
    explanation: str
    records: list[str]


class ExplainedAttribute(TypedDict):
    label: str
    value: str | None
    hidden: bool


class ExplainedVehicle(TypedDict):
    name: str | None
    make: str | None
    model: str | None
    summary: str | None
    attributes: list[ExplainedAttribute]


class MonthlyPrice(TypedDict):
    month: str
    value: float
    predicted: bool


class _Price(TypedDict):
    number: int
    code: str | None
    code_is_verified: bool | None
    description: str | None
    version: str | None
    model_year: int | None
    fuel: str | None
    price: float | None
    confidence: Confidence
    reason: str | None
    change_12_months: float | None
    change_yearly: float | None
    change_since_peak: float | None
    change_predicted: float | None
    doubt: str | None


class ExplainedPrice(_Price):
    history: list[MonthlyPrice]


class PriceRow(_Price):
    plate: str
    month: str | None
    value: float | None
    predicted: bool | None
    fetched_at: str


class MissingRow(TypedDict):
    """A vehicle without a readable answer, among the records of a batch: its records are unknown.

    A vehicle without any row has an answer, and no records.
    """

    plate: str
    missing: str
    cause: str | None


class BatchPriceRow(PriceRow):
    missing: None
    cause: None


class FineTotals(TypedDict):
    open: int
    paid: int
    called_off: int
    called_off_amount: float
    enforceable: int
    amount: float
    enforceable_amount: float
    without_amount: int
    points: int
    points_to_come: int
    points_unknown: int


class ExplainedPlace(TypedDict):
    year: int | None
    state: str
    town: str
    count: int


class ExplainedDeadline(TypedDict):
    name: str
    state: str
    days_used: int | None
    limit_days: int | None
    ends_on: str | None
    article: str
    sentence: str


class _Fine(TypedDict):
    number: int
    record: str
    code: str | None
    description: str | None
    article: str | None
    gravity: str
    points: int | None
    points_counted: int | None
    amount: float | None
    amount_origin: str
    amount_at_80: float | None
    amount_at_60: float | None
    has_discount: bool
    standing: str
    standing_words: str
    standing_note: str
    open: bool
    committed_on: str | None
    committed_at: str | None
    notified_on: str | None
    penalty_on: str | None
    paid_on: str | None
    authority: str | None
    authority_state: str | None
    place: str | None
    amount_paid: float | None
    discount_note: str
    authority_code: str | None
    authority_name: str | None
    authority_level: str | None
    appeal_body: str | None
    town: str | None
    town_state: str | None
    code_conflict: str | None
    conflict: str | None
    other_vehicle: bool
    amount_with_interest: float | None
    interest_is_minimum: bool | None
    interest_note: str | None
    authority_site: str | None


class ExplainedFine(_Fine):
    deadlines: list[ExplainedDeadline]


class FineRow(_Fine):
    plate: str
    fetched_at: str


class BatchFineRow(FineRow):
    missing: None
    cause: None


class ExplainedFines(TypedDict):
    totals: FineTotals
    places: list[ExplainedPlace]
    whom_to_ask: str | None
    records: list[ExplainedFine]


class ExplainedEffect(TypedDict):
    mark: Mark
    phrase: str
    reason: str
    source: str
    confidence: Literal["verified", "reported", "memory"]


class _Restriction(TypedDict):
    number: int
    record: str
    title: str
    in_force: bool
    kinds_text: str | None
    block_type: str | None
    judicial_code: str | None
    detail: str | None
    doubt: str | None
    court: str | None
    court_body: str | None
    case: str | None
    included_at: str | None
    other_vehicle: bool
    conflict: str | None


class ExplainedRestriction(_Restriction):
    kinds: list[str]
    transfer: ExplainedEffect
    licence: ExplainedEffect
    drive: ExplainedEffect
    removal: ExplainedEffect


class RestrictionRow(_Restriction):
    plate: str
    kinds: str
    transfer_mark: Mark
    transfer_reason: str
    licence_mark: Mark
    licence_reason: str
    drive_mark: Mark
    drive_reason: str
    removal_mark: Mark
    removal_reason: str
    fetched_at: str


class BatchRestrictionRow(RestrictionRow):
    missing: None
    cause: None


class ExplainedRestrictions(TypedDict):
    in_force: int
    who_lifts: str
    records: list[ExplainedRestriction]


class NotVerified(TypedDict):
    key: str
    title: str
    why: str
    where: str
    link: str | None
    alert: str | None


LineState = Literal["unchecked", "nothing", "something"]


class DeclaredLine(TypedDict):
    line: str
    title: str
    state: LineState
    by: Literal["record", "declared"] | None
    contradicted: bool
    amount: float | None
    what: str | None
    source: str | None
    on: str | None
    who: str | None
    recorded_at: str | None
    warned_by_report: bool


class SightChange(TypedDict):
    code: str
    count: int | None
    amount: float | None
    before: str | None
    after: str | None
    sentence: str


class SinceLastSeen(TypedDict):
    seen_at: str
    changes: list[SightChange]
    same: list[str]
    not_compared: list[str]
    nothing_changed: bool


class SeenRow(TypedDict):
    row: str
    state: Literal["match", "differs"]
    what: str | None
    on: str
    who: str


class DeclaredLines(TypedDict):
    lines: list[DeclaredLine]
    open: int
    readable: bool
    seen: list[SeenRow]


class ExplainedLookup(TypedDict):
    state: LookupState
    fetched_at: str | None
    age_s: int | None
    source: str | None
    price: float | None
    cause: str | None
    reason: str | None


class Explained(TypedDict):
    version: Literal[1]
    plate: str
    assessed_on: str
    verdict: ExplainedVerdict
    acts: list[ExplainedAct]
    vehicle: ExplainedVehicle | None
    prices: list[ExplainedPrice] | None
    price_summary: PriceSummary | None
    fines: ExplainedFines | None
    restrictions: ExplainedRestrictions | None
    not_verified: list[NotVerified]
    declared: DeclaredLines
    since_last_seen: SinceLastSeen | None
    report: ExplainedReport
    lookups: dict[LookupName, ExplainedLookup]


class BatchCounts(TypedDict):
    total: int
    stored: int
    done: int
    failed: int
    pending: int


class BatchCost(TypedDict):
    spent: float | None
    at_most: float | None


class CallsLeft(TypedDict):
    day: int | None
    token: int | None


class WrongEntry(TypedDict):
    index: int
    value: str
    message: str


class Batch(TypedDict):
    id: str
    state: BatchState
    reason: str | None
    resumes_at: str | None
    ask: list[LookupName]
    counts: BatchCounts
    cost: BatchCost
    repeated: int
    wrong: list[WrongEntry]
    more_wrong: int
    created_at: str
    started_at: str | None
    ended_at: str | None
    expires_at: str
    calls_left: CallsLeft


class BatchList(TypedDict):
    batches: list[Batch]
    next: str | None


class BatchRow(TypedDict):
    plate: str
    state: RowState
    verdict: Level | None
    headline: str | None
    vehicle: str | None
    year: str | None
    fines_open: int | None
    fines_amount: float | None
    fines_enforceable: int | None
    restrictions: int | None
    fipe_code: str | None
    fipe_low: float | None
    fipe_high: float | None
    fipe_note: str | None
    fetched_at: str | None
    missing: str | None
    expired: str | None
    cause: str | None
    not_asked: str | None
    missing_lookups: str | None
    expired_lookups: str | None
    not_asked_lookups: str | None
    alerts: str | None
    alert_codes: str | None
    declared: str | None
    open_lines: int | None
    blocks_entry: str | None


class SpendingLimit(TypedDict):
    scope: Literal["token", "portal", "person", "batch"]
    period: Literal["day", "month", "total"]
    unit: Literal["calls", "brl"]
    most: float
    used: float
    ends_at: str | None


class Usage(TypedDict):
    month: str
    calls: int
    hits: int
    spent: float | None
    saved: float | None
    daily_limit: int | None
    calls_left_today: int | None
    monthly_budget: float | None
    budget_left: float | None
    ends_on: str | None
    limits: list[SpendingLimit]
    prices: dict[str, float | None]
    batch_limit: int


class FileSignature(TypedDict):
    state: Literal["valid", "broken", "none"]
    signer: str | None
    signed_at: str | None
    timestamp: str | None


class FileDifference(TypedDict):
    page: int | None
    what: str


class Verification(TypedDict):
    """Whether a file is the one that was issued. ``signature`` is None if it was not checked."""

    result: Literal["unknown", "foreign", "altered", "revoked", "ended", "superseded", "same"]
    number: str | None
    issued_at: str | None
    ended_at: str | None
    superseded_by: str | None
    unaltered: bool | None
    signature: FileSignature | None
    differences: list[FileDifference]


class MomentChange(TypedDict):
    what: str


class Moment(TypedDict):
    """The dossier that proves the moment of a payment."""

    number: str
    supersedes: str | None
    asked: list[str] | None
    spent: float | None
    changes: list[MomentChange] | None
    nothing_changed: bool | None
    signature: FileSignature | None


class IssuedDossier(TypedDict):
    number: str
    state: Literal["valid", "expired", "revoked"]
    issued_at: str
    ended_at: str
    superseded_by: str | None
    plate: str | None
    issuer: str | None
    finding: str | None


JsonObject = dict[str, Any]
