"""Share between the applications of a process what each of them would make again.

These are the compiled URL rules, a database with its tables, the compiled statements of queries,
and the static files with their compressed forms. They take three quarters of the time in which an
application is created.
"""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from werkzeug.routing import Rule

from portal.storage import sqlite
from portal.storage.opening import open_database
from portal.web.http.assets import Assets

_COMPILED = ("_parts", "_trace", "_converters", "arguments", "_build", "_build_unknown")
STATIC = Path(__file__).resolve().parents[2] / "static"


def install() -> None:
    """Make all applications created from now on share these parts."""
    _share_rules()
    _share_tables()
    _share_compiled_statements()
    _share_assets()


def _share_rules() -> None:
    compiled: dict[Any, dict[str, Any]] = {}
    compile_rule = Rule.compile

    def compile_once(rule: Rule) -> None:
        defaults = tuple(sorted((rule.defaults or {}).items()))
        key = (rule.rule, rule.host, rule.subdomain, rule.merge_slashes, defaults)
        if key not in compiled:
            compile_rule(rule)
            compiled[key] = {name: getattr(rule, name) for name in _COMPILED}
        for name, value in compiled[key].items():
            # The functions that build a URL are methods of the first rule.
            bound = getattr(value, "__func__", None)
            setattr(rule, name, bound.__get__(rule) if bound else value)

    Rule.compile = compile_once  # type: ignore[assignment, method-assign]


def _share_tables() -> None:
    """Copy a new SQLite database, with its tables, to where another one is created."""
    create = sqlite.create_file

    @cache
    def with_tables() -> bytes:
        with created_empty(), tempfile.TemporaryDirectory() as folder:
            open_database(None, Path(folder)).dispose()
            return (Path(folder) / "portal.sqlite").read_bytes()

    def copy(file: Path) -> None:
        log = file.with_name(f"{file.name}-wal")
        # SQLite discards a log that is left of a lost file if the file beside it is empty.
        if _is_created_empty or file.exists() or log.exists():
            create(file)
            return
        made = file.with_name(f"{file.name}-{secrets.token_hex(8)}")
        try:
            create(made)
            made.write_bytes(with_tables())
            with suppress(FileExistsError):
                os.link(made, file)  # another process may create it at the same time
        finally:
            made.unlink(missing_ok=True)

    sqlite.create_file = copy


_is_created_empty = False


@contextmanager
def created_empty() -> Iterator[None]:
    """Create the tables of a new database by their statements, as the portal does."""
    global _is_created_empty
    before, _is_created_empty = _is_created_empty, True
    try:
        yield
    finally:
        _is_created_empty = before


class _Compiled(dict[Any, Any]):
    """Compiled statements of all engines with one dialect, which is a part of the keys."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: Any, compiled: Any) -> None:
        super().__setitem__(key[1:], compiled)


def _share_compiled_statements() -> None:
    compiled = _Compiled()
    make = sqlite._engine

    def engine(path: Path) -> Engine:
        made = make(path)
        made.update_execution_options(compiled_cache=compiled)
        return made

    sqlite._engine = engine


def _share_assets() -> None:
    built: list[Assets] = []
    build = Assets.__init__

    def build_once(self: Assets, directory: Path) -> None:
        if directory.resolve() == STATIC and built:
            vars(self).update(vars(built[0]))
            return
        build(self, directory)
        if directory.resolve() == STATIC:
            built.append(self)

    Assets.__init__ = build_once  # type: ignore[method-assign]
