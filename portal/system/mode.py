"""The portal's mode, which decides who pays for upstream calls.

- "demo": a simulated upstream inside the portal answers lookups free of charge.
- "managed": the operator's token pays for upstream calls.
- "pass-through": the caller's own credential pays for upstream calls.
"""

from typing import Literal

Mode = Literal["demo", "managed", "pass-through"]
