"""What the answers say about the vehicle itself: tampered marks, another vehicle, or scrap.

A fine under art. 230, I or IV, or art. 234 of the CTB (the traffic code) says that the chassis
number, a seal, a plate or the vehicle's document was tampered with or missing. A record that names
another plate, make or model may be an error of the register, or the plate may be cloned. No payment
removes either doubt. The vehicle's own data may say that it is scrap, stolen or a loan's security.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final

from portal.data_files import read_csv
from portal.law.assessment import AssessedFine
from portal.law.orders import AssessedOrder
from portal.law.reasons import Reason
from portal.vehicle.decode import Decoded
from portal.vehicle.fines import Fine
from portal.vehicle.identity import differing_fields, identity_of_name
from portal.wording import bare, day, listed

# Infractions by code and split (variant), in the words of the annex of Res. Contran 985/2022.
_TAMPERED: Final[Mapping[str, str]] = {
    "1": "lacre de identificação violado ou falsificado",
    "2": "chassi violado ou falsificado",
    "3": "selo de identificação violado ou falsificado",
    "4": "placa violada ou falsificada",
}
_ANY_TAMPERED: Final = "identificação violada ou falsificada"
_NO_PLATE: Final = "falta de placa de identificação"
_CODE: Final = re.compile(r"\D*(\d{3})-?(\d)-?(\d?)\D*")
_DOCUMENT: Final = "documento do veículo falsificado ou adulterado"
_DONE: Final = r"\b(ADULT|ALTERAD|CLON|FALS[AOI]|LIXAD|RASPAD|RASURAD|REMARC|SUPRIMID|VIOLAD)"
_THEFT: Final = "roubo ou furto do veículo"
_DESCRIBED: Final = (
    (re.compile(rf"(CHASSI|\bNIV\b).*{_DONE}"), _TAMPERED["2"]),
    (re.compile(rf"MOTOR\b.*{_DONE}"), "motor com numeração violada ou falsificada"),
    (
        re.compile(rf"PLACA.*({_DONE}|\bFRIA|OUTRO VEIC|NAO (CONFERE|CORRESPOND|PERTENC))"),
        _TAMPERED["4"],
    ),
    (re.compile(r"\bVEIC.*\b(ROUB|FURT)(AD)?O\b"), _THEFT),
    (re.compile(r"NUMERACAO.*\b(ADULT|FALS[AOI]|RASPAD|RASURAD|REMARC|SUPRIMID)"), _ANY_TAMPERED),
    (re.compile(rf"IDENTIFICAD?OR.*{_DONE}|{_DONE}.*IDENTIFICAD?OR"), _ANY_TAMPERED),
    (re.compile(r"(ADULTER|FALSIFIC).*DOC\w*.*VEIC"), _DOCUMENT),
    (re.compile(rf"IDENTIFICA.*{_DONE}|VEIC\w* (DUBLE|CLONAD)"), _ANY_TAMPERED),
    (re.compile(r"SEM (QUALQUER UMA DAS )?PLACAS?\b"), _NO_PLATE),
)
# The patterns above take quadratic time. Official descriptions have at most 180 characters.
_LONGEST_DESCRIPTION: Final = 400
_RENAVAM: Final = re.compile(r"(?!0+$)[0-9]{9,11}", re.ASCII)
_RENAVAM_DIGITS: Final = 11
# Words of the vehicle's own data that speak ill of it. No list of what the source may send is
# public. A word that the text denies beside it ("SEM SINISTRO", "ROUBO: NADA CONSTA") says nothing.
_ILL: Final = re.compile(
    r"(?<!ANTI)(?<!ANTI[ -])\b(?:(?:CHASSI|MOTOR|VEICULO) )?(?:ABANDONAD[OA]|ACIDENTAD[OA]"
    r"|ADULTERA(?:CAO|D[OA])|ALAGAD[OA]|ALIENA(?:CAO|D[OA])|APREENDID[OA]|APROPRIACAO INDEBITA"
    r"|ARRENDA(?:MENTO|D[OA])|AVARIAD[OA]|(?:BAIXA|BX\.?) (?:DEFINITIVA|PERMANENTE|TEMPORARIA)"
    r"|BAIXAD[OA]|BLOQUEAD[OA]|BLOQUEIO JUDICIAL|BUSCA E APREENSAO|CLONAD[OA]|CLONE"
    r"|(?:COM(?:UNICACAO|\.)?|INTENCAO) (?:DE )?VENDA|DESMANCHE|DESMONTE|DUBLE|ENCHENTE|ESTELIONATO"
    r"|FALSIFICAD[OA]|FURT(?:O|AD[OA])|GRAVAME|IMPEDI(?:MENTO|D[OA])|INCENDIAD[OA]|INSERVIVEL"
    r"|IRRECUPERAVEL|LEASING|LEIL(?:AO|OES|OAD[OA])|(?:PEQ\w*|MED\w*|GR?A?N?DE?)\.? MONTA"
    r"|NAO RECUPERAD[OA]|PENHORA(?:D[OA])?|PERDA TOTAL|PROIBID[OA]|QUEIMAD[OA]|RASPAD[OA]"
    r"|RECUPERAD[OA]|REMARC(?:ACAO|AD[OA])?|(?<=[0-9][ (/-])REM|RESERVA DE DOMINIO"
    r"|RESTRIC(?:AO|OES)|ROUB(?:O|AD[OA])|SALVADO|SINIST(?:R(?:O|AD[OA]))?|SUCATA|SUPRIMID[OA])\b"
    r"(?: FIDUCIARIA| DE (?:FURTO|LEILAO|ROUBO|SINISTRO))?"
)
_BESIDE: Final = (
    r"(?:(?:A|CONSTAM?|DA|DE|DO|E|EM|FOI|FURTO|HA|HISTORICO|HOUVE|INDICIOS?|LEILAO|OCORRENCIAS?"
    r"|OU|PASSAGEM|POR|POSSUI|QUALQUER|QUEIXA|REGISTROS?|RESTRIC(?:AO|OES)|ROUBO|SINISTRO"
    r"|TEM)\b[ /]*)*"
)
_DENIED_BEFORE: Final = re.compile(rf"\b(?:NADA|NAO|NENHUMA?|NUNCA|SEM) {_BESIDE}$")
_DENIED_AFTER: Final = re.compile(
    rf"[ /]*{_BESIDE}\W*(?:NADA CONSTA|NAO(?: CONSTA| HA| INFORMAD[OA])?|NEGATIV[OA]|NENHUMA?)\W*"
    r"(?:[;,]|$)"
)
_HINTS: Final = {
    line["code"]: line["hint"] for line in read_csv(__package__, "fine_hints.csv", dict[str, str])
}
# The HTML anchor of the vehicle's own data.
VEHICLE: Final = "veiculo"
_IMPORTED: Final = re.compile(r"(?:I|IMP\.?) ?/", re.IGNORECASE | re.ASCII)
_COMPARE: Final = "compare o CRLV-e com o veículo antes de pagar"
_CONFIRM: Final = "confirme no Detran e faça uma vistoria antes de pagar"
_INSPECT: Final = "faça a perícia de identificação antes de qualquer pagamento"
_CLONED: Final = "erro de cadastro ou placa clonada? Faça a perícia antes de pagar"


def identification_reasons(
    fines: Sequence[AssessedFine], orders: Sequence[AssessedOrder]
) -> tuple[Reason, ...]:
    """Return a reason for each doubt about the vehicle's identification.

    Without the vehicle's data, records that name a vehicle are compared with the first of them.
    """
    return (*_tampering(fines), *_other_vehicle([*fines, *orders]), *_other_renavam(orders))


def condition_reasons(decoded: Decoded, today: date) -> tuple[Reason, ...]:
    """Return a reason for each word of the vehicle's own data that speaks ill of it.

    Data that contradict each other give a reason, too.
    """
    found = dict.fromkeys(word for text in decoded.texts for word in _ill_words(str(text)))
    return (
        *(_reason(f"Os dados do veículo trazem “{word}”", _CONFIRM, VEHICLE) for word in found),
        *(
            _reason(f"Os dados do veículo se contradizem ({what})", _COMPARE, VEHICLE)
            for what in _conflicts(decoded, today)
        ),
    )


def _conflicts(decoded: Decoded, today: date) -> Iterator[str]:
    """Yield what cannot be: a model year is that of the manufacture or the next one."""
    built, model = decoded.built_year, decoded.model_year
    if (built and built > today.year) or (model and model > today.year + 1):
        yield f"ano no futuro, {max(built or 0, model or 0)}"
    elif built and model and not built <= model <= built + 1:
        yield f"fabricação em {built}, ano-modelo {model}"
    names = str(decoded.make), str(decoded.description)
    if decoded.is_national and any(map(_IMPORTED.match, names)):
        yield "nacional, com prefixo de importado"


def _ill_words(text: str) -> Iterator[str]:
    text = text[:_LONGEST_DESCRIPTION]
    read = bare(text)
    for found in _ILL.finditer(read):
        before, after = read[: found.start()], read[found.end() :]
        if not _DENIED_BEFORE.search(before) and not _DENIED_AFTER.match(after):
            yield text[found.start() : found.end()] if len(text) == len(read) else found[0]
            return


def tampering_of(fine: Fine) -> str:
    """Return what a fine says was tampered with or missing: ``chassi violado…``, or ""."""
    if code := _CODE.fullmatch(str(fine.code)):
        number, split = code[1] + code[2], code[3]
        if number == "6556":
            return _TAMPERED.get(split, _ANY_TAMPERED)
        if number == "6580":
            return _NO_PLATE
        if number == "6939" and split in ("2", "3", "4"):
            return _DOCUMENT
    description = bare(str(fine.description)[:_LONGEST_DESCRIPTION])
    return next((what for pattern, what in _DESCRIBED if pattern.search(description)), "")


def hints_of(fines: Iterable[AssessedFine]) -> Iterator[str]:
    """Yield what fines, paid or not, say of the vehicle: altered, not transferred, of a company.

    Each hint comes once, with the day of its first fine.
    """
    seen: set[str] = set()
    for fine in fines:
        code = fine.infraction.code if fine.infraction else ""
        if code in _HINTS and code not in seen:
            seen.add(code)
            on = fine.record.committed_on
            by_code = ", pelo código" if fine.wording.conflict else ""
            yield f"{_HINTS[code][:-1]} (multa{f' de {day(on)}' if on else ''}{by_code})."


def _tampering(fines: Sequence[AssessedFine]) -> Iterator[Reason]:
    first: dict[str, str] = {}
    for fine in fines:
        if what := tampering_of(fine.record):
            doubt = " (código e descrição divergem)" if fine.wording.conflict else ""
            first.setdefault(f"{what}{doubt}", fine.anchor)
    for what, anchor in first.items():
        yield _reason(f"Já foi autuado por {what}", _INSPECT, anchor)


def _other_vehicle(records: Sequence[AssessedFine | AssessedOrder]) -> Iterator[Reason]:
    identities = (identity_of_name(one.record.make_model) for one in records)
    first = next((each for each in identities if each.make), None)
    named = {}
    for one in records:
        fields = one.differing
        if first and one.vehicle is None:
            fields = differing_fields(first, one.record)
        if fields:
            named[one.anchor] = " ".join(map(str, fields))
    if not named:
        return
    shown = list(dict.fromkeys(named.values()))
    more = f" e mais {len(shown) - 2}" if len(shown) > 2 else ""
    what = f"{listed(shown[:2], ', ' if more else ' e ')}{more}"
    many = f"{len(named)} registros descrevem" if len(named) > 1 else "Um registro descreve"
    yield _reason(f"{many} outro veículo ({what})", _CLONED, next(iter(named)))


def _other_renavam(orders: Sequence[AssessedOrder]) -> Iterator[Reason]:
    first = ""
    for order in orders:
        renavam = re.sub(r"[\s.-]", "", str(order.record.renavam))
        if not _RENAVAM.fullmatch(renavam):
            continue
        first = first or renavam.zfill(_RENAVAM_DIGITS)
        if renavam.zfill(_RENAVAM_DIGITS) != first:
            yield _reason("Os registros trazem Renavam diferentes", _CLONED, order.anchor)
            return


def _reason(finding: str, detail: str, anchor: str) -> Reason:
    return Reason(finding, detail, anchor, "careful", "vehicle")
