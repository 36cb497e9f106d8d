// Reads a price chart month by month.
// A chart's last element is a slider: its value is a month, its value text the month's price, so
// that a screen reader hears what the crosshair shows. Events are handled on the document, because
// panels with charts arrive after this script. Without it, the links load the page and the month
// table lists the prices.
"use strict";

// A block, because the page's classic scripts share one scope.
{
  const MONTHS = ["janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto",
    "setembro", "outubro", "novembro", "dezembro"];
  const YEAR = 12;
  const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -YEAR, PageUp: YEAR };

  let hasRead = false;

  const told = (value) => `R$\u00a0${value.toLocaleString("pt-BR")}`;

  // The parts of a month's reading: its index in the series, price and distance from the peak.
  function monthOf(read, index) {
    const month = read.first + index;
    const value = read.values[index];
    const price = Math.abs(value);
    return { year: Math.floor(month / YEAR), name: MONTHS[month % YEAR], price, isPredicted: value < 0 };
  }

  function distance(read, month) {
    if (!month.price || month.isPredicted || !read.peak) return null;
    const points = (month.price / read.peak - 1) * 100;
    const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
    return points === 0 ? "pico" : `${Math.abs(points).toLocaleString("pt-BR", digits)}%`;
  }

  // "jul/24 · R$ 105.914 · −13,8% do pico"
  function shortText(read, month) {
    const far = distance(read, month);
    const note = month.isPredicted ? read.predicted : far === "pico" ? far : far && `\u2212${far} do pico`;
    const when = `${month.name.slice(0, 3)}/${String(month.year % 100).padStart(2, "0")}`;
    return [when, month.price ? told(month.price) : "sem preço", note].filter(Boolean).join(" · ");
  }

  // "julho de 2024: R$ 105.914, 13,8% abaixo do pico"
  function spokenText(read, month) {
    const far = distance(read, month);
    const note = month.isPredicted ? read.predicted : far === "pico" ? "o pico" : far && `${far} abaixo do pico`;
    const price = month.price ? told(month.price) : "sem preço";
    return `${month.name} de ${month.year}: ${[price, note].filter(Boolean).join(", ")}`;
  }

  const dataOf = (slider) => JSON.parse(slider.dataset.chartSlider);
  const between = ([from, to], share) => from + (to - from) * share;

  function xOf(read, index) {
    const last = read.values.length - 1;
    return between(read.x, last ? index / last : 0);
  }

  function yOf(read, price) {
    const [low, high] = read.levels;
    return between(read.y, (price - low) / (high - low));
  }

  function show(slider, index) {
    const chart = slider.closest("[data-chart]");
    const read = dataOf(slider);
    const month = monthOf(read, index);
    slider.setAttribute("aria-valuenow", index);
    slider.setAttribute("aria-valuetext", spokenText(read, month));
    const x = `${xOf(read, index)}%`;
    const cross = chart.querySelector("[data-chart-cross]");
    cross.setAttribute("x1", x);
    cross.setAttribute("x2", x);
    const point = chart.querySelector("[data-chart-point]");
    point.setAttribute("cx", x);
    // A month without a price has no point; its circle is drawn without size.
    point.setAttribute("cy", month.price ? `${yOf(read, month.price)}%` : "0");
    point.setAttribute("r", month.price ? 5 : 0);
    const reading = chart.querySelector("[data-chart-reading]");
    reading.textContent = shortText(read, month);
    chart.dataset.isReading = "";
    hasRead = true;
    document.querySelectorAll("[data-chart-hint]").forEach((hint) => { hint.hidden = true; });
    place(chart, reading, xOf(read, index));
  }

  // The reading is centred above its month but stays inside the chart, with its margins.
  function place(chart, reading, percent) {
    const plot = chart.querySelector("[data-chart-slider]").getBoundingClientRect();
    const frame = chart.getBoundingClientRect();
    const wanted = (plot.width * percent) / 100 - reading.offsetWidth / 2;
    const most = frame.right - plot.left - reading.offsetWidth;
    reading.style.insetInlineStart = `${Math.max(frame.left - plot.left, Math.min(wanted, most))}px`;
    const cross = chart.querySelector("[data-chart-cross]").getBoundingClientRect();
    chart.querySelectorAll("[data-yields]").forEach((label) => {
      const box = label.getBoundingClientRect();
      label.toggleAttribute("data-yielding", meets(box, cross) || meets(box, reading.getBoundingClientRect()));
    });
  }

  const meets = (a, b) =>
    a.left <= b.right + 2 && b.left <= a.right + 2 && a.top <= b.bottom && b.top <= a.bottom;

  function hide(chart) {
    delete chart.dataset.isReading;
    chart.querySelectorAll("[data-yielding]").forEach((label) => label.removeAttribute("data-yielding"));
  }

  function readAt(target, clientX) {
    const box = target.getBoundingClientRect();
    const read = dataOf(target);
    const last = read.values.length - 1;
    const [from, to] = read.x;
    const share = (((clientX - box.left) / box.width) * 100 - from) / (to - from || 1);
    show(target, Math.max(0, Math.min(last, Math.round(share * last))));
  }

  const sliderOf = (event) => event.target.closest?.("[data-chart-slider]");

  for (const name of ["pointerdown", "pointermove"]) {
    document.addEventListener(name, (event) => {
      const target = sliderOf(event);
      if (target) readAt(target, event.clientX);
    });
  }

  document.addEventListener("pointerout", (event) => {
    const target = sliderOf(event);
    // A lifted finger leaves the reading; it stays until the next tap elsewhere.
    if (!target || event.pointerType !== "mouse" || target === document.activeElement) return;
    hide(target.closest("[data-chart]"));
  });

  document.addEventListener("pointerdown", (event) => {
    document.querySelectorAll("[data-chart][data-is-reading]").forEach((chart) => {
      if (!chart.contains(event.target)) hide(chart);
    });
  });

  document.addEventListener("focusin", (event) => {
    const target = sliderOf(event);
    if (target) show(target, Number(target.getAttribute("aria-valuenow")));
  });

  document.addEventListener("focusout", (event) => {
    const target = sliderOf(event);
    if (target) hide(target.closest("[data-chart]"));
  });

  document.addEventListener("keydown", (event) => {
    const target = sliderOf(event);
    if (!target || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = Number(target.getAttribute("aria-valuemax"));
    const now = Number(target.getAttribute("aria-valuenow"));
    const wanted = { Home: 0, End: last }[event.key] ?? now + (STEPS[event.key] ?? NaN);
    if (event.key === "Escape") hide(target.closest("[data-chart]"));
    if (Number.isNaN(wanted)) return;
    event.preventDefault();
    show(target, Math.max(0, Math.min(last, wanted)));
  });

  function prepare(root) {
    root.querySelectorAll("[data-chart-slider][hidden]").forEach((target) => {
      target.hidden = false;
      const read = dataOf(target);
      const now = Number(target.getAttribute("aria-valuenow"));
      target.setAttribute("aria-valuetext", spokenText(read, monthOf(read, now)));
    });
    root.querySelectorAll("[data-chart-hint]").forEach((hint) => { hint.hidden = hasRead; });
  }

  document.addEventListener("portal:inserted", (event) => prepare(event.target));
  prepare(document);
}
