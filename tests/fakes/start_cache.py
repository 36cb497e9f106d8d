"""Share between the applications of a process what each of them would make again.

These are the compiled URL rules, the statements that create the tables, and the static files with
their compressed forms. They take two thirds of the time in which an application is created.
"""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, MetaData, event
from werkzeug.routing import Rule

from portal.web.http.assets import Assets

_COMPILED = ("_parts", "_trace", "_converters", "arguments", "_build", "_build_unknown")
STATIC = Path(__file__).resolve().parents[2] / "static"


def install() -> None:
    """Make all applications created from now on share these parts."""
    _share_rules()
    _share_statements()
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


def _share_statements() -> None:
    """Execute the text of the statements that the first empty SQLite database has got."""
    written: dict[MetaData, list[str]] = {}
    create_all = MetaData.create_all

    def create(metadata: MetaData, bind: Any, *args: Any, **options: Any) -> None:
        if not _is_empty_sqlite(bind) or args or options:
            create_all(metadata, bind, *args, **options)
        elif metadata in written:
            for statement in written[metadata]:
                bind.exec_driver_sql(statement)
        else:
            statements = []

            def note(_: object, __: object, statement: str, *___: object) -> None:
                if not statement.startswith("PRAGMA"):
                    statements.append(statement)

            event.listen(bind, "before_cursor_execute", note)
            create_all(metadata, bind)
            event.remove(bind, "before_cursor_execute", note)
            written[metadata] = statements

    MetaData.create_all = create  # type: ignore[assignment, method-assign]


def _is_empty_sqlite(bind: object) -> bool:
    if not isinstance(bind, Connection) or bind.dialect.name != "sqlite":
        return False
    return not bind.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar()


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
