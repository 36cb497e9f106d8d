"""Command classes that print a failure in one line and exit with status 1."""

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import click
from sqlalchemy.exc import SQLAlchemyError


def fail(why: str) -> NoReturn:
    """Print the reason of a failure, and exit with status 1."""
    print(why, file=sys.stderr)
    sys.exit(1)


class Command(click.Command):
    """A command that prints a database error in one line and exits 1.

    A traceback would suggest a bug, although the database is only unreachable or full. ``check``
    runs before the command and returns the reason why the command must not run, or None.
    """

    check: Callable[[], str | None] = staticmethod(lambda: None)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            if (failure := self.check()) is not None:
                fail(failure)
            return super().invoke(ctx)
        except SQLAlchemyError as error:
            # Print only the first line, because other lines contain the SQL parameters.
            fail(f"The database cannot be used: {str(error).splitlines()[0]}")


class CommandGroup(Command, click.Group):
    """A group whose commands print a database error in one line and exit 1."""
