"""Checks at startup that Redis accepts every command that the portal uses."""

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

from portal.data_files import read_text
from portal.gateway.redis_cache import FAILURES, PREFIX, SealedRedisCache
from portal.system.error_kind import error_kind
from portal.system.start_refused import StartRefused

log = logging.getLogger(__name__)

# redis-py classifies these errors as connection errors, although a retry cannot succeed.
_REFUSALS = (AuthenticationError, AuthorizationError)
# The text of a temporary error begins with one of these words. The words mean that Redis is running
# another client's script (BUSY), cannot save its data (MISCONF), has too few replicas (NOREPLICAS)
# or is full (OOM).
_PASSING = frozenset({"BUSY", "MISCONF", "NOREPLICAS", "OOM"})
_PASSING_CLASSES = (MasterDownError, OutOfMemoryError, TryAgainError)


def require_willing_redis(cache: SealedRedisCache, *, is_start: bool = True) -> None:
    """Run the portal's commands on test keys. Raise StartRefused if Redis refuses a command.

    Redis refuses commands if the password is wrong, if the user lacks rights, or if the server is a
    read-only replica or runs in cluster mode. With such a Redis, the portal could store nothing and
    would pay again for each repeated lookup. At a start, an unreachable or full Redis is only
    logged, because it may recover.
    """
    name = f"{PREFIX}probe:{secrets.token_hex(12)}"
    try:
        script = read_text(__package__, "lua/probe.lua")
        cache.client.eval(script, 3, f"{name}:hash", f"{name}:entry", f"{name}:lease")
        cache.client.scan(match=f"{name}*", count=1)
        cache.client.ping()
    except _REFUSALS as error:
        raise _refused(error) from None
    except FAILURES as error:
        if not is_start:
            raise _refused(error) from None
        log.warning("Redis is out of reach at the start: %s", error_kind(error))
    except RedisError as error:
        if not is_start or not _is_passing(error):
            raise _refused(error) from None
        log.warning("Redis cannot store answers at the start: %s", error_kind(error))


def require_own_database(cache: SealedRedisCache, owner: str, database: str) -> None:
    """Raise StartRefused if portals of the same ``owner`` use Redis with another database.

    Redis records the database of the first of these portals.
    Their data keys differ, so they would share no answer and no lease, and pay twice.
    """
    databases = f"{PREFIX}databases"
    try:
        cache.client.hsetnx(databases, owner, database)
        recorded = cache.client.hget(databases, owner)
    except (RedisError, OSError):
        return  # ``require_willing_redis`` has logged the failure
    if recorded != database.encode():
        raise StartRefused(
            "Redis is used by portals with this SECRET_KEY and another database: portals that "
            "share a Redis share the database (DATABASE_URL). If that database is lost, delete "
            f"the key {databases} in Redis"
        )


def _is_passing(error: RedisError) -> bool:
    # If redis-py has an exception class for an error, redis-py removes the first word of the
    # error's text. In this case, the class identifies the error.
    words = str(error).split(maxsplit=1)
    return isinstance(error, _PASSING_CLASSES) or (bool(words) and words[0] in _PASSING)


def _refused(error: Exception) -> StartRefused:
    """Return an error that quotes the class and text of ``error``.

    Neither the class nor the text contains a password.
    """
    reason = f"Redis refuses the portal: {type(error).__name__}: {error}"
    return StartRefused(" ".join(reason.split()))
