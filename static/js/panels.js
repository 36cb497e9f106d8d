// Replaces each waiting panel by the one that the server renders. Without this script the page
// goes to ?completo=1, which has every panel.
"use strict";

// Time limit of a panel's request in seconds, unless the panel or the page has its own.
const DEFAULT_SECONDS = 30;
const announce = document.getElementById("andamento");
const failure = document.getElementById("falha-painel");

function deadlineMs(section) {
  const said = section.dataset.panelSeconds ?? document.documentElement.dataset.panelSeconds;
  return (Number(said) > 0 ? Number(said) : DEFAULT_SECONDS) * 1000;
}

async function load(section, again) {
  section.setAttribute("aria-busy", "true");
  const title = section.querySelector("h2").textContent;
  try {
    const response = await fetch(section.dataset.panelUrl, {
      credentials: "same-origin",
      signal: AbortSignal.timeout(deadlineMs(section)),
    });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById(section.id);
    // The response may be a sign-in or error page instead of the panel.
    if (!fresh || !fresh.dataset.panelUrl) throw new Error("not a panel");
    const adopted = document.importNode(fresh, true);
    const heldFocus = section.contains(document.activeElement);
    section.replaceWith(adopted);
    if (heldFocus) focusHeading(adopted);
    offerCopies(adopted);
    announce.textContent = `${title}: ${outcome(adopted, again)}`;
    if (location.hash && adopted.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`)) {
      document.getElementById(location.hash.slice(1)).scrollIntoView();
    }
  } catch {
    section.removeAttribute("aria-busy");
    section.querySelectorAll(".progress, .hint").forEach((part) => part.remove());
    const notice = document.importNode(failure.content, true);
    notice.firstElementChild.dataset.panelFailure = "";
    notice.querySelector("button").addEventListener("click", () => retry(section));
    section.querySelector(".panel__head").after(notice);
    announce.textContent = `${title}: não carregou`;
  }
}

function outcome(section, again) {
  const isReady = section.dataset.panel === "ready";
  if (isReady && !("panelGap" in section.dataset)) return "pronto";
  const missing = isReady ? "indisponível em parte" : "indisponível";
  return again ? `continua ${missing}` : missing;
}

// The focused element was removed. Keyboard focus moves to the panel instead of the page's top.
function focusHeading(section) {
  const heading = section.querySelector("h2");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

// The panel keeps its content and warnings until a new one replaces it.
function retry(section) {
  if (section.getAttribute("aria-busy")) return;
  const failed = section.querySelector("[data-panel-failure]");
  if (failed?.contains(document.activeElement)) focusHeading(section);
  failed?.remove();
  const bar = document.createElement("div");
  bar.className = "progress";
  bar.setAttribute("role", "progressbar");
  bar.setAttribute("aria-label", "Consultando");
  section.querySelector(".panel__head").after(bar);
  load(section, true);
}

// Retries an unavailable panel without leaving the page.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-panel-retry]");
  if (!link) return;
  event.preventDefault();
  // A failed lookup is missing in the summary too, so every panel with a retry link is reloaded.
  document.querySelectorAll("[data-panel]").forEach((section) => {
    if (section.querySelector("[data-panel-retry]")) retry(section);
  });
});

// Copy buttons stay hidden without the clipboard API, which browsers offer to secure pages only.
function offerCopies(root) {
  if (!navigator.clipboard) return;
  root.querySelectorAll("[data-copy]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      announce.textContent = `${button.dataset.copy} copiado`;
      button.firstChild.textContent = "copiado";
    });
  });
}

offerCopies(document);
document.querySelectorAll('[data-panel="waiting"]').forEach((section) => load(section, false));
