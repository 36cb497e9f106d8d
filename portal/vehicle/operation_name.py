"""The names of the upstream's operations, which are also names of token scopes.

This module is in ``portal.vehicle`` because ``portal.access`` and ``portal.gateway`` both need the
names, but may not import each other.
"""

from typing import Final, Literal, get_args

# A lookup asks for the records of one vehicle. The other operation, "report", writes a report.
LookupName = Literal["decode", "renainf", "renajud"]
OperationName = Literal[LookupName, "report"]

# The pages and the JSON API show lookups and operations in this order.
LOOKUPS: Final[tuple[LookupName, ...]] = get_args(LookupName)
OPERATION_NAMES: Final[tuple[OperationName, ...]] = get_args(OperationName)
