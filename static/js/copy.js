// Copies and shares. A button's text is in "data-copy", or else in the example or field beside it,
// which is selected where the browser gives no clipboard (no permission, or plain HTTP).
"use strict";

{
  const sourceOf = (button) => [...button.closest(".example, .stack").querySelectorAll("pre, [readonly]")]
    .find((part) => part.checkVisibility());

  async function copy(button) {
    const source = button.dataset.copy ? null : sourceOf(button);
    let told = "Copiado.";
    try {
      await navigator.clipboard.writeText(button.dataset.copy || (source.value ?? source.textContent));
      const label = [...button.childNodes].find((part) => /opia/.test(part.data));
      label.data = label.data.replace(/opia.*/, "opiado");
    } catch {
      if (!source) return;
      if (source.select) source.select();
      else getSelection().selectAllChildren(source);
      told = "O texto está selecionado: copie com Ctrl+C ou ⌘C.";
    }
    if (source) document.getElementById("copiado").textContent = told;
  }

  function reveal({ target }) {
    target.querySelectorAll("[data-copy]").forEach((button) => {
      button.hidden = button.dataset.copy && !navigator.clipboard;
    });
    target.querySelectorAll("[data-share]").forEach((button) => { button.hidden = !navigator.share; });
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy], [data-share]");
    if (!button) return;
    if ("copy" in button.dataset) copy(button);
    // The promise fails if the visitor closes the dialog.
    else navigator.share({ title: button.dataset.shareTitle, url: button.dataset.share }).catch(() => {});
  });

  document.addEventListener("focusin", ({ target }) => { if (target.readOnly) target.select(); });
  document.addEventListener("portal:inserted", reveal);
  reveal({ target: document });
}
