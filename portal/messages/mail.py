"""Sends messages by e-mail (SMTP_URL), in plain Portuguese text."""

import smtplib
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from portal.messages.outbox import MessageType
from portal.phrasebook.pauses import pause_words
from portal.system.error_kind import error_kind
from portal.wording import money

_TIMEOUT_S: Final = 20.0
_CHECK_TIMEOUT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where e-mail is sent. ``tls`` is from the first byte, ``starttls`` after a plain greeting."""

    host: str
    port: int
    tls: bool
    starttls: bool
    user: str
    password: str
    sender: str

    @classmethod
    def of(cls, url: str, sender: str) -> "MailServer":
        """Read ``smtps://user:password@host:465`` or ``smtp://host:25?starttls=1``."""
        parts = urlsplit(url)
        tls = parts.scheme == "smtps"
        starttls = parse_qs(parts.query).get("starttls") == ["1"]
        port = parts.port or (465 if tls else 587 if starttls else 25)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(parts.hostname or "", port, tls, starttls, user, password, sender)

    def send(self, to: str, message_id: str, kind: MessageType, data: Mapping[str, Any]) -> str:
        """Send a message. Return "", or the code of what went wrong (``phrasebook.deliveries``)."""
        subject, text = mail_text(kind, data)
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = self.sender, to, subject
        message["Date"] = formatdate(localtime=False)
        message["Message-ID"] = make_msgid(message_id, "dossie-veicular")
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no automatic answers
        message.set_content(text)
        try:
            with self._connected(_TIMEOUT_S) as server:
                server.send_message(message)
        except (OSError, smtplib.SMTPException) as error:
            return type(error).__name__
        return ""

    def check(self) -> str:
        """Connect and sign in, but send nothing. Return "", or what went wrong, for the log."""
        try:
            with self._connected(_CHECK_TIMEOUT_S):
                return ""
        except (OSError, smtplib.SMTPException) as error:
            return error_kind(error)

    @contextmanager
    def _connected(self, timeout_s: float) -> Iterator[smtplib.SMTP]:
        context = ssl.create_default_context()
        server: smtplib.SMTP
        if self.tls:
            server = smtplib.SMTP_SSL(self.host, self.port, timeout=timeout_s, context=context)
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=timeout_s)
        try:
            if self.starttls:
                server.starttls(context=context)
            if self.user:
                server.login(self.user, self.password)
            yield server
            # The server has taken the message. If it fails to say goodbye, the message must not be
            # sent again.
            with suppress(OSError, smtplib.SMTPException):
                server.quit()
        finally:
            server.close()


def mail_text(kind: MessageType, data: Mapping[str, Any]) -> tuple[str, str]:
    """Return the subject and the text of an e-mail. Neither names a vehicle."""
    whose = f"do acesso {data['token']}" if data.get("token") else "do portal"
    ends_on = _day(data["ends_on"]) if "ends_on" in data else ""
    match kind:
        case "budget.warned":
            return (
                f"80% do orçamento do mês {whose}",
                f"Já foram usados {_brl(data['used'])} de {_brl(data['budget'])} do orçamento do "
                f"mês {whose}. Ao acabar, só o que está guardado é servido, até {ends_on}.",
            )
        case "budget.spent" if (left := _amount(data["budget"]) - _amount(data["used"])) > 0:
            rest = money(left, places=2)
            return (
                f"O orçamento do mês {whose} não basta mais",
                f"Do orçamento do mês {whose}, de {_brl(data['budget'])}, restam {rest}. Uma "
                f"consulta que custa mais foi recusada. Até {ends_on}, só o que está "
                "guardado e o que couber nesse resto é servido.",
            )
        case "budget.spent":
            return (
                f"O orçamento do mês {whose} acabou",
                f"O orçamento do mês {whose}, de {_brl(data['budget'])}, acabou. Até "
                f"{ends_on}, só o que está guardado é servido.",
            )
        case "batch.done":
            return "Um lote terminou", f"O lote {data['batch']} terminou."
        case "batch.paused":
            why = pause_words(data["reason"])
            return "Um lote parou", f"O lote {data['batch']} parou: {why[:1].lower()}{why[1:]}."
        case "token.ending":
            return (
                f"O acesso {data['token']} vence em breve",
                f"O acesso {data['token']} vence em {ends_on}.",
            )
        case "dossier.ending":
            return (
                "Um dossiê vence em breve",
                f"O dossiê {data['number']} vence em {ends_on}.",
            )
        case "key.ending":
            return (
                "A chave que assina vence em breve",
                f"A chave que assina os dossiês vence em {ends_on}.",
            )
        case "test":
            return "Teste de aviso", "Este é um teste: os avisos deste portal chegam a você."


def _amount(number: float | str) -> Decimal:
    return Decimal(str(number))


def _brl(number: float | str) -> str:
    return money(_amount(number), places=2)


def _day(text: str) -> str:
    """Format a day. Messages of earlier versions, which wait for three days, have it so already."""
    return text if "/" in text else f"{date.fromisoformat(text):%d/%m/%Y}"
