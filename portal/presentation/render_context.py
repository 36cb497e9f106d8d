"""The parameters with which a page is built."""

from dataclasses import dataclass
from datetime import date, datetime

from portal.presentation.query import Query
from portal.system.local_time import local_date


@dataclass(frozen=True, slots=True)
class RenderContext:
    """When a page is built, with a time zone, and what its visitor chose in its address."""

    now: datetime
    query: Query = ()

    @property
    def today(self) -> date:
        """The day of ``now`` in America/Sao_Paulo."""
        return local_date(self.now)
