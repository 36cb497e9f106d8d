"""One frozen context a page, naming its template, and the function that builds it."""

from portal.web.view_models.comparison import (
    MOST_PLATES,
    ComparisonPage,
    comparison_page,
    comparison_path,
)
from portal.web.view_models.dossier import DossierPage, dossier_page
from portal.web.view_models.facts import read_ahead, read_facts
from portal.web.view_models.gaps import this_one
from portal.web.view_models.negotiation import NegotiationPage, negotiation_page
from portal.web.view_models.panel import (
    LOOKUP_WORDS,
    PANEL_NAMES,
    Lookup,
    Panels,
    Reading,
    not_refreshed,
    panel_needs,
)
from portal.web.view_models.plain import (
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
from portal.web.view_models.privacy import Kept, PrivacyPage, privacy_page
from portal.web.view_models.reference import ApiPage, api_page
from portal.web.view_models.report import WrittenReport
from portal.web.view_models.site import Site
from portal.web.view_models.vehicle import (
    PanelFragment,
    RenavamPage,
    VehiclePage,
    panel_fragment,
    renavam_page,
    vehicle_page,
)

__all__ = [
    "LOOKUP_WORDS",
    "MOST_PLATES",
    "PANEL_NAMES",
    "ApiPage",
    "ComparisonPage",
    "DossierPage",
    "DossierSummary",
    "ErrorPage",
    "GlossaryPage",
    "Kept",
    "Lookup",
    "NegotiationPage",
    "NoPrice",
    "PanelFragment",
    "Panels",
    "PrivacyPage",
    "Reading",
    "RecentLookup",
    "RenavamPage",
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
    "glossary_page",
    "negotiation_page",
    "not_refreshed",
    "panel_fragment",
    "panel_needs",
    "privacy_page",
    "read_ahead",
    "read_facts",
    "renavam_page",
    "search_page",
    "sign_in_page",
    "this_one",
    "vehicle_page",
    "verify_page",
]
