"""An embedded upstream with invented vehicles and a plate per situation."""

from portal.sandbox.day import today
from portal.sandbox.exchange import Answer, Ask, Role
from portal.sandbox.sandbox import FORBIDDEN_TOKEN, TOKEN, Sandbox
from portal.sandbox.situations import SHOWCASE_RENAVAM, SITUATIONS, Situation
from portal.sandbox.transport import SandboxTransport

__all__ = [
    "FORBIDDEN_TOKEN",
    "SHOWCASE_RENAVAM",
    "SITUATIONS",
    "TOKEN",
    "Answer",
    "Ask",
    "Role",
    "Sandbox",
    "SandboxTransport",
    "Situation",
    "today",
]
