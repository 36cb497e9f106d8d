"""View models: each page has a frozen dataclass with its template, and a factory."""

from portal.presentation.paper.dossier import DossierPage, dossier_page
from portal.presentation.site.api_reference import ApiPage, api_page
from portal.presentation.site.privacy_page import Kept, PrivacyPage, privacy_page
from portal.presentation.site.public_pages import (
    DossierSummary,
    ErrorPage,
    GlossaryPage,
    NoPrice,
    RecentLookup,
    SamplePlate,
    SearchPage,
    SignInPage,
    VerifyPage,
    error_page,
    glossary_page,
    search_page,
    sign_in_page,
    verify_page,
)
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
    "ErrorPage",
    "FineChoice",
    "GlossaryPage",
    "Kept",
    "Lookup",
    "NegotiationPage",
    "NoPrice",
    "PanelFragment",
    "Panels",
    "PrivacyPage",
    "RecentLookup",
    "RenavamPage",
    "RenderContext",
    "SamplePlate",
    "SearchPage",
    "SignInPage",
    "Site",
    "VehiclePage",
    "VerifyPage",
    "WrittenReport",
    "api_page",
    "comparison_page",
    "comparison_path",
    "dossier_page",
    "error_page",
    "fine_choice",
    "glossary_page",
    "kept_query",
    "negotiation_page",
    "not_refreshed",
    "panel_fragment",
    "panel_needs",
    "privacy_page",
    "read_facts",
    "renavam_page",
    "search_page",
    "sign_in_page",
    "subject_phrase",
    "vehicle_page",
    "verify_page",
    "what_changed",
]
