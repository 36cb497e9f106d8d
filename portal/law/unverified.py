"""Subjects that no lookup covers, such as theft, and where to check them.

Pages and printed reports always list these subjects.
"""

from typing import Final

import msgspec

from portal.data_files import read_toml


class Unverified(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subject of ``unverified.toml``.

    ``key`` is ASCII, for HTML anchors. ``ask`` says in a few words whom to ask. ``link_name`` and
    ``link`` are the name and the https URL (under gov.br) of an official service for the subject,
    or "" and None if there is none.
    """

    key: str
    title: str
    ask: str
    why: str
    where: str
    link_name: str = ""
    link: str | None = None


_SUBJECTS: Final = read_toml(__package__, "unverified.toml", dict[str, tuple[Unverified, ...]])
UNVERIFIED: Final = _SUBJECTS["subjects"]
