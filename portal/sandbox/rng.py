"""Deterministic pseudo-random numbers."""

import random
from hashlib import blake2b


def seeded_rng(*words: str) -> random.Random:
    """Return a generator whose numbers depend only on ``words``."""
    digest = blake2b("\x1f".join(words).encode(), digest_size=16).digest()
    return random.Random(int.from_bytes(digest, "big"))  # noqa: S311 - fictitious data, no secret
