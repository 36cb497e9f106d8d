"""What a review of stored entries does, in the same way in each cache."""

from portal.gateway.backend import Backend
from portal.storage.purge_log import purge_bucket


def kept_after_review(cache: Backend) -> list[bool]:
    """Review half of ten entries, and return which of the ten are not expired then.

    The first entry is replaced by a newer one meanwhile, and the end of the second does not change.
    """
    keys = [f"{number:024x}:name" for number in range(10)]
    for key in keys:
        cache.replace(key, b"x", 60, fence=0, purge_no=0)
    chosen, seen = {purge_bucket(key) for key in keys[:5]}, []

    def end_of(key: str, _: bytes) -> float | None:
        seen.append(key)
        if key == keys[0]:
            cache.replace(key, b"newer", 60, fence=1, purge_no=0)
        return None if key == keys[1] else 0.0

    for _ in cache.review(end_of, chosen):
        pass
    assert sorted(seen) == keys[:5]
    return [cache.read_many([key]).values[0] is not None for key in keys]
