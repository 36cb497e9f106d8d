"""No typed text breaks a face, and nothing that stands beside a plate is looked up unasked.

``TYPED_SEED`` repeats a run.
"""

import os
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from portal.batch.typed_list import TypedList, read_list, read_strings
from portal.phrasebook.api_errors import INVALID_PLATE
from portal.presentation.site.search_page import SearchPage
from portal.presentation.typed_subject import plates_in
from portal.presentation.wrong_entries import wrong_message
from portal.vehicle.plate import Plate, Renavam
from portal.vehicle.typed import read_typed
from tests.conftest import PortalFactory
from tests.effort import FULL, cases, long
from tests.fakes import FaultUpstream
from tests.fakes.in_process import PORTAL_TOKEN
from tests.hostile.typed_texts import Text, texts
from tests.web.person import Person

SEED = os.environ.get("TYPED_SEED") or (str(random.randrange(10**6)) if FULL else "1")
PACK = 200  # texts in one list
# A page takes ten times as long as its decision, so the long form sends one text of 20.
STEP = 20 if FULL else 1
# Words of random letters before a number are as plates are: a list shows them before it asks.
LISTED = (
    *("misread", "labelled", "document", "version", "foreign", "amounts"),
    *("word", "address", "negated", "half"),
)


@dataclass(slots=True)
class Report:
    total: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def expect(self, holds: bool, rule: str, typed: object) -> None:
        if not holds:
            self.broken[rule] += 1
            self.first.setdefault(rule, repr(typed))

    def __str__(self) -> str:
        return "\n".join(f"{rule}: {n}, as {self.first[rule]}" for rule, n in self.broken.items())


def packs(found: Iterator[Text]) -> Iterator[Sequence[Text]]:
    while pack := tuple(islice(found, PACK)):
        yield pack


def named(location: str) -> set[str]:
    """Return the vehicles that the page at a Location looks up."""
    url = urlsplit(location)
    if url.path.startswith(("/placa/", "/renavam/")):
        return {url.path.split("/")[2]}
    if url.path == "/comparar":
        return set(",".join(parse_qs(url.query).get("placas", [])).split(","))
    return set()


def read(report: Report, one: Text) -> None:
    """Read a text as lists, the API and the command do, and explain what was read."""
    for face, found in (("list", read_list(one.text)), ("API", read_strings([one.text]))):
        subjects = {subject.text for subject in found.subjects}
        if one.kind in LISTED:
            report.expect(subjects <= one.meant, f"{face}: drafts what is no plate", one)
        report.expect(explained(found), f"{face}: cannot explain", one)
    if one.kind == "document":
        subjects = {subject.text for subject in read_list(one.text).subjects}
        report.expect(subjects == one.meant, "list: a document is not one vehicle", one)
    if one.kind in ("foreign", "amounts", "version"):
        suggested = [each.suggestion for each in read_list(one.text).wrong if each.suggestion]
        is_invented = any(Plate.parse(each) for each in suggested if len(each) == 7)
        is_own = one.kind == "version" and "POP" in one.text
        report.expect(not is_invented or is_own, f"list: offers a plate for {one.kind}", one)
    if one.kind == "misread":
        labelled, plain = read_typed(one.text), read_typed(one.plain)
        report.expect(labelled == plain, "label: another meaning", one)


def searched(report: Report, one: Text) -> None:
    """Decide as the search does whether a page is opened, and build its answer if not."""
    try:
        page = SearchPage(query=one.text, problem=INVALID_PLATE)
        typed, plates = read_typed(one.text), plates_in(one.text)
        is_shown = bool(page.suggestions or page.hint) or not typed.signs
    except Exception:
        is_shown, plates = False, ()
    report.expect(is_shown, "search: cannot explain", one)
    opened = {plate.text for plate in plates}
    if one.kind == "half":
        report.expect(not opened, "search: leaves out a misread plate", one)
    if one.kind in ("word", "address", "negated") and not one.meant:
        is_opened = typed.is_certain or bool(opened)
        report.expect(not is_opened, "search: opens what is no plate to look up", one)
    report.expect(opened <= one.meant, "search: opens what was not typed", one)


def explained(found: TypedList) -> bool:
    try:
        return all(wrong_message(each) for each in found.wrong)
    except Exception:
        return False


@pytest.mark.parametrize("count", [300, *long(cases(1_500, 200_000))])
def test_typed_texts_break_no_face_and_buy_nothing(
    portal: PortalFactory, upstream: FaultUpstream, capsys: pytest.CaptureFixture[str], count: int
) -> None:
    here = portal(BATCH_LIMIT="2000")
    stranger, ana = here.app.test_client(), Person.at(here).signed_in()
    report = Report()
    for pack in packs(texts(SEED, count)):
        for one in pack:
            report.total += 1
            read(report, one)
            searched(report, one)
            if report.total % STEP:
                continue
            for path, name in (("/buscar", "q"), ("/comparar", "placas")):
                client = stranger if path == "/buscar" else ana.client
                answer = client.get(path, query_string={name: one.text})
                report.expect(answer.status_code < 500, f"{path}: 5xx", one)
                bought = named(answer.headers.get("Location", ""))
                report.expect(bought <= one.meant, f"{path}: opens what was not typed", one)
        lists(report, here, ana, pack)
    report.expect(upstream.count() == 0, "something was bought", upstream.count())
    if FULL:
        with capsys.disabled():
            sys.stdout.write(f"\nTYPED_SEED={SEED}, {report.total} texts\n{report}\n")
    assert not report.broken, f"TYPED_SEED={SEED}\n{report}"


def lists(report: Report, here: Any, ana: Person, pack: Sequence[Text]) -> None:
    """Post the texts as one list, to the form and to the API, and read the drafts."""
    values = [one.text for one in pack]
    created = ana.post("/lote", placas="\n".join(values), consulta="renainf")
    report.expect(created.status_code < 500, "/lote: 5xx", values)
    if location := created.headers.get("Location"):
        status = ana.client.get(location).status_code
        report.expect(status == 200, f"draft: {status}", values)
        ana.post(f"{location}/descartar")
    answer = here.client.post(
        "/api/v1/batches",
        json={"plates": values, "ask": ["renainf"]},
        headers={"Authorization": PORTAL_TOKEN},
    )
    # The 21st draft is refused, and none of these lists is ever started.
    refused = answer.status_code == 409 and answer.get_json().get("code") == "too_many_drafts"
    report.expect(answer.status_code == 201 or refused, f"API: {answer.status_code}", values)


def test_a_renavam_of_the_generator_is_one() -> None:
    assert all(
        isinstance(read_typed(line.removeprefix("Renavam: ")).subject, Renavam)
        for one in texts("1", 200)
        if one.kind == "document"
        for line in one.text.splitlines()
        if line.startswith("Renavam: ")
    )
