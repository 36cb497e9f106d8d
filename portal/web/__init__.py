"""The web layer: JSON API, HTML pages, health checks and metrics."""

from portal.presentation.site.public_pages import SamplePlate
from portal.web.app_setup import Dependencies, init_app
from portal.web.http.rate_limits import LIMIT_COUNTERS, RateLimits
from portal.web.json_api.access_log_buffer import AccessLogBuffer
from portal.web.observability.log_setup import set_up_logging
from portal.web.observability.metrics import (
    BYTES_PER_WORKER,
    Metrics,
    MetricsAccess,
    enable_multiprocess,
)
from portal.web.pages.lookups import Lookups
from portal.web.pages.operations import OperationsSources
from portal.web.pages.page_cache import PageCache

__all__ = [
    "BYTES_PER_WORKER",
    "LIMIT_COUNTERS",
    "AccessLogBuffer",
    "Dependencies",
    "Lookups",
    "Metrics",
    "MetricsAccess",
    "OperationsSources",
    "PageCache",
    "RateLimits",
    "SamplePlate",
    "enable_multiprocess",
    "init_app",
    "set_up_logging",
]
