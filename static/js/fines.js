// Opens a fine by a click anywhere on its line, or by a link to it, whatever hides it.
"use strict";

// The line's button and links keep their own effect.
document.addEventListener("click", (event) => {
  const row = event.target.closest(".fine");
  if (!row || event.target.closest("a, button, summary, label, input, details")) return;
  if (String(getSelection())) return;
  const details = row.querySelector("details");
  details.open = !details.open;
});

let opened = "";

function openLinked() {
  const row = location.hash.startsWith("#multa-") && document.getElementById(location.hash.slice(1));
  if (!row || row.classList.contains("fine--linked")) return;
  document.querySelectorAll(".fine--linked").forEach((one) => one.classList.remove("fine--linked"));
  opened = location.hash;
  row.classList.add("fine--linked");
  row.querySelector("details").open = true;
  const ledger = row.closest(".ledger-fold");
  if (ledger) ledger.open = true;
  row.scrollIntoView();
}

addEventListener("hashchange", openLinked);
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#multa-"]');
  if (link && link.hash === location.hash) openLinked();
});
openLinked();
// The panel may arrive after the page. A later choice closes the line and does not open it again.
document.addEventListener("portal:inserted", () => {
  if (location.hash !== opened) openLinked();
});
