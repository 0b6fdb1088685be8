// What every page has: the switch of themes, and keys.
"use strict";

(() => {
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

// Single letters can be turned off, for people who speak to their browser.
const LETTERS = "letters";
let letters = true;
try {
  letters = localStorage.getItem(LETTERS) !== "off";
} catch {
  // storage is forbidden: the letters are on
}
for (const button of document.querySelectorAll("[data-keys-switch]")) {
  const show = () => (button.textContent = `Turn single letters ${letters ? "off" : "on"}`);
  button.addEventListener("click", () => {
    letters = !letters;
    try {
      localStorage.setItem(LETTERS, letters ? "on" : "off");
    } catch {
      // the choice ends with the page
    }
    show();
  });
  button.hidden = false;
  show();
}

// The palette and the list of keys: links to them work without this; with it they are modal.
const palette = document.getElementById("palette");
const field = palette?.querySelector("input");
const keys = document.getElementById("keys");

function open(dialog) {
  if (!dialog || document.querySelector("dialog[open]")) return;
  dialog.showModal();
  if (dialog === palette) {
    field.select();
    fill();
  }
}
for (const [name, dialog] of [["palette", palette], ["keys", keys]]) {
  if (!dialog) continue;
  for (const link of document.querySelectorAll(`[data-${name}]`)) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      open(dialog);
    });
  }
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("[data-close]")) {
      event.preventDefault();
      dialog.close();
    }
  });
}

let typing = 0;
let asking = 0;
async function fill() {
  const text = field.value.trim();
  const number = ++asking;
  palette.querySelector("[data-ask]").href = `/search?${new URLSearchParams({ q: text })}`;
  palette.querySelector("[data-ask] span").textContent = text ? `Ask “${text}” in notes, docs and code` : "Ask in notes, docs and code";
  const fresh = palette.querySelector("[data-new]");
  if (fresh) fresh.href = `/new?${new URLSearchParams({ title: text })}`;
  const answer = text ? await fetch(`/graph/names?${new URLSearchParams({ q: text })}`).catch(() => null) : null;
  if (number !== asking) return;
  const rows = answer?.ok ? (await answer.json()).filter((row) => row.kind === "note").slice(0, 7) : [];
  const list = rows.map((row) => {
    const item = document.createElement("li");
    const link = item.appendChild(document.createElement("a"));
    link.href = row.url;
    link.appendChild(document.createElement("span")).textContent = row.label;
    return item;
  });
  palette.querySelector("[data-names-list]").replaceChildren(...list);
  palette.querySelector("[data-names]").hidden = !list.length;
  point(0);
}
function point(to) {
  const all = [...palette.querySelectorAll("li a")];
  const at = Math.max(0, Math.min(to, all.length - 1));
  all.forEach((link, number) => link.classList.toggle("at", number === at));
  all[at]?.scrollIntoView({ block: "nearest" });
}
field?.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(fill, 120);
});
field?.addEventListener("keydown", (event) => {
  const all = [...palette.querySelectorAll("li a")];
  const at = all.findIndex((link) => link.classList.contains("at"));
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    point(at + (event.key === "ArrowDown" ? 1 : -1));
  } else if (event.key === "Enter" && !event.isComposing) {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) palette.querySelector("[data-ask]").click();
    else all[at]?.click();
  }
});

const PAGES = { h: "/", n: "/notes", g: "/graph", s: "/sessions", r: "/review" };
let last = "";
document.addEventListener("keydown", (event) => {
  const typed = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && palette) {
    event.preventDefault();
    open(palette);
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && typed?.closest("[data-save]") && !document.querySelector("dialog[open]")) {
    typed.blur();
    document.querySelector("[data-discard]").focus();
  }
  if (typed || !letters || document.querySelector("dialog[open]")) return;
  const before = last;
  last = event.key;
  const links = { ...PAGES };
  const link = before === "g" && links[event.key] && document.querySelector(`.menu a[href="${links[event.key]}"]`);
  const button = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (link) link.click();
  else if (event.key === "/") palette ? open(palette) : location.assign(document.querySelector("link[rel=search]").href);
  else if (event.key === "?" && keys) open(keys);
  else if (button && before !== "g") button.click();
  else if ("jk".includes(event.key) && !document.querySelector("[data-hit]")) step(event.key === "j" ? 1 : -1);
  else return;
  event.preventDefault();
  if (link) last = "";
});

// j and k go through the names of a list.
function step(by) {
  const all = [...document.querySelectorAll("main .name[href], main summary")].filter((one) => one.offsetParent);
  const at = all.indexOf(document.activeElement);
  all[Math.max(0, Math.min(at + by, all.length - 1))]?.focus();
}

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
})();
