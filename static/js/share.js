// Reveals the buttons that share a dossier's link. Without this script the link is in a field.
"use strict";

const status = document.getElementById("copiado");
const copy = document.querySelector("[data-copy]");
const share = document.querySelector("[data-share]");
const link = document.getElementById("link");

link.addEventListener("focus", () => link.select());

copy.hidden = false;
copy.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(link.value);
    status.textContent = "Link copiado.";
  } catch {
    link.select(); // without permission, or over plain HTTP
    status.textContent = "O link está selecionado: copie com Ctrl+C ou ⌘C.";
  }
});

if (navigator.share) {
  share.hidden = false;
  share.addEventListener("click", async () => {
    try {
      await navigator.share({ title: share.dataset.shareTitle, url: share.dataset.share });
    } catch {
      // The visitor closed the dialog.
    }
  });
}
