// Renews the page of a running batch every two seconds. Without this script the page refreshes
// itself.
"use strict";

const EVERY_MS = 2000;
const LONGEST_MS = 30000;
const announcements = document.getElementById("andamento");
let pauseMs = EVERY_MS;
let last = "";

function announce(text) {
  if (text && text !== last) announcements.textContent = text;
  last = text;
}

// Keeps the focus on the control that has it, because a replaced button would lose it.
function replace(old, fresh) {
  const focused = document.activeElement;
  const action = focused?.closest("form")?.getAttribute("action");
  const adopted = document.importNode(fresh, true);
  old.replaceWith(adopted);
  if (action) adopted.querySelector(`form[action="${CSS.escape(action)}"] button`)?.focus();
  return adopted;
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
    const adopted = replace(batch, fresh);
    announce(adopted.querySelector("h2")?.textContent.trim());
    pauseMs = EVERY_MS;
    if (!adopted.dataset.refreshUrl) return;
  } catch {
    pauseMs = Math.min(2 * pauseMs, LONGEST_MS);
  }
  setTimeout(renew, pauseMs);
}

setTimeout(renew, pauseMs);
