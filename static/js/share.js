// Reveals the buttons that copy and share a link or a message. Without this script it is in a field.
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
    status.textContent = "Copiado.";
  } catch {
    link.select(); // without permission, or over plain HTTP
    status.textContent = "O texto está selecionado: copie com Ctrl+C ou ⌘C.";
  }
});

if (share && navigator.share) {
  share.hidden = false;
  share.addEventListener("click", async () => {
    try {
      await navigator.share({ title: share.dataset.shareTitle, url: share.dataset.share });
    } catch {
      // The visitor closed the dialog.
    }
  });
}
