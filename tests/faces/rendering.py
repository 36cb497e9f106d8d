"""Renders every specimen on every face, through an application with a fixed clock.

The portal runs in this process, and a fake upstream on a loopback socket answers it. All requests
are those of browsers and programs, so the module names nothing of ``portal`` but its entry.
"""

import csv
import io
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.faces.corpus import LOOKUPS, NOW, Answer, Specimen
from tests.faces.plain_text import Node, parse, plain
from tests.faces.reading import Facts, narrowed, read
from tests.factories import message_body
from tests.fakes.answers import operation_of, path_of, subject_of
from tests.fakes.faults import good
from tests.fakes.upstream import FaultUpstream
from tests.fakes.wire import After, Call, Fault, Wire, send_whole

PANELS = ("resumo", "veiculo", "multas", "restricoes")
TABLES = {"fines": "renainf", "restrictions": "renajud", "prices": "decode"}
STALE_AGES = {"decode": timedelta(2), "renainf": timedelta(hours=10), "renajud": timedelta(hours=3)}
FRESH_AGE = timedelta(minutes=3)
RECENT, HISTORY, COMPARED, BATCH_PAGE = 8, 40, 4, 50  # vehicles on one page


class FixedClock:
    """The clock of the portal in this process. Install it before ``portal`` is imported."""

    def __init__(self) -> None:
        self.now = NOW

    def install(self) -> None:
        time.time = lambda: self.now.timestamp()

    def install_in_modules(self) -> None:
        """Replace ``datetime`` in the modules of ``portal`` that have imported it."""
        for name, module in list(sys.modules.items()):
            is_ours = name.partition(".")[0] in ("portal", "app")
            if is_ours and vars(module).get("datetime") is datetime:
                module.datetime = self._datetime()  # type: ignore[attr-defined]

    def _datetime(self) -> type[datetime]:
        clock = self

        class Instances(type):
            def __instancecheck__(cls, value: object) -> bool:
                return isinstance(value, datetime)

        class Fixed(datetime, metaclass=Instances):
            def __new__(cls, *parts: Any, **named: Any) -> Any:
                return datetime(*parts, **named)  # noqa: DTZ001 a time zone is among the parts

            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return clock.now.astimezone(tz)

        return Fixed


class Source:
    """The fake upstream: answers by lookup and subject, and counts nothing."""

    def __init__(self) -> None:
        self._bodies: dict[tuple[str, str], Answer] = {}
        self._server = FaultUpstream()
        self._server.default(Fault("a specimen", self._play))

    def __enter__(self) -> "Source":
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    @property
    def url(self) -> str:
        return self._server.url

    def set(self, name: str, subject: str, answer: Answer | None) -> None:
        """Set an answer; None lets the lookup fail."""
        self._bodies[name, subject] = answer or Answer(message_body("Erro interno."), status=500)

    def _play(self, wire: Wire, call: Call) -> After:
        name = operation_of(call)
        answer = self._bodies.get((str(name), subject_of(call))) if name else None
        if answer is None:
            return good().play(wire, call)
        return send_whole(wire, answer.body, answer.status)


def of_sandbox(specimen: Specimen, client: Any) -> Specimen:
    """Return the specimen with the answers that ``client``, of a demo portal, gets."""
    answers = {}
    for name in LOOKUPS:
        response = client.get(path_of(name, specimen.plate), headers={"Authorization": "demo"})
        answers[name] = Answer(response.data, status=response.status_code)
    return replace(specimen, answers=answers)


class Faces:
    """Asks a portal for the faces of specimens, as browsers and programs do.

    ``texts`` maps a face and a specimen to the normalised text. With ``with_facts``, ``facts`` maps
    them to what ``reading`` reads.
    """

    def __init__(self, portal: Any, source: Source, clock: FixedClock, with_facts: bool) -> None:
        self._with_facts = with_facts
        self._app, self._parts = portal.app, portal.parts
        self._source = source
        self._clock = clock
        self._clients: dict[str, Any] = {}
        self._tokens: dict[str, str] = {}
        self._spares = (f"SPA{n // 100 % 10}R{n % 100:02}" for n in range(1000))
        self.texts: dict[str, dict[str, str]] = {}
        self.facts: dict[str, dict[str, Facts]] = {}
        self._csrf: dict[str, str] = {}

    # The visitors: one for each set of scopes

    def _scopes(self, one: Specimen) -> str:
        forbidden = one.in_state("forbidden")
        return ",".join([*(name for name in LOOKUPS if name not in forbidden), "report", "refresh"])

    def _token(self, scopes: str) -> str:
        if scopes not in self._tokens:
            name = f"t{len(self._tokens)}"
            result = self._app.test_cli_runner().invoke(
                args=["token", "issue", name, "--scopes", scopes]
            )
            assert result.exit_code == 0, result.output
            self._tokens[scopes] = result.output.split()[-1]
        return self._tokens[scopes]

    def _client(self, scopes: str) -> Any:
        if scopes not in self._clients:
            client = self._clients[scopes] = self._app.test_client()
            form = client.get("/entrar").get_data(as_text=True)
            found = re.search(r'name="csrf_token" value="([^"]+)"', form)
            assert found
            data = {"token": self._token(scopes), "csrf_token": found[1], "next": "/"}
            assert client.post("/entrar", data=data).status_code == 303
            form = client.get("/lote").get_data(as_text=True)
            found = re.search(r'name="csrf_token" value="([^"]+)"', form)
            assert found
            self._csrf[scopes] = found[1]
        return self._clients[scopes]

    def _get(self, one: Specimen | str, path: str, **headers: str) -> Any:
        scopes = one if isinstance(one, str) else self._scopes(one)
        return self._client(scopes).get(path, headers={"Accept": "text/html", **headers})

    def _post(self, one: Specimen | str, path: str, **data: Any) -> Any:
        scopes = one if isinstance(one, str) else self._scopes(one)
        client = self._client(scopes)
        return client.post(
            path,
            data={"csrf_token": self._csrf[scopes], **data},
            environ_overrides={"REMOTE_ADDR": f"10.{next(self._addresses)}"},
        )

    _addresses = (f"{n // 65536}.{n // 256 % 256}.{n % 256}" for n in range(2**24))

    def _api(self, one: Specimen | str, path: str, **options: Any) -> Any:
        scopes = one if isinstance(one, str) else self._scopes(one)
        method = options.pop("method", "GET")
        headers = {"Authorization": self._token(scopes)}
        return self._app.test_client().open(path, method=method, headers=headers, **options)

    # Priming

    def prime(self, specimens: Sequence[Specimen]) -> None:
        """Let the portal fetch all answers at their times, and end at NOW."""
        for age in sorted({*STALE_AGES.values(), FRESH_AGE}, reverse=True):
            self._clock.now = NOW - age
            for one in specimens:
                for name in LOOKUPS:
                    answer = one.answers[name]
                    if answer.state == "unasked":
                        continue
                    self._source.set(name, one.plate, None if answer.state == "down" else answer)
                    wanted = STALE_AGES[name] if answer.state == "stale" else FRESH_AGE
                    if answer.state in ("fresh", "stale") and wanted == age:
                        self._api(one, path_of(name, one.plate))
        for one in specimens:
            if one.report is not None:
                self._source.set("report", one.plate, Answer(one.report))
                assert self._post(one, f"/placa/{one.plate}/laudo").status_code == 303
        self._clock.now = NOW - FRESH_AGE / 3
        for one in specimens:
            for name in one.in_state("stale"):
                self._source.set(name, one.plate, None)
            if one.later:
                for name, body in one.later.items():
                    self._source.set(name, one.plate, Answer(body))
                assert self._post(one, f"/placa/{one.plate}/atualizar").status_code == 303
                self._get(one, "/")  # takes the message of the refresh
        self._clock.now = NOW

    def _close_breaker(self, one: Specimen) -> None:
        """Let the source answer once, so that failing specimens do not open its breaker."""
        if one.in_state("down", "stale"):
            self._api(
                ",".join([*LOOKUPS, "report", "refresh"]), path_of("decode", next(self._spares))
            )

    # The faces

    def render(self, specimens: Sequence[Specimen]) -> None:
        for one in specimens:
            self._of_vehicle(one)
            self._close_breaker(one)
        for scopes in dict.fromkeys(map(self._scopes, specimens)):
            of_one_visitor = [one for one in specimens if self._scopes(one) == scopes]
            self._lists(scopes, of_one_visitor)
            self._comparisons(scopes, of_one_visitor)
        self._batches(specimens)

    def _of_vehicle(self, one: Specimen) -> None:
        path, api = f"/placa/{one.plate}", f"/api/v1/vehicles/{one.plate}"
        # What was not asked must stay so: these pages then show what a prefetch shows.
        unasked = one.in_state("unasked")
        quiet = {"Sec-Purpose": "prefetch"} if unasked else {}
        self._html("page", one, f"{path}?completo=1", quiet)
        for name in PANELS:
            self._html(f"panel {name}", one, f"{path}/painel/{name}", quiet)
        self._html("paper", one, f"{path}/dossie", quiet)
        self._html("negotiation", one, f"{path}/negociacao")
        asked = one.in_state("fresh", "stale", "down")
        if asked:
            self._json("json", one, f"{api}?ask={','.join(asked)}" if unasked else api)
        for table, need in TABLES.items():
            if need in asked:
                self._data(f"csv {table}", one, f"{api}/{table}.csv", _rows)
                self._data(f"jsonl {table}", one, f"{api}/{table}.jsonl", _objects)
        issued = self._post(one, f"{path}/dossie/emitir")
        if issued.status_code == 303:
            where = issued.headers["Location"]
            number = where.rpartition("/")[2]
            key = re.search(r"/d/([\w-]+)", self._get(one, where).get_data(as_text=True))
            names = {number: "NUMBER", key[1] if key else number: "KEY"}
            self._html("issued", one, where, names=names)
            self._html("issued paper", one, f"{where}/papel", names=names)
        else:
            self._keep("issued", one.name, parse(issued.get_data(as_text=True)), issued.status_code)

    def _html(
        self,
        face: str,
        one: Specimen,
        path: str,
        headers: Mapping[str, str] = {},
        names: Mapping[str, str] = {},
    ) -> None:
        response = self._get(one, path, **headers)
        tree = parse(response.get_data(as_text=True))
        self._keep(face, one.name, tree, response.status_code, names)

    def _keep(
        self,
        face: str,
        name: str,
        tree: Node,
        status: int = 200,
        names: Mapping[str, str] = {},
        narrow: bool = False,
    ) -> None:
        text = "\n".join([*[f"status {status}"] * (status != 200), plain(tree)])
        for given, instead in names.items():
            text = text.replace(given, instead)
        self._store(face, name, text, tree, narrow)

    def _store(self, face: str, name: str, text: str, value: Any, narrow: bool = False) -> None:
        """Keep a face. ``narrow`` means that it answers for some lookups only, on request."""
        self.texts.setdefault(face, {})[name] = _RANDOM.sub("RANDOM", text)
        if self._with_facts:
            found = read(face, value)
            self.facts.setdefault(face, {})[name] = narrowed(found) if narrow else found

    def _json(self, face: str, one: Specimen, path: str) -> None:
        response = self._api(one, path)
        value = json.loads(response.data)
        self._store(face, one.name, _as_lines(value), value, bool(one.in_state("unasked")))

    def _data(self, face: str, one: Specimen, path: str, read_table: Callable[[str], Any]) -> None:
        response = self._api(one, path)
        text = response.get_data(as_text=True)
        is_table = response.status_code == 200
        start = [] if is_table else [f"status {response.status_code}"]
        lines = "\n".join([*start, *text.splitlines()])
        self._store(face, one.name, lines, read_table(text) if is_table else None)

    def _lists(self, scopes: str, specimens: Sequence[Specimen]) -> None:
        """The list of recent vehicles and the history, a row each."""
        for number, one in enumerate(specimens):
            self._clock.now = NOW + timedelta(milliseconds=10 * (number + 1))
            self._get(scopes, f"/placa/{one.plate}")  # only stored answers
            self._close_breaker(one)
            if number % RECENT == RECENT - 1 or one is specimens[-1]:
                shown = specimens[number // RECENT * RECENT : number + 1]
                self._rows("recent", scopes, "/", shown)
        for page in range(-(-len(specimens) // HISTORY)):
            last = len(specimens) - page * HISTORY
            shown = specimens[max(0, last - HISTORY) : last]
            self._rows("history", scopes, f"/historico?pagina={page + 1}", shown)
        self._clock.now = NOW

    def _rows(self, face: str, scopes: str, path: str, specimens: Sequence[Specimen]) -> None:
        tree = parse(self._get(scopes, path).get_data(as_text=True))
        for one in specimens:
            row = next(
                (
                    row
                    for row in (*tree.all("li"), *tree.all("tr"))
                    if _vehicles(row) == {f"/placa/{one.plate}"}
                ),
                None,
            )
            self._keep(face, one.name, row or Node("", {}, ["no row"]))

    def _comparisons(self, scopes: str, specimens: Sequence[Specimen]) -> None:
        """The rows of the comparison. What was not asked is not asked here either."""
        for complete in (True, False):
            alike = [one for one in specimens if complete != bool(one.in_state("unasked"))]
            for start in range(0, len(alike), COMPARED):
                self._comparison(scopes, alike[start : start + COMPARED], complete)

    def _comparison(self, scopes: str, group: Sequence[Specimen], complete: bool) -> None:
        plates = [one.plate for one in group]
        path = f"/comparar?placas={','.join(plates)}" + ("&completo=1" if complete else "")
        self._rows("comparison", scopes, path, group)
        for one in group:
            self._close_breaker(one)

    def _batches(self, specimens: Sequence[Specimen]) -> None:
        """The rows of batches: one for each visitor and each set of lookups, and for each specimen
        whose lookups fail, because the batch would pause after several of them."""
        groups: dict[tuple[str, ...], list[Specimen]] = {}
        for one in specimens:
            if asked := one.in_state("fresh", "stale", "down"):
                alone = one.name if one.in_state("down", "stale") else ""
                groups.setdefault((self._scopes(one), ",".join(asked), alone), []).append(one)
        for (scopes, names, _), group in groups.items():
            body = {"plates": [one.plate for one in group], "ask": names.split(",")}
            created = self._api(scopes, "/api/v1/batches", method="POST", json=body)
            assert created.status_code == 201, created.data
            batch = created.headers["Location"]
            self._api(scopes, f"{batch}/start", method="POST")
            self._wait(scopes, batch)
            self._close_breaker(group[0])
            self._of_batch(scopes, batch, group)

    def _wait(self, scopes: str, batch: str) -> None:
        for _ in range(1000):
            self._parts.batch_runner.tick()
            if self._api(scopes, batch).get_json()["state"] in ("done", "paused"):
                return
            time.sleep(0.02)
        raise AssertionError("the batch did not end")

    def _of_batch(self, scopes: str, batch: str, group: Sequence[Specimen]) -> None:
        table = _rows(self._api(scopes, f"{batch}/results.csv").get_data(as_text=True))
        objects = _objects(self._api(scopes, f"{batch}/results.jsonl").get_data(as_text=True))
        cells = _cells(self._api(scopes, f"{batch}/results.xlsx").data)
        for face, rows in (("batch csv", table), ("batch jsonl", objects), ("batch xlsx", cells)):
            for one, row in zip(group, rows, strict=True):
                self._store(face, one.name, _as_lines(row), row, _is_narrow(one))
        path = batch.replace("/api/v1/batches/", "/lote/")
        self._batch_pages(scopes, path, group)

    def _batch_pages(self, scopes: str, path: str, group: Sequence[Specimen]) -> None:
        left = {one.plate: one for one in group}
        for page in range(1, -(-len(group) // BATCH_PAGE) + 1):
            tree = parse(self._get(scopes, f"{path}?pagina={page}").get_data(as_text=True))
            for row in (*tree.all("tr"), *tree.all("li")):
                links = {link.attributes.get("href", "").partition("?")[0] for link in row.all("a")}
                for plate in [plate for plate in left if f"/placa/{plate}" in links]:
                    one = left.pop(plate)
                    _forget_place(row)
                    self._keep("batch page", one.name, row, narrow=_is_narrow(one))
        for one in left.values():
            self._keep("batch page", one.name, Node("", {}, ["no row"]))


# The number of a request or a batch.
_RANDOM = re.compile(r"\b(?:[0-9a-f]{16}|[0-9a-f]{24})\b")


def _vehicles(row: Node) -> set[str]:
    """The vehicles' pages that a row leads to. The head of a comparison leads to several."""
    links = (link.attributes.get("href", "").partition("?")[0] for link in row.all("a"))
    return {link for link in links if re.fullmatch(r"/placa/\w+", link)}


def _forget_place(row: Node) -> None:
    """Remove the place in the list, with the batch's random id, from the links to vehicles."""
    for link in row.all("a"):
        path, _, query = link.attributes.get("href", "").partition("?")
        if query.startswith("lista="):
            link.attributes["href"] = path


def _is_narrow(one: Specimen) -> bool:
    """Whether a batch leaves out a lookup of the specimen."""
    return bool(one.in_state("unasked", "forbidden"))


def _as_lines(value: Any, path: str = "") -> str:
    """Return a line for each member, by its path. Items of a list have one path."""
    if isinstance(value, dict) and value:
        return "\n".join(_as_lines(value[name], f"{path}.{name}") for name in sorted(value))
    if isinstance(value, list) and value:
        return "\n".join(_as_lines(item, f"{path}[]") for item in value)
    return f"{path.removeprefix('.')}: {json.dumps(value, ensure_ascii=False)}"


def _rows(text: str) -> list[dict[str, str]]:
    text = text.removeprefix("\ufeff")
    separator = ";" if ";" in text.partition("\n")[0] else ","
    return list(csv.DictReader(io.StringIO(text), delimiter=separator))


def _objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def _cells(data: bytes) -> list[dict[str, Any]]:
    from openpyxl import load_workbook

    sheet = load_workbook(io.BytesIO(data), read_only=True).worksheets[0]
    rows = sheet.iter_rows(values_only=True)
    names, *others = rows
    return [dict(zip(map(str, names), map(str, row), strict=True)) for row in others]


@contextmanager
def rendered(folder: Path, specimens: Sequence[Specimen], with_facts: bool) -> Iterator[Faces]:
    """Render specimens with the ``portal`` that can be imported, in a process of its own."""
    clock = FixedClock()
    clock.install()
    # The entry imports all modules of the portal, which then get the clock.
    import_module("app")
    clock.install_in_modules()
    from tests.fakes.in_process import built, managed

    _leave_pdfs_out()
    with built(folder / "demo", {}) as demo:
        specimens = [
            of_sandbox(one, demo.client) if one.is_of_sandbox else one for one in specimens
        ]
    with Source() as source, built(folder / "data", {**managed(source.url), **_SETTINGS}) as portal:
        faces = Faces(portal, source, clock, with_facts)
        faces.prime(specimens)
        faces.render(specimens)
        yield faces


_SETTINGS = {
    "PORTAL_SECRET_KEY": "k" * 40,
    "PORTAL_BATCH_CONCURRENCY": "1",
    "PORTAL_BATCH_LIMIT": "10000",
    "PORTAL_PRICE_DECODE": "0.85",
    "PORTAL_PRICE_RENAINF": "0.95",
    "PORTAL_PRICE_RENAJUD": "0.65",
    "PORTAL_PRICE_REPORT": "0",
}


def _leave_pdfs_out() -> None:
    """An issued dossier's PDF is not compared, and takes a second."""
    from portal.pdf.process import PdfProcess
    from portal.pdf.signing import SignedPdf

    none = SignedPdf(b"%PDF-1.7", None)
    PdfProcess.render_signed = lambda *_: none  # type: ignore[method-assign]
