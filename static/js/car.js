// Marks what agrees with the record at the car itself. Without a connection a mark waits in the
// browser, and is sent once when there is one. Without this script each mark is a form.
"use strict";

const CAR_TEXTS = {
  waiting: "Sem conexão: guardado neste aparelho, será enviado.",
  kept: "Guardado.",
  refused: "Não foi guardado. Abra a página de novo.",
};
let isSending = false;

function carList() {
  return document.querySelector("[data-car]");
}

function carKey() {
  return `visto:${carList()?.dataset.car}`;
}

function waitingMarks() {
  try {
    return JSON.parse(localStorage.getItem(carKey())) ?? {};
  } catch {
    return {};
  }
}

function keepMarks(marks) {
  try {
    if (Object.keys(marks).length) localStorage.setItem(carKey(), JSON.stringify(marks));
    else localStorage.removeItem(carKey());
  } catch {
    // Without storage a mark is lost if the connection is.
  }
}

function showMark(row, state) {
  const line = carList()?.querySelector(`[data-row="${CSS.escape(row)}"]`);
  if (!line) return;
  line.classList.toggle("car-row--differs", state === "differs");
  line.querySelectorAll("[data-state]").forEach((button) => {
    const isSet = button.dataset.state === state;
    button.setAttribute("aria-pressed", String(isSet));
    const action = new URL(button.formAction);
    action.searchParams.set("state", isSet ? "unchecked" : button.dataset.state);
    button.setAttribute("formaction", action.pathname + action.search);
  });
}

function tell(text) {
  const place = document.querySelector("[data-car-waiting]");
  if (place) place.textContent = text;
}

async function sendMark(row, { state, what }) {
  const body = new URLSearchParams(new FormData(document.getElementById("declarar")));
  body.set("row", row);
  body.set("state", state);
  body.set("what", what);
  // The answer to a mark that was kept is a redirect, which need not be followed.
  const response = await fetch(carList().dataset.carPath, { method: "POST", body, redirect: "manual", credentials: "same-origin" });
  return response.type === "opaqueredirect" || response.ok;
}

function areWaiting() {
  return Object.keys(waitingMarks()).length > 0;
}

// Sends each mark, and returns whether the last one was kept.
async function sendEach() {
  let isKept = false;
  for (let row; (row = Object.keys(waitingMarks())[0]);) {
    const sent = waitingMarks()[row];
    isKept = await sendMark(row, sent);
    const left = waitingMarks();
    // A mark that was changed meanwhile is sent again.
    if (JSON.stringify(left[row]) === JSON.stringify(sent)) delete left[row];
    keepMarks(left);
    if (!isKept) tell(CAR_TEXTS.refused);
  }
  return isKept;
}

async function sendMarks() {
  if (isSending || !carList()) return;
  isSending = true;
  try {
    // A mark that is made while the parts are renewed is sent as well.
    while (areWaiting()) {
      if (!(await sendEach())) continue;
      await renewParts();
      tell(CAR_TEXTS.kept);
    }
  } catch {
    tell(CAR_TEXTS.waiting);
  } finally {
    isSending = false;
  }
}

// A divergence is a reason of the verdict, so the summary is drawn anew, from stored answers. A part
// without a mark that was made meanwhile is not shown.
async function renewParts() {
  for (const section of document.querySelectorAll('#veiculo[data-panel="ready"], #resumo[data-panel="ready"]')) {
    const page = await fetchPage(section.dataset.panelUrl, { headers: STORED_ONLY });
    if (areWaiting()) return;
    const fresh = page.getElementById(section.id);
    if (!fresh?.dataset.panelUrl) continue;
    morph(section, fresh);
    page.querySelectorAll(`[data-part-of="${section.id}"]`).forEach((part) => {
      const old = document.getElementById(part.id);
      if (old) morph(old, part);
    });
  }
}

document.addEventListener("submit", (event) => {
  const control = event.submitter?.closest(".mark") ?? (event.target.matches(".car-row__what") ? event.target : null);
  if (!control) return;
  event.preventDefault();
  const row = control.closest("[data-row]").dataset.row;
  const isMark = control.matches(".mark");
  const state = isMark ? new URL(event.submitter.formAction).searchParams.get("state") : "differs";
  const what = isMark ? "" : String(new FormData(event.target).get("what")).trim();
  keepMarks({ ...waitingMarks(), [row]: { state, what } });
  showMark(row, state);
  if (isMark && state === "differs") control.closest("[data-row]").querySelector('[name="what"]').focus();
  sendMarks();
});

function showWaiting() {
  const marks = waitingMarks();
  for (const [row, { state }] of Object.entries(marks)) showMark(row, state);
  sendMarks();
}

addEventListener("online", sendMarks);
document.addEventListener("portal:inserted", (event) => {
  if (event.target.id === "veiculo" && !isSending) showWaiting();
});
showWaiting();
