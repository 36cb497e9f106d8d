"""Sends requests from many concurrent clients, with one thread and one connection each."""

import http.client
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PATIENCE_S = 300.0  # a busy machine may need minutes for many requests


@dataclass(frozen=True, slots=True)
class Ask:
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """A response. ``status`` is 0 if the connection failed before a response."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    seconds: float


def one(port: int, ask: Ask, timeout_s: float = PATIENCE_S) -> Answer:
    started = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request("GET", ask.path, headers=dict(ask.headers))
        response = connection.getresponse()
        body = response.read()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, body, headers, time.monotonic() - started)
    except (OSError, http.client.HTTPException):
        return Answer(0, b"", {}, time.monotonic() - started)
    finally:
        connection.close()


def together(port: int, asks: Sequence[Ask], timeout_s: float = PATIENCE_S) -> list[Answer]:
    """Send all requests at the same time; return the answers in the order of ``asks``."""
    answers: list[Answer | None] = [None] * len(asks)
    start = threading.Barrier(len(asks))

    def ask(index: int) -> None:
        start.wait()
        answers[index] = one(port, asks[index], timeout_s)

    threads = [threading.Thread(target=ask, args=(index,)) for index in range(len(asks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answer for answer in answers if answer is not None]


def in_turn(
    port: int, asks: Sequence[Ask], clients: int, timeout_s: float = PATIENCE_S
) -> list[Answer]:
    """Send the requests in turn over ``clients`` persistent connections.

    Returns the answers in the order of their arrival.
    """
    lock, answers = threading.Lock(), []
    pending = iter(asks)

    def client() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
        while True:
            with lock:
                ask = next(pending, None)
            if ask is None:
                break
            started = time.monotonic()
            try:
                connection.request("GET", ask.path, headers=dict(ask.headers))
                response = connection.getresponse()
                body = response.read()
                answer = Answer(response.status, body, {}, time.monotonic() - started)
            except (OSError, http.client.HTTPException):
                connection.close()
                answer = Answer(0, b"", {}, time.monotonic() - started)
            with lock:
                answers.append(answer)
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers
