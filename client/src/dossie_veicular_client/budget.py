"""A limit in R$ that calls running side by side cannot exceed together."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from dossie_veicular_client.errors import CostsTooMuch


@dataclass
class Budget:
    """``reserve`` before a spend, and ``settle`` with what it came to. Amounts are in R$.

    What is reserved cannot be reserved again until it is settled. A spend whose end nobody saw
    stays reserved.
    """

    limit: float
    _reserved: float = 0.0
    _spent: float = 0.0
    _lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def spent(self) -> float:
        return round(self._spent, 6)

    @property
    def left(self) -> float:
        with self._lock:
            return self._left()

    def reserve(self, amount: float | None) -> float:
        """Return the amount. Raises CostsTooMuch, also for an unknown amount (None)."""
        with self._lock:
            if amount is None or not 0 <= amount <= self._left():
                raise CostsTooMuch.beyond(amount, self._left())
            self._reserved += amount
            return amount

    def settle(self, reserved: float, spent: float | None) -> None:
        """``spent`` is None if it is unknown. Then the reserved sum counts as spent."""
        with self._lock:
            self._reserved -= reserved
            self._spent += reserved if spent is None else spent

    def _left(self) -> float:
        return max(0.0, round(self.limit - self._spent - self._reserved, 6))
