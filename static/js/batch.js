// Renews the page of a batch every two seconds while it runs. Without this script the page refreshes
// itself.
"use strict";

const EVERY_MS = 2000;
const LONGEST_MS = 30000;
const QUARTERS = 4;
const announcements = document.getElementById("andamento");
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
    : document.querySelector(".batch-done p")?.textContent.trim() ?? "";
}

async function renew() {
  const batch = document.getElementById("lote");
  try {
    const page = await fetchPage(batch.dataset.refreshUrl + location.search, { signal: AbortSignal.timeout(LONGEST_MS) });
    const fresh = page.getElementById("lote");
    if (!fresh) throw new Error("not the batch");
    morph(batch, fresh);
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
