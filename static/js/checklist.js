// Keeps the ticks of a vehicle's checklist in this browser, each with its day.
"use strict";

{
  const keyOf = (list) => `conferido ${list.dataset.checklist}`;

  // Storage may be blocked; then the ticks last as long as the page.
  function kept(list) {
    try { return JSON.parse(localStorage.getItem(keyOf(list))) ?? {}; } catch { return {}; }
  }

  function keep(list, days) {
    try {
      if (Object.keys(days).length) localStorage.setItem(keyOf(list), JSON.stringify(days));
      else localStorage.removeItem(keyOf(list));
    } catch { /* blocked */ }
  }

  function show(list, days) {
    let left = 0;
    for (const box of list.querySelectorAll("input")) {
      const key = box.id.replace("conferido-", "");
      const day = days[key];
      box.checked = Boolean(day);
      box.value = day ? `${key} ${day}` : key;
      box.parentElement.querySelector("[data-done]").textContent =
        day ? `feito ${day.slice(8)}/${day.slice(5, 7)}` : "";
      if (!day) left += 1;
    }
    document.querySelectorAll("[data-left]").forEach((text) => {
      text.textContent = `${left === 1 ? "falta" : "faltam"} ${left}`;
    });
    document.querySelectorAll("[data-left-count]").forEach((text) => { text.textContent = left; });
  }

  const listOf = (event) => event.target.closest?.("[data-checklist]");

  document.addEventListener("change", (event) => {
    const list = listOf(event);
    if (!list || event.target.name !== "conferido") return;
    const days = kept(list);
    const key = event.target.id.replace("conferido-", "");
    if (event.target.checked) days[key] = new Date().toLocaleDateString("sv-SE");
    else delete days[key];
    keep(list, days);
    show(list, days);
  });

  function prepare() {
    document.querySelectorAll("[data-checklist]").forEach((list) => show(list, kept(list)));
  }

  document.addEventListener("portal:inserted", prepare);
  prepare();
}
