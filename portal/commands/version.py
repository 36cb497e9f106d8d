"""``flask --app app version``: prints the portal's version."""

import click

from portal import VERSION
from portal.commands.failures import Command
from portal.commands.parts import Parts


def version_command(_: Parts) -> Command:
    @click.command("version", cls=Command)
    def version() -> None:
        """Print the version of the portal."""
        print(VERSION)

    return version
