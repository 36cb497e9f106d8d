"""Sends a failed call to another base address, if sending it again is safe."""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from portal.upstream.errors import (
    CircuitOpen,
    LocalFailure,
    NotSent,
    Uncertain,
    Unfit,
    Unusable,
    UpstreamError,
)
from portal.upstream.protocol import Account, Elsewhere, Resource, Response, Upstream


class Failover:
    """Sends a request to the origins in order until one answers or the deadline passes.

    After a LocalFailure, no other origin is tried, because every call from this machine would fail.
    After any other NotSent, the next origin is tried. After Uncertain or Unusable, the next origin
    is tried only for GET, because a second POST may order a second report, which is also charged.
    After Unfit, the next origin is tried only if its answer may differ.

    An origin whose circuit rests (see ``Circuit``) is asked only if the other origins give no
    answer, and then last.
    """

    def __init__(self, origins: Sequence[Upstream]) -> None:
        self._origins = tuple(origins)

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        failures: list[UpstreamError] = []
        resting: list[Upstream] = []
        refusal: Exception | None = None
        other: Elsewhere = "untried" if len(self._origins) > 1 else "none"
        # ``resting`` grows while the first loop runs. In the second loop, no origin may rest.
        for origin, elsewhere in chain(
            ((origin, other) for origin in self._origins), ((origin, "none") for origin in resting)
        ):
            if failures and time.monotonic() >= deadline:
                break
            was_sent = any(not isinstance(failure, NotSent) for failure in failures)
            asked = replace(resource, elsewhere="failed" if was_sent else elsewhere)
            try:
                return origin.send(asked, account, deadline)
            except LocalFailure as failure:
                failures.append(failure)
                break
            except NotSent as failure:
                if isinstance(failure, CircuitOpen) and failure.is_resting:
                    resting.append(origin)
                else:
                    failures.append(failure)
            except (Uncertain, Unusable) as failure:
                failures.append(failure)
                is_final = isinstance(failure, Unfit) and not failure.may_differ
                if resource.method != "GET" or is_final:
                    break
            except Exception as error:
                # ``account.begin`` refused this call, for example because of a daily limit. If an
                # earlier call was sent, raise that call's failure instead of this error.
                if not was_sent:
                    raise
                refusal = error
                break
        raised = _most_informative(failures)
        was_refused = any(isinstance(failure, CircuitOpen) for failure in failures)
        raised.held_back = was_refused or refusal is not None
        raise raised from refusal


def _most_informative(failures: Sequence[UpstreamError]) -> UpstreamError:
    """Return the failure of the last call that was sent.

    If no call was sent, return the CircuitOpen with the shortest wait. If there is no CircuitOpen,
    return the last failure.
    """
    sent = [failure for failure in failures if not isinstance(failure, NotSent)]
    if sent:
        return sent[-1]
    pauses = [failure for failure in failures if isinstance(failure, CircuitOpen)]
    return min(pauses, key=lambda pause: pause.retry_after_s) if pauses else failures[-1]
