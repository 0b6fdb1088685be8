// The picture: nodes and links in WebGL, by sigma.
"use strict";

import { SHAPES } from "./graph_shapes.js";
import { EdgeLineProgram, EdgeRectangleProgram, Graph, inferSettings, layOut, Sigma } from "./vendor/sigma.min.js";

const TURN = 5; // steps of the layout, after which the browser may do something else
const MANY = 3000; // links that are not drawn while the picture moves
const LONGEST = 40; // characters of a name in the picture
const COVERED = 1500; // nodes from which on labels may cover small ones
const HIGHER = [0, 16, 32]; // pixels that the name of a cluster may stand above its place
const EDGE = 10; // pixels between a label and the edge of the picture
const FONT = "system-ui, sans-serif";

// The colours of the theme: custom properties are read where an element uses them.
function coloursOf(element) {
  const probe = document.createElement("span");
  element.append(probe);
  const colour = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const names = ["ink", "soft", "faint", "line", "edge", "accent", "raised"];
  const found = Object.fromEntries(names.map((name) => [name, colour(name)]));
  probe.remove();
  return found;
}

// Of more nodes, each is smaller: the radius of a node in pixels, by its links.
const SIZES = [
  { nodes: 300, least: 2.5, step: 1.6, most: 18 },
  { nodes: 1500, least: 2.2, step: 0.9, most: 10 },
  { nodes: Infinity, least: 1.3, step: 0.45, most: 6 },
];

// Of more nodes, fewer steps: the radius of a cluster and the first places already are near the last ones.
const stepsFor = (nodes) => (nodes <= 300 ? 150 : nodes <= 1500 ? 80 : 40);

// A place on a spiral on which nothing lies close together: the start of the layout, the same at each visit.
function spiral(number, step) {
  const [radius, angle] = [step * Math.sqrt(number), 2.399963229728653 * number];
  return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
}

const covers = (one, other) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

export class Picture {
  constructor(element, events) {
    this.element = element;
    this.events = events;
    this.marked = null; // the nodes that are not dimmed; null for all
    this.chosen = "";
    this.waiting = []; // labels of nodes that are to be drawn
    this.labels = []; // where labels are: for tests
    this.nameBoxes = []; // where names of clusters are
    this.names = document.createElement("div");
    this.names.className = "map-names";
    this.names.setAttribute("aria-hidden", "true");
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  async draw(data) {
    this.close();
    this.colours = coloursOf(this.element);
    this.data = data;
    this.marked = null;
    this.chosen = "";
    this.graph = this.graphOf(data);
    await this.layOut();
    this.sigma = new Sigma(this.graph, this.element, this.settings(data));
    this.element.append(this.names);
    this.listen();
    this.nameClusters();
    this.writeNames();
  }

  close() {
    this.sigma?.kill();
    this.sigma = null;
    this.names.replaceChildren();
  }

  graphOf(data) {
    const graph = new Graph();
    const starts = this.startsOf(data);
    const { least, step, most } = SIZES.find((one) => data.nodes.length <= one.nodes);
    for (const [number, node] of data.nodes.entries()) {
      graph.addNode(node.id, {
        ...starts[number],
        label: node.archived ? `${node.label} (archived)` : node.label,
        type: node.kind,
        number,
        size: Math.min(least + Math.sqrt(node.degree) * step, most) + (node.id === data.centre ? 3 : 0),
      });
    }
    for (const [source, target, kind] of data.edges) {
      graph.addDirectedEdge(data.nodes[source].id, data.nodes[target].id, { kind });
    }
    return graph;
  }

  // Where nodes are before the forces move them: each cluster around a place of its own.
  startsOf(data) {
    const sizes = new Map();
    for (const { cluster } of data.nodes) sizes.set(cluster, (sizes.get(cluster) ?? 0) + 1);
    const middles = new Map();
    let before = 0;
    for (const [cluster, size] of [...sizes].sort((a, b) => b[1] - a[1])) {
      middles.set(cluster, spiral(before + size / 2, 4));
      before += size;
    }
    const inside = new Map();
    return data.nodes.map(({ cluster }) => {
      const number = inside.get(cluster) ?? 0;
      inside.set(cluster, number + 1);
      const [middle, place] = [middles.get(cluster), spiral(number, 3)];
      return { x: middle.x + place.x, y: middle.y + place.y };
    });
  }

  // Move linked nodes together and others apart, by ForceAtlas2 (Jacomy and others 2014).
  async layOut() {
    const nodes = this.graph.order;
    if (nodes < 2) return;
    const settings = { ...inferSettings(nodes), barnesHutOptimize: nodes > 300 };
    for (let done = 0; done < stepsFor(nodes); done += TURN) {
      layOut(this.graph, { iterations: TURN, settings });
      await new Promise((next) => setTimeout(next));
    }
    this.graph.forEachNode((id, { x, y, number }) => {
      this.data.nodes[number].x = x;
      this.data.nodes[number].y = y;
    });
  }

  settings(data) {
    const many = data.edges.length > MANY;
    return {
      allowInvalidContainer: true,
      nodeProgramClasses: SHAPES,
      defaultEdgeType: "line",
      edgeProgramClasses: { line: many ? EdgeLineProgram : EdgeRectangleProgram },
      hideEdgesOnMove: many,
      labelFont: FONT,
      labelSize: 13,
      labelDensity: many ? 0.4 : 1,
      labelRenderedSizeThreshold: data.nodes.length > 300 ? 5 : 4,
      zIndex: true,
      minCameraRatio: 0.02,
      maxCameraRatio: 4,
      stagePadding: 40,
      nodeReducer: (id, node) => this.shownNode(id, node),
      edgeReducer: (id, edge) => this.shownEdge(id, edge),
      defaultDrawNodeLabel: (context, node) => node.label && this.waiting.push({ context, node }),
      defaultDrawNodeHover: (context, node) => this.drawHover(context, node),
    };
  }

  shownNode(id, node) {
    const colours = this.colours;
    if (this.marked && !this.marked.has(id)) return { ...node, color: colours.line, label: "", zIndex: 0 };
    const special = id === (this.chosen || this.data.centre);
    return {
      ...node,
      color: special ? colours.accent : this.marked ? colours.ink : colours.soft,
      forceLabel: special || (this.marked !== null && this.marked.size <= 30),
      zIndex: special ? 2 : 1,
    };
  }

  shownEdge(id, edge) {
    const [source, target] = this.graph.extremities(id);
    const near = this.chosen && (source === this.chosen || target === this.chosen);
    const dimmed = this.marked && !(this.marked.has(source) && this.marked.has(target));
    const few = this.data.edges.length <= 400;
    return {
      ...edge,
      hidden: Boolean(dimmed && !few),
      color: near ? this.colours.accent : few && !dimmed ? this.colours.edge : this.colours.line,
      size: near ? 1.6 : edge.kind === "tag" ? 0.6 : 1,
      zIndex: near ? 1 : 0,
    };
  }

  // Write what nodes and clusters are called where it covers no node and no button.
  writeNames() {
    const taken = this.obstacles();
    this.placeNames(taken);
    this.drawLabels(taken);
  }

  // Draw the labels of a picture when all are known: those of the chosen and the large nodes first;
  // one that would cover another, a node or a button is left out: there is more room nearer by.
  drawLabels(taken) {
    const special = ({ node }) => node.key === this.chosen || node.key === this.data.centre;
    const first = (a, b) => special(b) - special(a) || b.node.size - a.node.size;
    this.labels = [...this.nameBoxes];
    for (const one of this.waiting.splice(0).sort(first)) {
      const sides = this.sidesOf(one.context, one.node, special(one));
      const free = (side) =>
        this.labels.every((other) => !covers(side, other)) &&
        taken.every((other) => other.id === one.node.key || !covers(side, other));
      const covered = (side) => taken.filter((other) => covers(side, other)).length;
      const least = () => sides.toSorted((a, b) => covered(a) - covered(b))[0];
      const box = sides.find(free) ?? (special(one) && least());
      if (!box) continue;
      for (const name of this.nameBoxes) if (covers(name, box)) name.text.style.visibility = "hidden";
      this.labels.push(box);
      this.write(one.context, box, special(one));
    }
  }

  // Where nodes and buttons are.
  obstacles() {
    const here = this.element.getBoundingClientRect();
    const boxes = [];
    for (const button of this.element.closest("main").querySelectorAll("button, .button, aside")) {
      const { left, right, top, bottom, width } = button.getBoundingClientRect();
      if (!width) continue;
      boxes.push({ left: left - here.left, right: right - here.left, top: top - here.top, bottom: bottom - here.top });
    }
    if (this.data.nodes.length > COVERED) return boxes;
    this.graph.forEachNode((id) => {
      const node = this.sigma.getNodeDisplayData(id);
      if (!node || node.hidden) return;
      const { x, y } = this.sigma.framedGraphToViewport(node);
      const size = this.sigma.scaleSize(node.size);
      boxes.push({ id, left: x - size, right: x + size, top: y - size, bottom: y + size });
    });
    return boxes;
  }

  // Where a node's label may stand: right of it, or left, else above it, and below it if that node is
  // the chosen one; never at the picture's edge.
  sidesOf(context, node, special = false) {
    context.font = `${special ? 600 : 400} 13px ${FONT}`;
    const text = node.label.length > LONGEST ? `${node.label.slice(0, LONGEST - 1)}…` : node.label;
    const wide = context.measureText(text).width;
    const most = this.element.clientWidth;
    const away = node.size + 3;
    const box = (left) => ({ text, left, right: left + wide, top: node.y - 7, bottom: node.y + 9 });
    const sides = [box(node.x + away), box(node.x - away - wide)];
    const inside = sides.filter((one) => one.left >= EDGE && one.right <= most - EDGE);
    const above = box(Math.max(EDGE, Math.min(node.x - wide / 2, most - wide - EDGE)));
    const upper = { ...above, top: node.y - away - 16, bottom: node.y - away };
    const lower = { ...above, top: node.y + away, bottom: node.y + away + 16 };
    return special ? [...inside, upper, lower] : inside.length ? inside : [upper];
  }

  write(context, box, special = false) {
    context.font = `${special ? 600 : 400} 13px ${FONT}`;
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = this.colours.raised;
    context.fillStyle = special ? this.colours.accent : this.colours.soft;
    context.strokeText(box.text, box.left, box.bottom - 5);
    context.fillText(box.text, box.left, box.bottom - 5);
  }

  drawHover(context, node) {
    context.beginPath();
    context.lineWidth = 3;
    context.strokeStyle = this.colours.accent;
    context.arc(node.x, node.y, node.size + 3, 0, Math.PI * 2);
    context.stroke();
    const { label } = this.graph.getNodeAttributes(node.key);
    if (label) this.write(context, this.sidesOf(context, { ...node, label })[0]);
  }

  listen() {
    this.sigma.on("clickNode", ({ node }) => this.events.choose(node));
    this.sigma.on("doubleClickNode", (event) => {
      event.preventSigmaDefault();
      this.events.walk(event.node);
    });
    this.sigma.on("clickStage", () => {
      this.events.clear();
      this.choose("");
    });
    this.sigma.on("enterNode", () => this.element.classList.add("pointed"));
    this.sigma.on("leaveNode", () => this.element.classList.remove("pointed"));
    this.sigma.on("afterRender", () => this.writeNames());
  }

  choose(id) {
    if (!this.sigma) return;
    this.chosen = this.graph.hasNode(id) ? id : "";
    this.mark(this.chosen ? [id, ...this.graph.neighbors(id)] : null);
    if (this.chosen) this.show(id);
  }

  // Dim all but some nodes.
  mark(ids) {
    if (!this.sigma) return;
    this.marked = ids === null ? null : new Set(ids);
    this.sigma.refresh({ skipIndexation: true });
  }

  // Move a node into sight if it is not there.
  show(id) {
    const place = this.sigma.getNodeDisplayData(id);
    const { x, y } = this.sigma.framedGraphToViewport(place);
    const { width, height } = this.sigma.getDimensions();
    if (x > 20 && y > 20 && x < width - 20 && y < height - 20) return;
    this.move({ x: place.x, y: place.y });
  }

  move(state) {
    this.sigma.getCamera().animate(state, { duration: this.calm ? 0 : 250 });
  }

  zoom(way) {
    if (!this.sigma) return;
    const camera = this.sigma.getCamera();
    if (way === "fit") this.move({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
    else this.move({ ratio: camera.getBoundedRatio(camera.ratio * (way === "in" ? 0.66 : 1.5)) });
  }

  recolour() {
    if (!this.sigma) return;
    this.colours = coloursOf(this.element);
    this.sigma.refresh({ skipIndexation: true });
  }

  // Write the clusters' names where most of their nodes are.
  nameClusters() {
    this.middles = [];
    if (this.data.nodes.length < 25) return;
    const known = new Set();
    for (const cluster of this.data.clusters) {
      const inside = this.data.nodes.filter((node) => node.cluster === cluster.number);
      const sorted = (key) => inside.map((node) => node[key]).sort((a, b) => a - b);
      const name = cluster.name.split(", ")[0];
      if (known.has(name) || name.startsWith("around ")) continue;
      known.add(name);
      const text = document.createElement("span");
      text.textContent = name;
      this.names.append(text);
      // above the cluster: its names are below
      this.middles.push({ text, place: { x: sorted("x")[inside.length >> 1], y: sorted("y").at(-1) } });
    }
    for (const one of this.middles) one.half = [one.text.offsetWidth / 2, one.text.offsetHeight / 2];
  }

  // Place the names, each at its cluster or a little above; the largest cluster comes first. A name that
  // would cover another, a node or a button is hidden: there is more room nearer by.
  placeNames(taken) {
    this.nameBoxes = [];
    for (const { text, place, half } of this.middles ?? []) {
      const at = this.sigma.graphToViewport(place);
      const x = Math.max(half[0], at.x);
      const boxes = HIGHER.map((higher) => {
        const y = Math.max(half[1], at.y - half[1] - 10 - higher);
        return { text, left: x - half[0], right: x + half[0], top: y - half[1], bottom: y + half[1] };
      });
      const box = boxes.find((one) => ![...this.nameBoxes, ...taken].some((other) => covers(one, other)));
      text.style.visibility = box ? "visible" : "hidden";
      if (!box) continue;
      this.nameBoxes.push(box);
      text.style.transform = `translate(${Math.round(box.left)}px, ${Math.round(box.top)}px)`;
    }
  }
}
