// Parts of a page that load themselves anew when something changes:
//   <div id="list" data-refresh-on="notes sessions">…</div>
// The page, or what `data-refresh-url` names, is asked for once more, and each part is replaced by
// the one of its id. A part in which somebody has typed something, or has the focus in a field,
// waits until that is over.
"use strict";

const GATHER = 300; // milliseconds in which events become one request
const SHOWN = 6000; // milliseconds for which the mark is shown
const AGAIN = 30000; // milliseconds before the next attempt, if the server refuses

const live = {
  source: null,
  run: null,
  counts: {},
  waiting: new Set(),
  timer: null,
  busy: false,
};

function liveParts() {
  return [...document.querySelectorAll("[data-refresh-on][id]")];
}

function kindsOf(part) {
  return part.dataset.refreshOn.split(" ");
}

// Whether something in a part would be lost.
function inUse(part) {
  const field = part.contains(document.activeElement) && document.activeElement;
  if (field && field.matches("input:not([type=hidden]), textarea, select, [contenteditable]")) return true;
  return [...part.querySelectorAll("input:not([type=hidden]), textarea, select")].some((one) => {
    if (one.matches("[type=checkbox], [type=radio]")) return one.checked !== one.defaultChecked;
    if (!one.matches("select")) return one.value !== one.defaultValue;
    const first = [...one.options].some((option) => option.defaultSelected);
    return [...one.options].some((option, at) => option.selected !== (first ? option.defaultSelected : at === 0));
  });
}

// The text of a part without what differs each time it is made.
function sourceOf(part) {
  const copy = part.cloneNode(true);
  for (const one of copy.querySelectorAll("[name=csrf_token]")) one.remove();
  for (const one of copy.querySelectorAll("details")) one.removeAttribute("open");
  for (const one of copy.querySelectorAll("time")) one.textContent = "";
  return copy.innerHTML;
}

function nameOf(details) {
  return details.id || details.querySelector("summary")?.textContent.trim();
}

function replace(part, fresh) {
  if (sourceOf(part) === sourceOf(fresh)) return false;
  const states = new Map([...part.querySelectorAll("details")].map((one) => [nameOf(one), one.open]));
  for (const one of fresh.querySelectorAll("details")) {
    if (states.has(nameOf(one))) one.open = states.get(nameOf(one));
  }
  const focus = part.contains(document.activeElement) ? document.activeElement : null;
  part.replaceWith(fresh);
  window.htmx?.process(fresh);
  if (focus) {
    const same = (one) => one.outerHTML === focus.outerHTML;
    const next = focus.id ? document.getElementById(focus.id) : [...fresh.querySelectorAll(focus.tagName)].find(same);
    next?.focus({ preventScroll: true });
  }
  return true;
}

function say(text) {
  const mark = document.getElementById("live");
  if (!mark) return;
  mark.textContent = text;
  clearTimeout(live.shown);
  if (text) live.shown = setTimeout(() => say(""), SHOWN);
}

async function refresh() {
  live.timer = null;
  const kinds = [...live.waiting];
  const wanted = liveParts().filter((part) => kindsOf(part).some((kind) => kinds.includes(kind)));
  if (live.busy || document.hidden) return;
  if (document.querySelector(".htmx-request")) {
    later();
    return;
  }
  if (wanted.some(inUse)) {
    say("Something changed: it is shown when your form is done");
    later(2000);
    return;
  }
  live.waiting.clear();
  if (!wanted.length) return;
  live.busy = true;
  try {
    const urls = new Set(wanted.map(urlOf));
    const done = await Promise.all([...urls].map((url) => load(url, wanted, kinds)));
    if (done.includes("changed")) say("Updated just now");
    else if (done.includes("gone")) say("What this page shows has changed: load it again");
  } catch {
    // the server is gone; what was missed is asked for when it is there again
  } finally {
    live.busy = false;
    if (live.waiting.size) later();
  }
}

function urlOf(part) {
  return part.dataset.refreshUrl ?? location.pathname + location.search;
}

async function load(url, wanted, kinds) {
  const answer = await fetch(url, { headers: { "HX-Request": "true" } });
  if (!answer.ok) return "gone";
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  let changed = false;
  for (const part of wanted) {
    const fresh = page.getElementById(part.id);
    // the address has changed meanwhile where somebody searches for something else
    if (!fresh || !part.isConnected || urlOf(part) !== url) continue;
    if (inUse(part)) kinds.forEach((kind) => live.waiting.add(kind));
    else changed = replace(part, document.adoptNode(fresh)) || changed;
  }
  return changed ? "changed" : "same";
}

function later(pause = GATHER) {
  live.timer ??= setTimeout(refresh, pause);
}

function changed(kinds) {
  kinds.forEach((kind) => live.waiting.add(kind));
  later();
}

function remember(state) {
  live.run = state.run;
  live.counts = state;
}

function greet(state) {
  if (live.run !== null) {
    const all = ["notes", "sessions", "index"];
    const missed = all.filter((kind) => live.run !== state.run || live.counts[kind] !== state[kind]);
    if (missed.length) changed(missed);
  }
  remember(state);
}

function connect() {
  if (live.source || document.hidden || !liveParts().length) return;
  const source = (live.source = new EventSource("/events"));
  source.addEventListener("hello", (event) => greet(JSON.parse(event.data)));
  source.addEventListener("change", (event) => {
    const state = JSON.parse(event.data);
    remember(state);
    changed(state.kinds);
  });
  source.addEventListener("error", () => {
    if (source.readyState !== EventSource.CLOSED || live.source !== source) return;
    live.source = null;
    setTimeout(connect, AGAIN);
  });
}

function disconnect() {
  live.source?.close();
  live.source = null;
}

// A page that nobody sees holds no connection: browsers have few for each server.
document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
window.addEventListener("pagehide", disconnect);
window.addEventListener("pageshow", connect);
connect();
