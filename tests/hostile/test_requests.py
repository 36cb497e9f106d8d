"""No request causes an internal error, and invalid ones cause no upstream call."""

import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.test import run_wsgi_app

from tests.effort import FULL, cases
from tests.fakes import FaultUpstream
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal, built, managed
from tests.web.person import Person

pytestmark = pytest.mark.long

JSON_PATH = re.compile(
    r"/detran/v1/(?:analytical-reports"
    r"|decode/[A-Za-z]{3}-?[0-9][A-Za-z0-9][0-9]{2}"
    r"|restrictions/(?:renainf|renajud)/(?:[A-Za-z]{3}-?[0-9][A-Za-z0-9][0-9]{2}|[0-9]{11})"
    r"|restrictions/renainf/(?:[A-Za-z]{3}-?[0-9][A-Za-z0-9][0-9]{2}|[0-9]{11})/[A-Za-z]{2})",
    re.ASCII,
)
PAGE = re.compile(r"/(?:placa/[A-Z]{3}[0-9][A-Z0-9][0-9]{2}|renavam/[0-9]{11})(?:/.*)?", re.ASCII)

SEGMENTS = (
    "detran",
    "v1",
    "v2",
    "decode",
    "restrictions",
    "renainf",
    "renajud",
    "analytical-reports",
    "placa",
    "renavam",
    "painel",
    "multas",
    "dossie",
    "dossie.pdf",
    "atualizar",
    "laudo",
    "buscar",
    "entrar",
    "sair",
    "verificar",
    "historico",
    "apagar",
    "static",
    "healthz",
    "ABC1D23",
    "abc-1d23",
    "ABC1234",
    "00123456789",
    "MG",
    "xx",
    *("", ".", "..", "%00", "ß"),
)
ROOTS = (
    "/detran/v1/decode/",
    "/detran/v1/restrictions/renainf/",
    "/detran/v1/restrictions/renajud/",
    "/detran/v1/analytical-reports",
    "/placa/",
    "/renavam/",
    "/buscar",
    "/verificar",
    "/entrar",
    "/static/",
)
raw_text = st.binary(max_size=40).map(lambda raw: raw.decode("latin-1"))
odd_text = st.text(max_size=20).map(lambda text: text.encode("utf-8", "replace").decode("latin-1"))
word = st.one_of(st.sampled_from(SEGMENTS), raw_text, odd_text)
path = st.one_of(
    st.builds(lambda root, tail: root + tail, st.sampled_from(ROOTS), word),
    st.lists(word, max_size=6).map(lambda words: "/" + "/".join(words)),
)
query = st.one_of(
    st.just(""),
    st.just(f"at={PORTAL_TOKEN}"),
    st.sampled_from(["q=ABC1D23", "q=%FF", "completo=1", "next=//evil", "codigo=x", "at=%00"]),
    raw_text,
)
method = st.one_of(
    st.sampled_from(["GET", "GET", "GET", "POST", "POST", "HEAD", "OPTIONS", "PUT", "DELETE"]),
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ-_", min_size=1, max_size=12),
)
HEADER_NAMES = (
    "AUTHORIZATION",
    "COOKIE",
    "CACHE_CONTROL",
    "ACCEPT",
    "ACCEPT_ENCODING",
    "USER_AGENT",
    "SEC_PURPOSE",
    *("SEC_FETCH_SITE", "X_FORWARDED_FOR", "X_FORWARDED_PROTO", "HOST", "IF_NONE_MATCH"),
    *("IF_MODIFIED_SINCE", "RANGE", "EXPECT", "TRANSFER_ENCODING", "ORIGIN"),
)
HEADER_VALUES = (
    *(PORTAL_TOKEN, "", "Bearer x", "no-cache", "only-if-cached", "no-cache, only-if-cached"),
    *("bytes=0-0", "*", "gzip;q=nan", "identity;q=0, *;q=0", "text/html;q=2", "prefetch"),
    *("a=b; portal=x.y.z", "cross-site", "[::1", "evil.example:99999", "chunked", "100-continue"),
)
headers = st.dictionaries(
    st.sampled_from(HEADER_NAMES), st.one_of(st.sampled_from(HEADER_VALUES), raw_text), max_size=5
)
body = st.one_of(
    st.just(b""),
    st.just(b'{"plate": "ABC1D23", "data": {}}'),
    st.just(b"token=x&next=%2F&csrf_token=x"),
    st.binary(max_size=200),
)
content_type = st.one_of(
    st.none(),
    st.sampled_from(
        [
            *("application/json", "application/x-www-form-urlencoded", "multipart/form-data"),
            *("multipart/form-data; boundary=\xff", "application/json; charset=utf-7", ";;;", ""),
        ]
    ),
    raw_text,
)
length = st.one_of(st.none(), st.none(), st.sampled_from(["-1", "x", "0", "5", "262145", "9" * 40]))


class Site:
    """A portal with a healthy upstream, called with hand-made WSGI requests."""

    def __init__(self, portal: InProcessPortal, upstream: FaultUpstream) -> None:
        self.portal = portal
        self.upstream = upstream
        ana = Person.at(portal).signed_in()
        self.cookie = f"portal={ana.client.get_cookie('portal').value}"

    def ask(self, environ: dict[str, Any]) -> tuple[int, bytes]:
        chunks, status, _ = run_wsgi_app(self.portal.app, environ, buffered=True)
        return int(status.split()[0]), b"".join(chunks)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data_dir = tmp_path_factory.mktemp("fuzz")
    with FaultUpstream() as upstream, built(data_dir, managed(upstream.url)) as portal:
        yield Site(portal, upstream)


@pytest.mark.upstream
@settings(
    max_examples=cases(600, 50_000),
    deadline=None,
    database=None,
    derandomize=not FULL,
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_no_request_gets_500_and_invalid_ones_cause_no_call(
    site: Site, data: st.DataObject
) -> None:
    draw = data.draw
    sent = draw(body)
    given_length = draw(length)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": draw(method),
        "SCRIPT_NAME": "",
        "PATH_INFO": draw(path),
        "QUERY_STRING": draw(query),
        "SERVER_NAME": "portal.example",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "192.0.2.1",
        "HTTP_HOST": "portal.example",
        "CONTENT_LENGTH": str(len(sent)) if given_length is None else given_length,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(sent),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    if (kind := draw(content_type)) is not None:
        environ["CONTENT_TYPE"] = kind
    if draw(st.booleans()):
        environ["HTTP_COOKIE"] = site.cookie
    environ |= {f"HTTP_{name}": value for name, value in draw(headers).items()}

    calls = site.upstream.count()
    status, answer = site.ask(environ)
    asked = environ["PATH_INFO"]
    if status >= 500:
        wishes = environ.get("HTTP_CACHE_CONTROL", "")
        stored_only = environ["REQUEST_METHOD"] == "HEAD" or "only-if-cached" in wishes
        # 504 means that nothing is stored, 501 that WeasyPrint (for PDFs) is not installed.
        assert (status == 504 and stored_only) or (status == 501 and asked.endswith(".pdf")), answer
    if site.upstream.count() > calls:
        assert JSON_PATH.fullmatch(asked) or PAGE.fullmatch(asked)
        assert environ["REQUEST_METHOD"] in ("GET", "POST")
