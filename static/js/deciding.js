// Decides a vehicle without loading a page, and by a swipe. Without this script each button and
// arrow loads the next page.
"use strict";

const SWIPED_PX = 96;
const SWIPES = { fora: -1, comprar: 1 };
const desk = document.getElementById("mesa");
const spoken = document.getElementById("andamento");

// Only one request is under way, so that a second tap decides the vehicle that is shown by then.
let isBusy = false;

async function go(address, options, isBack = false) {
  if (isBusy) return;
  isBusy = true;
  desk.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(address, { credentials: "same-origin", ...options });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("mesa");
    if (!response.ok) throw new Error("not decided");
    // A decision may leave the chosen part of the list without a vehicle.
    if (!fresh) return location.assign(response.url);
    morph(desk, fresh);
    document.title = page.title;
    if (!isBack) history.pushState(null, "", response.url);
    spoken.textContent = desk.dataset.announcement;
    showHint();
  } catch {
    location.assign(isBack ? location.href : new URL(address, location.href));
  }
  isBusy = false;
}

desk.addEventListener("submit", (event) => {
  if (!event.target.matches(".deciding__bar")) return;
  event.preventDefault();
  go(event.target.action, { method: "POST", body: new FormData(event.target, event.submitter) });
});

desk.addEventListener("click", (event) => {
  const link = event.target.closest(".ribbon a, .walk__step[href]");
  const isPlain = !event.button && !event.metaKey && !event.ctrlKey && !event.shiftKey;
  if (!link || !isPlain) return;
  event.preventDefault();
  go(link.href);
});

addEventListener("popstate", () => go(location.href, {}, true));

// A card that is dragged far enough to a side presses the button of that side.
let from = null;
const cardAt = (event) => event.target.closest?.(".car-card");

desk.addEventListener("pointerdown", (event) => {
  if (event.pointerType !== "mouse" && cardAt(event) && !event.target.closest("a")) from = event;
});
desk.addEventListener("pointermove", (event) => {
  const card = desk.querySelector(".car-card");
  if (from?.pointerId === event.pointerId && card) card.style.translate = `${event.clientX - from.clientX}px`;
});
for (const name of ["pointerup", "pointercancel"]) {
  desk.addEventListener(name, (event) => {
    const card = desk.querySelector(".car-card");
    if (from?.pointerId !== event.pointerId || !card) return;
    const moved = event.clientX - from.clientX;
    from = null;
    card.style.translate = "";
    if (name === "pointercancel" || Math.abs(moved) < SWIPED_PX) return;
    const [tag] = Object.entries(SWIPES).find(([, side]) => side === Math.sign(moved));
    desk.querySelector(`.deciding__bar [value="${tag}"]`)?.click();
  });
}

// Only a finger swipes.
function showHint() {
  const hint = desk.querySelector("[data-swipe]");
  if (hint) hint.hidden = !matchMedia("(pointer: coarse)").matches;
}
showHint();
