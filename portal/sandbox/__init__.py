"""The sandbox: a simulated upstream with fictitious vehicles and errors."""

from portal.sandbox.example_plates import EXAMPLE_PLATES, SHOWCASE_RENAVAM, SHOWCASES, ExamplePlate
from portal.sandbox.exchange import Request, Response, Role
from portal.sandbox.sandbox import TOKEN, Sandbox, today
from portal.sandbox.transport import SandboxTransport

__all__ = [
    "EXAMPLE_PLATES",
    "SHOWCASES",
    "SHOWCASE_RENAVAM",
    "TOKEN",
    "ExamplePlate",
    "Request",
    "Response",
    "Role",
    "Sandbox",
    "SandboxTransport",
    "today",
]
