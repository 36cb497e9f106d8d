"""The portal uses no private name of a library but those of ``ALLOWED``."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
# Each keeps a promise that no public name keeps. The docstring or comment beside it says which, and
# names the version it was checked on or the library's issue; a test fails if the library changes.
ALLOWED = {
    "portal/pdf/signing.py": {"Writer._update_meta"},
    "portal/serving/server.py": {
        "Server._init_shared_socket",
        "server._ssp",
        "server._sfd",
        "server._sso",
        "server._shd",
    },
    "portal/storage/postgresql.py": {
        "_FifoPool._do_get",
        "_FifoPool._create_connection",
        "_FifoPool._do_return_conn",
        "_FifoPool._pool",
    },
    "portal/web/observability/metrics.py": {
        "histogram._sum",
        "histogram._buckets",
        "histogram._upper_bounds",
    },
}
# A single underscore, or a name by which Python itself holds a function or a module together.
PRIVATE = re.compile(r"_(?!_)\w+|__(code|globals|closure|bases|dict|mro)__")
# Documented names of named tuples, enumerations and the module os.
PUBLIC = {"_asdict", "_exit", "_fields", "_replace", "_value_"}
OWN = ("portal", "__future__")


def private_names(source: str) -> Iterator[str]:
    """Yield the private names of libraries that a module imports, reads or overrides."""
    tree = ast.parse(source)
    imported = dict(_imported(tree))
    own = PUBLIC | _defined_here(tree)
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names, level=0):
                if not module.startswith(OWN):
                    yield from (each.name for each in names if PRIVATE.fullmatch(each.name))
            case (
                ast.Attribute(value=ast.Name(id="self" | "cls"))
                | ast.Attribute(value=ast.Call(func=ast.Name(id="super")))
            ):
                pass  # of the class itself, or compared with its bases below
            case ast.Attribute(value=value, attr=attr) if PRIVATE.fullmatch(attr):
                if attr not in own:
                    yield f"{ast.unparse(value)}.{attr}"
            case ast.ClassDef():
                yield from _of_foreign_bases(node, imported)


def _imported(tree: ast.AST) -> Iterator[tuple[str, tuple[str, str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.module.startswith(OWN):
            yield from ((each.asname or each.name, (node.module, each.name)) for each in node.names)


def _defined_here(tree: ast.AST) -> set[str]:
    """Return the names that a class of the module defines for itself."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name):
                found.add(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=attr, ctx=ast.Store()):
                found.add(attr)
    return found


def _of_foreign_bases(
    definition: ast.ClassDef, imported: dict[str, tuple[str, str]]
) -> Iterator[str]:
    """Yield the private names of a class's foreign bases that the class defines or reads."""
    foreign: set[str] = set()
    for base in definition.bases:
        if isinstance(base, ast.Name) and base.id in imported:
            module, name = imported[base.id]
            foreign.update(dir(getattr(importlib.import_module(module), name)))
    own = {each.name for each in ast.walk(definition) if isinstance(each, ast.FunctionDef)}
    read = {
        each.attr
        for each in ast.walk(definition)
        if isinstance(each, ast.Attribute) and ast.unparse(each.value) in ("self", "cls", "super()")
    }
    # An attribute that only an instance has is in no ``dir``: the class reads it and never sets it.
    set_here = {
        each.attr
        for each in ast.walk(definition)
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
    } | {
        target.id
        for each in definition.body
        if isinstance(each, ast.AnnAssign | ast.Assign)
        for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
        if isinstance(target, ast.Name)
    }
    unset = read - own - set_here if foreign else set()
    for name in sorted({*own & foreign, *read & foreign, *unset}):
        if re.fullmatch(r"_(?!_)\w+", name):
            yield f"{definition.name}.{name}"


def test_private_names_of_libraries_are_few_and_known() -> None:
    found = {
        str(path.relative_to(CHECKOUT)): names
        for path in sorted(CHECKOUT.glob("portal/**/*.py"))
        if (names := set(private_names(path.read_text("utf-8"))))
    }
    assert found == ALLOWED


def test_no_method_of_a_library_is_replaced() -> None:
    """mypy reports each. Flask documents ``wsgi_app`` as the place of middleware."""
    replaced = {
        line.split("=")[0].strip()
        for path in CHECKOUT.glob("portal/**/*.py")
        for line in path.read_text("utf-8").splitlines()
        if "ignore[method-assign" in line
    }
    assert replaced == {"app.wsgi_app"}


@pytest.mark.parametrize(
    "source",
    [
        "from markupsafe import Markup, _escape_inner",
        "sheet.matcher._rules.clear()",
        "render.__code__ = render.__code__.replace(co_stacksize=2**16)",
        "from jinja2 import Environment\nclass Own(Environment):\n def _parse(self): pass",
        "from sqlalchemy import QueuePool\nclass Pool(QueuePool):\n"
        " def size(self): return self._pool.qsize()",
        "from flask import Flask\nclass App(Flask):\n"
        " def run(self): super()._check_setup_finished('')",
    ],
)
def test_planted_private_name_is_found(source: str) -> None:
    assert list(private_names(source))


@pytest.mark.parametrize(
    "source",
    [
        "from portal.wording import _listed",
        "self._rows = []",
        "from flask import Flask\nclass App(Flask):\n"
        " def __init__(self):\n  self._rows = []\n def rows(self): return self._rows",
    ],
)
def test_own_private_name_is_no_librarys(source: str) -> None:
    assert not list(private_names(source))
