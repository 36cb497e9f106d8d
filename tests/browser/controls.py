"""The controls of a page in Chromium's accessibility tree, and what is wrong with each."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROLES = {
    "button",
    "checkbox",
    "combobox",
    "DisclosureTriangle",
    "link",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "textbox",
}
# What a control is without effect or says wrongly, or nothing. ``told`` holds the states of the
# accessibility tree. Of the buttons of a script only those that copy exist.
FAULT = """function(role, told) {
  const seen = (one) => one.checkVisibility() && one.getBoundingClientRect().height > 0;
  if (role === "link") {
    const href = this.getAttribute("href") ?? "";
    if (!href.startsWith("#")) return href ? "" : "leads nowhere";
    const target = document.getElementById(href.slice(1));
    return target && target.checkVisibility() ? "" : "leads to nothing that is shown";
  }
  if (this.tagName === "SUMMARY") {
    const rest = [...this.parentElement.children].filter((one) => one !== this);
    if (!rest.length) return "opens nothing";
    return rest.some(seen) === told.expanded ? "" : "is open and said to be closed, or so";
  }
  if (role === "button") {
    const acts = (this.form && this.type === "submit") || this.popoverTargetElement
      || this.dataset.copy;
    return acts ? "" : "does nothing";
  }
  if (role === "checkbox" || role === "radio") {
    return String(this.checked) === told.checked ? "" : "is ticked and said not to be, or so";
  }
  return "";
}"""


class Control(NamedTuple):
    """A control; ``fault`` is empty if it works and tells the truth."""

    role: str
    name: str
    fault: str


def controls_of(page: "Page") -> list[Control]:
    session = page.context.new_cdp_session(page)
    for domain in ("DOM", "Accessibility"):
        session.send(f"{domain}.enable")
    found = []
    for node in session.send("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        if node["ignored"] or role not in ROLES:
            continue
        name = node["name"]["value"]
        told = {one["name"]: one["value"].get("value") for one in node.get("properties", ())}
        element = session.send("DOM.resolveNode", {"backendNodeId": node["backendDOMNodeId"]})
        answer = session.send(
            "Runtime.callFunctionOn",
            {
                "objectId": element["object"]["objectId"],
                "functionDeclaration": FAULT,
                "arguments": [{"value": role}, {"value": told}],
                "returnByValue": True,
            },
        )
        fault = answer["result"]["value"] if name.strip() else "has no name"
        found.append(Control(role, name, fault))
    session.detach()
    return found
