"""Delivers the messages of the outbox."""

import logging
from collections.abc import Callable
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from portal.messages.channels import Channels
from portal.messages.mail import MailServer
from portal.messages.outbox import Delivery, Outbox
from portal.messages.webhook import WebhookSender, payload
from portal.system.error_kind import error_kind

log = logging.getLogger(__name__)
TICK_S: Final = 5.0
_MOST_AT_ONCE: Final = 20


class Courier:
    """Sends what is due. Processes share the work: each delivery is claimed by one of them.

    ``tried`` is called with the channel of each attempt, and whether it delivered the message.
    """

    def __init__(
        self,
        outbox: Outbox,
        channels: Channels,
        webhooks: WebhookSender,
        mail: MailServer | None,
        tried: Callable[[str, bool], object],
    ) -> None:
        self._outbox = outbox
        self._channels = channels
        self._webhooks = webhooks
        self._mail = mail
        self._tried = tried

    def tick(self) -> None:
        """Route new messages and send what is due. The scheduler calls ``tick``."""
        try:
            self._outbox.route(self._channels.sealed)
            for _ in range(_MOST_AT_ONCE):
                delivery = self._outbox.claim()
                if delivery is None:
                    return
                failure = self._send(delivery)
                self._tried(delivery.channel, not failure)
                if failure:
                    log.warning("a message was not delivered by %s: %s", delivery.channel, failure)
                self._outbox.settle(delivery, failure)
        except SQLAlchemyError as error:
            log.warning("messages wait for the database: %s", error_kind(error))

    def _send(self, delivery: Delivery) -> str:
        """Return "", or why the message was not delivered."""
        parts = self._channels.opened(delivery.sealed)
        if parts is None:
            return "no key decrypts the address"
        if delivery.channel == "mail":
            if self._mail is None:
                return "SMTP_URL is not set"
            return self._mail.send(parts[0], delivery.id, delivery.type, delivery.data)
        body = payload(delivery.type, delivery.created_at, delivery.data)
        return self._webhooks.send(parts[0], parts[1], delivery.id, body)
