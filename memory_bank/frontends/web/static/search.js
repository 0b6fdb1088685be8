// The search: keys that walk through the hits, and what a swap must tell.
"use strict";

(() => {
  const field = document.getElementById("q");
  const said = document.getElementById("said");
  if (!field || !said) return;

  const hits = () => [...document.querySelectorAll("#found [data-hit]")];

  function walk(event, step) {
    const all = hits();
    const at = all.indexOf(document.activeElement);
    if (!all.length || (at < 0 && step < 0)) return;
    event.preventDefault();
    const next = at + step;
    if (next < 0) field.focus();
    else all[Math.min(next, all.length - 1)].focus();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const inField = event.target === field;
    if (!inField && event.target.closest("input, textarea, select")) return;
    if (event.key === "ArrowDown") {
      // from the page, too: the field has no focus after a search from another page
      if (inField || event.target === document.body || event.target.matches("[data-hit]")) walk(event, 1);
    } else if (event.key === "ArrowUp") {
      if (event.target.matches("[data-hit]")) walk(event, -1);
    } else if (event.key === "j" && !inField) walk(event, 1);
    else if (event.key === "k" && !inField) walk(event, -1);
    else if (event.key === "Escape" && !inField) {
      event.preventDefault();
      field.focus();
      field.setSelectionRange(field.value.length, field.value.length);
    }
  });

  // A chip changes the query: the field shows it, unless somebody is typing there.
  document.body.addEventListener("htmx:afterSwap", () => {
    const found = document.getElementById("found");
    if (!found) return;
    said.textContent = found.dataset.said;
    if (document.activeElement !== field) field.value = found.dataset.query;
    if (found.querySelector("#q-error")) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  });
})();
