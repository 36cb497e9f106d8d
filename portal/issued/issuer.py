"""Who issues dossiers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Issuer:
    """The issuer of dossiers, from the operator's settings.

    ``document`` is a formatted taxpayer number (CNPJ or CPF). ``logo`` is a ``data:`` URL.
    """

    name: str
    document: str = ""
    contact: str = ""
    logo: str = ""
