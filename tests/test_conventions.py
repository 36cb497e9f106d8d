"""Checks of file names, routes, environment variables, our own words, and durations of tests."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.in_process import built

CHECKOUT = Path(__file__).resolve().parents[1]
# Files that read variables without PORTAL_ (such as PORT) or set a variable for a library.
ENVIRONMENT_READERS = {
    "portal/commands/batch.py",  # the credential of the command's user
    "portal/factory.py",
    "portal/pdf/child.py",  # passes all but the settings to a child process
    "portal/pdf/renderer.py",  # sets a variable of fontTools
    "portal/serving/inherited.py",
    "portal/serving/process.py",
    "portal/sandbox/__main__.py",
    "portal/web/observability/logs.py",  # NO_COLOR and TERM
    "portal/web/observability/metrics.py",
}


def sources() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    return [CHECKOUT / name for name in listed.stdout.split() if (CHECKOUT / name).exists()]


def test_routes_match_golden_list(tmp_path: Path) -> None:
    with built(tmp_path, {}) as here:
        rules = {rule.rule for rule in here.app.url_map.iter_rules()}
    known = (CHECKOUT / "tests/golden/routes.txt").read_text("utf-8").splitlines()
    assert sorted(rules) == known


def test_no_file_has_a_generic_name() -> None:
    empty = re.compile(r"(utils?|helpers?|common|misc|manager|base)\.py")
    assert not [path for path in sources() if empty.fullmatch(path.name)]


def test_only_entry_points_read_the_environment() -> None:
    portal_files = [path for path in sources() if path.is_relative_to(CHECKOUT / "portal")]
    readers = {
        str(path.relative_to(CHECKOUT))
        for path in [*portal_files, CHECKOUT / "app.py"]
        if re.search(r"os\.(environ|getenv)", path.read_text("utf-8"))
    }
    assert readers == ENVIRONMENT_READERS


def test_test_over_5_s_says_why() -> None:
    """tests/durations.txt holds the durations of ``make test`` first."""
    run = (CHECKOUT / "tests/durations.txt").read_text("utf-8").partition("\n-m ")[0]
    load = re.match(r"-m .*, beside a load of ([\d.]+)\n", run)
    assert load
    share = 3 / (3 + float(load[1]))  # of the processors, which the three processes of pytest get
    silent = set()
    for seconds, path, name in re.findall(r"^([\d.]+)s call +(\S+)::(\w+)", run, re.MULTILINE):
        source = (CHECKOUT / path).read_text("utf-8") if (CHECKOUT / path).exists() else ""
        decorators = re.search(rf"((?:^[@ )\]].*\n)*)^def {name}\(", source, re.MULTILINE)
        if float(seconds) * share > 5 and decorators and "over_5_s(" not in decorators[1]:
            silent.add(f"{path}::{name}")
    assert silent == set()


# Packages that decide, or say. What a sentence of ours says is a fact beside it, and shorter words
# are words of their own.
SAYING = ("law", "dossier", "presentation", "phrasebook")
CUTTING = ("removesuffix", "removeprefix", "partition", "rpartition", "replace", "startswith")
# Texts of the source, of a visitor, of an address or of a table may be read and cut.
OF_OTHERS = {
    "portal/law/adverse.py": (  # the written report
        "read[end + 1:end + 1 + _LONGEST_HEADING].partition",
    ),
    "portal/law/infractions.py": ("self.article.replace",),  # the table's article
    "portal/law/report_check.py": ("_PRAISES.search(clause)",),  # the written report
    "portal/law/office_days.py": ("rule.partition",),  # a rule of the table of holidays
    "portal/presentation/caller_name.py": ("name.removeprefix",),  # a setting's name
    "portal/presentation/paper/dossier.py": ("self.address.partition",),  # an address
    "portal/presentation/vehicle/sheet.py": ("self.address.partition",),  # an address
    "portal/presentation/site/api_answers.py": ("requests['decode'].sample_path.rpartition",),
    "portal/presentation/site/api_reference.py": (
        "operation.path.rpartition('/')[2].partition",
        "operation.path.rpartition",
    ),
    "portal/presentation/site/site.py": ("notice.partition",),  # the third parties' notices
}
# Words, and a letter that no code of ours has, or a blank: no key, but a text for people.
TEXT = re.compile(r"[^\W\d_]{2}.*[ À-ÿ]|[À-ÿ]")

# Names of what holds words for people, and of what a function returns them by.
# (A name "sentence" alone, or "word", is mostly one of a source's texts.)
SAID = frozenset(("note", "notes", "headline", "brief", "caveat", "clause"))
SAID_OF = SAID | {"word", "status_word", "status_note", "amount_note"}
READING = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub")


# Three words in a row, in lower case: no pattern of a source's words, which are in capitals.
SENTENCE = re.compile(r"[a-zà-ü]{2,},? [a-zà-ü]{1,},? [a-zà-ü]{2,}")


def decisions_on_words(source: str) -> Iterator[str]:
    """Yield the expressions of a module that compare or cut texts for people."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args):
                is_text = any(isinstance(arg, ast.Constant) and _is_text(arg) for arg in args)
                is_dated = attr == "replace" and not args
                if attr in CUTTING and not is_dated and (attr not in CUTTING[4:] or is_text):
                    yield f"{ast.unparse(value)}.{attr}"
                elif attr in (*READING, "get") and any(map(_is_said, args)):
                    yield ast.unparse(node)
            case ast.Compare(left=left, comparators=others):
                constants = [each for other in others for each in ast.walk(other)]
                is_text = any(isinstance(c, ast.Constant) and _is_text(c) for c in constants)
                is_sentence = ast.unparse(node).endswith(".sentence")
                if is_text or is_sentence or any(map(_is_said, (left, *others))):
                    yield ast.unparse(node)
            case ast.Subscript(slice=key) if _is_said(key):
                yield ast.unparse(node)
            case ast.DictComp(key=key) if _is_said(key):
                yield ast.unparse(node)


def _is_said(node: ast.expr) -> bool:
    """Return whether an expression is a text for people, by its name."""
    match node:
        case ast.Name(id=name):
            return name in SAID
        case ast.Attribute(attr=name) | ast.Call(func=ast.Attribute(attr=name)):
            return name in SAID_OF
        case ast.Call(func=ast.Name(id=name)):
            return name in SAID_OF
        case _:
            return False


def sentences(source: str) -> Iterator[str]:
    """Yield the texts of a module that are sentences or parts of one, without its docstrings."""
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in docstrings:
                if SENTENCE.search(text):
                    yield text


def _is_text(constant: ast.Constant) -> bool:
    return isinstance(constant.value, str) and bool(TEXT.search(constant.value))


def test_no_module_decides_on_our_own_words() -> None:
    found = {
        str(path.relative_to(CHECKOUT)): names
        for path in sources()
        if path.relative_to(CHECKOUT).parts[:1] == ("portal",)
        and path.relative_to(CHECKOUT).parts[1] in SAYING
        and (names := tuple(dict.fromkeys(decisions_on_words(path.read_text("utf-8")))))
    }
    assert found == OF_OTHERS


@pytest.mark.parametrize(
    "line",
    [
        'short = finding.text.removesuffix(" agora")',
        'note = found.note.partition(" (")[0]',
        'text = sentence.replace("pode ser transferido", "transfere")',
        'hedged = phrase.startswith("em regra")',
        'is_minor = fine.gravity_word in ("leve", "média")',
        "is_plain = now.status.word == now.standing.word",
        'is_quoted = f"“{kind}”" in note',
        'is_paid = "paga" in found.note',
        "is_same = status_word(was.status) == status_word(now.status)",
        "plural = _PLURALS.get(standing.word)",
        "plurals = {standing.word: standing.of_many for standing in Standing}",
        "tone = TONES[status.note]",
        "found = _LATE.search(status_note(fine))",
        'is_clear = finding == "Nada encontrado nos registros"',
    ],
)
def test_planted_decision_on_words_is_found(line: str) -> None:
    assert list(decisions_on_words(line))


# The classes of portal/storage/sqlite.py and postgresql.py answer instead. Migrations ask, because
# they never change once they are released.
DIALECT_TEST = re.compile(r"dialect\.name|\bis_sqlite\b|\bis_postgres(ql)?\b")


def test_no_module_asks_which_database_it_has() -> None:
    asking = {
        str(path.relative_to(CHECKOUT))
        for path in sources()
        if path.relative_to(CHECKOUT).parts[0] == "portal"
        and "migrations" not in path.parts
        and DIALECT_TEST.search(path.read_text("utf-8"))
    }
    assert asking == set()


@pytest.mark.parametrize(
    "line", ['if engine.dialect.name == "postgresql":', "if database.is_sqlite:"]
)
def test_planted_test_of_a_dialect_is_found(line: str) -> None:
    assert DIALECT_TEST.search(line)


# Tables of the law that hold official texts, or cite where a rule is from. No table there has words
# of ours: those are tables of portal/phrasebook.
OFFICIAL_TEXTS = {
    "courts.csv": "the names of the courts",
    "effects.csv": "the source of what each kind of order forbids",
    "holidays.csv": "the names of the holidays",
    "infractions.csv": "the wording of the infractions, from Res. Contran 985/2022",
    "rules.csv": "what each article of law says, for the table on /glossario",
    "standstills.csv": "the acts by which deadlines stood still",
}


def test_law_returns_codes_and_no_sentences() -> None:
    law = CHECKOUT / "portal/law"
    saying = {path.name for path in law.glob("*.py") if any(sentences(path.read_text("utf-8")))}
    assert saying == set()


# What says, or draws.
WORDS_OF = re.compile(r"^ *(from|import) portal\.(phrasebook|dossier|presentation)\b", re.MULTILINE)


def test_tests_of_the_law_assert_codes_and_facts() -> None:
    """Sentences are asserted by tests/phrasebook, and by tests/faces on every face."""
    tests = [path for path in sources() if path.parent == CHECKOUT / "tests/law"]
    assert tests
    assert not [path.name for path in tests if WORDS_OF.search(path.read_text("utf-8"))]
    assert WORDS_OF.search("from portal.phrasebook import fines as say")


def test_tables_of_the_law_hold_official_texts_alone() -> None:
    tables = [*(CHECKOUT / "portal/law").glob("*.csv"), *(CHECKOUT / "portal/law").glob("*.toml")]
    lines = {
        path.name: [
            line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")
        ]
        for path in tables
    }
    saying = {name for name, each in lines.items() if any(map(SENTENCE.search, each))}
    assert saying == OFFICIAL_TEXTS.keys()


@pytest.mark.parametrize(
    "line",
    [
        'return Status(Standing.PAID, "Paga no dia, segundo a fonte.")',
        'note += f" O valor enviado ({sent}) veio sem os centavos."',
    ],
)
def test_planted_sentence_is_found(line: str) -> None:
    assert list(sentences(line))
    assert not list(sentences('_OVER = re.compile(r"\\b(PENHORA|SEM BAIXA|NAO PAGA)\\b")'))
