// The page of the graph: loads parts of it, and connects the picture with the lists.
"use strict";

import { outline } from "./graph_outlines.js";

const MOST_FOUND = 100;
const TYPING = 150; // milliseconds after the last key

const byId = (id) => document.getElementById(id);
const form = byId("graph-form");
const message = byId("graph-message");

let data = null;
let picture = null;
let clusterColour = null;
let asked = 0; // only the answer to the last question counts
let chosen = 0; // the same for nodes that are chosen
let listed = []; // the items that the server made
let counted = ""; // what it says of them

function say(text) {
  message.textContent = text;
  message.hidden = !text;
}

// The address of what the form has; what goes without saying is left out.
function address(changes) {
  const query = new URLSearchParams(new FormData(form));
  for (const [key, value] of Object.entries(changes)) {
    if (value) query.set(key, value);
    else query.delete(key);
  }
  const kinds = form.querySelectorAll("[name=kind]");
  if (query.getAll("kind").length === kinds.length) query.delete("kind");
  if (query.get("depth") === "1") query.delete("depth");
  for (const key of ["note", "type", "tag"]) if (!query.get(key)) query.delete(key);
  return `/graph?${query}`;
}

const walk = (id) => load(address({ note: id, whole: "" }));

async function read(url, kind) {
  const answer = await fetch(url, { headers: { "HX-Request": "true" } });
  if (kind === "json" && answer.ok) return answer.json();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok) throw new Error(page.body.textContent.replace(/\s+/g, " ").trim());
  return page;
}

async function load(url, { push = true } = {}) {
  const number = ++asked;
  chosen++;
  try {
    const page = await read(url);
    if (number !== asked) return;
    const part = page.getElementById("graph-part");
    const focused = byId("graph-part").contains(document.activeElement);
    byId("graph-part").replaceWith(part);
    data = null;
    copyFields(page.getElementById("graph-form"));
    if (push) history.pushState({ graph: true }, "", url);
    connect();
    if (focused) byId("graph-list").querySelector("a")?.focus();
    await draw(number);
  } catch (error) {
    if (number === asked) say(`${error.message || error}`);
  }
}

function copyFields(from) {
  for (const [at, field] of [...form.elements].entries()) {
    const other = from.elements[at];
    if (field.type === "checkbox") field.checked = other.checked;
    else if (field.name && field.type !== "submit") field.value = other.value;
  }
}

async function draw(number = ++asked) {
  if (!picture) return;
  say("Drawing …");
  try {
    const found = await read(byId("graph-part").dataset.url, "json");
    if (number !== asked) return;
    data = found;
    picture.draw(data);
    document.querySelector(".graph-tools").hidden = false;
    showClusters();
    say("");
  } catch (error) {
    if (number === asked) say(`The picture could not be drawn: ${error.message || error}`);
  }
}

function showClusters() {
  const rows = data.clusters.map((cluster) => {
    const row = byId("graph-cluster").content.cloneNode(true);
    const button = row.querySelector("button");
    row.querySelector("svg").classList.add(`graph-colour-${clusterColour(cluster.number)}`);
    row.querySelector("span").textContent = `${cluster.name} (${cluster.size})`;
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      release();
      button.setAttribute("aria-pressed", String(on));
      const inside = data.nodes.filter((node) => node.cluster === cluster.number);
      picture.mark(on ? inside.map((node) => node.id) : null);
    });
    return row;
  });
  byId("graph-clusters").replaceChildren(...rows);
}

// No cluster is chosen any more.
function release() {
  for (const one of document.querySelectorAll("#graph-clusters button")) one.setAttribute("aria-pressed", "false");
}

// Choose a node: show it in the picture, and what is near it in the panel.
async function choose(id) {
  release();
  picture?.choose(id);
  const number = ++chosen;
  try {
    const page = await read(`/graph/node?${new URLSearchParams({ id })}`);
    if (number === chosen) byId("graph-node").replaceChildren(...page.querySelector(".graph-node").childNodes);
  } catch (error) {
    if (number === chosen) say(`${error.message || error}`);
  }
}

async function find(text) {
  const list = byId("graph-list");
  const sought = text.trim().toLowerCase();
  release();
  data ??= await read(byId("graph-part").dataset.url, "json");
  if (!sought) {
    list.replaceChildren(...listed);
    byId("graph-count").textContent = counted;
    picture?.mark(null);
  } else {
    const found = data.nodes.filter((node) => `${node.label}\n${node.id}`.toLowerCase().includes(sought));
    list.replaceChildren(...found.slice(0, MOST_FOUND).map(item));
    picture?.mark(found.map((node) => node.id));
    byId("graph-count").textContent = found.length ? `${found.length} found.` : "Nothing in the picture has this in its name.";
  }
  rove();
}

function item(node) {
  const row = byId("graph-item").content.cloneNode(true);
  const link = row.querySelector("a");
  link.href = address({ note: node.id, whole: "" });
  link.dataset.node = node.id;
  row.querySelector("svg").append(outline(node.kind));
  row.querySelector("span").textContent = node.label;
  return row;
}

// One item of the list is reached by Tab; the arrow keys go to the others.
function rove(to = null) {
  const links = [...byId("graph-list").querySelectorAll("a")];
  const now = to ?? links[0];
  for (const link of links) link.tabIndex = link === now ? 0 : -1;
}

function keys(event) {
  const links = [...byId("graph-list").querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  if (event.key === " " && at >= 0) {
    event.preventDefault();
    choose(links[at].dataset.node);
  } else if (to !== undefined && links[to]) {
    event.preventDefault();
    rove(links[to]);
    links[to].focus();
  }
}

// What the part of the page needs that was just loaded.
function connect() {
  listed = [...byId("graph-list").children];
  counted = byId("graph-count").textContent;
  rove();
  byId("graph-list").addEventListener("keydown", keys);
  document.querySelector(".graph-find").hidden = false;
  let waiting = 0;
  byId("graph-find").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => find(event.target.value), TYPING);
  });
}

function follow(event) {
  const link = event.target.closest("a[data-walk], a[data-node], a[data-load]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const byPointer = event.detail > 0;
  if (link.dataset.node && byPointer && event.detail === 1) choose(link.dataset.node);
  else if (link.dataset.node || link.dataset.walk) walk(link.dataset.node ?? link.dataset.walk);
  else load(link.getAttribute("href"));
}

function completion() {
  const field = byId("graph-note");
  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    const options = [...byId("graph-names").children];
    if (options.some((one) => one.value === field.value)) walk(field.value);
    else waiting = setTimeout(() => complete(field.value), TYPING);
  });
}

async function complete(text) {
  if (!text.trim()) return;
  const rows = await read(`/graph/names?${new URLSearchParams({ q: text })}`, "json").catch(() => []);
  const options = rows.map((row) => {
    const option = document.createElement("option");
    option.value = row.id;
    option.label = row.label;
    return option;
  });
  byId("graph-names").replaceChildren(...options);
}

// The library is loaded only where WebGL can draw.
async function prepare() {
  if (!document.createElement("canvas").getContext("webgl2")) {
    say("This browser can’t draw the picture: it has no WebGL. The lists show the same.");
    byId("graph-picture").hidden = true;
    return;
  }
  const { Picture, colourOf } = await import("./graph_picture.js");
  clusterColour = colourOf;
  picture = new Picture(byId("graph-picture"), { choose, walk, clear: release });
  byId("graph-picture").picture = picture; // for measurements
  const recolour = () => picture.recolour();
  new MutationObserver(recolour).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  await draw();
}

function start() {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    load(address({ whole: event.submitter?.name === "whole" ? "1" : "" }));
  });
  form.addEventListener("change", (event) => {
    if (event.target.id !== "graph-note") load(address({ whole: byId("graph-part").dataset.whole }));
  });
  document.addEventListener("click", follow);
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => picture.zoom(button.dataset.zoom));
  }
  addEventListener("popstate", () => load(location.href, { push: false }));
  completion();
  connect();
  prepare();
}

if (form) start();
