"""The sample plates that the ``/api`` page documents, read from example_plates.toml.

The page shows the file's Portuguese texts unchanged. The sandbox generates an ordinary vehicle for
any other valid plate.
"""

from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from portal.data_files import read_toml
from portal.sandbox.profile import UNFIXED, Profile
from portal.sandbox.vehicles import seed_of
from portal.vehicle.plate import Plate, Renavam

Fault = Literal[
    "400", "401", "402", "403", "404", "429", "500",
    "message-in-200", "success-text", "unknown-text", "firewall",
    "slow", "hung", "html", "truncated", "primary-down", "both-down",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExamplePlate:
    """A documented plate and its expected answers.

    ``alone`` and ``portal`` are Portuguese texts that begin with an HTTP status. ``alone``
    describes the answer of the sandbox itself (``make sandbox``) at its primary base address.
    ``portal`` describes the answer of a portal that uses both base addresses of the sandbox as its
    upstream. This portal sends the operator's credential to the upstream, not the visitor's
    (managed mode). If the upstream rejects this credential, the portal therefore answers 503.
    """

    plate: str
    title: str
    alone: str
    portal: str
    fault: Fault | None = None
    profile: Profile = UNFIXED


class _Examples(msgspec.Struct):
    plates: tuple[ExamplePlate, ...]
    showcases: tuple[tuple[str, str], ...]  # plates and their captions


_EXAMPLES: Final = read_toml(__package__, "example_plates.toml", _Examples)
EXAMPLE_PLATES: Final = _EXAMPLES.plates
SHOWCASES: Final = _EXAMPLES.showcases
ORDINARY: Final = ExamplePlate("", "Veículo comum", "200", "200, os mesmos bytes")

# The Renavam of the vehicle with the plate ABC1D23. Users can try this number on API paths that
# accept a Renavam in place of a plate.
SHOWCASE_RENAVAM = "79831854647"

_BY_SEED = {seed_of(Plate.parse(example.plate)): example for example in EXAMPLE_PLATES}


def example_of(subject: Plate | Renavam) -> ExamplePlate:
    """Return the entry of a documented plate or Renavam, else ORDINARY.

    A plate may be in its old or its new (Mercosul) format.
    """
    if subject.text == SHOWCASE_RENAVAM:
        return EXAMPLE_PLATES[0]
    return _BY_SEED.get(seed_of(subject), ORDINARY)
