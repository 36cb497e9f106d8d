"""Commands that could not be done say why in a line, and exit 1."""

import sys
from collections.abc import Callable
from typing import Any

import click
from sqlalchemy.exc import SQLAlchemyError


class Command(click.Command):
    """A database that is away or full is no fault of the program: no trace of it is shown.

    ``check`` is called before the command and returns why it must not run, or None.
    """

    check: Callable[[], str | None] = staticmethod(lambda: None)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            if (trouble := self.check()) is not None:
                print(trouble, file=sys.stderr)
                sys.exit(1)
            return super().invoke(ctx)
        except SQLAlchemyError as error:
            # The lines after the first tell the statement, and what it was given.
            print(f"The database cannot be used: {str(error).splitlines()[0]}", file=sys.stderr)
            sys.exit(1)


class CommandGroup(Command, click.Group):
    """The same for a group: whatever its commands meet passes here."""
