// Panels that follow: each waiting section is replaced by the one the server renders. Without
// this script the page leads to ?completo=1, where everything is there at once.
"use strict";

// How long the server may work at a panel: it says so, on the panel or for the whole page.
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
    // A sign-in page or an error page is not the panel that was asked for.
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

// What had the focus is gone: whoever uses the keyboard goes on from the panel, not the page's top.
function focusHeading(section) {
  const heading = section.querySelector("h2");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

// The panel keeps all that it says, its warnings too, until there is another to replace it.
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

// A panel that came as "indisponível" can be asked for again without leaving the page.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-panel-retry]");
  if (!link) return;
  event.preventDefault();
  // What failed in one panel is missing in the summary too: all that miss something ask again.
  document.querySelectorAll("[data-panel]").forEach((section) => {
    if (section.querySelector("[data-panel-retry]")) retry(section);
  });
});

// A button that cannot work is not shown: browsers grant the clipboard to secure pages alone.
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
