"""Checks at the start that Redis accepts everything that the portal does with it."""

import logging
import secrets

from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    MasterDownError,
    OutOfMemoryError,
    RedisError,
    TryAgainError,
)

from portal.gateway.redis_cache import FAILURES, SealedRedisCache
from portal.gateway.redis_lease import RedisLeases
from portal.system.error_kind import error_kind

log = logging.getLogger(__name__)

# redis-py counts these among the connection errors, but no waiting mends them.
_REFUSALS = (AuthenticationError, AuthorizationError)
# First words of replies from a Redis that is configured well and cannot work now: it is full, loads
# its file, runs another's script, cannot save, or waits for its master or replicas.
_PASSING = frozenset({"BUSY", "MISCONF", "NOREPLICAS", "OOM"})
_PASSING_CLASSES = (MasterDownError, OutOfMemoryError, TryAgainError)


def refusal(cache: SealedRedisCache) -> str | None:
    """Run every script and command once, on keys of a probe; return Redis's reason to refuse one.

    It refuses with a wrong password, a user without the rights, as a read-only replica and in
    cluster mode. Nothing would be stored then, and each process would pay for each vehicle again. A
    Redis that is out of reach or full is logged only, because it may recover.
    """
    name = secrets.token_hex(12)
    try:
        RedisLeases(cache.client, cache.breaker).try_commands(name)
        cache.try_commands(name)
    except _REFUSALS as error:
        return _reply(error)
    except FAILURES as error:
        log.warning("Redis is out of reach at the start: %s", error_kind(error))
    except RedisError as error:
        if not _is_passing(error):
            return _reply(error)
        log.warning("Redis cannot store answers at the start: %s", error_kind(error))
    return None


def _is_passing(error: RedisError) -> bool:
    # redis-py removes the first word of the replies for which it has a class.
    words = str(error).split(maxsplit=1)
    return isinstance(error, _PASSING_CLASSES) or (bool(words) and words[0] in _PASSING)


def _reply(error: Exception) -> str:
    """Return the class and Redis's own words, which name commands but no password."""
    return " ".join(f"Redis refuses the portal: {type(error).__name__}: {error}".split())
