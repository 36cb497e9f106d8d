// Enhances the API reference: one choice of language for all examples, and the
// section in view marked in the contents. Without it, each example has its own choice.
"use strict";

const KEY = "linguagem";

function choose(language) {
  for (const input of document.querySelectorAll(".example__tabs input")) {
    if (input.value === language) input.checked = true;
  }
}

try {
  const kept = localStorage.getItem(KEY);
  if (kept) choose(kept);
} catch {
  // Storage is blocked: the choice lasts as long as the page.
}

document.addEventListener("change", (event) => {
  if (!event.target.matches(".example__tabs input")) return;
  // The chosen example stays where it is while those above it change their height.
  const before = event.target.getBoundingClientRect().top;
  choose(event.target.value);
  scrollBy({ top: event.target.getBoundingClientRect().top - before, behavior: "instant" });
  try {
    localStorage.setItem(KEY, event.target.value);
  } catch {
    // As above.
  }
});

const nav = document.querySelector("[data-contents]");
const links = new Map([...nav.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));

const observer = new IntersectionObserver(mark, { rootMargin: "-15% 0px -75% 0px" });
for (const section of document.querySelectorAll(".reference__section")) observer.observe(section);

function mark(entries) {
  const entered = entries.filter((entry) => entry.isIntersecting).at(-1);
  const link = entered && links.get(entered.target.getAttribute("aria-labelledby"));
  if (!link) return;
  nav.querySelector("[aria-current]")?.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  if (nav.scrollHeight > nav.clientHeight) nav.scrollTop = link.offsetTop - nav.clientHeight / 2;
}
