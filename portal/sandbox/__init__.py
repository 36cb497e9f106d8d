"""The sandbox: a simulated upstream with fictitious vehicles and errors."""

from portal.sandbox.example_plates import SHOWCASE_RENAVAM, SHOWCASES, SITUATIONS, Situation
from portal.sandbox.exchange import Request, Response, Role
from portal.sandbox.sandbox import TOKEN, Sandbox, today
from portal.sandbox.transport import SandboxTransport

__all__ = [
    "SHOWCASES",
    "SHOWCASE_RENAVAM",
    "SITUATIONS",
    "TOKEN",
    "Request",
    "Response",
    "Role",
    "Sandbox",
    "SandboxTransport",
    "Situation",
    "today",
]
