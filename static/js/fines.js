// Orders, filters, searches and sums the fines at once, and keeps the choice in the address.
// Without this script the form of the panel asks the server for the same.
"use strict";

document.documentElement.classList.add("has-script");

const MONEY = new Intl.NumberFormat("pt-BR", { style: "currency", currency: "BRL" });
const CHOICES = ["busca", "situacao", "uf", "ordem"];
const DEFAULTS = { ordem: "data" };

// Upper case without accents and with single spaces, as the server folds it.
function fold(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toUpperCase().trim().split(/\s+/).join(" ");
}

function newestFirst(one, other) {
  const [a, b] = [one.dataset.moment, other.dataset.moment];
  return a === b ? one.dataset.number - other.dataset.number : a < b ? 1 : -1;
}

const ORDERS = {
  data: () => 0,
  valor: (one, other) => cents(other, -1) - cents(one, -1),
  gravidade: (one, other) => other.dataset.rank - one.dataset.rank,
};

function cents(row, missing) {
  return row.dataset.cents === "" ? missing : Number(row.dataset.cents);
}

function isOpen(row) {
  return row.dataset.situation !== "paga";
}

// An unknown amount is never counted as zero.
function openSum(rows) {
  const owed = rows.filter(isOpen);
  const known = owed.filter((row) => row.dataset.cents !== "");
  if (owed.length && !known.length) return "valor não informado";
  const sum = MONEY.format(known.reduce((total, row) => total + cents(row, 0), 0) / 100);
  return known.length < owed.length ? `ao menos ${sum}` : sum;
}

function counted(count, one, many) {
  return `${count} ${count === 1 ? one : many}`;
}

// A notice of autuação is not a fine yet, so it is counted apart.
function inWords(rows) {
  const notices = rows.filter((row) => row.dataset.situation === "autuacao").length;
  const fines = rows.length - notices;
  const parts = [];
  if (fines) parts.push(counted(fines, "multa", "multas"));
  if (notices) parts.push(counted(notices, "autuação", "autuações"));
  return parts.join(" e ");
}

// The folded search text of a line, computed once.
const texts = new WeakMap();

function textOf(row) {
  if (!texts.has(row)) texts.set(row, fold(row.dataset.text));
  return texts.get(row);
}

function isShown(row, choice) {
  const { situation, uf } = row.dataset;
  if (choice.situacao === "aberto" ? !isOpen(row) : choice.situacao && choice.situacao !== situation) return false;
  if (choice.uf && choice.uf !== uf) return false;
  return fold(choice.busca).split(" ").every((word) => textOf(row).includes(word));
}

function setText(node, text) {
  if (node && node.textContent !== text) node.textContent = text;
}

function apply(form) {
  const choice = { busca: "", situacao: "", uf: "", ordem: "data" };
  for (const name of CHOICES) choice[name] = form.elements[name]?.value ?? choice[name];
  const rows = [...form.querySelectorAll(".fine")].sort(newestFirst);
  for (const row of rows) {
    row.classList.toggle("fine--out", !isShown(row, choice));
    row.classList.remove("fine--linked");
  }
  form.dataset.order = choice.ordem;
  place(form, rows, choice.ordem);
  const shown = rows.filter((row) => !row.classList.contains("fine--out"));
  const status = form.querySelector("[data-ledger-shown]");
  const isPart = shown.length < rows.length;
  setText(status, isPart ? `${shown.length} de ${rows.length} registros; ${openSum(shown)} de ${openSum(rows)} em aberto` : status.dataset.all);
}

// By date each year has its own group; every other order has one group for all years.
function place(form, rows, order) {
  const flat = form.querySelector("[data-ledger-flat]");
  const years = [...form.querySelectorAll("[data-year]")];
  if (order !== "data") {
    flat.append(...rows.toSorted(ORDERS[order] ?? ORDERS.data));
    years.forEach((year) => year.classList.add("ledger__out"));
    return;
  }
  for (const year of years) {
    const own = rows.filter((row) => row.dataset.moment.slice(0, 4) === year.dataset.year);
    const shown = own.filter((row) => !row.classList.contains("fine--out"));
    const words = year.querySelector("[data-words]");
    const amount = year.querySelector("[data-amount]");
    year.append(...own);
    year.classList.toggle("ledger__out", shown.length === 0);
    const isPart = shown.length < own.length;
    setText(words, isPart ? `${shown.length} de ${own.length} registros` : words.dataset.words);
    setText(amount, isPart && amount.dataset.amount ? `${openSum(shown)} de ${amount.dataset.amount}` : amount.dataset.amount);
  }
}

function addUp(form) {
  const line = form.querySelector(".ledger-sum");
  if (!line) return;
  const picked = [...form.querySelectorAll(".fine:has(input:checked)")];
  const link = line.querySelector(".ledger-sum__negotiate");
  if (link) link.search = `multas=${picked.map((row) => row.dataset.number).join(",")}`;
  const unknown = picked.filter((row) => row.dataset.cents === "").length;
  line.dataset.picked = picked.length;
  const missing = unknown && unknown < picked.length ? `, e ${unknown} sem valor informado` : "";
  const total = openSum(picked).replace(/^ao menos /, "");
  setText(
    line.querySelector("[data-ledger-sum]"),
    picked.length ? `${inWords(picked)}: ${total}${missing}` : "Marque multas para somar.",
  );
}

// The address of the page and that of the panel alone hold the choice.
function remember(form) {
  const address = new URL(location.href);
  for (const name of [...CHOICES, "marcada"]) address.searchParams.delete(name);
  for (const [name, value] of new FormData(form)) {
    const isOwn = CHOICES.includes(name) || name === "marcada";
    if (isOwn && value.trim() && value !== DEFAULTS[name]) address.searchParams.append(name, value.trim());
  }
  history.replaceState(history.state, "", address);
  const panel = form.closest("[data-panel-url]");
  const query = new URLSearchParams(address.search);
  query.delete("completo");
  const path = panel.dataset.panelUrl.split("?")[0];
  panel.dataset.panelUrl = query.size ? `${path}?${query}` : path;
}

function changed(event) {
  const form = event.target.closest("[data-ledger]");
  if (!form) return;
  if (event.target.name === "marcada") addUp(form);
  else apply(form);
  remember(form);
}

document.addEventListener("input", changed);
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-ledger]")) return;
  event.preventDefault();
  apply(event.target);
  remember(event.target);
});

// A click anywhere on a line opens it; its button and links keep their own effect.
document.addEventListener("click", (event) => {
  const row = event.target.closest(".fine");
  if (!row || event.target.closest("a, button, summary, label, input, details")) return;
  if (String(getSelection())) return;
  const details = row.querySelector("details");
  details.open = !details.open;
});

// A link to a fine opens it, whatever hides it.
function openLinked() {
  const row = location.hash.startsWith("#multa-") && document.getElementById(location.hash.slice(1));
  if (!row || row.classList.contains("fine--linked")) return;
  document.querySelectorAll(".fine--linked").forEach((one) => one.classList.remove("fine--linked"));
  row.classList.add("fine--linked");
  row.querySelector("details").open = true;
  row.scrollIntoView();
}

addEventListener("hashchange", openLinked);
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#multa-"]');
  if (link && link.hash === location.hash) openLinked();
});
openLinked();
// The panel may arrive after the page.
document.addEventListener("portal:inserted", (event) => {
  if (event.target.id === "multas") openLinked();
});
