"""What people and scripts see: JSON paths, pages, health, metrics."""

from portal.web.fragments import Fragments
from portal.web.hit_log import HitLog
from portal.web.limits import RateLimits
from portal.web.logs import set_up_logging
from portal.web.metrics import ROOM_A_WORKER, Metrics, MetricsAccess, add_up_in
from portal.web.mounting import Portal, mount
from portal.web.view_models import SamplePlate

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
