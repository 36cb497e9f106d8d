"""The view models of the pages: frozen dataclasses, each with the path of its template."""

from portal.presentation.issued.pages import (
    EndedDossierPage,
    IssuedDossierPage,
    IssuedListPage,
    IssuedRow,
    issued_list_page,
)
from portal.presentation.issued.summary import IssuedSummary, issued_summary
from portal.presentation.issued.verification import (
    VerificationPage,
    VerifiedDossier,
    partly_hidden,
    verification_page,
)
from portal.presentation.paper.dossier import DossierPage, dossier_page
from portal.presentation.paper.issuer import Issuer
from portal.presentation.site.api_answers import reference_answers
from portal.presentation.site.api_reference import ApiPage, ReferenceFacts, api_page
from portal.presentation.site.lookup_cost import LookupCost
from portal.presentation.site.privacy_page import KeptAnswer, PrivacyPage
from portal.presentation.site.public_pages import (
    DossierSummary,
    ErrorPage,
    GlossaryPage,
    NoPrice,
    SamplePlate,
    SignInPage,
    error_page,
)
from portal.presentation.site.recent_lookup import RecentLookup, recent_lookup
from portal.presentation.site.search_page import SearchPage, search_page
from portal.presentation.site.site import Site
from portal.presentation.tools.comparison import (
    MOST_PLATES,
    ComparisonPage,
    comparison_page,
    comparison_path,
)
from portal.presentation.tools.negotiation import NegotiationPage, negotiation_page
from portal.presentation.vehicle.changes import what_changed
from portal.presentation.vehicle.facts import read_facts
from portal.presentation.vehicle.fine_choice import FineChoice, fine_choice
from portal.presentation.vehicle.gaps import subject_phrase
from portal.presentation.vehicle.page import (
    PanelFragment,
    RenavamPage,
    VehiclePage,
    panel_fragment,
    renavam_page,
    vehicle_page,
)
from portal.presentation.vehicle.panel import (
    LOOKUP_WORDS,
    PANEL_NAMES,
    Lookup,
    Panels,
    RenderContext,
    not_refreshed,
    panel_needs,
)
from portal.presentation.vehicle.query import kept_query
from portal.presentation.vehicle.report import WrittenReport

__all__ = [
    "LOOKUP_WORDS",
    "MOST_PLATES",
    "PANEL_NAMES",
    "ApiPage",
    "ComparisonPage",
    "DossierPage",
    "DossierSummary",
    "EndedDossierPage",
    "ErrorPage",
    "FineChoice",
    "GlossaryPage",
    "IssuedDossierPage",
    "IssuedListPage",
    "IssuedRow",
    "IssuedSummary",
    "Issuer",
    "KeptAnswer",
    "Lookup",
    "LookupCost",
    "NegotiationPage",
    "NoPrice",
    "PanelFragment",
    "Panels",
    "PrivacyPage",
    "RecentLookup",
    "ReferenceFacts",
    "RenavamPage",
    "RenderContext",
    "SamplePlate",
    "SearchPage",
    "SignInPage",
    "Site",
    "VehiclePage",
    "VerificationPage",
    "VerifiedDossier",
    "WrittenReport",
    "api_page",
    "comparison_page",
    "comparison_path",
    "dossier_page",
    "error_page",
    "fine_choice",
    "issued_list_page",
    "issued_summary",
    "kept_query",
    "negotiation_page",
    "not_refreshed",
    "panel_fragment",
    "panel_needs",
    "partly_hidden",
    "read_facts",
    "recent_lookup",
    "reference_answers",
    "renavam_page",
    "search_page",
    "subject_phrase",
    "vehicle_page",
    "verification_page",
    "what_changed",
]
