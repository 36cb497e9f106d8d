"""Tells holders of tokens, and the operator, before a token ends."""

import time
from collections.abc import Callable
from typing import Final

from portal.access.tokens import Tokens
from portal.messages.outbox import OPERATOR, Message, Outbox
from portal.system.local_time import from_epoch

_BEFORE_S: Final = 7 * 86_400.0


class TokenEndings:
    """Writes a message on each valid token that ends within a week, once for each end."""

    def __init__(
        self, outbox: Outbox, tokens: Tokens, clock: Callable[[], float] = time.time
    ) -> None:
        self._outbox = outbox
        self._tokens = tokens
        self._clock = clock

    def write(self) -> None:
        """Write the messages that are due. The scheduler calls ``write``. Raises SQLAlchemyError.

        A token that was replaced ends on purpose, so no message is about its end.
        """
        now = self._clock()
        for token in self._tokens.listed():
            ends_at = token.expires_at
            if ends_at is None or token.name != token.caller or token.state(now) != "valid":
                continue
            if ends_at < now + _BEFORE_S:
                data = {"token": token.name, "ends_on": f"{from_epoch(ends_at):%d/%m/%Y}"}
                key = f"token.ending:{token.digest}:{ends_at:.0f}"
                for recipient in (OPERATOR, token.owner):
                    self._outbox.write(Message("token.ending", key, data, recipient))
