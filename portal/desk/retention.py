"""How long the portal keeps what it stores."""

from collections.abc import Mapping
from dataclasses import dataclass

from portal.batch.batches import DRAFT_S
from portal.desk.core import Core
from portal.gateway.operations import OPERATIONS
from portal.vehicle.operation_name import OperationName


@dataclass(frozen=True, slots=True)
class Retention:
    """Storage times in seconds.

    ``answers`` has the storage times of an operation's answers, 0 if they are not stored: the usual
    time, and the time of an empty list (None if the answers are no lists). ``rejected_s`` is for
    lookups that the upstream rejected. ``ended_dossier_s`` after a dossier ends, its proof is
    deleted. ``batch_s`` counts from the end or pause of a batch, ``draft_s`` is for a batch that is
    never started.
    """

    answers: Mapping[OperationName, tuple[int, int | None]]
    rejected_s: int
    history_s: int
    declared_s: int
    dossier_s: int
    ended_dossier_s: int
    batch_s: int
    draft_s: int


def retention(core: Core) -> Retention:
    kept_s = core.gateway.retention_s
    return Retention(
        answers={
            name: (
                kept_s(name),
                kept_s(name, empty=True) if operation.result_type is list else None,
            )
            for name, operation in OPERATIONS.items()
        },
        rejected_s=kept_s("decode", status=400),
        history_s=core.history.retention_s,
        declared_s=core.declarations.retention_s,
        dossier_s=core.archive.lifetime_s,
        ended_dossier_s=core.archive.proof_s,
        batch_s=int(core.batches.longest_kept_s),
        draft_s=int(DRAFT_S),
    )
