// The page of the graph: draws the picture, and shows the chosen node beside it.
"use strict";

const place = document.getElementById("graph-picture");
const message = document.getElementById("graph-message");
const card = document.getElementById("graph-node");
const links = new Map([...document.querySelectorAll("#graph-list [data-node]")].map((one) => [one.dataset.node, one]));

let picture = null;
let chosen = "";
let asked = 0; // only the answer to the last question counts

const onServer = () => document.querySelector("[data-palette]").hash === "#palette";

function say(text) {
  message.textContent = text;
  message.hidden = !text;
}

async function choose(id) {
  if (id === chosen) return read(id);
  chosen = id;
  picture?.choose(id);
  const number = ++asked;
  if (!onServer()) return links.get(id)?.scrollIntoView({ block: "nearest" });
  const answer = await fetch(`/graph/node?${new URLSearchParams({ id })}`, { headers: { "HX-Request": "true" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (answer.ok && number === asked) card.replaceChildren(...page.getElementById("graph-node").children);
}

// Open the note; of what is no note, its neighbourhood.
function read(id) {
  const here = id === chosen ? card.querySelector("[data-read]") : null;
  const link = (onServer() && here) || links.get(id);
  if (link?.href) location.assign(link.href);
}

async function start() {
  const canvas = document.createElement("canvas");
  if (!canvas.getContext("webgl2")) return say("This browser can’t draw the picture: it has no WebGL. The list below shows the same.");
  say("Drawing …");
  const { Picture } = await import("./graph_picture.js");
  picture = new Picture(place, { choose, walk: read, clear: () => (chosen = "") });
  place.picture = picture; // for measurements
  try {
    await picture.draw(await (await fetch(place.dataset.url)).json());
  } catch (error) {
    return say(`The picture could not be drawn: ${error.message || error}. The list below shows the same.`);
  }
  say("");
  chosen = card.dataset.centre;
  const recolour = () => picture.recolour();
  new MutationObserver(recolour).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => picture.zoom(button.dataset.zoom));
  }
  document.querySelector("[data-tools]").hidden = false;
}

// A neighbour that is in the picture is chosen there; any other link is followed.
card?.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-walk]");
  if (!link || !picture?.graph?.hasNode(link.dataset.walk) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(link.dataset.walk);
});

// Names to choose from, for the field of the list.
let waiting = 0;
document.querySelector("[list=graph-names]")?.addEventListener("input", (event) => {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    if (!event.target.value.trim()) return;
    const rows = await (await fetch(`/graph/names?${new URLSearchParams({ q: event.target.value })}`)).json();
    document.getElementById("graph-names").replaceChildren(...rows.map((row) => new Option(row.label, row.id)));
  }, 200);
});

if (place) start();
