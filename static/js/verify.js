// Verifies a dropped or chosen file. The browser computes its hash first, so that a file that is
// unaltered need not be sent. Without a secure context there is no hash, and the file is sent.
"use strict";

{
  const form = document.querySelector("[data-verify-file]");
  const field = form.querySelector("[type=file]");
  const status = form.querySelector("[data-verify-status]");

  const hashOf = async (file) => {
    const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
    return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  };

  // Returns the hash of a file that the portal has issued, or "".
  async function knownHash(file) {
    try {
      const sha256 = await hashOf(file);
      const answer = await fetch(`/api/v1/dossiers/verify?sha256=${sha256}`);
      return answer.ok && (await answer.json()).result !== "unknown" ? sha256 : "";
    } catch {
      return "";
    }
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    status.textContent = "Conferindo…";
    const sha256 = await knownHash(field.files[0]);
    if (sha256) location.assign(`/verificar?sha256=${sha256}`);
    else form.submit();
  });

  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (!event.dataTransfer.files.length) return;
    field.files = event.dataTransfer.files;
    form.requestSubmit();
  });
}
