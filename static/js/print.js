// Shows the buttons that print a page; without this script the browser's own menu prints it.
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
