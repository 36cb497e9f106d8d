"""The sign-in page, the glossary, the privacy page, the error page, and the samples."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final
from urllib.parse import parse_qs, urlsplit

from portal.dossier.lookups import OperationTexts
from portal.law.rules import RULES, Rule, RuleSource
from portal.phrasebook.glossary import GLOSSARY, Term
from portal.phrasebook.rules import CONSULTED, SOURCE_WORDS
from portal.presentation.lists.comparison import MOST_PLATES
from portal.presentation.site.search_page import LONGEST_QUERY
from portal.system.caller_credentials import Mode
from portal.vehicle.plate import InvalidSubject, parse_subject
from portal.wording import listed, sanitise_echo

SamplePlate = tuple[str, str, str, str]  # see ``portal.desk.examples``


@dataclass(frozen=True, slots=True)
class SamplesPage:
    template: ClassVar[str] = "pages/samples.html"
    samples: Sequence[SamplePlate]


@dataclass(frozen=True, slots=True)
class SignInPage:
    """The sign-in page.

    After signing in, the visitor goes to ``next_path``, which must be a path of this portal. If
    ``pass_through`` is true, the form asks for the visitor's upstream credential. Otherwise, it
    asks for a portal token, which ``contact`` gives out. ``by_company`` offers the sign-in at the
    company's provider, and ``company_problem`` says why that has signed nobody in. ``turned_away``
    is the name of a person whom the company has signed in, and who has no role here. Who has
    ``signed_in`` picks one of ``purposes`` alone.
    """

    template: ClassVar[str] = "pages/sign_in.html"
    pass_through: bool
    next_path: str = "/"
    problem: str = ""
    contact: str = ""
    by_company: bool = False
    turned_away: str = ""
    company_problem: str = ""
    signed_in: str | None = None
    purposes: Sequence[str] = ()
    picked: str = ""

    @property
    def asks_purpose_alone(self) -> bool:
        return bool(self.purposes) and self.signed_in is not None

    @property
    def purpose(self) -> str:
        """What the page at ``next_path`` shows.

        For a vehicle's page, the result is a text such as ``consultar ABC1D23`` (look up). For a
        comparison, it is ``comparar ABC1D23 e KZZ-9999`` (compare). For other pages, it is "".
        """
        parts = urlsplit(self.next_path)
        vehicle = _VEHICLE_PATH.match(parts.path)
        named = [vehicle[1]] if vehicle else parse_qs(parts.query).get("placas", [""])[0].split(",")
        try:
            subjects = [parse_subject(text).display for text in named[:MOST_PLATES]]
        except InvalidSubject:
            return ""
        return f"{'consultar' if vehicle else 'comparar'} {listed(subjects)}"


@dataclass(frozen=True, slots=True)
class SignedOutPage:
    """The page after a person's session, with the address that ends the provider's, or ""."""

    template: ClassVar[str] = "pages/signed_out.html"
    provider_url: str


@dataclass(frozen=True, slots=True)
class GlossaryPage:
    template: ClassVar[str] = "pages/glossary.html"
    terms: ClassVar[tuple[Term, ...]] = GLOSSARY
    rules: ClassVar[tuple[Rule, ...]] = RULES
    source_words: ClassVar[Mapping[RuleSource, str]] = SOURCE_WORDS
    consulted: ClassVar[str] = CONSULTED


@dataclass(frozen=True, slots=True)
class PrivacyPage:
    """The privacy page. A member ``…_s`` is a storage time in seconds.

    ``answers`` has the storage times of an operation's answers, 0 if they are not stored: the usual
    time, and the time of an empty list (None if the answers are no lists).

    ``rejected_s`` is for lookups that the upstream rejected, ``session_s`` for the session cookie,
    and ``tries_s`` for the number of sign-in attempts of an IP address. ``ended_dossier_s`` seconds
    after a dossier expires, the portal deletes the dossier's number. ``counts_requests`` is true if
    the portal has rate limits. ``trail_days`` is 0 if no trail is kept. ``controller`` is who
    answers for the data, and ``contact`` the encarregado (LGPD, art. 41). Either is "" if unknown.
    """

    template: ClassVar[str] = "pages/privacy.html"
    mode: Mode
    answers: Mapping[OperationTexts, tuple[int, int | None]]
    rejected_s: int
    history_s: int
    declared_s: int
    session_s: int
    tries_s: int
    dossier_s: int
    ended_dossier_s: int
    batch_s: int  # counted from the end or pause of the batch
    draft_s: int  # for a batch that is never started
    counts_requests: bool
    mask_names: bool
    trail_days: int
    controller: str
    contact: str
    has_people: bool = False  # whether people sign in at their company


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """The error page, with a "try again" link if ``retry_path`` is set.

    The fields need no data from the database or the upstream, because either may have failed.
    """

    template: ClassVar[str] = "pages/error.html"
    status: int
    title: str
    advice: str
    request_id: str
    query: str = ""
    retry_path: str = ""

    @property
    def echo(self) -> str:
        return sanitise_echo(self.query, LONGEST_QUERY)


_VEHICLE_PATH: Final = re.compile(r"/(?:placa|renavam)/([^/]+)")
