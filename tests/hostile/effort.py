"""How hard the hostile tests try: a short form in every test run, the full one with FUZZ=full."""

import os

FULL = os.environ.get("FUZZ") == "full"


def cases(short: int, full: int) -> int:
    return full if FULL else short
