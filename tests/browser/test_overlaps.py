"""No two texts of a page overlap, and no word is broken inside, at any width.

The boxes of two text nodes must not intersect. Hidden texts and clipped parts are left out. Fixed
and sticky elements are left out too, because they cover texts on purpose while the page scrolls.
"""

from collections.abc import Iterator

import pytest

from tests.browser.conftest import PageFactory
from tests.browser.daily import daily_first
from tests.browser.widths import at_each_width
from tests.effort import long
from tests.fakes.processes import PortalProcess
from tests.quality.visits import SETTINGS, VISITS, Visit, open_page

pytestmark = pytest.mark.long

# A small phone, a tablet and a desk. Most rules of the style sheets begin between them.
WIDTHS = (320, 768, 1180)
OTHER_WIDTHS = (
    *(360, 375, 390, 412, 480, 540, 600, 700),
    *(820, 912, 1024, 1100, 1280, 1366, 1440, 1920),
)
# The words that stand on two lines. A word of more than 60 characters, such as a draft's code, is
# longer than any line. Hidden texts are left out.
BROKEN = r"""() => {
  const isHidden = (element) => {
    for (let at = element; at; at = at.parentElement) {
      if (getComputedStyle(at).clipPath !== "none" && at.offsetWidth <= 1) return true;
    }
    return ["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT", "OPTION"].includes(element.tagName);
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walk.nextNode()) {
    const text = walk.currentNode, element = text.parentElement;
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    const inWords = [...text.data.matchAll(/[^\s\u00a0\u00ad\u200b\-\u2010-\u2015/·]{2,}/g)]
      .filter((word) => word[0].length <= 60);
    if (!inWords.length || isHidden(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    if (range.getClientRects().length < 2) continue;
    for (const word of inWords) {
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const rects = [...range.getClientRects()].filter((rect) => rect.width > 0.5);
      const isOneLine = rects.every((rect) => Math.abs(rect.top - rects[0].top) < rect.height / 2);
      if (!isOneLine) found.push(`${word[0]} in ${element.tagName} ${element.className}`);
    }
  }
  return [...new Set(found)].slice(0, 5);
}"""
OVERLAPS = """() => {
  const SLACK = 2;  // px by which line boxes of one line height may touch
  const ignored = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.position === "fixed" || style.position === "sticky") return true;
      if (style.clipPath !== "none" && at.offsetWidth <= 1) return true;
      if (style.opacity === "0") return true;
    }
    return false;
  };
  const isTruncated = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.textOverflow !== "clip" || style.webkitLineClamp !== "none") return true;
    }
    return false;
  };
  // The part of a box that its scrolling or clipping ancestors let show.
  const shown = (box, element) => {
    let { left, top, right, bottom } = box;
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const frame = at.getBoundingClientRect();
      if (style.overflowX !== "visible") {
        left = Math.max(left, frame.left); right = Math.min(right, frame.right);
      }
      if (style.overflowY !== "visible") {
        top = Math.max(top, frame.top); bottom = Math.min(bottom, frame.bottom);
      }
    }
    return { left, top, right, bottom };
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const boxes = [];
  while (walk.nextNode()) {
    const text = walk.currentNode, element = text.parentElement;
    if (!text.data.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT", "OPTION"].includes(element.tagName)) continue;
    if (ignored(element)) continue;
    // A plain letter in ink is as high as the font; the line box is higher.
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const rect of range.getClientRects()) {
      const box = shown(rect, element);
      if (box.right - box.left < 1 || box.bottom - box.top < 1) continue;
      const size = parseFloat(getComputedStyle(element).fontSize);
      const trim = element.closest("svg") ? 0 : Math.max(0, (box.bottom - box.top - size) / 2);
      boxes.push({ ...box, top: box.top + trim, bottom: box.bottom - trim, size, text });
    }
  }
  boxes.sort((one, other) => one.top - other.top);
  const found = [];
  for (let i = 0; i < boxes.length; i++) {
    const one = boxes[i];
    for (let j = i + 1; j < boxes.length && boxes[j].top < one.bottom - SLACK; j++) {
      const other = boxes[j];
      if (one.text === other.text) {
        // Chromium gives a truncated line two boxes: the whole one and the part before the dots.
        if (one.left === other.left && isTruncated(one.text.parentElement)) continue;
        // Lines of one text on top of each other: a line height of nothing.
        if (Math.min(one.bottom, other.bottom) - other.top < other.size / 2) continue;
      }
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > SLACK && down > SLACK) {
        found.push(`${one.text.data.trim().slice(0, 40)} / ${other.text.data.trim().slice(0, 40)}`);
      }
    }
  }
  return [...new Set(found)].slice(0, 5);
}"""


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(SETTINGS, workers=1) as server:
        yield server


@pytest.mark.parametrize("widths", [WIDTHS, *long((OTHER_WIDTHS,))], ids=len)
@pytest.mark.parametrize("visit", daily_first(VISITS), ids=lambda visit: visit.name)
def test_no_two_texts_overlap_and_no_word_breaks(
    new_page: PageFactory, portal: PortalProcess, visit: Visit, widths: tuple[int, ...]
) -> None:
    page = new_page()
    open_page(page, portal.url, visit)
    for width in at_each_width(page, *widths):
        assert page.evaluate(OVERLAPS) == [], (visit.path, width)
        assert page.evaluate(BROKEN) == [], (visit.path, width)


def test_overlapping_texts_are_found(new_page: PageFactory, portal: PortalProcess) -> None:
    page = new_page(bypass_csp=True)
    page.goto(f"{portal.url}/glossario")
    assert page.evaluate(OVERLAPS) == []
    page.add_style_tag(content="h1 { line-height: 0 } .lead { margin-top: -10px }")
    assert page.evaluate(OVERLAPS)


def test_broken_words_are_found(new_page: PageFactory, portal: PortalProcess) -> None:
    page = new_page(bypass_csp=True)
    page.goto(f"{portal.url}/glossario")
    assert page.evaluate(BROKEN) == []
    page.add_style_tag(content="main { inline-size: 3rem; overflow-wrap: anywhere }")
    assert page.evaluate(BROKEN)
