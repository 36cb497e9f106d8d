// The plate takes in a pasted text with several plates: it shows how many were read, and the button
// says what follows. Without this script the text stands in the field, and the next page reads it.
"use strict";

{
  const form = document.querySelector("[data-plates]");
  const field = form.querySelector("#placa");
  const label = form.querySelector("label[for=placa]");
  const button = form.querySelector("button");
  const [plainLabel, text] = [label.textContent, button.lastChild];
  const plainText = text.data;
  const { most, compared, plates: pattern } = form.dataset;
  const whole = document.createElement("textarea");
  const money = new Intl.NumberFormat("pt-BR", { style: "currency", currency: "BRL" });
  whole.hidden = true;
  form.append(whole);

  function platesIn(pasted) {
    const found = pasted.matchAll(new RegExp(pattern, "g"));
    return [...new Set([...found].map(([, letters, rest]) => (letters + rest).toUpperCase()))];
  }

  // A text that is too long for an address is sent as its plates alone.
  function take(pasted, plates) {
    whole.value = pasted.length <= field.maxLength ? pasted : plates.join(" ");
    field.removeAttribute("name");
    whole.name = "q";
    field.value = `${plates.length} placas`;
    field.readOnly = true;
    field.parentElement.classList.add("search-plate__pile");
    label.textContent = `${plates.length} placas lidas`;
    const cost = most ? ` · até ${money.format(most * plates.length)}` : "";
    text.data = `${plates.length > compared ? "Conferir" : "Comparar"} ${plates.length} placas${cost}`;
  }

  function release() {
    if (!field.readOnly) return;
    whole.removeAttribute("name");
    field.name = "q";
    field.value = "";
    field.readOnly = false;
    field.parentElement.classList.remove("search-plate__pile");
    label.textContent = plainLabel;
    text.data = plainText;
  }

  function read(pasted) {
    const plates = platesIn(pasted);
    if (plates.length > 1) take(pasted, plates);
    return plates.length > 1;
  }

  field.addEventListener("paste", (event) => {
    release();
    if (read(event.clipboardData?.getData("text") ?? "")) event.preventDefault();
  });
  field.addEventListener("input", () => { read(field.value); });
  // Typing over the pile, or emptying it, begins anew.
  field.addEventListener("keydown", (event) => {
    if (/^(Backspace|Delete|Escape)$/.test(event.key) || (event.key.length === 1 && !event.ctrlKey && !event.metaKey)) release();
  });
  addEventListener("pageshow", (event) => { if (event.persisted) release(); });
}
