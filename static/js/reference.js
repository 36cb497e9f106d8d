// Enhances the API reference: one choice of language for all examples, copy buttons, and the
// section in view marked in the contents. Without it, each example has its own choice.
"use strict";

const status = document.getElementById("copiado");
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

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const codes = [...button.closest(".example").querySelectorAll("pre")];
    const shown = codes.find((code) => code.checkVisibility());
    try {
      await navigator.clipboard.writeText(shown.textContent);
      status.textContent = "Exemplo copiado.";
    } catch {
      getSelection().selectAllChildren(shown); // without permission, or over plain HTTP
      status.textContent = "O exemplo está selecionado: copie com Ctrl+C ou ⌘C.";
    }
    button.classList.add("example__copy--done");
    setTimeout(() => button.classList.remove("example__copy--done"), 2000);
  });
}

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
