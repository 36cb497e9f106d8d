"""How much the fuzz tests and the fault matrix try: a short form, or all with FUZZ=full."""

import os

FULL = os.environ.get("FUZZ") == "full"


def cases(short: int, full: int) -> int:
    return full if FULL else short


def seconds(short: float, full: float) -> float:
    """How long a test goes on that ends by time and not by a number of cases."""
    return full if FULL else short
