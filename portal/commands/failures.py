"""Command classes that print a failure in one line and exit 1."""

import sys
from collections.abc import Callable
from typing import Any

import click
from sqlalchemy.exc import SQLAlchemyError


class Command(click.Command):
    """A command that prints a database error in one line and exits 1.

    A traceback would suggest a bug, although the database is only unreachable or full. ``check``
    runs before the command and returns the reason why the command must not run, or None.
    """

    check: Callable[[], str | None] = staticmethod(lambda: None)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            if (failure := self.check()) is not None:
                print(failure, file=sys.stderr)
                sys.exit(1)
            return super().invoke(ctx)
        except SQLAlchemyError as error:
            # The other lines of the message contain the SQL statement and its parameters.
            print(f"The database cannot be used: {str(error).splitlines()[0]}", file=sys.stderr)
            sys.exit(1)


class CommandGroup(Command, click.Group):
    """A group whose commands print a database error in one line and exit 1."""
