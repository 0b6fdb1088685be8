// The shapes of nodes in the lists, as in templates/graph_parts.html.
"use strict";

const OUTLINES = {
  note: ["circle", { cx: 8, cy: 8, r: 6, fill: "currentColor" }],
  ghost: ["circle", { cx: 8, cy: 8, r: 5, fill: "none", stroke: "currentColor", "stroke-width": 2.5 }],
  file: ["rect", { x: 2.5, y: 2.5, width: 11, height: 11, fill: "currentColor" }],
  tag: ["path", { d: "M8 1 15 8 8 15 1 8Z", fill: "currentColor" }],
};

export function outline(kind) {
  const [name, attributes] = OUTLINES[kind];
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
