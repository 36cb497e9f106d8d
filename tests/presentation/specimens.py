"""One example of every page in each of its states."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec

from portal.batch.model import Batch, Cost, Counts, Item, Preview
from portal.batch.typed_list import WrongEntry
from portal.desk.lookups import LookupCost
from portal.dossier.answers import Panels
from portal.dossier.lookups import OPERATION_TEXTS
from portal.dossier.row import VehicleRow, listed_row
from portal.gateway.limits import Allowance
from portal.gateway.operations import CachePolicy
from portal.gateway.statement import Comparison
from portal.gateway.usage import OriginCalls
from portal.issued.issuer import Issuer
from portal.issued.model import IssuedDossier, IssuedSnapshot
from portal.issued.verification import SignatureFacts, Verification
from portal.law.declared import Declaration
from portal.pdf.inspection import Difference
from portal.presentation.issued.pages import (
    EndedDossierPage,
    IssuedDossierPage,
    IssuedListPage,
)
from portal.presentation.issued.summary import issued_summary
from portal.presentation.issued.verification import VerificationPage, VerifiedDossier
from portal.presentation.lists.deciding import DecidingPage
from portal.presentation.lists.vehicle_list import ListChoice, VehicleList
from portal.presentation.operations.people import PeoplePage
from portal.presentation.operations.statement import StatementPage
from portal.presentation.operations.tokens import ChangeForm, IssueForm, NewTokenPage, RevokePage
from portal.presentation.operations.trail import TrailPage
from portal.presentation.site.account import OwnTokenPage
from portal.presentation.site.api_answers import reference_answers
from portal.presentation.site.api_reference import ApiPage
from portal.presentation.site.history_page import HistoryLine, HistoryPage
from portal.presentation.site.notice_check import notice_check_page
from portal.presentation.site.public_pages import (
    ErrorPage,
    GlossaryPage,
    PrivacyPage,
    SamplesPage,
    SignedOutPage,
    SignInPage,
)
from portal.presentation.site.search_page import SearchPage
from portal.presentation.site.status_page import status_page
from portal.presentation.vehicle.declare_many import DeclareManyPage, Refused
from portal.presentation.vehicle.sheet import Sheet, SheetPage, SheetsFile
from portal.sandbox.exchange import Request
from portal.sandbox.sandbox import TOKEN, Sandbox
from portal.vehicle.operation_name import LookupName
from portal.vehicle.plate import Plate, Renavam
from portal.web.json_api.openapi import resolved_document
from portal.web.pages.agenda import AgendaPage
from tests.factories import report_body
from tests.presentation.accounts import ACCOUNT, PEOPLE, PERSONS_ACCOUNT
from tests.presentation.batch_views import batch_form_page, batch_page
from tests.presentation.operations import CHECKUP, COMPARED, FACTS, IDLE, TODAY, TRAIL
from tests.presentation.pages import (
    comparison_page,
    dossier_page,
    negotiation_page,
    recent_lookup,
    renavam_page,
    row_of,
    vehicle_page,
)
from tests.presentation.rendering import (
    CONTEXT,
    DOWN,
    NOW,
    PLATE,
    UNASKED,
    UNASKED_PANELS,
    answered,
    panels,
)

SAMPLES = (("ABC1D23", "Vitrine", "200", "o mesmo"),)
RENAVAM = Renavam.parse("12345678910")
OLD_PLATE = Plate.parse("KZZ9999")
ALL_DOWN = Panels(DOWN, DOWN, DOWN)
NUMBER = "7F3K-9QMD-2XHA"
NO_LIMIT = Allowance(None, None, 3600.0)


def reference(token: str, price: str = "0", allows_origins: bool = False) -> ApiPage:
    document = resolved_document()
    return ApiPage(
        base_url="http://127.0.0.1:8000",
        token=token,
        document=document,
        answers=reference_answers(document, ask_sandbox, CONTEXT.dossier, CONTEXT.now),
        terms={"decode": CachePolicy(86_400, 0, Decimal(price))},
        batch_limit=500,
        allows_origins=allows_origins,
    )


DECLARED = (
    Declaration("gravame", "nothing", "loja <1>", CONTEXT.today, source="CRLV-e"),
    Declaration("debitos", "something", "loja", CONTEXT.today, Decimal("1200"), "2 <parcelas>"),
)


def sheet_page(
    answers: Panels, declarations: tuple[Declaration, ...] | None = (), **named: Any
) -> SheetPage:
    dossier = replace(CONTEXT.dossier(PLATE, answers), declarations=declarations)
    return SheetPage(Sheet(dossier, CONTEXT.now, "loja"), None, "https://x.example", **named)


def ask_sandbox(method: str, path: str, body: bytes) -> bytes:
    headers = {"Authorization": TOKEN, "Content-Type": "application/json"}
    sandbox = Sandbox(lambda: CONTEXT.today)
    return sandbox.handle(Request(method, path, headers=headers, body=body)).body


def privacy(mode: Any, mask_names: bool = True) -> PrivacyPage:
    """The privacy page of a portal that stores no reports."""
    return PrivacyPage(
        mode=mode,
        answers={
            OPERATION_TEXTS["decode"]: (691_200, None),
            OPERATION_TEXTS["renainf"]: (108_000, 5_400),
            OPERATION_TEXTS["renajud"]: (108_000, 5_400),
            OPERATION_TEXTS["report"]: (0, None),
        },
        rejected_s=600,
        history_s=2_592_000,
        declared_s=15_552_000,
        session_s=43_200,
        tries_s=3_600,
        dossier_s=2_592_000,
        ended_dossier_s=31_536_000,
        batch_s=691_200,
        draft_s=86_400,
        counts_requests=mask_names,
        mask_names=mask_names,
        trail_days=365,
        controller="Loja Central, CNPJ 11.222.333/0001-81" if mode == "managed" else "",
        contact="privacidade@loja.example" if mode == "managed" else "",
    )


BATCH_PRICES: dict[LookupName, Decimal] = {
    "decode": Decimal("0.85"),
    "renainf": Decimal("0.95"),
    "renajud": Decimal(0),
}


def batch_in(state: Any, reason: Any = "") -> Batch:
    """A batch in the given state, with four vehicles and two wrong entries."""
    return Batch(
        id="4d2a8ee8598acee71d7ddb4f",
        state=state,
        reason=reason,
        resume_at=NOW.timestamp() + 3600 if reason else None,
        ask=("decode", "renainf"),
        counts=Counts(4, 1, 2, 1, 1),
        cost=Cost(Decimal("2.70"), Decimal("5.40")),
        wrong=(WrongEntry(2, "<b>ABC12", "ABC1D12"), WrongEntry(3, "ABC", "")),
        created_at=NOW.timestamp() - 90,
        started_at=NOW.timestamp() - 72,
        ended_at=None,
        expires_at=NOW.timestamp() + 86400,
    )


def batch_rows() -> list[tuple[Item, VehicleRow]]:
    items = (
        (Item(PLATE, "done"), panels()),
        (Item(OLD_PLATE, "failed", "too_slow"), Panels(panels().vehicle, DOWN, panels().orders)),
        (Item(RENAVAM, "done"), Panels(UNASKED, panels().fines, panels().orders)),
        (Item(Plate.parse("XYZ9K99"), "pending"), UNASKED_PANELS),
    )
    return [(item, row_with(item, found)) for item, found in items]


def row_with(item: Item, found: Panels) -> VehicleRow:
    return row_of(item, lambda _: found, CONTEXT)


def batch_left(count: int, calls: int, impossible: int = 0) -> Preview:
    """The preview beside the button that starts or continues a batch."""
    return Preview(count - impossible, impossible, calls, Decimal("2.70"))


ISSUED = issued_summary(
    dossier_page(PLATE, panels(), UNASKED, CONTEXT, address="https://portal.example"),
    Issuer("Loja <Central>", "CNPJ 11.222.333/0001-81", "(11) 5555-0100"),
)
ISSUED_ALL_DOWN = issued_summary(
    dossier_page(PLATE, ALL_DOWN, UNASKED, CONTEXT, address="https://portal.example"), None
)


def stored_dossier(
    state: Any = "valid", has_pdf: bool = True, summary: Any = None
) -> IssuedDossier:
    at = NOW.timestamp()
    revoked_at = at if state == "revoked" else None
    encoded = msgspec.json.encode(summary or ISSUED).decode()
    snapshot = IssuedSnapshot(plate=PLATE.text, caller="ana", summary=encoded)
    kept = ("key", snapshot) if state == "valid" else (None, None)
    return IssuedDossier(NUMBER.replace("-", ""), at, at, revoked_at, state, has_pdf, *kept)


def issued(
    path: str, link: str = "", has_pdf: bool = True, summary: Any = None
) -> IssuedDossierPage:
    return IssuedDossierPage(stored_dossier("valid", has_pdf), summary or ISSUED, path, link)


SIGNED = SignatureFacts("valid", "Loja <Central>", 1_795_000_000.0)
STAMPED = replace(SIGNED, stamped_at=1_795_000_001.0)
CHANGED = (Difference(None, "3 páginas → 2 páginas"), Difference(1, "<130,16> → 230,16"))


def verified(outcome: Any, plate: str, path: str = "") -> VerificationPage:
    summary = ISSUED if path else None
    dossier = VerifiedDossier(NUMBER, outcome, plate, "Loja <Central>", NOW, NOW, path, summary)
    result = {"valid": "same", "expired": "ended"}.get(outcome, outcome)
    return VerificationPage(NUMBER, Verification(result), dossier)


def verified_file(result: Any, signature: SignatureFacts | None, **named: Any) -> VerificationPage:
    state: Any = {"revoked": "revoked", "ended": "expired"}.get(result, "valid")
    summary = ISSUED if result in ("same", "superseded") else None
    dossier = None
    if result not in ("unknown", "foreign"):
        path = "/d/key" if summary else ""
        dossier = VerifiedDossier(
            *(NUMBER, state, "ABC1D23", "Loja <Central>", NOW, NOW, path, summary),
            superseded_by="8G4M-0RNE-3YJB",
            newer_path="/verificar?codigo=8G4M-0RNE-3YJB",
        )
    found = Verification(result, signature=signature, **named)
    return VerificationPage(verification=found, dossier=dossier, of_file=True)


def history(number: int, total: int | None = None, **chosen: Any) -> HistoryPage:
    """The history of three vehicles: all stored, nothing stored, all failed."""
    prices = dict(BATCH_PRICES)
    subjects: tuple[tuple[Plate | Renavam, Panels, Decimal | None], ...] = (
        (PLATE, panels(), Decimal("1.80")),
        (OLD_PLATE, UNASKED_PANELS, Decimal(0)),
        (RENAVAM, ALL_DOWN, None),
    )
    lines = [
        HistoryLine(subject, found, NOW, prices, paid, has_account=True)
        for subject, found, paid in subjects
    ]
    notes = {PLATE.text: ("Esperar <b>a baixa", "negociar"), RENAVAM.text: ("", "fora")}
    return history_page(lines, notes, ListChoice(number=number, **chosen), total)


def deciding(at: int | None) -> DecidingPage:
    """The history of three vehicles, decided one by one."""
    vehicles = history(number=1).vehicles
    return DecidingPage("Lista <b>", vehicles, at)


def history_page(
    lines: Sequence[HistoryLine],
    notes: Mapping[str, tuple[str, str]],
    choice: ListChoice,
    total: int | None = None,
) -> HistoryPage:
    rows = [listed_row(CONTEXT.dossier(line.subject, line.panels)) for line in lines]
    vehicles = VehicleList("/historico", rows, notes, choice, CONTEXT.now, total=total)
    entries = {line.subject.text: line for line in lines}
    return HistoryPage(vehicles, entries, (batch_in("done"),), 2_592_000)


PAGES: dict[str, Callable[[], Any]] = {
    "search": lambda: SearchPage(
        cost=LookupCost(Decimal("2.45"), 12, 14_597),
        recent=(
            recent_lookup(PLATE, panels(), NOW, CONTEXT),
            recent_lookup(OLD_PLATE, UNASKED_PANELS, NOW, CONTEXT),
            recent_lookup(RENAVAM, ALL_DOWN, NOW, CONTEXT),
        ),
        showcases=(recent_lookup(PLATE, panels(), None, CONTEXT, note="Vitrine"),),
    ),
    "search with a problem": lambda: SearchPage(query="<b>", problem="Por favor, informe."),
    "search with a suggestion": lambda: SearchPage(query="AB01D23", problem="Informe."),
    "search with a short renavam": lambda: SearchPage(query="798318546", problem="Informe."),
    "search with many plates": lambda: SearchPage(
        query="AAA1A11 AAA1A12 AAA1A13 AAA1A14 AAA1A15", problem="Informe."
    ),
    "history": lambda: history(number=2, total=120),
    "history, note": lambda: history(number=1, noted=PLATE.text, only="blocked", tag="negociar"),
    "deciding": lambda: deciding(0),
    "deciding, failed": lambda: deciding(2),
    "deciding, end": lambda: replace(deciding(None), sent=[PLATE], at_once=12),
    "history, empty": lambda: history_page((), {}, ListChoice()),
    "vehicle": lambda: vehicle_page(PLATE, panels(), answered(report_body()), CONTEXT),
    "vehicle, old plate": lambda: vehicle_page(Plate.parse("KZZ9999"), panels(), DOWN, CONTEXT),
    "vehicle, waiting": lambda: vehicle_page(PLATE, UNASKED_PANELS, UNASKED, CONTEXT),
    "vehicle, idle": lambda: vehicle_page(PLATE, UNASKED_PANELS, UNASKED, CONTEXT, follow=False),
    "vehicle, all down": lambda: vehicle_page(PLATE, Panels(DOWN, DOWN, DOWN), DOWN, CONTEXT),
    "renavam": lambda: renavam_page(RENAVAM, panels().fines, panels().orders, CONTEXT),
    "renavam, idle": lambda: renavam_page(RENAVAM, UNASKED, DOWN, CONTEXT),
    "dossier": lambda: replace(
        dossier_page(
            PLATE,
            panels(),
            answered(report_body()),
            CONTEXT,
            address="https://portal.example/",
        ),
        qr="data:image/svg+xml,%3Csvg/%3E",
    ),
    "dossier, all down": lambda: dossier_page(
        PLATE, Panels(DOWN, DOWN, DOWN), UNASKED, CONTEXT, address="https://portal.example"
    ),
    "dossier, idle": lambda: dossier_page(
        PLATE, UNASKED_PANELS, UNASKED, CONTEXT, address="https://portal.example"
    ),
    "sign in": lambda: SignInPage(pass_through=False, problem="Token desconhecido."),
    "sign in, for a comparison": lambda: SignInPage(
        pass_through=False, next_path="/comparar?placas=ABC1D23,KZZ9999"
    ),
    "sign in, pass-through": lambda: SignInPage(pass_through=True, next_path="/placa/ABC1D23"),
    "sign in, company": lambda: SignInPage(
        pass_through=False,
        contact="Loja <b>",
        by_company=True,
        turned_away="ana <b>",
        company_problem="A resposta não foi aceita.",
        purposes=("Compra", "Cobrança <b>"),
    ),
    "sign in, purpose": lambda: SignInPage(
        pass_through=False, signed_in="ana", purposes=("Compra",), problem="Escolha."
    ),
    "signed out": lambda: SignedOutPage("https://login.example/logout?a=1&b=2"),
    "signed out, without an address": lambda: SignedOutPage(""),
    "account": lambda: ACCOUNT,
    "account, person": lambda: PERSONS_ACCOUNT,
    "account, own token": lambda: OwnTokenPage("planilha", "a" * 43, NOW),
    "people": lambda: PeoplePage(
        NOW, PEOPLE, {"person:ana": "ana", "robô": "robô"}, asks_token=True, problem="Escolha."
    ),
    "people, none": lambda: PeoplePage(NOW, (), {}, asks_token=False),
    "notice": lambda: notice_check_page({}, CONTEXT.today),
    "notice, blank": lambda: notice_check_page({"orgao": ""}, CONTEXT.today),
    "notice, contradictory": lambda: notice_check_page(
        {"orgao": "000100", "auto": "X1", "codigo": "7455", "valor": "250"}, CONTEXT.today
    ),
    "notice, plausible": lambda: notice_check_page(
        {"orgao": "271070", "codigo": "7455", "autuacao": "2026-11-10"}, CONTEXT.today
    ),
    "notice, refused": lambda: notice_check_page({"orgao": "abc"}, CONTEXT.today),
    "verify": VerificationPage,
    "verify, unknown": lambda: VerificationPage("abc", Verification("unknown")),
    "verify, no file": lambda: VerificationPage(wants_file=True),
    "verify, file": lambda: verified_file("same", SIGNED),
    "verify, file without a signature": lambda: verified_file("same", SignatureFacts("none")),
    "verify, stamped file": lambda: verified_file("superseded", STAMPED),
    "verify, unknown file": lambda: verified_file("unknown", None),
    "verify, unreadable file": lambda: verified_file("unknown", None, is_readable=False),
    "verify, file of another": lambda: verified_file("foreign", SIGNED),
    "verify, altered file": lambda: verified_file(
        "altered", SignatureFacts("broken"), differences=CHANGED, is_compared=True
    ),
    "verify, file saved again": lambda: verified_file(
        "altered", SignatureFacts("none"), is_compared=True
    ),
    "verify, altered file without the key": lambda: verified_file("altered", None),
    "verify, ended file": lambda: verified_file("ended", SIGNED),
    "verify, revoked file": lambda: verified_file("revoked", SignatureFacts("none")),
    "verify, number": lambda: verified("valid", "ABC••••"),
    "verify, key": lambda: verified("valid", "ABC1D23", "/d/key"),
    "verify, expired": lambda: verified("expired", ""),
    "verify, revoked": lambda: verified("revoked", ""),
    "issued": lambda: issued(f"/dossie/{NUMBER}", "https://portal.example/d/key"),
    "issued, shared": lambda: issued("/d/key"),
    "issued, shared without records": lambda: issued("/d/key", "", False, ISSUED_ALL_DOWN),
    "ended, expired": lambda: EndedDossierPage(stored_dossier("expired")),
    "ended, revoked": lambda: EndedDossierPage(stored_dossier("revoked")),
    "ended, superseded": lambda: EndedDossierPage(
        replace(stored_dossier("expired"), superseded_by="8G4M0RNE3YJB"), "/dossie/8G4M-0RNE-3YJB"
    ),
    "ended, unknown": lambda: EndedDossierPage(None),
    "issued list": lambda: IssuedListPage(
        [
            stored_dossier(summary=replace(ISSUED, name="Audi <A3>")),
            stored_dossier("revoked"),
            stored_dossier("expired"),
        ]
    ),
    "issued list, empty": lambda: IssuedListPage(()),
    "agenda": lambda: AgendaPage("https://dossie.example/agenda/abc.ics", is_offered=True),
    "agenda, none": lambda: AgendaPage("", is_offered=True),
    "agenda, not offered": lambda: AgendaPage("", is_offered=False),
    "glossary": GlossaryPage,
    "status": lambda: status_page(
        {
            (TODAY, "decode"): OriginCalls(120, 1),
            (TODAY - timedelta(days=3), "decode"): OriginCalls(40, 3),
            (TODAY - timedelta(days=9), "renainf"): OriginCalls(4, 3),
        },
        TODAY,
    ),
    "privacy": lambda: privacy("managed"),
    "privacy, demo": lambda: privacy("demo"),
    "privacy, pass-through": lambda: privacy("pass-through", mask_names=False),
    "api": lambda: reference("demo"),
    "samples": lambda: SamplesPage(SAMPLES),
    "api, managed": lambda: reference("SEU_TOKEN", "0.3", allows_origins=True),
    "error": lambda: ErrorPage(503, "Fonte fora", "Espere.", "01JD", retry_path="/placa/ABC1D23"),
    "sheet": lambda: sheet_page(panels()),
    "sheet, declared": lambda: sheet_page(panels(), DECLARED, chosen="gravame"),
    "sheet, refused": lambda: sheet_page(
        panels(), DECLARED, problem="Um registro diz outra coisa."
    ),
    "sheet, nothing known": lambda: sheet_page(UNASKED_PANELS),
    "sheet, unread": lambda: sheet_page(ALL_DOWN, None),
    "sheets": lambda: SheetsFile([sheet_page(panels()).sheet] * 2, None, "https://x.example"),
    "declare many": lambda: DeclareManyPage([PLATE, OLD_PLATE]),
    "declare many, wrong": lambda: DeclareManyPage([PLATE], problem="Escreva um valor."),
    "declare many, done": lambda: DeclareManyPage(
        [PLATE, OLD_PLATE],
        refused=[Refused(OLD_PLATE, "O registro diz outra.")],
        is_done=True,
    ),
    "negotiation": lambda: negotiation_page(
        PLATE, panels(), CONTEXT, {"parte": "80", "transferencia": "1.234,56"}
    ),
    "negotiation, wrong": lambda: negotiation_page(
        PLATE, panels(), CONTEXT, {"multas": "<b>", "versao": "99", "reparos": '"><x>'}
    ),
    "negotiation, idle": lambda: negotiation_page(PLATE, UNASKED_PANELS, CONTEXT, {}),
    "negotiation, all down": lambda: negotiation_page(PLATE, ALL_DOWN, CONTEXT, {}),
    "comparison": lambda: comparison_page(
        (PLATE, OLD_PLATE, Plate.parse("XYZ9K99")),
        (panels(), Panels(panels().vehicle, DOWN, panels().orders), UNASKED_PANELS),
        CONTEXT,
    ),
    "comparison, one": lambda: comparison_page((PLATE,), (ALL_DOWN,), CONTEXT),
    "comparison, wrong": lambda: comparison_page(
        (), (), CONTEXT, typed=("ABC1D23", "<b>"), problem="“<b>” não é uma placa."
    ),
    "batches": lambda: batch_form_page(BATCH_PRICES, 500, (batch_in("done"), batch_in("paused"))),
    "batches, wrong": lambda: batch_form_page(
        BATCH_PRICES, 500, text="<b>", problem="Nada disso é placa.", ask=("decode",)
    ),
    "batch, draft": lambda: batch_page(
        batch_in("draft"),
        (),
        BATCH_PRICES,
        Allowance(40, None, 3600.0),
        NOW,
        left=batch_left(4, 60, impossible=1),
    ),
    "batch, draft without calls left": lambda: batch_page(
        batch_in("draft"), (), BATCH_PRICES, Allowance(40, 0, 3600.0), NOW, left=batch_left(4, 6)
    ),
    "batch, draft without possible lookup": lambda: batch_page(
        batch_in("draft"), (), BATCH_PRICES, NO_LIMIT, NOW, left=batch_left(1, 0, impossible=1)
    ),
    "batch, running": lambda: batch_page(
        batch_in("running"), batch_rows(), BATCH_PRICES, NO_LIMIT, NOW
    ),
    "batch, paused": lambda: batch_page(
        *(
            batch_in("paused", "day_limit"),
            batch_rows(),
            BATCH_PRICES,
            Allowance(0, 0, 3600.0),
            NOW,
        ),
        left=batch_left(2, 3),
    ),
    "batch, refused": lambda: batch_page(
        replace(batch_in("paused", "operator_refused"), resume_at=None),
        batch_rows(),
        BATCH_PRICES,
        NO_LIMIT,
        NOW,
    ),
    "batch, done": lambda: batch_page(
        *(batch_in("done"), batch_rows(), BATCH_PRICES, NO_LIMIT, NOW),
        left=batch_left(1, 1),
        only="blocked",
    ),
    "batch, done with expired answers": lambda: batch_page(
        batch_in("done"),
        [(item, replace(row, expired="multas")) for item, row in batch_rows()],
        BATCH_PRICES,
        NO_LIMIT,
        NOW,
        left=batch_left(1, 1),
    ),
    "operations": lambda: FACTS,
    "operations, idle": lambda: IDLE,
    "operations, checked": lambda: replace(IDLE, checkup=CHECKUP),
    "invoice": StatementPage,
    "invoice, unreadable": lambda: StatementPage({"time": "<b>"}, problem="Não."),
    "invoice, compared": lambda: StatementPage(compared=COMPARED),
    "invoice, equal": lambda: StatementPage(compared=Comparison(3, 3, timedelta(), ())),
    "trail": lambda: TrailPage(found=TRAIL, days=365),
    "trail, searched": lambda: TrailPage(found=TRAIL * 51, days=1, who="<b>", plate="ABC1D23"),
    "trail, wrong plate": lambda: TrailPage(found=(), days=365, plate="X", problem="Não."),
    "trail, empty": lambda: TrailPage(found=(), days=365, who="ana"),
    "trail, none kept": lambda: TrailPage(found=(), days=0),
    "token, new": lambda: IssueForm(asks_token=False),
    "token, wrong": lambda: IssueForm(
        asks_token=True,
        name="<b>",
        scopes=("admin",),
        days="x",
        daily_limit="-1",
        monthly_budget="muito",
        problems=dict.fromkeys(
            ("name", "scopes", "days", "limit", "budget", "token"), "Não <b> serve."
        ),
    ),
    "token, change": lambda: ChangeForm(
        asks_token=True,
        name="ana",
        scopes=("decode",),
        daily_limit="50",
        monthly_budget="60,00",
        ends_at=NOW,
        problems=dict.fromkeys(
            ("scopes", "days", "limit", "budget", "token", "hours"), "Não <b> serve."
        ),
    ),
    "token, change without an end": lambda: ChangeForm(
        asks_token=False, name="ana", scopes=(), daily_limit="", monthly_budget="", ends_at=None
    ),
    "token, issued": lambda: NewTokenPage("ana", "a" * 43, NOW, 50, Decimal(60)),
    "token, revoke": lambda: RevokePage(
        "ana", is_own=True, asks_token=True, problem="Não é o seu."
    ),
    "batch, cancelled": lambda: batch_page(
        batch_in("cancelled"), batch_rows(), BATCH_PRICES, NO_LIMIT, NOW
    ),
}
