"""Every base address as one upstream: the other one is asked only where that is safe."""

import time
from collections.abc import Sequence

from portal.upstream.errors import (
    CircuitOpen,
    LocalFailure,
    NotSent,
    Uncertain,
    Unusable,
    UpstreamError,
)
from portal.upstream.protocol import Account, Resource, Response, Upstream


class Failover:
    """Asks the origins in turn within one deadline.

    Nothing left (NotSent): the next origin may be asked for any method. It left and no whole
    answer came (Uncertain, Unusable): for GET alone, since a POST would be charged again.
    An answer, 4xx included, ends the search; so does a LocalFailure, which the next origin would
    meet too.
    """

    def __init__(self, origins: Sequence[Upstream]) -> None:
        self._origins = tuple(origins)

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        failures: list[UpstreamError] = []
        for origin in self._origins:
            if failures and time.monotonic() >= deadline:
                break
            try:
                return origin.send(resource, account, deadline)
            except LocalFailure as failure:
                failures.append(failure)
                break
            except NotSent as failure:
                failures.append(failure)
            except (Uncertain, Unusable) as failure:
                failures.append(failure)
                if resource.method != "GET":
                    break
            except Exception:
                # The account refused this send; the one before it was charged and explains more.
                if any(not isinstance(failure, NotSent) for failure in failures):
                    break
                raise
        raise _most_telling(failures)


def _most_telling(failures: Sequence[UpstreamError]) -> UpstreamError:
    """What came closest to an answer explains most; of cool-downs, the one that ends first."""
    sent = [failure for failure in failures if not isinstance(failure, NotSent)]
    if sent:
        return sent[-1]
    pauses = [failure for failure in failures if isinstance(failure, CircuitOpen)]
    return min(pauses, key=lambda pause: pause.retry_after_s) if pauses else failures[-1]
