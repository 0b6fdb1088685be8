// The editor of a note: two opening brackets list what a link can lead to.
"use strict";

(() => {
const field = document.getElementById("text");
const list = document.getElementById("targets");
if (!field || !list) return;
const OPEN = /\[\[([^[\]\n|]*)$/;
let asked = 0;
let rows = [];
let at = 0;

function typed() {
  const match = OPEN.exec(field.value.slice(0, field.selectionStart));
  return field.selectionStart === field.selectionEnd && match ? match[1] : null;
}

function close() {
  asked++;
  list.hidden = true;
  field.removeAttribute("aria-activedescendant");
}

// Where the cursor is, by the same text in a box of the same shape.
function place() {
  const box = document.createElement("div");
  const style = getComputedStyle(field);
  for (const name of ["font", "letterSpacing", "lineHeight", "whiteSpace", "overflowWrap", "padding"]) box.style[name] = style[name];
  box.style.cssText += `;position:absolute;visibility:hidden;width:${field.clientWidth}px`;
  box.textContent = field.value.slice(0, field.selectionStart);
  const mark = box.appendChild(document.createElement("span"));
  mark.textContent = "\u200b";
  field.after(box);
  list.style.top = `${field.offsetTop + mark.offsetTop + mark.offsetHeight - field.scrollTop}px`;
  box.remove();
}

function point(to) {
  at = (to + rows.length) % rows.length;
  [...list.children].forEach((item, number) => item.setAttribute("aria-selected", number === at));
  field.setAttribute("aria-activedescendant", `target-${at}`);
  list.children[at].scrollIntoView({ block: "nearest" });
}

function choose(number) {
  const text = field.value;
  const end = field.selectionStart;
  const start = end - typed().length;
  const follows = text.startsWith("]]", end);
  const target = rows[number].text.replace(/\]\]$/, "");
  field.setRangeText(follows ? target : `${target}]]`, start, end, "end");
  if (follows) field.selectionStart = field.selectionEnd = start + target.length + 2;
  close();
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

async function look() {
  const text = typed();
  if (text === null) return close();
  const number = ++asked;
  const query = new URLSearchParams({ q: text, note: list.dataset.note });
  const answer = await fetch(`/new/targets?${query}`).catch(() => null);
  if (number !== asked || !answer?.ok) return;
  rows = await answer.json();
  if (number !== asked || !rows.length) return close();
  const items = rows.map((row, index) => {
    const item = document.createElement("li");
    item.id = `target-${index}`;
    item.setAttribute("role", "option");
    item.append(row.label);
    const detail = item.appendChild(document.createElement("span"));
    detail.textContent = row.detail || (row.kind === "note" ? "" : row.kind);
    item.addEventListener("mousedown", (event) => {
      event.preventDefault();
      choose(index);
    });
    return item;
  });
  list.replaceChildren(...items);
  list.hidden = false;
  place();
  point(0);
}

field.addEventListener("input", look);
field.addEventListener("click", look);
field.addEventListener("blur", close);
field.addEventListener("keydown", (event) => {
  if (list.hidden || event.isComposing || event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowDown") point(at + 1);
  else if (event.key === "ArrowUp") point(at - 1);
  else if (event.key === "Enter" || event.key === "Tab") choose(at);
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
  event.stopPropagation();
});
})();
