"""The scripted upstream's actions for one request, and the caller's expected result."""

import dataclasses
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Literal

Method = Literal["GET", "POST"]
Kind = Literal["answer", "error", "either"]
Charge = Literal["maybe", "charged", "failing", "any"]

SHORT_DEADLINE_S = 0.25
LONG_DEADLINE_S = 20.0

# For other statuses, the client under test may drop the body.
STATUSES_WITH_BODY = (200, 400, 404)

_SERIAL = re.compile(rb"#(\d{6}\.\d{2})#")


@dataclass(frozen=True, slots=True)
class Send:
    """Bytes to write. Sends without a pause between them leave in one packet.

    Sends with the same positive ``element`` form one optional part of the message. Without this
    part, the expected result is the same.
    """

    data: bytes
    element: int = 0


@dataclass(frozen=True, slots=True)
class Pause:
    """A wait between two packets.

    An ``idle`` pause follows a complete answer. If the next request arrives during this pause, the
    rest of the script is dropped. A client could not tell the remaining bytes from the next answer.
    """

    seconds: float = 0.001
    idle: bool = False


@dataclass(frozen=True, slots=True)
class Endless:
    """The same bytes, repeated until the client closes the connection."""

    data: bytes


class End(Enum):
    """What happens to the connection after all steps."""

    KEEP = "keep"
    CLOSE = "close"
    RESET = "reset"
    HANG = "hang"  # silent until the client closes


Step = Send | Pause | Endless


@dataclass(frozen=True, slots=True)
class Expected:
    """The result that the caller must get.

    The kind ``answer`` means exactly this status and body, ``error`` means an UpstreamError, and
    ``either`` allows both. If ``body`` is None, any body without another request's serial is
    allowed.

    ``charge`` is the class of the error. ``maybe`` means Broken or TimedOut (no byte was sent),
    ``charged`` means Unusable (a final status line was sent), ``failing`` means a 5xx, and ``any``
    allows every error.
    """

    kind: Kind
    status: int = 200
    body: bytes | None = None
    charge: Charge = "any"

    def __str__(self) -> str:
        if self.kind == "error":
            return f"an error, charge class {self.charge}"
        size = "any" if self.body is None else len(self.body)
        text = f"status {self.status} with {size} bytes"
        return text if self.kind == "answer" else f"{text}, or an error, charge class {self.charge}"


@dataclass(frozen=True, slots=True)
class Script:
    """The scripted answer to one request.

    ``name`` is the class of the stream and, after a colon, its case. The deadline is short only in
    scripts whose call may time out, so that no other result depends on the machine's speed.

    With ``mends``, a repeated request gets the clean answer instead of the same steps. With
    ``hasty``, the caller does not wait for the end of the script before its next request. With
    ``early``, the script is played when the request's head has arrived. The server then neither
    reads the body nor counts the request as received.
    """

    name: str
    steps: tuple[Step, ...]
    end: End
    expected: Expected
    mends: bool = False
    hasty: bool = False
    early: bool = False
    deadline_s: float = LONG_DEADLINE_S

    @property
    def stream_class(self) -> str:
        return self.name.partition(": ")[0]

    def with_steps(self, steps: list[Step]) -> "Script":
        return dataclasses.replace(self, steps=tuple(steps))

    def lines(self) -> Iterator[str]:
        """Yield a line for the bytes between two pauses, for each pause, and for the end."""
        for is_sent, steps in itertools.groupby(self.steps, _is_sent):
            if is_sent:
                yield f"send {_describe(list(steps))}"
                continue
            for step in steps:
                match step:
                    case Pause(seconds=seconds, idle=idle):
                        yield f"pause {seconds * 1000:g} ms{' while idle' if idle else ''}"
                    case Endless(data=data):
                        yield f"send {data[:100]!r} without end"
        mends = ", then a repeated request gets a clean answer" if self.mends else ""
        yield self.end.value + mends


def _is_sent(step: Step) -> bool:
    return isinstance(step, Send) or step == Pause(0.0)


def _describe(steps: list[Step]) -> str:
    """Describe the bytes, and the packet sizes if there are several packets."""
    packets = [b""]
    for step in steps:
        if isinstance(step, Send):
            packets[-1] += step.data
        else:
            packets.append(b"")
    data = b"".join(packets)
    text = repr(data) if len(data) <= 600 else f"{data[:300]!r} … {len(data)} bytes"
    sizes = ", ".join(str(len(packet)) for packet in packets[:20])
    return f"{text} in {len(packets)} packets ({sizes})" if len(packets) > 1 else text


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and the script that answers it. ``serial`` marks the right answer."""

    serial: str
    method: Method
    script: Script


@dataclass(frozen=True, slots=True)
class Case:
    """The exchanges of all callers, which share one client and run concurrently.

    With ``warm_up``, each caller first requests a clean answer. A client that reuses connections
    then has an open connection. A request for a clean answer also follows each exchange.
    """

    name: str
    callers: tuple[tuple[Exchange, ...], ...]
    warm_up: bool = True

    @property
    def streams(self) -> int:
        return sum(map(len, self.callers))

    def __str__(self) -> str:
        lines = [f"case {self.name}, {'used' if self.warm_up else 'fresh'} connections"]
        for number, exchanges in enumerate(self.callers, 1):
            for each in exchanges:
                lines.append(f"  caller {number}: {each.method} {each.serial}: {each.script.name}")
                lines += [f"    {line}" for line in each.script.lines()]
                haste = "; its caller asks on at once" if each.script.hasty else ""
                lines.append(f"    expected: {each.script.expected}{haste}")
        return "\n".join(lines)


def record(serial: str, size: int = 0) -> bytes:
    """Return a body with a fine, which only ``serial`` connects with its request."""
    filling = ("Avançar o sinal vermelho. " * (size // 26 + 1))[:size]
    fine = {"autoInfracao": f"#{serial}#", "descricao": filling}
    return json.dumps({"status": "SUCCESS", "result": [fine]}, ensure_ascii=False).encode()


def clean(serial: str) -> Script:
    body = record(serial)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    steps = (Send(head % len(body) + body),)
    return Script("clean", steps, End.KEEP, Expected("answer", 200, body))


def serials_in(body: bytes) -> set[str]:
    return {each.decode() for each in _SERIAL.findall(body)}
