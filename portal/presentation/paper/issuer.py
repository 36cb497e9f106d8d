"""Who issues dossiers, from the operator's settings."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Issuer:
    """``document`` is a CNPJ or CPF as printed, ``logo`` a ``data:`` URL; "" where not set."""

    name: str
    document: str = ""
    contact: str = ""
    logo: str = ""
