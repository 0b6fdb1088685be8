// The search of a static site: notes by their titles, tags, headings and words, as one types.
"use strict";

const MOST = 50;
const WEIGHTS = { title: 8, tags: 4, headings: 3, words: 1 };
const SMALL = new Set("a an and are as at be by did do does for from how in is it its of on or our that the this to was we what when which who why with".split(" "));

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
const stem = (word) => (word.length > 4 ? word.replace(/(ing|ed|es|s|e)$/u, "") : word);

const notes = (globalThis.memoryBankIndex ?? []).map((note) => {
  const fields = {};
  for (const name of Object.keys(WEIGHTS)) {
    fields[name] = new Set(wordsOf([note[name] ?? ""].flat().join(" ")).map(stem));
  }
  return { note, fields };
});

function frequency(word) {
  return notes.filter(({ fields }) => Object.values(fields).some((field) => has(field, word))).length;
}

function has(field, word) {
  if (field.has(word)) return true;
  return word.length > 2 && [...field].some((one) => one.startsWith(word));
}

function found(query) {
  const all = [...new Set(wordsOf(query))];
  const some = all.filter((word) => !SMALL.has(word));
  const terms = (some.length ? some : all).map(stem);
  const weights = terms.map((word) => Math.log(1 + notes.length / (1 + frequency(word))));
  const hits = [];
  for (const { note, fields } of notes) {
    let score = 0;
    terms.forEach((word, at) => {
      const names = Object.keys(WEIGHTS).filter((name) => has(fields[name], word));
      score += weights[at] * Math.max(0, ...names.map((name) => WEIGHTS[name] * (fields[name].has(word) ? 1 : 0.5)));
    });
    if (note.status !== "active") score /= 2;
    if (score > 0) hits.push({ note, score });
  }
  return hits.sort((one, other) => other.score - one.score || (one.note.title < other.note.title ? -1 : 1));
}

function shown({ note }) {
  const row = document.getElementById("static-search-hit").content.cloneNode(true);
  const link = row.querySelector("a");
  link.href = note.file.split("/").map(encodeURIComponent).join("/");
  link.textContent = note.title;
  const texts = { ...note, status: note.status === "active" ? "" : note.status, tags: (note.tags ?? []).map((tag) => `#${tag}`).join(" "), headings: (note.headings ?? []).slice(0, 6).join(" · ") };
  for (const place of row.querySelectorAll("[data-part]")) {
    const text = texts[place.dataset.part];
    if (text) place.textContent = text;
    else place.remove();
  }
  return row;
}

const field = document.querySelector("[data-search]");
const count = document.getElementById("static-search-count");
const list = document.getElementById("static-search-hits");

function search() {
  const query = field.value.trim();
  const hits = query ? found(query) : [];
  list.replaceChildren(...hits.slice(0, MOST).map(shown));
  const many = hits.length === 1 ? "1 note" : `${hits.length} notes`;
  count.textContent = !query ? "Type some words." : hits.length ? `${many} found, the best first.` : "No note has these words. Try others, or fewer.";
}

field.value = new URLSearchParams(location.search).get("q") ?? "";
field.addEventListener("input", search);
field.form.addEventListener("submit", (event) => {
  event.preventDefault();
  search();
  try {
    history.replaceState(null, "", `?${new URLSearchParams({ q: field.value })}`);
  } catch {
    // a page from disk has no address of its own
  }
});
search();
field.focus();
