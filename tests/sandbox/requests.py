"""A sandbox with a fixed day, and helpers that send it requests."""

import json
from datetime import date
from typing import Any

from portal.sandbox.exchange import Request, Response, Role
from portal.sandbox.sandbox import Sandbox

TODAY = date(2026, 11, 21)
DEMO = {"Authorization": "demo"}
REPORT = "/detran/v1/analytical-reports"


def sandbox_on(day: date = TODAY) -> Sandbox:
    return Sandbox(lambda: day)


def get(path: str, box: Sandbox | None = None, role: Role = "primary") -> Response:
    return (box or sandbox_on()).handle(
        Request("GET", f"/detran/v1/{path}", headers=DEMO, role=role)
    )


def result(path: str, box: Sandbox | None = None) -> Any:
    response = get(path, box)
    assert response.status == 200, response.body
    return json.loads(response.body)["result"]


def post(
    body: object, box: Sandbox | None = None, role: Role = "primary", /, **headers: str
) -> Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = Request("POST", REPORT, headers=DEMO | headers, body=content, role=role)
    return (box or sandbox_on()).handle(request)


def report(data: object, plate: str = "XYZ1D23") -> Any:
    response = post({"plate": plate, "data": data})
    assert response.status == 200, response.body
    document = json.loads(response.body)
    assert document["status"] == "DONE"
    return document["result"]


def message(response: Response) -> str:
    document = json.loads(response.body)
    assert list(document) == ["message"]
    assert response.headers["Content-Type"].startswith("application/json")
    text: str = document["message"]
    return text
