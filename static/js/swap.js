// Changes a part of the page in place to what the server renders for another choice. A choice is a
// form or a link: without this script, it loads the page. An element with "data-choices" names the
// parameters that its forms and links choose; the part that changes is the nearest one with an id.
"use strict";

// The server answers a request with this header from stored records alone. A choice is never paid.
const STORED_ONLY = { "X-Purpose": "preview" };
const TYPING_MS = 250;
const root = document.documentElement;
const IDENTITY = ["action", "formaction", "name", "type", "data-choice"];
const pending = new WeakMap();

root.classList.add("has-script");

async function fetchPage(address, options) {
  const response = await fetch(address, { credentials: "same-origin", ...options });
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

// Makes an element equal to a fresh one. Elements that both have stay, found by their id or else by
// their place, so that focus, caret, scroll position and opened details stay too.
function morph(old, fresh) {
  const heldFocus = old.contains(document.activeElement);
  change(old, fresh, new Map([...old.querySelectorAll("[id]")].map((one) => [one.id, one])));
  if (heldFocus && !old.contains(document.activeElement)) focusHeading(old);
  old.dispatchEvent(new CustomEvent("portal:inserted", { bubbles: true }));
}

// A button never becomes another one under the reader's finger.
function areTwins(old, fresh) {
  if (old?.nodeName !== fresh.nodeName || (old.id ?? "") !== (fresh.id ?? "")) return false;
  if (old.nodeType !== Node.ELEMENT_NODE) return true;
  const [mine, other] = [old.classList[0], fresh.classList[0]];
  if (mine && other && mine !== other) return false;
  return IDENTITY.every((name) => old.getAttribute(name) === fresh.getAttribute(name));
}

function twinOf(fresh, next, known) {
  if (fresh.id) return known.get(fresh.id);
  if (fresh.nodeType !== Node.ELEMENT_NODE) return next;
  let twin = next;
  while (twin && !areTwins(twin, fresh)) twin = twin.nextSibling;
  return twin;
}

function change(old, fresh, known) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !(old.tagName === "DETAILS" && name === "open")) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  let next = old.firstChild;
  for (const child of fresh.childNodes) {
    let twin = twinOf(child, next, known);
    if (!areTwins(twin, child)) twin = document.importNode(child, false);
    else if (!child.id) while (next !== twin) next = removed(next);
    if (twin === next) next = next.nextSibling;
    else old.insertBefore(twin, next);
    change(twin, child, known);
  }
  while (next) next = removed(next);
}

function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

// The focused element was removed. Keyboard focus moves to the part instead of the page's top.
function focusHeading(part) {
  const heading = part.querySelector("h1, h2") ?? part;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

// The address of the page with these choices. Other parts may have changed it since the server
// wrote a link, so only the part's own parameters change.
function addressOf(names, chosen) {
  const address = new URL(location.href);
  for (const name of names) address.searchParams.delete(name);
  for (const [name, value] of chosen) address.searchParams.append(name, value);
  return address;
}

// Returns whether the part shows the choice. The last choice counts: it cancels the request before.
async function choose(control, chosen, waitMs = 0) {
  const owner = control.closest("[data-choices]");
  const part = owner.closest("[id]");
  const names = owner.dataset.choices.split(" ");
  const own = chosen.filter(([name]) => names.includes(name));
  const request = new AbortController();
  pending.get(part)?.abort();
  pending.set(part, request);
  part.setAttribute("aria-busy", "true");
  history.replaceState(history.state, "", addressOf(names, own));
  await new Promise((resolve) => { setTimeout(resolve, waitMs); });
  const address = addressOf(names, own);
  address.searchParams.delete("completo");
  try {
    request.signal.throwIfAborted();
    const page = await fetchPage(address, { headers: STORED_ONLY, signal: request.signal });
    const fresh = page.getElementById(part.id);
    // The response may be a sign-in or error page, or a page without these records.
    if (!fresh?.matches("[data-choices], :has([data-choices])")) throw new Error("not the part");
    request.signal.throwIfAborted();
    morph(part, fresh);
    return true;
  } catch {
    if (request.signal.aborted) return true;
    part.removeAttribute("aria-busy");
    return false;
  }
}

// The first option of a list is its default, which the address leaves out.
function chosenIn(form) {
  return [...form.elements]
    .filter((one) => (/checkbox|radio/.test(one.type) ? one.checked : one.selectedIndex !== 0) && one.value?.trim())
    .map((one) => [one.name, one.value.trim()]);
}

// A page that answers a form has another address than its choices. It may show paid answers that
// are stored nowhere, so it stays as it is.
function isSwappable(address) {
  return root.classList.contains("has-script") && new URL(address).pathname === location.pathname;
}

async function chooseIn(form, waitMs) {
  // Without the script's class the form shows its button.
  if (!(await choose(form, chosenIn(form), waitMs))) root.classList.remove("has-script");
}

document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-choices]");
  if (form && isSwappable(form.action)) chooseIn(form, event.target.type === "search" ? TYPING_MS : 0);
});

// Ticks the boxes of a form that are shown, or none at all.
document.addEventListener("click", (event) => {
  const { form, dataset } = event.target;
  if (dataset?.all === undefined) return;
  for (const one of form.elements) if (one.type === "checkbox" && (!dataset.all || one.checkVisibility())) one.checked = Boolean(dataset.all);
  form.dispatchEvent(new Event("input", { bubbles: true }));
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-choices]") || !isSwappable(event.target.action)) return;
  event.preventDefault();
  chooseIn(event.target);
});

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-choice]");
  const isPlain = !event.defaultPrevented && !event.button && !event.metaKey && !event.ctrlKey && !event.shiftKey;
  if (!link || !isPlain || !isSwappable(link.href)) return;
  event.preventDefault();
  const { choice } = link.dataset;
  const part = link.closest("[data-choices]");
  if (!(await choose(link, [...new URL(link.href).searchParams]))) location.assign(link.href);
  else if (!link.isConnected) part.querySelector(`[data-choice="${CSS.escape(choice)}"]`)?.focus({ preventScroll: true });
});
