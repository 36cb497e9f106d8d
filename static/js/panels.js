// Panels that follow: each waiting section is replaced by the one the server renders. Without
// this script the page leads to ?completo=1, where everything is there at once.
"use strict";

const DEADLINE_MS = 30000;
const announce = document.getElementById("andamento");
const failure = document.getElementById("falha-painel");

async function load(section) {
  section.setAttribute("aria-busy", "true");
  const title = section.querySelector("h2").textContent;
  try {
    const response = await fetch(section.dataset.panelUrl, {
      credentials: "same-origin",
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById(section.id);
    // A sign-in page or an error page is not the panel that was asked for.
    if (!fresh || !fresh.dataset.panelUrl) throw new Error("not a panel");
    const adopted = document.importNode(fresh, true);
    section.replaceWith(adopted);
    offerCopies(adopted);
    announce.textContent = `${title}: pronto`;
    if (location.hash && adopted.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`)) {
      document.getElementById(location.hash.slice(1)).scrollIntoView();
    }
  } catch {
    section.removeAttribute("aria-busy");
    section.querySelectorAll(".progress, .hint, .notice").forEach((part) => part.remove());
    const notice = document.importNode(failure.content, true);
    notice.querySelector("button").addEventListener("click", () => retry(section));
    section.append(notice);
    announce.textContent = `${title}: não carregou`;
  }
}

function retry(section) {
  const bar = document.createElement("div");
  bar.className = "progress";
  bar.setAttribute("role", "progressbar");
  bar.setAttribute("aria-label", "Consultando");
  section.querySelectorAll(".notice").forEach((part) => part.remove());
  section.append(bar);
  load(section);
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
document.querySelectorAll('[data-panel="waiting"]').forEach(load);
