"""Serves the hand-written OpenAPI document as YAML and as JSON."""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from flask import Blueprint, Response

DOCUMENT = Path(__file__).with_name("openapi.yaml")


@cache
def as_yaml() -> bytes:
    return DOCUMENT.read_bytes()


@cache
def as_document() -> dict[str, Any]:
    """Return the document with its YAML anchors resolved."""
    document: dict[str, Any] = msgspec.yaml.decode(as_yaml())
    return document


@cache
def as_json() -> bytes:
    return msgspec.json.encode(as_document())


def openapi_blueprint() -> Blueprint:
    document = Blueprint("openapi", __name__)

    @document.get("/openapi.yaml")
    def yaml() -> Response:
        return Response(as_yaml(), content_type="application/yaml")  # RFC 9512

    @document.get("/openapi.json")
    def json() -> Response:
        return Response(as_json(), content_type="application/json")

    return document
