"""What people and scripts see: JSON paths, pages, health, metrics."""

from portal.presentation import SamplePlate
from portal.web.app_setup import Portal, mount
from portal.web.http.rate_limits import RateLimits
from portal.web.json_api.access_log_buffer import HitLog
from portal.web.observability.logs import set_up_logging
from portal.web.observability.metrics import ROOM_A_WORKER, Metrics, MetricsAccess, add_up_in
from portal.web.pages.fragment_cache import Fragments

__all__ = [
    "ROOM_A_WORKER",
    "Fragments",
    "HitLog",
    "Metrics",
    "MetricsAccess",
    "Portal",
    "RateLimits",
    "SamplePlate",
    "add_up_in",
    "mount",
    "set_up_logging",
]
