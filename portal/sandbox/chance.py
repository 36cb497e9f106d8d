"""Deterministic pseudo-random numbers: equal words give equal numbers."""

import random
from hashlib import blake2b


def seeded(*words: str) -> random.Random:
    """Return a generator that depends only on the words, not on the process."""
    digest = blake2b("\x1f".join(words).encode(), digest_size=16).digest()
    return random.Random(int.from_bytes(digest, "big"))  # noqa: S311 - the data is invented; nothing is secret


def fraction(*words: str) -> float:
    """Return one number in [0, 1), an order of magnitude cheaper than a generator."""
    digest = blake2b("\x1f".join(words).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def digits(chance: random.Random, count: int) -> str:
    return "".join(chance.choice("0123456789") for _ in range(count))
