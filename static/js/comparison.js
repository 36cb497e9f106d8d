// Fetches each waiting column: the comparison of its plate alone, whose cells replace the waiting
// ones. Without this script the page goes to ?completo=1, which has every column.
"use strict";

const DEFAULT_SECONDS = 30;
const announce = document.getElementById("andamento");
const table = document.querySelector(".comparison");
const seconds = Number(document.documentElement.dataset.panelSeconds) || DEFAULT_SECONDS;
// A row whose cells all have one of these states and the same text tells no difference.
const COMPARABLE = new Set(["known", "empty", "hidden"]);

async function load(head) {
  const column = head.cellIndex;
  head.dataset.column = "waiting";
  const started = performance.now();
  const wait = head.querySelector("[data-wait]");
  const ticking = setInterval(() => {
    if (wait) wait.textContent = `Consultando, há ${Math.round((performance.now() - started) / 1000)} s`;
  }, 1000);
  try {
    const page = await fetchPage(head.dataset.columnUrl, { signal: AbortSignal.timeout(seconds * 1000) });
    const fresh = page.querySelector(".comparison thead th");
    // The response may be a sign-in or error page instead of the comparison.
    if (!fresh) throw new Error("not a comparison");
    for (const part of ["[data-name]", "[data-line]"]) {
      morph(head.querySelector(part), fresh.querySelector(part));
    }
    head.dataset.column = "ready";
    for (const row of table.tBodies[0].rows) {
      const cell = page.querySelector(`[data-row="${row.dataset.row}"] td`);
      if (cell) morph(row.cells[column], cell);
    }
    markSameRows();
    announce.textContent = `${head.querySelector("[data-name]").textContent}: pronto`;
  } catch {
    failed(head, column);
  } finally {
    clearInterval(ticking);
    if (!document.querySelector("[data-column=waiting]")) table.removeAttribute("aria-busy");
  }
}

// A column that did not arrive says so in each cell, because a blank reads as "none".
function failed(head, column) {
  head.dataset.column = "failed";
  const retry = document.createElement("button");
  retry.type = "button";
  retry.className = "link-button";
  retry.textContent = "Não carregou. Tentar de novo";
  retry.addEventListener("click", () => {
    const wait = document.createElement("span");
    wait.dataset.wait = "";
    wait.textContent = "Consultando…";
    retry.replaceWith(wait);
    load(head);
  });
  head.querySelector("[data-name]").replaceChildren(retry);
  for (const row of table.tBodies[0].rows) {
    const cell = row.cells[column];
    if (cell.dataset.state !== "waiting") continue;
    const word = document.createElement("span");
    word.className = "empty";
    word.textContent = "não carregou";
    cell.replaceChildren(word);
  }
  announce.textContent = "Um veículo não carregou";
}

function markSameRows() {
  for (const row of table.tBodies[0].rows) {
    const cells = [...row.cells].slice(1);
    const isSame =
      cells.length > 1 &&
      cells.every(
        (cell) =>
          COMPARABLE.has(cell.dataset.state) && cell.textContent.trim() === cells[0].textContent.trim(),
      );
    row.classList.toggle("comparison__same", isSame);
  }
}

document.querySelectorAll("[data-column=waiting]").forEach(load);
