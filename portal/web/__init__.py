"""What people and scripts see: JSON paths, pages, health."""

from portal.web.limits import RateLimits
from portal.web.mounting import Portal, mount
from portal.web.view_models import SamplePlate

__all__ = ["Portal", "RateLimits", "SamplePlate", "mount"]
