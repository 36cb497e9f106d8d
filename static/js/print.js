// Reveals the buttons that print the page. Without this script the browser's menu prints it.
"use strict";

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
