// Renews the page of a batch every two seconds while it runs. Without this script the page refreshes
// itself. Elements with an id are compared with the fresh page and only the changed ones are
// replaced, so that focus, selection and scroll position stay. What the reader has opened stays open.
"use strict";

const EVERY_MS = 2000;
const LONGEST_MS = 30000;
const QUARTERS = 4;
const KEYS = { A: "href", BUTTON: "formaction", SELECT: "id", INPUT: "id" };
const OPEN = "details[open][id]";
const announcements = document.getElementById("andamento");
let pauseMs = EVERY_MS;
let told = "";

// A selector that finds the same control in the fresh page.
function selectorOf(control) {
  const form = control.closest("form[method=post]");
  if (form) return `form[action="${CSS.escape(form.getAttribute("action"))}"] button`;
  if (control.tagName === "SUMMARY") return `#${CSS.escape(control.parentElement.id)} > summary`;
  const key = KEYS[control.tagName];
  const value = key && control.getAttribute(key);
  return value ? `${control.tagName}[${key}="${CSS.escape(value)}"]` : "";
}

// Replaces an element. If the focused control is gone, as "Pausar" is at the end, the heading of
// the batch gets the focus instead of the top of the page.
function replace(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const selector = focused && selectorOf(focused);
  const adopted = document.importNode(fresh, true);
  for (const { id } of old.querySelectorAll(OPEN)) {
    const details = adopted.querySelector(`#${CSS.escape(id)}`);
    if (details) details.open = true;
  }
  old.replaceWith(adopted);
  if (!focused) return;
  const heir = (selector && adopted.querySelector(selector)) || document.querySelector("#lote h1");
  if (heir.tagName === "H1") heir.tabIndex = -1;
  heir.focus({ preventScroll: true });
}

function update(old, fresh) {
  if (old.outerHTML === fresh.outerHTML) return;
  const rows = fresh.querySelectorAll("tbody tr[id]");
  const progress = fresh.querySelector("#lote-andamento");
  const isSame = progress && document.getElementById("lote-andamento")
    && rows.length === old.querySelectorAll("tbody tr[id]").length
    && fresh.children.length === old.children.length;
  if (!isSame) {
    replace(old, fresh);
    return;
  }
  for (const part of [progress, ...rows]) {
    const present = document.getElementById(part.id);
    if (present.outerHTML !== part.outerHTML) replace(present, part);
  }
}

// Screen readers hear each quarter and each change of state, not every plate.
function announce() {
  const bar = document.querySelector("#lote progress");
  const title = document.querySelector("#lote h2")?.textContent.trim();
  const state = document.querySelector("#lote .notice__title")?.textContent.trim() ?? "";
  const quarter = bar ? Math.floor((QUARTERS * bar.value) / bar.max) : QUARTERS;
  const next = `${quarter} ${bar ? state : "fim"}`;
  if (next === told) return;
  const isFirst = !told;
  told = next;
  if (isFirst && bar) return;
  announcements.textContent = bar
    ? [state, title].filter(Boolean).join(": ")
    : document.querySelector(".batch-done p")?.textContent.trim() ?? "";
}

async function renew() {
  const batch = document.getElementById("lote");
  try {
    const response = await fetch(batch.dataset.refreshUrl + location.search, {
      credentials: "same-origin",
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("lote");
    if (!fresh) throw new Error("not the batch");
    update(batch, fresh);
    announce();
    pauseMs = EVERY_MS;
    if (!fresh.dataset.refreshUrl) return;
  } catch {
    pauseMs = Math.min(2 * pauseMs, LONGEST_MS);
  }
  setTimeout(renew, pauseMs);
}

// The order applies at once; the button stays for the search text.
document.addEventListener("change", (event) => {
  if (event.target.id === "lote-ordem") event.target.form.requestSubmit();
});

// The price on the button belongs to the ticks that the server knows.
document.addEventListener("change", (event) => {
  const { form, name } = event.target;
  const button = form?.querySelector("[data-reticked]");
  if (!button || name !== "linha") return;
  const isChanged = [...form.elements].some((each) => each.checked !== each.defaultChecked);
  button.dataset.label ??= button.textContent;
  button.textContent = isChanged ? button.dataset.reticked : button.dataset.label;
});

if (document.getElementById("lote")?.dataset.refreshUrl) {
  announce();
  setTimeout(renew, pauseMs);
}
