"""Helpers that create and read batches over a server's JSON paths."""

from typing import Any

from tests.fakes.in_process import PORTAL_TOKEN
from tests.fakes.ports import wait_until
from tests.fakes.processes import PortalProcess

AUTH = {"Authorization": PORTAL_TOKEN}


def batch_of(portal: PortalProcess, batch: str) -> Any:
    response = portal.get(f"/api/v1/batches/{batch}", headers=AUTH)
    assert response.status_code == 200, response.text
    return response.json()


def finished(portal: PortalProcess, batch: str, timeout_s: float = 120) -> Any:
    wait_until(
        lambda: batch_of(portal, batch)["state"] != "running", "the end of the batch", timeout_s
    )
    return batch_of(portal, batch)


def started(portal: PortalProcess, texts: list[str]) -> str:
    body = {"plates": texts, "ask": ["decode"]}
    batch = str(portal.post("/api/v1/batches", json=body, headers=AUTH).json()["id"])
    start(portal, batch)
    return batch


def start(portal: PortalProcess, batch: str, **body: object) -> None:
    path = f"/api/v1/batches/{batch}/start"
    assert portal.post(path, json=body, headers=AUTH).status_code == 200
