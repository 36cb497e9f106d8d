// The label of a file's field is its button. It names the chosen file.
"use strict";

document.addEventListener("change", ({ target }) => {
  if (target.type !== "file") return;
  const [label] = target.labels;
  label.dataset.text ??= label.textContent;
  label.textContent = target.files[0]?.name ?? label.dataset.text;
});
