"""The issuer of dossiers, from the operator's settings."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Issuer:
    """The issuer. ``document`` is a CNPJ or CPF as printed, ``logo`` a ``data:`` URL; else ""."""

    name: str
    document: str = ""
    contact: str = ""
    logo: str = ""
