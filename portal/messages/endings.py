"""Tells owners, and the operator, before a token, an issued dossier or the signing key ends."""

import time
from collections.abc import Callable
from typing import Final

from portal.access.tokens import Tokens
from portal.issued.archive import DossierArchive
from portal.issued.identifiers import display_number
from portal.messages.outbox import OPERATOR, Message, Outbox
from portal.pdf.signing import SigningKey
from portal.system.local_time import DAY_S, from_epoch

_TOKEN_BEFORE_S: Final = 7.0 * DAY_S
_DOSSIER_BEFORE_S: Final = 3.0 * DAY_S
_KEY_BEFORE_S: Final = 30.0 * DAY_S  # a new certificate takes its authority some days


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
            if ends_at < now + _TOKEN_BEFORE_S:
                data = {"token": token.name, "ends_on": _day(ends_at)}
                key = f"token.ending:{token.digest}:{ends_at:.0f}"
                for recipient in (OPERATOR, token.owner):
                    self._outbox.write(Message("token.ending", key, data, recipient))


class DossierEndings:
    """Writes a message to the owner of each valid dossier that ends within three days, once.

    A dossier that lives for less than twelve days is announced in the last quarter of its life.
    """

    def __init__(
        self, outbox: Outbox, archive: DossierArchive, clock: Callable[[], float] = time.time
    ) -> None:
        self._outbox = outbox
        self._archive = archive
        self._clock = clock

    def write(self) -> None:
        """Write the messages that are due. The scheduler calls this. Raises SQLAlchemyError."""
        before_s = min(_DOSSIER_BEFORE_S, self._archive.lifetime_s / 4)
        for dossier, owner in self._archive.ending(self._clock() + before_s):
            data = {"number": display_number(dossier.number), "ends_on": _day(dossier.expires_at)}
            key = f"dossier.ending:{dossier.number}"
            self._outbox.write(Message("dossier.ending", key, data, owner))


class KeyEnding:
    """Writes a message to the operator if the certificate that signs dossiers ends in a month."""

    def __init__(
        self, outbox: Outbox, key: SigningKey | None, clock: Callable[[], float] = time.time
    ) -> None:
        self._outbox = outbox
        self._key = key
        self._clock = clock

    def write(self) -> None:
        """Write the message if it is due, once for each key. Raises SQLAlchemyError."""
        if self._key is None:
            return
        ends_at, now = self._key.ends_at.timestamp(), self._clock()
        if now < ends_at < now + _KEY_BEFORE_S:
            data = {"signer": self._key.signer, "ends_on": _day(ends_at)}
            key = f"key.ending:{self._key.certificate}"
            self._outbox.write(Message("key.ending", key, data))


def _day(seconds: float) -> str:
    return from_epoch(seconds).date().isoformat()
