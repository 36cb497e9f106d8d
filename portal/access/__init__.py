"""Authenticates callers by token or upstream credential, and stores each visitor's history."""

from portal.access.credentials import NoCredential, read_credential, sends_credential
from portal.access.gatekeeper import DEMO_TOKEN, Gatekeeper
from portal.access.history import History, HistoryUnavailable
from portal.access.sealing import SubjectKeys, cipher, decrypt, open_text, seal_text
from portal.access.tokens import (
    OPERATION_SCOPES,
    SCOPES,
    Identity,
    Issued,
    NameTaken,
    RefusedToken,
    Tokens,
    TokensUnavailable,
    UnknownToken,
    digest,
    is_token_name,
)
from portal.system.credential_syntax import is_token

__all__ = [
    "DEMO_TOKEN",
    "OPERATION_SCOPES",
    "SCOPES",
    "Gatekeeper",
    "History",
    "HistoryUnavailable",
    "Identity",
    "Issued",
    "NameTaken",
    "NoCredential",
    "RefusedToken",
    "SubjectKeys",
    "Tokens",
    "TokensUnavailable",
    "UnknownToken",
    "cipher",
    "decrypt",
    "digest",
    "is_token",
    "is_token_name",
    "open_text",
    "read_credential",
    "seal_text",
    "sends_credential",
]
