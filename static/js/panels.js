// Changes each waiting panel to the one that the server renders. Without this script the page
// goes to ?completo=1, which has every panel.
"use strict";

// Time limit of a panel's request in seconds, unless the panel or the page has its own.
const DEFAULT_SECONDS = 30;
const SITE_NAME = document.title.split(" – ").at(-1);
const announcements = document.getElementById("andamento");
const failure = document.getElementById("falha-painel");
const startedAt = performance.now();

function deadlineMs(section) {
  const said = section.dataset.panelSeconds ?? document.documentElement.dataset.panelSeconds;
  return (Number(said) > 0 ? Number(said) : DEFAULT_SECONDS) * 1000;
}

// Each message is an element of a log, so that a screen reader reads all of them in order.
function announce(text) {
  const message = document.createElement("p");
  message.textContent = text;
  announcements.append(message);
  while (announcements.children.length > 6) announcements.firstElementChild.remove();
}

async function load(section, again) {
  section.setAttribute("aria-busy", "true");
  const title = section.querySelector("h2").textContent.trim();
  try {
    const page = await fetchPage(section.dataset.panelUrl, { signal: AbortSignal.timeout(deadlineMs(section)) });
    const fresh = page.getElementById(section.id);
    // The response may be a sign-in or error page instead of the panel.
    if (!fresh || !fresh.dataset.panelUrl) throw new Error("not a panel");
    morph(section, fresh);
    page.querySelectorAll(`[data-part-of="${section.id}"]`).forEach((part) => {
      const old = document.getElementById(part.id);
      if (old) morph(old, part);
    });
    settle(section);
    if (section.dataset.pageTitle) document.title = `${section.dataset.pageTitle} – ${SITE_NAME}`;
    announce(section.dataset.announcement || `${headingOf(section)}: ${outcome(section, again)}`);
    if (location.hash && section.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`)) {
      document.getElementById(location.hash.slice(1)).scrollIntoView();
    }
  } catch {
    section.removeAttribute("aria-busy");
    section.querySelectorAll(".progress, .skeletons, [data-assembles], .acts--waiting").forEach((part) => part.remove());
    const notice = document.importNode(failure.content, true);
    notice.firstElementChild.dataset.panelFailure = "";
    (section.querySelector(".panel__head") ?? section.querySelector("h2")).after(notice);
    settle(section);
    announce(`${title}: não carregou`);
  }
}

function headingOf(section) {
  return section.querySelector("h2").firstChild.textContent.trim();
}

function outcome(section, again) {
  const isReady = section.dataset.panel === "ready";
  if (isReady && !("panelGap" in section.dataset)) return "pronto";
  const missing = isReady ? "indisponível em parte" : "indisponível";
  return again ? `continua ${missing}` : missing;
}

// The hero lists the lookups while it waits: each with its time, and "até 15 s" while it runs.
function seconds() {
  return Math.max(1, Math.round((performance.now() - startedAt) / 1000));
}

function settle(section) {
  const line = document.querySelector(`[data-assembles="${section.id}"]`);
  if (!line) return;
  const isReady = section.dataset.panel === "ready" && !("panelGap" in section.dataset);
  line.dataset.settled = isReady ? "ready" : "missing";
  line.querySelector("[data-elapsed]").textContent = isReady ? `em ${seconds()} s` : "sem resposta";
}

function showElapsed() {
  const waiting = document.querySelectorAll("[data-assembles]:not([data-settled])");
  const limit = Math.round(deadlineMs(document.documentElement) / 2000);
  waiting.forEach((line) => {
    line.querySelector("[data-elapsed]").textContent = `há ${seconds()} s, até ${Math.max(limit, seconds())} s`;
  });
  if (waiting.length) setTimeout(showElapsed, 1000);
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
  (section.querySelector(".panel__head") ?? section.querySelector("h2")).after(bar);
  load(section, true);
}

// Retries what is unavailable without leaving the page. A failed lookup is missing in the summary
// too, so every panel with a gap is reloaded. A page without any record has no parts to fill.
document.addEventListener("click", (event) => {
  const failed = event.target.closest("[data-panel-failure] button");
  if (failed) retry(failed.closest("[data-panel]"));
  const link = event.target.closest("[data-panel-retry]");
  if (!link || !document.querySelector(".records")) return;
  event.preventDefault();
  document.querySelectorAll("[data-panel]").forEach((section) => {
    if ("panelGap" in section.dataset) retry(section);
  });
});

// The section bar, once stuck, names the car, and marks the section that is being read. Where one
// section ends and the next begins, that is the next.
const inView = new Set();
const sections = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (target.id === "resumo") document.getElementById("secoes")?.toggleAttribute("data-stuck", !isIntersecting);
    if (isIntersecting) inView.add(`#${target.id}`);
    else inView.delete(`#${target.id}`);
  }
  const links = [...document.querySelectorAll(".section-bar li a")];
  const current = links.findLast((link) => inView.has(link.hash));
  for (const link of links) {
    if (link === current) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}, { rootMargin: "-72px 0px -75%" });
function watchSections() {
  sections.disconnect();
  inView.clear();
  document.querySelectorAll("#resumo, main .section[id], main .panel[id]").forEach((part) => sections.observe(part));
}
document.addEventListener("portal:inserted", watchSections);
watchSections();

document.querySelectorAll('[data-panel="waiting"]').forEach((section) => load(section, false));
showElapsed();
