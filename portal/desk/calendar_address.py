"""The calendar address of one caller."""

from portal.access.calendar_addresses import CalendarOwner
from portal.desk.caller import Caller
from portal.desk.core import Core


class CalendarAddress:
    """The secret address under which a caller's deadlines are read, if there is one."""

    def __init__(self, core: Core, caller: Caller) -> None:
        self._addresses = core.calendar_addresses
        self._caller = caller

    @property
    def is_offered(self) -> bool:
        """Whether the caller may have an address.

        A calendar program has no upstream credential, without which no answer of the caller is
        found.
        """
        return not self._caller.pays_alone

    @property
    def key(self) -> str | None:
        return self._addresses.of(self._caller.owner)

    def make(self) -> str:
        owner = CalendarOwner(self._caller.owner, self._caller.identity.owner)
        return self._addresses.make(owner)

    def revoke(self) -> None:
        self._addresses.revoke(self._caller.owner)
