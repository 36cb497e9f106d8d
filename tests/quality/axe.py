"""axe-core in a page of Playwright: which rules of WCAG 2.2 AA, and of good practice, it breaks."""

from typing import Any, Final

_TAGS: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
# Evaluated by the debugging protocol, which the page's Content-Security-Policy does not bind.
_RUN: Final = """async (tags) => {
  const paper = matchMedia('print').matches;
  document.querySelectorAll('details').forEach((fold) => { fold.open = true; });
  const found = await axe.run(document, {
    runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'],
    // On paper no link can be followed: none has to be hit, or told from the text around it.
    rules: { 'target-size': { enabled: !paper }, 'link-in-text-block': { enabled: !paper } },
  });
  return found.violations.map((rule) => ({
    id: rule.id, help: rule.help, targets: rule.nodes.map((node) => node.target.join(' ')),
  }));
}"""


def violations(page: Any, source: str) -> list[str]:
    """One line a broken rule, with the first elements that break it; every fold is laid open."""
    if not page.evaluate("typeof axe !== 'undefined'"):
        page.evaluate(source + "; undefined")
    return [
        f"{rule['id']}: {rule['help']} ({len(rule['targets'])}×: {', '.join(rule['targets'][:3])})"
        for rule in page.evaluate(_RUN, list(_TAGS))
    ]
