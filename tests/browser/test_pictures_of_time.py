"""Pictures of time in a browser: the timeline, the chart's years, the steps of a deadline."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.widths import at_each_width
from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.long

PATH = "/placa/ABC1D23?completo=1"
# The gaps between the names of two years below the chart, in px.
GAPS_OF_YEARS = r"""() => {
  const years = [...document.querySelectorAll(".price-chart text")]
    .filter((one) => /^(19|20)?\d\d$/.test(one.textContent.trim()) && one.checkVisibility())
    .map((one) => one.getBoundingClientRect()).filter((box) => box.width)
    .sort((one, other) => one.left - other.left);
  return years.slice(1).map((box, at) => box.left - years[at].right);
}"""


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


def test_timeline_opens_at_today_on_a_phone(phone_page: "Page", portal: PortalProcess) -> None:
    phone_page.goto(portal.url + PATH)
    region = phone_page.locator("#linha-do-tempo .scroll")
    box, picture = region.bounding_box(), region.locator("svg").bounding_box()
    assert box and picture and picture["width"] > box["width"] + 50
    assert abs(picture["x"] + picture["width"] - box["x"] - box["width"]) < 2
    assert region.evaluate("(one) => getComputedStyle(one.firstElementChild).direction") == "ltr"


def test_names_of_years_stand_apart(page: "Page", portal: PortalProcess) -> None:
    page.goto(portal.url + PATH)
    for width in at_each_width(page, 360, 640, 700, 820, height=900):
        gaps = page.evaluate(GAPS_OF_YEARS)
        assert len(gaps) >= 3 and min(gaps) >= 3, (width, gaps)


def test_rings_of_missing_days_are_cut_evenly(page: "Page", portal: PortalProcess) -> None:
    """A dashed border of 12 px is two half rings at one pixel a point."""
    page.goto(portal.url + "/placa/MUL0A45?completo=1")
    borders = page.evaluate(
        """() => [...document.querySelectorAll(".deadlines__step")].map((one) => {
          const ring = getComputedStyle(one, "::before");
          return [one.className, ring.borderTopStyle, ring.maskImage !== "none"];
        })"""
    )
    cut = [each for each in borders if "--missing" in each[0] or "--hidden" in each[0]]
    assert cut and all(style != "dashed" and is_cut for _, style, is_cut in cut)
    assert all(style == "solid" for name, style, is_cut in borders if not is_cut)
