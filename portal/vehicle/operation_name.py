"""The names of the upstream's operations, which are also names of token scopes.

They are the upstream's words, for the wire, scopes and the JSON API. Elsewhere, what the lookups
answer is called vehicle, fines and orders (``Panels`` in ``portal/dossier/answers.py``).
"""

from typing import Final, Literal, get_args

# A lookup asks for the records of one vehicle. The other operation, "report", writes a report.
LookupName = Literal["decode", "renainf", "renajud"]
OperationName = Literal[LookupName, "report"]

# The pages and the JSON API show lookups and operations in this order.
LOOKUPS: Final[tuple[LookupName, ...]] = get_args(LookupName)
OPERATION_NAMES: Final[tuple[OperationName, ...]] = get_args(OperationName)
