// A list of vehicles: renews a running batch every two seconds, fetches the vehicles of a comparison
// that wait for answers, sums what is ticked, and knows the keys j, k, x, Enter and "/". Without this
// script the page refreshes itself or goes to ?completo=1.
"use strict";

const EVERY_MS = 2000;
const LONGEST_MS = 30000;
const QUARTERS = 4;
const MOST_COMPARED = 4;
const announcements = document.getElementById("andamento");
const seconds = Number(document.documentElement.dataset.panelSeconds);
let pauseMs = EVERY_MS;
let told = "";

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
    : document.querySelector(".batch-done")?.textContent.trim() ?? "";
}

async function renew() {
  const batch = document.getElementById("lote");
  try {
    // An open form is not taken from under the reader's hands.
    if (!batch.querySelector(".note-form")) {
      const page = await fetchPage(batch.dataset.refreshUrl + location.search, { signal: AbortSignal.timeout(LONGEST_MS) });
      const fresh = page.getElementById("lote");
      if (!fresh) throw new Error("not the batch");
      morph(batch, fresh);
      announce();
      if (!fresh.dataset.refreshUrl) return;
    }
    pauseMs = EVERY_MS;
  } catch {
    pauseMs = Math.min(2 * pauseMs, LONGEST_MS);
  }
  setTimeout(renew, pauseMs);
}

// The price on the button belongs to the ticks that the server knows.
document.addEventListener("change", (event) => {
  const { form, name } = event.target;
  const button = form?.querySelector("[data-reticked]");
  if (!button || name !== "linha") return;
  const isChanged = [...form.elements].some((each) => each.checked !== each.defaultChecked);
  button.dataset.label ??= button.textContent;
  button.textContent = isChanged ? button.dataset.reticked : button.dataset.label;
});

// A comparison of one vehicle makes its lookups. Its row replaces the waiting one; the page of stored
// answers then draws what depends on all rows.
async function load(row) {
  const wait = row.querySelector("[data-wait]");
  const started = performance.now();
  const ticking = setInterval(() => {
    if (wait) wait.textContent = `Consultando, há ${Math.round((performance.now() - started) / 1000)} s`;
  }, 1000);
  try {
    const page = await fetchPage(row.dataset.waits, { signal: AbortSignal.timeout(seconds * 1000) });
    const fresh = page.getElementById(row.id);
    if (!fresh) throw new Error("not the vehicle");
    morph(row, fresh);
    announcements.textContent = `${row.querySelector(".vehicles__car").textContent.trim()}: pronto`;
  } catch {
    failed(row, wait);
  } finally {
    clearInterval(ticking);
  }
}

// A row that did not arrive says so in each cell, because a blank reads as "none".
function failed(row, wait) {
  row.removeAttribute("aria-busy");
  for (const cell of row.querySelectorAll(".skeleton")) cell.replaceWith("não carregou");
  const retry = document.createElement("button");
  retry.type = "button";
  retry.className = "link-button";
  retry.textContent = "Não carregou. Tentar de novo";
  retry.addEventListener("click", () => {
    wait.textContent = "Consultando…";
    retry.replaceWith(wait);
    load(row);
  });
  wait?.replaceWith(retry);
  announcements.textContent = "Um veículo não carregou";
}

async function loadAll(rows) {
  await Promise.all(rows.map(load));
  const page = await fetchPage(location.href, { headers: { "X-Purpose": "preview" } });
  for (const id of ["duelo", "indice"]) {
    const [part, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (part && fresh) morph(part, fresh);
  }
}

const ticks = () => [...document.querySelectorAll(".vehicles__tick input")];

const money = new Intl.NumberFormat("pt-BR", { style: "currency", currency: "BRL" });

// "devem R$ 325,39", with "ao menos" if a ticked vehicle's amount is unknown or is a range's lowest.
function total(ticked, name, words) {
  const isWhole = ticked.every((one) => name in one.dataset && !(name === "price" && "from" in one.dataset));
  const amount = ticked.reduce((before, one) => before + Number(one.dataset[name] ?? 0), 0);
  return amount ? `${words} ${isWhole ? "" : "ao menos "}${money.format(amount).replace(",00", "")}` : "";
}

function sum() {
  const output = document.querySelector("[data-ticked]");
  if (!output) return;
  const ticked = ticks().filter((each) => each.checked);
  output.textContent = ticked.length === 1 ? "1 marcada" : `${ticked.length} marcadas`;
  output.nextElementSibling.textContent = [total(ticked, "debt", "devem"), total(ticked, "price", "FIPE")].filter(Boolean).join(" · ");
  const compare = output.form.querySelector(".icon--compare")?.parentElement;
  if (compare) compare.disabled = ticked.length > MOST_COMPARED;
}

let last;
document.addEventListener("click", (event) => {
  if (!event.target.matches(".vehicles__tick input")) return;
  const all = ticks();
  const [from, to] = [all.indexOf(last), all.indexOf(event.target)].sort((a, b) => a - b);
  if (event.shiftKey && from >= 0) for (const each of all.slice(from, to + 1)) each.checked = event.target.checked;
  last = event.target;
});
document.addEventListener("input", sum);

const MOVES = { j: 1, k: -1 };
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input:not([type=checkbox]), textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const links = [...document.querySelectorAll(".vehicles__plate a")];
  const row = event.target.closest(".vehicles tr");
  const at = links.findIndex((link) => row?.contains(link));
  if (event.key in MOVES) links[Math.min(Math.max(at + MOVES[event.key], 0), links.length - 1)]?.focus();
  else if (event.key === "x" && row) row.querySelector(".vehicles__tick input")?.click();
  else if (event.key === "Enter" && event.target.type === "checkbox" && row) links[at]?.click();
  else if (event.key === "/") document.getElementById("lista-busca")?.focus();
  else return;
  event.preventDefault();
});

document.addEventListener("portal:inserted", sum);
sum();
if (document.getElementById("lote")?.dataset.refreshUrl) {
  announce();
  setTimeout(renew, pauseMs);
}
const waiting = [...document.querySelectorAll("[data-waits]")];
if (waiting.length) loadAll(waiting);
