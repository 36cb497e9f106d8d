"""Dossiers with fixed records and a fixed clock, for tests and measurements."""

from dataclasses import replace
from datetime import date, timedelta

from portal.dossier.answers import Panels
from portal.formats import short_date
from portal.law.checklist import LINES
from portal.law.declared import Declaration
from portal.presentation.vehicle.sheet import Sheet, SheetPage
from portal.vehicle.plate import Plate
from tests.faces.corpus import FINES
from tests.factories import (
    Record,
    decode_body,
    fine,
    fipe_entry,
    payment,
    price_history,
    renainf_body,
    renajud_body,
    report_body,
)
from tests.presentation.pages import dossier_page
from tests.presentation.rendering import (
    CONTEXT,
    DOWN,
    NOW,
    PLATE,
    UNASKED,
    answered,
    panels,
    render,
)
from tests.sandbox.requests import get

NUMBER = "7F3K-9QMD-2XHA"
QR = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 2 2'%3E"
    "%3Cpath d='M0 0h1v1H0zM1 1h1v1H1z'/%3E%3C/svg%3E"
)
ADDRESS = "https://portal.example"
_KINDS = (
    ("7455", "130"),
    ("5010", "880"),
    ("6050", "293"),
    ("7633", "293"),
    ("5550", "130"),
    ("5185", "195"),
    ("7463", "195"),
    ("9999", "77"),
    ("7471", "880"),
)


def usual() -> str:
    """A typical dossier: two price candidates, two fines, a restriction, a report."""
    body = renainf_body(
        fine(localInfracao="BR-381 KM 480"),
        fine(
            codigoInfracao="7633",
            localInfracao="AV BRASIL 100",
            pagamento=payment(dataPagamento="02/12/2025", valorPago="293.47"),
        ),
    )
    page = dossier_page(
        PLATE,
        panels(renainf=body),
        answered(report_body()),
        CONTEXT,
        address=ADDRESS,
    )
    return render(replace(page, number=NUMBER, qr=QR))


def of_order(order: Record) -> str:
    """A dossier with a court order, and no fine."""
    return _of(panels(decode_body(str(PLATE)), renainf_body(), renajud_body(order)))


def one_fine() -> str:
    """A dossier with one fine and no court order."""
    return _of(panels(renajud=renajud_body()))


def unavailable() -> str:
    """The page in place of a dossier if no source answers."""
    return _of(Panels(DOWN, DOWN, DOWN))


def stale() -> str:
    """A dossier whose answers are all old, which says so three times on the first sheet."""
    old = (answered(each.body or b"", "stale", age=timedelta(days=2)) for each in panels().all)
    return _of(Panels(*old))


def _of(answers: Panels) -> str:
    page = dossier_page(PLATE, answers, UNASKED, CONTEXT, address=ADDRESS)
    return render(replace(page, number=NUMBER, qr=QR))


def standings() -> str:
    """A dossier with a fine in each standing, whose words are longer than those of a usual one."""
    return _loaded(list(FINES.values()), 1)


def of_sandbox(plate: str) -> str:
    """The draft dossier of a sandbox plate, with records of a fixed day."""
    page = dossier_page(
        Plate.parse(plate), answers_of_sandbox(plate), UNASKED, CONTEXT, address=ADDRESS
    )
    return render(replace(page, number=NUMBER, qr=QR))


def answers_of_sandbox(plate: str) -> Panels:
    paths = (f"decode/{plate}", f"restrictions/renainf/{plate}", f"restrictions/renajud/{plate}")
    return Panels(*(answered(get(path).body) for path in paths))


def sheet(answers: Panels, declarations: tuple[Declaration, ...] = ()) -> str:
    """The shop's sheet, as its PDF is made of it."""
    dossier = replace(CONTEXT.dossier(PLATE, answers), declarations=declarations)
    return render(SheetPage(Sheet(dossier, NOW, "loja"), None, ADDRESS, is_file=True))


def sheet_of_fines(count: int) -> str:
    """The shop's sheet of a vehicle with many fines, and with something declared of each line."""
    fines = [_fine_of(number) for number in range(count)]
    told = [
        Declaration(line.key, "something", "loja", NOW.date(), what="anotado", source="Detran")
        for line in LINES
        if not line.settled_by
    ]
    return sheet(panels(renainf=renainf_body(*fines)), tuple(told))


def heavy(fines: int = 40, candidates: int = 6) -> str:
    """A dossier of the size in the PDF benchmark, with fines that are all alike."""
    return _loaded(
        [fine(localInfracao=f"RODOVIA {n} KM {n * 7}") for n in range(fines)], candidates
    )


def varied(fines: int = 40, candidates: int = 6) -> str:
    """A dossier of the same size as ``heavy``, in which all fines differ.

    Dates, kinds and amounts vary; some fines have a penalty, some are paid.
    """
    return _loaded([_fine_of(n) for n in range(fines)], candidates)


def _fine_of(number: int) -> Record:
    committed = date(2019, 1, 5) + timedelta(days=67 * number)
    notified = committed + timedelta(days=10 + number % 28)
    penalised = committed + timedelta(days=100 + 7 * number) if number % 4 else None
    paid = committed + timedelta(days=500) if number % 8 == 7 else None
    code, amount = _KINDS[number % len(_KINDS)]
    return fine(
        codigoInfracao=code,
        valor=amount,
        dataInfracao=short_date(committed),
        dataCadastroInfracao=short_date(notified),
        dataEmissaoNotificacao=short_date(notified),
        dataEmissaoPenalidade=short_date(penalised) if penalised else "",
        localInfracao=f"RODOVIA {number} KM {number * 7}",
        autoInfracao=f"A{number:07}",
        pagamento=payment(dataPagamento=short_date(paid), valorPago="234") if paid else payment(),
    )


def _loaded(fines: list[Record], candidates: int) -> str:
    history = [price_history(108, 6, (2017, 6), 90_000 + 1_371 * n) for n in range(candidates)]
    entries = [
        fipe_entry(versao=f"VERSAO {n} 1.8 16V TURBO", historicoPreco=prices)
        for n, prices in enumerate(history)
    ]
    decode = decode_body(str(PLATE), informacoesFipe=entries)
    return _of(panels(decode=decode, renainf=renainf_body(*fines)))
