// A drawing of an automaton, taken into the page: checked, without its own style, and ready to be
// marked.

import { makeSvg, setAttribute, setClass, setText } from "./dom.js";

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";
const ELEMENTS = new Set(["svg", "g", "title", "text", "tspan", "path", "rect", "style"]);
const ATTRIBUTES = new Set([
  "id", "class", "d", "x", "y", "width", "height", "rx", "ry", "transform", "viewBox", "style",
]);
const TAG_HEIGHT = 14;
const CHARACTER = 6.2;

/** Takes a drawing into the page, or throws an error that says why not. */
export function adoptDrawing(source) {
  // The policy of the page forbids styles of attributes; the only one that is drawn is a class here.
  const text = source.replaceAll(' style="text-anchor: start"', ' class="start"');
  const parsed = new DOMParser().parseFromString(text.replace(/<style>[^<]*<\/style>/, ""), "image/svg+xml");
  const root = parsed.documentElement;
  if (parsed.querySelector("parsererror")) throw new Error("the drawing is not well-formed");
  if (root.localName !== "svg") throw new Error("the drawing is not an SVG");
  for (const element of [root, ...root.querySelectorAll("*")]) check(element);
  const svg = document.adoptNode(root);
  const drawing = { svg, notes: takeTitle(svg), states: new Map(), edges: new Map() };
  for (const group of svg.querySelectorAll("g[id]")) takeGroup(drawing, group);
  return drawing;
}

function check(element) {
  if (element.namespaceURI !== SVG_NAMESPACE || !ELEMENTS.has(element.localName)) {
    throw new Error(`the drawing has an element \`${element.localName}\``);
  }
  for (const { name, namespaceURI } of element.attributes) {
    const isKnown = ATTRIBUTES.has(name) && namespaceURI === null;
    if (!isKnown && name !== "xmlns") throw new Error(`the drawing has an attribute \`${name}\``);
    if (name === "style") throw new Error("the drawing has a style of its own");
  }
}

// The title of the drawing is the heading of its section; what it says below the name becomes notes.
function takeTitle(svg) {
  const title = svg.querySelector(":scope > title");
  const notes = (title?.textContent ?? "").split("\n").slice(1);
  title?.remove();
  for (const text of svg.querySelectorAll(":scope > text")) text.remove();
  const body = svg.querySelector(":scope > g");
  const top = Number(/^translate\(0 ([0-9.]+)\)$/.exec(body?.getAttribute("transform") ?? "")?.[1] ?? 0);
  const [, , width, height] = (svg.getAttribute("viewBox") ?? "0 0 100 100").split(" ").map(Number);
  const bounds = { width, height: height - top + TAG_HEIGHT };
  body?.removeAttribute("transform");
  setAttribute(svg, "width", bounds.width);
  setAttribute(svg, "height", bounds.height);
  setAttribute(svg, "viewBox", `0 0 ${bounds.width} ${bounds.height}`);
  return notes.filter((note) => note !== "");
}

// Several drawings are on one page, so that their ids would not be unique.
function takeGroup(drawing, group) {
  const id = group.getAttribute("id");
  group.removeAttribute("id");
  group.setAttribute("data-id", id);
  if (group.classList.contains("edge")) drawing.edges.set(id, group);
  if (group.classList.contains("state")) {
    group.classList.remove("current");
    drawing.states.set(id, { group, tag: makeTag(group) });
  }
}

/** Makes the label under a state, which says that the run is in it. */
function makeTag(group) {
  const box = group.querySelector("rect");
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(box.getAttribute(name)));
  const middle = x + width / 2;
  const edge = y + height;
  const background = makeSvg("rect", { class: "tag-box", y: edge - 6, height: TAG_HEIGHT, rx: 3 });
  const label = makeSvg("text", { class: "tag-text", x: middle, y: edge + 5 });
  const tag = makeSvg("g", { class: "tag", visibility: "hidden" }, background, label);
  group.append(tag);
  return { tag, background, label, middle };
}

/** Marks a state as the present one, with the text of its label; null takes the mark away. */
export function markState({ group, tag }, text, isBase) {
  setClass(group, "now", text !== null);
  setClass(group, "base", text !== null && isBase);
  setAttribute(tag.tag, "visibility", text === null ? "hidden" : null);
  if (text === null) return;
  const width = text.length * CHARACTER + 8;
  setText(tag.label, text);
  setAttribute(tag.background, "x", (tag.middle - width / 2).toFixed(1));
  setAttribute(tag.background, "width", width.toFixed(1));
}
