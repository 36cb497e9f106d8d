"""Why a message was not delivered, on the operator's page."""

import re
from collections.abc import Mapping
from typing import Final

# By the code that the courier records: the reason of a refused address, or the name of an error's
# class.
_FAILURES: Final[Mapping[str, str]] = {
    "refused: no_url": "o endereço do webhook não é um endereço da web",
    "refused: user_or_fragment": "o endereço do webhook tem usuário ou fragmento (#)",
    "refused: not_listed": "o servidor do webhook não está em WEBHOOK_HOSTS",
    "refused: no_https": "o endereço do webhook não começa com https://, e o servidor não está em "
    "WEBHOOK_HOSTS",
    "refused: not_public": "o servidor do webhook não tem endereço público, nem está em "
    "WEBHOOK_HOSTS",
    "no key decrypts the address": "o endereço guardado não pode ser lido com a chave atual",
    "SMTP_URL is not set": "SMTP_URL não está configurado",
    "gaierror": "o nome do servidor não foi encontrado",
    "ConnectionRefusedError": "o servidor recusou a conexão",
    "TimeoutError": "o servidor não respondeu a tempo",
    "ConnectionResetError": "o servidor interrompeu a conexão",
    "BrokenPipeError": "o servidor interrompeu a conexão",
    "RemoteDisconnected": "o servidor fechou a conexão sem responder",
    "SSLCertVerificationError": "o certificado do servidor não foi aceito",
    "SSLError": "a conexão segura (TLS) falhou; confira a porta e o esquema",
    "SSLEOFError": "o servidor interrompeu a conexão segura (TLS)",
    "BadStatusLine": "o servidor não respondeu em HTTP",
    "SMTPAuthenticationError": "o servidor de e-mail não aceitou usuário e senha",
    "SMTPNotSupportedError": "o servidor de e-mail não oferece STARTTLS ou entrada com senha",
    "SMTPConnectError": "o servidor de e-mail não atendeu",
    "SMTPHeloError": "o servidor de e-mail não aceitou o cumprimento",
    "SMTPServerDisconnected": "o servidor de e-mail fechou a conexão",
    "SMTPSenderRefused": "o servidor de e-mail não aceitou o remetente (MAIL_FROM)",
    "SMTPRecipientsRefused": "o servidor de e-mail não aceitou o destinatário",
    "SMTPDataError": "o servidor de e-mail não aceitou a mensagem",
}
_STATUS: Final = re.compile("status ([0-9]{3})")


def failure_words(code: str) -> str:
    """Return why a message was not delivered. A rare failure has its code in the words."""
    if status := _STATUS.fullmatch(code):
        return f"o servidor respondeu {status[1]}"
    return _FAILURES.get(code, f"falha na conexão: {code}")
