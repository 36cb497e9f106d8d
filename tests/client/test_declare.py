"""``dossie declare``: the lines of a checklist, shown and declared without an upstream call."""

import json

import pytest

from tests.client.test_command import PLATE, Command
from tests.client.test_command import dossie as dossie
from tests.fakes import FaultUpstream

pytestmark = [pytest.mark.slow, pytest.mark.long]


def test_lines_are_shown_and_declared_and_nothing_is_asked(
    dossie: Command, upstream: FaultUpstream
) -> None:
    shown = json.loads(dossie("declare", PLATE).stdout)
    assert {line["state"] for line in shown["lines"]} == {"unchecked"}
    words = ("--amount", "1200,50", "--what", "2 parcelas", "--source", "Fazenda")
    done = dossie("declare", PLATE, "debitos", "something", *words, "--on", "2026-11-20")
    assert done.returncode == 0, done.stderr
    stored = json.loads(done.stdout)
    assert stored["open"] == shown["open"] - 1
    (line,) = [each for each in stored["lines"] if each["line"] == "debitos"]
    assert (line["state"], line["by"], line["amount"]) == ("something", "declared", 1200.5)
    assert (line["what"], line["source"], line["on"]) == ("2 parcelas", "Fazenda", "2026-11-20")
    assert json.loads(dossie("declare", PLATE).stdout) == stored
    text = dossie.on_a_terminal("declare", PLATE)
    assert "debitos: consta, R$ 1.200,50 (2 parcelas) · declarado por token 1" in text
    taken_back = json.loads(dossie("declare", PLATE, "debitos", "unchecked").stdout)
    assert taken_back == shown
    assert upstream.count() == 0


def test_declaration_against_a_record_is_refused_with_the_record_named(
    dossie: Command, upstream: FaultUpstream
) -> None:
    assert dossie("fines", PLATE).returncode == 0  # one open fine
    asked = upstream.count()
    refused = dossie("declare", PLATE, "multas", "nothing")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "(Renainf) traz 1 multa em aberto" in refused.stderr
    shown = json.loads(dossie("declare", PLATE).stdout)
    (line,) = [each for each in shown["lines"] if each["line"] == "multas"]
    assert (line["by"], line["state"], line["contradicted"]) == ("record", "something", False)
    assert upstream.count() == asked


def test_wrong_words_store_nothing(dossie: Command) -> None:
    for words, said in (
        (("gravame",), "falta dizer nothing, something ou unchecked"),
        (("gravame", "clean"), "invalid choice"),
        (("gravames", "nothing"), "Quis dizer “gravame”?"),
        (("gravame", "nothing", "--amount", "3"), "Só “something” tem valor"),
        (("gravame", "nothing", "--amount", "-1"), "valor"),
        (("gravame", "nothing", "--on", "2999-01-01"), "até hoje"),
    ):
        refused = dossie("declare", PLATE, *words)
        assert (refused.returncode, refused.stdout) == (2, ""), refused.stderr
        assert said in refused.stderr
        lines = json.loads(dossie("declare", PLATE).stdout)["lines"]
        assert {line["by"] for line in lines} == {None}, words
