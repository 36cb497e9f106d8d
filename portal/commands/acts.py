"""What a command does, as the trail names it."""

import getpass
from contextlib import suppress

from portal.access.trail import Act, Entry


def command_user() -> str:
    """Return who runs the command: the user of the operating system."""
    with suppress(OSError, KeyError):  # a container may have a user without a name
        return f"command:{getpass.getuser()}"
    return "command"


def by_command(act: Act, number: str = "", vehicle: str = "") -> Entry:
    """Return an act of who runs the command."""
    return Entry(
        who=command_user(), kind="command", act=act, face="command", vehicle=vehicle, number=number
    )
