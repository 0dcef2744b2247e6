// Elements: they are made once, and changed only where something has changed. Data becomes text
// nodes and attributes, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** Makes an HTML element with attributes and children; a child that is a string becomes text. */
export function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** Makes an SVG element. */
export function makeSvg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...children);
  return element;
}

/** Sets an attribute, if it differs; `null` and `false` remove it, `true` is the empty text. */
export function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
    return;
  }
  const text = value === true ? "" : String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

/** Sets the text of an element that has nothing but text, if it differs. */
export function setText(element, text) {
  const only = element.firstChild;
  if (only && only.nodeType === Node.TEXT_NODE && !only.nextSibling) {
    if (only.data !== text) only.data = text;
  } else if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** Adds or removes a class, if it differs. */
export function setClass(element, name, wanted) {
  if (element.classList.contains(name) !== Boolean(wanted)) element.classList.toggle(name);
}

/** Shows or hides an element. */
export function setShown(element, shown) {
  if (element.hidden === Boolean(shown)) element.hidden = !shown;
}

/** Gives a parent one child for each item: children are kept by position, made where they are
 * missing, and removed where there are too many. */
export function patchList(parent, items, create, update) {
  while (parent.children.length > items.length) parent.lastElementChild.remove();
  items.forEach((item, position) => {
    let child = parent.children[position];
    if (!child) {
      child = create(item, position);
      parent.append(child);
    }
    update(child, item, position);
  });
}

/** Gives a row of a table its cells of text; the cells must exist. */
export function setCells(row, texts) {
  texts.forEach((text, position) => setText(row.children[position], text));
}

/** Makes a row with that many empty cells; the first is its head, if it has one. */
export function makeRow(count, headed = false) {
  const row = make("tr");
  for (let position = 0; position < count; position += 1) {
    row.append(headed && position === 0 ? make("th", { scope: "row" }) : make("td"));
  }
  return row;
}

/** Makes a table with heads, and returns it with its body. */
export function makeTable(label, heads, attributes = {}) {
  const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
  const body = make("tbody");
  const table = make("table", { ...attributes, "aria-label": label }, make("thead", {}, head), body);
  return { table, body };
}

/** Makes a text beside a symbol that screen readers skip. */
export function makeMark(className) {
  const symbol = make("span", { class: "symbol", "aria-hidden": "true" });
  const word = make("span");
  return make("span", { class: className }, symbol, " ", word);
}

/** Sets symbol, word and tone of such a text. */
export function setMark(mark, { symbol, word, tone }) {
  setText(mark.firstElementChild, symbol);
  setText(mark.lastElementChild, word);
  setAttribute(mark, "data-tone", tone ?? null);
}

/** Makes a part that is opened on demand. */
export function makeDetails(summary, ...children) {
  return make("details", {}, make("summary", {}, summary), ...children);
}
