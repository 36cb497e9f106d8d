"""What the scripted upstream does with one request, and what its caller must get."""

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

# An answer with another status may come without its body.
STATUSES_WITH_BODY = (200, 400, 404)

_SERIAL = re.compile(rb"#(\d{6}\.\d{2})#")


@dataclass(frozen=True, slots=True)
class Send:
    """Bytes to write. Sends without a pause between them leave in one packet.

    Sends with the same ``element`` above 0 belong to one optional element of the message:
    without it the expectation still holds.
    """

    data: bytes
    element: int = 0


@dataclass(frozen=True, slots=True)
class Pause:
    """A wait between two packets.

    An ``idle`` one stands behind a complete answer: when a next request arrives meanwhile, the
    rest of the script is dropped, because a client could not tell late bytes of the former
    answer from those of its own.
    """

    seconds: float = 0.001
    idle: bool = False


@dataclass(frozen=True, slots=True)
class Endless:
    """The same bytes again and again until the client hangs up."""

    data: bytes


class End(Enum):
    """What becomes of the connection when all steps are played."""

    KEEP = "keep"
    CLOSE = "close"
    RESET = "reset"
    HANG = "hang"  # silent until the client hangs up


Step = Send | Pause | Endless


@dataclass(frozen=True, slots=True)
class Expected:
    """What the caller must get.

    ``answer``: exactly this status and body. ``error``: an UpstreamError. ``either``: one of
    the two. A ``body`` of None is any body that carries no other request's serial.

    ``charge`` is the class of an error: ``maybe`` (Broken or TimedOut: no byte was sent),
    ``charged`` (Unusable: a final status line was), ``failing`` (a 5xx), or ``any``.
    """

    kind: Kind
    status: int = 200
    body: bytes | None = None
    charge: Charge = "any"

    def __str__(self) -> str:
        if self.kind == "error":
            return f"an error, charge class {self.charge}"
        size = "any" if self.body is None else len(self.body)
        told = f"status {self.status} with {size} bytes"
        return told if self.kind == "answer" else f"{told}, or an error, charge class {self.charge}"


@dataclass(frozen=True, slots=True)
class Script:
    """``name`` is the class of the stream, and after a colon its case. The deadline is short
    only where the caller may run into it, so that no other result depends on the machine's
    speed.

    With ``mends``, a repeated request gets the clean answer; without, the same steps again.
    With ``hasty``, the caller's next request leaves as soon as this call has ended, without
    waiting for the script to end as well. With ``early``, the script is played when the head of
    the request has arrived, and the rest is never read: such a request does not count.
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
        """A line for what is sent between two pauses, one for each pause, and the end."""
        for is_sent, steps in itertools.groupby(self.steps, _is_sent):
            if is_sent:
                yield f"send {_told(list(steps))}"
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


def _told(steps: list[Step]) -> str:
    """The bytes, and the sizes of the packets where there are several."""
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
    """One request and the script that answers it. ``serial`` stands for the vehicle."""

    serial: str
    method: Method
    script: Script


@dataclass(frozen=True, slots=True)
class Case:
    """The exchanges of one Origin, by caller; several callers ask at the same time.

    With ``warm_up`` each caller asks for a clean answer first, so that a client that reuses
    connections has one. After every exchange its caller asks for a clean answer.
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
    """A body that names no vehicle, like a fine's, except by the serial of its request."""
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
