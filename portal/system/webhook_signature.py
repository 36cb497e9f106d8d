"""Signatures of webhooks, as Standard Webhooks says (https://www.standardwebhooks.com)."""

import base64
import hashlib
import hmac
import secrets
from typing import Final

PREFIX: Final = "whsec_"


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def is_secret(text: str) -> bool:
    """Return whether a text is ``whsec_`` and 24 to 64 bytes in base64."""
    try:
        raw = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except ValueError:
        return False
    return text.startswith(PREFIX) and 24 <= len(raw) <= 64


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the header ``webhook-signature``."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = hmac.digest(key, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(signed).decode()}"
