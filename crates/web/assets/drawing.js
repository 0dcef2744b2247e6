// A drawing of an automaton, taken into the page: checked, without its own style, and ready to be
// marked.

import { make, makeSvg, setAttribute, setClass, setShown, setText } from "./dom.js";

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";
const ELEMENTS = new Set(["svg", "g", "title", "text", "tspan", "path", "rect", "style"]);
const ATTRIBUTES = new Set([
  "id",
  "class",
  "d",
  "x",
  "y",
  "width",
  "height",
  "rx",
  "ry",
  "transform",
  "viewBox",
  "style",
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
  const { notes, bounds } = takeTitle(svg);
  const drawing = { svg, notes, bounds, states: new Map(), edges: new Map() };
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
  setAttribute(svg, "viewBox", `0 0 ${bounds.width} ${bounds.height}`);
  return { notes: notes.filter((note) => note !== ""), bounds };
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
  const background = makeSvg("rect", { class: "tag-box", y: edge - 4, height: TAG_HEIGHT, rx: 3 });
  const label = makeSvg("text", { class: "tag-text", x: middle, y: edge + 7 });
  const tag = makeSvg("g", { class: "tag", visibility: "hidden" }, background, label);
  group.append(tag);
  return { tag, background, label, middle, height: y + height / 2 };
}

/** Marks a state as the present one, with the text of its label; null takes the mark away. */
export function markState({ group, tag }, text) {
  setClass(group, "now", text !== null);
  setAttribute(tag.tag, "visibility", text === null ? "hidden" : null);
  if (text === null) return;
  const width = text.length * CHARACTER + 8;
  setText(tag.label, text);
  setAttribute(tag.background, "x", (tag.middle - width / 2).toFixed(1));
  setAttribute(tag.background, "width", width.toFixed(1));
}

const SCALES = [0.4, 0.5, 0.6, 0.75, 0.87, 1, 1.25, 1.5, 2];
const SCALE_READABLE = 0.75;

/** Makes the frame of a drawing, which is wider than the page if its labels are to be read, and the
 * buttons that change its size. */
export function makeFrame(drawing, attributes) {
  const frame = make("div", attributes, drawing.svg);
  const zoom = make("div", {
    class: "zoom",
    role: "group",
    "aria-label": "Size of the drawing",
    hidden: true,
  });
  const view = { drawing, frame, zoom, scale: null, width: 0 };
  zoom.append(makeZoom("smaller", () => rescale(view, nextScale(view, -1))));
  zoom.append(makeZoom("larger", () => rescale(view, nextScale(view, 1))));
  zoom.append(makeZoom("fit", () => rescale(view, fitting(view))));
  rescale(view, 1);
  new ResizeObserver(([{ contentRect }]) => {
    view.width = contentRect.width;
    if (view.scale === null) rescale(view, Math.max(fitting(view), SCALE_READABLE), false);
    setShown(zoom, view.drawing.bounds.width > view.width || view.scale !== null);
    if (view.shown) scrollTo(view);
  }).observe(frame);
  return view;
}

function makeZoom(text, act) {
  const button = make("button", { type: "button" }, text);
  button.addEventListener("click", act);
  return button;
}

function fitting(view) {
  return Math.min(view.width / view.drawing.bounds.width, 1);
}

function nextScale(view, step) {
  const larger = SCALES.filter((scale) => scale > view.present + 0.01);
  const smaller = SCALES.filter((scale) => scale < view.present - 0.01);
  return (step > 0 ? larger[0] : smaller.at(-1)) ?? view.present;
}

// The size that the user has chosen is kept when the page changes its own.
function rescale(view, scale, isChosen = view.width > 0) {
  view.present = scale;
  if (isChosen) view.scale = scale;
  const { svg, bounds } = view.drawing;
  setAttribute(svg, "width", Math.floor(bounds.width * scale));
  setAttribute(svg, "height", Math.floor(bounds.height * scale));
  if (view.shown) scrollTo(view);
}

/** Scrolls a state into view, if the drawing is larger than its frame and the state another one. */
export function showState(view, id) {
  if (view.shown === id) return;
  view.shown = id;
  if (id && view.width > 0) scrollTo(view);
}

function scrollTo(view) {
  const tag = view.drawing.states.get(view.shown)?.tag;
  if (!tag) return;
  const { frame, present } = view;
  frame.scrollLeft = tag.middle * present - frame.clientWidth / 2;
  frame.scrollTop = tag.height * present - frame.clientHeight / 2;
}
