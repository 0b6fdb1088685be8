// What every page has: the switch of themes, and keys.
"use strict";

const NEXT = { system: "light", light: "dark", dark: "system" };

function theme() {
  return document.documentElement.dataset.theme ?? "system";
}

function setTheme(name) {
  const root = document.documentElement;
  if (name === "system") delete root.dataset.theme;
  else root.dataset.theme = name;
  try {
    if (name === "system") localStorage.removeItem("theme");
    else localStorage.setItem("theme", name);
  } catch {
    // storage is forbidden: the choice ends with the page
  }
}

for (const button of document.querySelectorAll("[data-theme-switch]")) {
  const show = () => {
    button.textContent = `Theme: ${theme()}`;
  };
  button.addEventListener("click", () => {
    setTheme(NEXT[theme()]);
    show();
  });
  button.hidden = false;
  show();
}

// "/" goes to the search field, from everywhere but another field.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const field = document.querySelector("[data-search]");
  if (field) {
    event.preventDefault();
    field.focus();
    field.select();
  } else {
    location.assign(document.querySelector("link[rel=search]").href);
  }
});

// Ctrl+Enter saves the form that one writes in.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const form = event.target.closest("form[data-save]");
  if (form) {
    event.preventDefault();
    form.requestSubmit();
  }
});

// A long session has pages: an address with the id of an observation leads to the one that has it.
function findObservation() {
  const id = decodeURIComponent(location.hash.slice(1)).replace(/^observation-/, "");
  const known = !id.startsWith("obs-") || document.getElementById(id);
  if (known || !document.querySelector("[data-pages]") || new URLSearchParams(location.search).get("at") === id) return;
  location.replace(`?at=${encodeURIComponent(id)}#${encodeURIComponent(id)}`);
}
window.addEventListener("hashchange", findObservation);
findObservation();
