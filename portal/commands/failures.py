"""Command classes that print a failure in one line and exit 1."""

import sys
from collections.abc import Callable
from typing import Any

import click
from sqlalchemy.exc import SQLAlchemyError


class Command(click.Command):
    """A command that prints a database error in one line, without a traceback.

    An unreachable or full database is no defect of the program. ``check`` is called before the
    command and returns why it must not run, or None.
    """

    check: Callable[[], str | None] = staticmethod(lambda: None)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            if (failure := self.check()) is not None:
                print(failure, file=sys.stderr)
                sys.exit(1)
            return super().invoke(ctx)
        except SQLAlchemyError as error:
            # The further lines contain the statement and its parameters.
            print(f"The database cannot be used: {str(error).splitlines()[0]}", file=sys.stderr)
            sys.exit(1)


class CommandGroup(Command, click.Group):
    """A group that does the same for its commands, whose errors pass through its ``invoke``."""
