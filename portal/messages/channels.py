"""The recipients' addresses: the operator's settings, and what owners have set."""

import json
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlalchemy import delete, insert, select

from portal.access.sealing import SubjectKeys
from portal.messages.outbox import OPERATOR, Channel
from portal.storage.database import Database
from portal.storage.ends import note_end
from portal.storage.tables import channels as table
from portal.system.webhook_signature import new_secret

_PURPOSE: Final = b"channels"
_KIND: Final = "channels\0"


class Addresses(NamedTuple):
    """Where messages go. A part is "" if it is not set."""

    mail: str = ""
    webhook: str = ""
    secret: str = ""


class Channels:
    """The addresses of the operator and of owners, encrypted in the database."""

    def __init__(self, database: Database, keys: SubjectKeys, operator: Addresses) -> None:
        self._database = database
        self._keys = keys
        self._operator = operator

    def of(self, recipient: str) -> Addresses:
        if recipient == OPERATOR:
            return self._operator
        query = select(table.c.sealed).where(table.c.owner == self._owner(recipient))
        with self._database.reading() as db:
            sealed = db.execute(query).scalar()
        content = None if sealed is None else self._keys.decrypt(_PURPOSE, sealed)
        return Addresses() if content is None else Addresses(*json.loads(content))

    def change(self, owner: str, mail: str | None, webhook: str | None) -> Addresses:
        """Change the addresses of an owner. None leaves one as it is, and "" removes it.

        A new webhook gets a new secret.
        """
        former = self.of(owner)
        current = former._replace(mail=former.mail if mail is None else mail)
        if webhook is not None:
            current = current._replace(webhook=webhook, secret=new_secret() if webhook else "")
        sealed = self._keys.encrypt(_PURPOSE, json.dumps(current).encode())
        with self._database.writing() as db:
            mine = {"owner": self._owner(owner)}
            if db.execute(delete(table).where(table.c.owner == mine["owner"])).rowcount:
                note_end(db, "channels", mine, time.time())
            if any(current):
                db.execute(insert(table).values(owner=self._owner(owner), sealed=sealed))
        return current

    def sealed(self, recipient: str) -> Sequence[tuple[Channel, bytes]]:
        """Return the channels of a recipient, each with its encrypted address."""
        wanted, channels = self.of(recipient), list[tuple[Channel, bytes]]()
        if wanted.mail:
            channels.append(("mail", self._seal([wanted.mail])))
        if wanted.webhook:
            channels.append(("webhook", self._seal([wanted.webhook, wanted.secret])))
        return channels

    def opened(self, sealed: bytes) -> list[str] | None:
        """Return what ``sealed`` has encrypted, or None if no key decrypts it."""
        content = self._keys.decrypt(_PURPOSE, sealed)
        return None if content is None else list(json.loads(content))

    def _seal(self, parts: Sequence[str]) -> bytes:
        return self._keys.encrypt(_PURPOSE, json.dumps(parts).encode())

    def _owner(self, owner: str) -> str:
        return self._keys.owner_key(_KIND, owner)
