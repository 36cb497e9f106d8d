"""The issuer of dossiers, from the operator's settings."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Issuer:
    """The issuer. ``document`` is a CNPJ or CPF as printed, and ``logo`` is a ``data:`` URL.

    Either may be "".
    """

    name: str
    document: str = ""
    contact: str = ""
    logo: str = ""
