"""The steps that a buyer can take next, selected by what the records show."""

from importlib import resources
from typing import Final, Literal

import msgspec

from portal.law.rules import CONSULTED

# The finding that makes a step apply.
Situation = Literal[
    "always",
    "court_order",
    "penhora",
    "free_of_court_orders",
    "enforceable_fine",
    "probably_due_fine",
    "open_fine",
    "notice_without_fine",
    "fine_of_unclear_payment",
    "fines_unavailable",
    "restrictions_unavailable",
    "vehicle_unavailable",
    "other_vehicle",
    "tampered",
]
# The section of the page that lists a step. PHASE_TITLES has the headings of the sections.
Phase = Literal["before", "fines", "after"]


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of ``next_steps.toml``. ``text`` has one to three Portuguese sentences.

    ``source`` is a law, or "" if the step is mere advice. UNVERIFIED lists the subjects that no
    lookup covers, such as the road tax. If the step tells the buyer to check such a subject,
    ``checks`` is the subject's key in UNVERIFIED, else "".
    """

    phase: Phase
    situation: Situation
    title: str
    text: str
    source: str = ""
    checks: str = ""


PHASE_TITLES: Final[dict[Phase, str]] = {
    "before": "Antes de pagar pelo veículo",
    "fines": "Pagar ou contestar as multas",
    "after": "Depois de comprar",
}
# The page shows this caution once, so that the steps need not repeat it.
HEDGE: Final = f"Orientações gerais, pela lei consultada em {CONSULTED}; confirme com o Detran."

STEPS: Final = msgspec.toml.decode(
    resources.files(__package__).joinpath("next_steps.toml").read_bytes(),
    type=dict[str, tuple[Step, ...]],
)["steps"]


def steps_for(situations: frozenset[Situation]) -> tuple[Step, ...]:
    """Return the steps for ``situations`` and the steps that always apply."""
    return tuple(
        step for step in STEPS if step.situation == "always" or step.situation in situations
    )
