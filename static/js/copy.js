// Reveals the buttons that copy a text. They stay hidden without the clipboard API, which browsers
// offer to secure pages only.
"use strict";

function offerCopies(part) {
  if (navigator.clipboard) part.querySelectorAll("[data-copy]").forEach((button) => { button.hidden = false; });
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.firstChild.textContent = "copiado";
});

document.addEventListener("portal:inserted", (event) => offerCopies(event.target));
offerCopies(document);
