"""An OpenID Connect provider on loopback, whose answers a test can forge."""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, Key, KeySet

CLIENT_ID = "portal"
CLIENT_SECRET = "secret of the portal: 1/2+3"  # needs encoding


@dataclass
class FakeOidc:
    """The provider's state. A test changes it between two steps of a sign-in.

    ``claims`` and ``header`` replace or, with None, remove members of the next ID tokens.
    """

    url: str = ""
    keys: list[Key] = field(default_factory=list)
    signer: Key | None = None
    shared: bytes | None = None  # signs with a MAC, or with nothing if it is empty
    subject: str = "subject-of-ana"
    groups: list[str] = field(default_factory=lambda: ["vendas"])
    claims: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    raw_token: str | None = None
    gives_refresh: bool = True
    groups_in_userinfo: bool = False
    disabled: bool = False
    failing: bool = False
    requests: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    refresh_tokens: set[str] = field(default_factory=set)
    ended: list[dict[str, list[str]]] = field(default_factory=list)

    def authorize(self, address: str) -> str:
        """Act as the provider's page of which the person has accepted the form.

        Return the path and query to which the browser is led back.
        """
        parts = urlsplit(address)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        assert f"{parts.scheme}://{parts.netloc}" == self.url
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT_ID)
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        back = urlsplit(asked["redirect_uri"])
        return f"{back.path}?{urlencode({'code': code, 'state': asked['state']})}"

    def rotate_keys(self) -> None:
        self.keys = [ECKey.generate_key("P-256", {"kid": "second"})]

    def answer(self, path: str, form: dict[str, str], authorization: str) -> tuple[int, Any]:
        self.requests.append(path)
        if self.failing:
            return 503, {}
        match path:
            case "/.well-known/openid-configuration":
                return 200, self._description()
            case "/keys":
                return 200, KeySet(self.keys).as_dict()
            case "/userinfo":
                return 200, {"sub": self.subject, "groups": self.groups}
            case "/token":
                return self._token(form, authorization)
            case _:
                return 404, {}

    def _description(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "end_session_endpoint": f"{self.url}/logout",
            "scopes_supported": ["openid", "offline_access"],
            **self.metadata,
        }

    def _token(self, form: dict[str, str], authorization: str) -> tuple[int, Any]:
        pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        if pair != "portal:secret%20of%20the%20portal%3A%201%2F2%2B3":
            return 401, {"error": "invalid_client"}
        nonce = None
        if form["grant_type"] == "authorization_code":
            asked = self.codes.pop(form["code"], None)
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            if (
                asked is None
                or asked["code_challenge"] != challenge
                or asked["redirect_uri"] != form["redirect_uri"]
            ):
                return 400, {"error": "invalid_grant"}
            nonce = asked["nonce"]
        elif self.disabled or form["refresh_token"] not in self.refresh_tokens:
            return 400, {"error": "invalid_grant"}
        answer = {"access_token": "access", "token_type": "Bearer"}
        answer["id_token"] = self.raw_token or self.id_token(nonce)
        if self.gives_refresh:
            answer["refresh_token"] = secrets.token_urlsafe(16)
            self.refresh_tokens = {answer["refresh_token"]}
        return 200, answer

    def id_token(self, nonce: str | None) -> str:
        key, now = self.signer or self.keys[0], int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT_ID,
            "sub": self.subject,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            "preferred_username": "ana@loja.example",
            **({} if self.groups_in_userinfo else {"groups": self.groups}),
            **self.claims,
        }
        algorithm = "ES256" if isinstance(key, ECKey) else "RS256"
        header = {"alg": algorithm, "kid": key.kid, **self.header}
        header = {name: value for name, value in header.items() if value is not None}
        claims = {name: value for name, value in claims.items() if value is not None}
        if self.shared is None:
            return jwt.encode(header, claims, key)
        signed = ".".join(_encoded(json.dumps(each).encode()) for each in (header, claims))
        mac = hmac.digest(self.shared, signed.encode(), "sha256") if self.shared else b""
        return f"{signed}.{_encoded(mac)}"


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


@contextmanager
def served() -> Iterator[FakeOidc]:
    """Serve a provider on loopback."""
    provider = FakeOidc()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._answer({name: values[0] for name, values in parse_qs(body).items()})

        def _answer(self, form: dict[str, str]) -> None:
            path = urlsplit(self.path).path
            authorization = self.headers.get("Authorization", "")
            status, document = provider.answer(path, form, authorization)
            content = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
