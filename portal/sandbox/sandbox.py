"""An embedded upstream: the five paths of docs/contract.md, invented vehicles.

Order of checks: 404/405 → 401 → 403 → 413/415/400 → the plate's situation.
"""

import re
from collections.abc import Callable
from datetime import date
from urllib.parse import parse_qsl

import msgspec

from portal.sandbox.exchange import Answer, Ask, error_answer, json_answer
from portal.sandbox.faults import (
    FORBIDDEN_MESSAGE,
    PLATE_MESSAGE,
    UNAUTHORIZED_MESSAGE,
    spoil,
)
from portal.sandbox.fines import fine_records
from portal.sandbox.report import write_report
from portal.sandbox.restrictions import restriction_records
from portal.sandbox.situations import SHOWCASE_RENAVAM, SITUATIONS, Situation, situation_of
from portal.sandbox.vehicles import Vehicle, decode_result, invent
from portal.vehicle import STATES, InvalidPlate, Plate, Renavam, parse_subject

TOKEN = "demo"  # noqa: S105 - the data is invented; nothing is protected
FORBIDDEN_TOKEN = "sem-acesso"  # noqa: S105
BODY_CAP = 256 * 1024

_REPORT = "/detran/v1/analytical-reports"
_DECODE = re.compile(r"/detran/v1/decode/([^/]+)")
_RENAINF = re.compile(r"/detran/v1/restrictions/renainf/([^/]+)(?:/([^/]+))?")
_RENAJUD = re.compile(r"/detran/v1/restrictions/renajud/([^/]+)")


class Refused(Exception):
    """Raised to answer with an error; ``answer`` is that answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.answer = error_answer(status, message)


class Sandbox:
    """The upstream. ``today`` returns its records' day; ``sleep`` waits delays."""

    def __init__(self, today: Callable[[], date], sleep: Callable[[float], None]) -> None:
        self._today = today
        self._sleep = sleep

    def answer(self, ask: Ask) -> Answer:
        """Return the answer after its delay has passed."""
        answer = self.decide(ask)
        if answer.delay_s > 0:
            self._sleep(answer.delay_s)
        return answer

    def pause(self, seconds: float) -> None:
        """Wait as a delayed answer would, for a transport with its own time-out."""
        self._sleep(seconds)

    def decide(self, ask: Ask) -> Answer:
        """Return the answer at once, with its delay in ``delay_s``. Never raises."""
        respond, allowed = self._route(ask.path)
        if respond is None:
            return error_answer(404, "Endereço não encontrado.")
        if ask.method != allowed:
            message = f"Método não permitido: use {allowed}."
            return error_answer(405, message, {"Allow": allowed})
        try:
            _authorize(ask)
            return respond(ask)
        except Refused as refused:
            return refused.answer

    def _route(self, path: str) -> tuple[Callable[[Ask], Answer] | None, str]:
        if path == _REPORT:
            return self._report, "POST"
        if match := _DECODE.fullmatch(path):
            text = match[1]
            return lambda ask: self._decode(text, ask), "GET"
        if match := _RENAINF.fullmatch(path):
            text, state = match[1], match[2]
            return lambda ask: self._fines(text, state, ask), "GET"
        if match := _RENAJUD.fullmatch(path):
            text = match[1]
            return lambda ask: self._restrictions(text, ask), "GET"
        return None, ""

    def _decode(self, text: str, ask: Ask) -> Answer:
        plate = _plate(text)
        situation = situation_of(plate)
        vehicle = _vehicle(plate, situation)
        result = decode_result(vehicle, plate, situation.profile, self._today())
        return _good("DONE", result, situation, ask)

    def _fines(self, text: str, state: str | None, ask: Ask) -> Answer:
        subject = _subject(text)
        if state is not None and state.upper() not in STATES:
            raise Refused(400, "Por favor, informe uma UF válida.")
        situation = situation_of(subject)
        vehicle = _vehicle(subject, situation)
        result = fine_records(vehicle, situation.profile, self._today())
        if state is not None:
            result = [fine for fine in result if fine["ufOrgaoAutuador"] == state.upper()]
        return _good("SUCCESS", result, situation, ask)

    def _restrictions(self, text: str, ask: Ask) -> Answer:
        subject = _subject(text)
        situation = situation_of(subject)
        vehicle = _vehicle(subject, situation)
        result = restriction_records(vehicle, subject, situation.profile, self._today())
        return _good("SUCCESS", result, situation, ask)

    def _report(self, ask: Ask) -> Answer:
        if len(ask.body) > BODY_CAP:
            raise Refused(413, "O corpo da requisição passa de 256 KiB.")
        kind = ask.header("Content-Type")
        if kind is not None and kind.partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "Envie o corpo como application/json.")
        try:
            request = msgspec.json.decode(ask.body)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise Refused(400, "O corpo da requisição não é um JSON válido.") from None
        if not isinstance(request, dict):
            raise Refused(400, "O corpo da requisição precisa ser um objeto JSON.")
        text, data = request.get("plate"), request.get("data")
        plate = _plate(text if isinstance(text, str) else "")
        if not isinstance(data, dict):
            raise Refused(400, "Por favor, informe em “data” um objeto com os dados do veículo.")
        try:
            result = write_report(plate, data, self._today())
        except RecursionError:
            raise Refused(400, "Os dados do veículo têm níveis demais.") from None
        return _good("DONE", result, situation_of(plate), ask)


def _authorize(ask: Ask) -> None:
    """Require exactly one token, in ``at`` or ``Authorization``, or the same in both.

    Raises Refused otherwise.
    """
    offered = [value for name, value in parse_qsl(ask.query, True) if name == "at"]
    header = ask.header("Authorization")
    if len(offered) <= 1 and header is not None:
        offered.append(header)
    elif len(offered) > 1:
        raise Refused(401, UNAUTHORIZED_MESSAGE)
    match set(offered):
        case tokens if tokens == {TOKEN}:
            return
        case tokens if tokens == {FORBIDDEN_TOKEN}:
            raise Refused(403, FORBIDDEN_MESSAGE)
        case _:
            raise Refused(401, UNAUTHORIZED_MESSAGE)


def _plate(text: str) -> Plate:
    # Stricter than the portal: the contract allows seven characters and no hyphen.
    try:
        plate = Plate.parse(text)
    except InvalidPlate:
        raise Refused(400, PLATE_MESSAGE) from None
    if "-" in text:
        raise Refused(400, PLATE_MESSAGE)
    return plate


def _subject(text: str) -> Plate | Renavam:
    try:
        subject = parse_subject(text)
    except InvalidPlate:
        raise Refused(400, PLATE_MESSAGE) from None
    return subject if isinstance(subject, Renavam) else _plate(text)


def _vehicle(subject: Plate | Renavam, situation: Situation) -> Vehicle:
    if subject.text == SHOWCASE_RENAVAM:
        subject = Plate.parse(SITUATIONS[0].plate)
    return invent(subject, situation.profile)


def _good(word: str, result: object, situation: Situation, ask: Ask) -> Answer:
    answer = json_answer(200, {"status": word, "result": result})
    return spoil(situation.fault, answer, ask.role)
