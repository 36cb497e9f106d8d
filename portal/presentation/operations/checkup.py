"""What was checked of the portal, in the words of the operator's page."""

from collections.abc import Mapping, Sequence
from typing import Final

from portal.system.checkup import Level, Line

_LEVELS: Final[Sequence[Level]] = ("wrong", "note", "ok")
_SUBJECTS: Final[Mapping[str, str]] = {
    "settings": "Configurações",
    "timeouts": "Prazos de espera",
    "workers": "Processos do servidor",
    "key": "Chave secreta",
    "database": "Banco de dados",
    "redis": "Redis",
    "data directory": "Pasta de dados",
    "disk": "Disco",
    "clock": "Relógio",
    "time zone": "Fuso horário",
    "proxies": "Proxy",
    "primary address": "Endereço principal da fonte",
    "secondary address": "Endereço reserva da fonte",
    "open files": "Arquivos abertos",
    "mail": "E-mail",
    "webhook": "Webhook",
    "sign-in": "Entrada das pessoas",
    "privacy": "Página de privacidade",
}


def checked(lines: Sequence[Line]) -> Sequence[tuple[str, Level]]:
    """Return each subject with its level, the worst first."""
    by_level = sorted(lines, key=lambda line: _LEVELS.index(line.level))
    return [(_SUBJECTS[line.name], line.level) for line in by_level]
