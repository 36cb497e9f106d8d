"""A sandbox of a fixed day with a fake sleep, and helpers to send it requests."""

import json
from datetime import date
from typing import Any

from portal.sandbox import Answer, Ask, Role, Sandbox

TODAY = date(2026, 11, 21)
DEMO = {"Authorization": "demo"}
REPORT = "/detran/v1/analytical-reports"


class Sleeper:
    """A fake sleep that records the seconds and returns at once."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


def sandbox_on(day: date = TODAY, sleep: Sleeper | None = None) -> Sandbox:
    return Sandbox(lambda: day, sleep or Sleeper())


def get(path: str, box: Sandbox | None = None, role: Role = "primary") -> Answer:
    return (box or sandbox_on()).answer(Ask("GET", f"/detran/v1/{path}", headers=DEMO, role=role))


def result(path: str, box: Sandbox | None = None) -> Any:
    answer = get(path, box)
    assert answer.status == 200, answer.body
    return json.loads(answer.body)["result"]


def post(
    body: object, box: Sandbox | None = None, role: Role = "primary", **headers: str
) -> Answer:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    ask = Ask("POST", REPORT, headers=DEMO | headers, body=content, role=role)
    return (box or sandbox_on()).answer(ask)


def report(data: object, plate: str = "XYZ1D23") -> Any:
    answer = post({"plate": plate, "data": data})
    assert answer.status == 200, answer.body
    document = json.loads(answer.body)
    assert document["status"] == "DONE"
    return document["result"]


def message(answer: Answer) -> str:
    document = json.loads(answer.body)
    assert list(document) == ["message"]
    assert answer.headers["Content-Type"].startswith("application/json")
    text: str = document["message"]
    return text
