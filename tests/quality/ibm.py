"""Runs IBM's accessibility engine in a Playwright page: WCAG 2.2 failures."""

from collections import Counter
from typing import Any, Final

# The rules that fail although the page is right, with the reason. axe checks names and labels too.
MISTAKEN: Final = {
    "aria_form_label_unique": "browsers make no landmark of a form without a name",
    "input_checkboxes_grouped": "the checklist is a list in a region with a heading",
    "input_label_exists": "the engine takes a visually hidden label for a hidden one",
    "label_content_exists": "the engine takes a visually hidden label for a hidden one",
    "table_headers_exists": "each value of a fine on paper stands below its label",
    "table_headers_related": "a row's header names the row; a box to tick names its vehicle",
}
_RUN: Final = """async () => {
  document.querySelectorAll('details').forEach((fold) => { fold.open = true; });
  const { results } = await new ace.Checker().check(document, ['WCAG_2_2']);
  return results.filter(({ value }) => value.join() === 'VIOLATION,FAIL').map(
    (found) => [`${found.ruleId}: ${found.message}`, found.path.dom]);
}"""


def violations(page: Any, source: str) -> list[str]:
    """A line for each message with its first element and number; opens all <details>."""
    if not page.evaluate("typeof ace !== 'undefined'"):
        page.evaluate(source + "; window.ace = ace; undefined")
    found = [
        (message, path)
        for message, path in page.evaluate(_RUN)
        if message.partition(":")[0] not in MISTAKEN
    ]
    counts = Counter(message for message, _ in found)
    first = dict(reversed(found))
    return [f"{message} ({count}×: {first[message]})" for message, count in counts.items()]
