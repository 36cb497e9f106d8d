"""The simulated upstream with the API paths of docs/contract.md.

A request with several errors gets the first applicable status in the order 404, 405, 401, 403, 413,
415, 400. Only a valid request triggers the fault that its plate simulates.
"""

import re
import time
from collections.abc import Callable, Sequence
from datetime import date
from urllib.parse import parse_qsl

import msgspec

from portal.sandbox.example_plates import SHOWCASE_RENAVAM, ExamplePlate, example_of
from portal.sandbox.exchange import Request, Response, error_response, json_response
from portal.sandbox.faults import (
    FORBIDDEN_MESSAGE,
    PLATE_MESSAGE,
    UNAUTHORIZED_MESSAGE,
    apply_fault,
)
from portal.sandbox.fines import fine_records
from portal.sandbox.report import write_report
from portal.sandbox.restrictions import restriction_records
from portal.sandbox.vehicles import Vehicle, decode_result, generate_vehicle
from portal.system.local_time import from_epoch
from portal.vehicle.plate import STATES, InvalidSubject, Plate, Renavam, parse_subject

TOKEN = "demo"  # noqa: S105 - protects nothing, because the data is fictitious
FORBIDDEN_TOKEN = "sem-acesso"  # noqa: S105
BODY_CAP = 256 * 1024


class RequestError(Exception):
    """The request is invalid. ``response`` is the error response to send."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.response = error_response(status, message)


def today(clock: Callable[[], float] = time.time) -> date:
    """Return the current day in America/Sao_Paulo. ``clock`` returns epoch seconds.

    The portal's pages and daily limits use the same time zone. In the evening, the UTC date is
    already the next day, so records with the UTC date would seem to be from tomorrow.
    """
    return from_epoch(clock()).date()


class Sandbox:
    """The simulated upstream. The dates in its records are relative to ``today``."""

    def __init__(self, today: Callable[[], date] = today) -> None:
        self._today = today

    def handle(self, request: Request) -> Response:
        """Return the response. The caller must delay it by ``Response.delay_s`` seconds."""
        for path, allowed, answer in _ROUTES:
            if (match := path.fullmatch(request.path)) is None:
                continue
            if request.method != allowed:
                message = f"Método não permitido: use {allowed}."
                return error_response(405, message, {"Allow": allowed})
            try:
                _authorize(request)
                return answer(self, request, *match.groups())
            except RequestError as error:
                return error.response
        return error_response(404, "Endereço não encontrado.")

    def _decode(self, request: Request, text: str) -> Response:
        plate = _plate(text)
        vehicle, example = _vehicle(plate)
        result = decode_result(vehicle, plate, example.profile, self._today())
        return _success("DONE", result, example, request)

    def _fines(self, request: Request, text: str, state: str | None) -> Response:
        vehicle, example = _vehicle(_subject(text))
        if state is not None and state.upper() not in STATES:
            raise RequestError(400, "Por favor, informe uma UF válida.")
        result = fine_records(vehicle, example.profile, self._today())
        if state is not None:
            result = [fine for fine in result if fine["ufOrgaoAutuador"] == state.upper()]
        return _success("SUCCESS", result, example, request)

    def _restrictions(self, request: Request, text: str) -> Response:
        subject = _subject(text)
        vehicle, example = _vehicle(subject)
        result = restriction_records(vehicle, subject, example.profile, self._today())
        return _success("SUCCESS", result, example, request)

    def _report(self, request: Request) -> Response:
        if len(request.body) > BODY_CAP:
            raise RequestError(413, "O corpo da requisição passa de 256 KiB.")
        kind = request.header("Content-Type")
        if kind is not None and kind.partition(";")[0].strip().lower() != "application/json":
            raise RequestError(415, "Envie o corpo como application/json.")
        try:
            content = msgspec.json.decode(request.body)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise RequestError(400, "O corpo da requisição não é um JSON válido.") from None
        if not isinstance(content, dict):
            raise RequestError(400, "O corpo da requisição precisa ser um objeto JSON.")
        text, data = content.get("plate"), content.get("data")
        plate = _plate(text if isinstance(text, str) else "")
        if not isinstance(data, dict):
            raise RequestError(
                400, "Por favor, informe em “data” um objeto com os dados do veículo."
            )
        return _success("DONE", write_report(plate, data), example_of(plate), request)


_ROUTES: Sequence[tuple[re.Pattern[str], str, Callable[..., Response]]] = (
    (re.compile("/detran/v1/analytical-reports"), "POST", Sandbox._report),
    (re.compile("/detran/v1/decode/([^/]+)"), "GET", Sandbox._decode),
    (re.compile("/detran/v1/restrictions/renainf/([^/]+)(?:/([^/]+))?"), "GET", Sandbox._fines),
    (re.compile("/detran/v1/restrictions/renajud/([^/]+)"), "GET", Sandbox._restrictions),
)


def _authorize(request: Request) -> None:
    """Raise RequestError if the request does not have the token TOKEN.

    The query parameter ``at`` or the header ``Authorization`` may contain the token.
    """
    in_query = [value for name, value in parse_qsl(request.query, True) if name == "at"]
    header = request.header("Authorization")
    tokens = {*in_query, *([] if header is None else [header])}
    if len(in_query) <= 1 and tokens == {FORBIDDEN_TOKEN}:
        raise RequestError(403, FORBIDDEN_MESSAGE)
    if len(in_query) > 1 or tokens != {TOKEN}:
        raise RequestError(401, UNAUTHORIZED_MESSAGE)


def _plate(text: str) -> Plate:
    subject = _subject(text)
    if isinstance(subject, Renavam):
        raise RequestError(400, PLATE_MESSAGE)
    return subject


def _subject(text: str) -> Plate | Renavam:
    try:
        subject = parse_subject(text)
    except InvalidSubject:
        raise RequestError(400, PLATE_MESSAGE) from None
    # ``parse_subject`` allows a hyphen in a plate or a Renavam, but the upstream's API does not.
    if subject.text != text.upper():
        raise RequestError(400, PLATE_MESSAGE)
    return subject


def _vehicle(subject: Plate | Renavam) -> tuple[Vehicle, ExamplePlate]:
    example = example_of(subject)
    if subject.text == SHOWCASE_RENAVAM:
        subject = Plate.parse(example.plate)
    return generate_vehicle(subject, example.profile), example


def _success(word: str, result: object, example: ExamplePlate, request: Request) -> Response:
    response = json_response(200, {"status": word, "result": result})
    return apply_fault(example.fault, response, request.role)
