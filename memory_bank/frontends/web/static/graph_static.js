// The picture of the graph in a static site: all of it, from a file.
"use strict";

import { Picture } from "./graph_picture.js";

const place = document.getElementById("graph-picture");
const message = document.getElementById("graph-message");
const links = new Map([...document.querySelectorAll("[data-node]")].map((link) => [link.dataset.node, link]));
const picture = new Picture(place, { choose, walk });
let chosen = "";

// Show the note in the list; a second click opens it.
function choose(id) {
  if (id === chosen) return walk(id);
  chosen = id;
  picture.choose(id);
  links.get(id)?.scrollIntoView({ block: "nearest" });
  links.get(id)?.focus({ preventScroll: true });
}

function walk(id) {
  const link = links.get(id);
  if (link?.href) location.assign(link.href);
}

async function start() {
  if (!document.createElement("canvas").getContext("webgl2")) return;
  const answer = await fetch(place.dataset.url);
  picture.draw(await answer.json());
  const recolour = () => picture.recolour();
  new MutationObserver(recolour).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => picture.zoom(button.dataset.zoom));
  }
  document.querySelector(".graph-tools").hidden = false;
  message.hidden = true;
}

start();
