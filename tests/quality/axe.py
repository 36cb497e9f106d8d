"""Runs axe-core in a Playwright page: WCAG 2.2 AA and best-practice violations."""

from typing import Any, Final

_TAGS: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
# Playwright evaluates this script over the debugging protocol, to which the page's
# Content-Security-Policy does not apply.
# An opened menu lies over what is below it, which has no room then. So menus are closed while the
# page is searched, and each is searched alone afterwards.
_RUN: Final = """async (only) => {
  const paper = matchMedia('print').matches;
  const options = {
    runOnly: only, resultTypes: ['violations'],
    // Printed links cannot be followed, so their size and contrast with the text do not matter.
    rules: { 'target-size': { enabled: !paper }, 'link-in-text-block': { enabled: !paper } },
  };
  const menus = [...document.querySelectorAll('details:is(.more, .menu)')];
  document.querySelectorAll('details').forEach((fold) => { fold.open = !menus.includes(fold); });
  const found = (await axe.run(document, options)).violations;
  for (const menu of menus) {
    menu.open = true;
    found.push(...(await axe.run(menu, options)).violations);
    menu.open = false;
  }
  return found.map((rule) => ({
    id: rule.id, help: rule.help, targets: rule.nodes.map((node) => node.target.join(' ')),
  }));
}"""


def violations(page: Any, source: str, *, of_colour: bool = False) -> list[str]:
    """A line for each violated rule, with its first three elements; opens all <details>.

    ``of_colour`` leaves out the rules that do not depend on the colour scheme.
    """
    only = {"type": "tag", "values": list(_TAGS)}
    if of_colour:
        only = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
    if not page.evaluate("typeof axe !== 'undefined'"):
        page.evaluate(source + "; undefined")
    return [
        f"{rule['id']}: {rule['help']} ({len(rule['targets'])}×: {', '.join(rule['targets'][:3])})"
        for rule in page.evaluate(_RUN, only)
    ]
